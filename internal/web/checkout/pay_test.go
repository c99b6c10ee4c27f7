package checkout

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// followed finds the stream of a page, and after how many seconds it would reload.
var followed = regexp.MustCompile(`data-events="([^"]+)" data-reload="(\d+)"`)

const (
	payButton  = "Zahlungspflichtig bestellen"
	freeButton = "Kostenlos beauftragen"
)

func refusal(kind registrar.Kind, code registrar.Code) error {
	return &registrar.Error{Kind: kind, Code: code}
}

func TestWhoeverHoldsTheLinkSeesTheOrderAndNothingPersonal(t *testing.T) {
	t.Parallel()
	d := &desk{view: foreign(order.AwaitingPayment)}
	got := visit(t, d, "", here, nil)
	got.says(http.StatusOK, []string{
		"beispiel.de", "müller.com (xn--mller-kva.com)", "Registrierung, 1 Jahr", "Umzug zu uns, 2 Jahre", "Verlängerung, ohne neue Laufzeit",
		"11,90\u00a0€", "30,00\u00a0€", "Umsatzsteuer 19\u00a0%", "5,70\u00a0€", "35,70\u00a0€",
		"e•••@example.org", "15.11.2026, 11:00 UTC", "einem Programm mit Zugangstoken",
		`href="/portal/sign-in?next=%2Fcheckout%2Fdotkontor_pay_x"`,
	}, []string{payButton, "Mustermann", "Heidestraße", "erika@", "Laptop", here + "/decline", here + "/pay"})
	if d.actor.Customer != "" || d.actor.Kind != registrar.ActorPerson {
		t.Errorf("the actor was %+v", d.actor)
	}
}

func TestAnotherAccountCanSignOutAndComeBack(t *testing.T) {
	t.Parallel()
	d := &desk{view: foreign(order.AwaitingPayment)}
	visit(t, d, "max", here, nil).says(http.StatusOK,
		[]string{"Sie sind als max@example.org angemeldet", "e•••@example.org", `action="/portal/sign-out"`, `name="next" value="` + here + `"`},
		[]string{payButton, "Mustermann", "erika@"})
	if d.actor.Customer != "cus_2" {
		t.Errorf("the actor was %+v", d.actor)
	}
}

func TestTheOwnerSeesAllAndTheButtonThatTheLawWants(t *testing.T) {
	t.Parallel()
	got := visit(t, &desk{view: theirs(order.AwaitingPayment)}, "erika", here, nil)
	got.says(http.StatusOK, []string{
		payButton, "erika@example.org", "Erika Mustermann", "Heidestraße 17", "Agent <b>auf</b> dem Laptop",
		"Mit deutscher Umsatzsteuer.", `name="gross" value="3570"`, `name="auto_renew"`, here + "/decline",
	}, []string{freeButton, "<b>auf</b>checked", " checked", "Bitte melden Sie sich an"})
	if strings.Contains(got.Body.String(), "<b>auf") {
		t.Error("a token's name became markup")
	}
	if policy := got.Header().Get("Content-Security-Policy"); strings.Contains(policy, "form-action") || !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the button can't lead to the payment provider: %s", policy)
	}
	if got.Header().Get("Referrer-Policy") != "same-origin" || followed.MatchString(got.Body.String()) {
		t.Errorf("headers %v", got.Header())
	}
	visit(t, &desk{view: theirs(order.AwaitingPayment)}, "english", here, nil).says(http.StatusOK,
		[]string{"Order with obligation to pay", "€35.70", "VAT 19%", "Registration, 1 year", "51147 Köln, Germany"}, []string{payButton})
}

func TestWhatCostsNothingSaysSo(t *testing.T) {
	t.Parallel()
	view := theirs(order.AwaitingPayment)
	view.Order.Totals = order.Totals{Rule: "domestic", RateBasisPoints: 1900}
	visit(t, &desk{view: view}, "erika", here, nil).says(http.StatusOK,
		[]string{freeButton, `name="gross" value="0"`, "Es wird nichts abgebucht."}, []string{payButton, `name="auto_renew"`, "Mit deutscher"})
	// A kept means of payment could be used for renewals.
	view.Owner.MethodLabel = "Visa •••• 4242"
	visit(t, &desk{view: view}, "erika", here, nil).says(http.StatusOK, []string{`name="auto_renew"`, "Visa •••• 4242"}, nil)
	d := &desk{view: view}
	visit(t, d, "erika", here+"/pay", form("gross", "0")).leads(here)
	if !slices.Equal(d.calls, []string{"pay"}) {
		t.Errorf("calls %v", d.calls)
	}
}

func TestPayingLeadsToTheProviderWithThePriceThatWasShown(t *testing.T) {
	t.Parallel()
	d := &desk{view: theirs(order.AwaitingPayment), to: "https://pay.example/c/1"}
	got := visit(t, d, "erika", here+"/pay", form("gross", "3570", "auto_renew", "on"))
	got.leads("https://pay.example/c/1")
	if d.told != (order.Confirmation{Gross: 3570, AutoRenew: true}) || d.actor.Customer != "cus_1" {
		t.Errorf("the service heard %+v of %+v", d.told, d.actor)
	}
	visit(t, d, "erika", here+"/pay", form("gross", "3570"))
	if d.told.AutoRenew {
		t.Error("a renewal that nobody chose")
	}
	d.calls = nil
	for _, wrong := range []string{"", "35.70", "x", "99999999999999999999"} {
		if got := visit(t, d, "erika", here+"/pay", form("gross", wrong)); got.Code != http.StatusBadRequest || len(d.calls) > 0 {
			t.Errorf("%q: %d, calls %v", wrong, got.Code, d.calls)
		}
	}
}

func TestNothingIsChargedSilently(t *testing.T) {
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
		{&order.ItemsRefused{Items: []order.RefusedItem{{Name: "beispiel.de"}}}, http.StatusConflict, "Nicht alles ist noch zu haben"},
	} {
		d := &desk{view: theirs(order.AwaitingPayment), err: test.err}
		d.view.Order.Totals.Gross = 9999
		got := visit(t, d, "erika", here+"/pay", form("gross", "3570"))
		got.says(test.status, []string{test.says, "99,99\u00a0€", `name="gross" value="9999"`, `name="next" value="` + here + `"`}, nil)
		if got.Header().Get("Location") != "" || followed.MatchString(got.Body.String()) {
			t.Errorf("%v leads somewhere: %v", test.err, got.Header())
		}
	}
	// Somebody was faster: the page says how the order stands.
	visit(t, &desk{err: refusal(registrar.KindConflict, order.NotOpen)}, "erika", here+"/pay", form("gross", "1")).leads(here)
	if got := visit(t, &desk{err: errors.New("canary")}, "erika", here+"/pay", form("gross", "1")); got.Code != 500 || strings.Contains(got.Body.String(), "canary") {
		t.Errorf("got %d %s", got.Code, got.Body.String())
	}
}

func TestWhoMustSignInFirstComesBackToTheOrder(t *testing.T) {
	t.Parallel()
	signIn := "/portal/sign-in?next=%2Fcheckout%2Fdotkontor_pay_x"
	for _, step := range []string{"pay", "decline", "code"} {
		d := &desk{view: foreign(order.AwaitingPayment), err: refusal(registrar.KindUnauthenticated, "")}
		visit(t, d, "", here+"/"+step, form("gross", "1", "item", "itm_2", "code", "x")).leads(signIn)
	}
	visit(t, &desk{view: foreign(order.AwaitingPayment)}, "", here+"/decline", nil).leads(signIn + "%2Fdecline")
}

func TestReturningFromTheProviderAlwaysShowsTheOrder(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, refusal(registrar.KindUpstream, registrar.FaultTimeout), refusal(registrar.KindUnauthenticated, ""), refusal(registrar.KindForbidden, order.NotYours)} {
		d := &desk{err: err}
		visit(t, d, "erika", here+"/paid", nil).leads(here)
		visit(t, d, "erika", here+"/back", nil).leads(here)
		visit(t, d, "erika", here+"/back", form()).leads(here)
		if !slices.Equal(d.calls, []string{"returned", "back", "back"}) {
			t.Errorf("calls %v", d.calls)
		}
	}
}

func TestThePageIsFollowedWhileSomethingIsUnderWay(t *testing.T) {
	t.Parallel()
	due := theirs(order.Failed)
	due.Order.Refunds = []order.Refund{{Amount: 1}}
	late := theirs(order.Provisioning)
	late.Order.PaidAt = noon.Add(-slackens)
	for name, test := range map[string]struct {
		view order.View
		want string
	}{
		"before the payment": {theirs(order.AwaitingPayment), ""},
		"identity":           {theirs(order.AwaitingVerification), ""},
		"paying":             {theirs(order.Paying), "3"},
		"just paid":          {theirs(order.Provisioning), "3"},
		"paid a while ago":   {late, "30"},
		"done":               {theirs(order.Completed), ""},
		"a refund is due":    {due, "30"},
		"declined":           {theirs(order.Canceled), ""},
	} {
		got := visit(t, &desk{view: test.view}, "erika", here, nil)
		told := followed.FindStringSubmatch(got.Body.String())
		if (told != nil) != (test.want != "") || told != nil && (told[1] != here+"/events" || told[2] != test.want) {
			t.Errorf("%s: %q instead of %q", name, told, test.want)
		}
		without := `<noscript><meta http-equiv="refresh" content="` + test.want + `"></noscript>`
		if strings.Contains(got.Body.String(), without) != (test.want != "") || got.Header().Get("Refresh") != "" {
			t.Errorf("%s: without script it reloads otherwise: %s", name, got.Body.String())
		}
	}
}

func TestDecliningIsAskedFirst(t *testing.T) {
	t.Parallel()
	d := &desk{view: theirs(order.AwaitingPayment)}
	visit(t, d, "erika", here+"/decline", nil).says(http.StatusOK, []string{"Bestellung ablehnen?", "beispiel.de", "Ja, ablehnen"}, []string{payButton})
	if len(d.calls) != 0 {
		t.Errorf("a GET did %v", d.calls)
	}
	visit(t, d, "erika", here+"/decline", form()).leads(here)
	if !slices.Equal(d.calls, []string{"decline"}) {
		t.Errorf("calls %v", d.calls)
	}
	for _, view := range []order.View{foreign(order.AwaitingPayment), theirs(order.Completed)} {
		visit(t, &desk{view: view}, "max", here+"/decline", nil).leads(here)
	}
	visit(t, &desk{err: refusal(registrar.KindConflict, order.NotOpen)}, "erika", here+"/decline", form()).leads(here)
}

func TestATransferAsksForItsAuthCode(t *testing.T) {
	t.Parallel()
	d := &desk{view: theirs(order.AwaitingPayment)}
	d.view.Payable, d.view.Missing = false, []string{order.MissingCode}
	d.view.Needs = map[string][]string{"itm_2": {order.MissingCode}}
	got := visit(t, d, "erika", here, nil)
	got.says(http.StatusOK, []string{"Auth-Code für müller.com", `name="item" value="itm_2"`, "sobald die Angaben oben vollständig sind"}, []string{payButton, "hinterlegt", "itm_1\""})
	visit(t, d, "erika", here+"/code", form("item", "itm_2", "code", " s3cret ")).leads(here)
	if d.item != "itm_2" || d.code != "s3cret" {
		t.Errorf("the service heard %q %q", d.item, d.code)
	}
	d.err = refusal(registrar.KindInvalid, "auth_code_wrong")
	visit(t, d, "erika", here+"/code", form("item", "itm_2", "code", "s3cret")).says(http.StatusUnprocessableEntity,
		[]string{"Dieser Auth-Code stimmt nicht.", `aria-invalid="true"`}, []string{"s3cret", `role="alert"`})
	calls := len(d.calls)
	visit(t, d, "erika", here+"/code", form("item", "itm_2", "code", "  ")).says(http.StatusUnprocessableEntity, []string{"Bitte geben Sie den Auth-Code ein."}, nil)
	if len(d.calls) != calls {
		t.Error("an empty code was stored")
	}
	d.view.Needs, d.view.Order.Items[1].SealedCode = nil, "sealed"
	visit(t, d, "erika", here, nil).says(http.StatusOK, []string{"Der Auth-Code ist hinterlegt."}, []string{"sealed\""})
}

func TestWhatIsMissingHasAWayToTellIt(t *testing.T) {
	t.Parallel()
	registrant := `href="/portal/profile/registrant?next=%2Fcheckout%2Fdotkontor_pay_x"`
	view := theirs(order.AwaitingPayment)
	view.Payable, view.Missing = false, []string{order.MissingRegistrant}
	visit(t, &desk{view: view}, "erika", here, nil).says(http.StatusOK, []string{registrant, "Name und Anschrift"}, []string{payButton})
	view.Missing = []string{"eu_presence"}
	visit(t, &desk{view: view}, "erika", here, nil).says(http.StatusOK, []string{registrant, "Europäischen Union"}, []string{payButton, "Name und Anschrift"})
	view.Missing = []string{order.MissingIdentity}
	visit(t, &desk{view: view}, "erika", here, nil).says(http.StatusOK, []string{`href="` + proof + `"`}, []string{payButton, registrant})
	visit(t, &desk{view: theirs(order.AwaitingVerification)}, "erika", here, nil).says(http.StatusOK, []string{`href="` + proof + `"`}, []string{payButton})
}

func TestNamesThatDeserveASecondLookSaySo(t *testing.T) {
	t.Parallel()
	view := theirs(order.AwaitingPayment)
	view.Warnings = []order.Warning{
		{Item: "itm_1", Kind: order.WarnKnown, Similar: "paypal.com"},
		{Item: "itm_2", Kind: order.WarnOwn, Similar: "mueller.com"},
		{Item: "itm_2", Kind: order.WarnScript},
		{Item: "itm_3", Kind: order.WarnExtension, Similar: "alt.com"},
	}
	visit(t, &desk{view: view}, "erika", here, nil).says(http.StatusOK,
		[]string{"fast paypal.com", "Ihre Domain mueller.com", "nur ähnlich sehen", "Meinten Sie alt.com?"}, nil)
}

func TestAnItemThatCanNotBeHadAnyMoreSaysWhy(t *testing.T) {
	t.Parallel()
	view := theirs(order.AwaitingPayment)
	view.Payable, view.Refused = false, map[string]error{"itm_1": refusal(registrar.KindConflict, "name_taken"), "itm_3": refusal(registrar.KindConflict, "something_new")}
	visit(t, &desk{view: view}, "erika", here, nil).says(http.StatusOK,
		[]string{"Diese Domain ist vergeben.", "Das war nicht möglich.", "Bitte lehnen Sie sie ab"}, []string{payButton, "oben vollständig"})
	view = theirs(order.AwaitingPayment)
	view.Unasked = true
	visit(t, &desk{view: view}, "erika", here, nil).says(http.StatusOK, []string{"Preise und Verfügbarkeit sind gerade nicht aktualisiert.", payButton}, nil)
}

func TestVATIsExplained(t *testing.T) {
	t.Parallel()
	view := theirs(order.AwaitingPayment)
	view.Order.Totals = order.Totals{Net: 3000, Gross: 3000, Rule: "reverse_charge", Country: "AT", VATID: "ATU12345678"}
	visit(t, &desk{view: view}, "erika", here, nil).says(http.StatusOK, []string{"Reverse Charge", "ATU12345678", "Umsatzsteuer 0\u00a0%"}, nil)
	hidden := foreign(order.AwaitingPayment)
	hidden.Order.Totals = view.Order.Totals
	visit(t, &desk{view: hidden}, "", here, nil).says(http.StatusOK, nil, []string{"ATU12345678", "Reverse Charge"})
	view.Order.Totals = order.Totals{Net: 3000, VAT: 570, Gross: 3570, RateBasisPoints: 550, Rule: "eu_consumer", Unchecked: true}
	visit(t, &desk{view: view}, "erika", here, nil).says(http.StatusOK, []string{"ließ sich gerade nicht prüfen", "Umsatzsteuer 5,5\u00a0%"}, nil)
}

func TestAPaymentUnderWayCanBeContinuedOrGivenUp(t *testing.T) {
	t.Parallel()
	view := theirs(order.Paying)
	view.Order.Payments = []order.Payment{
		{ID: "pay_1", State: order.PaymentClosed, URL: "https://pay.example/old"}, {ID: "pay_2", State: order.PaymentOpen, URL: "https://pay.example/now"},
	}
	visit(t, &desk{view: view}, "erika", here, nil).says(http.StatusOK,
		[]string{`href="https://pay.example/now" rel="noreferrer"`, "Zahlung abbrechen"}, []string{"pay.example/old", payButton, here + "/decline"})
	view.Yours = false
	visit(t, &desk{view: view}, "", here, nil).says(http.StatusOK, nil, []string{"pay.example", "Zahlung abbrechen"})
}

func TestEachLineTellsHowItStandsUntilItIsActiveOrRefunded(t *testing.T) {
	t.Parallel()
	view := theirs(order.PartiallyCompleted)
	view.Order.Items[0].State = order.ItemActive
	view.Order.Items[1].State, view.Order.Items[1].Failure = order.ItemRefunded, "registry_denied"
	view.Order.Items[2].State = order.ItemFailed // it was free
	view.Order.Payments = []order.Payment{{State: order.PaymentReturned}}
	visit(t, &desk{view: view}, "erika", here, nil).says(http.StatusOK, []string{
		"registriert", "nicht möglich, Geld zurückgegeben", "Die Registry hat den Auftrag abgelehnt.", "nicht möglich",
		"Wir haben sie vollständig zurückgegeben.", "/portal/domains",
	}, []string{payButton, "Geld geht zurück,"})
	for code, sentence := range map[registrar.Code]string{
		"epp_exists": "Diese Domain ist vergeben.", "epp_auth_info": "Der Auth-Code stimmt nicht.", "epp_policy": "Die Registry hat den Auftrag abgelehnt.",
		"epp_billing": "Das liegt an uns.", "something_new": "Das war nicht möglich.",
	} {
		view.Order.Items[1].Failure = code
		visit(t, &desk{view: view}, "erika", here, nil).says(http.StatusOK, []string{sentence}, nil)
	}
	view = theirs(order.Provisioning)
	view.Order.Items[0].State, view.Order.Items[1].State, view.Order.Items[2].State = order.ItemProvisioning, order.ItemProvisioning, order.ItemProvisioning
	visit(t, &desk{view: view}, "erika", here, nil).says(http.StatusOK, []string{"wird registriert", "Umzug läuft", "wird verlängert"}, []string{payButton})
}

func TestALinkThatOpensNothingIsAPage(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/checkout/dotkontor_pay_other", here + "/nothing", here + "/pay", "/portal/orders/ord_other"} {
		visit(t, &desk{}, "erika", path, nil).says(http.StatusNotFound, []string{"Nicht gefunden"}, nil)
	}
	visit(t, &desk{pending: refusal(registrar.KindNotFound, order.NoSuchOrder)}, "erika", proof, nil).says(http.StatusNotFound, []string{"Nicht gefunden"}, nil)
	visit(t, &desk{}, "erika", here+"/paid", form()).says(http.StatusNotFound, []string{"Nicht gefunden"}, nil)
}
