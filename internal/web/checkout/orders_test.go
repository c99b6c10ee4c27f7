package checkout

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

func TestOrders_ListIsPaginated(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{}
	for i := range ordersPageSize + 5 {
		o := newOrder(order.Completed)
		o.ID, o.Items[0].Name = fmt.Sprintf("ord_%02d", i), fmt.Sprintf("name-%02d.de", i)
		d.orders = append(d.orders, o)
	}
	d.orders[3].State = order.AwaitingPayment
	visit(t, d, "erika", "/portal/orders", nil).wantPage(http.StatusOK, []string{
		"name-00.de und 2 weitere", "name-24.de", "/portal/orders/ord_24", "?before=ord_24", `href="` + payPage + `"`, "35,70\u00a0€", "wartet auf Ihre Zahlung",
		`href="/portal/orders" aria-current="page"`,
	}, []string{"name-25.de"})
	visit(t, d, "erika", "/portal/orders?before=ord_24", nil).wantPage(http.StatusOK, []string{"name-25.de", "name-29.de", "Neueste Bestellungen"}, []string{"name-24.de", `rel="next"`, payPage})
	visit(t, &fakeOrders{}, "erika", "/portal/orders", nil).wantPage(http.StatusOK, []string{"Sie haben noch nichts bestellt."}, nil)
	visit(t, d, "", "/portal/orders", nil).wantRedirect("/portal/sign-in?next=%2Fportal%2Forders")
}

func TestOrders_IdentityIsAwaitedOnceTheAddressIsKnown(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{"domestic": "wartet auf Ihren Identitätsnachweis", "unknown_country": "wartet auf Ihre Anschrift"} {
		o := newOrder(order.AwaitingVerification)
		o.Totals.Rule = rule
		d := &fakeOrders{orders: []order.Order{o}, noAddress: rule == "unknown_country"}
		visit(t, d, "erika", "/portal/orders", nil).wantPage(http.StatusOK, []string{want}, []string{"nicht nachgewiesen"})
	}
}

func TestOrders_UnpaidOnesHaveTheVATOfTheAddressEnteredSince(t *testing.T) {
	t.Parallel()
	o := newOrder(order.AwaitingVerification)
	o.Totals.Rule = "unknown_country"
	for _, page := range []string{"/portal/orders", "/portal/transfers", "/portal/orders/ord_1"} {
		d := &fakeOrders{orders: []order.Order{o}, registrant: account.Registrant{Country: "AT"}} // and a valid VAT ID
		visit(t, d, "erika", page, nil).wantPage(http.StatusOK, []string{"30,00\u00a0€"}, []string{"35,70\u00a0€", "wartet auf Ihre Anschrift", "wartet auf Ihren Identitätsnachweis"})
	}
	d := &fakeOrders{orders: []order.Order{newOrder(order.AwaitingPayment)}, registrant: account.Registrant{Country: "AT"}}
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{"ATU12345678", "0\u00a0%", "10,00\u00a0€"}, []string{"11,90\u00a0€"})
	d = &fakeOrders{orders: []order.Order{newOrder(order.Completed)}, registrant: account.Registrant{Country: "AT"}}
	for _, page := range []string{"/portal/orders", "/portal/orders/ord_1"} {
		visit(t, d, "erika", page, nil).wantPage(http.StatusOK, []string{"35,70\u00a0€"}, nil)
	}
}

func TestTextKey_PartIsRefundedOnceTheRefundIsMade(t *testing.T) {
	t.Parallel()
	o := newOrder(order.PartiallyCompleted)
	o.Payments = []order.Payment{{ID: "pay_1", State: order.PaymentCaptured, Amount: o.Totals.Gross}}
	o.Refunds = []order.Refund{{ID: "ref_1", Payment: "pay_1", Item: o.Items[0].ID, Amount: 1190}}
	if key := textKey(o, true, false); key != "pay.text.partially_completed" {
		t.Errorf("due: %s", key)
	}
	o.Refunds[0].Provider, o.Refunds[0].MadeAt = "re_1", noon
	if key := textKey(o, true, false); key != "pay.text.partially_refunded" {
		t.Errorf("made: %s", key)
	}
}

func TestOrderPage_ListsRefunds(t *testing.T) {
	t.Parallel()
	o := newOrder(order.Failed)
	o.Payments = []order.Payment{{ID: "pay_1", State: order.PaymentCaptured, Amount: o.Totals.Gross}}
	o.Refunds = []order.Refund{{Payment: "pay_1", Amount: 1190, Provider: "re_1", MadeAt: noon}, {Payment: "pay_1", Amount: 2380}}
	d := &fakeOrders{orders: []order.Order{o, newOrder(order.AwaitingPayment)}}
	d.orders[1].ID = "ord_2"
	got := visit(t, d, "erika", "/portal/orders/ord_1", nil)
	got.wantPage(http.StatusOK, []string{"11,90\u00a0€ erstattet am 15.11.2026", "23,80\u00a0€ unterwegs", "Nach Abzug der Erstattungen haben Sie 23,80\u00a0€ bezahlt.", "nicht ausgeführt"}, []string{payPage})
	if live := liveAttributes.FindStringSubmatch(got.Body.String()); live == nil || live[1] != "/portal/orders/ord_1/events" {
		t.Errorf("the page does not wait for the refund: %q", live)
	}
	visit(t, d, "erika", "/portal/orders/ord_2", nil).wantPage(http.StatusOK, []string{`href="` + payPage + `"`, "Agent"}, nil)
}

func TestOrderPage_ReturnedRefundIsNotCalledRefunded(t *testing.T) {
	t.Parallel()
	o := newOrder(order.Failed)
	o.Items[0].State = order.ItemRefunded
	o.Payments = []order.Payment{{ID: "pay_1", State: order.PaymentCaptured, Amount: o.Totals.Gross}}
	o.Refunds = []order.Refund{{
		ID: "ref_1", Payment: "pay_1", Item: o.Items[0].ID, Amount: 1190, Provider: "re_1", MadeAt: noon,
		Failure: order.ReturnedByBank, FailedAt: noon.AddDate(0, 0, 1), Task: order.TaskReturned,
	}}
	d := &fakeOrders{orders: []order.Order{o}}
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK,
		[]string{o.Items[0].Name + ": 11,90\u00a0€ hat Ihre Bank am 16.11.2026 zurückgegeben", "nicht möglich, wird erstattet"}, []string{"erstattet am", "Bezahlt haben Sie damit"})
	d.orders[0].Refunds[0].Task = order.TaskNone
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{"auf anderem Weg ausgezahlt"}, []string{"erstattet am"})
	d.orders[0].Refunds[0].SettledAt = noon.AddDate(0, 0, 3)
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{"am 16.11.2026 zurückgegeben. Am 18.11.2026 haben wir Ihnen"}, []string{"erstattet am"})
	d.orders[0].Refunds[0].SettledAt = time.Time{}
	d.orders[0].Refunds = append(d.orders[0].Refunds, order.Refund{
		ID: "ref_2", Payment: "pay_1", Source: order.ByOperator, Amount: 1190, Replaces: "ref_1", Provider: "re_2", MadeAt: noon.AddDate(0, 0, 2),
		Parts: []order.RefundPart{{Item: o.Items[0].ID, Gross: 1190}},
	})
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK,
		[]string{o.Items[0].Name + ": 11,90\u00a0€ erstattet am 17.11.2026", "nicht möglich, erstattet"}, []string{"zurückgegeben"})
	d.orders[0].Refunds[1].Provider, d.orders[0].Refunds[1].Failure, d.orders[0].Refunds[1].Task = "", order.ChargeDisputed, order.TaskRefused
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{"noch einmal aus oder melden uns"}, []string{"erstattet am", "unterwegs"})
}

func TestOrderPage_NamesNoticesAndItsPeriod(t *testing.T) {
	t.Parallel()
	o := newOrder(order.Completed)
	o.Consent = order.Consent{At: noon, Wording: order.ConsentWording("de")}
	d := &fakeOrders{orders: []order.Order{o}}
	period := "Widerrufsfrist bis 30.11.2026" // the 29th is a Sunday
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{period}, []string{"Erklärt am"})
	d.declared = []withdrawal.Notice{
		{ID: "dcl_1", Customer: o.Customer, Kind: withdrawal.Withdrawal, Email: "erika@example.org", Contract: "ord_1", At: noon.AddDate(0, 0, 3)},
		{ID: "dcl_2", Customer: o.Customer, Kind: withdrawal.Withdrawal, Email: "erika@example.org", Contract: "beispiel.de", At: noon, DoneAt: noon.AddDate(0, 0, 2)},
		{ID: "dcl_3", Customer: o.Customer, Kind: withdrawal.Termination, Email: "erika@example.org", Contract: "beispiel.de", At: noon, Ground: withdrawal.Ordinary},
		{ID: "dcl_4", Customer: o.Customer, Kind: withdrawal.Termination, Email: "erika@example.org", Contract: "beispiel.de", At: noon, Ground: withdrawal.Extraordinary},
	}
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{
		period, "<dt>Widerruf: " + o.Items[0].Name + "</dt>", "Erklärt am 18.11.2026. Wir bearbeiten ihn bis 02.12.2026.", "dcl_1", "Erklärt am 15.11.2026, erledigt am 17.11.2026.",
		"Kündigung", "Wann der Vertrag endet, bestätigen wir Ihnen", "dcl_3", "Wir prüfen den Grund und antworten Ihnen", "dcl_4",
	}, []string{"Wir haben dafür"})
	d.orders[0].Refunds = []order.Refund{{
		ID: "ref_1", Source: order.ByOperator, Amount: 500, Provider: "re_1", MadeAt: noon.AddDate(0, 0, 2), Notice: "dcl_2",
		Parts: []order.RefundPart{{Item: o.Items[0].ID, Gross: 500}},
	}}
	const refunded = "Wir haben dafür am 17.11.2026 5,00\u00a0€ erstattet. "
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{refunded + "Was Sie bestellt haben, bleibt"}, nil)
	d.orders[0].Refunds[0].Parts[0].Domain = "dom_1"
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{refunded + "Domains, deren Registrierung wir ganz erstattet haben, löschen wir."}, nil)
}

func TestOrderPage_NoticeNamesItsDomainsAndIsShownOnce(t *testing.T) {
	t.Parallel()
	o := newOrder(order.Completed)
	other := o.Items[0]
	other.ID, other.Name = "itm_2", "xn--tee-una.de"
	o.Items = append(o.Items, other)
	sent := func(id, contract string, at, done time.Time) withdrawal.Notice {
		return withdrawal.Notice{ID: id, Customer: o.Customer, Kind: withdrawal.Withdrawal, Contract: contract, At: at, DoneAt: done}
	}
	d := &fakeOrders{orders: []order.Order{o}, declared: []withdrawal.Notice{
		sent("dcl_4", "der Auftrag ord_1", noon, time.Time{}),
		sent("dcl_3", "ord_1, "+other.Name, noon, time.Time{}),
		sent("dcl_2", o.Items[0].Name, noon, time.Time{}),
		sent("dcl_1", o.Items[0].Name, noon, noon.AddDate(0, 0, 2)),
	}}
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{
		"<dt>Widerruf</dt>", "dcl_4", "<dt>Widerruf: teeö.de", "<dt>Widerruf: " + o.Items[0].Name + "</dt>", "dcl_1",
	}, []string{"dcl_2"})
}

func TestOrderPage_HandledTerminationNamesEndAndReply(t *testing.T) {
	t.Parallel()
	o := newOrder(order.Completed)
	d := &fakeOrders{orders: []order.Order{o}, declared: []withdrawal.Notice{{
		ID: "dcl_1", Customer: o.Customer, Kind: withdrawal.Termination, Ground: withdrawal.Extraordinary, Contract: "beispiel.de", At: noon, DoneAt: noon,
		DoneReply: "Wir <bedauern> das.", DoneEnds: "2026-11-15 2027-01-31",
	}}}
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{
		"erledigt am 15.11.2026. Bestätigtes Ende des Vertrags: <time", ">15.11.2026</time>, <time", ">31.01.2027</time>.",
		"Unsere Antwort: <span class=\"verbatim\">Wir &lt;bedauern&gt; das.</span>",
	}, nil)
}

func TestOrderPage_WithdrawalWaitsForDispute(t *testing.T) {
	t.Parallel()
	o := newOrder(order.Completed)
	o.PaidAt = noon
	late := withdrawal.Notice{ID: "dcl_1", Customer: o.Customer, Kind: withdrawal.Withdrawal, Email: "erika@example.org", Contract: "ord_1", At: noon.AddDate(0, 0, -20)}
	d := &fakeOrders{orders: []order.Order{o}, declared: []withdrawal.Notice{late}}
	const apology = "hätten wir ihn bearbeiten müssen"
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{apology}, nil)
	for status, want := range map[dispute.Status]string{dispute.UnderReview: "wir bearbeiten ihn, sobald sie entschieden hat", dispute.Lost: "schon an Ihre Bank zurückgegangen"} {
		d.disputes = map[string][]dispute.Dispute{"ord_1": {{Report: dispute.Report{ID: "dp_1", Status: status}, Lock: dispute.LockActive}}}
		visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{want}, []string{apology})
	}
}

func TestOrderPage_NamesFirstDomainAndLinksThoseHeld(t *testing.T) {
	t.Parallel()
	o := newOrder(order.Completed)
	for len(o.Items) < 2*portfolio.MaxHeldNames {
		o.Items = append(o.Items, order.Item{ID: "itm_x", Name: "weitere.de", TLD: ".de", Kind: order.Register, Years: 1, State: order.ItemActive})
	}
	o.Items = append(o.Items, order.Item{ID: "itm_last", Name: "letzte.de", TLD: ".de", Kind: order.Register, Years: 1, State: order.ItemActive})
	d := &fakeOrders{orders: []order.Order{o}, holds: map[string]string{"beispiel.de": "dom_1", "letzte.de": "dom_9"}}
	visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{
		"<h1>Bestellung beispiel.de und 16 weitere</h1>", `<p class="crumb"><a href="/portal/orders">Alle Bestellungen</a></p>`,
		`<a href="/portal/domains/dom_1">beispiel.de</a>`, `<a href="/portal/domains/dom_9">letzte.de</a>`,
	}, []string{">weitere.de</a>"})
}

func TestOrderPage_RestrictedDomainIsNotShownAsRegistered(t *testing.T) {
	t.Parallel()
	view := ownView(order.Completed)
	for i := range view.Order.Items {
		view.Order.Items[i].State = order.ItemActive
	}
	view.Order.PaidAt = noon
	d := &fakeOrders{view: view, orders: []order.Order{view.Order}, restricted: map[string]portfolio.State{
		"beispiel.de": portfolio.Suspended, "xn--mller-kva.com": portfolio.Disputed, "alt.shop": portfolio.Held,
	}, disputes: map[string][]dispute.Dispute{"ord_1": {{Report: dispute.Report{ID: "dp_1", Status: dispute.UnderReview}, Lock: dispute.LockActive}}}}
	for _, page := range []string{"/portal/orders/ord_1", payPage} {
		visit(t, d, "erika", page, nil).wantPage(http.StatusOK, []string{
			`badge bad">nicht im DNS, Adresse unbestätigt`, `badge warn">Zahlung ungeklärt`, `badge bad">nicht im DNS<`,
		}, []string{">registriert<", ">umgezogen<"})
	}
}

// A renewal has a payment of its own.
func TestOrderPage_DisputeOfAnotherOrderChangesNothing(t *testing.T) {
	t.Parallel()
	o := newOrder(order.Completed)
	o.PaidAt = noon
	for i := range o.Items {
		o.Items[i].State = order.ItemActive
	}
	d := &fakeOrders{orders: []order.Order{o}, restricted: map[string]portfolio.State{"beispiel.de": portfolio.Disputed}, disputes: map[string][]dispute.Dispute{
		"ord_2": {{Report: dispute.Report{ID: "dp_1", Status: dispute.UnderReview}, Lock: dispute.LockActive}},
		"ord_1": {{Report: dispute.Report{ID: "dp_2", Status: dispute.WarningNeedsResponse}, Lock: dispute.LockNone}, {Report: dispute.Report{ID: "dp_3", Status: dispute.Won}, Lock: dispute.LockLifted}},
	}}
	for _, page := range []string{"/portal/orders", "/portal/orders/ord_1"} {
		visit(t, d, "erika", page, nil).wantPage(http.StatusOK, []string{"abgeschlossen"}, []string{"Zahlung ungeklärt", "zurückgegangen", "reklamiert"})
	}
}

func TestOrders_DisputesAreOneQueryAndLockInForcePrecedes(t *testing.T) {
	t.Parallel()
	orders := []order.Order{newOrder(order.Completed), newOrder(order.Completed)}
	orders[0].ID, orders[0].PaidAt, orders[1].PaidAt = "ord_2", noon, noon
	d := &fakeOrders{orders: orders, disputes: map[string][]dispute.Dispute{"ord_1": {
		{Report: dispute.Report{ID: "dp_1", Status: dispute.UnderReview}, Lock: dispute.LockActive},
		{Report: dispute.Report{ID: "dp_2", Status: dispute.Lost}, Lock: dispute.LockLifted},
	}}}
	for page, rest := range map[string][]string{"/portal/orders": {"abgeschlossen"}, "/portal/orders/ord_1": nil} {
		d.disputeQueries = 0
		visit(t, d, "erika", page, nil).wantPage(http.StatusOK, append(rest, "Zahlung ungeklärt"), nil)
		if d.disputeQueries != 1 {
			t.Errorf("%s: %d queries", page, d.disputeQueries)
		}
	}
}

func TestOrderPage_SaysThatPaymentWasTakenBack(t *testing.T) {
	t.Parallel()
	o := newOrder(order.Completed)
	o.PaidAt = noon
	d := &fakeOrders{orders: []order.Order{o}}
	for _, test := range []struct {
		status  dispute.Status
		lock    dispute.Lock
		yes, no []string
	}{
		{
			dispute.NeedsResponse, dispute.LockActive,
			[]string{"Zahlung ungeklärt", "wurde am 15.11.2026 bei der Bank reklamiert", "Inhaberwechsel der Domains gesperrt", "/kontakt"},
			[]string{"abgeschlossen", "zurückgegangen"},
		},
		{
			dispute.Lost, dispute.LockKept,
			[]string{"Zahlung zurückgegangen", "Die Zahlung von 35,70\u00a0€ ist am 15.11.2026 an Ihre Bank zurückgegangen.", "nicht bezahlt", "Inhaberwechsel der Domains gesperrt"},
			[]string{"abgeschlossen", "reklamiert"},
		},
		{
			dispute.Lost, dispute.LockLifted,
			[]string{"abgeschlossen", "ist am 15.11.2026 an Ihre Bank zurückgegangen. Die Sperre der Domains haben wir aufgehoben."},
			[]string{"gesperrt", "nicht bezahlt"},
		},
	} {
		d.disputes = map[string][]dispute.Dispute{"ord_1": {{Report: dispute.Report{ID: "dp_1", Status: test.status, Amount: 3570, OpenedAt: noon.AddDate(0, 0, -10)}, Lock: test.lock, LockedAt: noon}}}
		visit(t, d, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, test.yes, test.no)
		visit(t, d, "erika", "/portal/orders", nil).wantPage(http.StatusOK, test.yes[:1], nil)
	}
}

func TestOrderPage_DeletedDomainIsNotActive(t *testing.T) {
	t.Parallel()
	view := ownView(order.Completed)
	for i := range view.Order.Items {
		view.Order.Items[i].State = order.ItemActive
	}
	view.Order.PaidAt = noon
	first, second := view.Order.Items[0].ID, view.Order.Items[1].ID
	d := &fakeOrders{view: view, orders: []order.Order{view.Order}}
	for _, page := range []string{"/portal/orders/ord_1", payPage} {
		d.ended = nil
		visit(t, d, "erika", page, nil).wantPage(http.StatusOK, nil, []string{"gelöscht", "übergeben"})
		d.ended = map[string]lifecycle.EndedDomain{first: {At: noon}, second: {At: noon, HandedOver: true}}
		visit(t, d, "erika", page, nil).wantPage(http.StatusOK, []string{
			`<span class="badge warn">gelöscht</span>`, "beendet am 15.11.2026.", `<span class="badge warn">an die Registry übergeben</span>`,
		}, nil)
	}
}

// Only a pending transfer shows the note that it takes days.
func TestPay_TransferInProgressShowsDuration(t *testing.T) {
	t.Parallel()
	const patience = "Ein Umzug kann hier bis zu einem Tag dauern."
	for item := range newOrder(order.Provisioning).Items {
		view := ownView(order.Provisioning)
		view.Order.Items[item].State = order.ItemProvisioning
		got := visit(t, &fakeOrders{view: view}, "erika", payPage, nil)
		if shown := strings.Contains(got.Body.String(), patience); shown != (view.Order.Items[item].Kind == order.Transfer) {
			t.Errorf("%s: shown %t", view.Order.Items[item].Kind, shown)
		}
	}
	done := ownView(order.Completed)
	done.Order.Items[1].State = order.ItemActive
	visit(t, &fakeOrders{view: done}, "erika", payPage, nil).wantPage(http.StatusOK, nil, []string{patience})
}

func TestVerify_LinksProviderAndShowsResult(t *testing.T) {
	t.Parallel()
	view := order.VerifyView{Order: newOrder(order.AwaitingVerification), IsOwner: true, Needed: true, Name: "Erika Mustermann", Status: order.IdentityNone}
	for _, test := range []struct {
		change func(*order.VerifyView)
		who    string
		yes    []string
		no     []string
	}{
		{func(*order.VerifyView) {}, "erika", []string{"Prüfung starten", payPage, "der Name aus Ihrem Profil stehen (Erika Mustermann), auch wenn eine Firma"}, []string{"Noch einmal"}},
		{func(v *order.VerifyView) { v.Status = order.IdentityOpen }, "erika", []string{"Prüfung fortsetzen"}, nil},
		{func(v *order.VerifyView) { v.Status, v.Failure = order.IdentityFailed, order.NameMismatch }, "erika", []string{"Noch einmal versuchen", "weicht vom Namen in Ihrem Profil ab (Erika Mustermann)", "/portal/profile/registrant?next=%2Fcheckout%2Fverify%2F"}, nil},
		{func(v *order.VerifyView) { v.Status, v.Failure = order.IdentityFailed, "document_expired" }, "erika", []string{"nicht akzeptiert"}, nil},
		{func(v *order.VerifyView) { v.Status, v.Needed = order.IdentityVerified, false }, "erika", []string{"ist nachgewiesen", payPage}, []string{"Prüfung starten"}},
		{func(v *order.VerifyView) { v.Needed = false }, "erika", []string{"kein Nachweis nötig"}, []string{"Prüfung starten"}},
		{func(v *order.VerifyView) { v.IsOwner = false }, "max", []string{"max@example.org", "/portal/sign-out"}, []string{"Prüfung starten", payPage}},
		{func(v *order.VerifyView) { v.IsOwner = false }, "", []string{"/portal/sign-in?next=%2Fcheckout%2Fverify%2F"}, []string{"Prüfung starten", payPage}},
	} {
		d := &fakeOrders{verify: view}
		test.change(&d.verify)
		visit(t, d, test.who, verifyPage, nil).wantPage(http.StatusOK, test.yes, test.no)
	}
	d := &fakeOrders{verify: view, to: "https://identity.example/1"}
	visit(t, d, "erika", verifyPage, form()).wantRedirect("https://identity.example/1")
	visit(t, &fakeOrders{verify: view}, "erika", verifyPage, form()).wantRedirect(verifyPage)
	visit(t, &fakeOrders{verify: view, err: refusal(registrar.KindConflict, order.NotOpen)}, "erika", verifyPage, form()).wantRedirect(verifyPage)
	visit(t, &fakeOrders{verify: view, err: refusal(registrar.KindUpstream, registrar.FaultTimeout)}, "erika", verifyPage, form()).wantPage(http.StatusServiceUnavailable,
		[]string{"Der Dienst für den Nachweis antwortet gerade nicht."}, nil)
	visit(t, &fakeOrders{verify: view, err: refusal(registrar.KindUnauthenticated, "")}, "", verifyPage, form()).wantRedirect("/portal/sign-in?next=%2Fcheckout%2Fverify%2Fdotkontor_verify_x")
}

func TestLanguage_PaymentAndVerificationHaveTheAccountsBeforeSignIn(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{
		view:   order.View{Order: ownView(order.AwaitingPayment).Order, Owner: order.Buyer{Language: "en"}},
		verify: order.VerifyView{Order: ownView(order.AwaitingVerification).Order, Needed: true, Status: order.IdentityNone, Language: "en"},
	}
	for _, page := range []string{payPage, verifyPage} {
		visit(t, d, "", page, nil).wantPage(http.StatusOK, []string{`<html lang="en">`}, nil)
	}
}

// The frame's clock, by which sessions end, stays behind when a sandbox moves the business time.
func TestDelayedOrder_IsJudgedByBusinessTime(t *testing.T) {
	t.Parallel()
	view := ownView(order.Provisioning)
	view.Order.Items = view.Order.Items[:1]
	view.Order.Items[0].State = order.ItemProvisioning
	moved := noon.AddDate(0, 0, 30)
	view.Order.PaidAt = moved.Add(-time.Hour)
	for _, path := range []string{payPage, "/portal/orders/" + view.Order.ID} {
		visit(t, &fakeOrders{view: view, orders: []order.Order{view.Order}, now: moved}, "erika", path, nil).wantPage(http.StatusOK, []string{"Das dauert länger als üblich"}, nil)
	}
}

// An item that waits, for example because our account at the registry has no credit, looks like
// any other until it takes longer than usual.
func TestDelayedOrder_SaysWhatHappensToThePayment(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"erika": "Das dauert länger als üblich", "english": "This is taking longer than usual"}
	for name, test := range map[string]struct {
		state order.ItemState
		kind  order.Kind
		after time.Duration
		gross registrar.Cents
		shown bool
	}{
		"just paid":        {order.ItemProvisioning, order.Register, time.Minute, 3570, false},
		"waits":            {order.ItemProvisioning, order.Register, 15 * time.Minute, 3570, true},
		"renewal waits":    {order.ItemProvisioning, order.Renew, time.Hour, 3570, true},
		"free and waits":   {order.ItemProvisioning, order.Register, time.Hour, 0, true},
		"transfer":         {order.ItemProvisioning, order.Transfer, time.Hour, 3570, false},
		"others are ready": {order.ItemActive, order.Register, time.Hour, 3570, false},
	} {
		for who, text := range texts {
			view := ownView(order.Provisioning)
			view.Order.Items = view.Order.Items[:1]
			view.Order.Items[0].State, view.Order.Items[0].Kind = test.state, test.kind
			view.Order.PaidAt, view.Order.Totals.Gross = noon.Add(-test.after), test.gross
			for _, path := range []string{payPage, "/portal/orders/" + view.Order.ID} {
				got := visit(t, &fakeOrders{view: view, orders: []order.Order{view.Order}}, who, path, nil).Body.String()
				if shown := strings.Contains(got, text); shown != test.shown {
					t.Errorf("%s, %s, %s: shown %t: %s", name, who, path, shown, got)
				}
				refund := strings.Contains(got, "erstatten wir vollständig") && strings.Contains(got, "35,70\u00a0€ haben wir am 15.11.2026 erhalten") ||
					strings.Contains(got, "is refunded in full") && strings.Contains(got, "payment of €35.70 on")
				if refund != (test.shown && test.gross > 0) {
					t.Errorf("%s, %s, %s: says that the payment is refunded: %t", name, who, path, refund)
				}
				// The page after the payment says so from the start, and once.
				if said := strings.Count(got, "erstatten wir vollständig") + strings.Count(got, "is refunded in full"); path == payPage && said != min(1, int(test.gross)) {
					t.Errorf("%s, %s: says %d times what is refunded", name, who, said)
				}
			}
		}
	}
}
