package store

import (
	"fmt"
	"slices"
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
		item := o.Items[1].ID // not the first, after which orders are named
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
		if pending, err := db.ListPendingRefunds(ctx, 10); err != nil || len(pending) != 1 || pending[0].Subject != (admin.Subject{Name: "tee.org", Items: 1}) {
			t.Errorf("pending: %+v, %v", pending, err)
		}
	})
}

func TestListAllPayments_ReturnedRefundCountsOnlyOnceRepeated(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		o := mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, "eins.org", "zwei.org", "drei.org")), toPaying("pay_1")), toPaid)
		second, third := o.Items[1].ID, o.Items[2].ID
		check := func(want registrar.Cents) {
			t.Helper()
			for _, state := range []string{"", string(order.PaymentCaptured), string(order.PaymentRefunded)} {
				if list, err := db.ListAllPayments(ctx, state, "", 10); err != nil || len(list) != 1 || list[0].Refunded != want {
					t.Errorf("%q: %+v, %v; want %s refunded", state, list, err, want)
				}
			}
		}
		o = mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
			o.Refunds = []order.Refund{
				{ID: "ref_1", Payment: "pay_1", Item: second, Amount: 500, Provider: "re_1", Failure: order.ReturnedByBank, Task: order.TaskReturned, CreatedAt: testTime, MadeAt: testTime, FailedAt: testTime},
				{
					ID: "ref_2", Payment: "pay_1", Amount: 100, Source: order.ByOperator, Reason: "goodwill", Provider: "re_2", CreatedAt: testTime, MadeAt: testTime,
					Parts: []order.RefundPart{{Item: second, Gross: 60}, {Item: third, Gross: 40}},
				},
			}
		})
		check(100)
		mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
			o.Refunds = append(o.Refunds, order.Refund{
				ID: "ref_3", Payment: "pay_1", Amount: 500, Source: order.ByOperator, Reason: "other", Replaces: "ref_1", Provider: "re_3", CreatedAt: testTime, MadeAt: testTime,
				Parts: []order.RefundPart{{Item: second, Gross: 500}},
			})
		})
		check(600)
		refunds, err := db.ListAllRefunds(ctx, admin.AllRefunds, "", 10)
		if err != nil || len(refunds) != 3 {
			t.Fatalf("%+v, %v", refunds, err)
		}
		for i, want := range []struct {
			items int
			made  bool
		}{{1, true}, {2, true}, {1, false}} {
			if got := refunds[i]; got.Name != "zwei.org" || got.Items != want.items || got.MadeAt.IsZero() == want.made {
				t.Errorf("%s: %+v", got.ID, got)
			}
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

func TestUpdateOrder_PartialRefundLeavesNoticeOpen(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		paid := mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, "kaffee.org", "tee.org")), toPaying("pay_1")), toPaid)
		refund := func(o order.Order, notice string, item int, gross registrar.Cents) order.Order {
			t.Helper()
			return mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
				o.Refunds = append(o.Refunds, order.Refund{
					ID: registrar.NewID("ref_", testTime), Payment: "pay_1", Amount: gross, Source: order.ByOperator, Reason: "withdrawal", Note: "x", Notice: notice,
					Provider: registrar.NewID("re_", testTime), CreatedAt: testTime, MadeAt: testTime, Parts: []order.RefundPart{{Item: o.Items[item].ID, Gross: gross}},
				})
			})
		}
		add := func(id, contract string) {
			t.Helper()
			notice := withdrawal.Notice{ID: id, Kind: withdrawal.Withdrawal, Email: "anna@example.com", Contract: contract, At: testTime}
			if err := db.AddWithdrawalNotice(ctx, notice, nil, testTime); err != nil {
				t.Fatal(err)
			}
		}
		wantOpen := func(id string, want bool) {
			t.Helper()
			if notice, _, err := db.GetWithdrawalNotice(ctx, id); err != nil || notice.Open() != want {
				t.Errorf("%s: open %t, want %t, %v", id, notice.Open(), want, err)
			}
		}
		add("dcl_whole", "Bestellung "+paid.ID)
		add("dcl_tea", paid.ID+" (TEE.org)")
		add("dcl_others", "tee.org und anderes.org")
		coffee, tea := paid.Items[0].Gross, paid.Items[1].Gross
		o := refund(paid, "dcl_whole", 0, coffee)
		wantOpen("dcl_whole", true)
		o = refund(o, "dcl_tea", 1, tea-1)
		wantOpen("dcl_tea", true)
		o = refund(o, "dcl_tea", 1, 1)
		wantOpen("dcl_tea", false)
		wantOpen("dcl_others", true)
		if got := getOrder(t, db, o.ID); !got.Completes([]string{o.ID}) || got.Completes([]string{"tee.org", "anderes.org"}) {
			t.Errorf("complete: %+v", got.Refunds)
		}
	})
}

// A refund for a notice that the bank returns leaves it open until the customer has the money.
func TestUpdateOrder_NoticeStaysOpenUntilReturnedRefundIsPaidAgain(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		change := func(o order.Order, change func(o *order.Order)) order.Order {
			t.Helper()
			return mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) { change(o) })
		}
		settle := func(o order.Order) order.Order {
			o = change(o, func(o *order.Order) {
				o.Refunds[0].Task, o.Refunds[0].SettledAt, o.Refunds[0].SettledBy, o.Refunds[0].Settlement = order.TaskNone, testTime, "zweite", "überwiesen"
			})
			if at := o.PaidOtherwiseAt(o.Refunds[0]); !at.Equal(testTime) || o.Refunds[0].SettledBy != "zweite" || o.Refunds[0].Settlement != "überwiesen" || o.Refunds[0].Note != "x" {
				t.Errorf("settled at %s: %+v", at, o.Refunds[0])
			}
			return o
		}
		repeat := func(o order.Order) order.Order {
			o = change(o, func(o *order.Order) {
				again := o.Refunds[0]
				again.ID, again.Replaces, again.Notice, again.Provider, again.Failure, again.Task = again.ID+"again", again.ID, "", "", "", order.TaskNone
				o.Refunds[0].Task = order.TaskNone
				o.Refunds = append(o.Refunds, again)
			})
			if o.Completes([]string{o.ID}) {
				t.Error("complete before the repetition is made")
			}
			return change(o, func(o *order.Order) {
				again := slices.IndexFunc(o.Refunds, func(r order.Refund) bool { return r.Replaces != "" })
				o.Refunds[again].Provider = "re_again" + o.ID
			})
		}
		for name, paid := range map[string]func(order.Order) order.Order{"settled": settle, "repeated": repeat} {
			for _, last := range []bool{false, true} { // whether the other item is refunded after that
				label, id := fmt.Sprint(name, last), fmt.Sprint("dcl_", name, last)
				o := mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, label+"-a.org", label+"-b.org")), toPaying("pay_"+label)), toPaid)
				notice := withdrawal.Notice{ID: id, Kind: withdrawal.Withdrawal, Email: "anna@example.com", Contract: o.ID, At: testTime}
				if err := db.AddWithdrawalNotice(ctx, notice, nil, testTime); err != nil {
					t.Fatal(err)
				}
				refund := func(o order.Order, item int) order.Order {
					return change(o, func(o *order.Order) {
						o.Refunds = append(o.Refunds, order.Refund{
							ID: fmt.Sprint("ref_", label, item), Payment: "pay_" + label, Amount: o.Items[item].Gross, Source: order.ByOperator, Reason: "withdrawal",
							Note: "x", By: "root", Notice: id, Provider: fmt.Sprint("re_", label, item), CreatedAt: testTime, MadeAt: testTime,
							Parts: []order.RefundPart{{Item: o.Items[item].ID, Gross: o.Items[item].Gross}},
						})
					})
				}
				o = refund(o, 0)
				o = change(o, func(o *order.Order) {
					o.Refunds[0].Failure, o.Refunds[0].Task, o.Refunds[0].FailedAt = order.ReturnedByBank, order.TaskReturned, testTime
				})
				preview := order.RefundPreview{Order: o, Lines: []order.RefundLine{{Item: o.Items[1], Gross: o.Items[1].Gross}}}
				if preview.Completes([]string{o.ID}) {
					t.Errorf("%s: the preview counts money that came back", label)
				}
				steps := []func(order.Order) order.Order{func(o order.Order) order.Order { return refund(o, 1) }, paid}
				if last {
					slices.Reverse(steps)
				}
				by := "root"
				if name == "settled" && !last {
					by = "zweite"
				}
				for step, move := range steps {
					o = move(o)
					if got, _, err := db.GetWithdrawalNotice(ctx, id); err != nil || got.Open() != (step == 0) || !got.Open() && got.DoneBy != by {
						t.Errorf("%s after step %d: %+v, %v", label, step, got, err)
					}
				}
			}
		}
	})
}

func TestAuditEvent_RefundRoundTrips(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		o := mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, "kaffee.org")), toPaying("pay_1")), toPaid)
		mustUpdateOrder(t, db, o, func(_ *order.Order, transition *order.Transition) {
			transition.AuditEvents = []registrar.AuditEvent{{Action: order.ActionRefunded, Customer: anna, Object: o.ID, Refund: "ref_1", At: testTime.Add(time.Hour)}}
		})
		events, err := db.ListAuditEvents(t.Context(), anna, "", 1)
		if err != nil || len(events) != 1 || events[0].Refund != "ref_1" {
			t.Errorf("%+v, %v", events, err)
		}
	})
}

// The outcome of a withdrawal is on its order, however many orders came later.
func TestListOrdersOfNotices_OnlyTheCustomersRefundedOrders(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		refunded := mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, "kaffee.org", "tee.org")), toPaying("pay_1")), toPaid)
		mustUpdateOrder(t, db, refunded, func(o *order.Order, _ *order.Transition) {
			for i, id := range []string{"ref_1", "ref_2"} {
				o.Refunds = append(o.Refunds, order.Refund{
					ID: id, Payment: "pay_1", Amount: 1, Source: order.ByOperator, Provider: "re_" + id, MadeAt: testTime, CreatedAt: testTime,
					Parts: []order.RefundPart{{Item: o.Items[i].ID, Gross: 1}},
				})
			}
		})
		execStatement(t, db, "UPDATE refunds SET notice_id = 'dcl_1'")
		addOrder(t, db, testOrder(anna, "mate.org"))
		for _, test := range []struct {
			customer, notice string
			want             int
		}{{anna, "dcl_1", 1}, {anna, "dcl_2", 0}, {anna, "", 0}, {bert, "dcl_1", 0}} {
			orders, err := db.ListOrdersOfNotices(ctx, test.customer, []string{"dcl_9", test.notice})
			if err != nil || len(orders) != test.want || test.want == 1 && (orders[0].ID != refunded.ID || len(orders[0].Refunds) != 2) {
				t.Errorf("%s: %+v, %v", test.notice, orders, err)
			}
		}
	})
}

// The customer is owed the money until they have it.
func TestRefundReturned_WithdrawalIsOpenUntilTheMoneyIsBack(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		o := mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, "kaffee.org")), toPaying("pay_1")), toPaid)
		notice := withdrawal.Notice{ID: "dcl_1", Kind: withdrawal.Withdrawal, Email: "anna@example.com", Contract: o.ID, At: testTime}
		if err := db.AddWithdrawalNotice(ctx, notice, nil, testTime); err != nil {
			t.Fatal(err)
		}
		made := func(id, replaces string) func(*order.Order, *order.Transition) {
			return func(o *order.Order, _ *order.Transition) {
				if replaces != "" {
					o.Refunds[0].Task = order.TaskNone
				}
				o.Refunds = append(o.Refunds, order.Refund{
					ID: id, Payment: "pay_1", Amount: o.Totals.Gross, Source: order.ByOperator, Reason: "withdrawal", Note: "x", By: "root", Notice: notice.ID,
					Replaces: replaces, Provider: "re_" + id, CreatedAt: testTime, MadeAt: testTime, Parts: []order.RefundPart{{Item: o.Items[0].ID, Gross: o.Totals.Gross}},
				})
			}
		}
		isOpen := func(when string, want bool) {
			t.Helper()
			if got, _, err := db.GetWithdrawalNotice(ctx, notice.ID); err != nil || got.Open() != want {
				t.Errorf("%s: open %t, %v", when, got.Open(), err)
			}
		}
		o = mustUpdateOrder(t, db, o, made("ref_1", ""))
		isOpen("refunded", false)
		o = mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
			o.Refunds[0].Failure, o.Refunds[0].Task, o.Refunds[0].FailedAt = order.ReturnedByBank, order.TaskReturned, testTime.Add(time.Hour)
		})
		isOpen("returned", true)
		undecided, err := db.ListAllRefunds(ctx, admin.UndecidedRefunds, "", 10)
		if err != nil || len(undecided) != 1 || undecided[0].Notice != notice.ID || !undecided[0].Declared.Equal(testTime) || !undecided[0].FailedAt.Equal(testTime.Add(time.Hour)) {
			t.Errorf("undecided: %+v, %v", undecided, err)
		}
		mustUpdateOrder(t, db, o, made("ref_2", "ref_1"))
		isOpen("refunded again", false)
	})
}
