package store

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
)

func addHeldDomain(t *testing.T, db *DB, customer, name string, status registrar.DomainStatus) string {
	t.Helper()
	domain := portfolio.Domain{
		ID: registrar.NewID("dom_", testTime), Customer: customer, Name: name, TLD: ".org", Status: status, CreatedAt: testTime, UpdatedAt: testTime,
	}
	event := registrar.AuditEvent{Actor: operatorActor(), Action: portfolio.DomainAdded, Customer: customer, Object: name, At: testTime}
	if err := db.AddDomain(t.Context(), domain, event); err != nil {
		t.Fatal(err)
	}
	return domain.ID
}

func newOpenChange(customer, domain string) domainchange.Change {
	return domainchange.Change{
		ID: registrar.NewID("chg_", testTime), Customer: customer, Domain: domain, Name: "eins.org", TLD: ".org", Account: "sandbox", Kind: domainchange.UpdateRegistrant,
		Desired: domainchange.DesiredState{DS: &domainchange.DS{KeyTag: 7, Digest: "AB"}}, Handle: "DK2", OldHandle: "DK1", SealedCode: "sealed", State: domainchange.StatusOpen,
		Actor: registrar.Actor{Kind: registrar.ActorPerson, Customer: customer, Through: "ses_1"},
		DueAt: testTime, Node: "a", Attempts: 1, CreatedAt: testTime, UpdatedAt: testTime,
	}
}

func TestAddChange_RacingCallersOneOpenChange(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, bert := newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		domain := addHeldDomain(t, db, anna, "eins.org", registrar.DomainActive)
		var all sync.WaitGroup
		var added, refused atomic.Int64
		for range 8 {
			all.Go(func() {
				switch err := db.AddDomainChange(t.Context(), newOpenChange(anna, domain)); registrar.CodeOf(err) {
				case "":
					if err == nil {
						added.Add(1)
					}
				case domainchange.ChangeInProgress:
					refused.Add(1)
				}
			})
		}
		all.Wait()
		if added.Load() != 1 || refused.Load() != 7 {
			t.Errorf("%d were added, %d refused", added.Load(), refused.Load())
		}
		if err := db.AddDomainChange(t.Context(), newOpenChange(bert, domain)); registrar.CodeOf(err) != registrar.NoSuchDomain {
			t.Errorf("of another customer: %v", err)
		}
		for _, status := range []registrar.DomainStatus{registrar.DomainPending, registrar.DomainTransferredOut} {
			other := addHeldDomain(t, db, anna, string(status)+".org", status)
			if err := db.AddDomainChange(t.Context(), newOpenChange(anna, other)); registrar.CodeOf(err) != domainchange.ChangeInProgress {
				t.Errorf("%s: %v", status, err)
			}
		}
	})
}

func TestUpdateChange_AppliesOnceWithItsEffects(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		domain := addHeldDomain(t, db, anna, "eins.org", registrar.DomainActive)
		if err := db.AddDomainChange(ctx, newOpenChange(anna, domain)); err != nil {
			t.Fatal(err)
		}
		if due, err := db.ClaimDueDomainChanges(ctx, testTime.Add(-time.Second), testTime.Add(-time.Second), testTime, 10); err != nil || len(due) != 0 {
			t.Errorf("%d are due too early, %v", len(due), err)
		}
		lease := testTime.Add(time.Minute)
		due, err := db.ClaimDueDomainChanges(ctx, testTime, testTime, lease, 10)
		if err != nil || len(due) != 1 || due[0].Desired.DS.KeyTag != 7 || due[0].SealedCode != "sealed" || due[0].Actor.Through != "ses_1" || due[0].Name != "eins.org" || !due[0].DueAt.Equal(lease) {
			t.Fatalf("due: %+v, %v", due, err)
		}
		if again, err := db.ClaimDueDomainChanges(ctx, testTime, testTime, lease, 10); err != nil || len(again) != 0 {
			t.Errorf("%d leased ones are claimed again, %v", len(again), err)
		}
		if released, err := db.ClaimNode(ctx, "b", testTime); err != nil || released.DomainChanges != 0 {
			t.Errorf("of another node: %+v, %v", released, err)
		}
		done := due[0]
		done.State, done.DueAt, done.Node, done.SealedCode = domainchange.StatusDone, time.Time{}, "", ""
		record := domainchange.Record{Handle: "DK2", Nameservers: []domainchange.Nameserver{{Name: "ns1.example.net"}}, ReadAt: testTime}
		transition := domainchange.Transition{
			From: due[0], To: done, Record: &record, At: testTime,
			AuditEvent: &registrar.AuditEvent{Actor: done.Actor, Action: "domain_holder_changed", Customer: anna, Object: "eins.org", At: testTime},
			Mail:       &registrar.Mail{Kind: registrar.MailDomainChanged, Customer: anna, Data: map[string]string{"domain": "eins.org"}},
		}
		for i, want := range []bool{true, false} {
			if moved, err := db.UpdateDomainChange(ctx, transition); err != nil || moved != want {
				t.Errorf("step %d: %t, %v", i, moved, err)
			}
		}
		if got, held, err := db.GetCustomerDomain(ctx, anna, domain); err != nil || !held || got.Handle != "DK2" {
			t.Errorf("domain: %+v, %v", got, err)
		}
		if got := count(t, db, `SELECT count(*) FROM mails WHERE kind = 'domain_changed'`); got != 1 {
			t.Errorf("%d mails", got)
		}
		events, err := db.ListObjectAuditEvents(ctx, anna, "eins.org", 10)
		if err != nil || len(events) != 2 || events[0].Action != "domain_holder_changed" && events[1].Action != "domain_holder_changed" {
			t.Errorf("audit events: %+v, %v", events, err)
		}
		// An older registry record does not replace a newer one.
		older := domainchange.Record{Handle: "DK1", ReadAt: testTime.Add(-time.Minute)}
		if err := db.PutRegistryRecord(ctx, domain, older); err != nil {
			t.Fatal(err)
		}
		if got, known, err := db.GetRegistryRecord(ctx, domain); err != nil || !known || got.Handle != "DK2" || got.Nameservers[0].Name != "ns1.example.net" || !got.ReadAt.Equal(testTime) {
			t.Errorf("stored record: %+v, %v", got, err)
		}
		if changes, err := db.ListDomainChanges(ctx, domain, 10); err != nil || len(changes) != 1 || changes[0].State != domainchange.StatusDone || changes[0].SealedCode != "" {
			t.Errorf("change history: %+v, %v", changes, err)
		}
		// The next change may start.
		if err := db.AddDomainChange(ctx, newOpenChange(anna, domain)); err != nil {
			t.Error(err)
		}
	})
}

func TestAddDomainChange_OfReplacedRegistrantStoresNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		id := addHeldDomain(t, db, anna, "eins.org", registrar.DomainActive)
		domain, _, err := db.GetCustomerDomain(ctx, anna, id)
		if err != nil {
			t.Fatal(err)
		}
		change := newOpenChange(anna, id)
		change.Replaces = domain.RegistrantSince
		execStatement(t, db, `UPDATE domains SET registrant_since = $1 WHERE id = $2`, micros(domain.RegistrantSince.Add(time.Second)), id)
		if err := db.AddDomainChange(ctx, change); registrar.CodeOf(err) != domainchange.ChangeInProgress {
			t.Errorf("stored: %v", err)
		}
		if n := count(t, db, `SELECT count(*) FROM domain_changes`); n != 0 {
			t.Errorf("%d changes are stored", n)
		}
		change.Replaces = change.Replaces.Add(time.Second)
		if err := db.AddDomainChange(ctx, change); err != nil {
			t.Error(err)
		}
	})
}

func TestPutRegistryRecord_ListHasStatusesOfNewestRecord(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		domain := addHeldDomain(t, db, anna, "eins.org", registrar.DomainExpired)
		for _, record := range []domainchange.Record{{Statuses: []string{"serverHold", "inactive"}, ReadAt: testTime}, {Statuses: []string{"ok"}, ReadAt: testTime.Add(-time.Minute)}} {
			if err := db.PutRegistryRecord(t.Context(), domain, record); err != nil {
				t.Fatal(err)
			}
			if listed, found, err := db.GetDomain(t.Context(), anna, domain); err != nil || !found || !listed.OutOfDNS() || !slices.Equal(listed.RegistryStatus, []string{"inactive", "serverHold"}) {
				t.Errorf("the list has the statuses %v, %v", listed.RegistryStatus, err)
			}
		}
	})
}
