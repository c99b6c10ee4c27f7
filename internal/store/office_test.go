package store

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
)

func TestLocksAreInForceUntilTheyAreLifted(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		deed := registrar.Deed{Actor: operator(), Action: office.LockSet, Customer: anna, Object: "streit.de", At: testTime}
		letter := registrar.Letter{Kind: registrar.LetterDomainLock, Customer: anna}
		lock := office.Lock{
			ID: "lck_1", Domain: "dom_1", Name: "streit.de", Customer: anna, Cause: office.Court, Reason: "Beschluss", Reference: "312 O 99/26",
			Blocks: []office.Block{office.Transfer, office.Nameservers}, ReviewAt: testTime.Add(48 * time.Hour), SetBy: "root", SetAt: testTime,
		}
		sooner := lock
		sooner.ID, sooner.ReviewAt = "lck_2", testTime.Add(time.Hour)
		for _, one := range []office.Lock{lock, sooner} {
			if err := db.AddLock(ctx, one, deed, letter); err != nil {
				t.Fatal(err)
			}
		}
		all, err := db.LocksInForce(ctx, 10)
		if err != nil || len(all) != 2 || all[0].ID != "lck_2" || len(all[1].Blocks) != 2 || !all[1].ReviewAt.Equal(lock.ReviewAt) {
			t.Fatalf("in force: %+v, %v", all, err)
		}
		lock.LiftedBy, lock.LiftedAt = "root", testTime
		for _, want := range []bool{true, false} {
			if lifted, err := db.LiftLock(ctx, lock, deed, letter); err != nil || lifted != want {
				t.Errorf("lifted %t, %v, want %t", lifted, err, want)
			}
		}
		left, err := db.LocksOf(ctx, "dom_1")
		if err != nil || len(left) != 1 || left[0].ID != "lck_2" {
			t.Errorf("left: %+v, %v", left, err)
		}
		if lifted, err := db.LiftedLocks(ctx, 10); err != nil || len(lifted) != 1 || lifted[0].LiftedAt.IsZero() {
			t.Errorf("lifted: %+v, %v", lifted, err)
		}
		deeds, err := db.DeedsOf(ctx, anna, "", 10)
		if err != nil || len(deeds) != 3 {
			t.Errorf("%d deeds, %v", len(deeds), err)
		}
	})
}

// What somebody works on keeps its lease, whoever asks.
func TestOnlyWorkThatNobodyHasInHandIsHurried(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		addLine(t, db, anna, "neu.org", "manual:1")
		line := office.JobLine
		deed := registrar.Deed{Actor: operator(), Action: office.Retried, At: testTime}
		job := func(tried bool) office.Job {
			t.Helper()
			jobs, err := db.Work(ctx, line, tried, 10)
			if err != nil || len(jobs) != 1 {
				t.Fatalf("%v, %v", jobs, err)
			}
			return jobs[0]
		}
		if tried, err := db.Work(ctx, line, true, 10); err != nil || len(tried) != 0 {
			t.Errorf("tried: %v, %v", tried, err)
		}
		later := testTime.Add(time.Hour)
		change(t, db, `UPDATE lines SET attempts = 3, node = 'a', due_at = $1`, micros(later))
		if hurried, err := db.HurryJob(ctx, line, job(true).ID, testTime, deed); err != nil || hurried {
			t.Errorf("what a node works on was hurried: %t, %v", hurried, err)
		}
		change(t, db, `UPDATE lines SET node = ''`)
		if hurried, err := db.HurryJob(ctx, line, job(true).ID, testTime, deed); err != nil || !hurried {
			t.Errorf("hurried %t, %v", hurried, err)
		}
		if got := job(false); !got.DueAt.Equal(testTime) || got.Attempts != 3 || got.Name != "neu.org" {
			t.Errorf("afterwards %+v", got)
		}

		// A mail's lease looks like a pause, so only what is longer than any lease is one.
		for id, ahead := range map[string]time.Duration{"mai_lease": time.Minute, "mai_pause": time.Hour} {
			change(t, db, `INSERT INTO mails (id, kind, customer_id, recipient, language, data, created_at, due_at, attempts)
				VALUES ($1, 'reset', '', 'a@example.org', 'de', '{}', 1, $2, 2)`, id, micros(testTime.Add(ahead)))
			if hurried, err := db.HurryJob(ctx, office.JobMail, id, testTime, deed); err != nil || hurried != (id == "mai_pause") {
				t.Errorf("%s was hurried: %t, %v", id, hurried, err)
			}
		}
		for _, kind := range office.JobKinds() {
			if hurried, err := db.HurryJob(ctx, kind, "no such", testTime, deed); err != nil || hurried {
				t.Errorf("%s: hurried %t, %v", kind, hurried, err)
			}
		}
	})
}

func TestTheLastSetbackIsKeptAndOldOnesGo(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		for i, code := range []registrar.Code{"upstream_timeout", "registry_billing"} {
			at := testTime.Add(time.Duration(i) * time.Minute)
			if err := db.KeepSetback(ctx, office.JobLine, "lin_1", office.Setback{Code: code, At: at}, testTime.Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		if last, known, err := db.Setback(ctx, office.JobLine, "lin_1"); err != nil || !known || last.Code != "registry_billing" {
			t.Errorf("%v, %t, %v", last, known, err)
		}
		if _, known, err := db.Setback(ctx, office.JobOrder, "lin_1"); err != nil || known {
			t.Errorf("another kind's: %t, %v", known, err)
		}
		later := testTime.Add(time.Hour)
		if err := db.KeepSetback(ctx, office.JobMail, "mai_1", office.Setback{Code: "x", At: later}, later); err != nil {
			t.Fatal(err)
		}
		if _, known, err := db.Setback(ctx, office.JobLine, "lin_1"); err != nil || known {
			t.Errorf("an old one stays: %t, %v", known, err)
		}
	})
}
