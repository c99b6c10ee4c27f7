package invoice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// newYear is in the year 2027 in Germany and in 2026 in UTC.
var newYear = time.Date(2026, 12, 31, 23, 30, 0, 0, time.UTC)

var (
	testSeller = Seller{
		Name: "Domainkontor GmbH", Street: "Am Sandtorkai 1", PostalCode: "20457", City: "Hamburg", Country: "DE",
		Register: "Amtsgericht Hamburg, HRB 123456", VATID: "DE123456789", TaxNumber: "27/123/45678", Email: "rechnung@domains.example",
	}
	testBuyer = Buyer{
		Name: "Erika Mustermann", Organisation: "Käferhaus GmbH", Street: "Weg 1", PostalCode: "10115", City: "Berlin", Country: "DE",
		VATID: "DE999999999", Email: "erika@example.org", Language: "de",
	}
)

// newSale is an order of two items, one of which was refunded.
func newSale() order.Order {
	return order.Order{
		ID: "ord_1", Customer: "cus_1", PaidAt: newYear, Payments: []order.Payment{{ID: "pay_1", State: order.PaymentCaptured}},
		Totals: order.Totals{Net: 3000, VAT: 570, Gross: 3570, RateBasisPoints: 1900, Rule: "domestic", Country: "DE"},
		Items: []order.Item{
			{ID: "itm_1", Name: "xn--mller-kva.de", Kind: "register", Years: 1, Net: 1000, VAT: 190, Gross: 1190},
			{ID: "itm_2", Name: "alt.shop", Kind: "renew", Years: 2, Net: 2000, VAT: 380, Gross: 2380},
		},
		Refunds: []order.Refund{{ID: "ref_1", Item: "itm_2", Amount: 2380, MadeAt: newYear.Add(48 * time.Hour)}},
	}
}

// memStore is a store in memory.
type memStore struct {
	mu      sync.Mutex
	pending []Pending
	sales   map[string]order.Order
	issued  []Document
	// storeErr fails all transactions, refused those with this pending document.
	storeErr error
	refused  string
}

func (s *memStore) ListPendingDocuments(_ context.Context, after string, limit int) ([]Pending, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var some []Pending
	for _, pending := range s.pending {
		if pending.ID > after && len(some) < limit {
			if sale, found := s.sales[pending.Order]; found {
				pending.Sale = &sale
			}
			some = append(some, pending)
		}
	}
	return some, nil
}

func (s *memStore) GetCurrentBuyer(context.Context, string) (Buyer, error) {
	later := testBuyer
	later.Street = "Neue Allee 7"
	return later, nil
}

func (s *memStore) GetInvoice(_ context.Context, id string) (Document, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.issued {
		if d.Order == id && d.Kind == Invoice {
			return d, true, nil
		}
	}
	return Document{}, false, nil
}

func (s *memStore) IssueDocuments(_ context.Context, series string, drafts ...Draft) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.storeErr != nil {
		return 0, s.storeErr
	}
	if slices.ContainsFunc(drafts, func(draft Draft) bool { return draft.Pending == s.refused }) {
		return 0, errors.New("refused")
	}
	count := int64(0)
	for _, d := range s.issued {
		if d.Series == series {
			count++
		}
	}
	for _, draft := range drafts {
		s.pending = slices.DeleteFunc(s.pending, func(one Pending) bool { return one.ID == draft.Pending })
		count++
		s.issued = append(s.issued, draft.Numbered(count))
	}
	return len(drafts), nil
}

func (s *memStore) GetDocument(_ context.Context, customer, id string) (Document, bool, error) {
	for _, d := range s.issued {
		if d.ID == id && d.Customer == customer {
			return d, true, nil
		}
	}
	return Document{}, false, nil
}

func (s *memStore) ListDocuments(_ context.Context, customer, _ string, _ int) ([]Document, error) {
	return slices.DeleteFunc(slices.Clone(s.issued), func(d Document) bool { return d.Customer != customer }), nil
}

func (s *memStore) ListOrderDocuments(_ context.Context, customer, id string) ([]Document, error) {
	return slices.DeleteFunc(slices.Clone(s.issued), func(d Document) bool { return d.Customer != customer || d.Order != id }), nil
}

func newService(t *testing.T, s Store, seller Seller) *Service {
	t.Helper()
	made, err := New(Config{Store: s, Seller: seller, Numbering: Numbering{"RE", "RK"}, Now: func() time.Time { return newYear.Add(time.Minute) }})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// issueAll runs the service until it is idle.
func issueAll(t *testing.T, s *memStore, seller Seller) []Document {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); newService(t, s, seller).Run(ctx) }()
		time.Sleep(time.Hour)
		stop()
		<-done
	})
	return s.issued
}

func TestIssue_InvoiceForOrderAndCorrectionForRefund(t *testing.T) {
	t.Parallel()
	s := &memStore{sales: map[string]order.Order{"ord_1": newSale()}, pending: []Pending{
		// The correction is listed first and waits for the invoice.
		{ID: "due_2", Order: "ord_1", Refund: "ref_1"}, {ID: "due_1", Order: "ord_1", Buyer: &testBuyer},
	}}
	got := issueAll(t, s, testSeller)
	if len(got) != 2 || len(s.pending) != 0 {
		t.Fatalf("%d issued, %d pending", len(got), len(s.pending))
	}
	bill, back := got[0], got[1]
	if bill.Kind != Invoice || bill.Number != "RE-2027-000001" || bill.Day != "2027-01-01" || bill.SuppliedOn != "2027-01-01" || bill.Gross != 3570 ||
		bill.Category != Standard || bill.Buyer != testBuyer || bill.Seller != testSeller || bill.Payment != "pay_1" || bill.Corrects != nil {
		t.Errorf("got %+v", bill)
	}
	if lines := []string{bill.Lines[0].Text, bill.Lines[1].Text}; !slices.Equal(lines, []string{"müller.de (xn--mller-kva.de): Registrierung, 1 Jahr (31.12.2026 – 31.12.2027)", "alt.shop: Verlängerung, 2 Jahre"}) {
		t.Errorf("got %q", lines)
	}
	if back.Kind != Correction || back.Number != "RK-2027-000001" || back.Net != 2000 || back.VAT != 380 || back.Gross != 2380 || len(back.Lines) != 1 ||
		back.PaidOn != "2027-01-03" || back.Corrects == nil || *back.Corrects != (Reference{"RE-2027-000001", "2027-01-01"}) || back.ID == bill.ID {
		t.Errorf("got %+v", back)
	}
	if said := strings.Join(back.Notes, "\n"); !strings.Contains(said, "Rechnung RE-2027-000001 vom 01.01.2027") || !strings.Contains(said, "am 03.01.2027") {
		t.Errorf("notes: %s", said)
	}
}

func TestDocument_JSONRoundTrip(t *testing.T) {
	t.Parallel()
	s := &memStore{sales: map[string]order.Order{"ord_1": newSale()}, pending: []Pending{{ID: "due_1", Order: "ord_1", Buyer: &testBuyer}, {ID: "due_2", Order: "ord_1", Refund: "ref_1"}}}
	for _, want := range issueAll(t, s, testSeller) {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Document
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
		}
	}
}

func TestIssue_WithoutStoredBuyerUsesCurrentOne(t *testing.T) {
	t.Parallel()
	s := &memStore{sales: map[string]order.Order{"ord_1": newSale()}, pending: []Pending{{ID: "due_1", Order: "ord_1"}}}
	if got := issueAll(t, s, testSeller); len(got) != 1 || got[0].Buyer.Street != "Neue Allee 7" {
		t.Errorf("got %+v", got)
	}
}

func TestIssue_NothingWithoutSeller(t *testing.T) {
	t.Parallel()
	s := &memStore{sales: map[string]order.Order{"ord_1": newSale()}, pending: []Pending{{ID: "due_1", Order: "ord_1"}}}
	if got := issueAll(t, s, Seller{}); len(got) != 0 || len(s.pending) != 1 {
		t.Errorf("issued %+v", got)
	}
}

func TestIssue_FailedDocumentStaysPendingWithoutBlockingOthers(t *testing.T) {
	t.Parallel()
	bad := newSale()
	bad.Items[0].Net++
	s := &memStore{sales: map[string]order.Order{"ord_0": bad, "ord_1": newSale()}, pending: []Pending{{ID: "due_0", Order: "ord_0", Buyer: &testBuyer}, {ID: "due_1", Order: "ord_1", Buyer: &testBuyer}}}
	if got := issueAll(t, s, testSeller); len(got) != 1 || got[0].Order != "ord_1" || got[0].Count != 1 || len(s.pending) != 1 {
		t.Errorf("issued %+v, pending %+v", got, s.pending)
	}
	s.pending, s.storeErr = append(s.pending, Pending{ID: "due_2", Order: "ord_1", Buyer: &testBuyer}), errors.New("cut off")
	if got := issueAll(t, s, testSeller); len(got) != 1 {
		t.Errorf("issued %+v", got)
	}
}

// A document that fails the transaction of its batch stays pending alone.
// Another node may issue a document between the query of what is pending and that of its orders.
func TestIssue_DocumentOfAnotherNodeIsNoFailure(t *testing.T) {
	t.Parallel()
	s := &memStore{sales: map[string]order.Order{"ord_1": newSale()}, pending: []Pending{{ID: "due_0", Order: "ord_0", Buyer: &testBuyer}, {ID: "due_1", Order: "ord_1", Buyer: &testBuyer}}}
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		service := newService(t, s, testSeller)
		service.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		service.Run(ctx)
	})
	if len(s.issued) != 1 || s.issued[0].Number != "RE-2027-000001" || log.Len() > 0 {
		t.Errorf("issued %+v, logged %s", s.issued, &log)
	}
}

func TestIssue_RefusedDocumentDoesNotBlockItsBatch(t *testing.T) {
	t.Parallel()
	s := &memStore{sales: map[string]order.Order{"ord_1": newSale(), "ord_2": newSale(), "ord_3": newSale()}, refused: "due_2"}
	for _, number := range []string{"1", "2", "3"} {
		s.pending = append(s.pending, Pending{ID: "due_" + number, Order: "ord_" + number, Buyer: &testBuyer})
	}
	got := issueAll(t, s, testSeller)
	if len(got) != 2 || got[0].Count != 1 || got[1].Count != 2 || len(s.pending) != 1 || s.pending[0].ID != "due_2" {
		t.Errorf("issued %+v, pending %+v", got, s.pending)
	}
}

// Documents that can't be issued don't block those behind them.
func TestIssue_FailingBatchDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	bad := newSale()
	bad.Items[0].Net++
	s := &memStore{sales: map[string]order.Order{"ord_0": bad, "ord_1": newSale()}}
	for i := range 2*batch + 1 {
		s.pending = append(s.pending, Pending{ID: fmt.Sprintf("due_%04d", i), Order: "ord_0", Buyer: &testBuyer})
	}
	s.pending = append(s.pending, Pending{ID: "due_9999", Order: "ord_1", Buyer: &testBuyer})
	if got := issueAll(t, s, testSeller); len(got) != 1 || got[0].Order != "ord_1" {
		t.Errorf("issued %+v", got)
	}
}

func TestDraft_VATRuleDeterminesCategoryAndNotes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rule     string
		rate     int
		category Category
		says     string
		english  bool
	}{
		{"domestic", 1900, Standard, "vollständig bezahlt worden", false},
		{"unknown_country", 1900, Standard, "vollständig bezahlt worden", false},
		{"eu_consumer", 1900, Standard, "vollständig bezahlt worden", false},
		{"eu_consumer_oss", 2000, Standard, "die des Landes AT; wir führen sie über den One-Stop-Shop", false},
		{"reverse_charge", 0, ReverseCharge, "Steuerschuldnerschaft des Leistungsempfängers (Art. 196 MwStSystRL) / Reverse charge", false},
		{"outside_eu", 0, OutOfScope, "Nicht im Inland steuerbare Leistung (§ 3a UStG) / Not subject to German VAT", false},
		{"domestic", 1900, Standard, "bezahlt worden. Bitte überweisen Sie nichts. / The amount was paid in full", true},
	} {
		sale, buyer := newSale(), testBuyer
		sale.Totals.Rule, sale.Totals.RateBasisPoints, sale.Totals.Country = test.rule, test.rate, "AT"
		if test.rate == 0 {
			sale.Totals.VAT, sale.Totals.Gross = 0, sale.Totals.Net
			for i := range sale.Items {
				sale.Items[i].VAT, sale.Items[i].Gross = 0, sale.Items[i].Net
			}
		}
		if test.english {
			buyer.Language = "en"
		}
		d, err := draft(sale, testSeller, buyer, newYear)
		if said := strings.Join(d.Notes, "\n"); err != nil || d.Category != test.category || !strings.Contains(said, test.says) || (d.Reason == "") != (test.rate > 0) {
			t.Errorf("%s: %v, %s, %q", test.rule, err, d.Category, said)
		}
		if said := strings.Join(d.Notes, "\n"); strings.Contains(said, "One-Stop-Shop") {
			back, err := correction(sale, "ref_1", d, newYear)
			if said := strings.Join(back.Notes, "\n"); err != nil || !strings.Contains(said, test.says) {
				t.Errorf("the correction of %s: %v, %q", test.rule, err, said)
			}
		}
		if beside := strings.Contains(d.Lines[0].Text, "Registrierung, 1 Jahr (31.12.2026 – 31.12.2027) / registration, 1 year (31.12.2026 – 31.12.2027)"); beside != test.english {
			t.Errorf("%s: %q", test.rule, d.Lines[0].Text)
		}
	}
}

func TestDraft_ExplainsLinesWithARoundedShareOfVAT(t *testing.T) {
	t.Parallel()
	sale := newSale()
	for i, vat := range []registrar.Cents{246, 245} { // 12.90 alone is 15.35
		sale.Items[i].Net, sale.Items[i].VAT, sale.Items[i].Gross = 1290, vat, 1290+vat
	}
	sale.Totals.Net, sale.Totals.VAT, sale.Totals.Gross = 2580, 491, 3071
	const says = "einmal für die ganze Rechnung gerundet"
	if d, err := draft(sale, testSeller, testBuyer, newYear); err != nil || !strings.Contains(strings.Join(d.Notes, "\n"), says) {
		t.Errorf("%v, %q", err, d.Notes)
	}
	if d, err := draft(newSale(), testSeller, testBuyer, newYear); err != nil || strings.Contains(strings.Join(d.Notes, "\n"), says) {
		t.Errorf("without a difference: %v, %q", err, d.Notes)
	}
}

func TestDraft_UsesCheckedVATID(t *testing.T) {
	t.Parallel()
	sale := newSale()
	sale.Totals.VATID = "ATU12345678"
	if d, err := draft(sale, testSeller, testBuyer, newYear); err != nil || d.Buyer.VATID != "ATU12345678" {
		t.Errorf("%v, %+v", err, d.Buyer)
	}
}

func TestDraft_RejectsInconsistentSale(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*order.Order){
		"net":         func(o *order.Order) { o.Totals.Net++ },
		"vat":         func(o *order.Order) { o.Items[0].VAT++ },
		"gross":       func(o *order.Order) { o.Totals.Gross++; o.Items[0].Gross++ },
		"rule":        func(o *order.Order) { o.Totals.Rule = "magic" },
		"no rule":     func(o *order.Order) { o.Totals.Rule = "" },
		"free of VAT": func(o *order.Order) { o.Totals.Rule = "reverse_charge" },
	} {
		sale := newSale()
		spoil(&sale)
		if _, err := draft(sale, testSeller, testBuyer, newYear); err == nil {
			t.Errorf("%s: a document was issued", name)
		}
	}
	of, err := draft(newSale(), testSeller, testBuyer, newYear)
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*order.Order){
		"no refund": func(o *order.Order) { o.Refunds = nil },
		"no item":   func(o *order.Order) { o.Refunds[0].Item = "itm_9" },
		"amount":    func(o *order.Order) { o.Refunds[0].Amount-- },
	} {
		sale := newSale()
		spoil(&sale)
		if _, err := correction(sale, "ref_1", of, newYear); err == nil {
			t.Errorf("%s: a correction was issued", name)
		}
	}
}

func TestGet_OnlyOwnerSeesDocument(t *testing.T) {
	t.Parallel()
	s := &memStore{issued: []Document{{ID: "inv_1", Order: "ord_1", Customer: "cus_1"}}}
	svc := newService(t, s, testSeller)
	for _, test := range []struct {
		actor registrar.Actor
		sees  bool
		kind  registrar.Kind
	}{
		{registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_1"}, true, 0},
		{registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_2"}, false, registrar.KindNotFound},
		{registrar.Actor{Kind: registrar.ActorPerson}, false, registrar.KindUnauthenticated},
		{registrar.Actor{Kind: registrar.ActorToken, Customer: "cus_1"}, false, registrar.KindUnauthenticated},
		{registrar.Actor{Kind: registrar.ActorApplication, Customer: "cus_1"}, false, registrar.KindUnauthenticated},
	} {
		_, err := svc.Get(t.Context(), test.actor, "inv_1")
		list, _ := svc.List(t.Context(), test.actor, "", 10)
		of, _ := svc.ListByOrder(t.Context(), test.actor, "ord_1")
		if (err == nil) != test.sees || (len(list) == 1) != test.sees || (len(of) == 1) != test.sees || err != nil && registrar.KindOf(err) != test.kind {
			t.Errorf("%+v: %v, %d, %d", test.actor, err, len(list), len(of))
		}
	}
}

func TestLineText_TermsHaveTheirDays(t *testing.T) {
	t.Parallel()
	ends, paid := time.Date(2027, 2, 3, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	for want, item := range map[string]order.Item{
		"a.com: Registrierung, 1 Jahr (18.11.2026 – 18.11.2027)":  {Name: "a.com", Kind: order.Register, Years: 1},
		"a.com: Registrierung, 1 Jahr (17.11.2026 – 17.11.2027)":  {Name: "a.com", Kind: order.Register, Years: 1, PaidUntil: time.Date(2027, 11, 17, 23, 30, 0, 0, time.UTC)},
		"a.com: Verlängerung, 1 Jahr (03.02.2027 – 03.02.2028)":   {Name: "a.com", Kind: order.Renew, Years: 1, TermEnd: ends},
		"a.com: Registrierung, 3 Jahre (18.11.2026 – 18.11.2029)": {Name: "a.com", Kind: order.Register, Years: 3},
		"a.com: Verlängerung, 2 Jahre (03.02.2027 – 03.02.2029)":  {Name: "a.com", Kind: order.Renew, Years: 2, TermEnd: ends},
		"a.com: Verlängerung, 2 Jahre":                            {Name: "a.com", Kind: order.Renew, Years: 2}, // of an earlier release
		"a.com: Umzug zu uns, 2 Jahre":                            {Name: "a.com", Kind: order.Transfer, Years: 2},
	} {
		if got := lineText(item, paid, "de"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The end of a term is the registry's day, as in mails and on pages, also while it is the next day
// in Germany.
func TestDraft_TermHasDaysOfUTC(t *testing.T) {
	t.Parallel()
	for name, until := range map[string]time.Time{"not registered yet": {}, "registered": newYear.AddDate(1, 0, 0)} {
		sale := newSale()
		sale.Items[0].PaidUntil, sale.Items[1].TermEnd = until, newYear.In(registrar.Germany())
		d, err := draft(sale, testSeller, testBuyer, newYear)
		if err != nil || d.Day != "2027-01-01" || d.SuppliedOn != "2027-01-01" {
			t.Fatalf("%s: issued on %s, supplied on %s, %v", name, d.Day, d.SuppliedOn, err)
		}
		for i, want := range []string{"(31.12.2026 – 31.12.2027)", "(31.12.2026 – 31.12.2028)"} {
			if text := d.Lines[i].Text; !strings.Contains(text, want) {
				t.Errorf("%s: %q, want %s", name, text, want)
			}
		}
	}
}

func TestLineText_NamesEveryKind(t *testing.T) {
	t.Parallel()
	for kind, want := range map[order.Kind]string{
		order.Register: "a.de: Registrierung, 1 Jahr (18.11.2026 – 18.11.2027)", order.Transfer: "a.de: Umzug zu uns, 1 Jahr",
		order.Renew: "a.de: Verlängerung, 1 Jahr", order.Restore: "a.de: Wiederherstellung, 1 Jahr", "other": "a.de: other, 1 Jahr",
	} {
		if got := lineText(order.Item{Name: "a.de", Kind: kind, Years: 1}, time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC), "de"); got != want {
			t.Errorf("%s is %q, want %q", kind, got, want)
		}
	}
}
