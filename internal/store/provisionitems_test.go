package store

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func newProvisionItem(customer, name, payment string) provision.Item {
	return provision.Item{
		ID: registrar.NewID("prv_", testTime), Customer: customer, Name: name, TLD: ".org", Kind: provision.Register, Years: 1,
		Payment: payment, State: provision.StatePaid, Account: "sandbox", RequestedAt: testTime, DueAt: testTime, CreatedAt: testTime, UpdatedAt: testTime,
	}
}

func orderedEvent(customer, name string) registrar.AuditEvent {
	return registrar.AuditEvent{Actor: operatorActor(), Action: provision.ActionOrdered, Customer: customer, Object: name, At: testTime}
}

func addProvisionItem(t *testing.T, db *DB, customer, name, payment string) provision.Item {
	t.Helper()
	item, err := db.AddProvisionItem(t.Context(), newProvisionItem(customer, name, payment), orderedEvent(customer, name))
	if err != nil {
		t.Fatal(err)
	}
	return item
}

// itemTransition returns a transition from an item's current state.
func itemTransition(item provision.Item, change func(*provision.Item, *provision.Transition)) provision.Transition {
	transition := provision.Transition{From: item, To: item}
	change(&transition.To, &transition)
	transition.At = transition.To.UpdatedAt
	return transition
}

func mustUpdateItem(t *testing.T, db *DB, transition provision.Transition) provision.Item {
	t.Helper()
	moved, err := db.UpdateProvisionItem(t.Context(), transition)
	if err != nil || !moved {
		t.Fatalf("moved %t, %v", moved, err)
	}
	return transition.To
}

func TestAddProvisionItem_OncePerPaymentAndOpenName(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		first := addProvisionItem(t, db, anna, "neu.org", "manual:1")
		if again := addProvisionItem(t, db, anna, "neu.org", "manual:1"); again.ID != first.ID {
			t.Error("one payment paid for the same name twice")
		}
		if _, err := db.AddProvisionItem(ctx, newProvisionItem(bert, "neu.org", "manual:2"), orderedEvent(bert, "neu.org")); registrar.CodeOf(err) != registrar.NameHeld {
			t.Errorf("two open items have the same name: %v", err)
		}
		if _, err := db.AddProvisionItem(ctx, newProvisionItem("cus_nobody", "x.org", "manual:3"), orderedEvent("", "")); registrar.CodeOf(err) != registrar.NoSuchCustomer {
			t.Errorf("an item without a customer: %v", err)
		}
		if got := count(t, db, "SELECT count(*) FROM audit_events"); got != 1 {
			t.Errorf("%d audit events for one item", got)
		}
		mustUpdateItem(t, db, itemTransition(first, func(l *provision.Item, _ *provision.Transition) {
			l.State, l.DueAt, l.Failure, l.RefundDue = provision.StateFailed, time.Time{}, "taken", true
		}))
		addProvisionItem(t, db, bert, "neu.org", "manual:2") // the first item is final
	})
}

func TestUpdateProvisionItem_RacingCallersOneWins(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		line := addProvisionItem(t, db, newCustomer(t, db, "anna"), "neu.org", "manual:1")
		var moved atomic.Int64
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				ok, err := db.UpdateProvisionItem(t.Context(), itemTransition(line, func(l *provision.Item, m *provision.Transition) {
					l.State, l.DueAt, l.Node, l.Domain = provision.StateRequested, testTime.Add(time.Minute), fmt.Sprint("node", i), fmt.Sprint("dom_", i)
					m.AddDomain = &provision.Domain{ID: l.Domain, Customer: l.Customer, Name: l.Name, TLD: l.TLD, Status: "pending", Account: "sandbox", UpdatedAt: testTime}
				}))
				if err != nil {
					t.Error(err)
				}
				if ok {
					moved.Add(1)
				}
			})
		}
		all.Wait()
		if moved.Load() != 1 || count(t, db, "SELECT count(*) FROM domains") != 1 {
			t.Errorf("%d transitions succeeded, %d domains", moved.Load(), count(t, db, "SELECT count(*) FROM domains"))
		}
	})
}

func TestUpdateProvisionItem_NewStateDeletesErrorOfAnEarlierAttempt(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		item := addProvisionItem(t, db, newCustomer(t, db, "anna"), "neu.org", "manual:1")
		failed := func() bool {
			t.Helper()
			_, failed, err := db.GetJobError(ctx, admin.JobItem, item.ID)
			if err != nil {
				t.Fatal(err)
			}
			return failed
		}
		item = mustUpdateItem(t, db, itemTransition(item, func(l *provision.Item, _ *provision.Transition) {
			l.State, l.Attempts, l.DueAt = provision.StateRequested, 1, testTime.Add(time.Minute)
		}))
		if err := db.PutJobError(ctx, admin.JobItem, item.ID, admin.JobError{Code: provision.Billing, At: testTime}, testTime.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		if items, err := db.ListFailedItems(ctx, provision.Billing, testTime, 10); err != nil || len(items) != 1 || items[0] != (admin.FailedItem{ID: item.ID, Account: "sandbox"}) {
			t.Errorf("failed: %+v, %v", items, err)
		}
		item = mustUpdateItem(t, db, itemTransition(item, func(l *provision.Item, _ *provision.Transition) { l.Attempts, l.DueAt = 2, testTime.Add(time.Hour) }))
		if !failed() {
			t.Error("the next attempt alone deletes the error")
		}
		item = mustUpdateItem(t, db, itemTransition(item, func(l *provision.Item, _ *provision.Transition) { l.State, l.Attempts = provision.StatePending, 0 }))
		if failed() {
			t.Error("the registry has accepted the request, and the error remains")
		}
	})
}

func TestUpdateProvisionItem_UpdatesItsDomain(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		takeUp := func(l *provision.Item, m *provision.Transition) {
			l.State, l.DueAt, l.Node, l.Domain, l.Handle, l.SealedCode = provision.StateRequested, testTime.Add(time.Minute), "here", "dom_"+l.Name, "DK1", "sealed"
			m.AddDomain = &provision.Domain{ID: l.Domain, Customer: l.Customer, Name: l.Name, TLD: l.TLD, Status: "pending", Account: "sandbox", UpdatedAt: testTime}
		}
		good := mustUpdateItem(t, db, itemTransition(addProvisionItem(t, db, anna, "good.org", "manual:1"), takeUp))
		bad := mustUpdateItem(t, db, itemTransition(addProvisionItem(t, db, anna, "bad.org", "manual:2"), takeUp))
		paid := testTime.AddDate(1, 0, 0)
		good = mustUpdateItem(t, db, itemTransition(good, func(l *provision.Item, m *provision.Transition) {
			l.State, l.DueAt, l.Node = provision.StateActive, time.Time{}, ""
			m.ActivateDomain = &provision.Domain{ID: l.Domain, Status: "active", PaidUntil: paid, Handle: l.Handle, RegistryExpires: paid, SyncDue: testTime.Add(time.Hour), UpdatedAt: testTime}
		}))
		mustUpdateItem(t, db, itemTransition(bad, func(l *provision.Item, m *provision.Transition) {
			l.State, l.DueAt, l.Node, l.RefundDue, l.Failure, m.DropDomain = provision.StateFailed, time.Time{}, "", true, "taken", true
		}))
		domains, err := newPortfolioService(t, db).List(ctx, registrar.Actor{Kind: registrar.ActorToken, Customer: anna})
		if err != nil || len(domains) != 1 || domains[0].Name != "good.org" || domains[0].Status != registrar.DomainActive || !domains[0].PaidUntil.Equal(paid) {
			t.Errorf("the customer has %+v, %v", domains, err)
		}
		if stored, found, err := db.ProvisionItemByID(ctx, good.ID); err != nil || !found || stored != good {
			t.Errorf("stored %+v, want %+v, %v", stored, good, err)
		}
		domain, found, err := db.DomainByName(ctx, "good.org")
		if err != nil || !found || domain.Account != "sandbox" || domain.Handle != "DK1" || !domain.RegistryExpires.Equal(paid) {
			t.Errorf("got %+v, %t, %v", domain, found, err)
		}
		// A name that another customer holds fails the whole transaction.
		held := addProvisionItem(t, db, anna, "held.org", "manual:3")
		if _, err := newPortfolioService(t, db).Add(ctx, operatorActor(), portfolio.AddParams{
			Customer: anna, Name: registrar.NewName("held", ".org"), Status: registrar.DomainActive, PaidUntil: paid,
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.UpdateProvisionItem(ctx, itemTransition(held, takeUp)); registrar.CodeOf(err) != registrar.NameHeld {
			t.Errorf("another customer's domain was taken over: %v", err)
		}
		if stored, _, _ := db.ProvisionItemByID(ctx, held.ID); stored.State != provision.StatePaid {
			t.Errorf("the item moved to %s all the same", stored.State)
		}
	})
}

func TestProvisionItems_ReleasedPerNodeAndDueAfterRegistryMessage(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		lease := testTime.Add(time.Hour)
		for i, line := range []struct {
			node  string
			state provision.State
		}{{"here", provision.StateContacts}, {"here", provision.StateRequested}, {"there", provision.StateContacts}, {"", provision.StatePending}} {
			stored := addProvisionItem(t, db, anna, fmt.Sprintf("n%d.org", i), "manual:1")
			mustUpdateItem(t, db, itemTransition(stored, func(l *provision.Item, _ *provision.Transition) {
				l.State, l.Node, l.DueAt = line.state, line.node, lease
			}))
		}
		due := func() (names []string) {
			t.Helper()
			lines, err := db.ListDueProvisionItems(ctx, false, testTime, 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range lines {
				names = append(names, line.Name)
			}
			slices.Sort(names)
			return names
		}
		if names := due(); len(names) != 0 {
			t.Errorf("leased items are due: %q", names)
		}
		if released, err := db.ClaimNode(ctx, "here", testTime); err != nil || released.ProvisionItems != 2 {
			t.Errorf("released %+v, %v", released, err)
		}
		if names := due(); !slices.Equal(names, []string{"n0.org", "n1.org"}) {
			t.Errorf("due: %q", names)
		}
		for _, name := range []string{"n2.org", "n3.org"} {
			for i, want := range []bool{true, false} { // the second message is a duplicate
				added, err := db.StoreRegistryMessage(ctx, "sandbox", inbox.Message{ID: name, Name: name, Queued: testTime}, testTime, testTime)
				if err != nil || added != want {
					t.Errorf("%s, message %d: stored %t, %v", name, i, added, err)
				}
			}
		}
		if names := due(); !slices.Equal(names, []string{"n0.org", "n1.org", "n3.org"}) {
			t.Errorf("due after the messages: %q; another node's lease must stay", names)
		}
	})
}

func TestUpdateDomainFromRegistry_RequiresUnchangedState(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		if _, err := newPortfolioService(t, db).Add(ctx, operatorActor(), portfolio.AddParams{
			Customer: anna, Name: registrar.NewName("neu", ".org"), Status: registrar.DomainActive, PaidUntil: testTime,
		}); err != nil {
			t.Fatal(err)
		}
		was, _, err := db.DomainByName(ctx, "neu.org")
		if err != nil {
			t.Fatal(err)
		}
		now := was
		now.Status, now.RegistryStatus, now.SyncedAt, now.UpdatedAt = "transferred_out", []string{"a", "b"}, testTime, testTime
		event := registrar.AuditEvent{Actor: operatorActor(), Action: provision.ActionSynced, Customer: anna, Object: "neu.org", At: testTime}
		if stored, err := db.UpdateDomainFromRegistry(ctx, was, now, &event); err != nil || !stored {
			t.Fatalf("%t, %v", stored, err)
		}
		if stored, err := db.UpdateDomainFromRegistry(ctx, was, now, &event); err != nil || stored {
			t.Errorf("a transition from a wrong state succeeded: %t, %v", stored, err)
		}
		got, found, err := db.DomainByName(ctx, "neu.org")
		if err != nil || !found || got.Status != "transferred_out" || !slices.Equal(got.RegistryStatus, now.RegistryStatus) {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}
