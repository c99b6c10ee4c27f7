package store

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/webhook"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// newAgent adds an agent with a webhook.
func newAgent(t *testing.T, db *DB, id, hook string) string {
	t.Helper()
	execStatement(t, db, `INSERT INTO agents (id, name, profile, key_hash, webhook_url, created_at) VALUES ($1, $1, 'ours', $1, $2, 1)`, id, hook)
	return id
}

// addAgentOrder adds an order created by an agent.
func addAgentOrder(t *testing.T, db *DB, customer, agent string, names ...string) order.Order {
	t.Helper()
	wanted := testOrder(customer, names...)
	wanted.Agent = agent
	o := addOrder(t, db, wanted)
	execStatement(t, db, `UPDATE orders SET agent_id = $1 WHERE id = $2`, agent, o.ID)
	o.Agent = agent
	return o
}

// mustUpdateAgentOrder applies a transition to an agent's order.
func mustUpdateAgentOrder(t *testing.T, db *DB, was order.Order, change func(*order.Order, *order.Transition)) order.Order {
	t.Helper()
	o := mustUpdateOrder(t, db, was, change)
	o.Agent = was.Agent
	return o
}

// listDueDeliveries returns what a node would claim with a lease until now, without the
// agents' webhooks, and claims nothing.
func listDueDeliveries(t *testing.T, db *DB, now time.Time) (due []webhook.Delivery) {
	t.Helper()
	err := db.write(t.Context(), func(q *query.Queries) (err error) {
		rows, err := q.ClaimDueWebhookDeliveries(t.Context(), query.ClaimDueWebhookDeliveriesParams{Now: micros(now), Lease: micros(now), MaxRows: 10})
		if due, err = rowsAs(deliveryOf)(rows, err); err == nil {
			err = errPeek
		}
		return err
	})
	if !errors.Is(err, errPeek) {
		t.Fatal(err)
	}
	for i := range due {
		due[i].Target = agent.SealedWebhook{}
	}
	return due
}

// claimDelivery claims the only due delivery.
func claimDelivery(t *testing.T, db *DB, now, lease time.Time) webhook.Delivery {
	t.Helper()
	claimed, err := db.ClaimDueDeliveries(t.Context(), now, lease, 10)
	if err != nil || len(claimed) != 1 {
		t.Fatalf("claimed %+v, %v", claimed, err)
	}
	return claimed[0]
}

func TestWebhookDelivery_StartsWithPayment(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		agent := newAgent(t, db, "agt_1", "https://agent.example/hook")
		o := addAgentOrder(t, db, newCustomer(t, db, "anna"), agent, "a.org", "b.org")
		o = mustUpdateAgentOrder(t, db, o, toPaying("pay_1"))
		if due := listDueDeliveries(t, db, testTime); len(due) != 0 {
			t.Fatalf("a delivery is due before the payment: %+v", due)
		}
		o = mustUpdateAgentOrder(t, db, o, toPaid)
		want := webhook.Delivery{Order: o.ID, Agent: agent, EventCount: 1, PendingSince: testTime, DueAt: testTime}
		if due := listDueDeliveries(t, db, testTime); len(due) != 1 || due[0] != want {
			t.Fatalf("got %+v, want %+v", due, want)
		}
		// A change that is invisible to the agent causes no delivery.
		o = mustUpdateAgentOrder(t, db, o, func(o *order.Order, _ *order.Transition) { o.Attempts, o.Node = 3, "node" })
		if due := listDueDeliveries(t, db, testTime); due[0].EventCount != 1 {
			t.Errorf("reading the order caused a delivery: %+v", due)
		}
		// The end of a provision item causes one, though the order's state stays the
		// same.
		line, found, err := db.ProvisionItemByID(t.Context(), o.Items[0].ProvisionItem)
		if err != nil || !found {
			t.Fatalf("%t, %v", found, err)
		}
		ended := line
		ended.State, ended.UpdatedAt, ended.Failure = provision.StateFailed, testTime, "refused"
		if ok, err := db.UpdateProvisionItem(t.Context(), provision.Transition{From: line, To: ended, At: testTime}); err != nil || !ok {
			t.Fatalf("%t, %v", ok, err)
		}
		o = getOrder(t, db, o.ID)
		o.Agent = agent
		if due := listDueDeliveries(t, db, testTime); due[0].EventCount != 2 || o.Items[0].State != order.ItemFailed {
			t.Errorf("after the end of an item: %+v", due)
		}
		// So does each step of a refund.
		o = mustUpdateAgentOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
			o.Refunds = append(o.Refunds, order.Refund{ID: "rfd_1", Payment: "pay_1", Item: o.Items[0].ID, Amount: 5, CreatedAt: testTime})
		})
		mustUpdateAgentOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
			o.Refunds[0].Provider, o.Refunds[0].MadeAt = "re_1", testTime
		})
		if due := listDueDeliveries(t, db, testTime); due[0].EventCount != 4 {
			t.Errorf("after the refund: %+v", due)
		}
	})
}

// Completing the order follows at once and causes one delivery for both.
func TestWebhookDelivery_LastActiveItemCausesNone(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		o := addAgentOrder(t, db, newCustomer(t, db, "anna"), newAgent(t, db, "agt_1", "https://agent.example/hook"), "a.org", "b.org")
		o = mustUpdateAgentOrder(t, db, mustUpdateAgentOrder(t, db, o, toPaying("pay_1")), toPaid)
		for i, want := range []int64{2, 2} {
			item, _, err := db.ProvisionItemByID(t.Context(), o.Items[i].ProvisionItem)
			if err != nil {
				t.Fatal(err)
			}
			active := item
			active.State, active.UpdatedAt = provision.StateActive, testTime
			if ok, err := db.UpdateProvisionItem(t.Context(), provision.Transition{From: item, To: active, At: testTime}); err != nil || !ok {
				t.Fatalf("%t, %v", ok, err)
			}
			if due := listDueDeliveries(t, db, testTime); len(due) != 1 || due[0].EventCount != want {
				t.Errorf("after item %d: %+v", i, due)
			}
		}
		o = getOrder(t, db, o.ID)
		o.Agent = "agt_1"
		mustUpdateAgentOrder(t, db, o, func(o *order.Order, _ *order.Transition) { o.State = order.Completed })
		if due := listDueDeliveries(t, db, testTime); len(due) != 1 || due[0].EventCount != 3 {
			t.Errorf("after completing: %+v", due)
		}
	})
}

func TestWebhookDelivery_NoneWithoutWebhookURL(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		silent, gone := newAgent(t, db, "agt_silent", ""), newAgent(t, db, "agt_gone", "https://agent.example")
		execStatement(t, db, `UPDATE agents SET removed_at = 5 WHERE id = $1`, gone)
		for agent, name := range map[string]string{silent: "a.org", gone: "b.org", "": "c.org"} {
			o := addAgentOrder(t, db, anna, agent, name)
			mustUpdateAgentOrder(t, db, mustUpdateAgentOrder(t, db, o, toPaying("pay_"+name)), toPaid)
		}
		if due := listDueDeliveries(t, db, testTime.Add(time.Hour)); len(due) != 0 {
			t.Errorf("got %+v", due)
		}
	})
}

func TestWebhookDelivery_ChangeDuringLeaseIsDueAfterward(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		o := addAgentOrder(t, db, newCustomer(t, db, "anna"), newAgent(t, db, "agt_1", "https://agent.example/hook"), "a.org")
		o = mustUpdateAgentOrder(t, db, mustUpdateAgentOrder(t, db, o, toPaying("pay_1")), toPaid)
		lease, later := testTime.Add(time.Minute), testTime.Add(time.Second)
		var mine atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				claimed, err := db.ClaimDueDeliveries(ctx, testTime, lease, 10)
				if err != nil {
					t.Error(err)
				}
				mine.Add(int64(len(claimed)))
			})
		}
		all.Wait()
		if mine.Load() != 1 {
			t.Fatalf("%d workers have claimed it", mine.Load())
		}
		mustUpdateAgentOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
			o.State, o.Items[0].State = order.Completed, order.ItemActive
		})
		if due := listDueDeliveries(t, db, later); len(due) != 0 {
			t.Fatalf("a leased delivery is due: %+v", due)
		}
		if err := db.CompleteDelivery(ctx, o.ID, lease, 1, 1, later); err != nil {
			t.Fatal(err)
		}
		due := listDueDeliveries(t, db, later)
		want := webhook.Delivery{Order: o.ID, Agent: "agt_1", EventCount: 2, DeliveredCount: 1, PendingSince: later, DueAt: later}
		if len(due) != 1 || due[0] != want {
			t.Fatalf("got %+v, want %+v", due, want)
		}
		if claimed := claimDelivery(t, db, later, lease); claimed.EventCount != 2 || !claimed.DueAt.Equal(lease) || claimed.Snapshot.State != order.Completed || claimed.Target.URL != "https://agent.example/hook" {
			t.Fatalf("got %+v", claimed)
		}
		again := lease.Add(time.Minute)
		if err := db.PostponeDelivery(ctx, o.ID, lease, again, 3); err != nil {
			t.Fatal(err)
		}
		// After the lease has expired, its former holder can't change the delivery.
		if err := db.CompleteDelivery(ctx, o.ID, lease, 2, 2, later); err != nil {
			t.Fatal(err)
		}
		if due := listDueDeliveries(t, db, again); len(due) != 1 || due[0].Attempts != 3 || due[0].DeliveredCount != 1 {
			t.Fatalf("got %+v", due)
		}
		execStatement(t, db, `UPDATE agents SET removed_at = 5 WHERE id = 'agt_1'`)
		if claimed := claimDelivery(t, db, again, lease); claimed.Target.URL != "" {
			t.Fatalf("got %+v", claimed)
		}
		if err := db.CompleteDelivery(ctx, o.ID, lease, 2, 2, later); err != nil {
			t.Fatal(err)
		}
		if due := listDueDeliveries(t, db, again.Add(time.Hour)); len(due) != 0 {
			t.Errorf("everything is delivered, but due: %+v", due)
		}
	})
}

func TestWebhookDelivery_PayingAgentOnlyWhileLinked(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, agent := newCustomer(t, db, "anna"), newAgent(t, db, "agt_1", "https://agent.example/hook")
		link := func() {
			execStatement(t, db, `INSERT INTO agent_links (customer_id, agent_id, by_kind, by_id, created_at) VALUES ($1, $2, 'person', 'x', 1)`, anna, agent)
		}
		// ended returns an order that the agent has paid and whose item has ended.
		ended := func(name string, before func()) order.Order {
			t.Helper()
			o := mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, name)), func(o *order.Order, m *order.Transition) {
				toPaying("pay_"+name)(o, m)
				o.Completer = agent
			})
			o = mustUpdateOrder(t, db, o, toPaid)
			before()
			line, _, err := db.ProvisionItemByID(t.Context(), o.Items[0].ProvisionItem)
			if err != nil {
				t.Fatal(err)
			}
			last := line
			last.State, last.UpdatedAt = provision.StateFailed, testTime
			if ok, err := db.UpdateProvisionItem(t.Context(), provision.Transition{From: line, To: last, At: testTime}); err != nil || !ok {
				t.Fatalf("%t, %v", ok, err)
			}
			return o
		}
		ended("eins.org", func() {})
		if due := listDueDeliveries(t, db, testTime); len(due) != 0 {
			t.Errorf("an agent that is not linked gets %+v", due)
		}
		link()
		o := ended("zwei.org", func() {})
		if due := listDueDeliveries(t, db, testTime); len(due) != 1 || due[0].Order != o.ID || due[0].Agent != agent || due[0].EventCount != 2 {
			t.Fatalf("a linked agent gets %+v", due)
		}
		ended("drei.org", func() {
			event := orderEvent(o)
			if ok, err := db.UnlinkAgent(t.Context(), anna, agent, event); err != nil || !ok {
				t.Fatalf("%t, %v", ok, err)
			}
		})
		if due := listDueDeliveries(t, db, testTime); len(due) != 0 {
			t.Errorf("an unlinked agent gets %+v", due)
		}
	})
}
