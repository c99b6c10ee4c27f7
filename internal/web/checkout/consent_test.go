package checkout

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

const consentBox = `name="consent" value="`

var consentInput = regexp.MustCompile(`<input[^>]*name="consent"[^>]*>`)

func TestConsent_BoxIsNeverPreticked(t *testing.T) {
	t.Parallel()
	free := ownView(order.AwaitingPayment)
	free.Order.Totals = order.Totals{Rule: "domestic", RateBasisPoints: 1900}
	again := ownView(order.AwaitingPayment)
	again.Order.Consent = order.Consent{At: noon, Wording: order.ConsentWording("de")}
	for name, view := range map[string]order.View{"to be paid": ownView(order.AwaitingPayment), "free": free, "asked before": again} {
		for who, language := range map[string]string{"erika": "de", "english": "en"} {
			wording := order.ConsentWording(language)
			got := visit(t, &fakeOrders{view: view}, who, payPage, nil)
			got.wantPage(http.StatusOK, []string{consentBox + wording + `"`, order.ConsentText(wording)}, []string{"consent-problem"})
			if box := consentInput.FindString(got.Body.String()); strings.Contains(box, "checked") || !strings.Contains(box, " required") {
				t.Errorf("%s: the box is %s", name, box)
			}
		}
	}
}

// The script marks it as required for consumers; a company must be able to leave it out.
func TestConsent_FirstOrderLeavesRequirementToTheScript(t *testing.T) {
	t.Parallel()
	view := ownView(order.AwaitingPayment)
	view.Missing, view.Owner.HasRegistrant = []string{order.MissingRegistrant}, false
	if box := consentInput.FindString(visit(t, &fakeOrders{view: view}, "erika", payPage, nil).Body.String()); !strings.Contains(box, " data-consumer") || strings.Contains(box, " required") {
		t.Errorf("the box is %s", box)
	}
}

// Whoever pays next gives their own consent.
func TestConsent_UnpaidReturnAsksToTickAgain(t *testing.T) {
	t.Parallel()
	const again = "Eine Zustimmung gilt nur für die Zahlung, mit der sie gegeben wurde. Bitte kreuzen Sie an, was gelten soll."
	d := &fakeOrders{view: ownView(order.AwaitingPayment)}
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, nil, []string{again})
	d.view.Order.Payments = []order.Payment{{ID: "pay_1", Kind: order.ByPage, State: order.PaymentClosed}}
	got := visit(t, d, "erika", payPage, nil)
	got.wantPage(http.StatusOK, []string{again}, nil)
	if body := got.Body.String(); strings.Contains(consentInput.FindString(body), "checked") || strings.Contains(body, " checked>") {
		t.Errorf("a box is ticked in advance: %s", body)
	}
	// A business that can't renew automatically has no box.
	d.view.Owner.VATID, d.view.Renewals = "DE123456789", nil
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, nil, []string{again, consentBox})
}

func TestConsent_OnlyPayingConsumersAreAsked(t *testing.T) {
	t.Parallel()
	company, trader, incomplete := ownView(order.AwaitingPayment), ownView(order.AwaitingPayment), ownView(order.AwaitingPayment)
	company.Owner.Company, company.Owner.Organisation = true, "Kontor GmbH"
	trader.Owner.VATID = "DE123456789"
	incomplete.Payable = false
	for name, view := range map[string]order.View{
		"a company": company, "a sole trader": trader, "another customer": foreignView(order.AwaitingPayment),
		"an incomplete order": incomplete, "an order being paid": ownView(order.Paying), "a paid order": ownView(order.Completed),
	} {
		if got := visit(t, &fakeOrders{view: view}, "erika", payPage, nil).Body.String(); strings.Contains(got, consentBox) {
			t.Errorf("%s shows the consent box", name)
		}
	}
}

func TestConsent_MissingTickKeepsOtherInput(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: ownView(order.AwaitingPayment), err: refusal(registrar.KindInvalid, order.ConsentMissing)}
	for _, renew := range []string{renewal.ConsentWording("de"), ""} {
		// The stored choice does not matter: the customer has just chosen otherwise.
		d.view.Order.AutoRenew = renew == ""
		got := visit(t, d, "erika", payPage+"/pay", form("gross", "3570", "items", d.view.Order.ItemsDigest(), "auto_renew", renew, "renewal_prices", "1428,1428,1428"))
		got.wantPage(http.StatusUnprocessableEntity, []string{`id="consent-problem"`, `aria-describedby="consent-problem"`, "Bitte kreuzen Sie das Kästchen an", payButton}, []string{`role="alert"`})
		page := got.Body.String()
		box := regexp.MustCompile(`<input[^>]*name="auto_renew"[^>]*>`).FindString(page)
		if strings.Contains(box, "checked") != (renew != "") {
			t.Errorf("%q: the renewal is %s", renew, box)
		}
		if box := consentInput.FindString(page); strings.Contains(box, "checked") || !strings.Contains(box, `aria-invalid="true"`) || !strings.Contains(box, "autofocus") {
			t.Errorf("the box is %s", box)
		}
	}
	// A page without the box shows the problem at its top.
	d.view = ownView(order.Paying)
	visit(t, d, "erika", payPage+"/pay", form("gross", "3570")).wantPage(http.StatusUnprocessableEntity, []string{`role="alert"`, "Bitte kreuzen Sie"}, nil)
}

func TestConsent_TickSurvivesOtherErrorOfSameOrder(t *testing.T) {
	t.Parallel()
	renewalInput := regexp.MustCompile(`<input[^>]*name="auto_renew"[^>]*>`)
	for name, test := range map[string]struct {
		fields         []string // instead of the right ones
		consent, renew bool
	}{
		"a wrong field":     {nil, true, true},
		"not ticked":        {[]string{"consent", "", "auto_renew", ""}, false, false},
		"another price":     {[]string{"gross", "3000"}, false, false},
		"other items":       {[]string{"items", "digest"}, false, false},
		"another wording":   {[]string{"consent", "2020-01-de", "auto_renew", "2020-01-de"}, false, false},
		"other later costs": {[]string{"renewal_prices", "1,1,1"}, true, false},
	} {
		view := withoutRegistrant()
		d := &fakeOrders{view: view, registrantErr: &account.FieldError{Fields: map[string]registrar.Code{"postal_code": account.FieldForm}}}
		sent := form(append([]string{
			"gross", "3570", "items", view.Order.ItemsDigest(), "consent", order.ConsentWording("de"),
			"auto_renew", renewal.ConsentWording("de"), "renewal_prices", "1428,1428,1428",
		}, typedRegistrant...)...)
		for i := 0; i+1 < len(test.fields); i += 2 {
			sent.Set(test.fields[i], test.fields[i+1])
		}
		page := visit(t, d, "erika", payPage+"/pay", sent).Body.String()
		if box := consentInput.FindString(page); box == "" || strings.Contains(box, " checked") != test.consent {
			t.Errorf("%s: the consent is %s", name, box)
		}
		if box := renewalInput.FindString(page); box == "" || strings.Contains(box, " checked") != test.renew {
			t.Errorf("%s: the renewal is %s", name, box)
		}
	}
}

func TestPay_BusinessWithoutVATSeesNeitherWithdrawalNorGross(t *testing.T) {
	t.Parallel()
	const law, later = `<a href="/widerruf">Widerrufsrecht</a>`, "danach 15,35\u00a0€ brutto für 1 Jahr"
	for _, n := range []int{1, 2} {
		view := equalItems(t, order.AwaitingPayment, n)
		visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{law, later, "Brutto"}, nil)
		view.Owner.Company = true
		view.Order.Totals = order.Totals{Net: view.Order.Totals.Net, Gross: view.Order.Totals.Net, Rule: "reverse_charge"}
		for i := range view.Order.Items {
			item := &view.Order.Items[i]
			item.VAT, item.Gross = 0, item.Net
			view.Renewals[item.ID] = order.TermPrice{Years: 1, Gross: item.Net}
		}
		visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{">AGB</a>, <a", "danach 12,90\u00a0€ für 1 Jahr"}, []string{law, "rutto"})
	}
}

func TestConsent_WordingIsPassedToService(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: ownView(order.AwaitingPayment), to: "https://pay.example/c/1"}
	visit(t, d, "erika", payPage+"/pay", form("gross", "3570", "consent", "2026-11-de")).wantRedirect("https://pay.example/c/1")
	if d.confirmation != (order.Confirmation{Gross: 3570, Consent: "2026-11-de"}) {
		t.Errorf("the service got %+v", d.confirmation)
	}
}

func TestConsent_ShownToOwnerOnly(t *testing.T) {
	t.Parallel()
	given := order.Consent{At: noon, Wording: order.ConsentWording("en")}
	shown := []string{"ausdrücklich verlangt am 15.11.2026, 13:00 MEZ", given.Text()}
	mine, others := ownView(order.Completed), foreignView(order.Completed)
	mine.Order.Consent, others.Order.Consent = given, given
	visit(t, &fakeOrders{view: mine}, "erika", payPage, nil).wantPage(http.StatusOK, shown, nil)
	visit(t, &fakeOrders{view: others}, "", payPage, nil).wantPage(http.StatusOK, nil, []string{"ausdrücklich verlangt", shown[1]})
	d := &fakeOrders{orders: []order.Order{mine.Order, newOrder(order.Completed)}}
	d.orders[1].ID = "ord_2"
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, append(shown, "wenn wir die Leistung vollständig erbracht haben.", `<a href="/widerruf">Widerruf erklären</a>`), nil)
	visit(t, d, "english", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{"once the service has been fully performed.", `<a href="/withdrawal">Withdraw from this contract</a>`}, nil)
	visit(t, d, "erika", "/portal/orders/ord_2", nil).wantPage(http.StatusOK, nil, []string{"ausdrücklich verlangt"})
}

func TestConsent_UnpaidOrderHasNoWithdrawalPeriod(t *testing.T) {
	t.Parallel()
	o := newOrder(order.AwaitingPayment)
	o.Consent = order.Consent{At: noon, Wording: order.ConsentWording("de")}
	d := &fakeOrders{orders: []order.Order{o}}
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, nil, []string{"Widerrufsfrist bis", "Widerruf erklären"})
}

// A holiday of a state may extend the period by some days.
func TestConsent_WithdrawalIsOfferedUntilItEndsInAllStates(t *testing.T) {
	t.Parallel()
	o := newOrder(order.Completed)
	o.Consent = order.Consent{At: noon, Wording: order.ConsentWording("de")}
	d := &fakeOrders{orders: []order.Order{o}, now: time.Date(2026, 12, 3, 22, 59, 59, 0, time.UTC)} // a second before midnight in Germany
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{"Widerrufsfrist bis 30.11.2026", "Widerruf erklären"}, nil)
	d.now = d.now.Add(time.Second)
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{"Die Widerrufsfrist ist am 30.11.2026 abgelaufen."}, []string{"Widerruf erklären", "Widerrufsfrist bis"})
}

func TestConsent_NoWithdrawalOfferedAfterFullRefund(t *testing.T) {
	t.Parallel()
	view := ownView(order.Completed)
	o := &view.Order
	o.Consent = order.Consent{At: noon, Wording: order.ConsentWording("de")}
	o.Payments = []order.Payment{{ID: "pay_1", State: order.PaymentCaptured, Amount: o.Totals.Gross}}
	refund := func(amount registrar.Cents, items ...order.Item) {
		refund := order.Refund{ID: "ref_" + items[0].ID, Payment: "pay_1", Source: order.ByOperator, Amount: amount, Provider: "re_1", MadeAt: noon.AddDate(0, 0, 2)}
		for _, item := range items {
			refund.Parts = append(refund.Parts, order.RefundPart{Item: item.ID, Gross: item.Gross})
		}
		o.Refunds = append(o.Refunds, refund)
	}
	bothPages := func(want, unwanted []string) {
		t.Helper()
		d := &fakeOrders{view: view, orders: []order.Order{*o}, holds: map[string]string{"beispiel.de": "dom_1"}}
		for _, page := range []string{payPage, "/portal/orders/ord_1"} {
			visit(t, d, "erika", page, nil).wantPage(http.StatusOK, want, unwanted)
		}
	}
	offer := []string{"Widerrufsfrist bis 30.11.2026", "Widerruf erklären"}
	bothPages(offer, []string{"<h3>Erstattungen</h3>"})
	refund(2380, o.Items[1])
	partly := ": 23,80\u00a0€ erstattet am 17.11.2026"
	bothPages(append([]string{partly, "Nach Abzug der Erstattungen haben Sie 11,90\u00a0€ bezahlt."}, offer...), []string{"vollständig erstattet"})
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"beispiel.de gehört jetzt Ihnen"}, []string{"müller.com gehört jetzt Ihnen"})
	refund(1190, o.Items[0], o.Items[2])
	bothPages([]string{partly, "11,90\u00a0€ erstattet am 17.11.2026"}, append(offer, "Bezahlt haben Sie damit"))
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Diese Bestellung haben wir Ihnen vollständig erstattet."}, []string{"gehört jetzt Ihnen"})
	o.Refunds[0].Provider = ""
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Wir erstatten Ihnen diese Bestellung vollständig.", "23,80\u00a0€ unterwegs"}, offer)
	// The bank returned the money, and an operator paid it another way.
	returned := &o.Refunds[0]
	returned.Provider, returned.Failure, returned.FailedAt, returned.Task = "re_1", order.ReturnedByBank, noon.AddDate(0, 0, 3), order.TaskReturned
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Wir erstatten Ihnen diese Bestellung vollständig."}, nil)
	returned.Task = order.TaskNone
	bothPages(nil, append(offer, "Bezahlt haben Sie damit"))
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Diese Bestellung haben wir Ihnen vollständig erstattet."}, []string{"Wir erstatten"})
	view.IsOwner = false
	visit(t, &fakeOrders{view: view}, "max", payPage, nil).wantPage(http.StatusOK, nil, []string{"<h3>Erstattungen</h3>", "erstatte"})
}

func TestConsent_NoWithdrawalOfferedIfEverythingFailed(t *testing.T) {
	t.Parallel()
	o := newOrder(order.Failed)
	o.Consent = order.Consent{At: noon, Wording: order.ConsentWording("de")}
	for i := range o.Items {
		o.Items[i].State = order.ItemFailed
	}
	visit(t, &fakeOrders{orders: []order.Order{o}}, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, nil, []string{"Widerruf erklären"})
}
