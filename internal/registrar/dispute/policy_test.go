package dispute

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
)

func TestApply_PolicyOfEveryTransition(t *testing.T) {
	t.Parallel()
	known, unknown := Subject{Payment: "pay_1", Order: "ord_1", Customer: "cus_1", Captured: true}, Subject{}
	stored := func(status Status, lock Lock) Dispute {
		return Dispute{Report: Report{ID: "du_1", Status: status}, Payment: "pay_1", Order: "ord_1", Lock: lock, OpenWork: status.Open() || status == Lost}
	}
	for name, test := range map[string]struct {
		was     Dispute
		report  Report
		subject Subject
		lock    Lock
		open    bool
		mail    string
	}{
		"a new inquiry only is open work":     {Dispute{}, Report{Status: WarningNeedsResponse}, known, LockNone, true, ""},
		"an inquiry that closes":              {stored(WarningNeedsResponse, LockNone), Report{Status: WarningClosed}, known, LockNone, false, ""},
		"an inquiry that becomes a dispute":   {stored(WarningUnderReview, LockNone), Report{Status: NeedsResponse}, known, LockActive, true, mailOpened},
		"a new dispute":                       {Dispute{}, Report{Status: NeedsResponse}, known, LockActive, true, mailOpened},
		"a dispute first seen under review":   {Dispute{}, Report{Status: UnderReview}, known, LockActive, true, mailOpened},
		"the same report again":               {stored(NeedsResponse, LockActive), Report{Status: NeedsResponse}, known, LockActive, true, ""},
		"evidence was sent":                   {stored(NeedsResponse, LockActive), Report{Status: UnderReview}, known, LockActive, true, ""},
		"won":                                 {stored(UnderReview, LockActive), Report{Status: Won}, known, LockLifted, false, mailWon},
		"lost":                                {stored(UnderReview, LockActive), Report{Status: Lost}, known, LockActive, true, mailLost},
		"lost, then won":                      {stored(Lost, LockKept), Report{Status: Won}, known, LockLifted, false, mailWon},
		"won, then lost":                      {stored(Won, LockLifted), Report{Status: Lost}, known, LockActive, true, mailLost},
		"a bank return":                       {Dispute{}, Report{Status: Lost, Debit: true}, known, LockActive, true, mailReturned},
		"a dispute first seen when won":       {Dispute{}, Report{Status: Won}, known, LockNone, false, ""},
		"an unknown charge":                   {Dispute{}, Report{Status: NeedsResponse}, unknown, LockNone, true, ""},
		"a payment that was captured by now":  {stored(NeedsResponse, LockNone), Report{Status: NeedsResponse}, known, LockActive, true, mailOpened},
		"a payment that its order didn't use": {Dispute{}, Report{Status: NeedsResponse}, Subject{Payment: "pay_1", Order: "ord_1"}, LockNone, true, ""},
	} {
		test.report.ID = "du_1"
		now, what := apply(test.was, test.report, test.subject)
		if now.Lock != test.lock || now.OpenWork != test.open || what.mail != test.mail || (what.mail == "") != (what.action == "") {
			t.Errorf("%s: lock %s, open %v, mail %q (%s)", name, now.Lock, now.OpenWork, what.mail, what.action)
		}
	}
}

func TestStatus_EndedDisputesAreNeverOpenAgain(t *testing.T) {
	t.Parallel()
	for _, was := range []Status{Won, Lost} {
		for _, now := range Statuses() {
			if got, want := now.follows(was), now == Won || now == Lost; got != want {
				t.Errorf("%s after %s: %v", now, was, got)
			}
		}
	}
	if !NeedsResponse.follows(WarningClosed) || WarningNeedsResponse.follows(NeedsResponse) {
		t.Error("an inquiry may become a dispute, never the other way")
	}
}

func TestAllows_OnlyLostDisputesAreDecided(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dispute          Dispute
		keep, lift, deny bool
	}{
		"open":              {Dispute{Report: Report{Status: NeedsResponse}, Lock: LockActive}, false, false, false},
		"lost":              {Dispute{Report: Report{Status: Lost}, Lock: LockActive, OpenWork: true}, true, true, true},
		"kept":              {Dispute{Report: Report{Status: Lost}, Lock: LockKept}, false, true, true},
		"denying":           {Dispute{Report: Report{Status: Lost}, Lock: LockDenying}, false, true, false},
		"denied":            {Dispute{Report: Report{Status: Lost}, Lock: LockDenied}, true, true, false},
		"lifted":            {Dispute{Report: Report{Status: Lost}, Lock: LockLifted}, false, false, false},
		"an unknown charge": {Dispute{Report: Report{Status: Lost}, Lock: LockNone, OpenWork: true}, true, false, false},
		"noted":             {Dispute{Report: Report{Status: Lost}, Lock: LockNone}, false, false, false},
	} {
		if d := test.dispute; d.Allows(Keep) != test.keep || d.Allows(Lift) != test.lift || d.Allows(Deny) != test.deny {
			t.Errorf("%s: keep %v, lift %v, deny %v", name, d.Allows(Keep), d.Allows(Lift), d.Allows(Deny))
		}
	}
}

func TestApply_ClosedDisputeThatOpensAgainLocksAgain(t *testing.T) {
	t.Parallel()
	subject := Subject{Payment: "pay_1", Order: "ord_1", Customer: "cus_1", Captured: true}
	var d Dispute
	for _, step := range []struct {
		status Status
		lock   Lock
		mail   string
	}{
		{NeedsResponse, LockActive, mailOpened},
		{WarningClosed, LockLifted, mailWon},
		{NeedsResponse, LockActive, mailOpened},
		{Lost, LockActive, mailLost},
		{Won, LockLifted, mailWon},
		{Lost, LockActive, mailLost},
	} {
		report := Report{ID: "du_1", Status: step.status}
		if d.ID != "" && !step.status.follows(d.Status) {
			t.Fatalf("%s does not follow %s", step.status, d.Status)
		}
		var what effect
		if d, what = apply(d, report, subject); d.Lock != step.lock || what.mail != step.mail {
			t.Errorf("%s: lock %s and mail %q, want %s and %q", step.status, d.Lock, what.mail, step.lock, step.mail)
		}
		d.ID = "du_1"
	}
}

// domainsStore has two disputed domains.
type domainsStore struct{ Store }

func (domainsStore) ListDisputedDomains(context.Context, string) ([]Domain, error) {
	return []Domain{{Name: "eins.de"}, {Name: "zwei.de"}}, nil
}

func TestOperatorMail_OncePerDisputeAndForItsLoss(t *testing.T) {
	t.Parallel()
	s := &Service{cfg: Config{Store: domainsStore{}, OperatorEmail: "ops@kontor.example", Now: time.Now}, worker: &jobs.Worker[Dispute]{Clock: time.Now}}
	subject := Subject{Payment: "pay_1", Order: "ord_1", Customer: "", Captured: true}
	var was Dispute
	var mailed []string
	for _, status := range []Status{WarningNeedsResponse, WarningUnderReview, NeedsResponse, UnderReview, NeedsResponse, Lost, Won, Lost} {
		now, _ := apply(was, Report{ID: "du_1", Status: status, DueBy: time.Date(2026, 12, 9, 0, 0, 0, 0, time.UTC)}, subject)
		update, err := s.newUpdate(t.Context(), was, now, effect{}, registrar.Actor{})
		if err != nil {
			t.Fatal(err)
		}
		if mail := update.OperatorMail; mail != nil {
			if mail.Data["domain"] != "eins.de" || mail.Data["items"] != "2" {
				t.Errorf("the mail names %q of %q domains", mail.Data["domain"], mail.Data["items"])
			}
			mailed = append(mailed, string(status)+" "+mail.Data["change"]+" "+mail.Data["evidence_due"])
		}
		was = update.Now
	}
	want := []string{"warning_needs_response inquiry 2026-12-09", "needs_response opened 2026-12-09", "lost lost ", "lost lost "}
	if !slices.Equal(mailed, want) {
		t.Errorf("mailed %q, want %q", mailed, want)
	}
}

// blockedChanges is a registry that refuses every change.
type blockedChanges struct{}

func (blockedChanges) SecureFor(context.Context, string, string, string) (domainchange.Progress, error) {
	return domainchange.Blocked, nil
}

func (blockedChanges) HoldFor(context.Context, string, string, string) (domainchange.Progress, error) {
	return domainchange.Blocked, nil
}

func (blockedChanges) ReleaseFor(context.Context, string, string, string) (domainchange.Progress, error) {
	return domainchange.Blocked, nil
}

func (blockedChanges) RepeatDisputed(context.Context, string, string) (domainchange.Progress, error) {
	return domainchange.Done, nil
}

func TestDenial_WaitsOnlyForTransferableDomains(t *testing.T) {
	t.Parallel()
	s := &Service{cfg: Config{Changes: blockedChanges{}}}
	for status, want := range map[registrar.DomainStatus]domainchange.Progress{
		registrar.DomainActive: domainchange.Blocked, registrar.DomainExpired: domainchange.Blocked, registrar.DomainRedemption: domainchange.Done,
	} {
		got, err := s.enforceOn(t.Context(), Dispute{Lock: LockDenying}, Domain{ID: "dom_1", TLD: ".com", Status: status})
		if err != nil || got != want {
			t.Errorf("%s: progress %d, %v; want %d", status, got, err, want)
		}
	}
}

func TestMostSerious_LossThenOpenDisputeThenInquiry(t *testing.T) {
	t.Parallel()
	of := func(statuses ...Status) (all []Dispute) {
		for _, status := range statuses {
			all = append(all, Dispute{Report: Report{Status: status}})
		}
		return all
	}
	for want, disputes := range map[Status][]Dispute{
		Lost: of(Won, UnderReview, Lost, NeedsResponse), UnderReview: of(WarningNeedsResponse, UnderReview, Won), WarningNeedsResponse: of(Prevented, WarningNeedsResponse),
		"": of(Won, WarningClosed, Prevented),
	} {
		if worst, found := MostSerious(disputes); worst.Status != want || found != (want != "") {
			t.Errorf("the most serious is %q, %t, not %q", worst.Status, found, want)
		}
	}
}

func TestDisputeMail_NamesTheBusinessTime(t *testing.T) {
	t.Parallel()
	moved := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	s := &Service{cfg: Config{Store: domainsStore{}, Now: func() time.Time { return moved }}, worker: &jobs.Worker[Dispute]{Clock: time.Now}}
	update, err := s.newUpdate(t.Context(), Dispute{}, Dispute{Order: "ord_1", Customer: "cus_1"}, effect{mail: mailLost}, registrar.Actor{})
	if err != nil {
		t.Fatal(err)
	}
	if got := update.Mail.Data[registrar.MailOccurredAt]; got != "2027-03-01T09:00:00Z" || update.At.Equal(moved) {
		t.Errorf("the mail is about %q and queued at %s", got, update.At)
	}
}

// The record of a decision and the dates of a lock stay true whatever the provider reports later.
func TestDispute_KeepsDecisionAndDatesOfItsLock(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 11, n, 13, 5, 0, 0, time.UTC) }
	var now time.Time
	s := &Service{cfg: Config{Store: domainsStore{}, Now: func() time.Time { return now }}, worker: &jobs.Worker[Dispute]{Clock: time.Now}}
	subject := Subject{Payment: "pay_1", Order: "ord_1", Customer: "cus_1", Captured: true}
	for _, decision := range []Decision{Keep, Lift, Deny} {
		d := Dispute{}
		store := func(at time.Time, next Dispute) {
			t.Helper()
			now = at
			update, err := s.newUpdate(t.Context(), d, next, effect{}, registrar.Actor{})
			if err != nil {
				t.Fatal(err)
			}
			d = update.Now
		}
		report := func(at time.Time, status Status) {
			t.Helper()
			next, _ := apply(d, Report{ID: "du_1", Status: status, OpenedAt: day(1)}, subject)
			store(at, next)
		}
		report(day(1), WarningNeedsResponse)
		if !d.LockedSince().IsZero() {
			t.Errorf("an inquiry is locked since %s", d.LockedSince())
		}
		report(day(11), NeedsResponse)
		report(day(12), Lost)
		next, _ := decide(d, decision)
		next.Note, next.DecidedBy, next.DecidedAt = "Angemahnt.", "root", day(14)
		store(day(14).Add(time.Microsecond), next)
		report(day(24), Won)
		if !d.LockedSince().Equal(day(11)) || d.Decided() != decision || d.Note != "Angemahnt." || d.DecidedBy != "root" || !d.DecidedAt.Equal(day(14)) {
			t.Errorf("%s: %+v", decision, d)
		}
		want := day(24)
		if decision == Lift {
			want = time.Time{}
		}
		if got := d.WonAfterDecision(); !got.Equal(want) {
			t.Errorf("%s: won at %s, want %s", decision, got, want)
		}
	}
	for lock, want := range map[Lock]Decision{LockKept: Keep, LockDenying: Deny, LockDenied: Deny, LockLifted: Lift, LockNone: "", LockActive: ""} {
		earlier := Dispute{Report: Report{Status: Lost, OpenedAt: day(1)}, Lock: lock, DecidedAt: day(2)}
		if got := earlier.Decided(); got != want || earlier.LockedSince().IsZero() != (lock == LockNone) {
			t.Errorf("stored by an earlier release, %s: %q, locked since %s", lock, got, earlier.LockedSince())
		}
	}
}

// mixedStore has a domain that a denial leaves in the DNS, and one that it takes out.
type mixedStore struct{ Store }

func (mixedStore) ListDisputedDomains(context.Context, string) ([]Domain, error) {
	return []Domain{{Name: "eins.de", TLD: ".de", Status: registrar.DomainActive}, {Name: "alt.com", TLD: ".com", Status: registrar.DomainRedemption}, {Name: "zwei.com", TLD: ".com", Status: registrar.DomainActive}}, nil
}

func TestDisputeMail_NamesDomainsTakenOutOfTheDNSAndPutBack(t *testing.T) {
	t.Parallel()
	s := &Service{cfg: Config{Now: time.Now}, worker: &jobs.Worker[Dispute]{Clock: time.Now}}
	for name, test := range map[string]struct {
		store        Store
		was          Lock
		decision     Decision // none: the denial is complete
		change, held string   // of the mail
		state        string
	}{
		"denied":                          {mixedStore{}, LockDenying, "", mailDenied, "zwei.com", "held"},
		"denied without a gTLD":           {domainsStore{}, LockDenying, "", mailDenied, "", ""},
		"kept after a denial":             {mixedStore{}, LockDenied, Keep, mailKept, "zwei.com", "released"},
		"kept, nothing was out":           {domainsStore{}, LockDenied, Keep, "", "", ""},
		"kept":                            {mixedStore{}, LockActive, Keep, "", "", ""},
		"lifted after a denial":           {mixedStore{}, LockDenied, Lift, mailLifted, "zwei.com", "released"},
		"lifted before the mail about it": {mixedStore{}, LockDenying, Lift, mailLifted, "", ""},
		"lifted":                          {mixedStore{}, LockKept, Lift, mailLifted, "", ""},
	} {
		was := Dispute{Order: "ord_1", Customer: "cus_1", Lock: test.was}
		now, what := was, effect{mail: mailDenied}
		if test.decision != "" {
			now, what = decide(was, test.decision)
		}
		s.cfg.Store = test.store
		update, err := s.newUpdate(t.Context(), was, now, what, registrar.Actor{})
		if err != nil {
			t.Fatal(err)
		}
		if update.Mail == nil {
			update.Mail = &registrar.Mail{}
		}
		data, held := update.Mail.Data, ""
		if data["item1_held"] != "" {
			held = data["item1_name"]
		}
		if data["change"] != test.change || data["state"] != test.state || held != test.held || data["item2_held"] != "" {
			t.Errorf("%s: %q", name, data)
		}
	}
}
