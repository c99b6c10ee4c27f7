package store

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestAnOrderWhosePaymentPageIsOpenKeepsTheAccountOpen(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		o := moved(t, db, addOrder(t, db, orderFor(anna, "eins.org")), paying("pay_1"))
		o = moved(t, db, o, func(o *order.Order, _ *order.Move) {
			o.State, o.DueAt = order.Canceled, testTime.Add(time.Minute)
			o.Payments[0].State = order.PaymentClosing
		})
		ties := func() customer.Ties {
			ties, err := db.ReadCustomers().TiesOf(t.Context(), anna)
			if err != nil {
				t.Fatal(err)
			}
			return ties
		}
		if got := ties(); got != (customer.Ties{Orders: 1}) {
			t.Errorf("while it is closed: %+v", got)
		}
		moved(t, db, o, func(o *order.Order, _ *order.Move) {
			o.DueAt, o.Payments[0].State = time.Time{}, order.PaymentClosed
		})
		if got := ties(); got != (customer.Ties{}) {
			t.Errorf("afterwards: %+v", got)
		}
	})
}

func TestAClosedAccountHasNoRoleAndItsOldOrdersKeepTheirBuyer(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		tellRegistrant(t, db, anna, "Hauptstr. 1")
		paidOrder(t, db, anna, "eins.org")
		// As the migration writes what was paid before there were invoices.
		if _, err := db.writer.ExecContext(t.Context(), "UPDATE invoices_due SET buyer = ''"); err != nil {
			t.Fatal(err)
		}
		err := db.ChangeCustomers(t.Context(), func(tx customer.Tx) error {
			if _, err := tx.SetOperator(t.Context(), anna, true); err != nil {
				return err
			}
			_, err := tx.Close(t.Context(), anna, "nobody@closed.invalid", testTime)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if operators, err := db.ReadCustomers().Operators(t.Context()); err != nil || len(operators) != 0 {
			t.Errorf("operators are %+v, %v", operators, err)
		}
		due := owedDocuments(t, db)
		if len(due) != 1 || due[0].Buyer == nil || due[0].Buyer.Street != "Hauptstr. 1" || due[0].Buyer.Email == "nobody@closed.invalid" {
			t.Errorf("owed is %+v", due)
		}
	})
}
