package store

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestListAllPayments_RefundedInFullOrInPartOnceEach(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		addPaidOrder(t, db, anna, "behalten.org")
		one := refundFirstItem(t, db, addPaidOrder(t, db, anna, "weg.org"), "ref_1")
		two := refundFirstItem(t, db, addPaidOrder(t, db, anna, "teil.org"), "ref_2")
		mustUpdateOrder(t, db, two, func(o *order.Order, _ *order.Transition) { // a second refund of the same payment, and one that is not made yet
			o.Refunds = append(o.Refunds,
				order.Refund{ID: "ref_3", Payment: o.Refunds[0].Payment, Source: order.ByOperator, Amount: 100, Provider: "re_3", CreatedAt: testTime, MadeAt: testTime},
				order.Refund{ID: "ref_4", Payment: o.Refunds[0].Payment, Source: order.ByOperator, Amount: 100, CreatedAt: testTime})
		})
		var got []admin.PaymentEntry
		for before := ""; ; {
			page, err := db.ListAllPayments(ctx, string(order.PaymentRefunded), before, 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			got, before = append(got, page[0]), page[0].ID
		}
		if len(got) != 2 || got[0].ID <= got[1].ID {
			t.Fatalf("%+v", got)
		}
		for _, payment := range got {
			if payment.State != string(order.PaymentCaptured) || payment.Refunded == 0 || payment.Order != one.ID && payment.Order != two.ID {
				t.Errorf("%+v", payment)
			}
		}
	})
}

func TestListAllOrders_ByAddressOfAccountOrOrder(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		open := addOrder(t, db, testOrder(anna, "offen.org"))
		paid := addPaidOrder(t, db, anna, "bezahlt.org")
		other := addPaidOrder(t, db, bert, "fremd.org")
		if _, err := db.sql.Writer().ExecContext(ctx, `UPDATE orders SET email_key = 'gast@example.com' WHERE id = $1`, other.ID); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string][]string{
			"anna@example.com": {open.ID, paid.ID}, "gast@example.com": {other.ID}, "bert@example.com": {other.ID}, "nobody@example.com": nil, "anna@example.co": nil, "\xff": nil,
		} {
			got, err := db.ListAllOrders(ctx, admin.OrderFilter{EmailKey: key}, "", 10)
			if err != nil || len(got) != len(want) {
				t.Errorf("%q: %+v, %v", key, got, err)
				continue
			}
			for i, entry := range got {
				if i > 0 && got[i-1].ID <= entry.ID || entry.ID != want[0] && entry.ID != want[len(want)-1] {
					t.Errorf("%q: %+v", key, got)
				}
			}
		}
		if got, err := db.ListAllOrders(ctx, admin.OrderFilter{EmailKey: "anna@example.com"}, "", 1); err != nil || len(got) != 1 || got[0].ID != max(open.ID, paid.ID) {
			t.Errorf("with limit one: %+v, %v", got, err)
		}
	})
}
