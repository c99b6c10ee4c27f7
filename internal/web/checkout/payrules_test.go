package checkout

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

// The auth code is all that protects a domain from being transferred away, and the
// registry reveals to anyone whether a code is right.
func TestSetCode_AttemptsAreRateLimited(t *testing.T) {
	t.Parallel()
	tried := map[string]int{}
	d := &fakeOrders{view: ownView(order.AwaitingPayment), err: refusal(registrar.KindInvalid, "auth_code_wrong")}
	d.codes = func(customer string) time.Duration {
		if tried[customer]++; tried[customer] > 2 {
			return 90 * time.Second
		}
		return 0
	}
	guess := form("item", "itm_2", "code", "guess")
	for range 2 {
		visit(t, d, "erika", payPage+"/code", guess).wantPage(http.StatusUnprocessableEntity, []string{"Dieser Auth-Code ist falsch."}, nil)
	}
	got := visit(t, d, "erika", payPage+"/code", guess)
	got.wantPage(http.StatusTooManyRequests, []string{"Zu viele Versuche.", payButton}, []string{"stimmt nicht"})
	if wait := got.Header().Get("Retry-After"); wait != "90" {
		t.Errorf("Retry-After is %q", wait)
	}
	if len(d.calls) != 2 || tried["cus_1"] != 3 {
		t.Errorf("the service was called %d times, and %v counted", len(d.calls), tried)
	}
}

// The payment provider's page links to it while a card number is being entered.
func TestPaymentAborted_IgnoresPrefetch(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: ownView(order.Paying)}
	ask := func(method, header, value string) response {
		r := httptest.NewRequest(method, base+payPage+"/back", nil)
		r.Header.Set(header, value)
		r.AddCookie(&http.Cookie{Name: "__Host-dotkontor", Value: "erika"})
		return send(t, d, r)
	}
	for _, ahead := range [][3]string{
		{http.MethodGet, "Sec-Purpose", "prefetch"},
		{http.MethodGet, "Sec-Purpose", "prefetch;prerender"},
		{http.MethodGet, "Purpose", "prefetch"},
		{http.MethodGet, "X-Moz", "prefetch"},
		{http.MethodGet, "Sec-Fetch-Dest", "image"},
		{http.MethodGet, "Sec-Fetch-Dest", "empty"},
		{http.MethodHead, "Accept", "*/*"},
	} {
		if got := ask(ahead[0], ahead[1], ahead[2]); got.Code != http.StatusServiceUnavailable || len(d.calls) != 0 {
			t.Errorf("%v: %d, and the service got %v", ahead, got.Code, d.calls)
		}
	}
	ask(http.MethodGet, "Sec-Fetch-Dest", "document").wantRedirect(payPage)
	ask(http.MethodGet, "Accept", "text/html").wantRedirect(payPage)
	if !slices.Equal(d.calls, []string{"back", "back"}) {
		t.Errorf("the service got %v", d.calls)
	}
}

// A problem is shown even if its form is not.
func TestSetCode_ProblemShownWithoutItsForm(t *testing.T) {
	t.Parallel()
	const sentence = "Diese Position braucht keinen Auth-Code."
	d := &fakeOrders{view: ownView(order.AwaitingPayment), err: refusal(registrar.KindInvalid, order.NotTransfer)}
	for _, item := range []string{"itm_of_another_order", "itm_1", ""} {
		visit(t, d, "erika", payPage+"/code", form("item", item, "code", "s3cret")).wantPage(http.StatusUnprocessableEntity, []string{sentence, `role="alert"`}, nil)
	}
	d = &fakeOrders{view: ownView(order.Canceled), err: refusal(registrar.KindConflict, order.NotOpen)}
	visit(t, d, "erika", payPage+"/code", form("item", "itm_2", "code", "s3cret")).wantPage(http.StatusConflict, []string{"Das geht gerade nicht", `role="alert"`}, nil)
	d = &fakeOrders{view: foreignView(order.AwaitingPayment), err: refusal(registrar.KindForbidden, order.NotYours)}
	visit(t, d, "max", payPage+"/code", form("item", "itm_2", "code", "s3cret")).wantPage(http.StatusForbidden, []string{"gehört zu einem anderen Konto. Abgebucht"}, nil)
}

func TestPay_FreeOrderNeverMentionsPaying(t *testing.T) {
	t.Parallel()
	view := ownView(order.AwaitingPayment)
	view.Order.Totals = order.Totals{RateBasisPoints: 1900, Rule: "domestic"}
	for i := range view.Order.Items {
		view.Order.Items[i].Net, view.Order.Items[i].VAT, view.Order.Items[i].Gross = 0, 0, 0
	}
	view.Payable, view.Missing = false, []string{order.MissingCode}
	d := &fakeOrders{view: view, orders: []order.Order{view.Order}}
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK,
		[]string{"Bestellung prüfen und beauftragen", "Beauftragen können Sie, sobald"}, []string{"und bezahlen", "Bezahlen können"})
	for _, path := range []string{"/portal/orders", "/portal/orders/ord_1"} {
		visit(t, d, "erika", path, nil).wantPage(http.StatusOK, []string{"wartet auf Ihre Zustimmung"}, []string{"wartet auf Ihre Zahlung", "und bezahlen"})
	}
}

func TestPay_RenewalShowsNewDate(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: ownView(order.AwaitingPayment), holds: make(map[string]string), paidUntil: time.Date(2027, 2, 3, 0, 0, 0, 0, time.UTC)}
	for i := range d.view.Order.Items {
		d.view.Order.Items[i].Kind, d.view.Order.Items[i].Years = order.Renew, 2
		d.holds[d.view.Order.Items[i].Name] = "dom_1"
	}
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, []string{"läuft bis 03.02.2029", `name="auto_renew"`}, nil)
	// A domain that renews automatically needs no second consent.
	d.choice = registrar.TermEndRenew
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, []string{"läuft bis 03.02.2029"}, []string{`name="auto_renew"`})
}

// The box shows everything that the customer agrees to, and is never ticked in advance.
func TestPay_AutoRenewalShowsTextPriceAndDay(t *testing.T) {
	t.Parallel()
	for who, want := range map[string][]string{
		"erika":   {renewal.ConsentText("2026-11b-de"), `value="2026-11b-de"`, "14,28\u00a0€ für 1 Jahr", "erste Abbuchung voraussichtlich am ", "Freiwillig"},
		"english": {renewal.ConsentText("2026-11c-en"), `value="2026-11c-en"`, "€14.28 for 1 year", "first charge expected on ", "Optional"},
	} {
		got := visit(t, &fakeOrders{view: ownView(order.AwaitingPayment)}, who, payPage, nil)
		got.wantPage(http.StatusOK, want, nil)
		if box := regexp.MustCompile(`<input[^>]*name="auto_renew"[^>]*>`).FindString(got.Body.String()); strings.Contains(box, "checked") || strings.Contains(box, "required") {
			t.Errorf("the box is %s", box)
		}
	}
	unpriced := ownView(order.AwaitingPayment)
	unpriced.Order.Items[1].PremiumFee = registrar.Money{Amount: 250_0000, Currency: "EUR"}
	delete(unpriced.Renewals, unpriced.Order.Items[1].ID)
	visit(t, &fakeOrders{view: unpriced}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Nicht enthalten: müller.com", `name="auto_renew"`}, nil)
	notSold := ownView(order.AwaitingPayment)
	notSold.Renewals = nil
	visit(t, &fakeOrders{view: notSold}, "erika", payPage, nil).wantPage(http.StatusOK, nil, []string{`name="auto_renew"`})
	changed := &fakeOrders{view: ownView(order.AwaitingPayment), err: refusal(registrar.KindConflict, order.RenewalChanged)}
	visit(t, changed, "erika", payPage+"/pay", form("gross", "3570", "auto_renew", "2026-11-de", "renewal_prices", "1,1")).wantPage(http.StatusConflict,
		[]string{`role="alert"`, "Preis oder der Text der automatischen Verlängerung"}, nil)
}

func TestPay_TermTooShortForAutomaticRenewalIsWarnedOf(t *testing.T) {
	t.Parallel()
	const warning, says = "Bitte verlängern Sie die Domain dieses Mal selbst.", "Die Laufzeit von beispiel.de endet schon am "
	renewals := func(state order.State, days int, choice registrar.TermEndChoice) *fakeOrders {
		d := &fakeOrders{view: ownView(state), holds: make(map[string]string), choice: choice, paidUntil: noon.AddDate(0, 0, days)}
		for i := range d.view.Order.Items {
			item := &d.view.Order.Items[i]
			item.Kind, item.Years, d.holds[item.Name] = order.Renew, 1, "dom_1"
		}
		return d
	}
	for days, short := range map[int]bool{31: true, 32: false} {
		wants, not := []string{says, warning}, []string(nil)
		if !short {
			wants, not = nil, []string{warning}
		}
		d := renewals(order.AwaitingPayment, 0, registrar.TermEndUndecided)
		d.paidUntil = noon.AddDate(-1, 0, days)
		visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, append(wants, `name="auto_renew"`), not)
		d.choice = registrar.TermEndRenew // there is nothing to agree to
		visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, wants, append(not, `name="auto_renew"`))
		done := renewals(order.Completed, days, registrar.TermEndRenew)
		done.view.Order.PaidAt = noon
		visit(t, done, "erika", payPage, nil).wantPage(http.StatusOK, wants, not)
		done.choice = registrar.TermEndUndecided
		visit(t, done, "erika", payPage, nil).wantPage(http.StatusOK, nil, []string{warning})
	}
	view := ownView(order.AwaitingPayment)
	view.Order.Items[1].Kind, view.Order.Items[1].Years = order.Transfer, 0 // a .com, whose term only the registry knows
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Endet sie in weniger als 32 Tagen, verlängern Sie bitte dieses Mal selbst"}, nil)
	view.Order.Items[1].Years = 1
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, nil, []string{"Endet sie in weniger als"})
}

func TestPay_ExplainsUnconfirmedVATID(t *testing.T) {
	t.Parallel()
	const sentence = "Ihre Umsatzsteuer-ID ist nicht bestätigt"
	view := ownView(order.AwaitingPayment)
	view.Owner.Country = "AT"
	view.Order.Totals.Rule = "eu_consumer"
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, nil, []string{sentence})
	view.Owner.VATID = "ATU12345200"
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{sentence}, nil)
	view.Order.Totals.Unchecked = true // it has a text of its own
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"ließ sich gerade nicht prüfen"}, []string{sentence})
}

func TestPay_StopExplainsTaxOfEnteredDetails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		country, id string
		totals      order.Totals
		says        string
		good, keeps bool
	}{
		"invalid":          {"AT", "ATU12345200", order.Totals{Net: 3000, VAT: 570, Gross: 3570, Rule: "eu_consumer"}, "bestätigt Ihre Umsatzsteuer-ID ATU12345200 nicht", false, true},
		"other country":    {"FR", "ATU12345200", order.Totals{Net: 3000, VAT: 570, Gross: 3570, Rule: "eu_consumer"}, "gehört zu einem anderen Land", false, true},
		"register is down": {"AT", "ATU12345200", order.Totals{Net: 3000, VAT: 570, Gross: 3570, Rule: "eu_consumer", Unchecked: true}, "lässt sich gerade nicht prüfen", false, true},
		"no VAT":           {"CH", "", order.Totals{Net: 3000, Gross: 3000, Rule: "outside_eu"}, "Sie zahlen jetzt 30,00\u00a0€ statt 35,70\u00a0€", true, true},
		"more VAT":         {"HU", "", order.Totals{Net: 3000, VAT: 810, Gross: 3810, Rule: "eu_consumer_oss"}, "kostet jetzt 38,10\u00a0€ statt 35,70\u00a0€", false, false},
	} {
		view := ownView(order.AwaitingPayment)
		view.Owner.Country, view.Owner.VATID, view.Order.Totals = test.country, test.id, test.totals
		d := &fakeOrders{view: view, err: refusal(registrar.KindConflict, order.PriceChanged)}
		sent := form(append([]string{"gross", "3570", "items", view.Order.ItemsDigest(), "consent", order.ConsentWording("de")}, typedRegistrant...)...)
		got := visit(t, d, "erika", payPage+"/pay", sent)
		got.wantPage(http.StatusConflict, []string{test.says, payButton}, []string{"hat sich gerade geändert"})
		page := got.Body.String()
		if strings.Contains(page, `<p class="note good" role="alert">`) != test.good || strings.Contains(page, "Angaben ändern</a></p>") != (test.id != "") {
			t.Errorf("%s: %s", name, page)
		}
		if box := consentInput.FindString(page); strings.Contains(box, " checked") != test.keeps {
			t.Errorf("%s: the consent is %s", name, box)
		}
	}
}

func TestPay_AllProblemsAreListedAtOnce(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: withoutRegistrant(), registrantErr: &account.FieldError{Fields: map[string]registrar.Code{"postal_code": account.FieldForm, "city": account.FieldMissing}}}
	sent := form(append([]string{"gross", "3570", "items", d.view.Order.ItemsDigest()}, typedRegistrant...)...)
	problems := []string{`<a href="#postal_code">`, `<a href="#city">`, `<a href="#consent">`, `id="consent-problem"`}
	visit(t, d, "erika", payPage+"/pay", sent).wantPage(http.StatusUnprocessableEntity, problems, nil)
	sent.Set("organisation", "Mustermann GmbH") // a company is not asked
	visit(t, d, "erika", payPage+"/pay", sent).wantPage(http.StatusUnprocessableEntity, problems[:2], problems[2:])
}

func TestPay_UnpaidPageSaysNothingWasCharged(t *testing.T) {
	t.Parallel()
	const says = "wurde nicht abgeschlossen; es wurde nichts berechnet."
	view := ownView(order.AwaitingPayment)
	view.Order.Payments = []order.Payment{{ID: "pay_1", Kind: order.ByPage, State: order.PaymentClosed}}
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{says, payButton}, []string{"Ihre Bestellung ist vorbereitet"})
	view.Order.Payments = nil
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Ihre Bestellung ist vorbereitet"}, []string{says})
}

func TestPay_FreeOrderHasNoPayment(t *testing.T) {
	t.Parallel()
	view := ownView(order.AwaitingPayment)
	view.Order.Totals, view.Owner.MethodLabel = order.Totals{RateBasisPoints: 1900, Rule: "domestic"}, "Visa 4242"
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK,
		[]string{"von Ihrem Standard-Zahlungsmittel ab", "Visa 4242", ">Prüfen<"}, []string{">Bezahlen<", "mit dem Sie jetzt bezahlen"})
}

func TestPay_OneDomainIsSingular(t *testing.T) {
	t.Parallel()
	view := withoutRegistrant()
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, nil, []string{"Wem soll die Domain gehören?"})
	view.Order.Items = view.Order.Items[:1]
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Wem soll die Domain gehören?"}, nil)
}
