package store

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// addUnpaidTerm expires a domain whose term has ended, and returns the unpaid term.
func addUnpaidTerm(t *testing.T, db *DB, domain portfolio.Domain) lifecycle.Term {
	t.Helper()
	if err := db.StartBrake(t.Context(), domain.PaidUntil.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	notice := newExpiryNotice(domain, lifecycle.NoticeNone, lifecycle.NoticeExpired)
	notice.StepAt = domain.PaidUntil.AddDate(0, 0, 10)
	if stored, err := db.StoreExpiryNotice(t.Context(), notice); err != nil || !stored {
		t.Fatal(stored, err)
	}
	term, found, err := db.GetOpenTerm(t.Context(), domain.ID)
	if err != nil || !found {
		t.Fatalf("no unpaid term of %s, %v", domain.Name, err)
	}
	return term
}

// deleteQueuedMails deletes due mails, as the mailer does.
func deleteQueuedMails(t *testing.T, db *DB) {
	t.Helper()
	for _, mail := range listDueMails(t, db, testTime) {
		if err := db.DeleteMail(t.Context(), mail.ID, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// addEvidence stores that a notice about a term was accepted or abandoned.
func addEvidence(t *testing.T, db *DB, term lifecycle.Term, kind registrar.MailKind, accepted bool) {
	t.Helper()
	mail := mailer.QueuedMail{
		ID: registrar.NewID("mail_", testTime), Kind: kind, Customer: term.Customer, To: "anna@example.org", CreatedAt: testTime,
		Data: map[string]string{"domain": term.Name, registrar.NoticeDomain: term.Domain, registrar.NoticeTerm: registrar.NoticeTermText(term.End)},
	}
	if err := db.DeleteMail(t.Context(), mail.ID, &mailer.Evidence{
		Mail: mail, Delivery: mailer.Delivery{Subject: "s", Text: "t", Response: "2.0.0 queued"}, At: testTime, Accepted: accepted,
	}); err != nil {
		t.Fatal(err)
	}
}

// deletion is the intent to delete a domain.
func deletion(term lifecycle.Term) lifecycle.BeginAction {
	begin := lifecycle.BeginAction{From: term, To: term, Notices: true, Counted: true, Day: lifecycle.DayOf(testTime), DayLimit: 20, Now: testTime}
	begin.To.State = lifecycle.Deleting
	return begin
}

func wantVerdict(t *testing.T, db *DB, begin lifecycle.BeginAction, want lifecycle.Verdict) {
	t.Helper()
	if verdict, err := db.BeginAction(t.Context(), begin); err != nil || verdict != want {
		t.Errorf("verdict %q, %v; want %q", verdict, err, want)
	}
}

func TestUnpaidTerm_IsStoredUnlessItEndedBeforeFirstRun(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		before := addDomain(t, db, anna, "vorher", registrar.DomainActive, testTime.Add(-time.Minute))
		after := addDomain(t, db, anna, "nachher", registrar.DomainActive, testTime.Add(time.Minute))
		if err := db.StartBrake(ctx, testTime); err != nil {
			t.Fatal(err)
		}
		for _, domain := range []portfolio.Domain{before, after} {
			if stored, err := db.StoreExpiryNotice(ctx, newExpiryNotice(domain, lifecycle.NoticeNone, lifecycle.NoticeExpired)); err != nil || !stored {
				t.Fatal(stored, err)
			}
		}
		if _, found, err := db.GetOpenTerm(ctx, before.ID); err != nil || found {
			t.Errorf("a term from before the first run has a row: %t, %v", found, err)
		}
		if term, found, err := db.GetOpenTerm(ctx, after.ID); err != nil || !found || term.State != lifecycle.Unpaid || term.Name != after.Name || !term.End.Equal(after.PaidUntil) {
			t.Errorf("got %+v, %t, %v", term, found, err)
		}
		overdue, err := db.ListOverdueDomains(ctx, testTime, 10)
		if err != nil || len(overdue) != 1 || overdue[0].ID != before.ID {
			t.Errorf("overdue: %+v, %v", overdue, err)
		}
		event := registrar.AuditEvent{Actor: operatorActor(), Action: lifecycle.ActionAdopted, Customer: anna, At: testTime}
		if adopted, err := db.AdoptTerm(ctx, before.ID, testTime, testTime, event); err != nil || !adopted {
			t.Error(adopted, err)
		}
		if overdue, err := db.ListOverdueDomains(ctx, testTime, 10); err != nil || len(overdue) != 0 {
			t.Errorf("after its adoption: %+v, %v", overdue, err)
		}
	})
}

func TestBeginAction_NamesWhatPreventsIt(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		domain := addDomain(t, db, anna, "alt", registrar.DomainActive, testTime)
		term := addUnpaidTerm(t, db, domain)

		wantVerdict(t, db, deletion(term), lifecycle.MailQueued)
		deleteQueuedMails(t, db)
		addEvidence(t, db, term, registrar.MailExpiringWeek, true)
		addEvidence(t, db, term, registrar.MailExpired, false)
		wantVerdict(t, db, deletion(term), lifecycle.Verdict(lifecycle.WaitsForNotices))
		hold := deletion(term)
		hold.Notices = false
		hold.Consent = true
		wantVerdict(t, db, hold, lifecycle.Verdict(lifecycle.WaitsForConsent))
		addEvidence(t, db, term, registrar.MailExpired, true)

		changed := deletion(term)
		changed.From.DueAt = term.DueAt.Add(time.Second)
		wantVerdict(t, db, changed, lifecycle.Changed)
		other := deletion(term)
		other.From.End = term.End.Add(time.Second)
		wantVerdict(t, db, other, lifecycle.NotUnpaid)

		line := newProvisionItem(anna, domain.Name, "manual:1")
		line.Kind, line.Domain = provision.Renew, domain.ID
		if _, err := db.AddProvisionItem(ctx, line, orderedEvent(anna, line.Name)); err != nil {
			t.Fatal(err)
		}
		wantVerdict(t, db, deletion(term), lifecycle.Paying)
		if _, err := db.sql.Writer().ExecContext(ctx, `DELETE FROM provision_items`); err != nil {
			t.Fatal(err)
		}

		wantVerdict(t, db, deletion(term), lifecycle.Begun)
		wantVerdict(t, db, deletion(term), lifecycle.Changed) // a second node
		line.Payment = "manual:2"
		if _, err := db.AddProvisionItem(ctx, line, orderedEvent(anna, line.Name)); registrar.CodeOf(err) != registrar.NameHeld {
			t.Errorf("a renewal while the domain is being deleted: %v", err)
		}
	})
}

func TestBrake_CountsActionsUpToDayLimit(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		var terms []lifecycle.Term
		for _, label := range []string{"a", "b", "c", "d", "e"} {
			terms = append(terms, addUnpaidTerm(t, db, addDomain(t, db, anna, label, registrar.DomainActive, testTime)))
		}
		begin := func(i int, day int64) lifecycle.BeginAction {
			hold := deletion(terms[i])
			hold.Notices, hold.To.State, hold.DayLimit, hold.Day = false, lifecycle.Holding, 2, day
			return hold
		}
		day := lifecycle.DayOf(testTime)
		wantVerdict(t, db, begin(0, day), lifecycle.Begun)
		wantVerdict(t, db, begin(1, day), lifecycle.Begun)
		wantVerdict(t, db, begin(2, day), lifecycle.Stopped)
		if stopped, err := db.StopBrakeByVolume(ctx, testTime); err != nil || !stopped {
			t.Fatal(stopped, err)
		}
		if again, err := db.StopBrakeByVolume(ctx, testTime); err != nil || again {
			t.Errorf("engaged twice: %t, %v", again, err)
		}
		wantVerdict(t, db, begin(2, day+1), lifecycle.Stopped) // also on the next day
		confirm := registrar.AuditEvent{Actor: operatorActor(), Action: lifecycle.ActionConfirmBrake, At: testTime}
		if confirmed, err := db.ConfirmBrake(ctx, testTime, testTime, 2, confirm); err != nil || !confirmed {
			t.Fatal(confirmed, err)
		}
		if again, err := db.ConfirmBrake(ctx, testTime, testTime, 2, confirm); err != nil || again {
			t.Errorf("confirmed twice: %t, %v", again, err)
		}
		wantVerdict(t, db, begin(2, day), lifecycle.Begun)
		wantVerdict(t, db, begin(3, day), lifecycle.Begun)
		wantVerdict(t, db, begin(4, day), lifecycle.Stopped)
		wantVerdict(t, db, begin(4, day+1), lifecycle.Begun)
		status, _, err := db.GetBrake(ctx)
		if err != nil || status.Actions != 1 || status.Allowed != 0 || status.ConfirmedBy == "" {
			t.Errorf("got %+v, %v", status, err)
		}
	})
}

// endByRenewal runs the last transition of a renewal or restore of the domain.
func endByRenewal(t *testing.T, db *DB, term lifecycle.Term, kind provision.Kind, payment string) {
	t.Helper()
	line := newProvisionItem(term.Customer, term.Name, payment)
	line.Kind, line.Domain = kind, term.Domain
	stored, err := db.AddProvisionItem(t.Context(), line, orderedEvent(term.Customer, line.Name))
	if err != nil {
		t.Fatal(err)
	}
	mustUpdateItem(t, db, itemTransition(stored, func(l *provision.Item, transition *provision.Transition) {
		l.State, l.DueAt = provision.StateActive, time.Time{}
		transition.Renewal = &provision.Renewal{Domain: term.Domain, From: term.End, Until: term.End.AddDate(1, 0, 0), At: testTime}
	}))
}

func TestRenewal_EndsUnpaidTermInItsTransaction(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from    lifecycle.State
		kind    provision.Kind
		payment string
		to      lifecycle.State
		mails   int
	}{
		{lifecycle.Unpaid, provision.Renew, "manual:1", lifecycle.Paid, 0},
		{lifecycle.Holding, provision.Renew, "manual:1", lifecycle.Releasing, 0},
		{lifecycle.Held, provision.Renew, "manual:1", lifecycle.Releasing, 1},
		{lifecycle.Held, provision.Renew, "order:ord_1", lifecycle.Releasing, 1},
		{lifecycle.Redemption, provision.Restore, "manual:1", lifecycle.Paid, 1},
		{lifecycle.Redemption, provision.Restore, "order:ord_1", lifecycle.Paid, 0}, // the mail about the order says it
	} {
		eachEngine(t, func(t *testing.T, db *DB) {
			term := addUnpaidTerm(t, db, addDomain(t, db, newCustomer(t, db, "anna"), "alt", registrar.DomainActive, testTime))
			deleteQueuedMails(t, db)
			moved := term
			moved.State = test.from
			if test.from == lifecycle.Held || test.from == lifecycle.Redemption {
				moved.HeldAt = testTime
			}
			if test.from == lifecycle.Redemption {
				moved.DeletedAt = testTime
			}
			if updated, err := db.UpdateTerm(t.Context(), lifecycle.TermTransition{From: term, To: moved}); err != nil || !updated {
				t.Fatal(updated, err)
			}
			endByRenewal(t, db, term, test.kind, test.payment)
			after, _, err := db.GetTerm(t.Context(), term.Domain, term.End)
			if err != nil || after.State != test.to || after.EndedAt.IsZero() == (test.to == lifecycle.Paid) || after.StepAt.IsZero() != (test.to == lifecycle.Paid) {
				t.Errorf("%s became %+v, %v", test.from, after, err)
			}
			if mails := count(t, db, "SELECT count(*) FROM mails WHERE kind = 'domain_restored'"); mails != test.mails {
				t.Errorf("%s, %s by %s: %d mails", test.from, test.kind, test.payment, mails)
			}
		})
	}
}

func TestCloseDomain_RemovesItAndFreesItsName(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		domain := addDomain(t, db, anna, "alt", registrar.DomainActive, testTime)
		term := addUnpaidTerm(t, db, domain)
		if err := db.write(ctx, func(q *query.Queries) error {
			return q.PutRegistryRecord(ctx, query.PutRegistryRecordParams{DomainID: domain.ID, Data: "{}", ReadAt: 1})
		}); err != nil {
			t.Fatal(err)
		}
		closed := term
		closed.State, closed.StepAt, closed.EndedAt = lifecycle.Closed, time.Time{}, testTime
		transition := lifecycle.TermTransition{From: term, To: closed, Close: true, Now: testTime, At: testTime}
		line := newProvisionItem(anna, domain.Name, "manual:1")
		line.Kind, line.Domain = provision.Restore, domain.ID
		if _, err := db.AddProvisionItem(ctx, line, orderedEvent(anna, line.Name)); err != nil {
			t.Fatal(err)
		}
		if updated, err := db.UpdateTerm(ctx, transition); err != nil || updated {
			t.Errorf("closed while a restore is paid: %t, %v", updated, err)
		}
		if _, err := db.sql.Writer().ExecContext(ctx, `DELETE FROM provision_items`); err != nil {
			t.Fatal(err)
		}
		if updated, err := db.UpdateTerm(ctx, transition); err != nil || !updated {
			t.Fatal(updated, err)
		}
		if left := count(t, db, "SELECT count(*) FROM domains") + count(t, db, "SELECT count(*) FROM registry_records"); left != 0 {
			t.Errorf("%d rows are left", left)
		}
		var ids []string
		for id, err := range db.ReconciliationClosedDomains(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		if !slices.Equal(ids, []string{domain.ID}) {
			t.Errorf("closed domains %q", ids)
		}
		addDomain(t, db, newCustomer(t, db, "bert"), "alt", registrar.DomainActive, testTime) // the name is free again
	})
}

func TestUpdateTerm_OfTwoNodesOneClaims(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		term := addUnpaidTerm(t, db, addDomain(t, db, newCustomer(t, db, "anna"), "alt", registrar.DomainActive, testTime))
		won := make([]bool, 8)
		var all sync.WaitGroup
		for i := range won {
			all.Go(func() {
				claimed := term
				claimed.Node, claimed.DueAt = "node", testTime.Add(time.Duration(i+1)*time.Minute)
				var err error
				if won[i], err = db.UpdateTerm(t.Context(), lifecycle.TermTransition{From: term, To: claimed}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := len(slices.DeleteFunc(won, func(one bool) bool { return !one })); n != 1 {
			t.Errorf("%d nodes claimed it", n)
		}
	})
}

func TestListDueTerms_FollowsBusinessTimeLeaseAndBrake(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		term := addUnpaidTerm(t, db, addDomain(t, db, newCustomer(t, db, "anna"), "alt", registrar.DomainActive, testTime))
		due := func(now, clock time.Time, stopped bool) int {
			terms, err := db.ListDueTerms(ctx, now, clock, stopped, 10)
			if err != nil {
				t.Fatal(err)
			}
			return len(terms)
		}
		for name, test := range map[string]struct {
			now, clock time.Time
			stopped    bool
			want       int
		}{
			"due":         {term.StepAt, testTime, false, 1},
			"too early":   {term.StepAt.Add(-time.Second), testTime, false, 0},
			"leased":      {term.StepAt, testTime.Add(-time.Second), false, 0},
			"brake is on": {term.StepAt, testTime, true, 0},
		} {
			if got := due(test.now, test.clock, test.stopped); got != test.want {
				t.Errorf("%s: %d terms", name, got)
			}
		}
		if planned, err := db.ListPlannedTerms(ctx, term.StepAt, 10); err != nil || len(planned) != 1 {
			t.Errorf("planned %+v, %v", planned, err)
		}
		waiting := term
		waiting.WaitsFor = lifecycle.WaitsForLock
		if updated, err := db.UpdateTerm(ctx, lifecycle.TermTransition{From: term, To: waiting}); err != nil || !updated {
			t.Fatal(updated, err)
		}
		if planned, err := db.ListPlannedTerms(ctx, term.StepAt, 10); err != nil || len(planned) != 0 {
			t.Errorf("a waiting term is planned: %+v, %v", planned, err)
		}
		if listed, err := db.ListWaitingTerms(ctx, 10); err != nil || len(listed) != 1 {
			t.Errorf("waiting %+v, %v", listed, err)
		}
	})
}

func TestSentNotices_AreListedWithTextAndResponse(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		term := addUnpaidTerm(t, db, addDomain(t, db, newCustomer(t, db, "anna"), "alt", registrar.DomainActive, testTime))
		addEvidence(t, db, term, registrar.MailExpired, true)
		sent, err := db.ListSentNotices(t.Context(), term.Customer, "", 10)
		if err != nil || len(sent) != 1 || sent[0].Domain != term.Domain || !sent[0].TermEnd.Equal(term.End) || sent[0].Text != "t" || sent[0].Response != "2.0.0 queued" || !sent[0].Accepted {
			t.Errorf("got %+v, %v", sent, err)
		}
		if next, err := db.ListSentNotices(t.Context(), term.Customer, sent[0].ID, 10); err != nil || len(next) != 0 {
			t.Errorf("the next page: %+v, %v", next, err)
		}
		if of, err := db.ListSentNoticesOfDomain(t.Context(), term.Domain, 10); err != nil || len(of) != 1 {
			t.Errorf("of the domain: %+v, %v", of, err)
		}
	})
}

func TestReminder_IsSentOnceToHoldersOfDomains(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		undated, err := db.ListUndatedReminders(ctx, 10)
		if err != nil || len(undated) != 1 || undated[0].Customer != anna {
			t.Fatalf("undated: %+v, %v", undated, err)
		}
		if stored, err := db.StoreReminder(ctx, undated[0], testTime, nil, testTime); err != nil || !stored {
			t.Fatal(stored, err)
		}
		mail := &registrar.Mail{Kind: registrar.MailDataReminder, Customer: anna}
		for year := 1; year <= 2; year++ {
			now := testTime.AddDate(year, 0, 0)
			due, err := db.ListDueReminders(ctx, now.AddDate(-1, 0, 0), 10)
			if err != nil || len(due) != 1 {
				t.Fatalf("year %d: %+v, %v", year, due, err)
			}
			if stored, err := db.StoreReminder(ctx, due[0], now, mail, now); err != nil || !stored {
				t.Fatal(stored, err)
			}
			if again, err := db.StoreReminder(ctx, due[0], now, mail, now); err != nil || again {
				t.Errorf("sent twice: %t, %v", again, err)
			}
			if mails := count(t, db, "SELECT count(*) FROM mails"); mails != year-1 {
				t.Errorf("year %d: %d mails", year, mails)
			}
			if year == 1 { // from now on there is something to check
				addDomain(t, db, anna, "alt", registrar.DomainActive, testTime.AddDate(5, 0, 0))
			}
		}
	})
}
