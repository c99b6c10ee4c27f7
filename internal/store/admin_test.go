package store

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
)

func TestDomainLock_ActiveUntilLifted(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		event := registrar.AuditEvent{Actor: operatorActor(), Action: admin.LockSet, Customer: anna, Object: "streit.de", At: testTime}
		mail := registrar.Mail{Kind: registrar.MailDomainLock, Customer: anna}
		lock := admin.Lock{
			ID: "lck_1", Domain: "dom_1", Name: "streit.de", Customer: anna, Cause: admin.Court, Reason: "Beschluss", Reference: "312 O 99/26",
			Restrictions: []admin.Restriction{admin.Transfer, admin.Nameservers}, ReviewAt: testTime.Add(48 * time.Hour), SetBy: "root", SetAt: testTime,
		}
		sooner := lock
		sooner.ID, sooner.ReviewAt = "lck_2", testTime.Add(time.Hour)
		for _, one := range []admin.Lock{lock, sooner} {
			if err := db.AddDomainLock(ctx, one, event, mail, testTime); err != nil {
				t.Fatal(err)
			}
		}
		all, err := db.ListActiveDomainLocks(ctx, 10)
		if err != nil || len(all) != 2 || all[0].ID != "lck_2" || len(all[1].Restrictions) != 2 || !all[1].ReviewAt.Equal(lock.ReviewAt) {
			t.Fatalf("active locks: %+v, %v", all, err)
		}
		lock.LiftedBy, lock.LiftedAt = "root", testTime
		for _, want := range []bool{true, false} {
			if lifted, err := db.LiftDomainLock(ctx, lock, event, mail, testTime); err != nil || lifted != want {
				t.Errorf("lifted %t, %v, want %t", lifted, err, want)
			}
		}
		left, err := db.ListActiveLocksOfDomain(ctx, "dom_1")
		if err != nil || len(left) != 1 || left[0].ID != "lck_2" {
			t.Errorf("remaining locks: %+v, %v", left, err)
		}
		for customer, want := range map[string]int{anna: 1, newCustomer(t, db, "bert"): 0} {
			if own, err := db.ListActiveLocksOfCustomer(ctx, customer, 10); err != nil || len(own) != want || want > 0 && own[0].ID != "lck_2" {
				t.Errorf("locks of %s: %+v, %v", customer, own, err)
			}
		}
		if lifted, err := db.ListLiftedDomainLocks(ctx, 10); err != nil || len(lifted) != 1 || lifted[0].LiftedAt.IsZero() {
			t.Errorf("lifted locks: %+v, %v", lifted, err)
		}
		events, err := db.ListAuditEvents(ctx, anna, "", 10)
		if err != nil || len(events) != 3 {
			t.Errorf("%d audit events, %v", len(events), err)
		}
	})
}

// A sandbox may move the business time; mails are sent by the wall clock.
func TestDomainLock_MailIsDueAtOnceWhateverTheBusinessTime(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		domain := addDomain(t, db, anna, "streit", registrar.DomainActive, testTime.AddDate(1, 0, 0))
		business := testTime.AddDate(0, 0, 1)
		service, err := admin.New(admin.Config{Store: db, Now: atTestTime, Business: func() time.Time { return business }})
		if err != nil {
			t.Fatal(err)
		}
		lock, _, err := service.SetLock(ctx, operatorActor(), admin.LockRequest{
			Name: domain.Name, Cause: admin.Court, Reason: "Beschluss", Restrictions: []admin.Restriction{admin.Nameservers}, ReviewAt: business.AddDate(0, 1, 0),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := service.LiftLock(ctx, operatorActor(), lock.ID); err != nil {
			t.Fatal(err)
		}
		mails, err := db.ClaimDueMails(ctx, testTime, testTime.Add(time.Minute), 10)
		if err != nil || len(mails) != 2 {
			t.Fatalf("due: %+v, %v", mails, err)
		}
		for _, mail := range mails {
			if mail.Kind != registrar.MailDomainLock || mail.Data[registrar.NoticeDomain] != domain.ID || mail.Data[registrar.MailOccurredAt] != business.UTC().Format(time.RFC3339) {
				t.Errorf("%+v", mail)
			}
		}
	})
}

// A hold that was about to be stored when the lock was lifted must not take the domain out of the DNS
// for good.
func TestDomainLock_NoHoldIsStoredOnceLifted(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		id := addHeldDomain(t, db, anna, "phishing.org", registrar.DomainActive)
		event := registrar.AuditEvent{Actor: operatorActor(), Action: admin.LockSet, Customer: anna, Object: "phishing.org", At: testTime}
		mail := registrar.Mail{Kind: registrar.MailDomainLock, Customer: anna}
		lock := admin.Lock{
			ID: "lck_1", Domain: id, Name: "phishing.org", Customer: anna, Cause: admin.Abuse, Reason: "Phishing",
			Restrictions: []admin.Restriction{admin.Transfer, admin.Hold}, ReviewAt: testTime.Add(time.Hour), SetBy: "root", SetAt: testTime, HoldStepAt: testTime,
		}
		if err := db.AddDomainLock(ctx, lock, event, mail, testTime); err != nil {
			t.Fatal(err)
		}
		for reference, want := range map[string]bool{"chk_1": true, "dis_1": true, "lck_2": true, lock.ID: false} {
			if held, err := db.IsHeldOtherwise(ctx, id, reference); err != nil || held != want {
				t.Errorf("%s may not end the hold: %t, %v", reference, held, err)
			}
		}
		if suspended, err := db.IsDomainSuspended(ctx, id); err != nil || !suspended {
			t.Errorf("a renewal ends the hold: %v", err)
		}
		due, err := db.ListDueLockHolds(ctx, testTime, 10)
		if err != nil || len(due) != 1 || due[0].ID != lock.ID {
			t.Fatalf("due: %+v, %v", due, err)
		}
		lock.LiftedBy, lock.LiftedAt, lock.HoldStepAt = "root", testTime, testTime
		if lifted, err := db.LiftDomainLock(ctx, lock, event, mail, testTime); err != nil || !lifted {
			t.Fatal(lifted, err)
		}
		if stored, err := db.SetLockHoldStep(ctx, due[0], time.Time{}); err != nil || stored {
			t.Errorf("the release was forgotten: %t, %v", stored, err)
		}
		hold := newOpenChange(anna, id)
		hold.Kind, hold.Desired = domainchange.Hold, domainchange.DesiredState{Lock: lock.ID}
		if err := db.AddDomainChange(ctx, hold); registrar.CodeOf(err) != domainchange.ChangeInProgress {
			t.Errorf("a hold was stored after the end of the lock: %v", err)
		}
		if stored, err := db.SetLockHoldStep(ctx, lock, time.Time{}); err != nil || !stored {
			t.Errorf("ended: %t, %v", stored, err)
		}
		if due, err := db.ListDueLockHolds(ctx, testTime.AddDate(1, 0, 0), 10); err != nil || len(due) != 0 {
			t.Errorf("still due: %+v, %v", due, err)
		}
		if held, err := db.IsHeldOtherwise(ctx, id, "chk_1"); err != nil || held {
			t.Errorf("a lifted lock holds: %v", err)
		}
	})
}

// A leased job keeps its lease, even if an operator retries it.
func TestMakeJobDue_SkipsLeasedJobs(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		addProvisionItem(t, db, anna, "neu.org", "manual:1")
		item := admin.JobItem
		event := registrar.AuditEvent{Actor: operatorActor(), Action: admin.JobRetried, At: testTime}
		job := func(tried bool) admin.Job {
			t.Helper()
			jobs, err := db.ListJobs(ctx, item, tried, 10)
			if err != nil || len(jobs) != 1 {
				t.Fatalf("%v, %v", jobs, err)
			}
			return jobs[0]
		}
		if tried, err := db.ListJobs(ctx, item, true, 10); err != nil || len(tried) != 0 {
			t.Errorf("jobs with attempts: %v, %v", tried, err)
		}
		later := testTime.Add(time.Hour)
		execStatement(t, db, `UPDATE provision_items SET attempts = 3, node = 'a', due_at = $1`, micros(later))
		if retried, err := db.RetryJobNow(ctx, item, job(true).ID, testTime, event); err != nil || retried {
			t.Errorf("a leased job was made due: %t, %v", retried, err)
		}
		execStatement(t, db, `UPDATE provision_items SET node = ''`)
		if retried, err := db.RetryJobNow(ctx, item, job(true).ID, testTime, event); err != nil || !retried {
			t.Errorf("made due: %t, %v", retried, err)
		}
		if got := job(false); !got.DueAt.Equal(testTime) || got.Attempts != 3 || got.Name != "neu.org" {
			t.Errorf("afterwards: %+v", got)
		}

		// A mail's lease looks like a pause, so only a pause longer than any lease
		// counts.
		for id, ahead := range map[string]time.Duration{"mai_lease": time.Minute, "mai_pause": time.Hour} {
			execStatement(t, db, `INSERT INTO mails (id, kind, customer_id, recipient, language, data, created_at, due_at, attempts)
				VALUES ($1, 'reset', '', 'a@example.org', 'de', '{}', 1, $2, 2)`, id, micros(testTime.Add(ahead)))
			if retried, err := db.RetryJobNow(ctx, admin.JobMail, id, testTime, event); err != nil || retried != (id == "mai_pause") {
				t.Errorf("%s was made due: %t, %v", id, retried, err)
			}
		}
		for _, kind := range admin.JobKinds() {
			if retried, err := db.RetryJobNow(ctx, kind, "no such", testTime, event); err != nil || retried {
				t.Errorf("%s: made due: %t, %v", kind, retried, err)
			}
		}
	})
}

func TestJobError_KeepsLatestAndDeletesOld(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		for i, code := range []registrar.Code{"upstream_timeout", "registry_billing"} {
			at := testTime.Add(time.Duration(i) * time.Minute)
			if err := db.PutJobError(ctx, admin.JobItem, "prv_1", admin.JobError{Code: code, At: at}, testTime.Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		if last, known, err := db.GetJobError(ctx, admin.JobItem, "prv_1"); err != nil || !known || last.Code != "registry_billing" {
			t.Errorf("%v, %t, %v", last, known, err)
		}
		if _, known, err := db.GetJobError(ctx, admin.JobOrder, "prv_1"); err != nil || known {
			t.Errorf("of another kind: %t, %v", known, err)
		}
		later := testTime.Add(time.Hour)
		if err := db.PutJobError(ctx, admin.JobMail, "mai_1", admin.JobError{Code: "x", At: later}, later); err != nil {
			t.Fatal(err)
		}
		if _, known, err := db.GetJobError(ctx, admin.JobItem, "prv_1"); err != nil || known {
			t.Errorf("an old entry is still present: %t, %v", known, err)
		}
	})
}
