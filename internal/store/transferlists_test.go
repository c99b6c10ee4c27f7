package store

import (
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/overview"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestTransferList_ReplacedOnlyAsSeenAndGoneWhenExpired(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		expires := testTime.Add(time.Hour)
		for i, step := range []struct {
			seen, sealed string
			now          time.Time
			replaced     bool
			want         string
		}{
			{"", "one", testTime, true, "one"},
			{"", "two", testTime, false, "one"},
			{"one", "two", testTime, true, "two"},
			{"one", "three", testTime, false, "two"},
			{"", "three", expires, true, ""}, // the old one has expired, and the new one at once
		} {
			replaced, err := db.ReplaceTransferList(ctx, anna, step.seen, "tee.com", step.sealed, step.now, expires)
			if err != nil || replaced != step.replaced {
				t.Errorf("step %d: replaced %t, %v", i, replaced, err)
			}
			if got, err := db.GetTransferList(ctx, anna, step.now); err != nil || got != step.want {
				t.Errorf("step %d: %q, %v", i, got, err)
			}
		}
		if err := db.UpdateCustomers(ctx, func(tx account.Tx) error {
			_, err := tx.DeleteExpired(ctx, expires.Add(time.Hour), expires.Add(-time.Hour), 10) // ahead of the business time
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if left := count(t, db, "SELECT count(*) FROM transfer_lists"); left != 1 {
			t.Errorf("%d lists are left before they expire", left)
		}
		if err := db.UpdateCustomers(ctx, func(tx account.Tx) error {
			_, err := tx.DeleteExpired(ctx, testTime, expires, 10)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if left := count(t, db, "SELECT count(*) FROM transfer_lists"); left != 0 {
			t.Errorf("%d lists are left", left)
		}
	})
}

func TestListTransfers_RefusedAtPaymentHasFailed(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		addPaidOrder(t, db, newCustomer(t, db, "bert"), "held.org")
		o := testOrder(anna, "held.org", "moving.org")
		for i := range o.Items {
			o.Items[i].Kind = order.Transfer
		}
		o = mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, o), toPaying("pay_1")), toPaid)
		counts, err := db.CountTransfers(ctx, anna)
		if err != nil || counts[provision.StateFailed] != 1 || counts[provision.StatePaid] != 1 {
			t.Errorf("%v, %v", counts, err)
		}
		ended, err := db.ListTransfers(ctx, anna, provision.StateFailed, 10, 0)
		if err != nil || len(ended) != 1 || ended[0].Name != "held.org" || ended[0].State != provision.StateFailed || ended[0].Failure != registrar.NameHeld || ended[0].Payment != "order:"+o.ID {
			t.Errorf("%+v, %v", ended, err)
		}
		facts, err := db.OverviewFacts(ctx, anna, overview.Bounds{Clock: testTime, SpentSince: testTime, Limit: 10})
		if err != nil || len(facts.Orders) != 1 || facts.Orders[0].Name != "moving.org" || facts.Orders[0].Items != 1 || facts.Orders[0].Failed != 1 {
			t.Errorf("%+v, %v", facts.Orders, err)
		}
		if len(facts.Transfers) != 1 || facts.Transfers[0].Name != "moving.org" || facts.Transfers[0].Payment != "order:"+o.ID {
			t.Errorf("in progress: %+v", facts.Transfers)
		}
	})
}

func TestListTransfers_RunningAndEndedInPages(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		made := 0
		add := func(customer, name string, kind provision.Kind) provision.Item {
			item := newProvisionItem(customer, name, "manual:"+name)
			made++
			item.ID, item.Kind = registrar.NewID("prv_", testTime.Add(time.Duration(made)*time.Second)), kind
			stored, err := db.AddProvisionItem(ctx, item, orderedEvent(customer, name))
			if err != nil {
				t.Fatal(err)
			}
			return stored
		}
		add(bert, "fremd.org", provision.Transfer)
		add(anna, "neu.org", provision.Register)
		for _, name := range []string{"a.org", "b.org", "c.org"} {
			add(anna, name, provision.Transfer)
		}
		failed := add(anna, "d.org", provision.Transfer)
		mustUpdateItem(t, db, itemTransition(failed, func(to *provision.Item, _ *provision.Transition) {
			to.State, to.Failure, to.DueAt = provision.StateFailed, provision.WrongCode, time.Time{}
		}))
		counts, err := db.CountTransfers(ctx, anna)
		if err != nil || len(counts) != 2 || counts[provision.StatePaid] != 3 || counts[provision.StateFailed] != 1 {
			t.Errorf("%v, %v", counts, err)
		}
		for _, test := range []struct {
			ended         provision.State
			limit, offset int
			want          []string
		}{
			{"", 2, 0, []string{"a.org", "b.org"}}, // paid at the same time
			{"", 2, 2, []string{"c.org"}},
			{provision.StateFailed, 2, 0, []string{"d.org"}},
			{provision.StateFailed, 2, 1, nil},
			{provision.StateActive, 2, 0, nil},
		} {
			items, err := db.ListTransfers(ctx, anna, test.ended, test.limit, test.offset)
			var names []string
			for _, item := range items {
				names = append(names, item.Name)
			}
			if err != nil || !slices.Equal(names, test.want) {
				t.Errorf("%+v: %v, %v", test, names, err)
			}
		}
	})
}

func TestAcquiredNames_HeldAndRunningOnesOfTheCustomer(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, bert := newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		addDomain(t, db, anna, "held", registrar.DomainActive, testTime)
		addDomain(t, db, anna, "left", registrar.DomainTransferredOut, testTime)
		addDomain(t, db, bert, "berts", registrar.DomainActive, testTime)
		addPaidOrder(t, db, anna, "running.org")
		names := []string{"held.org", "left.org", "berts.org", "running.org", "free.org"}
		got, err := db.ListAcquiredNames(t.Context(), anna, names)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, []string{"held.org", "running.org"}) {
			t.Errorf("%v, %v", got, err)
		}
	})
}
