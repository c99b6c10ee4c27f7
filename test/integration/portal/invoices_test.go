package portal

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/invoicepdf"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/web/checkout"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// storedOrders reads orders from the database; nothing is bought here.
type storedOrders struct {
	checkout.Orders
	db *store.DB
}

func (s storedOrders) Get(ctx context.Context, actor registrar.Actor, id string) (order.Order, error) {
	o, found, err := s.db.GetCustomerOrder(ctx, actor.Customer, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchOrder}
	}
	return o, err
}

func (s storedOrders) List(ctx context.Context, actor registrar.Actor, before string, limit int) ([]order.Order, error) {
	return s.db.ListOrders(ctx, actor.Customer, before, limit)
}

// mountInvoicePages mounts the pages of orders and invoices and returns their routes.
func (s *env) mountInvoicePages() []httpjson.Route {
	s.t.Helper()
	invoices, err := invoice.New(invoice.Config{Store: s.db, Numbering: invoice.Numbering{Invoices: "RE", Corrections: "RK"}, Now: s.clock.now})
	must(s.t, err)
	press, err := invoicepdf.New()
	must(s.t, err)
	frame, err := ui.New(ui.Config{
		BaseURL: s.base, Sessions: s.customers, Address: func(*http.Request) netip.Addr { return netip.Addr{} }, Now: s.clock.now, Orders: true,
		Closing: closedChannel(), // streams send the state and end
	})
	must(s.t, err)
	pages, err := checkout.New(checkout.Config{
		Frame: frame, Orders: storedOrders{db: s.db}, Registrants: s.customers, Invoices: invoices, InvoiceRenderer: press, FindDomain: s.portfolio.FindByName,
		AuthCodeLimit: func(string) time.Duration { return 0 },
		Extension:     func(string) (registrar.Extension, bool) { return registrar.Extension{}, false }, RateBasisPoints: func(time.Time) int { return 1900 },
	})
	must(s.t, err)
	mux := http.NewServeMux()
	mux.Handle("/", s.handler)
	for _, route := range pages.Routes() {
		mux.Handle(route.Method+" "+route.Path, route.Handler)
	}
	s.handler = mux
	return pages.Routes()
}

func closedChannel() <-chan struct{} {
	now := make(chan struct{})
	close(now)
	return now
}

// addPaidOrder adds a paid order with its invoice.
func (s *env) addPaidOrder(customer string) (order.Order, invoice.Document) {
	s.t.Helper()
	ctx, at := s.t.Context(), s.clock.now()
	o := order.Order{
		ID: registrar.NewID("ord_", at), Customer: customer, Email: "x@example.org", State: order.AwaitingPayment, Channel: order.ChannelPortal,
		By: registrar.Actor{Kind: registrar.ActorPerson}, ItemsKey: customer, PayLink: registrar.SecretHash("link-" + customer), SealedPayLink: "sealed",
		Items:     []order.Item{{ID: "itm_" + customer, Name: "gekauft.de", TLD: ".de", Kind: order.Register, Years: 1, Net: 1000, VAT: 190, Gross: 1190, State: order.ItemWaiting}},
		Totals:    order.Totals{Net: 1000, VAT: 190, Gross: 1190, RateBasisPoints: 1900, Rule: "domestic", Country: "DE"},
		CreatedAt: at, UpdatedAt: at, ExpiresAt: at.Add(1), Version: 1,
	}
	o, _, err := s.db.AddOrder(ctx, o, 20, registrar.AuditEvent{Actor: o.By, Action: order.ActionCreated, Customer: customer, Object: o.ID, At: at})
	must(s.t, err)
	move := order.Transition{From: o, To: o, Provision: true}
	move.To.State, move.To.PaidAt = order.Provisioning, at
	move.To.Items = []order.Item{o.Items[0]}
	move.To.Items[0].State, move.To.Items[0].Failure = order.ItemFailed, registrar.NameHeld
	if moved, err := s.db.UpdateOrder(ctx, move); err != nil || !moved {
		s.t.Fatalf("%t, %v", moved, err)
	}
	var issued invoice.Document
	due, err := s.db.ListPendingDocuments(ctx, "", 10)
	must(s.t, err)
	for _, one := range due {
		_, err := s.db.IssueDocuments(ctx, "RE-2026", invoice.Draft{Pending: one.ID, Numbered: func(count int64) invoice.Document {
			issued = invoice.Document{
				ID: registrar.NewID("inv_", at), Kind: invoice.Invoice, Order: o.ID, Customer: customer, Number: "RE-2026-000001", Series: "RE-2026", Count: count,
				IssuedAt: at, Day: "2026-11-15", SuppliedOn: "2026-11-15", PaidOn: "2026-11-15", Language: "de", Category: invoice.Standard, RateBasisPoints: 1900,
				Net: 1000, VAT: 190, Gross: 1190, Lines: []invoice.Line{{Text: "gekauft.de", Net: 1000, VAT: 190, Gross: 1190}},
				Seller: invoice.Seller{Name: "Kontor GmbH", Country: "DE"}, Buyer: invoice.Buyer{Name: "Opfer", Country: "DE"},
			}
			return issued
		}})
		must(s.t, err)
	}
	return o, issued
}

// foreignOrderPaths has, for every route that names an order or a document, the path of
// another customer's. A new route fails until it has an entry here.
var foreignOrderPaths = map[string]func(order, document string) string{
	"/portal/orders/{id}":        func(order, _ string) string { return "/portal/orders/" + order },
	"/portal/orders/{id}/events": func(order, _ string) string { return "/portal/orders/" + order + "/events" },
	"/portal/invoices/{id}/pdf":  func(_, document string) string { return "/portal/invoices/" + document + "/pdf" },
	"/portal/invoices/{id}/xml":  func(_, document string) string { return "/portal/invoices/" + document + "/xml" },
}

func TestRoutes_ForeignOrdersAndInvoicesAreNotFound(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	victim := s.newMember("victim@example.org")
	s.newMember("attacker@example.org")
	theirs, b := s.signedInBrowser("victim@example.org"), s.signedInBrowser("attacker@example.org")
	routes := s.mountInvoicePages()
	o, document := s.addPaidOrder(victim.ID)
	seen := 0
	for _, route := range routes {
		if !strings.Contains(route.Path, "{id}") {
			continue
		}
		row, ok := foreignOrderPaths[route.Path]
		if !ok {
			t.Errorf("%s names an object but has no entry in the table", route.Path)
			continue
		}
		seen++
		path := row(o.ID, document.ID)
		own, got, none := theirs.get(path), b.get(path), b.get(row("ord_00000000000000000000000000", "inv_00000000000000000000000000"))
		if own.status != http.StatusOK {
			t.Errorf("%s: %d for its owner: %s", path, own.status, own.body)
		}
		// The path appears in the language switch, and nowhere else.
		hide := strings.NewReplacer(o.ID, "", document.ID, "", "ord_00000000000000000000000000", "", "inv_00000000000000000000000000", "")
		if got.status != http.StatusNotFound || none.status != got.status || hide.Replace(got.body) != hide.Replace(none.body) {
			t.Errorf("%s: %d for another customer's object, %d for an unknown one; the same page: %t", path, got.status, none.status, got.body == none.body)
		}
		if visitor := s.newBrowser().get(path); visitor.status != http.StatusSeeOther || !strings.HasPrefix(visitor.location(), "/portal/sign-in?next=") {
			t.Errorf("%s: %d for an anonymous visitor", path, visitor.status)
		}
	}
	if seen != len(foreignOrderPaths) {
		t.Errorf("%d of %d routes were tested", seen, len(foreignOrderPaths))
	}
	if list := b.get("/portal/invoices"); list.status != http.StatusOK || strings.Contains(list.body, document.Number) {
		t.Errorf("the attacker's list: %d %s", list.status, list.body)
	}
}

func TestInvoices_ListAndDownload(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	s.mountInvoicePages()
	if got := b.get("/portal/invoices").body; !strings.Contains(got, "Sie haben noch keine Rechnungen.") {
		t.Errorf("an empty list: %s", got)
	}
	o, document := s.addPaidOrder(erika.ID)
	for _, path := range []string{"/portal/invoices", "/portal/orders/" + o.ID} {
		got := b.get(path).body
		for _, want := range []string{document.Number, "15.11.2026", "11,90\u00a0€", "/portal/invoices/" + document.ID + "/pdf", "/portal/invoices/" + document.ID + "/xml"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q: %s", path, want, got)
			}
		}
	}
	if got := b.get("/portal/orders").body; !strings.Contains(got, `href="/portal/invoices"`) {
		t.Errorf("the page does not link to the invoices: %s", got)
	}
	for form, begins := range map[string]string{"pdf": "%PDF-", "xml": "<?xml "} {
		got := b.get("/portal/invoices/" + document.ID + "/" + form)
		if got.status != http.StatusOK || !strings.HasPrefix(got.body, begins) || got.header.Get("Content-Type") != "application/"+form ||
			got.header.Get("Content-Disposition") != `attachment; filename="RE-2026-000001.`+form+`"` || got.header.Get("Cache-Control") != "no-store" ||
			got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", form, got.status, got.header)
		}
	}
	if log := s.log.String(); strings.Contains(log, document.ID) || strings.Contains(log, document.Number) {
		t.Errorf("the log contains the document: %s", log)
	}
}
