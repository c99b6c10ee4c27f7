package checkout

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// binder has documents of one customer.
type binder struct {
	all []invoice.Document
	err error
}

func (b *binder) Get(_ context.Context, actor registrar.Actor, id string) (invoice.Document, error) {
	for _, d := range b.all {
		if d.ID == id && actor.Customer == "cus_1" {
			return d, nil
		}
	}
	return invoice.Document{}, &registrar.Error{Kind: registrar.KindNotFound, Code: invoice.NoSuchDocument}
}

func (b *binder) List(_ context.Context, _ registrar.Actor, before string, limit int) ([]invoice.Document, error) {
	from := 0
	for i, d := range b.all {
		if d.ID == before {
			from = i + 1
		}
	}
	return b.all[from:min(len(b.all), from+limit)], nil
}

func (b *binder) OfOrder(context.Context, registrar.Actor, string) ([]invoice.Document, error) {
	return b.all, nil
}

func (b *binder) PDF(d invoice.Document) ([]byte, error) { return []byte("pdf of " + d.Number), b.err }

func (b *binder) XML(d invoice.Document) ([]byte, error) { return []byte("xml of " + d.Number), b.err }

// leaf is a page of somebody who has documents.
func leaf(t *testing.T, d *desk, b *binder, who, path string) answer {
	t.Helper()
	frame, err := page.New(page.Config{
		BaseURL: base, Sessions: sessions{}, Address: func(*http.Request) netip.Addr { return netip.Addr{} }, Orders: true,
		Now: func() time.Time { return noon },
	})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := New(Config{Frame: frame, Orders: d, Invoices: b, Papers: b})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, route := range handler.Routes() {
		mux.Handle(route.Method+" "+route.Path, route.Handler)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
	if who != "" {
		r.AddCookie(&http.Cookie{Name: "__Host-dotkontor", Value: who})
	}
	got := answer{httptest.NewRecorder(), t}
	mux.ServeHTTP(got, r)
	return got
}

func papers(count int) *binder {
	b := &binder{}
	for i := range count {
		b.all = append(b.all, invoice.Document{
			ID: fmt.Sprintf("inv_%02d", i), Number: fmt.Sprintf("RE-2026-%06d", i+1), Kind: invoice.Invoice, Order: "ord_1", Day: "2026-11-15", IssuedAt: noon, Gross: 3570,
		})
	}
	return b
}

func TestAnOrderShowsItsInvoiceAndCorrections(t *testing.T) {
	t.Parallel()
	o := anOrder(order.Failed)
	o.PaidAt = noon
	d := &desk{orders: []order.Order{o}}
	b := papers(1)
	back := b.all[0]
	back.ID, back.Number, back.Kind, back.Corrects, back.Gross = "inv_99", "RK-2026-000001", invoice.Correction, &invoice.Reference{Number: "RE-2026-000001"}, 1190
	b.all = append(b.all, back)
	leaf(t, d, b, "erika", "/portal/orders/ord_1").says(http.StatusOK, []string{
		"RE-2026-000001", "RK-2026-000001", "Rechnungskorrektur zu RE-2026-000001", "/portal/invoices/inv_99/pdf", "/portal/invoices/inv_99/xml", "11,90\u00a0€",
	}, []string{"wird gerade ausgestellt"})
	leaf(t, d, b, "english", "/portal/orders/ord_1").says(http.StatusOK, []string{"Credit note for RE-2026-000001"}, nil)
	leaf(t, d, &binder{}, "erika", "/portal/orders/ord_1").says(http.StatusOK, []string{"Die Rechnung wird gerade ausgestellt."}, nil)
	// What was not paid, or costs nothing, has none.
	for _, change := range []func(*order.Order){
		func(o *order.Order) { o.Totals.Gross = 0 },
		func(o *order.Order) { o.PaidAt = time.Time{} },
	} {
		other := o
		change(&other)
		leaf(t, &desk{orders: []order.Order{other}}, b, "erika", "/portal/orders/ord_1").says(http.StatusOK, nil, []string{"RE-2026", "ausgestellt"})
	}
}

// Who has paid finds the invoice from the page on which they wait.
func TestAPaidOrderLeadsToItsInvoice(t *testing.T) {
	t.Parallel()
	const link = `href="/portal/orders/ord_1">Zur Rechnung<`
	for _, state := range []order.State{order.Provisioning, order.Completed} {
		leaf(t, &desk{view: theirs(state)}, papers(1), "erika", here).says(http.StatusOK, []string{link}, nil)
	}
	free := theirs(order.Completed)
	free.Order.Totals.Gross = 0
	for name, got := range map[string]answer{
		"not paid":    leaf(t, &desk{view: theirs(order.AwaitingPayment)}, papers(1), "erika", here),
		"free":        leaf(t, &desk{view: free}, papers(1), "erika", here),
		"of others":   leaf(t, &desk{view: foreign(order.Completed)}, papers(1), "max", here),
		"no invoices": visit(t, &desk{view: theirs(order.Completed)}, "erika", here, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got.says(http.StatusOK, nil, []string{"Zur Rechnung"})
		})
	}
}

func TestTheListHasEveryInvoicePageByPage(t *testing.T) {
	t.Parallel()
	b := papers(invoicesPage + 2)
	leaf(t, &desk{}, b, "erika", "/portal/invoices").says(http.StatusOK, []string{
		"RE-2026-000001", "RE-2026-000025", "?before=inv_24", "/portal/orders/ord_1", "15.11.2026", `href="/portal/orders" aria-current="page"`,
	}, []string{"RE-2026-000026"})
	leaf(t, &desk{}, b, "erika", "/portal/invoices?before=inv_24").says(http.StatusOK, []string{"RE-2026-000027", "Neueste Rechnungen"}, []string{"RE-2026-000025", `rel="next"`})
	leaf(t, &desk{}, &binder{}, "erika", "/portal/invoices").says(http.StatusOK, []string{"Es gibt noch keine Rechnung."}, nil)
	leaf(t, &desk{}, b, "", "/portal/invoices").leads("/portal/sign-in?next=%2Fportal%2Finvoices")
}

func TestFilesGoToTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	b := papers(1)
	if got := leaf(t, &desk{}, b, "erika", "/portal/invoices/inv_00/pdf"); got.Code != http.StatusOK || got.Body.String() != "pdf of RE-2026-000001" ||
		got.Header().Get("Content-Disposition") != `attachment; filename="RE-2026-000001.pdf"` {
		t.Errorf("got %d %v", got.Code, got.Header())
	}
	for _, path := range []string{"/portal/invoices/inv_00/pdf", "/portal/invoices/inv_00/xml", "/portal/invoices/inv_77/xml"} {
		if got := leaf(t, &desk{}, b, "max", path); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.Code)
		}
	}
	leaf(t, &desk{}, b, "", "/portal/invoices/inv_00/xml").leads("/portal/sign-in?next=%2Fportal%2Finvoices%2Finv_00%2Fxml")
	b.err = errors.New("no ink")
	if got := leaf(t, &desk{}, b, "erika", "/portal/invoices/inv_00/pdf"); got.Code != http.StatusInternalServerError || got.Header().Get("Content-Disposition") != "" {
		t.Errorf("got %d", got.Code)
	}
}

func TestWithoutInvoicesNothingLeadsToThem(t *testing.T) {
	t.Parallel()
	o := anOrder(order.Completed)
	o.PaidAt = noon
	d := &desk{orders: []order.Order{o}}
	for _, path := range []string{"/portal/orders", "/portal/orders/ord_1"} {
		visit(t, d, "erika", path, nil).says(http.StatusOK, nil, []string{"/portal/invoices", "Rechnung"})
	}
	frame, err := page.New(page.Config{BaseURL: base, Sessions: sessions{}, Address: func(*http.Request) netip.Addr { return netip.Addr{} }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Frame: frame, Orders: d, Invoices: &binder{}}); err == nil {
		t.Error("invoices that nobody can print are accepted")
	}
}

func TestAnOrderIsFollowedUntilItsInvoiceIsThere(t *testing.T) {
	t.Parallel()
	just, long := anOrder(order.Completed), anOrder(order.Completed)
	long.PaidAt = noon.Add(-slackens)
	for name, test := range map[string]struct {
		order order.Order
		files *binder
		want  bool
	}{
		"just paid":                  {just, &binder{}, true},
		"issued":                     {just, papers(1), false},
		"somebody has to look at it": {long, &binder{}, false},
	} {
		got := leaf(t, &desk{orders: []order.Order{test.order}}, test.files, "erika", "/portal/orders/ord_1")
		if followed.MatchString(got.Body.String()) != test.want {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
}
