package books

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
	"github.com/dotkontor/dotkontor/test/rig"
)

// documents waits until an order has so many.
func (s *stage) documents(o order.Order, count int) []invoice.Document {
	s.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		all, err := s.DB.DocumentsOfOrder(s.t.Context(), o.Customer, o.ID)
		check(s.t, err)
		if len(all) >= count || time.Now().After(end) {
			if len(all) != count {
				s.t.Fatalf("the order has %d documents, not %d", len(all), count)
			}
			return all
		}
	}
}

// command runs the product's own command against the shop.
func (s *stage) command(args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, binary, append(args, "--config", s.World.Ready)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestWhatIsPaidIsInvoicedAndWhatGoesBackCorrected(t *testing.T) {
	t.Parallel()
	s := open(t)
	o := s.stored(s.buy("rechnung-eins.org", "pendingfail-rechnung.org").ID)
	all := s.documents(o, 2)
	bill, back := all[0], all[1]
	if bill.Kind != invoice.Invoice || bill.Gross != o.Totals.Gross || len(bill.Lines) != 2 || !strings.HasPrefix(bill.Number, "RE-") || !strings.HasSuffix(bill.Number, "-000001") {
		t.Errorf("the invoice is %+v", bill)
	}
	failed := slices.IndexFunc(o.Items, func(item order.Item) bool { return item.Name == "pendingfail-rechnung.org" })
	if back.Kind != invoice.Correction || back.Refund != o.Refunds[0].ID || back.Gross != o.Items[failed].Gross || back.Corrects == nil || back.Corrects.Number != bill.Number {
		t.Errorf("the correction is %+v", back)
	}
	if bill.Seller.Name == "" || bill.Buyer.Street == "" || bill.Buyer.Country == "" {
		t.Errorf("from %+v to %+v", bill.Seller, bill.Buyer)
	}
	second := s.documents(s.stored(s.buy("rechnung-zwei.org").ID), 1)[0]
	if second.Count != 2 || second.Series != bill.Series {
		t.Errorf("the second invoice is %s after %s", second.Number, bill.Number)
	}
	rig.CheckBooks(t, s.World.Ready)

	list := s.command("invoices", "list")
	for _, want := range []string{bill.Number, back.Number, second.Number, bill.Gross.String()} {
		if !strings.Contains(list, want) {
			t.Errorf("the list has no %s:\n%s", want, list)
		}
	}
	if rest := s.command("invoices", "list", "--until", "2020-01-01", "--json"); strings.TrimSpace(rest) != "[]" {
		t.Errorf("before 2020 there was %s", rest)
	}
	if shown := s.command("invoices", "show", back.Number); !strings.Contains(shown, bill.Number) || !strings.Contains(shown, "pendingfail-rechnung.org") {
		t.Errorf("it shows %s", shown)
	}
	folder := filepath.Join(t.TempDir(), "papers")
	if said := s.command("invoices", "export", folder); !strings.Contains(said, "3 documents written") {
		t.Errorf("it says %s", said)
	}
	var gross registrar.Cents
	for _, d := range []invoice.Document{bill, back, second} {
		pdf, err := os.ReadFile(filepath.Join(folder, d.Number+".pdf"))
		check(t, err)
		data, err := os.ReadFile(filepath.Join(folder, d.Number+".xml"))
		check(t, err)
		var any struct{ XMLName xml.Name }
		if err := xml.Unmarshal(data, &any); err != nil || any.XMLName.Local != "CrossIndustryInvoice" || !strings.HasPrefix(string(pdf), "%PDF-") {
			t.Errorf("%s: %v", d.Number, err)
		}
		if !strings.Contains(string(data), ">"+d.Gross.String()+"<") {
			t.Errorf("%s does not say %s", d.Number, d.Gross)
		}
		gross += d.Gross
	}
	if report := s.command("doctor", "--books", "--json"); !strings.Contains(report, `"invoices": 3`) {
		t.Errorf("the doctor says %s (%s in all)", report, gross)
	}
}
