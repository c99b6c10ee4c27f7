package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func putTestRegistrant(t *testing.T, db *DB, customer, street string) {
	t.Helper()
	if _, err := db.sql.Writer().ExecContext(t.Context(), `INSERT INTO registrants (customer_id, kind, name, organisation, street, postal_code, city, state, country, phone, vat_id, updated_at)
		VALUES ($1, 'company', 'Anna Ahrens', 'Ahrens GmbH', $2, '10115', 'Berlin', '', 'DE', '+49.30', 'DE1', 1)
		ON CONFLICT (customer_id) DO UPDATE SET street = excluded.street`, customer, street); err != nil {
		t.Fatal(err)
	}
}

// addPaidOrder adds an order that was just paid.
func addPaidOrder(t *testing.T, db *DB, customer, name string) order.Order {
	t.Helper()
	o := addOrder(t, db, testOrder(customer, name))
	return mustUpdateOrder(t, db, mustUpdateOrder(t, db, o, toPaying("pay_"+name)), toPaid)
}

// refundFirstItem refunds the order's first item.
func refundFirstItem(t *testing.T, db *DB, o order.Order, id string) order.Order {
	t.Helper()
	o = mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
		o.Items[0].State = order.ItemFailed
		o.Refunds = append(o.Refunds, order.Refund{ID: id, Payment: o.Payments[0].ID, Item: o.Items[0].ID, Amount: o.Items[0].Gross, CreatedAt: testTime})
	})
	return mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
		o.Refunds[0].Provider, o.Refunds[0].MadeAt = "re_1", testTime
	})
}

// issueDocument issues one document and reports whether it was pending.
func issueDocument(t *testing.T, db *DB, due invoice.Pending, numbered func(count int64) invoice.Document) (bool, error) {
	t.Helper()
	issued, err := db.IssueDocuments(t.Context(), "RE-2026", invoice.Draft{Pending: due.ID, Numbered: numbered})
	return issued == 1, err
}

// documentFor returns the document for a pending invoice.
func documentFor(due invoice.Pending, customer string, gross registrar.Cents) func(int64) invoice.Document {
	kind := invoice.Invoice
	if due.Refund != "" {
		kind = invoice.Correction
	}
	return func(count int64) invoice.Document {
		return invoice.Document{
			ID: registrar.NewID("inv_", testTime), Kind: kind, Order: due.Order, Refund: due.Refund, Customer: customer,
			Series: "RE-2026", Count: count, Number: fmt.Sprintf("RE-2026-%06d", count), IssuedAt: testTime, Gross: gross,
			Notes: []string{"Größe & <b>"}, Buyer: invoice.Buyer{Name: "Ада"},
		}
	}
}

func listPendingDocuments(t *testing.T, db *DB) []invoice.Pending {
	t.Helper()
	due, err := db.ListPendingDocuments(t.Context(), "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	return due
}

func TestPendingInvoice_KeepsBuyerAtPaymentTime(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		putTestRegistrant(t, db, anna, "Weg 1")
		if due := listPendingDocuments(t, db); len(due) != 0 {
			t.Fatalf("pending before payment: %+v", due)
		}
		o := addPaidOrder(t, db, anna, "a.org")
		putTestRegistrant(t, db, anna, "Neue Allee 7")
		due := listPendingDocuments(t, db)
		if len(due) != 1 || due[0].Order != o.ID || due[0].Refund != "" || due[0].Buyer == nil || due[0].Buyer.Street != "Weg 1" || due[0].Buyer.Organisation != "Ahrens GmbH" {
			t.Fatalf("pending: %+v", due)
		}
		if now, err := db.GetCurrentBuyer(t.Context(), anna); err != nil || now.Street != "Neue Allee 7" {
			t.Errorf("got %+v, %v", now, err)
		}
		o = refundFirstItem(t, db, o, "ref_1")
		due = listPendingDocuments(t, db)
		if len(due) != 2 || !slices.ContainsFunc(due, func(d invoice.Pending) bool { return d.Refund == "ref_1" }) {
			t.Errorf("pending: %+v", due)
		}
		// Later changes of the order require no further document.
		mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) { o.State = order.Failed })
		if due := listPendingDocuments(t, db); len(due) != 2 {
			t.Errorf("pending: %+v", due)
		}
	})
}

func TestPendingInvoice_NoneForFreeOrUnmatchedPayments(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		free := testOrder(newCustomer(t, db, "anna"), "free.org")
		free.Totals = order.Totals{Rule: "domestic"}
		free.Items[0].Net, free.Items[0].VAT, free.Items[0].Gross = 0, 0, 0
		mustUpdateOrder(t, db, addOrder(t, db, free), toPaid)
		late := mustUpdateOrder(t, db, addOrder(t, db, testOrder(newCustomer(t, db, "berta"), "late.org")), toPaying("pay_late"))
		late = mustUpdateOrder(t, db, late, func(o *order.Order, _ *order.Transition) {
			o.State, o.Payments[0].State = order.Expired, order.PaymentUnmatched
			o.Refunds = []order.Refund{{ID: "ref_late", Payment: "pay_late", Amount: 5, CreatedAt: testTime}}
		})
		mustUpdateOrder(t, db, late, func(o *order.Order, _ *order.Transition) {
			o.Refunds[0].Provider, o.Payments[0].State = "re_1", order.PaymentRefunded
		})
		if due := listPendingDocuments(t, db); len(due) != 0 {
			t.Errorf("pending: %+v", due)
		}
	})
}

func TestIssue_RacingCallersGetGaplessNumbers(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		const orders, racers = 12, 4
		anna := newCustomer(t, db, "anna")
		for i := range orders {
			addPaidOrder(t, db, anna, fmt.Sprintf("n%d.org", i))
		}
		due := listPendingDocuments(t, db)
		if len(due) != orders {
			t.Fatalf("%d are pending", len(due))
		}
		var issued, failed atomic.Int64
		var all sync.WaitGroup
		for i, one := range due {
			for racer := range racers {
				all.Go(func() {
					if racer == 0 && i%2 == 0 {
						// The transaction fails after a number was assigned.
						_, err := issueDocument(t, db, one, func(count int64) invoice.Document {
							broken := documentFor(one, anna, 1)(count)
							broken.Order = "ord_none"
							return broken
						})
						if err != nil {
							failed.Add(1)
						}
						return
					}
					mine, err := issueDocument(t, db, one, documentFor(one, anna, 1))
					if err != nil {
						t.Error(err)
					}
					if mine {
						issued.Add(1)
					}
				})
			}
		}
		all.Wait()
		var counts []int64
		for booked, err := range db.ReconciliationDocuments(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if booked.Owed {
				t.Errorf("%+v is still pending", booked)
			}
			counts = append(counts, booked.Count)
		}
		slices.Sort(counts)
		if issued.Load() != orders || len(counts) != orders || counts[0] != 1 || counts[orders-1] != orders || len(slices.Compact(counts)) != orders {
			t.Errorf("%d issued, %d failed, numbers: %v", issued.Load(), failed.Load(), counts)
		}
	})
}

func TestInvoiceNumbers_BatchIsAllOrNothingAndSkipsIssued(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		for _, name := range []string{"a.org", "b.org", "c.org"} {
			addPaidOrder(t, db, anna, name)
		}
		due := listPendingDocuments(t, db)
		if mine, err := issueDocument(t, db, due[1], documentFor(due[1], anna, 1)); err != nil || !mine {
			t.Fatalf("%t, %v", mine, err)
		}
		drafts := make([]invoice.Draft, len(due))
		for i, one := range due {
			drafts[i] = invoice.Draft{Pending: one.ID, Numbered: documentFor(one, anna, 1)}
		}
		broken := slices.Clone(drafts)
		broken[2].Numbered = func(count int64) invoice.Document {
			d := documentFor(due[2], anna, 1)(count)
			d.Order = "ord_none"
			return d
		}
		if _, err := db.IssueDocuments(t.Context(), "RE-2026", broken...); err == nil {
			t.Error("a batch with a document of no order was issued")
		}
		if left := listPendingDocuments(t, db); len(left) != 2 {
			t.Errorf("pending after a failed batch: %+v", left)
		}
		if issued, err := db.IssueDocuments(t.Context(), "RE-2026", drafts...); err != nil || issued != 2 {
			t.Errorf("%d issued, %v", issued, err)
		}
		var counts []int64
		for _, one := range due {
			d, _, err := db.GetInvoice(t.Context(), one.Order)
			if err != nil {
				t.Fatal(err)
			}
			counts = append(counts, d.Count)
		}
		if !slices.Equal(counts, []int64{2, 1, 3}) {
			t.Errorf("numbers: %v", counts)
		}
	})
}

func TestDocument_UnchangedAndVisibleToOwnerOnly(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		o := refundFirstItem(t, db, addPaidOrder(t, db, anna, "a.org"), "ref_1")
		var want []invoice.Document
		for _, due := range listPendingDocuments(t, db) {
			mine, err := issueDocument(t, db, due, func(count int64) invoice.Document {
				document := documentFor(due, anna, o.Totals.Gross)(count)
				if count > 0 {
					want = append(want, document)
				}
				return document
			})
			if err != nil || !mine {
				t.Fatalf("%t, %v", mine, err)
			}
			if again, err := issueDocument(t, db, due, documentFor(due, anna, 1)); err != nil || again {
				t.Errorf("issued twice: %v", err)
			}
		}
		slices.SortFunc(want, func(a, b invoice.Document) int { return strings.Compare(a.Refund, b.Refund) })
		got, err := db.ListOrderDocuments(ctx, anna, o.ID)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
		}
		if of, found, err := db.GetInvoice(ctx, o.ID); err != nil || !found || of.ID != want[0].ID {
			t.Errorf("%+v, %t, %v", of, found, err)
		}
		one, found, err := db.GetDocument(ctx, anna, want[1].ID)
		if err != nil || !found || !reflect.DeepEqual(one, want[1]) {
			t.Errorf("%+v, %t, %v", one, found, err)
		}
		if one, found, err := db.GetDocumentByNumber(ctx, "RE-2026-000001"); err != nil || !found || one.Count != 1 {
			t.Errorf("%+v, %t, %v", one, found, err)
		}
		for _, id := range []string{"inv_none", "\x00", "\xff"} {
			if _, found, err := db.GetDocument(ctx, anna, id); found || err != nil {
				t.Errorf("%q: %t, %v", id, found, err)
			}
		}
		berta := newCustomer(t, db, "berta")
		_, found, err = db.GetDocument(ctx, berta, want[0].ID)
		list, listErr := db.ListDocuments(ctx, berta, "", 10)
		of, ofErr := db.ListOrderDocuments(ctx, berta, o.ID)
		if found || err != nil || len(list) != 0 || listErr != nil || len(of) != 0 || ofErr != nil {
			t.Errorf("another customer sees %t, %d, %d: %v %v %v", found, len(list), len(of), err, listErr, ofErr)
		}
		first, err := db.ListDocuments(ctx, anna, "", 1)
		if err != nil || len(first) != 1 {
			t.Fatalf("%d, %v", len(first), err)
		}
		second, err := db.ListDocuments(ctx, anna, first[0].ID, 1)
		if err != nil || len(second) != 1 || second[0].ID >= first[0].ID {
			t.Errorf("%+v, %v", second, err)
		}
		if all, err := db.ListDocumentsAfter(ctx, "", 10); err != nil || len(all) != 2 {
			t.Errorf("%d, %v", len(all), err)
		}
	})
}

func TestReconcile_CoversEveryDocument(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		addPaidOrder(t, db, anna, "a.org")
		refundFirstItem(t, db, addPaidOrder(t, db, anna, "b.org"), "ref_1")
		ofInvoices := func() []string {
			report, err := reconcile.Run(t.Context(), db, nil, reconcile.Options{Now: testTime.Add(time.Hour)})
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, finding := range report.Findings {
				if finding.Rule == "invoice" {
					found = append(found, finding.String())
				}
			}
			return found
		}
		if found := ofInvoices(); len(found) != 0 {
			t.Errorf("pending, but found %v", found)
		}
		for _, due := range listPendingDocuments(t, db) {
			if _, err := issueDocument(t, db, due, func(count int64) invoice.Document {
				d := documentFor(due, anna, 1428)(count)
				d.Net, d.VAT = 1200, 228
				return d
			}); err != nil {
				t.Fatal(err)
			}
		}
		if found := ofInvoices(); len(found) != 0 {
			t.Errorf("issued, but found %v", found)
		}
	})
}

func TestRestore_ContinuesInvoiceNumbers(t *testing.T) {
	t.Parallel()
	eachMigrated(t, func(t *testing.T, place Options) {
		db := openAt(t, place)
		anna := newCustomer(t, db, "anna")
		addPaidOrder(t, db, anna, "a.org")
		addPaidOrder(t, db, anna, "b.org")
		due := listPendingDocuments(t, db)
		if _, err := issueDocument(t, db, due[0], documentFor(due[0], anna, 1)); err != nil {
			t.Fatal(err)
		}
		elsewhere := Options{Data: t.TempDir()}
		if _, err := Restore(t.Context(), elsewhere, bytes.NewReader(backupOf(t, place))); err != nil {
			t.Fatal(err)
		}
		restored := openAt(t, elsewhere)
		left := listPendingDocuments(t, restored)
		if len(left) != 1 || left[0].ID != due[1].ID {
			t.Fatalf("pending: %+v", left)
		}
		if _, err := issueDocument(t, restored, left[0], documentFor(left[0], anna, 1)); err != nil {
			t.Fatal(err)
		}
		if all, err := restored.ListDocumentsAfter(t.Context(), "", 10); err != nil || len(all) != 2 || all[0].Count+all[1].Count != 3 {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// Documents are immutable: no query changes or deletes one, or resets a series.
func TestQueries_NeverModifyIssuedDocuments(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("queries/*.sql")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	changes := regexp.MustCompile(`(?i)(UPDATE|DELETE\s+FROM)\s+(invoices|invoice_series)\b`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := changes.FindString(string(text)); found != "" {
			t.Errorf("%s: %s", file, found)
		}
	}
	if !changes.MatchString("UPDATE invoices SET gross = 1") || changes.MatchString("DELETE FROM pending_invoices WHERE id = $1") {
		t.Error("the pattern matches nothing")
	}
}
