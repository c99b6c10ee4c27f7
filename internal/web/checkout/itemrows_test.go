package checkout

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// equalItems is an order of n registrations of the same product, priced as orders are.
func equalItems(t *testing.T, state order.State, n int) order.View {
	t.Helper()
	view := ownView(state)
	one := view.Order.Items[0]
	one.Net = 1290
	nets := make([]registrar.Cents, n)
	for i := range nets {
		nets[i] = one.Net
	}
	shares, err := billing.SplitVAT(nets, 1900)
	if err != nil {
		t.Fatal(err)
	}
	view.Order.Items, view.Order.Totals.Net, view.Order.Totals.VAT = nil, 0, 0
	view.Renewals = make(map[string]order.TermPrice)
	for i, vat := range shares {
		item := one
		item.ID, item.Name, item.VAT, item.Gross = fmt.Sprintf("itm_%d", i), fmt.Sprintf("tee-%d.de", i), vat, item.Net+vat
		view.Order.Items = append(view.Order.Items, item)
		view.Order.Totals.Net += item.Net
		view.Order.Totals.VAT += vat
		view.Renewals[item.ID] = order.TermPrice{Years: 1, Gross: billing.Gross(item.Net, 1900)}
	}
	view.Order.Totals.Gross = view.Order.Totals.Net + view.Order.Totals.VAT
	return view
}

func TestPrices_SeveralItemsHaveEqualGrossPricesAndExactTotal(t *testing.T) {
	t.Parallel()
	view := equalItems(t, order.AwaitingPayment, 10)
	if view.Order.Items[0].Gross == view.Order.Items[9].Gross {
		t.Fatal("the shares of VAT don't differ")
	}
	total := []string{"12,90\u00a0€", "15,35\u00a0€", "129,00\u00a0€", "24,51\u00a0€", "153,51\u00a0€"}
	rounded := "Die Umsatzsteuer runden wir einmal für die ganze Bestellung."
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, append(total, rounded), []string{"15,36"})
	visit(t, &fakeOrders{orders: []order.Order{view.Order}}, "erika", "/portal/orders/ord_1", nil).wantPage(http.StatusOK, append(total, rounded), []string{"15,36"})

	b := &browser{t: t, d: &fakeOrders{}, who: ""}
	listed := &fakeOrders{}
	for i := range 10 {
		name := fmt.Sprintf("tee-%d.com", i)
		b.visit("/warenkorb/add", form("item", "register:"+name))
		item := view.Order.Items[i]
		listed.transfers = append(listed.transfers, order.ListedTransfer{Name: name, TLD: ".com", Code: "geheim", OK: true, Net: item.Net, Gross: item.Gross})
	}
	b.visit("/warenkorb", nil).wantPage(http.StatusOK, append(total, rounded), []string{"15,36"})
	one := &browser{t: t, d: &fakeOrders{}, who: ""}
	one.visit("/warenkorb/add", form("item", "register:tee-1.com"))
	one.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{"15,35\u00a0€"}, []string{rounded})
	visit(t, listed, "erika", "/umzug", nil).wantPage(http.StatusOK, total, []string{"15,36"})

	single := equalItems(t, order.AwaitingPayment, 1)
	visit(t, &fakeOrders{view: single}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"12,90\u00a0€", "2,45\u00a0€", "15,35\u00a0€", "Brutto"}, []string{rounded})
}

func TestPay_RestoreNamesItsFeeAndTheRenewal(t *testing.T) {
	t.Parallel()
	view := equalItems(t, order.AwaitingPayment, 1)
	h := newTestHandler(t, &fakeOrders{})
	ext, _ := h.Extension(".com")
	item := &view.Order.Items[0]
	item.Name, item.TLD, item.Kind, item.Years, item.Net = "alt.com", ".com", order.Restore, 1, order.NetPrice(ext, order.Restore, 1)
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"netto 49,90\u00a0€ Wiederherstellung und 12,90\u00a0€ Verlängerung"}, nil)
	item.Years, item.Net = 0, ext.Restore
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, nil, []string{"Wiederherstellung und"})
}

func TestPay_AddressIsWrittenAsInItsCountry(t *testing.T) {
	t.Parallel()
	view := equalItems(t, order.AwaitingPayment, 1)
	view.Owner.PostalCode, view.Owner.City, view.Owner.State, view.Owner.Country = "78701", "Austin", "TX", "US"
	visit(t, &fakeOrders{view: view}, "english", payPage, nil).wantPage(http.StatusOK, []string{"Austin, TX 78701, United States"}, nil)
}

func TestPay_ItemsBeyondTheTenthAreFoldedUnlessTheyHaveAProblem(t *testing.T) {
	t.Parallel()
	view := equalItems(t, order.AwaitingPayment, 32)
	view.Refused = map[string]error{"itm_20": refusal(registrar.KindConflict, provision.NameTaken)}
	view.Payable = false
	page := visit(t, &fakeOrders{view: view}, "erika", payPage, nil)
	page.wantPage(http.StatusOK, []string{"21 weitere Domains anzeigen"}, nil)
	shown, folded, found := strings.Cut(page.Body.String(), `<details class="more">`)
	if !found || !strings.Contains(shown, "tee-9.de") || strings.Contains(shown, "tee-10.de") || !strings.Contains(shown, "tee-20.de") || !strings.Contains(shown, "Diese Domain ist vergeben.") {
		t.Errorf("shown: %s", shown)
	}
	folded, _, _ = strings.Cut(folded, "</details>")
	if strings.Count(folded, "<strong>") != 21 || strings.Contains(folded, "tee-20.de") {
		t.Errorf("folded: %s", folded)
	}
	visit(t, &fakeOrders{view: equalItems(t, order.AwaitingPayment, 10)}, "erika", payPage, nil).wantPage(http.StatusOK, nil, []string{"weitere Domain"})
}

func TestPay_FoldedRenewalPricesAreAllOnThePage(t *testing.T) {
	t.Parallel()
	page := visit(t, &fakeOrders{view: equalItems(t, order.AwaitingPayment, 12)}, "erika", payPage, nil)
	page.wantPage(http.StatusOK, []string{"2 weitere Domains anzeigen"}, nil)
	if n := strings.Count(page.text(), "erste Abbuchung voraussichtlich am"); n != 12 {
		t.Errorf("%d renewal prices", n)
	}
}

func TestPay_CompletedOrderShowsTermAndRenewalPriceOfNewDomains(t *testing.T) {
	t.Parallel()
	until := time.Date(2027, 11, 15, 0, 0, 0, 0, time.UTC)
	for _, n := range []int{1, 5} {
		view := equalItems(t, order.Completed, n)
		d := &fakeOrders{view: view, holds: make(map[string]string), paidUntil: until}
		for i, item := range view.Order.Items {
			view.Order.Items[i].State = order.ItemActive
			d.holds[item.Name] = "dom_" + item.ID
		}
		page := visit(t, d, "erika", payPage, nil)
		page.wantPage(http.StatusOK, []string{"läuft bis 15.11.2027", "danach 15,35\u00a0€ brutto für 1 Jahr"}, nil)
		if got := strings.Count(page.text(), "läuft bis 15.11.2027"); got < n {
			t.Errorf("%d of %d terms", got, n)
		}
		visit(t, d, "english", payPage, nil).wantPage(http.StatusOK, []string{"runs until 15 Nov 2027", "then €15.35 gross for 1 year"}, nil)
	}
}

func TestPay_IdentityIsAskedForOnceTheAddressIsKnown(t *testing.T) {
	t.Parallel()
	view := ownView(order.AwaitingVerification)
	view.Missing = []string{order.MissingRegistrant, order.MissingIdentity}
	view.Owner = order.Buyer{Customer: "cus_1", Email: "erika@example.org"}
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Geben Sie zuerst Ihre Anschrift an"}, []string{verifyPage})
	view = ownView(order.AwaitingVerification)
	view.Missing = []string{order.MissingIdentity}
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Identität nachweisen", verifyPage}, []string{"Geben Sie zuerst Ihre Anschrift an"})
}

func TestVerify_WithoutAddressLeadsToTheOrder(t *testing.T) {
	t.Parallel()
	pending := order.VerifyView{Order: newOrder(order.AwaitingVerification), IsOwner: true, Needed: true, NoRegistrant: true, Status: order.IdentityNone}
	visit(t, &fakeOrders{verify: pending}, "erika", verifyPage, nil).wantPage(http.StatusOK, []string{"zuerst auf der Bestellseite Ihre Anschrift", "Zur Bestellung"}, []string{"Prüfung starten"})
}
