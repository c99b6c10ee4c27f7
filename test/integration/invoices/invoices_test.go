// Package invoices validates the invoices of every kind of sale with third-party
// programs.
package invoices

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/invoicepdf"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/test/testkit/nodejs"
)

// memStore has one pending document for each sale and for each refund.
type memStore struct {
	invoice.Store
	mu     sync.Mutex
	due    []invoice.Pending
	sales  map[string]order.Order
	issued []invoice.Document
}

func (s *memStore) ListPendingDocuments(_ context.Context, after string, _ int) ([]invoice.Pending, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []invoice.Pending
	for _, one := range s.due {
		if one.ID > after {
			sale := s.sales[one.Order]
			one.Sale = &sale
			due = append(due, one)
		}
	}
	return due, nil
}

func (s *memStore) GetInvoice(_ context.Context, id string) (invoice.Document, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.issued {
		if d.Order == id && d.Kind == invoice.Invoice {
			return d, true, nil
		}
	}
	return invoice.Document{}, false, nil
}

func (s *memStore) IssueDocuments(_ context.Context, _ string, drafts ...invoice.Draft) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, draft := range drafts {
		s.due = slices.DeleteFunc(s.due, func(one invoice.Pending) bool { return one.ID == draft.Pending })
		s.issued = append(s.issued, draft.Numbered(int64(len(s.issued)+1)))
	}
	return len(drafts), nil
}

// fakeVATRegister reports every VAT ID as valid, or does not respond.
type fakeVATRegister struct{ down bool }

func (r fakeVATRegister) Valid(context.Context, string) (bool, error) {
	if r.down {
		return false, errors.New("down")
	}
	return true, nil
}

// buyers has one buyer for each VAT rule.
func buyers() map[string]invoice.Buyer {
	return map[string]invoice.Buyer{
		"domestic":       {Name: "Erika Mustermann", Street: "Königsallee 12", PostalCode: "40212", City: "Düsseldorf", Country: "DE", Language: "de"},
		"consumer":       {Name: "Jože Žižek", Street: "Čopova ulica 3", PostalCode: "1000", City: "Ljubljana", Country: "SI", Language: "en"},
		"reverse charge": {Name: "Ελένη", Organisation: "Καφές & Σία", Street: "Ερμού 5", PostalCode: "105 63", City: "Αθήνα", Country: "GR", VATID: "EL123456789", Language: "en"},
		"outside":        {Name: "王小明", Organisation: "深圳 <Trading>", Street: "Park Rd. 8", City: "Shenzhen", State: "Guangdong", Country: "CN", VATID: "91440300MA5", Language: "en"},
	}
}

// issueDocuments issues documents for sales to all of them, with and without the
// One-Stop-Shop.
func issueDocuments(t *testing.T) []invoice.Document {
	t.Helper()
	rates, err := billing.EmbeddedRates()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	s := &memStore{sales: make(map[string]order.Order)}
	for name, buyer := range buyers() {
		for _, oss := range []bool{false, true} {
			nets := []registrar.Cents{1390, 199, 0, 123_45}
			vat, err := billing.New(billing.Config{Rates: rates, Validator: fakeVATRegister{}, OSS: oss}).Assess(t.Context(),
				billing.Party{Country: buyer.Country, PostalCode: buyer.PostalCode, VATID: buyer.VATID}, nets, at)
			if err != nil {
				t.Fatal(err)
			}
			id := fmt.Sprintf("ord_%s_%t", strings.ReplaceAll(name, " ", "_"), oss)
			sale := order.Order{
				ID: id, Customer: "cus_1", PaidAt: at, Payments: []order.Payment{{ID: "pay_1", State: order.PaymentCaptured}},
				Totals: order.Totals{RateBasisPoints: vat.RateBasisPoints, Rule: string(vat.Rule), Country: vat.Country, VATID: vat.VATID},
			}
			for i, net := range nets {
				item := order.Item{
					ID: fmt.Sprint("itm_", i), Name: fmt.Sprintf("xn--mller-kva-%d.de", i), Kind: []order.Kind{order.Register, order.Transfer, order.Renew}[i%3], Years: i, Net: net, VAT: vat.VAT[i], Gross: net + vat.VAT[i],
				}
				sale.Items = append(sale.Items, item)
				sale.Totals.Net, sale.Totals.VAT, sale.Totals.Gross = sale.Totals.Net+item.Net, sale.Totals.VAT+item.VAT, sale.Totals.Gross+item.Gross
			}
			sale.Refunds = []order.Refund{{ID: "ref_1", Item: "itm_1", Amount: sale.Items[1].Gross, MadeAt: at}}
			s.sales[id] = sale
			buyer.Email = "x@example.org"
			s.due = append(s.due, invoice.Pending{ID: "due_1" + id, Order: id, Buyer: &buyer}, invoice.Pending{ID: "due_2" + id, Order: id, Refund: "ref_1"})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		service, err := invoice.New(invoice.Config{
			Store: s, Numbering: invoice.Numbering{Invoices: "RE", Corrections: "RK"}, Now: func() time.Time { return at },
			Seller: invoice.Seller{
				Name: "Kontor & Söhne GmbH", Street: "Kai 1", PostalCode: "20457", City: "Hamburg", Country: "DE", Register: "Amtsgericht Hamburg, HRB 1",
				VATID: "DE123456789", TaxNumber: "27/123/45678", Email: "rechnung@domains.example",
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); service.Run(ctx) }()
		time.Sleep(10 * time.Minute)
		stop()
		<-done
	})
	if len(s.issued) != 4*len(buyers()) || len(s.due) != 0 {
		t.Fatalf("%d were issued, %d are pending", len(s.issued), len(s.due))
	}
	return s.issued
}

func TestInvoices_ReadByThirdPartyFacturX(t *testing.T) {
	t.Parallel()
	program := nodejs.Program(t, "@stackforge-eu/factur-x")
	renderer, err := invoicepdf.New()
	if err != nil {
		t.Fatal(err)
	}
	folder := nodejs.ScriptDir(t, "reader.mjs")
	args, categories := []string{filepath.Join(folder, "reader.mjs")}, map[invoice.Category]bool{}
	for _, d := range issueDocuments(t) {
		categories[d.Category] = true
		path := filepath.Join(folder, d.Number)
		for ending, set := range map[string]func(invoice.Document) ([]byte, error){".pdf": renderer.PDF, ".xml": renderer.XML} {
			content, err := set(d)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path+ending, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		args = append(args, path+".pdf")
	}
	output, err := nodejs.Run(t, 2*time.Minute, program, args...)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(output, "ok R"); got != len(args)-1 || strings.Count(output, " factur-x.xml ") != got || len(categories) != 3 {
		t.Errorf("%d of %d were read, of the categories %v: %s", got, len(args)-1, categories, output)
	}
}
