package reconcile

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

// testData holds both sides.
type testData struct {
	orders    []order.Order
	items     []provision.Item
	domains   []provision.Domain
	renewals  []renewal.Renewal
	closed    []string
	documents []Document
	charges   []Charge
	refunds   []ProviderRefund
	disputes  []dispute.Dispute
	provider  []ProviderDispute
	err       error
}

func seq[T any](data *testData, all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
		if data.err != nil {
			var none T
			yield(none, data.err)
		}
	}
}

func (data *testData) ReconciliationOrders(context.Context) iter.Seq2[order.Order, error] {
	return seq(data, data.orders)
}

func (data *testData) ReconciliationItems(context.Context) iter.Seq2[provision.Item, error] {
	return seq(data, data.items)
}

func (data *testData) ReconciliationClosedDomains(context.Context) iter.Seq2[string, error] {
	return seq(data, data.closed)
}

func (data *testData) ReconciliationDomains(context.Context) iter.Seq2[provision.Domain, error] {
	return seq(data, data.domains)
}

func (data *testData) ReconciliationRenewals(context.Context) iter.Seq2[renewal.Renewal, error] {
	return seq(data, data.renewals)
}

func (data *testData) ReconciliationDocuments(context.Context) iter.Seq2[Document, error] {
	return seq(data, data.documents)
}

func (data *testData) Charges(context.Context) iter.Seq2[Charge, error] {
	return seq(data, data.charges)
}

func (data *testData) Refunds(context.Context) iter.Seq2[ProviderRefund, error] {
	return seq(data, data.refunds)
}

func (data *testData) ReconciliationDisputes(context.Context) iter.Seq2[dispute.Dispute, error] {
	return seq(data, data.disputes)
}

func (data *testData) Disputes(context.Context) iter.Seq2[ProviderDispute, error] {
	return seq(data, data.provider)
}

var (
	now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	old = now.Add(-time.Hour)
	end = now.AddDate(0, 0, 14)
)

// consistentData covers everything that may exist: ord_1, with one provisioned item, one
// failed item and one whose name was taken; ord_2, which is free; ord_3, which expired and
// was paid afterwards; ord_4, which is open; ord_5, an automatic renewal; a domain registered by an
// operator and one from elsewhere.
func consistentData() *testData {
	return &testData{
		orders: []order.Order{
			{
				ID: "ord_1", Customer: "cus_1", State: "partially_completed", PaidAt: old, Totals: order.Totals{Net: 3000, VAT: 570, Gross: 3570, RateBasisPoints: 1900}, UpdatedAt: old,
				Items: []order.Item{
					{ID: "itm_1", Name: "good.org", Kind: "register", Net: 1000, VAT: 190, Gross: 1190, ProvisionItem: "prv_1", State: order.ItemActive},
					{ID: "itm_2", Name: "bad.org", Kind: "register", Net: 1000, VAT: 190, Gross: 1190, ProvisionItem: "prv_2", State: order.ItemRefunded},
					{ID: "itm_3", Name: "gone.org", Kind: "transfer", Net: 1000, VAT: 190, Gross: 1190, State: order.ItemRefunded},
				},
				Payments: []order.Payment{
					{ID: "pay_0", State: order.PaymentClosed, Amount: 3570, UpdatedAt: old},
					{ID: "pay_1", State: order.PaymentCaptured, Amount: 3570, Intent: "pi_1", UpdatedAt: old},
				},
				Refunds: []order.Refund{
					{ID: "ref_2", Payment: "pay_1", Item: "itm_2", Amount: 1190, Provider: "re_2", CreatedAt: old},
					{ID: "ref_3", Payment: "pay_1", Item: "itm_3", Amount: 1190, Provider: "re_3", CreatedAt: old},
				},
			},
			{
				ID: "ord_2", Customer: "cus_1", State: "failed", PaidAt: old, Totals: order.Totals{RateBasisPoints: 1900}, UpdatedAt: old,
				Items: []order.Item{{ID: "itm_4", Name: "free.de", Kind: "transfer", ProvisionItem: "prv_4", State: order.ItemFailed}},
			},
			{
				ID: "ord_3", Customer: "cus_2", State: "expired", Totals: order.Totals{Net: 50, VAT: 10, Gross: 60, RateBasisPoints: 1900}, UpdatedAt: old,
				Items:    []order.Item{{ID: "itm_5", Name: "late.org", Kind: "register", Net: 50, VAT: 10, Gross: 60, State: order.ItemWaiting}},
				Payments: []order.Payment{{ID: "pay_3", State: order.PaymentRefunded, Amount: 60, Intent: "pi_3", UpdatedAt: old}},
				Refunds:  []order.Refund{{ID: "ref_5", Payment: "pay_3", Amount: 60, Provider: "re_5", CreatedAt: old}},
			},
			{
				ID: "ord_4", Customer: "cus_2", State: "awaiting_payment", Totals: order.Totals{Net: 100, Gross: 100}, UpdatedAt: old,
				Items: []order.Item{{ID: "itm_6", Name: "later.org", Kind: "register", Net: 100, Gross: 100, State: order.ItemWaiting}},
			},
			{
				ID: "ord_5", Customer: "cus_1", State: "completed", Channel: order.ChannelRenewal, PaidAt: old, Totals: order.Totals{Net: 100, Gross: 100}, UpdatedAt: old,
				Items:    []order.Item{{ID: "itm_7", Name: "good.org", Kind: "renew", Net: 100, Gross: 100, ProvisionItem: "prv_7", Domain: "dom_1", State: order.ItemActive}},
				Payments: []order.Payment{{ID: "pay_5", State: order.PaymentCaptured, Amount: 100, Intent: "pi_5", UpdatedAt: old}},
			},
		},
		items: []provision.Item{
			{ID: "prv_1", Customer: "cus_1", Name: "good.org", Kind: "register", Payment: order.PaymentOf("ord_1"), Domain: "dom_1", State: provision.StateActive, UpdatedAt: old},
			{ID: "prv_2", Customer: "cus_1", Name: "bad.org", Kind: "register", Payment: order.PaymentOf("ord_1"), State: provision.StateFailed, RefundDue: true, UpdatedAt: old},
			{ID: "prv_4", Customer: "cus_1", Name: "free.de", Kind: "transfer", Payment: order.PaymentOf("ord_2"), State: provision.StateFailed, RefundDue: true, UpdatedAt: old},
			{ID: "prv_7", Customer: "cus_1", Name: "good.org", Kind: "renew", Payment: order.PaymentOf("ord_5"), Domain: "dom_1", State: provision.StateActive, UpdatedAt: old},
			{ID: "prv_9", Customer: "cus_2", Name: "manual.org", Kind: "register", Payment: "manual:R-1", Domain: "dom_9", State: provision.StateActive, UpdatedAt: old},
		},
		renewals: []renewal.Renewal{
			{Domain: "dom_1", Customer: "cus_1", Name: "good.org", TermEnd: end, State: renewal.Renewed, Years: 1, Gross: 100, Order: "ord_5", UpdatedAt: old},
			{Domain: "dom_1", Customer: "cus_1", Name: "good.org", TermEnd: end.AddDate(1, 0, 0), State: renewal.Announced, Years: 1, Gross: 100, UpdatedAt: old},
		},
		domains: []provision.Domain{
			{ID: "dom_1", Customer: "cus_1", Name: "good.org", Account: "registry", PaidUntil: end.AddDate(1, 0, 0), UpdatedAt: old},
			{ID: "dom_9", Customer: "cus_2", Name: "manual.org", Account: "registry", UpdatedAt: old},
			{ID: "dom_x", Customer: "cus_2", Name: "elsewhere.org", UpdatedAt: old},
		},
		charges: []Charge{
			{ID: "ch_1", Intent: "pi_1", Payment: "pay_1", Amount: 3570, Refunded: 2380, Currency: "eur", CreatedAt: old},
			{ID: "ch_3", Intent: "pi_3", Payment: "pay_3", Amount: 60, Refunded: 60, Currency: "eur", CreatedAt: old},
			{ID: "ch_5", Intent: "pi_5", Payment: "pay_5", Amount: 100, Currency: "eur", CreatedAt: old},
			{ID: "ch_8", Intent: "pi_8", Amount: 5, Refunded: 5, Currency: "eur", CreatedAt: old},
		},
		documents: []Document{
			{ID: "due_5", Order: "ord_5", Owed: true, At: old.Add(time.Hour - time.Second)},
			{ID: "inv_1", Order: "ord_1", Series: "RE-2026", Number: "RE-2026-000001", Count: 1, Net: 3000, VAT: 570, Gross: 3570, At: old},
			{ID: "inv_2", Order: "ord_1", Refund: "ref_2", Series: "RK-2026", Number: "RK-2026-000001", Count: 1, Net: 1000, VAT: 190, Gross: 1190, At: old},
			{ID: "inv_3", Order: "ord_1", Refund: "ref_3", Series: "RK-2026", Number: "RK-2026-000002", Count: 2, Net: 1000, VAT: 190, Gross: 1190, At: old},
		},
		refunds: []ProviderRefund{
			{ID: "re_2", Intent: "pi_1", Refund: "ref_2", Amount: 1190, CreatedAt: old},
			{ID: "re_3", Intent: "pi_1", Refund: "ref_3", Amount: 1190, CreatedAt: old},
			{ID: "re_5", Intent: "pi_3", Refund: "ref_5", Amount: 60, CreatedAt: old},
			{ID: "re_8", Intent: "pi_8", Amount: 5, CreatedAt: old},
		},
	}
}

func reconcile(t *testing.T, data *testData, gracePeriod time.Duration) Report {
	t.Helper()
	report, err := Run(t.Context(), data, data, Options{Now: now, GracePeriod: gracePeriod})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestRun_ConsistentDataHasNoFindings(t *testing.T) {
	t.Parallel()
	for _, gracePeriod := range []time.Duration{0, 10 * time.Minute} {
		got := reconcile(t, consistentData(), gracePeriod)
		if len(got.Findings) != 0 || got.Fresh != 0 {
			t.Errorf("grace period %s: %v, %d fresh", gracePeriod, got.Findings, got.Fresh)
		}
		if got.Orders != 5 || got.ProvisionItems != 5 || got.Domains != 3 || got.Charges != 4 || got.Refunds != 4 || got.Charged != 3735 || got.Refunded != 2445 {
			t.Errorf("counted %+v", got)
		}
	}
}

// inconsistencies maps each expected finding to the change that causes it.
var inconsistencies = map[string]func(*testData){
	"totals ord_1: good.org costs 10.00 net and 1.90 VAT, but 11.91":        func(data *testData) { data.orders[0].Items[0].Gross++ },
	"totals ord_1: the items add up to":                                     func(data *testData) { data.orders[0].Totals.Net++; data.orders[0].Totals.Gross++ },
	"totals ord_3: 0.09 is not the VAT of 0.50":                             func(data *testData) { data.orders[2].Totals.VAT, data.orders[2].Items[0].VAT = 9, 9 },
	"totals ord_4: 0.00 is not the VAT of 1.00 at 1900":                     func(data *testData) { data.orders[3].Totals.RateBasisPoints = 1900 },
	"charge ord_1: the order is paid but has 0 captured":                    func(data *testData) { data.orders[0].Payments[1].State = order.PaymentClosed },
	"charge ord_1: the order is paid but has 2 captured":                    func(data *testData) { data.orders[0].Payments[0].State = order.PaymentCaptured },
	"charge ord_1: the order costs 35.70 and 35.69 was captured":            func(data *testData) { data.orders[0].Payments[1].Amount-- },
	"charge ord_1: payment pay_1 has no charge at the provider":             func(data *testData) { data.orders[0].Payments[1].Intent = "" },
	"charge ord_5: payments pay_5 and pay_3 have the same charge":           func(data *testData) { data.orders[4].Payments[0].Intent = "pi_3" },
	"charge ord_3: the order is expired and has the captured payment pay_3": func(data *testData) { data.orders[2].Payments[0].State = order.PaymentCaptured },
	"charge ord_2: the order is free but has the captured payment pay_2": func(data *testData) {
		data.orders[1].Payments = []order.Payment{{ID: "pay_2", State: order.PaymentCaptured, Intent: "pi_2"}}
	},
	"charge ch_1: payment pay_1 of ord_1 is 35.70, the provider charged": func(data *testData) { data.charges[0].Amount++ },
	"charge ch_1: ord_1 was charged in usd":                              func(data *testData) { data.charges[0].Currency = "usd" },
	"charge ch_1: it belongs to payment pay_3 at the provider":           func(data *testData) { data.charges[0].Payment = "pay_3" },
	"charge ord_5: payment pay_5 is captured and has 0":                  func(data *testData) { data.charges = slices.Delete(data.charges, 2, 3) },
	"charge ord_5: payment pay_5 is captured and has 2":                  func(data *testData) { data.charges = append(data.charges, data.charges[2]) },
	"charge ord_3: payment pay_3 is refunded and has 0":                  func(data *testData) { data.charges = slices.Delete(data.charges, 1, 2) },
	"stray ch_8: the provider charged 0.05 for no known order":           func(data *testData) { data.charges[3].Refunded-- },
	"stray ch_0: the provider charged 35.70 for payment pay_0 of ord_1": func(data *testData) {
		data.charges = append(data.charges, Charge{ID: "ch_0", Payment: "pay_0", Amount: 3570, Currency: "eur", CreatedAt: old})
	},
	"stray ch_0: the provider charged 35.70 for payment pay_0 of ord_1, which is in flight here": func(data *testData) {
		data.orders[0].Payments[0].State = order.PaymentClosing
		data.charges = append(data.charges, Charge{ID: "ch_0", Payment: "pay_0", Amount: 3570, Currency: "eur", CreatedAt: old})
	},
	"item ord_4: the order is awaiting_payment and later.org has the provision item": func(data *testData) { data.orders[3].Items[0].ProvisionItem = "prv_6" },
	"item ord_4: the order is awaiting_payment and later.org is provisioned":         func(data *testData) { data.orders[3].Items[0].State = order.ItemActive },
	"item ord_1: the order is paid, but good.org has no provision item":              func(data *testData) { data.orders[0].Items[0].ProvisionItem = "" },
	"item ord_1: the order is partially_completed and good.org is open":              func(data *testData) { data.orders[0].Items[0].State = order.ItemProvisioning },
	`item ord_1: good.org has the unknown state "lost"`:                              func(data *testData) { data.orders[0].Items[0].State = "lost" },
	"item ord_1: good.org should have one provision item prv_1 and has 0": func(data *testData) {
		data.items = slices.Delete(data.items, 0, 1)
	},
	"item ord_1: good.org should have one provision item prv_1 and has 2":             func(data *testData) { data.items = append(data.items, data.items[0]) },
	"item prv_1: bad.org of ord_1 and good.org of ord_1 have the same provision item": func(data *testData) { data.orders[0].Items[1].ProvisionItem = "prv_1" },
	"item prv_8: the provision item for more.org refers to ord_1": func(data *testData) {
		data.items = append(data.items, provision.Item{ID: "prv_8", Name: "more.org", Payment: order.PaymentOf("ord_1"), UpdatedAt: old})
	},
	"item prv_1: the provision item is to register gooood.org":                func(data *testData) { data.items[0].Name = "gooood.org" },
	"item prv_1: the provision item is to register good.org for ord_5":        func(data *testData) { data.items[0].Payment = order.PaymentOf("ord_5") },
	"item prv_2: the provision item for bad.org is provisioned, but its item": func(data *testData) { data.items[1].State, data.items[1].RefundDue = provision.StateActive, false },
	"item prv_1: the provision item for good.org is open, but its item":       func(data *testData) { data.items[0].State = provision.StatePending },
	"domain dom_1: good.org is registered by 0":                               func(data *testData) { data.items[0].Domain = "dom_9" },
	"domain dom_9: manual.org is registered by 2":                             func(data *testData) { data.items = append(data.items, data.items[4]) },
	"domain prv_9: manual.org is provisioned and there is no domain":          func(data *testData) { data.domains = slices.Delete(data.domains, 1, 2) },
	"domain prv_9: the provision item is active but has no domain":            func(data *testData) { data.items[4].Domain = "" },
	"domain dom_9: the domain is manual.org, but its item prv_9":              func(data *testData) { data.domains[1].Customer = "cus_1" },
	"domain dom_9: manual.org is still pending":                               func(data *testData) { data.domains[1].Status = registrar.DomainPending },
	"refund prv_2: bad.org failed and is not marked for a refund":             func(data *testData) { data.items[1].RefundDue = false },
	"refund prv_1: good.org is provisioned and marked for a refund":           func(data *testData) { data.items[0].RefundDue = true },
	"refund ord_1: bad.org is to be refunded and has no refund": func(data *testData) {
		data.orders[0].Refunds = slices.Delete(data.orders[0].Refunds, 0, 1)
	},
	"refund ord_1: bad.org has 2 refunds":                                   func(data *testData) { data.orders[0].Refunds[1].Item = "itm_2" },
	"refund ord_1: 11.90 of bad.org was to be refunded and the refund is":   func(data *testData) { data.orders[0].Refunds[0].Amount-- },
	"refund ord_1: bad.org is marked as refunded and its refund is still":   func(data *testData) { data.orders[0].Refunds[0].Provider = "" },
	"refund ord_1: 11.90 of payment pay_1 is refunded without a reason":     func(data *testData) { data.orders[0].Items[2].State = order.ItemActive },
	"refund ord_3: payment pay_3 is to be refunded and has no refund":       func(data *testData) { data.orders[2].Refunds = nil },
	"refund ch_3: the provider charged 0.60 for payment pay_3 of ord_3":     func(data *testData) { data.orders[2].Refunds[0].Amount = 59 },
	"refund ord_1: 23.80 of payment pay_1 was refunded here, 23.79":         func(data *testData) { data.charges[0].Refunded-- },
	"refund ord_1: the refund ref_2 is done and exists 0":                   func(data *testData) { data.refunds = slices.Delete(data.refunds, 0, 1) },
	"refund ord_1: the refund ref_2 is done and exists 2":                   func(data *testData) { data.refunds = append(data.refunds, data.refunds[0]) },
	"refund re_2: 11.90 of ord_1 was to be refunded, the provider refunded": func(data *testData) { data.refunds[0].Amount-- },
	"refund re_2: the refund ref_2 of ord_1 is re_0 here":                   func(data *testData) { data.orders[0].Refunds[0].Provider = "re_0" },
	"refund re_2: the refund ref_2 of ord_1 is of another payment":          func(data *testData) { data.refunds[0].Intent = "pi_3" },
	"refund re_2: 11.90 of ord_1 did not reach the customer":                func(data *testData) { data.refunds[0].Failed = true },
	"refund re_9: the provider refunded 1.00 of ord_5 without": func(data *testData) {
		data.refunds = append(data.refunds, ProviderRefund{ID: "re_9", Intent: "pi_5", Amount: 100, CreatedAt: old})
	},
	"renewal dom_1: the term of good.org was renewed without":      func(data *testData) { data.renewals[0].Order = "ord_4" },
	"renewal ord_5: good.org was charged, but no renewal":          func(data *testData) { data.renewals = nil },
	"renewal ord_5: good.org costs 1.00, but 0.99 was announced":   func(data *testData) { data.renewals[0].Gross = 99 },
	"renewal ord_5: good.org was charged until 2027-11-29, but":    func(data *testData) { data.domains[0].PaidUntil = end },
	"renewal ord_5: good.org was charged and provisioned, but its": func(data *testData) { data.renewals[0].State = renewal.Charging },
	"invoice ord_1: the invoice should exist once and exists 0":    func(data *testData) { data.documents = slices.Delete(data.documents, 1, 2) },
	"invoice ord_1: the invoice should exist once and exists 2":    func(data *testData) { data.documents = append(data.documents, data.documents[1]) },
	"invoice ord_1: the correction for ref_3 should exist once":    func(data *testData) { data.documents = data.documents[:3] },
	"invoice ord_5: the invoice should exist once and exists 0":    func(data *testData) { data.documents = data.documents[1:] },
	"invoice ord_1: RE-2026-000001 says 30.00 + 5.71 = 35.71, the": func(data *testData) { data.documents[1].VAT++; data.documents[1].Gross++ },
	"invoice ord_1: RK-2026-000001 says 10.00 + 1.90 = 11.91, the": func(data *testData) { data.documents[2].Gross++ },
	"invoice inv_4: there is a document for ord_4  without": func(data *testData) {
		data.documents = append(data.documents, Document{ID: "inv_4", Order: "ord_4", At: old})
	},
	"invoice inv_4: there is a document for ord_3 ref_5 without": func(data *testData) {
		data.documents = append(data.documents, Document{ID: "inv_4", Order: "ord_3", Refund: "ref_5", At: old})
	},
	"invoice RK-2026: number 3 comes after 1":               func(data *testData) { data.documents[3].Count = 3 },
	"invoice RK-2026: number 1 comes after 1":               func(data *testData) { data.documents[3].Count = 1 },
	"invoice RE-2026: number 2 comes after 0":               func(data *testData) { data.documents[1].Count = 2 },
	"stuck ord_1: the refund ref_2 of 11.90 is still due":   func(data *testData) { data.orders[0].Refunds[0].Provider = "" },
	"stuck ord_1: the order is partially_completed and pay": func(data *testData) { data.orders[0].Payments[0].State = order.PaymentOpen },
	"stuck ord_1: all items have ended":                     func(data *testData) { data.orders[0].State = order.Provisioning },
}

func TestRun_FindsEveryInconsistency(t *testing.T) {
	t.Parallel()
	for want, spoil := range inconsistencies {
		for _, gracePeriod := range []time.Duration{0, 10 * time.Minute} {
			data := consistentData()
			spoil(data)
			report := reconcile(t, data, gracePeriod)
			if !slices.ContainsFunc(report.Findings, func(f Finding) bool { return strings.HasPrefix(f.String(), want) }) {
				t.Errorf("%q not found: %v", want, report.Findings)
			}
		}
	}
}

func TestRun_RecentChangesAreCountedNotJudged(t *testing.T) {
	t.Parallel()
	for want, spoil := range inconsistencies {
		data := consistentData()
		spoil(data)
		recent := now.Add(-time.Minute)
		for i := range data.orders {
			data.orders[i].UpdatedAt = recent
		}
		for i := range data.items {
			data.items[i].UpdatedAt = recent
		}
		for i := range data.domains {
			data.domains[i].UpdatedAt = recent
		}
		for i := range data.renewals {
			data.renewals[i].UpdatedAt = recent
		}
		for i := range data.charges {
			data.charges[i].CreatedAt = recent
		}
		for i := range data.refunds {
			data.refunds[i].CreatedAt = recent
		}
		for i := range data.documents {
			data.documents[i].At = recent
		}
		if report := reconcile(t, data, 10*time.Minute); len(report.Findings) != 0 || report.Fresh == 0 {
			t.Errorf("%q: %v, %d fresh", want, report.Findings, report.Fresh)
		}
	}
}

func TestRun_OverdueWorkIsStuck(t *testing.T) {
	t.Parallel()
	data := consistentData()
	data.orders[3].DueAt = now.Add(-11 * time.Minute)
	data.items[0].DueAt = now.Add(-11 * time.Minute)
	data.orders[2].DueAt = now.Add(-9 * time.Minute)
	var about []string
	for _, finding := range reconcile(t, data, 10*time.Minute).Findings {
		about = append(about, finding.Rule+" "+finding.About)
	}
	if want := []string{"stuck ord_4", "stuck prv_1"}; !slices.Equal(about, want) {
		t.Errorf("found %v, want %v", about, want)
	}
}

func TestRun_UnissuedInvoiceIsStuck(t *testing.T) {
	t.Parallel()
	data := consistentData()
	data.documents[0].At = now.Add(-11 * time.Minute)
	report := reconcile(t, data, 10*time.Minute)
	if len(report.Findings) != 1 || !strings.HasPrefix(report.Findings[0].String(), "stuck ord_5: the invoice is pending since 2026-11-15 11:49:00") {
		t.Errorf("found %v", report.Findings)
	}
	// One that is issued while it is read appears both as pending and as issued.
	data = consistentData()
	data.documents = append(data.documents, Document{ID: "inv_9", Order: "ord_5", Series: "RE-2026", Number: "RE-2026-000002", Count: 2, Net: 100, Gross: 100, At: old})
	if report := reconcile(t, data, 0); len(report.Findings) != 0 || report.Documents != 4 {
		t.Errorf("found %v, %d documents", report.Findings, report.Documents)
	}
}

func TestRun_WithoutProviderChecksDatabase(t *testing.T) {
	t.Parallel()
	data := consistentData()
	data.charges, data.refunds = nil, nil
	report, err := Run(t.Context(), data, nil, Options{Now: now})
	if err != nil || len(report.Findings) != 0 {
		t.Fatalf("%v, %v", report.Findings, err)
	}
	data.orders[0].Items[0].Gross = registrar.Cents(1)
	if report, _ := Run(t.Context(), data, nil, Options{Now: now}); len(report.Findings) == 0 {
		t.Error("no finding without a provider")
	}
}

func TestRun_ReadErrorIsReturned(t *testing.T) {
	t.Parallel()
	data := consistentData()
	data.err = errors.New("cut off")
	if _, err := Run(t.Context(), data, data, Options{Now: now}); !errors.Is(err, data.err) {
		t.Errorf("got %v", err)
	}
}
