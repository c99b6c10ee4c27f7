package reconcile

import (
	"context"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// waitForDocuments waits until an order has count documents.
func (s *env) waitForDocuments(o order.Order, count int) []invoice.Document {
	s.t.Helper()
	for end := time.Now().Add(waitTimeout); ; time.Sleep(20 * time.Millisecond) {
		all, err := s.DB.ListOrderDocuments(s.t.Context(), o.Customer, o.ID)
		must(s.t, err)
		if len(all) >= count || time.Now().After(end) {
			if len(all) != count {
				s.t.Fatalf("the order has %d documents, want %d", len(all), count)
			}
			return all
		}
	}
}

// runCLI runs the product's command line against the shop.
func (s *env) runCLI(args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), waitTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, binary, append(args, "--config", s.World.Ready)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestInvoices_PaymentIsInvoicedAndRefundCorrected(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	o := s.order(s.purchase("rechnung-eins.org", "pendingfail-rechnung.org").ID)
	all := s.waitForDocuments(o, 2)
	invoiceDoc, correction := all[0], all[1]
	if invoiceDoc.Kind != invoice.Invoice || invoiceDoc.Gross != o.Totals.Gross || len(invoiceDoc.Lines) != 2 || !strings.HasPrefix(invoiceDoc.Number, "RE-") || !strings.HasSuffix(invoiceDoc.Number, "-000001") {
		t.Errorf("the invoice is %+v", invoiceDoc)
	}
	failed := slices.IndexFunc(o.Items, func(item order.Item) bool { return item.Name == "pendingfail-rechnung.org" })
	if correction.Kind != invoice.Correction || correction.Refund != o.Refunds[0].ID || correction.Gross != o.Items[failed].Gross || correction.Corrects == nil || correction.Corrects.Number != invoiceDoc.Number {
		t.Errorf("the correction is %+v", correction)
	}
	if invoiceDoc.Seller.Name == "" || invoiceDoc.Buyer.Street == "" || invoiceDoc.Buyer.Country == "" {
		t.Errorf("from %+v to %+v", invoiceDoc.Seller, invoiceDoc.Buyer)
	}
	second := s.waitForDocuments(s.order(s.purchase("rechnung-zwei.org").ID), 1)[0]
	if second.Count != 2 || second.Series != invoiceDoc.Series {
		t.Errorf("the second invoice is %s after %s", second.Number, invoiceDoc.Number)
	}
	testkit.Reconcile(t, s.World.Ready)

	list := s.runCLI("invoices", "list")
	for _, want := range []string{invoiceDoc.Number, correction.Number, second.Number, invoiceDoc.Gross.String()} {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %s:\n%s", want, list)
		}
	}
	if rest := s.runCLI("invoices", "list", "--until", "2020-01-01", "--json"); strings.TrimSpace(rest) != "[]" {
		t.Errorf("before 2020: %s", rest)
	}
	if shown := s.runCLI("invoices", "show", correction.Number); !strings.Contains(shown, invoiceDoc.Number) || !strings.Contains(shown, "pendingfail-rechnung.org") {
		t.Errorf("show: %s", shown)
	}
	folder := filepath.Join(t.TempDir(), "papers")
	if said := s.runCLI("invoices", "export", folder); !strings.Contains(said, "3 documents written") {
		t.Errorf("output: %s", said)
	}
	var gross registrar.Cents
	for _, d := range []invoice.Document{invoiceDoc, correction, second} {
		pdf, err := os.ReadFile(filepath.Join(folder, d.Number+".pdf"))
		must(t, err)
		data, err := os.ReadFile(filepath.Join(folder, d.Number+".xml"))
		must(t, err)
		var any struct{ XMLName xml.Name }
		if err := xml.Unmarshal(data, &any); err != nil || any.XMLName.Local != "CrossIndustryInvoice" || !strings.HasPrefix(string(pdf), "%PDF-") {
			t.Errorf("%s: %v", d.Number, err)
		}
		if !strings.Contains(string(data), ">"+d.Gross.String()+"<") {
			t.Errorf("%s lacks %s", d.Number, d.Gross)
		}
		gross += d.Gross
	}
	if report := s.runCLI("doctor", "--reconcile", "--json"); !strings.Contains(report, `"invoices": 3`) {
		t.Errorf("doctor: %s (gross %s)", report, gross)
	}
}
