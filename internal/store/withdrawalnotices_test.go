package store

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

func TestWithdrawalNotice_StoredWithMailsAndMarkedDoneOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		service, err := withdrawal.New(withdrawal.Config{Store: db, OperatorEmail: "post@kontor.example", Now: func() time.Time { return testTime }})
		if err != nil {
			t.Fatal(err)
		}
		made, err := service.Submit(ctx, registrar.Actor{Kind: registrar.ActorPerson}, withdrawal.Notice{
			Kind: withdrawal.Termination, Name: "Erika", Email: "erika@example.de", Contract: "kaffee.de", Ground: withdrawal.Ordinary, End: "2099-12-31",
		})
		if err != nil {
			t.Fatal(err)
		}
		list, err := db.ListWithdrawalNotices(ctx, "", 10)
		if err != nil || len(list) != 1 || list[0] != made || !list[0].DoneAt.IsZero() {
			t.Fatalf("%+v, %v, want %+v", list, err, made)
		}
		if after, err := db.ListWithdrawalNotices(ctx, made.ID, 10); err != nil || len(after) != 0 {
			t.Errorf("after the last: %v, %v", after, err)
		}
		due := listDueMails(t, db, testTime.Add(time.Hour))
		if len(due) != 2 || due[0].Data["number"] != made.ID || !strings.Contains(due[0].To+due[1].To, "erika@example.de") {
			t.Errorf("%+v", due)
		}
		for i, want := range []bool{true, false} {
			if done, err := db.MarkWithdrawalNoticeDone(ctx, made.ID, testTime); err != nil || done != want {
				t.Errorf("%d: %t, %v", i, done, err)
			}
		}
		if done, err := db.MarkWithdrawalNoticeDone(ctx, "dcl_none", testTime); err != nil || done {
			t.Errorf("an unknown notice: %t, %v", done, err)
		}
	})
}

func TestListRelatedOrders_ByNumberOrPaidDomain(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		given := order.Consent{At: testTime, Wording: "2026-11-de"}
		o := mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, "kaffee.org", "tee.org")), toPaying("pay_1"))
		o = mustUpdateOrder(t, db, o, func(o *order.Order, m *order.Transition) {
			toPaid(o, m)
			o.Consent = given
		})
		waiting := addOrder(t, db, testOrder(anna, "kaffee.org"))
		want := withdrawal.RelatedOrder{ID: o.ID, PaidAt: o.PaidAt, ConsentAt: given.At, ConsentVersion: given.Wording}
		for mention, want := range map[string][]withdrawal.RelatedOrder{
			"tee.org": {want}, "kaffee.org": {want}, o.ID: {want}, waiting.ID: {{ID: waiting.ID}}, "milch.org": nil, "ord_none": nil, "\xff": nil,
		} {
			if got, err := db.ListRelatedOrders(ctx, mention, 3); err != nil || !slices.Equal(got, want) {
				t.Errorf("%q: %+v, %v, want %+v", mention, got, err, want)
			}
		}
		if got, err := db.ListRelatedOrders(ctx, "tee.org", 0); err != nil || len(got) != 0 {
			t.Errorf("with limit zero: %v, %v", got, err)
		}
	})
}
