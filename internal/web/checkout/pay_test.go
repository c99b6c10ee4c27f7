package checkout

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// liveAttributes finds a page's stream and its reload interval.
var liveAttributes = regexp.MustCompile(`data-events="([^"]+)" data-reload="(\d+)"`)

const (
	payButton  = "Zahlungspflichtig bestellen"
	freeButton = "Kostenlos beauftragen"
)

func refusal(kind registrar.Kind, code registrar.Code) error {
	return &registrar.Error{Kind: kind, Code: code}
}

func TestPay_LinkHolderSeesNoPersonalData(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: foreignView(order.AwaitingPayment)}
	got := visit(t, d, "", payPage, nil)
	got.wantPage(http.StatusOK, []string{
		"beispiel.de", "müller.com (xn--mller-kva.com)", "Registrierung, 1 Jahr", "Umzug zu uns, 2 Jahre", "Verlängerung, ohne neue Laufzeit",
		"10,00\u00a0€", "30,00\u00a0€", "Umsatzsteuer 19\u00a0%", "5,70\u00a0€", "35,70\u00a0€",
		"e•••@example.org", "15.11.2026, 12:00 MEZ", "einem Programm mit Zugangstoken",
		`href="/portal/sign-in?next=%2Fcheckout%2Fdotkontor_pay_x"`,
	}, []string{payButton, "Mustermann", "Heidestraße", "erika@", "Laptop", payPage + "/decline", payPage + "/pay"})
	if d.actor.Customer != "" || d.actor.Kind != registrar.ActorPerson {
		t.Errorf("the actor was %+v", d.actor)
	}
}

func TestPay_OtherAccountCanSwitchAccounts(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: foreignView(order.AwaitingPayment)}
	visit(t, d, "max", payPage, nil).wantPage(http.StatusOK,
		[]string{"Sie sind als max@example.org angemeldet", "e•••@example.org", `action="/portal/sign-out"`, `name="next" value="` + payPage + `"`},
		[]string{payButton, "Mustermann", "erika@"})
	if d.actor.Customer != "cus_2" {
		t.Errorf("the actor was %+v", d.actor)
	}
}

func TestPay_OwnerSeesDetailsAndPayButton(t *testing.T) {
	t.Parallel()
	got := visit(t, &fakeOrders{view: ownView(order.AwaitingPayment)}, "erika", payPage, nil)
	got.wantPage(http.StatusOK, []string{
		`<p class="due">Gesamtbetrag: <strong>35,70` + "\u00a0" + `€</strong></p>
<button>` + payButton, "erika@example.org", "Erika Mustermann", "Heidestraße 17", "Agent <b>auf</b> dem Laptop",
		"Mit deutscher Umsatzsteuer.", `name="gross" value="3570"`, `name="auto_renew"`, payPage + "/decline",
	}, []string{freeButton, "<b>auf</b>checked", " checked", "Bitte melden Sie sich an"})
	if strings.Contains(got.Body.String(), "<b>auf") {
		t.Error("a token's name became markup")
	}
	if policy := got.Header().Get("Content-Security-Policy"); strings.Contains(policy, "form-action") || !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the form can't redirect to the payment provider: %s", policy)
	}
	if got.Header().Get("Referrer-Policy") != "same-origin" || liveAttributes.MatchString(got.Body.String()) {
		t.Errorf("headers %v", got.Header())
	}
	visit(t, &fakeOrders{view: ownView(order.AwaitingPayment)}, "english", payPage, nil).wantPage(http.StatusOK,
		[]string{"Order with obligation to pay", "€35.70", "VAT 19%", "Registration, 1 year", "51147 Köln, Germany"}, []string{payButton})
}

func TestPay_WarnsOfRenewingTerminatedDomain(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: ownView(order.AwaitingPayment)}
	warnings := []string{"Für alt.shop liegt eine Kündigung vor", "Für alt.shop liegt ein Widerruf vor"}
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, nil, warnings)
	d.view.OpenNotices = map[string][]withdrawal.Kind{"itm_3": {withdrawal.Termination, withdrawal.Withdrawal}}
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, warnings, []string{"Für beispiel.de"})
}

func TestPay_SaysThatRenewalLiftsChoiceToExpire(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: ownView(order.AwaitingPayment), holds: map[string]string{"alt.shop": "dom_3"}}
	const warning = "Sie haben gewählt, alt.shop auslaufen zu lassen."
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, nil, []string{warning})
	d.choice = registrar.TermEndExpire
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, []string{warning}, nil)
	d.view = ownView(order.Completed)
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, nil, []string{warning})
}

func TestPay_CompletedOrderNamesTransferLockOfNewDomains(t *testing.T) {
	t.Parallel()
	const locked = "Wir sperren sie gegen Umzüge."
	view := ownView(order.Completed)
	view.Order.Items[0].TLD, view.Order.Items[1].TLD, view.Order.Items[2].TLD = ".com", ".de", ".com"
	page := visit(t, &fakeOrders{view: view}, "erika", payPage, nil)
	if got := strings.Count(page.Body.String(), locked); got != 1 { // the third one is renewed
		t.Errorf("%d domains are locked", got)
	}
	view.Order.Items = append(view.Order.Items, view.Order.Items[1])
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Neue Domains sperren wir gegen Umzüge"}, []string{locked})
	view.Order.Items[0].TLD = ".de"
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, nil, []string{"Neue Domains sperren wir"})
}

func TestPay_NoRenewalBoxForDomainWithOpenNotice(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: ownView(order.AwaitingPayment)}
	d.view.OpenNotices = map[string][]withdrawal.Kind{"itm_3": {withdrawal.Termination}}
	const reason = "alt.shop lässt sich nicht automatisch verlängern, solange wir Ihre Kündigung bearbeiten."
	got := visit(t, d, "erika", payPage, nil) // the other two domains can renew
	got.wantPage(http.StatusOK, []string{reason, `name="auto_renew"`, `name="renewal_prices" value="1428,1428,0"`, "beispiel.de: 14,28"}, []string{"alt.shop: 14,28"})
	d.view.Order.Items = d.view.Order.Items[2:]
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, []string{reason, payButton}, []string{`name="auto_renew"`, `name="renewal_prices"`})
	d.view.OpenNotices["itm_3"][0] = withdrawal.Withdrawal
	visit(t, d, "english", payPage, nil).wantPage(http.StatusOK,
		[]string{"Automatic renewal can&#39;t be turned on for alt.shop while we are handling your withdrawal."}, []string{`name="auto_renew"`})
}

// Only new domains are locked, and only where the registry has a lock.
func TestPay_SaysWhichDomainsWillBeLocked(t *testing.T) {
	t.Parallel()
	const locks = ", mit Umzugssperre"
	for state, kinds := range map[order.State]map[order.Kind]int{
		order.AwaitingPayment: {order.Register: 1, order.Transfer: 1, order.Renew: 0}, order.Completed: {order.Register: 0},
	} {
		for kind, want := range kinds {
			view := ownView(state)
			for i := range view.Order.Items {
				view.Order.Items[i].Kind, view.Order.Items[i].TLD = kind, []string{".com", ".de", ".de"}[i]
			}
			if got := strings.Count(visit(t, &fakeOrders{view: view}, "erika", payPage, nil).Body.String(), locks); got != want {
				t.Errorf("%s, %s: %d domains, want %d", state, kind, got, want)
			}
		}
	}
}

func TestPay_FreeOrderHasFreeButton(t *testing.T) {
	t.Parallel()
	view := ownView(order.AwaitingPayment)
	view.Order.Totals = order.Totals{Rule: "domestic", RateBasisPoints: 1900}
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK,
		[]string{freeButton, `name="gross" value="0"`, "Es wird nichts abgebucht."}, []string{payButton, `name="auto_renew"`, "Mit deutscher"})
	// A saved payment method could be used for renewals.
	view.Owner.MethodLabel = "Visa •••• 4242"
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{`name="auto_renew"`, "Visa •••• 4242"}, nil)
	d := &fakeOrders{view: view}
	visit(t, d, "erika", payPage+"/pay", form("gross", "0")).wantRedirect(payPage)
	if !slices.Equal(d.calls, []string{"pay"}) {
		t.Errorf("calls %v", d.calls)
	}
}

func TestPay_SubmitsShownPriceAndRedirects(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: ownView(order.AwaitingPayment), to: "https://pay.example/c/1"}
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, []string{`name="items" value="` + d.view.Order.ItemsDigest() + `"`}, nil)
	got := visit(t, d, "erika", payPage+"/pay", form("gross", "3570", "auto_renew", "2026-11-de", "renewal_prices", "1428,1428", "items", "digest"))
	got.wantRedirect("https://pay.example/c/1")
	if d.confirmation != (order.Confirmation{Gross: 3570, Items: "digest", AutoRenew: true, RenewalWording: "2026-11-de", RenewalPrices: "1428,1428"}) || d.actor.Customer != "cus_1" {
		t.Errorf("the service got %+v of %+v", d.confirmation, d.actor)
	}
	visit(t, d, "erika", payPage+"/pay", form("gross", "3570"))
	if d.confirmation.AutoRenew {
		t.Error("a renewal was not chosen")
	}
	d.calls = nil
	for _, wrong := range []string{"", "35.70", "x", "99999999999999999999"} {
		if got := visit(t, d, "erika", payPage+"/pay", form("gross", wrong)); got.Code != http.StatusBadRequest || len(d.calls) > 0 {
			t.Errorf("%q: %d, calls %v", wrong, got.Code, d.calls)
		}
	}
}

func TestPay_RefusalShowsReasonAndNewPrice(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err    error
		status int
		says   string
	}{
		{refusal(registrar.KindConflict, order.PriceChanged), http.StatusConflict, "hat sich gerade geändert. Abgebucht wurde nichts."},
		{refusal(registrar.KindConflict, order.DataMissing), http.StatusConflict, "Es fehlen noch Angaben."},
		{refusal(registrar.KindForbidden, order.NotYours), http.StatusForbidden, "gehört zu einem anderen Konto"},
		{refusal(registrar.KindUpstream, registrar.FaultTimeout), http.StatusServiceUnavailable, "antwortet gerade nicht"},
		{&order.ItemsRefused{Items: []order.RefusedItem{{Name: "beispiel.de"}}}, http.StatusConflict, "Mindestens eine Domain lässt sich nicht mehr bestellen"},
	} {
		d := &fakeOrders{view: ownView(order.AwaitingPayment), err: test.err}
		d.view.Order.Totals.Gross = 9999
		got := visit(t, d, "erika", payPage+"/pay", form("gross", "3570"))
		got.wantPage(test.status, []string{test.says, "99,99\u00a0€", `name="gross" value="9999"`, `name="next" value="` + payPage + `"`}, nil)
		if got.Header().Get("Location") != "" || liveAttributes.MatchString(got.Body.String()) {
			t.Errorf("%v redirects: %v", test.err, got.Header())
		}
	}
	// On a conflict the page shows the order's state.
	visit(t, &fakeOrders{err: refusal(registrar.KindConflict, order.NotOpen)}, "erika", payPage+"/pay", form("gross", "1")).wantRedirect(payPage)
	if got := visit(t, &fakeOrders{err: errors.New("canary")}, "erika", payPage+"/pay", form("gross", "1")); got.Code != 500 || strings.Contains(got.Body.String(), "canary") {
		t.Errorf("got %d %s", got.Code, got.Body.String())
	}
}

func TestPay_SignInReturnsToOrder(t *testing.T) {
	t.Parallel()
	signIn := "/portal/sign-in?next=%2Fcheckout%2Fdotkontor_pay_x"
	for _, step := range []string{"pay", "decline", "code"} {
		d := &fakeOrders{view: foreignView(order.AwaitingPayment), err: refusal(registrar.KindUnauthenticated, "")}
		visit(t, d, "", payPage+"/"+step, form("gross", "1", "item", "itm_2", "code", "x")).wantRedirect(signIn)
	}
	visit(t, &fakeOrders{view: foreignView(order.AwaitingPayment)}, "", payPage+"/decline", nil).wantRedirect(signIn + "%2Fdecline")
}

func TestPay_ProviderReturnAlwaysRedirectsToOrder(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, refusal(registrar.KindUpstream, registrar.FaultTimeout), refusal(registrar.KindUnauthenticated, ""), refusal(registrar.KindForbidden, order.NotYours)} {
		d := &fakeOrders{err: err}
		visit(t, d, "erika", payPage+"/paid", nil).wantRedirect(payPage)
		visit(t, d, "erika", payPage+"/back", nil).wantRedirect(payPage)
		visit(t, d, "erika", payPage+"/back", form()).wantRedirect(payPage)
		if !slices.Equal(d.calls, []string{"returned", "back", "back"}) {
			t.Errorf("calls %v", d.calls)
		}
	}
}

func TestPay_LiveOnlyWhileInProgress(t *testing.T) {
	t.Parallel()
	due := ownView(order.Failed)
	due.Order.Refunds = []order.Refund{{Amount: 1}}
	late := ownView(order.Provisioning)
	late.Order.PaidAt = noon.Add(-reloadSlowsAfter)
	for name, test := range map[string]struct {
		view order.View
		want string
	}{
		"before the payment": {ownView(order.AwaitingPayment), ""},
		"identity":           {ownView(order.AwaitingVerification), ""},
		"paying":             {ownView(order.Paying), "3"},
		"just paid":          {ownView(order.Provisioning), "3"},
		"paid a while ago":   {late, "30"},
		"done":               {ownView(order.Completed), ""},
		"a refund is due":    {due, "30"},
		"declined":           {ownView(order.Canceled), ""},
	} {
		got := visit(t, &fakeOrders{view: test.view}, "erika", payPage, nil)
		live := liveAttributes.FindStringSubmatch(got.Body.String())
		if (live != nil) != (test.want != "") || live != nil && (live[1] != payPage+"/events" || live[2] != test.want) {
			t.Errorf("%s: %q, want %q", name, live, test.want)
		}
		without := `<noscript><meta http-equiv="refresh" content="` + test.want + `"></noscript>`
		if strings.Contains(got.Body.String(), without) != (test.want != "") || got.Header().Get("Refresh") != "" {
			t.Errorf("%s: without script the reload differs: %s", name, got.Body.String())
		}
	}
}

func TestDecline_AsksForConfirmation(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: ownView(order.AwaitingPayment)}
	visit(t, d, "erika", payPage+"/decline", nil).wantPage(http.StatusOK, []string{"Bestellung verwerfen?", "beispiel.de", "Ja, verwerfen"}, []string{payButton})
	if len(d.calls) != 0 {
		t.Errorf("a GET called %v", d.calls)
	}
	visit(t, d, "erika", payPage+"/decline", form()).wantRedirect(payPage)
	if !slices.Equal(d.calls, []string{"decline"}) {
		t.Errorf("calls %v", d.calls)
	}
	for _, view := range []order.View{foreignView(order.AwaitingPayment), ownView(order.Completed)} {
		visit(t, &fakeOrders{view: view}, "max", payPage+"/decline", nil).wantRedirect(payPage)
	}
	visit(t, &fakeOrders{err: refusal(registrar.KindConflict, order.NotOpen)}, "erika", payPage+"/decline", form()).wantRedirect(payPage)
}

func TestPay_TransferAsksForAuthCode(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: ownView(order.AwaitingPayment)}
	d.view.Payable, d.view.Missing = false, []string{order.MissingCode}
	d.view.MissingByItem = map[string][]string{"itm_2": {order.MissingCode}}
	got := visit(t, d, "erika", payPage, nil)
	got.wantPage(http.StatusOK, []string{"Auth-Code für müller.com", `name="item" value="itm_2"`, "sobald die Angaben oben vollständig sind"}, []string{payButton, "hinterlegt", "code-itm_1\""})
	visit(t, d, "erika", payPage+"/code", form("item", "itm_2", "code", " s3cret ")).wantRedirect(payPage)
	if d.item != "itm_2" || d.code != "s3cret" {
		t.Errorf("the service got %q %q", d.item, d.code)
	}
	d.err = refusal(registrar.KindInvalid, "auth_code_wrong")
	visit(t, d, "erika", payPage+"/code", form("item", "itm_2", "code", "s3cret")).wantPage(http.StatusUnprocessableEntity,
		[]string{"Dieser Auth-Code ist falsch.", `aria-invalid="true"`}, []string{"s3cret", `role="alert"`})
	calls := len(d.calls)
	visit(t, d, "erika", payPage+"/code", form("item", "itm_2", "code", "  ")).wantPage(http.StatusUnprocessableEntity, []string{"Bitte geben Sie den Auth-Code ein."}, nil)
	if len(d.calls) != calls {
		t.Error("an empty code was stored")
	}
	d.view.MissingByItem, d.view.Order.Items[1].SealedCode = nil, "sealed"
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Der Auth-Code ist hinterlegt."}, []string{"sealed\""})
}

func TestPay_OneMainButtonPerStep(t *testing.T) {
	t.Parallel()
	mainButton := regexp.MustCompile(`<main(?s:.*)</main>`)
	for name, missing := range map[string][]string{
		"nothing": nil, "registrant": {order.MissingRegistrant}, "code": {order.MissingCode}, "identity": {order.MissingIdentity},
		"rule": {"eu_presence"}, "all": {order.MissingRegistrant, order.MissingCode, order.MissingIdentity}, "rule and code": {"eu_presence", order.MissingCode},
	} {
		view := ownView(order.AwaitingPayment)
		view.Payable, view.Missing = len(missing) == 0, missing
		if slices.Contains(missing, order.MissingCode) {
			view.MissingByItem = map[string][]string{"itm_2": {order.MissingCode}}
		} else {
			view.Order.Items[1].SealedCode = "sealed"
		}
		page := mainButton.FindString(visit(t, &fakeOrders{view: view}, "erika", payPage, nil).Body.String())
		if got := strings.Count(page, "<button>") + strings.Count(page, `class="button"`); got != 1 {
			t.Errorf("%s: %d main buttons: %s", name, got, page)
		}
	}
}

func TestPay_SaysWhoOrdered(t *testing.T) {
	t.Parallel()
	agents := ownView(order.AwaitingPayment)
	visit(t, &fakeOrders{view: agents}, "erika", payPage, nil).wantPage(http.StatusOK,
		[]string{"Vorbereitet von einem Programm mit Zugangstoken", "Agent &lt;b&gt;auf&lt;/b&gt; dem Laptop"}, []string{"Bestellt von Ihnen"})
	own := ownView(order.AwaitingPayment)
	own.Order.By, own.Order.ByName = registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_1"}, ""
	visit(t, &fakeOrders{view: own}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Zusammengestellt von Ihnen", "Bestellung verwerfen", "danach 14,28"}, []string{"Vorbereitet", "ablehnen"})
	visit(t, &fakeOrders{view: own}, "english", payPage, nil).wantPage(http.StatusOK, []string{"Prepared by you", "Discard order"}, nil)
	own.IsOwner = false
	visit(t, &fakeOrders{view: own}, "", payPage, nil).wantPage(http.StatusOK, nil, []string{"von Ihnen"})
}

func TestPay_ShowsNameWarnings(t *testing.T) {
	t.Parallel()
	view := ownView(order.AwaitingPayment)
	view.Warnings = []order.Warning{
		{Item: "itm_1", Kind: order.WarnKnown, Similar: "paypal.com"},
		{Item: "itm_2", Kind: order.WarnOwn, Similar: "mueller.com"},
		{Item: "itm_2", Kind: order.WarnScript},
		{Item: "itm_3", Kind: order.WarnExtension, Similar: "alt.com"},
	}
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK,
		[]string{"fast paypal.com", "Ihre Domain mueller.com", "nur lateinisch aussehen", "Meinten Sie alt.com?"}, nil)
}

func TestPay_UnavailableItemShowsReason(t *testing.T) {
	t.Parallel()
	view := ownView(order.AwaitingPayment)
	view.Payable, view.Refused = false, map[string]error{"itm_1": refusal(registrar.KindConflict, "name_taken"), "itm_3": refusal(registrar.KindConflict, "something_new")}
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK,
		[]string{"Diese Domain ist vergeben.", "Das hat nicht funktioniert.", "Verwerfen Sie sie bitte"}, []string{payButton, "oben vollständig"})
	view = ownView(order.AwaitingPayment)
	view.Unquoted = true
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Preise und Verfügbarkeit konnten wir gerade nicht aktualisieren.", payButton}, nil)
}

func TestPay_ExplainsVATRule(t *testing.T) {
	t.Parallel()
	view := ownView(order.AwaitingPayment)
	view.Order.Totals = order.Totals{Net: 3000, Gross: 3000, Rule: "reverse_charge", Country: "AT", VATID: "ATU12345678"}
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{`<p class="note good">Ihre Umsatzsteuer-ID ATU12345678 ist bestätigt.`, "Reverse Charge", "Umsatzsteuer 0\u00a0%"}, nil)
	hidden := foreignView(order.AwaitingPayment)
	hidden.Order.Totals = view.Order.Totals
	visit(t, &fakeOrders{view: hidden}, "", payPage, nil).wantPage(http.StatusOK, nil, []string{"ATU12345678", "Reverse Charge"})
	view.Order.Totals = order.Totals{Net: 3000, VAT: 570, Gross: 3570, RateBasisPoints: 550, Rule: "eu_consumer", Unchecked: true}
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{`<p class="note warning">Ihre Umsatzsteuer-ID ließ sich gerade nicht prüfen`, "Umsatzsteuer 5,5\u00a0%"}, []string{"note good"})
}

func TestPay_OpenPaymentCanBeContinuedOrAborted(t *testing.T) {
	t.Parallel()
	view := ownView(order.Paying)
	view.Order.Payments = []order.Payment{
		{ID: "pay_1", State: order.PaymentClosed, URL: "https://pay.example/old"}, {ID: "pay_2", State: order.PaymentOpen, URL: "https://pay.example/now"},
	}
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK,
		[]string{`href="https://pay.example/now" rel="noreferrer"`, "Zahlung abbrechen", "<h1>Zahlung noch offen</h1>"}, []string{"Zahlung läuft", "pay.example/old", payButton, payPage + "/decline"})
	view.IsOwner = false
	visit(t, &fakeOrders{view: view}, "", payPage, nil).wantPage(http.StatusOK, nil, []string{"pay.example", "Zahlung abbrechen"})
}

func TestPay_ItemsShowTheirOutcome(t *testing.T) {
	t.Parallel()
	view := ownView(order.PartiallyCompleted)
	view.Order.Items[0].State = order.ItemActive
	view.Order.Items[1].State, view.Order.Items[1].Failure = order.ItemRefunded, "registry_denied"
	view.Order.Items[2].State = order.ItemFailed // it was free
	view.Order.Payments = []order.Payment{{State: order.PaymentRefunded}}
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{
		"registriert", "nicht möglich, erstattet", "Die Registry hat den Auftrag abgelehnt.", "nicht möglich",
		"Wir haben sie vollständig erstattet.", "/portal/domains",
	}, []string{payButton, "Geld geht zurück,"})
	for code, sentence := range map[registrar.Code]string{
		"epp_exists": "Diese Domain ist schon bei uns", "epp_auth_info": "Der Auth-Code ist falsch.", "epp_policy": "Die Registry hat den Auftrag abgelehnt.",
		"epp_billing": "Das liegt an uns.", "something_new": "Das hat nicht funktioniert.",
	} {
		view.Order.Items[1].Failure = code
		visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{sentence}, nil)
	}
	view = ownView(order.Provisioning)
	view.Order.Items[0].State, view.Order.Items[1].State, view.Order.Items[2].State = order.ItemProvisioning, order.ItemProvisioning, order.ItemProvisioning
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"wird registriert", "Umzug läuft", "wird verlängert"}, []string{payButton})
}

func TestPay_CompletedOrderSaysWhatTheCustomerHasNow(t *testing.T) {
	t.Parallel()
	view := ownView(order.Completed)
	held := &fakeOrders{view: view, holds: map[string]string{"alt.shop": "dom_3"}, paidUntil: time.Date(2028, 3, 1, 0, 0, 0, 0, time.UTC)}
	visit(t, held, "erika", payPage, nil).wantPage(http.StatusOK, []string{"beispiel.de gehört jetzt Ihnen.", "alt.shop ist bis zum 01.03.2028 verlängert."}, nil)
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"alt.shop ist verlängert."}, nil)

	held.choice = registrar.TermEndRenew
	visit(t, held, "erika", payPage, nil).wantPage(http.StatusOK, []string{`<p class="hint">Die automatische Verlängerung ist eingeschaltet.</p>`}, nil)

	for range 3 {
		view.Order.Items = append(view.Order.Items, view.Order.Items[2])
	}
	held.view = view
	visit(t, held, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Die automatische Verlängerung ist für 4 von 6 eingeschaltet."}, nil)
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Alle 6 Domains Ihrer Bestellung sind da."}, nil)
	view.Order.Items = view.Order.Items[2:]
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Alle 4 Domains sind verlängert."}, []string{"Nameserver eintragen"})
}

func TestPay_UnknownLinkIsNotFoundPage(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/checkout/dotkontor_pay_other", payPage + "/nothing", payPage + "/pay", "/portal/orders/ord_other"} {
		visit(t, &fakeOrders{}, "erika", path, nil).wantPage(http.StatusNotFound, []string{"Nicht gefunden"}, nil)
	}
	visit(t, &fakeOrders{pending: refusal(registrar.KindNotFound, order.NoSuchOrder)}, "erika", verifyPage, nil).wantPage(http.StatusNotFound, []string{"Nicht gefunden"}, nil)
	visit(t, &fakeOrders{}, "erika", payPage+"/paid", form()).wantPage(http.StatusNotFound, []string{"Nicht gefunden"}, nil)
}

func TestPay_RefusedRenewalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	view := ownView(order.AwaitingPayment)
	view.Order.Channel, view.Order.ItemsKey, view.Payable, view.Refused = order.ChannelPortal, "basket:renewals", false, map[string]error{}
	const remove, discard = "Entfernen Sie bitte die Domains, bei denen oben ein Grund steht.", "Alles in dieser Bestellung ist inzwischen verlängert."
	for i := range view.Order.Items {
		view.Order.Items[i].Kind = order.Renew
		view.Refused[view.Order.Items[i].ID] = refusal(registrar.KindConflict, order.TermPaid)
		want, other := remove, discard
		if i == len(view.Order.Items)-1 {
			want, other = discard, remove
		}
		visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK,
			[]string{want, "Diese Domain wurde inzwischen verlängert.", payPage + "/remove", payPage + "/decline"}, []string{other, payButton})
	}
}

// flash returns the key of the message for the next page.
func flash(got response) string {
	for _, cookie := range got.Result().Cookies() {
		if cookie.Name == "__Host-dotkontor_note" {
			return cookie.Value
		}
	}
	return ""
}

func TestPay_LostSessionIsNamedAtSignIn(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: ownView(order.AwaitingPayment), err: &registrar.Error{Kind: registrar.KindUnauthenticated, Code: registrar.SignInFirst}}
	got := visit(t, d, "", payPage+"/pay", form("gross", "3570"))
	got.wantRedirect(ui.WithNext(ui.SignInPath, payPage))
	if flash(got) != "session_lost" {
		t.Errorf("the message is %q", flash(got))
	}
	if got := visit(t, d, "", payPage+"/decline", nil); flash(got) != "" {
		t.Errorf("a page that was only opened: %q", flash(got))
	}
}
