package store

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// addDomain adds a domain to a customer.
func addDomain(t *testing.T, db *DB, customer, label string, status registrar.DomainStatus, until time.Time) portfolio.Domain {
	t.Helper()
	domain, err := newPortfolioService(t, db).Add(t.Context(), operatorActor(), portfolio.AddParams{
		Customer: customer, Name: registrar.NewName(label, ".org"), Status: status, PaidUntil: until,
	})
	if err != nil {
		t.Fatal(err)
	}
	return domain
}

func newExpiryNotice(domain portfolio.Domain, last, notice lifecycle.Notice) lifecycle.NoticeUpdate {
	update := lifecycle.NoticeUpdate{
		Domain: lifecycle.Domain{ID: domain.ID, Customer: domain.Customer, Name: domain.Name, PaidUntil: domain.PaidUntil, LastNotice: last},
		Notice: notice, Now: testTime, At: testTime,
		Mail: registrar.Mail{Kind: registrar.MailExpiringMonth, Customer: domain.Customer, Data: map[string]string{"domain": domain.Name}},
	}
	if notice == lifecycle.NoticeExpired {
		update.AuditEvent = &registrar.AuditEvent{Actor: registrar.Actor{Kind: registrar.ActorSystem}, Action: lifecycle.ActionExpired, Customer: domain.Customer, At: testTime}
	}
	return update
}

func TestListExpiringDomains_ByLastNotice(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		soon, later := testTime.AddDate(0, 0, 5), testTime.AddDate(0, 0, 20)
		first := addDomain(t, db, anna, "bald", registrar.DomainActive, soon)
		second := addDomain(t, db, anna, "spaeter", registrar.DomainActive, later)
		addDomain(t, db, anna, "naechstes-jahr", registrar.DomainActive, testTime.AddDate(1, 0, 0))
		addDomain(t, db, anna, "weg", registrar.DomainTransferredOut, soon)
		addDomain(t, db, anna, "geloescht", registrar.DomainRedemption, soon)
		renewing := addDomain(t, db, anna, "bezahlt", registrar.DomainActive, soon)
		line := newProvisionItem(anna, renewing.Name, "manual:1")
		line.Kind, line.Domain = provision.Renew, renewing.ID
		if _, err := db.AddProvisionItem(ctx, line, orderedEvent(anna, line.Name)); err != nil {
			t.Fatal(err)
		}
		names := func(last lifecycle.Notice) (names string) {
			ending, err := db.ListEndingDomains(ctx, last, testTime.AddDate(0, 0, 30), 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, domain := range ending {
				names += domain.Name + " "
			}
			return names
		}
		if got := names(lifecycle.NoticeNone); got != "bald.org spaeter.org " {
			t.Errorf("pending notices: %s", got)
		}
		for _, domain := range []portfolio.Domain{first, second} {
			if stored, err := db.StoreExpiryNotice(ctx, newExpiryNotice(domain, lifecycle.NoticeNone, lifecycle.NoticeMonth)); err != nil || !stored {
				t.Fatal(stored, err)
			}
			if stored, err := db.StoreExpiryNotice(ctx, newExpiryNotice(domain, lifecycle.NoticeNone, lifecycle.NoticeMonth)); err != nil || stored {
				t.Errorf("the same notice twice: %t, %v", stored, err)
			}
		}
		if none, month := names(lifecycle.NoticeNone), names(lifecycle.NoticeMonth); none != "" || month != "bald.org spaeter.org " {
			t.Errorf("then: %q, %q", none, month)
		}
		if stored, err := db.StoreExpiryNotice(ctx, newExpiryNotice(renewing, lifecycle.NoticeNone, lifecycle.NoticeExpired)); err != nil || stored {
			t.Errorf("a domain with a paid renewal got an expiry notice: %t, %v", stored, err)
		}
		if mails := count(t, db, "SELECT count(*) FROM mails"); mails != 2 {
			t.Errorf("%d mails", mails)
		}
	})
}

func TestExpiryNotice_RacingCallersSendOne(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		domain := addDomain(t, db, newCustomer(t, db, "anna"), "bald", registrar.DomainActive, testTime)
		var stored atomic.Int64
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				done, err := db.StoreExpiryNotice(t.Context(), newExpiryNotice(domain, lifecycle.NoticeNone, lifecycle.NoticeExpired))
				if err != nil {
					t.Error(err)
				}
				if done {
					stored.Add(1)
				}
			})
		}
		all.Wait()
		if stored.Load() != 1 || count(t, db, "SELECT count(*) FROM mails") != 1 {
			t.Errorf("stored %d times", stored.Load())
		}
		if got := count(t, db, "SELECT count(*) FROM domains WHERE status = 'expired' AND expiry_notice = 3"); got != 1 {
			t.Error("the domain is not expired")
		}
	})
}

func TestExpiryNotice_EndOfTermMakesComparisonWithRegistryDue(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		domain := addDomain(t, db, newCustomer(t, db, "anna"), "bald", registrar.DomainActive, testTime)
		for _, test := range []struct {
			last, notice lifecycle.Notice
			due          int
		}{{lifecycle.NoticeNone, lifecycle.NoticeWeek, 0}, {lifecycle.NoticeWeek, lifecycle.NoticeExpired, 1}} {
			if stored, err := db.StoreExpiryNotice(t.Context(), newExpiryNotice(domain, test.last, test.notice)); err != nil || !stored {
				t.Fatal(stored, err)
			}
			if found, err := db.ListDueDomains(t.Context(), testTime, 10); err != nil || len(found) != test.due {
				t.Errorf("after notice %d: %d due, %v", test.notice, len(found), err)
			}
		}
	})
}

func TestUpdateDomainFromRegistry_DeletedDomainIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		deleted := testTime.AddDate(0, 0, -10)
		added := addDomain(t, db, anna, "weg", registrar.DomainRedemption, testTime.AddDate(0, 0, -55))
		for range 2 { // it is compared every day
			was, _, err := db.DomainByName(ctx, added.Name)
			if err != nil {
				t.Fatal(err)
			}
			now := was
			now.SyncedAt, now.DeletedAt = testTime, deleted
			if stored, err := db.UpdateDomainFromRegistry(ctx, was, now, nil); err != nil || !stored {
				t.Fatal(stored, err)
			}
		}
		due, err := db.ListDueTerms(ctx, testTime, testTime, false, 10)
		if err != nil || len(due) != 1 || due[0].State != lifecycle.Redemption || !due[0].DeletedAt.Equal(deleted) || due[0].Domain != added.ID {
			t.Errorf("followed: %+v, %v", due, err)
		}
		if listed, _, err := db.GetDomain(ctx, anna, added.ID); err != nil || !listed.Term.DeletedAt.Equal(deleted) {
			t.Errorf("the list: %+v, %v", listed.Term, err)
		}
	})
}

func TestRenewal_ExtendsTermOnceAndResetsNotices(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		domain := addDomain(t, db, anna, "alt", registrar.DomainActive, testTime)
		if stored, err := db.StoreExpiryNotice(ctx, newExpiryNotice(domain, lifecycle.NoticeNone, lifecycle.NoticeExpired)); err != nil || !stored {
			t.Fatal(stored, err)
		}
		line := newProvisionItem(anna, domain.Name, "manual:1")
		line.Kind, line.Domain = provision.Renew, domain.ID
		line, err := db.AddProvisionItem(ctx, line, orderedEvent(anna, line.Name))
		if err != nil {
			t.Fatal(err)
		}
		line = mustUpdateItem(t, db, itemTransition(line, func(l *provision.Item, _ *provision.Transition) {
			l.State, l.RenewFrom = provision.StateRequested, testTime.AddDate(0, 0, 1)
		}))
		if stored, _, err := db.ProvisionItemByID(ctx, line.ID); err != nil || !stored.RenewFrom.Equal(line.RenewFrom) || stored.Domain != domain.ID {
			t.Errorf("stored %+v, %v", stored, err)
		}
		until := testTime.AddDate(1, 0, 0)
		end := itemTransition(line, func(l *provision.Item, m *provision.Transition) {
			l.State, l.DueAt = provision.StateActive, time.Time{}
			m.Renewal = &provision.Renewal{Domain: domain.ID, From: testTime, Until: until, RegistryExpires: until, SyncDue: testTime, At: testTime}
		})
		wrong := end
		wrong.Renewal = &provision.Renewal{Domain: domain.ID, From: testTime.AddDate(0, 1, 0), Until: until, At: testTime}
		if _, err := db.UpdateProvisionItem(ctx, wrong); err == nil {
			t.Error("a term that has changed since was renewed")
		}
		mustUpdateItem(t, db, end)
		if moved, err := db.UpdateProvisionItem(ctx, end); err != nil || moved {
			t.Errorf("the same step twice: %t, %v", moved, err)
		}
		renewed, _, err := db.DomainByName(ctx, domain.Name)
		if err != nil || !renewed.PaidUntil.Equal(until) || renewed.Status != "active" {
			t.Errorf("%+v, %v", renewed, err)
		}
		if got := count(t, db, "SELECT count(*) FROM domains WHERE expiry_notice = 0"); got != 1 {
			t.Error("the notices do not restart for the new term")
		}
	})
}

func TestUpdateProvisionItem_RestoreOfSuspendedDomainKeepsHold(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		for label, test := range map[string]struct {
			restored, released bool
			want               string
		}{
			"renewed":   {false, false, "ok pendingDelete redemptionPeriod clientHold"},
			"suspended": {true, false, "ok clientHold"},
			"released":  {true, true, "ok"},
		} {
			domain := addDomain(t, db, anna, label, registrar.DomainRedemption, testTime)
			execStatement(t, db, `UPDATE domains SET registry_status = 'ok pendingDelete redemptionPeriod clientHold' WHERE id = $1`, domain.ID)
			item := newProvisionItem(anna, domain.Name, "manual:"+label)
			item.Kind, item.Domain = provision.Restore, domain.ID
			item, err := db.AddProvisionItem(ctx, item, orderedEvent(anna, item.Name))
			if err != nil {
				t.Fatal(err)
			}
			mustUpdateItem(t, db, itemTransition(item, func(l *provision.Item, m *provision.Transition) {
				l.State, l.DueAt = provision.StateActive, time.Time{}
				m.Renewal = &provision.Renewal{
					Domain: domain.ID, From: testTime, Until: testTime.AddDate(1, 0, 0), At: testTime, Restored: test.restored, Released: test.released,
				}
			}))
			if stored, _, err := db.DomainByName(ctx, domain.Name); err != nil || strings.Join(stored.RegistryStatus, " ") != test.want {
				t.Errorf("%s: %q, %v", label, stored.RegistryStatus, err)
			}
		}
	})
}

func TestAddProvisionItem_RenewalRequiresOwnDomain(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, bert := newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		domain := addDomain(t, db, anna, "alt", registrar.DomainActive, testTime)
		line := newProvisionItem(bert, domain.Name, "manual:1")
		line.Kind, line.Domain = provision.Renew, domain.ID
		if _, err := db.AddProvisionItem(t.Context(), line, orderedEvent(bert, line.Name)); registrar.CodeOf(err) != registrar.NameHeld {
			t.Errorf("of another customer: %v", err)
		}
	})
}
