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
	"github.com/dotkontor/dotkontor/internal/registrar/billing/books"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func tellRegistrant(t *testing.T, db *DB, customer, street string) {
	t.Helper()
	if _, err := db.writer.ExecContext(t.Context(), `INSERT INTO registrants (customer_id, kind, name, organisation, street, postal_code, city, state, country, phone, vat_id, updated_at)
		VALUES ($1, 'company', 'Anna Ahrens', 'Ahrens GmbH', $2, '10115', 'Berlin', '', 'DE', '+49.30', 'DE1', 1)
		ON CONFLICT (customer_id) DO UPDATE SET street = excluded.street`, customer, street); err != nil {
		t.Fatal(err)
	}
}

// paidOrder is one that was just paid.
func paidOrder(t *testing.T, db *DB, customer, name string) order.Order {
	t.Helper()
	o := addOrder(t, db, orderFor(customer, name))
	return moved(t, db, moved(t, db, o, paying("pay_"+name)), paid)
}

// refunded gives the order's first item back.
func refunded(t *testing.T, db *DB, o order.Order, id string) order.Order {
	t.Helper()
	o = moved(t, db, o, func(o *order.Order, _ *order.Move) {
		o.Refunds = append(o.Refunds, order.Refund{ID: id, Payment: o.Payments[0].ID, Item: o.Items[0].ID, Amount: o.Items[0].Gross, CreatedAt: testTime})
	})
	return moved(t, db, o, func(o *order.Order, _ *order.Move) { o.Refunds[0].Provider, o.Refunds[0].MadeAt = "re_1", testTime })
}

// bill is a document for what is owed.
func bill(due invoice.Due, customer string, gross registrar.Cents) func(int64) invoice.Document {
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

func owedDocuments(t *testing.T, db *DB) []invoice.Due {
	t.Helper()
	due, err := db.DueDocuments(t.Context(), "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	return due
}

func TestAPaymentOwesAnInvoiceToTheCustomerOfThatMoment(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		tellRegistrant(t, db, anna, "Weg 1")
		if due := owedDocuments(t, db); len(due) != 0 {
			t.Fatalf("owed before anything was paid: %+v", due)
		}
		o := paidOrder(t, db, anna, "a.org")
		tellRegistrant(t, db, anna, "Neue Allee 7")
		due := owedDocuments(t, db)
		if len(due) != 1 || due[0].Order != o.ID || due[0].Refund != "" || due[0].Buyer == nil || due[0].Buyer.Street != "Weg 1" || due[0].Buyer.Organisation != "Ahrens GmbH" {
			t.Fatalf("owed %+v", due)
		}
		if now, err := db.BuyerNow(t.Context(), anna); err != nil || now.Street != "Neue Allee 7" {
			t.Errorf("got %+v, %v", now, err)
		}
		o = refunded(t, db, o, "ref_1")
		due = owedDocuments(t, db)
		if len(due) != 2 || !slices.ContainsFunc(due, func(d invoice.Due) bool { return d.Refund == "ref_1" }) {
			t.Errorf("owed %+v", due)
		}
		// What happens afterwards owes nothing more.
		moved(t, db, o, func(o *order.Order, _ *order.Move) { o.State = order.Failed })
		if due := owedDocuments(t, db); len(due) != 2 {
			t.Errorf("owed %+v", due)
		}
		sale, err := db.SaleOf(t.Context(), o.ID)
		if err != nil || sale.Gross != o.Totals.Gross || sale.Payment != "pay_a.org" || len(sale.Items) != 1 || len(sale.Refunds) != 1 || sale.Rule != o.Totals.Rule {
			t.Errorf("got %+v, %v", sale, err)
		}
	})
}

func TestWhatCostsNothingAndWhatCameTooLateOweNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		free := orderFor(newCustomer(t, db, "anna"), "free.org")
		free.Totals = order.Totals{Rule: "domestic"}
		free.Items[0].Net, free.Items[0].VAT, free.Items[0].Gross = 0, 0, 0
		moved(t, db, addOrder(t, db, free), paid)
		late := moved(t, db, addOrder(t, db, orderFor(newCustomer(t, db, "berta"), "late.org")), paying("pay_late"))
		late = moved(t, db, late, func(o *order.Order, _ *order.Move) {
			o.State, o.Payments[0].State = order.Expired, order.PaymentSurplus
			o.Refunds = []order.Refund{{ID: "ref_late", Payment: "pay_late", Amount: 5, CreatedAt: testTime}}
		})
		moved(t, db, late, func(o *order.Order, _ *order.Move) {
			o.Refunds[0].Provider, o.Payments[0].State = "re_1", order.PaymentReturned
		})
		if due := owedDocuments(t, db); len(due) != 0 {
			t.Errorf("owed %+v", due)
		}
	})
}

func TestNumbersAreUniqueAndWithoutAGapHoweverManyRace(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		const orders, racers = 12, 4
		anna := newCustomer(t, db, "anna")
		for i := range orders {
			paidOrder(t, db, anna, fmt.Sprintf("n%d.org", i))
		}
		due := owedDocuments(t, db)
		if len(due) != orders {
			t.Fatalf("%d are owed", len(due))
		}
		var issued, failed atomic.Int64
		var all sync.WaitGroup
		for i, one := range due {
			for racer := range racers {
				all.Go(func() {
					const series = "RE-2026"
					if racer == 0 && i%2 == 0 {
						// Something goes wrong after the number was taken.
						_, err := db.Issue(t.Context(), one, series, func(count int64) invoice.Document {
							broken := bill(one, anna, 1)(count)
							broken.Order = "ord_none"
							return broken
						})
						if err != nil {
							failed.Add(1)
						}
						return
					}
					mine, err := db.Issue(t.Context(), one, series, bill(one, anna, 1))
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
		for booked, err := range db.BookedDocuments(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if booked.Owed {
				t.Errorf("%+v is still owed", booked)
			}
			counts = append(counts, booked.Count)
		}
		slices.Sort(counts)
		if issued.Load() != orders || len(counts) != orders || counts[0] != 1 || counts[orders-1] != orders || len(slices.Compact(counts)) != orders {
			t.Errorf("%d issued, %d failed, the numbers are %v", issued.Load(), failed.Load(), counts)
		}
	})
}

func TestADocumentComesBackAsItWasIssuedAndToItsOwnerOnly(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		o := refunded(t, db, paidOrder(t, db, anna, "a.org"), "ref_1")
		var want []invoice.Document
		for _, due := range owedDocuments(t, db) {
			mine, err := db.Issue(ctx, due, "RE-2026", func(count int64) invoice.Document {
				want = append(want, bill(due, anna, o.Totals.Gross)(count))
				return want[len(want)-1]
			})
			if err != nil || !mine {
				t.Fatalf("%t, %v", mine, err)
			}
			if again, err := db.Issue(ctx, due, "RE-2026", bill(due, anna, 1)); err != nil || again {
				t.Errorf("issued twice: %v", err)
			}
		}
		slices.SortFunc(want, func(a, b invoice.Document) int { return strings.Compare(a.Refund, b.Refund) })
		got, err := db.DocumentsOfOrder(ctx, anna, o.ID)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
		}
		if of, found, err := db.InvoiceOf(ctx, o.ID); err != nil || !found || of.ID != want[0].ID {
			t.Errorf("%+v, %t, %v", of, found, err)
		}
		one, found, err := db.DocumentOf(ctx, anna, want[1].ID)
		if err != nil || !found || !reflect.DeepEqual(one, want[1]) {
			t.Errorf("%+v, %t, %v", one, found, err)
		}
		if one, found, err := db.DocumentByNumber(ctx, "RE-2026-000001"); err != nil || !found || one.Count != 1 {
			t.Errorf("%+v, %t, %v", one, found, err)
		}
		for _, id := range []string{"inv_none", "\x00", "\xff"} {
			if _, found, err := db.DocumentOf(ctx, anna, id); found || err != nil {
				t.Errorf("%q: %t, %v", id, found, err)
			}
		}
		berta := newCustomer(t, db, "berta")
		_, found, err = db.DocumentOf(ctx, berta, want[0].ID)
		list, listErr := db.DocumentsOf(ctx, berta, "", 10)
		of, ofErr := db.DocumentsOfOrder(ctx, berta, o.ID)
		if found || err != nil || len(list) != 0 || listErr != nil || len(of) != 0 || ofErr != nil {
			t.Errorf("somebody else sees %t, %d, %d: %v %v %v", found, len(list), len(of), err, listErr, ofErr)
		}
		first, err := db.DocumentsOf(ctx, anna, "", 1)
		if err != nil || len(first) != 1 {
			t.Fatalf("%d, %v", len(first), err)
		}
		second, err := db.DocumentsOf(ctx, anna, first[0].ID, 1)
		if err != nil || len(second) != 1 || second[0].ID >= first[0].ID {
			t.Errorf("%+v, %v", second, err)
		}
		if all, err := db.DocumentsAfter(ctx, "", 10); err != nil || len(all) != 2 {
			t.Errorf("%d, %v", len(all), err)
		}
	})
}

func TestTheBooksAgreeOnEveryDocument(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		paidOrder(t, db, anna, "a.org")
		refunded(t, db, paidOrder(t, db, anna, "b.org"), "ref_1")
		ofInvoices := func() []string {
			report, err := books.Audit(t.Context(), db, nil, books.Options{Now: testTime.Add(time.Hour)})
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
			t.Errorf("owed, and found %v", found)
		}
		for _, due := range owedDocuments(t, db) {
			if _, err := db.Issue(t.Context(), due, "RE-2026", func(count int64) invoice.Document {
				d := bill(due, anna, 1428)(count)
				d.Net, d.VAT = 1200, 228
				return d
			}); err != nil {
				t.Fatal(err)
			}
		}
		if found := ofInvoices(); len(found) != 0 {
			t.Errorf("issued, and found %v", found)
		}
	})
}

func TestARestoredDatabaseGoesOnWithTheNextNumber(t *testing.T) {
	t.Parallel()
	eachPlace(t, func(t *testing.T, place Options) {
		db := openAt(t, place)
		anna := newCustomer(t, db, "anna")
		paidOrder(t, db, anna, "a.org")
		paidOrder(t, db, anna, "b.org")
		due := owedDocuments(t, db)
		if _, err := db.Issue(t.Context(), due[0], "RE-2026", bill(due[0], anna, 1)); err != nil {
			t.Fatal(err)
		}
		elsewhere := Options{Data: t.TempDir()}
		if _, err := Restore(t.Context(), elsewhere, bytes.NewReader(backupOf(t, place))); err != nil {
			t.Fatal(err)
		}
		restored := openAt(t, elsewhere)
		left := owedDocuments(t, restored)
		if len(left) != 1 || left[0].ID != due[1].ID {
			t.Fatalf("owed %+v", left)
		}
		if _, err := restored.Issue(t.Context(), left[0], "RE-2026", bill(left[0], anna, 1)); err != nil {
			t.Fatal(err)
		}
		if all, err := restored.DocumentsAfter(t.Context(), "", 10); err != nil || len(all) != 2 || all[0].Count+all[1].Count != 3 {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// A document is for ever: no query changes or deletes one, or winds a series back.
func TestNoQueryChangesAnIssuedDocument(t *testing.T) {
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
	if !changes.MatchString("UPDATE invoices SET gross = 1") || changes.MatchString("DELETE FROM invoices_due WHERE id = $1") {
		t.Error("the pattern finds nothing")
	}
}
