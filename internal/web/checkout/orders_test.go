package checkout

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestTheListHasEveryOrderPageByPage(t *testing.T) {
	t.Parallel()
	d := &desk{}
	for i := range ordersPage + 5 {
		o := anOrder(order.Completed)
		o.ID, o.Items[0].Name = fmt.Sprintf("ord_%02d", i), fmt.Sprintf("name-%02d.de", i)
		d.orders = append(d.orders, o)
	}
	d.orders[3].State = order.AwaitingPayment
	visit(t, d, "erika", "/portal/orders", nil).says(http.StatusOK, []string{
		"name-00.de und 2 weitere", "name-24.de", "/portal/orders/ord_24", "?before=ord_24", `href="` + here + `"`, "35,70\u00a0€", "wartet auf Ihre Zahlung",
		`href="/portal/orders" aria-current="page"`,
	}, []string{"name-25.de"})
	visit(t, d, "erika", "/portal/orders?before=ord_24", nil).says(http.StatusOK, []string{"name-25.de", "name-29.de", "Neueste Bestellungen"}, []string{"name-24.de", `rel="next"`, here})
	visit(t, &desk{}, "erika", "/portal/orders", nil).says(http.StatusOK, []string{"Sie haben noch nichts bestellt."}, nil)
	visit(t, d, "", "/portal/orders", nil).leads("/portal/sign-in?next=%2Fportal%2Forders")
}

func TestAnOrderTellsItsRefunds(t *testing.T) {
	t.Parallel()
	o := anOrder(order.Failed)
	o.Refunds = []order.Refund{{Amount: 1190, Provider: "re_1", MadeAt: noon}, {Amount: 2380}}
	d := &desk{orders: []order.Order{o, anOrder(order.AwaitingPayment)}}
	d.orders[1].ID = "ord_2"
	got := visit(t, d, "erika", "/portal/orders/ord_1", nil)
	got.says(http.StatusOK, []string{"11,90\u00a0€: zurückgegeben am 15.11.2026", "23,80\u00a0€: unterwegs", "nicht ausgeführt"}, []string{here})
	if told := followed.FindStringSubmatch(got.Body.String()); told == nil || told[1] != "/portal/orders/ord_1/events" {
		t.Errorf("the page does not wait for the refund: %q", told)
	}
	visit(t, d, "erika", "/portal/orders/ord_2", nil).says(http.StatusOK, []string{`href="` + here + `"`, "Agent"}, nil)
}

// Who waits for a transfer is told that it takes days; who waits for something else is
// not.
func TestATransferUnderWayTellsHowLongItTakes(t *testing.T) {
	t.Parallel()
	const patience = "dauert ein Umzug bis zu fünf Tage"
	for item := range anOrder(order.Provisioning).Items {
		view := theirs(order.Provisioning)
		view.Order.Items[item].State = order.ItemProvisioning
		got := visit(t, &desk{view: view}, "erika", here, nil)
		if told := strings.Contains(got.Body.String(), patience); told != (view.Order.Items[item].Kind == order.Transfer) {
			t.Errorf("%s: told %t", view.Order.Items[item].Kind, told)
		}
	}
	done := theirs(order.Completed)
	done.Order.Items[1].State = order.ItemActive
	visit(t, &desk{view: done}, "erika", here, nil).says(http.StatusOK, nil, []string{patience})
}

func TestTheIdentityPageLeadsToTheProviderAndTellsTheResult(t *testing.T) {
	t.Parallel()
	view := order.VerifyView{Order: anOrder(order.AwaitingVerification), Yours: true, Needed: true, Standing: order.IdentityNone}
	for _, test := range []struct {
		change func(*order.VerifyView)
		who    string
		yes    []string
		no     []string
	}{
		{func(*order.VerifyView) {}, "erika", []string{"Nachweis beginnen", here, "auch wenn eine Firma Inhaberin ist"}, []string{"Noch einmal"}},
		{func(v *order.VerifyView) { v.Standing = order.IdentityOpen }, "erika", []string{"Nachweis fortsetzen"}, nil},
		{func(v *order.VerifyView) { v.Standing, v.Failure = order.IdentityFailed, order.NameMismatch }, "erika", []string{"Noch einmal versuchen", "ein anderer als der des Domaininhabers"}, nil},
		{func(v *order.VerifyView) { v.Standing, v.Failure = order.IdentityFailed, "document_expired" }, "erika", []string{"nicht angenommen"}, nil},
		{func(v *order.VerifyView) { v.Standing, v.Needed = order.IdentityVerified, false }, "erika", []string{"ist nachgewiesen", here}, []string{"Nachweis beginnen"}},
		{func(v *order.VerifyView) { v.Needed = false }, "erika", []string{"kein Nachweis nötig"}, []string{"Nachweis beginnen"}},
		{func(v *order.VerifyView) { v.Yours = false }, "max", []string{"max@example.org", "/portal/sign-out"}, []string{"Nachweis beginnen", here}},
		{func(v *order.VerifyView) { v.Yours = false }, "", []string{"/portal/sign-in?next=%2Fcheckout%2Fverify%2F"}, []string{"Nachweis beginnen", here}},
	} {
		d := &desk{verify: view}
		test.change(&d.verify)
		visit(t, d, test.who, proof, nil).says(http.StatusOK, test.yes, test.no)
	}
	d := &desk{verify: view, to: "https://identity.example/1"}
	visit(t, d, "erika", proof, form()).leads("https://identity.example/1")
	visit(t, &desk{verify: view}, "erika", proof, form()).leads(proof)
	visit(t, &desk{verify: view, err: refusal(registrar.KindConflict, order.NotOpen)}, "erika", proof, form()).leads(proof)
	visit(t, &desk{verify: view, err: refusal(registrar.KindUpstream, registrar.FaultTimeout)}, "erika", proof, form()).says(http.StatusServiceUnavailable,
		[]string{"Der Dienst für den Nachweis antwortet gerade nicht."}, nil)
	visit(t, &desk{verify: view, err: refusal(registrar.KindUnauthenticated, "")}, "", proof, form()).leads("/portal/sign-in?next=%2Fcheckout%2Fverify%2Fdotkontor_verify_x")
}
