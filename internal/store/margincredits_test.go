package store

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

var eightEuros = cost.Charge{
	Operation: cost.Register, Years: 1, Amount: registrar.Money{Amount: 80_000, Currency: cost.Euro}, Source: cost.FromRegistry, Euros: 800, EurosKnown: true,
}

// completeItem completes the provision item of an order item; net 12.00.
func completeItem(t *testing.T, db *DB, item order.Item, charge cost.Charge) {
	t.Helper()
	stored, found, err := db.ProvisionItemByID(t.Context(), item.ProvisionItem)
	if err != nil || !found {
		t.Fatalf("found %t, %v", found, err)
	}
	requested := mustUpdateItem(t, db, itemTransition(stored, func(l *provision.Item, m *provision.Transition) {
		l.State, l.DueAt, l.Node, l.Domain = provision.StateRequested, testTime.Add(time.Minute), "here", "dom_"+l.Name
		m.AddDomain = &provision.Domain{ID: l.Domain, Customer: l.Customer, Name: l.Name, TLD: l.TLD, Status: "pending", Account: "sandbox", UpdatedAt: testTime}
	}))
	mustUpdateItem(t, db, activation(requested, charge))
}

// refundAtProvider books a refund of 5.95 (net 5.00) that was made at the provider.
func refundAtProvider(t *testing.T, db *DB, o order.Order, item string) order.Order {
	t.Helper()
	return mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
		o.Refunds = append(o.Refunds, order.Refund{
			ID: "ref_1", Payment: o.Payments[0].ID, Amount: 595, Source: order.ByProvider, Provider: "re_1",
			Parts: []order.RefundPart{{Item: item, Gross: 595, VAT: 95}}, CreatedAt: testTime, MadeAt: testTime,
		})
	})
}

func issueAll(t *testing.T, db *DB, customer string) {
	t.Helper()
	for _, due := range listPendingDocuments(t, db) {
		if issued, err := issueDocument(t, db, due, documentFor(due, customer, 595)); err != nil || !issued {
			t.Fatalf("issued %t, %v", issued, err)
		}
	}
}

// A credit note is issued, its item is completed and its refund is assigned to the item, in any
// order: the revenue is reduced once, in the last of the three transactions.
func TestCreditNote_ReducesRevenueOnceInAnyOrder(t *testing.T) {
	t.Parallel()
	assign := func(item string) func(*order.Order, *order.Transition) {
		return func(o *order.Order, _ *order.Transition) {
			o.Refunds = []order.Refund{o.Refunds[0]}
			o.Refunds[0].Parts = []order.RefundPart{{Item: item, Gross: 595, VAT: 95}}
		}
	}
	for name, steps := range map[string][]string{
		"issued last":               {"complete", "refund", "issue"},
		"completed last":            {"refund", "issue", "complete"},
		"assigned last":             {"complete", "refund unassigned", "issue", "assign"},
		"assigned before issued":    {"complete", "refund unassigned", "assign", "issue"},
		"assigned before completed": {"refund unassigned", "issue", "assign", "complete"},
	} {
		for cause, charge := range map[string]cost.Charge{"known": eightEuros, "unknown": {Operation: cost.Register, Years: 1, Source: cost.Unknown}} {
			t.Run(name+", "+cause+" cost", func(t *testing.T) {
				t.Parallel()
				eachEngine(t, func(t *testing.T, db *DB) {
					anna := newCustomer(t, db, "anna")
					o := addPaidOrder(t, db, anna, "kaffee.org")
					item := o.Items[0]
					issueAll(t, db, anna) // the invoice
					for i, step := range steps {
						o = getOrder(t, db, o.ID)
						switch step {
						case "complete":
							completeItem(t, db, item, charge)
						case "refund":
							refundAtProvider(t, db, o, item.ID)
						case "refund unassigned":
							refundAtProvider(t, db, o, "")
						case "assign":
							mustUpdateOrder(t, db, o, assign(item.ID))
						case "issue":
							issueAll(t, db, anna)
						}
						if sum := marginOf(t, db); i < len(steps)-1 && sum.Revenue != 0 && sum.Revenue != 1200 {
							t.Errorf("after %s: %+v", step, sum)
						}
					}
					want := cost.Margin{Items: 1, Revenue: 700, Cost: 800}
					if cause == "unknown" {
						want = cost.Margin{Items: 1, Revenue: 700, UnknownItems: 1, UnknownRevenue: 700}
					}
					if sum := marginOf(t, db); sum != want {
						t.Errorf("sums %+v, want %+v", sum, want)
					}
					wantCleanBooks(t, db)
					execute(t, db, "DELETE FROM margin_credits")
					if report, err := reconcile.RunBooks(t.Context(), db, nil); err != nil || len(report.Findings) != 1 || report.Findings[0].Rule != "margin" {
						t.Errorf("without the credit: %v, %v", report.Findings, err)
					}
				})
			})
		}
	}
}

func wantCleanBooks(t *testing.T, db *DB) {
	t.Helper()
	if report, err := reconcile.RunBooks(t.Context(), db, nil); err != nil || len(report.Findings) > 0 {
		t.Errorf("books: %v, %v", report.Findings, err)
	}
}

func TestCreditNote_FailedItemReducesNoRevenue(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		refundFirstItem(t, db, addPaidOrder(t, db, anna, "kaffee.org"), "ref_1")
		issueAll(t, db, anna)
		if sum := marginOf(t, db); sum != (cost.Margin{}) {
			t.Errorf("sums %+v", sum)
		}
		wantCleanBooks(t, db)
	})
}

// A deletion whose response was lost may be settled twice: as deleted, and as gone.
func TestUpdateTerm_StoresReturnedFeeOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		o := addPaidOrder(t, db, anna, "kaffee.org")
		completeItem(t, db, o.Items[0], eightEuros)
		o = mustUpdateOrder(t, db, getOrder(t, db, o.ID), func(o *order.Order, _ *order.Transition) {
			o.Refunds = append(o.Refunds, order.Refund{
				ID: "ref_1", Payment: o.Payments[0].ID, Amount: 1428, Source: order.ByOperator, Provider: "re_1", Reason: "goodwill",
				Parts: []order.RefundPart{{Item: o.Items[0].ID, Gross: 1428, VAT: 228, Domain: "dom_kaffee.org"}}, CreatedAt: testTime, MadeAt: testTime,
			})
		})
		issueAll(t, db, anna)
		term, found, err := db.GetOpenTerm(t.Context(), "dom_kaffee.org")
		if err != nil || !found || term.State != lifecycle.Deleting {
			t.Fatalf("term %+v, %t, %v", term, found, err)
		}
		registration, found, err := db.GetRegistrationCharge(t.Context(), term.Domain)
		if err != nil || !found || registration.ID != o.Items[0].ProvisionItem || registration.Amount != eightEuros.Amount {
			t.Errorf("registration %+v, %t, %v", registration, found, err)
		}
		returned := cost.Charge{
			ID: "dom_kaffee.org-x", Domain: term.Domain, Account: "sandbox", TLD: ".org", Operation: cost.Delete, Source: cost.FromRegistry,
			Amount: registrar.Money{Amount: -80_000, Currency: cost.Euro}, Euros: -800, EurosKnown: true, At: testTime,
		}
		for _, state := range []lifecycle.State{lifecycle.Redemption, lifecycle.Closed} {
			next := term
			next.State, next.UpdatedAt = state, testTime
			if updated, err := db.UpdateTerm(t.Context(), lifecycle.TermTransition{
				From: term, To: next, ReturnedFee: &returned, Close: state == lifecycle.Closed, Now: testTime, At: testTime,
			}); err != nil || !updated {
				t.Fatalf("%s: updated %t, %v", state, updated, err)
			}
			term = next
		}
		if sum := marginOf(t, db); sum != (cost.Margin{Items: 1}) {
			t.Errorf("sums %+v", sum)
		}
		wantCleanBooks(t, db)
		execute(t, db, "UPDATE registry_charges SET amount = -90000 WHERE operation = 'delete'")
		if report, err := reconcile.RunBooks(t.Context(), db, nil); err != nil || len(report.Findings) != 1 || report.Findings[0].Rule != "charge" {
			t.Errorf("more was returned than charged: %v, %v", report.Findings, err)
		}
		// What was returned does not begin the books: the item may be from before.
		execute(t, db, "DELETE FROM registry_charges WHERE operation = 'register'")
		if report, err := reconcile.RunBooks(t.Context(), db, nil); err != nil || report.Before != 1 || len(report.Findings) != 2 || report.Findings[0].Rule != "charge" || report.Findings[1].Rule != "margin" {
			t.Errorf("without the registration: %+v, %v", report, err)
		}
	})
}
