package store

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestCloseAccount_BlockedByOpenPaymentPage(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		o := mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, "eins.org")), toPaying("pay_1"))
		o = mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
			o.State, o.DueAt = order.Canceled, testTime.Add(time.Minute)
			o.Payments[0].State = order.PaymentClosing
		})
		ties := func() account.CloseBlockers {
			ties, err := db.ReadCustomers().CountCloseBlockers(t.Context(), anna)
			if err != nil {
				t.Fatal(err)
			}
			return ties
		}
		if got := ties(); got != (account.CloseBlockers{Orders: 1}) {
			t.Errorf("while closing: %+v", got)
		}
		mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
			o.DueAt, o.Payments[0].State = time.Time{}, order.PaymentClosed
		})
		if got := ties(); got != (account.CloseBlockers{}) {
			t.Errorf("afterwards: %+v", got)
		}
	})
}

func TestCloseAccount_RemovesRoleAndKeepsInvoiceBuyer(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		putTestRegistrant(t, db, anna, "Hauptstr. 1")
		addPaidOrder(t, db, anna, "eins.org")
		// The migration writes such rows for orders paid before invoices existed.
		if _, err := db.sql.Writer().ExecContext(t.Context(), "UPDATE pending_invoices SET buyer = ''"); err != nil {
			t.Fatal(err)
		}
		err := db.UpdateCustomers(t.Context(), func(tx account.Tx) error {
			if _, err := tx.SetOperator(t.Context(), anna, true); err != nil {
				return err
			}
			_, err := tx.CloseAccount(t.Context(), anna, "nobody@closed.invalid", testTime)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if operators, err := db.ReadCustomers().ListOperators(t.Context()); err != nil || len(operators) != 0 {
			t.Errorf("operators are %+v, %v", operators, err)
		}
		due := listPendingDocuments(t, db)
		if len(due) != 1 || due[0].Buyer == nil || due[0].Buyer.Street != "Hauptstr. 1" || due[0].Buyer.Email == "nobody@closed.invalid" {
			t.Errorf("pending invoices: %+v", due)
		}
	})
}
