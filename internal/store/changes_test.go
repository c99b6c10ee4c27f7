package store

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
)

func heldBy(t *testing.T, db *DB, customer, name string, status holding.Status) string {
	t.Helper()
	domain := holding.Domain{
		ID: registrar.NewID("dom_", testTime), Customer: customer, Name: name, TLD: ".org", Status: status, CreatedAt: testTime, UpdatedAt: testTime,
	}
	deed := registrar.Deed{Actor: operator(), Action: holding.DomainAdded, Customer: customer, Object: name, At: testTime}
	if err := db.AddDomain(t.Context(), domain, deed); err != nil {
		t.Fatal(err)
	}
	return domain.ID
}

func openChange(customer, domain string) steward.Change {
	return steward.Change{
		ID: registrar.NewID("chg_", testTime), Customer: customer, Domain: domain, Name: "eins.org", TLD: ".org", Account: "sandbox", Kind: steward.TakeHolder,
		Wanted: steward.Wanted{DS: &steward.DS{KeyTag: 7, Digest: "AB"}}, Handle: "DK2", OldHandle: "DK1", SealedCode: "sealed", State: steward.StateOpen,
		Actor: registrar.Actor{Kind: registrar.ActorPerson, Customer: customer, Through: "ses_1"},
		DueAt: testTime, Node: "a", Attempts: 1, CreatedAt: testTime, UpdatedAt: testTime,
	}
}

func TestADomainHasOneOpenChangeAlsoUnderARace(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, bert := newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		domain := heldBy(t, db, anna, "eins.org", holding.StatusActive)
		var all sync.WaitGroup
		var added, refused atomic.Int64
		for range 8 {
			all.Go(func() {
				switch err := db.AddChange(t.Context(), openChange(anna, domain)); registrar.CodeOf(err) {
				case "":
					if err == nil {
						added.Add(1)
					}
				case steward.UnderWay:
					refused.Add(1)
				}
			})
		}
		all.Wait()
		if added.Load() != 1 || refused.Load() != 7 {
			t.Errorf("%d were added, %d refused", added.Load(), refused.Load())
		}
		if err := db.AddChange(t.Context(), openChange(bert, domain)); registrar.CodeOf(err) != steward.NoSuchDomain {
			t.Errorf("another customer's: %v", err)
		}
		for _, status := range []holding.Status{holding.StatusPending, holding.StatusTransferredOut} {
			other := heldBy(t, db, anna, string(status)+".org", status)
			if err := db.AddChange(t.Context(), openChange(anna, other)); registrar.CodeOf(err) != steward.UnderWay {
				t.Errorf("%s: %v", status, err)
			}
		}
	})
}

func TestAChangeMovesOnceWithAllThatItMeans(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		domain := heldBy(t, db, anna, "eins.org", holding.StatusActive)
		if err := db.AddChange(ctx, openChange(anna, domain)); err != nil {
			t.Fatal(err)
		}
		if due, err := db.DueChanges(ctx, testTime.Add(-time.Second), 10); err != nil || len(due) != 0 {
			t.Errorf("%d are due too early, %v", len(due), err)
		}
		due, err := db.DueChanges(ctx, testTime, 10)
		if err != nil || len(due) != 1 || due[0].Wanted.DS.KeyTag != 7 || due[0].SealedCode != "sealed" || due[0].Actor.Through != "ses_1" || due[0].Name != "eins.org" {
			t.Fatalf("due are %+v, %v", due, err)
		}
		if released, err := db.TakeNode(ctx, "b", testTime); err != nil || released.Changes != 0 {
			t.Errorf("another node's: %+v, %v", released, err)
		}
		done := due[0]
		done.State, done.DueAt, done.Node, done.SealedCode = steward.StateDone, time.Time{}, "", ""
		record := steward.Record{Handle: "DK2", Nameservers: []steward.Nameserver{{Name: "ns1.example.net"}}, ReadAt: testTime}
		move := steward.Move{
			Was: due[0], Now: done, Record: &record, At: testTime,
			Deed:   &registrar.Deed{Actor: done.Actor, Action: "domain_holder_changed", Customer: anna, Object: "eins.org", At: testTime},
			Letter: &registrar.Letter{Kind: registrar.LetterDomainChanged, Customer: anna, Facts: map[string]string{"domain": "eins.org"}},
		}
		for i, want := range []bool{true, false} {
			if moved, err := db.MoveChange(ctx, move); err != nil || moved != want {
				t.Errorf("step %d: %t, %v", i, moved, err)
			}
		}
		if got, held, err := db.DomainOf(ctx, anna, domain); err != nil || !held || got.Handle != "DK2" {
			t.Errorf("the domain is %+v, %v", got, err)
		}
		if got := count(t, db, `SELECT count(*) FROM mails WHERE kind = 'domain_changed'`); got != 1 {
			t.Errorf("%d letters", got)
		}
		deeds, err := db.DeedsAbout(ctx, anna, "eins.org", 10)
		if err != nil || len(deeds) != 2 || deeds[0].Action != "domain_holder_changed" && deeds[1].Action != "domain_holder_changed" {
			t.Errorf("the audit tells %+v, %v", deeds, err)
		}
		// An older word of the registry does not replace a newer one.
		older := steward.Record{Handle: "DK1", ReadAt: testTime.Add(-time.Minute)}
		if err := db.KeepRecord(ctx, domain, older); err != nil {
			t.Fatal(err)
		}
		if got, known, err := db.RecordOf(ctx, domain); err != nil || !known || got.Handle != "DK2" || got.Nameservers[0].Name != "ns1.example.net" || !got.ReadAt.Equal(testTime) {
			t.Errorf("kept is %+v, %v", got, err)
		}
		if changes, err := db.ChangesOf(ctx, domain, 10); err != nil || len(changes) != 1 || changes[0].State != steward.StateDone || changes[0].SealedCode != "" {
			t.Errorf("the history is %+v, %v", changes, err)
		}
		// The next one may begin.
		if err := db.AddChange(ctx, openChange(anna, domain)); err != nil {
			t.Error(err)
		}
	})
}
