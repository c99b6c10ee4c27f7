package store

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

func TestUpdateOrder_RefundsOfEverySourceRoundTrip(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		o := mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, "kaffee.org", "tee.org")), toPaying("pay_1")), toPaid)
		item := o.Items[0].ID
		refunds := []order.Refund{
			{
				ID: "ref_1", Payment: "pay_1", Amount: 500, Source: order.ByOperator, Reason: "goodwill", Note: "x", By: "root",
				Parts: []order.RefundPart{{Item: item, Gross: 500, VAT: 80}}, CreatedAt: testTime,
			},
			{
				ID: "ref_2", Payment: "pay_1", Amount: 100, Source: order.ByProvider, Provider: "re_2", Task: order.TaskAssign,
				Parts: []order.RefundPart{{Gross: 100, VAT: 16}}, CreatedAt: testTime, MadeAt: testTime,
			},
			{
				ID: "ref_3", Payment: "pay_1", Amount: 7, Source: order.ByOperator, Reason: "other", Failure: order.ChargeDisputed, Task: order.TaskRefused,
				Parts: []order.RefundPart{{Item: item, Gross: 7, VAT: 1}}, CreatedAt: testTime, FailedAt: testTime,
			},
		}
		o = mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) { o.Refunds = refunds })
		for i, want := range refunds {
			if len(o.Refunds) != 3 || !o.Refunds[i].Equal(want) {
				t.Fatalf("got %+v, want %+v", o.Refunds, want)
			}
		}
		if left := o.Remaining(); left != o.Totals.Gross-600 {
			t.Errorf("%s left", left)
		}
		for filter, want := range map[admin.RefundFilter]int{admin.AllRefunds: 3, admin.PendingRefunds: 1, admin.UndecidedRefunds: 2} {
			if list, err := db.ListAllRefunds(ctx, filter, "", 10); err != nil || len(list) != want || list[0].Customer != anna {
				t.Errorf("%q: %+v, %v", filter, list, err)
			}
		}
		if pending, err := db.ListPendingRefunds(ctx, 10); err != nil || len(pending) != 1 {
			t.Errorf("pending: %+v, %v", pending, err)
		}
	})
}

func TestUpdateOrder_RefundOfHandledNoticeIsRefused(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		o := mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, "kaffee.org")), toPaying("pay_1")), toPaid)
		_, err := updateOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
			o.Refunds = []order.Refund{{ID: "ref_1", Payment: "pay_1", Amount: 1, Source: order.ByOperator, Notice: "dcl_none", CreatedAt: time.Time{}}}
		})
		if registrar.CodeOf(err) != withdrawal.AlreadyHandled || len(getOrder(t, db, o.ID).Refunds) != 0 {
			t.Errorf("got %v", err)
		}
	})
}
