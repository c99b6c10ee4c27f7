package checkout

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// fakeInvoices has the documents of one customer.
type fakeInvoices struct {
	all []invoice.Document
	err error
}

func (b *fakeInvoices) Get(_ context.Context, actor registrar.Actor, id string) (invoice.Document, error) {
	for _, d := range b.all {
		if d.ID == id && actor.Customer == "cus_1" {
			return d, nil
		}
	}
	return invoice.Document{}, &registrar.Error{Kind: registrar.KindNotFound, Code: invoice.NoSuchDocument}
}

func (b *fakeInvoices) List(_ context.Context, _ registrar.Actor, before string, limit int) ([]invoice.Document, error) {
	from := 0
	for i, d := range b.all {
		if d.ID == before {
			from = i + 1
		}
	}
	return b.all[from:min(len(b.all), from+limit)], nil
}

func (b *fakeInvoices) ListByOrder(context.Context, registrar.Actor, string) ([]invoice.Document, error) {
	return b.all, nil
}

func (b *fakeInvoices) PDF(d invoice.Document) ([]byte, error) {
	return []byte("pdf of " + d.Number), b.err
}

func (b *fakeInvoices) XML(d invoice.Document) ([]byte, error) {
	return []byte("xml of " + d.Number), b.err
}

// visitWithInvoices requests a page as a customer with documents.
func visitWithInvoices(t *testing.T, d *fakeOrders, b *fakeInvoices, who, path string) response {
	t.Helper()
	d.invoices, d.pages = b, nil
	return visit(t, d, who, path, nil)
}

func newFakeInvoices(count int) *fakeInvoices {
	b := &fakeInvoices{}
	for i := range count {
		b.all = append(b.all, invoice.Document{
			ID: fmt.Sprintf("inv_%02d", i), Number: fmt.Sprintf("RE-2026-%06d", i+1), Kind: invoice.Invoice, Order: "ord_1", Day: "2026-11-15", IssuedAt: noon, Gross: 3570,
		})
	}
	return b
}

func TestOrderPage_ListsInvoiceAndCorrections(t *testing.T) {
	t.Parallel()
	o := newOrder(order.Failed)
	o.PaidAt = noon
	d := &fakeOrders{orders: []order.Order{o}}
	b := newFakeInvoices(1)
	back := b.all[0]
	back.ID, back.Number, back.Kind, back.Corrects, back.Gross = "inv_99", "RK-2026-000001", invoice.Correction, &invoice.Reference{Number: "RE-2026-000001"}, 1190
	b.all = append(b.all, back)
	visitWithInvoices(t, d, b, "erika", "/portal/orders/ord_1").wantPage(http.StatusOK, []string{
		"RE-2026-000001", "RK-2026-000001", "Rechnungskorrektur zu RE-2026-000001", "/portal/invoices/inv_99/pdf", "/portal/invoices/inv_99/xml", ">−11,90\u00a0€<",
	}, []string{"wird gerade ausgestellt"})
	visitWithInvoices(t, d, b, "english", "/portal/orders/ord_1").wantPage(http.StatusOK, []string{"Credit note for RE-2026-000001"}, nil)
	visitWithInvoices(t, d, &fakeInvoices{}, "erika", "/portal/orders/ord_1").wantPage(http.StatusOK, []string{"Die Rechnung wird gerade ausgestellt."}, nil)
	// Unpaid and free orders have none.
	for _, change := range []func(*order.Order){
		func(o *order.Order) { o.Totals.Gross = 0 },
		func(o *order.Order) { o.PaidAt = time.Time{} },
	} {
		other := o
		change(&other)
		visitWithInvoices(t, &fakeOrders{orders: []order.Order{other}}, b, "erika", "/portal/orders/ord_1").wantPage(http.StatusOK, nil, []string{"RE-2026", "ausgestellt"})
	}
}

// The page of a paid order links to the invoice, once.
func TestPay_PaidOrderLinksInvoice(t *testing.T) {
	t.Parallel()
	const link = `href="/portal/orders/ord_1#documents">Zur Rechnung<`
	const done = `href="/portal/orders/ord_1#documents">Rechnung ansehen`
	visitWithInvoices(t, &fakeOrders{view: ownView(order.Provisioning)}, newFakeInvoices(1), "erika", payPage).wantPage(http.StatusOK, []string{link}, []string{done})
	visitWithInvoices(t, &fakeOrders{view: ownView(order.Completed)}, newFakeInvoices(1), "erika", payPage).wantPage(http.StatusOK, []string{done}, []string{link})
	free := ownView(order.Completed)
	free.Order.Totals.Gross = 0
	for name, got := range map[string]response{
		"not paid":  visitWithInvoices(t, &fakeOrders{view: ownView(order.AwaitingPayment)}, newFakeInvoices(1), "erika", payPage),
		"free":      visitWithInvoices(t, &fakeOrders{view: free}, newFakeInvoices(1), "erika", payPage),
		"of others": visitWithInvoices(t, &fakeOrders{view: foreignView(order.Completed)}, newFakeInvoices(1), "max", payPage),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got.wantPage(http.StatusOK, nil, []string{"Zur Rechnung"})
		})
	}
}

func TestInvoices_ListIsPaginated(t *testing.T) {
	t.Parallel()
	b := newFakeInvoices(invoicesPageSize + 2)
	visitWithInvoices(t, &fakeOrders{}, b, "erika", "/portal/invoices").wantPage(http.StatusOK, []string{
		"RE-2026-000001", "RE-2026-000025", "?before=inv_24", "/portal/orders/ord_1", "15.11.2026", `href="/portal/invoices" aria-current="page"`,
	}, []string{"RE-2026-000026"})
	visitWithInvoices(t, &fakeOrders{}, b, "erika", "/portal/invoices?before=inv_24").wantPage(http.StatusOK, []string{"RE-2026-000027", "Neueste Rechnungen"}, []string{"RE-2026-000025", `rel="next"`})
	visitWithInvoices(t, &fakeOrders{}, &fakeInvoices{}, "erika", "/portal/invoices").wantPage(http.StatusOK, []string{"Sie haben noch keine Rechnungen."}, nil)
	visitWithInvoices(t, &fakeOrders{}, b, "", "/portal/invoices").wantRedirect("/portal/sign-in?next=%2Fportal%2Finvoices")
}

func TestInvoiceFiles_OwnerOnly(t *testing.T) {
	t.Parallel()
	b := newFakeInvoices(1)
	if got := visitWithInvoices(t, &fakeOrders{}, b, "erika", "/portal/invoices/inv_00/pdf"); got.Code != http.StatusOK || got.Body.String() != "pdf of RE-2026-000001" ||
		got.Header().Get("Content-Disposition") != `attachment; filename="RE-2026-000001.pdf"` {
		t.Errorf("got %d %v", got.Code, got.Header())
	}
	for _, path := range []string{"/portal/invoices/inv_00/pdf", "/portal/invoices/inv_00/xml", "/portal/invoices/inv_77/xml"} {
		if got := visitWithInvoices(t, &fakeOrders{}, b, "max", path); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.Code)
		}
	}
	visitWithInvoices(t, &fakeOrders{}, b, "", "/portal/invoices/inv_00/xml").wantRedirect("/portal/sign-in?next=%2Fportal%2Finvoices%2Finv_00%2Fxml")
	b.err = errors.New("no ink")
	if got := visitWithInvoices(t, &fakeOrders{}, b, "erika", "/portal/invoices/inv_00/pdf"); got.Code != http.StatusInternalServerError || got.Header().Get("Content-Disposition") != "" {
		t.Errorf("got %d", got.Code)
	}
}

func TestOrderPage_LiveUntilInvoiceIsIssued(t *testing.T) {
	t.Parallel()
	just, long := newOrder(order.Completed), newOrder(order.Completed)
	long.PaidAt = noon.Add(-reloadSlowsAfter)
	for name, test := range map[string]struct {
		order order.Order
		files *fakeInvoices
		want  bool
	}{
		"just paid":                   {just, &fakeInvoices{}, true},
		"issued":                      {just, newFakeInvoices(1), false},
		"an operator has to check it": {long, &fakeInvoices{}, false},
	} {
		got := visitWithInvoices(t, &fakeOrders{orders: []order.Order{test.order}}, test.files, "erika", "/portal/orders/ord_1")
		if liveAttributes.MatchString(got.Body.String()) != test.want {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
}
