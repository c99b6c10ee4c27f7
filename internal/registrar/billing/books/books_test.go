package books

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// world is both sides, in slices.
type world struct {
	orders  []Order
	lines   []Line
	domains []Domain
	papers  []Document
	charges []Charge
	returns []Return
	err     error
}

func seq[T any](w *world, all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
		if w.err != nil {
			var none T
			yield(none, w.err)
		}
	}
}

func (w *world) BookedOrders(context.Context) iter.Seq2[Order, error]   { return seq(w, w.orders) }
func (w *world) BookedLines(context.Context) iter.Seq2[Line, error]     { return seq(w, w.lines) }
func (w *world) BookedDomains(context.Context) iter.Seq2[Domain, error] { return seq(w, w.domains) }
func (w *world) BookedDocuments(context.Context) iter.Seq2[Document, error] {
	return seq(w, w.papers)
}
func (w *world) Charges(context.Context) iter.Seq2[Charge, error] { return seq(w, w.charges) }
func (w *world) Returns(context.Context) iter.Seq2[Return, error] { return seq(w, w.returns) }

var (
	now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	old = now.Add(-time.Hour)
)

// right is every kind of thing that may stand in the books:
// ord_1, of which one item was carried out, one failed and one found its name gone;
// ord_2, which cost nothing; ord_3, which expired and was paid afterwards; ord_4,
// which waits; ord_5, a renewal; a domain by an operator and one from elsewhere.
func right() *world {
	return &world{
		orders: []Order{
			{
				ID: "ord_1", Customer: "cus_1", State: "partially_completed", Paid: true, Ended: true, Net: 3000, VAT: 570, Gross: 3570, RateBasisPoints: 1900, UpdatedAt: old,
				Items: []Item{
					{ID: "itm_1", Name: "good.org", Kind: "register", Net: 1000, VAT: 190, Gross: 1190, Line: "lin_1", Stage: Done},
					{ID: "itm_2", Name: "bad.org", Kind: "register", Net: 1000, VAT: 190, Gross: 1190, Line: "lin_2", Stage: GivenBack},
					{ID: "itm_3", Name: "gone.org", Kind: "transfer", Net: 1000, VAT: 190, Gross: 1190, Stage: GivenBack},
				},
				Payments: []Payment{
					{ID: "pay_0", Standing: Closed, Amount: 3570, UpdatedAt: old},
					{ID: "pay_1", Standing: Kept, Amount: 3570, Intent: "pi_1", UpdatedAt: old},
				},
				Refunds: []Refund{
					{ID: "ref_2", Payment: "pay_1", Item: "itm_2", Amount: 1190, Provider: "re_2", CreatedAt: old},
					{ID: "ref_3", Payment: "pay_1", Item: "itm_3", Amount: 1190, Provider: "re_3", CreatedAt: old},
				},
			},
			{
				ID: "ord_2", Customer: "cus_1", State: "failed", Paid: true, Ended: true, RateBasisPoints: 1900, UpdatedAt: old,
				Items: []Item{{ID: "itm_4", Name: "free.de", Kind: "transfer", Line: "lin_4", Stage: Failed}},
			},
			{
				ID: "ord_3", Customer: "cus_2", State: "expired", Ended: true, Net: 50, VAT: 10, Gross: 60, RateBasisPoints: 1900, UpdatedAt: old,
				Items:    []Item{{ID: "itm_5", Name: "late.org", Kind: "register", Net: 50, VAT: 10, Gross: 60, Stage: Open}},
				Payments: []Payment{{ID: "pay_3", Standing: Returned, Amount: 60, Intent: "pi_3", UpdatedAt: old}},
				Refunds:  []Refund{{ID: "ref_5", Payment: "pay_3", Amount: 60, Provider: "re_5", CreatedAt: old}},
			},
			{
				ID: "ord_4", Customer: "cus_2", State: "awaiting_payment", Net: 100, Gross: 100, UpdatedAt: old,
				Items: []Item{{ID: "itm_6", Name: "later.org", Kind: "register", Net: 100, Gross: 100, Stage: Open}},
			},
			{
				ID: "ord_5", Customer: "cus_1", State: "completed", Paid: true, Ended: true, Net: 100, Gross: 100, UpdatedAt: old,
				Items:    []Item{{ID: "itm_7", Name: "good.org", Kind: "renew", Net: 100, Gross: 100, Line: "lin_7", Stage: Done}},
				Payments: []Payment{{ID: "pay_5", Standing: Kept, Amount: 100, Intent: "pi_5", UpdatedAt: old}},
			},
		},
		lines: []Line{
			{ID: "lin_1", Customer: "cus_1", Name: "good.org", Kind: "register", Order: "ord_1", Domain: "dom_1", Stage: Done, UpdatedAt: old},
			{ID: "lin_2", Customer: "cus_1", Name: "bad.org", Kind: "register", Order: "ord_1", Stage: Failed, RefundDue: true, UpdatedAt: old},
			{ID: "lin_4", Customer: "cus_1", Name: "free.de", Kind: "transfer", Order: "ord_2", Stage: Failed, RefundDue: true, UpdatedAt: old},
			{ID: "lin_7", Customer: "cus_1", Name: "good.org", Kind: "renew", Order: "ord_5", Domain: "dom_1", Stage: Done, UpdatedAt: old},
			{ID: "lin_9", Customer: "cus_2", Name: "manual.org", Kind: "register", Domain: "dom_9", Stage: Done, UpdatedAt: old},
		},
		domains: []Domain{
			{ID: "dom_1", Customer: "cus_1", Name: "good.org", Ours: true, UpdatedAt: old},
			{ID: "dom_9", Customer: "cus_2", Name: "manual.org", Ours: true, UpdatedAt: old},
			{ID: "dom_x", Customer: "cus_2", Name: "elsewhere.org", UpdatedAt: old},
		},
		charges: []Charge{
			{ID: "ch_1", Intent: "pi_1", Payment: "pay_1", Amount: 3570, Returned: 2380, Currency: "eur", CreatedAt: old},
			{ID: "ch_3", Intent: "pi_3", Payment: "pay_3", Amount: 60, Returned: 60, Currency: "eur", CreatedAt: old},
			{ID: "ch_5", Intent: "pi_5", Payment: "pay_5", Amount: 100, Currency: "eur", CreatedAt: old},
			{ID: "ch_8", Intent: "pi_8", Amount: 5, Returned: 5, Currency: "eur", CreatedAt: old},
		},
		papers: []Document{
			{ID: "due_5", Order: "ord_5", Owed: true, At: old.Add(time.Hour - time.Second)},
			{ID: "inv_1", Order: "ord_1", Series: "RE-2026", Number: "RE-2026-000001", Count: 1, Net: 3000, VAT: 570, Gross: 3570, At: old},
			{ID: "inv_2", Order: "ord_1", Refund: "ref_2", Series: "RK-2026", Number: "RK-2026-000001", Count: 1, Net: 1000, VAT: 190, Gross: 1190, At: old},
			{ID: "inv_3", Order: "ord_1", Refund: "ref_3", Series: "RK-2026", Number: "RK-2026-000002", Count: 2, Net: 1000, VAT: 190, Gross: 1190, At: old},
		},
		returns: []Return{
			{ID: "re_2", Intent: "pi_1", Refund: "ref_2", Amount: 1190, CreatedAt: old},
			{ID: "re_3", Intent: "pi_1", Refund: "ref_3", Amount: 1190, CreatedAt: old},
			{ID: "re_5", Intent: "pi_3", Refund: "ref_5", Amount: 60, CreatedAt: old},
			{ID: "re_8", Intent: "pi_8", Amount: 5, CreatedAt: old},
		},
	}
}

func look(t *testing.T, w *world, patience time.Duration) Report {
	t.Helper()
	report, err := Audit(t.Context(), w, w, Options{Now: now, Patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestBooksThatAgreeHaveNoFinding(t *testing.T) {
	t.Parallel()
	for _, patience := range []time.Duration{0, 10 * time.Minute} {
		got := look(t, right(), patience)
		if len(got.Findings) != 0 || got.Fresh != 0 {
			t.Errorf("patience %s: %v, %d fresh", patience, got.Findings, got.Fresh)
		}
		if got.Orders != 5 || got.Lines != 5 || got.Domains != 3 || got.Charges != 4 || got.Returns != 4 || got.Charged != 3735 || got.GivenBack != 2445 {
			t.Errorf("counted %+v", got)
		}
	}
}

// wrongs is every way in which books can be wrong, by what is then found.
var wrongs = map[string]func(*world){
	"totals ord_1: good.org costs 10.00 net and 1.90 VAT, but 11.91":    func(w *world) { w.orders[0].Items[0].Gross++ },
	"totals ord_1: the items add up to":                                 func(w *world) { w.orders[0].Net++; w.orders[0].Gross++ },
	"totals ord_3: 0.09 is not the VAT of 0.50":                         func(w *world) { w.orders[2].VAT, w.orders[2].Items[0].VAT = 9, 9 },
	"totals ord_4: 0.00 is not the VAT of 1.00 at 1900":                 func(w *world) { w.orders[3].RateBasisPoints = 1900 },
	"charge ord_1: the order is paid and keeps 0 payments":              func(w *world) { w.orders[0].Payments[1].Standing = Closed },
	"charge ord_1: the order is paid and keeps 2 payments":              func(w *world) { w.orders[0].Payments[0].Standing = Kept },
	"charge ord_1: the order costs 35.70 and keeps 35.69":               func(w *world) { w.orders[0].Payments[1].Amount-- },
	"charge ord_1: nobody knows which charge at the provider pay_1 is":  func(w *world) { w.orders[0].Payments[1].Intent = "" },
	"charge ord_5: payment pay_5 and payment pay_3 are the same charge": func(w *world) { w.orders[4].Payments[0].Intent = "pi_3" },
	"charge ord_3: the order is expired and keeps pay_3":                func(w *world) { w.orders[2].Payments[0].Standing = Kept },
	"charge ord_2: the order costs nothing and keeps pay_2":             func(w *world) { w.orders[1].Payments = []Payment{{ID: "pay_2", Standing: Kept, Intent: "pi_2"}} },
	"charge ch_1: payment pay_1 of ord_1 is 35.70, the provider took":   func(w *world) { w.charges[0].Amount++ },
	"charge ch_1: ord_1 was charged in usd":                             func(w *world) { w.charges[0].Currency = "usd" },
	"charge ch_1: the provider has it for payment pay_3, we have it":    func(w *world) { w.charges[0].Payment = "pay_3" },
	"charge ord_5: payment pay_5 is kept, and the provider has 0":       func(w *world) { w.charges = slices.Delete(w.charges, 2, 3) },
	"charge ord_5: payment pay_5 is kept, and the provider has 2":       func(w *world) { w.charges = append(w.charges, w.charges[2]) },
	"charge ord_3: payment pay_3 is returned, and the provider has 0":   func(w *world) { w.charges = slices.Delete(w.charges, 1, 2) },
	"stray ch_8: the provider took 0.05 that no order knows of":         func(w *world) { w.charges[3].Returned-- },
	"stray ch_0: the provider took 35.70 by payment pay_0 of ord_1": func(w *world) {
		w.charges = append(w.charges, Charge{ID: "ch_0", Payment: "pay_0", Amount: 3570, Currency: "eur", CreatedAt: old})
	},
	"line ord_4: the order is awaiting_payment and later.org has the line": func(w *world) { w.orders[3].Items[0].Line = "lin_6" },
	"line ord_4: the order is awaiting_payment and later.org is carried":   func(w *world) { w.orders[3].Items[0].Stage = Done },
	"line ord_1: the order is paid and nobody carries out good.org":        func(w *world) { w.orders[0].Items[0].Line = "" },
	"line ord_1: the order is partially_completed and good.org is under":   func(w *world) { w.orders[0].Items[0].Stage = Open },
	"line ord_1: good.org should have the line lin_1, of which there are 0": func(w *world) {
		w.lines = slices.Delete(w.lines, 0, 1)
	},
	"line ord_1: good.org should have the line lin_1, of which there are 2": func(w *world) { w.lines = append(w.lines, w.lines[0]) },
	"line lin_1: bad.org of ord_1 and good.org of ord_1 have the same line": func(w *world) { w.orders[0].Items[1].Line = "lin_1" },
	"line lin_8: the line of more.org says that ord_1 paid for it": func(w *world) {
		w.lines = append(w.lines, Line{ID: "lin_8", Name: "more.org", Order: "ord_1", UpdatedAt: old})
	},
	"line lin_1: the line wants to register gooood.org":              func(w *world) { w.lines[0].Name = "gooood.org" },
	"line lin_1: the line wants to register good.org for ord_5":      func(w *world) { w.lines[0].Order = "ord_5" },
	"line lin_2: the line of bad.org is carried out, its item":       func(w *world) { w.lines[1].Stage, w.lines[1].RefundDue = Done, false },
	"line lin_1: the line of good.org is under way, its item":        func(w *world) { w.lines[0].Stage = Open },
	"domain dom_1: good.org is registered, and 0 lines":              func(w *world) { w.lines[0].Domain = "dom_9" },
	"domain dom_9: manual.org is registered, and 2 lines":            func(w *world) { w.lines = append(w.lines, w.lines[4]) },
	"domain lin_9: manual.org is carried out and there is no domain": func(w *world) { w.domains = slices.Delete(w.domains, 1, 2) },
	"domain lin_9: the line is carried out and no domain came of it": func(w *world) { w.lines[4].Domain = "" },
	"domain dom_9: the domain is manual.org, and its line lin_9":     func(w *world) { w.domains[1].Customer = "cus_1" },
	"domain dom_9: manual.org is still on its way":                   func(w *world) { w.domains[1].Pending = true },
	"refund lin_2: bad.org failed and nobody gets money back":        func(w *world) { w.lines[1].RefundDue = false },
	"refund lin_1: good.org is carried out and marked for a refund":  func(w *world) { w.lines[0].RefundDue = true },
	"refund ord_1: bad.org is to be given back and there": func(w *world) {
		w.orders[0].Refunds = slices.Delete(w.orders[0].Refunds, 0, 1)
	},
	"refund ord_1: bad.org has 2 refunds":                                    func(w *world) { w.orders[0].Refunds[1].Item = "itm_2" },
	"refund ord_1: 11.90 of bad.org was to be given back and the refund is":  func(w *world) { w.orders[0].Refunds[0].Amount-- },
	"refund ord_1: bad.org is said to be given back and its refund is still": func(w *world) { w.orders[0].Refunds[0].Provider = "" },
	"refund ord_1: 11.90 of payment pay_1 is given back without a reason":    func(w *world) { w.orders[0].Items[2].Stage = Done },
	"refund ord_3: payment pay_3 is to be given back and there":              func(w *world) { w.orders[2].Refunds = nil },
	"refund ch_3: the provider took 0.60 by payment pay_3 of ord_3":          func(w *world) { w.orders[2].Refunds[0].Amount = 59 },
	"refund ord_1: 23.80 of payment pay_1 was given back here, 23.79":        func(w *world) { w.charges[0].Returned-- },
	"refund ord_1: the refund ref_2 is made, and the provider has it 0":      func(w *world) { w.returns = slices.Delete(w.returns, 0, 1) },
	"refund ord_1: the refund ref_2 is made, and the provider has it 2":      func(w *world) { w.returns = append(w.returns, w.returns[0]) },
	"refund re_2: 11.90 of ord_1 was to be given back, the provider gave":    func(w *world) { w.returns[0].Amount-- },
	"refund re_2: the refund ref_2 of ord_1 is re_0 here":                    func(w *world) { w.orders[0].Refunds[0].Provider = "re_0" },
	"refund re_2: the refund ref_2 of ord_1 was made of another payment":     func(w *world) { w.returns[0].Intent = "pi_3" },
	"refund re_2: 11.90 of ord_1 did not reach the customer":                 func(w *world) { w.returns[0].Failed = true },
	"refund re_9: the provider gave 1.00 of ord_5 back, and we know of no": func(w *world) {
		w.returns = append(w.returns, Return{ID: "re_9", Intent: "pi_5", Amount: 100, CreatedAt: old})
	},
	"invoice ord_1: the invoice should exist once and exists 0":    func(w *world) { w.papers = slices.Delete(w.papers, 1, 2) },
	"invoice ord_1: the invoice should exist once and exists 2":    func(w *world) { w.papers = append(w.papers, w.papers[1]) },
	"invoice ord_1: the correction for ref_3 should exist once":    func(w *world) { w.papers = w.papers[:3] },
	"invoice ord_5: the invoice should exist once and exists 0":    func(w *world) { w.papers = w.papers[1:] },
	"invoice ord_1: RE-2026-000001 says 30.00 + 5.71 = 35.71, the": func(w *world) { w.papers[1].VAT++; w.papers[1].Gross++ },
	"invoice ord_1: RK-2026-000001 says 10.00 + 1.90 = 11.91, the": func(w *world) { w.papers[2].Gross++ },
	"invoice inv_4: there is a document for ord_4  that nothing":   func(w *world) { w.papers = append(w.papers, Document{ID: "inv_4", Order: "ord_4", At: old}) },
	"invoice inv_4: there is a document for ord_3 ref_5 that": func(w *world) {
		w.papers = append(w.papers, Document{ID: "inv_4", Order: "ord_3", Refund: "ref_5", At: old})
	},
	"invoice RK-2026: number 3 comes after 1":               func(w *world) { w.papers[3].Count = 3 },
	"invoice RK-2026: number 1 comes after 1":               func(w *world) { w.papers[3].Count = 1 },
	"invoice RE-2026: number 2 comes after 0":               func(w *world) { w.papers[1].Count = 2 },
	"stuck ord_1: the refund ref_2 of 11.90 is still due":   func(w *world) { w.orders[0].Refunds[0].Provider = "" },
	"stuck ord_1: the order is partially_completed and pay": func(w *world) { w.orders[0].Payments[0].Standing = InFlight },
	"stuck ord_1: nothing is under way any more":            func(w *world) { w.orders[0].Ended = false },
}

func TestEveryWayInWhichBooksCanBeWrongIsFound(t *testing.T) {
	t.Parallel()
	for want, spoil := range wrongs {
		for _, patience := range []time.Duration{0, 10 * time.Minute} {
			w := right()
			spoil(w)
			report := look(t, w, patience)
			if !slices.ContainsFunc(report.Findings, func(f Finding) bool { return strings.HasPrefix(f.String(), want) }) {
				t.Errorf("%q is not found: %v", want, report.Findings)
			}
		}
	}
}

func TestWhatHasJustChangedIsCountedAndNotJudged(t *testing.T) {
	t.Parallel()
	for want, spoil := range wrongs {
		w := right()
		spoil(w)
		young := now.Add(-time.Minute)
		for i := range w.orders {
			w.orders[i].UpdatedAt = young
		}
		for i := range w.lines {
			w.lines[i].UpdatedAt = young
		}
		for i := range w.domains {
			w.domains[i].UpdatedAt = young
		}
		for i := range w.charges {
			w.charges[i].CreatedAt = young
		}
		for i := range w.returns {
			w.returns[i].CreatedAt = young
		}
		for i := range w.papers {
			w.papers[i].At = young
		}
		if report := look(t, w, 10*time.Minute); len(report.Findings) != 0 || report.Fresh == 0 {
			t.Errorf("%q: %v, %d fresh", want, report.Findings, report.Fresh)
		}
	}
}

func TestWhatNobodyLooksAtIsStuck(t *testing.T) {
	t.Parallel()
	w := right()
	w.orders[3].DueAt = now.Add(-11 * time.Minute)
	w.lines[0].DueAt = now.Add(-11 * time.Minute)
	w.orders[2].DueAt = now.Add(-9 * time.Minute)
	var about []string
	for _, finding := range look(t, w, 10*time.Minute).Findings {
		about = append(about, finding.Rule+" "+finding.About)
	}
	if want := []string{"stuck lin_1", "stuck ord_4"}; !slices.Equal(about, want) {
		t.Errorf("found %v, want %v", about, want)
	}
}

func TestAnInvoiceThatNobodyIssuesIsStuck(t *testing.T) {
	t.Parallel()
	w := right()
	w.papers[0].At = now.Add(-11 * time.Minute)
	report := look(t, w, 10*time.Minute)
	if len(report.Findings) != 1 || !strings.HasPrefix(report.Findings[0].String(), "stuck ord_5: the invoice is owed since 2026-11-15 11:49:00") {
		t.Errorf("found %v", report.Findings)
	}
	// One that is issued while it is read is seen as owed and as issued.
	w = right()
	w.papers = append(w.papers, Document{ID: "inv_9", Order: "ord_5", Series: "RE-2026", Number: "RE-2026-000002", Count: 2, Net: 100, Gross: 100, At: old})
	if report := look(t, w, 0); len(report.Findings) != 0 || report.Documents != 4 {
		t.Errorf("found %v, %d documents", report.Findings, report.Documents)
	}
}

func TestWithoutAProviderOurSideIsStillCompared(t *testing.T) {
	t.Parallel()
	w := right()
	w.charges, w.returns = nil, nil
	report, err := Audit(t.Context(), w, nil, Options{Now: now})
	if err != nil || len(report.Findings) != 0 {
		t.Fatalf("%v, %v", report.Findings, err)
	}
	w.orders[0].Items[0].Gross = registrar.Cents(1)
	if report, _ := Audit(t.Context(), w, nil, Options{Now: now}); len(report.Findings) == 0 {
		t.Error("nothing was compared")
	}
}

func TestBooksThatCannotBeReadAreNoGoodBooks(t *testing.T) {
	t.Parallel()
	w := right()
	w.err = errors.New("cut off")
	if _, err := Audit(t.Context(), w, w, Options{Now: now}); !errors.Is(err, w.err) {
		t.Errorf("got %v", err)
	}
}
