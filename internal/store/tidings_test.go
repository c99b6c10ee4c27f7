package store

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/tidings"
)

// newAgent is an agent with a webhook.
func newAgent(t *testing.T, db *DB, id, hook string) string {
	t.Helper()
	change(t, db, `INSERT INTO agents (id, name, profile, key_hash, webhook_url, created_at) VALUES ($1, $1, 'ours', $1, $2, 1)`, id, hook)
	return id
}

// agentOrder is an order that an agent has made.
func agentOrder(t *testing.T, db *DB, customer, agent string, names ...string) order.Order {
	t.Helper()
	wanted := orderFor(customer, names...)
	wanted.Agent = agent
	o := addOrder(t, db, wanted)
	change(t, db, `UPDATE orders SET agent_id = $1 WHERE id = $2`, agent, o.ID)
	o.Agent = agent
	return o
}

// movedBy is moved for an agent's order.
func movedBy(t *testing.T, db *DB, was order.Order, change func(*order.Order, *order.Move)) order.Order {
	t.Helper()
	o := moved(t, db, was, change)
	o.Agent = was.Agent
	return o
}

func dueTidings(t *testing.T, db *DB, now time.Time) []tidings.Tiding {
	t.Helper()
	due, err := db.DueTidings(t.Context(), now, 10)
	if err != nil {
		t.Fatal(err)
	}
	return due
}

func TestAnAgentHearsOfAnOrderFromItsPaymentOn(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		agent := newAgent(t, db, "agt_1", "https://agent.example/hook")
		o := agentOrder(t, db, newCustomer(t, db, "anna"), agent, "a.org", "b.org")
		o = movedBy(t, db, o, paying("pay_1"))
		if due := dueTidings(t, db, testTime); len(due) != 0 {
			t.Fatalf("something is told before the payment: %+v", due)
		}
		o = movedBy(t, db, o, paid)
		want := tidings.Tiding{Order: o.ID, Agent: agent, Changes: 1, Since: testTime, DueAt: testTime}
		if due := dueTidings(t, db, testTime); len(due) != 1 || due[0] != want {
			t.Fatalf("got %+v, want %+v", due, want)
		}
		// What the agent can't see is not told.
		o = movedBy(t, db, o, func(o *order.Order, _ *order.Move) { o.Attempts, o.Node = 3, "node" })
		if due := dueTidings(t, db, testTime); due[0].Changes != 1 {
			t.Errorf("a look at the order is told: %+v", due)
		}
		// A line's end is, though the order itself stays where it is.
		line, found, err := db.LineByID(t.Context(), o.Items[0].Line)
		if err != nil || !found {
			t.Fatalf("%t, %v", found, err)
		}
		ended := line
		ended.State, ended.UpdatedAt, ended.Failure = provision.StateFailed, testTime, "refused"
		if ok, err := db.MoveLine(t.Context(), provision.Move{Was: line, Line: ended}); err != nil || !ok {
			t.Fatalf("%t, %v", ok, err)
		}
		o = storedOrder(t, db, o.ID)
		o.Agent = agent
		if due := dueTidings(t, db, testTime); due[0].Changes != 2 || o.Items[0].State != order.ItemFailed {
			t.Errorf("after a line's end: %+v", due)
		}
		// So is each step of a refund.
		o = movedBy(t, db, o, func(o *order.Order, _ *order.Move) {
			o.Refunds = append(o.Refunds, order.Refund{ID: "rfd_1", Payment: "pay_1", Item: o.Items[0].ID, Amount: 5, CreatedAt: testTime})
		})
		movedBy(t, db, o, func(o *order.Order, _ *order.Move) { o.Refunds[0].Provider, o.Refunds[0].MadeAt = "re_1", testTime })
		if due := dueTidings(t, db, testTime); due[0].Changes != 4 {
			t.Errorf("after the refund: %+v", due)
		}
	})
}

func TestWhoHasNoWebhookIsToldNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		silent, gone := newAgent(t, db, "agt_silent", ""), newAgent(t, db, "agt_gone", "https://agent.example")
		change(t, db, `UPDATE agents SET removed_at = 5 WHERE id = $1`, gone)
		for agent, name := range map[string]string{silent: "a.org", gone: "b.org", "": "c.org"} {
			o := agentOrder(t, db, anna, agent, name)
			movedBy(t, db, movedBy(t, db, o, paying("pay_"+name)), paid)
		}
		if due := dueTidings(t, db, testTime.Add(time.Hour)); len(due) != 0 {
			t.Errorf("got %+v", due)
		}
	})
}

func TestAChangeDuringALeaseIsToldAfterIt(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		o := agentOrder(t, db, newCustomer(t, db, "anna"), newAgent(t, db, "agt_1", "https://agent.example/hook"), "a.org")
		o = movedBy(t, db, movedBy(t, db, o, paying("pay_1")), paid)
		lease, later := testTime.Add(time.Minute), testTime.Add(time.Second)
		var mine atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, ok, err := db.ClaimTiding(ctx, o.ID, testTime, lease); err != nil {
					t.Error(err)
				} else if ok {
					mine.Add(1)
				}
			})
		}
		all.Wait()
		if mine.Load() != 1 {
			t.Fatalf("%d have claimed it", mine.Load())
		}
		movedBy(t, db, o, func(o *order.Order, _ *order.Move) { o.State, o.Items[0].State = order.Completed, order.ItemActive })
		if due := dueTidings(t, db, later); len(due) != 0 {
			t.Fatalf("a leased one is due: %+v", due)
		}
		if err := db.SettleTiding(ctx, o.ID, lease, 1, 1, later); err != nil {
			t.Fatal(err)
		}
		due := dueTidings(t, db, later)
		want := tidings.Tiding{Order: o.ID, Agent: "agt_1", Changes: 2, Told: 1, Since: later, DueAt: later}
		if len(due) != 1 || due[0] != want {
			t.Fatalf("got %+v, want %+v", due, want)
		}
		claimed, ok, err := db.ClaimTiding(ctx, o.ID, later, lease)
		if err != nil || !ok || claimed.Changes != 2 || !claimed.DueAt.Equal(lease) {
			t.Fatalf("got %+v, %t, %v", claimed, ok, err)
		}
		again := lease.Add(time.Minute)
		if err := db.PostponeTiding(ctx, o.ID, lease, again, 3); err != nil {
			t.Fatal(err)
		}
		// The lease is over: whoever had it changes nothing any more.
		if err := db.SettleTiding(ctx, o.ID, lease, 2, 2, later); err != nil {
			t.Fatal(err)
		}
		if due := dueTidings(t, db, again); len(due) != 1 || due[0].Attempts != 3 || due[0].Told != 1 {
			t.Fatalf("got %+v", due)
		}
		if _, ok, err = db.ClaimTiding(ctx, o.ID, again, lease); err != nil || !ok {
			t.Fatal(ok, err)
		}
		if err := db.SettleTiding(ctx, o.ID, lease, 2, 2, later); err != nil {
			t.Fatal(err)
		}
		if due := dueTidings(t, db, again.Add(time.Hour)); len(due) != 0 {
			t.Errorf("all is told, and still due: %+v", due)
		}
	})
}

func TestTheAgentThatPaidACustomersOrderHearsOfItWhileItIsLinked(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, agent := newCustomer(t, db, "anna"), newAgent(t, db, "agt_1", "https://agent.example/hook")
		link := func() {
			change(t, db, `INSERT INTO agent_links (customer_id, agent_id, by_kind, by_id, created_at) VALUES ($1, $2, 'person', 'x', 1)`, anna, agent)
		}
		// ended is an order that the agent has paid, and whose line has ended after that.
		ended := func(name string, before func()) order.Order {
			t.Helper()
			o := moved(t, db, addOrder(t, db, orderFor(anna, name)), func(o *order.Order, m *order.Move) {
				paying("pay_"+name)(o, m)
				o.Completer = agent
			})
			o = moved(t, db, o, paid)
			before()
			line, _, err := db.LineByID(t.Context(), o.Items[0].Line)
			if err != nil {
				t.Fatal(err)
			}
			last := line
			last.State, last.UpdatedAt = provision.StateFailed, testTime
			if ok, err := db.MoveLine(t.Context(), provision.Move{Was: line, Line: last}); err != nil || !ok {
				t.Fatalf("%t, %v", ok, err)
			}
			return o
		}
		ended("eins.org", func() {})
		if due := dueTidings(t, db, testTime); len(due) != 0 {
			t.Errorf("an agent that is not linked hears %+v", due)
		}
		link()
		o := ended("zwei.org", func() {})
		if due := dueTidings(t, db, testTime); len(due) != 1 || due[0].Order != o.ID || due[0].Agent != agent || due[0].Changes != 2 {
			t.Fatalf("a linked agent hears %+v", due)
		}
		ended("drei.org", func() {
			deed := orderDeed(o)
			if ok, err := db.UnlinkAgent(t.Context(), anna, agent, deed); err != nil || !ok {
				t.Fatalf("%t, %v", ok, err)
			}
		})
		if due := dueTidings(t, db, testTime); len(due) != 0 {
			t.Errorf("an agent that was unlinked hears %+v", due)
		}
	})
}
