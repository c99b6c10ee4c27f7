package lifecycle_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

// memStore is a store in memory for notices and the brake. It has no unpaid terms and no
// reminders.
type memStore struct {
	lifecycle.Store
	mu      sync.Mutex
	brake   lifecycle.BrakeStatus
	domains map[string]lifecycle.Domain
	expired map[string]bool
	notices []string
	events  []registrar.AuditEvent
	at      []time.Time
	// failures is how often StoreExpiryNotice fails first.
	failures int
	// declared is what the customer declared; charge is an announced one. mails are those of notices.
	declared lifecycle.Declared
	charge   lifecycle.Charge
	mails    []registrar.Mail
}

func (s *memStore) ListEndingDomains(_ context.Context, sent lifecycle.Notice, until time.Time, limit int) ([]lifecycle.Domain, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ending []lifecycle.Domain
	for id, domain := range s.domains {
		if domain.LastNotice == sent && !domain.PaidUntil.After(until) && !s.expired[id] && len(ending) < limit {
			ending = append(ending, domain)
		}
	}
	return ending, nil
}

func (s *memStore) StoreExpiryNotice(_ context.Context, update lifecycle.NoticeUpdate) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures > 0 {
		s.failures--
		return false, errors.New("broken")
	}
	if s.domains[update.Domain.ID] != update.Domain {
		return false, nil
	}
	domain := update.Domain
	domain.LastNotice = update.Notice
	s.domains[domain.ID] = domain
	s.expired[domain.ID] = update.Notice == lifecycle.NoticeExpired
	s.notices = append(s.notices, string(update.Mail.Kind)+" "+update.Mail.Data["domain"]+" "+update.Mail.Data["paid_until"])
	s.at, s.mails = append(s.at, update.At), append(s.mails, update.Mail)
	if update.AuditEvent != nil {
		s.events = append(s.events, *update.AuditEvent)
	}
	return true, nil
}

func (*memStore) GetDomainRegistrant(context.Context, string, string) (registrar.Registrant, error) {
	return registrar.Registrant{}, nil
}

func (s *memStore) GetDeclared(context.Context, string, string, time.Time) (lifecycle.Declared, error) {
	return s.declared, nil
}

func (s *memStore) AnnouncedRenewal(context.Context, string, string, time.Time) (lifecycle.Charge, bool, error) {
	return s.charge, !s.charge.At.IsZero() || s.charge.NextTerm, nil
}

func (*memStore) ListDueTerms(context.Context, time.Time, time.Time, bool, int) ([]lifecycle.Term, error) {
	return nil, nil
}

func (*memStore) ListUndatedReminders(context.Context, int) ([]lifecycle.Reminder, error) {
	return nil, nil
}

func (*memStore) ListDueReminders(context.Context, time.Time, int) ([]lifecycle.Reminder, error) {
	return nil, nil
}

func (s *memStore) GetBrake(context.Context) (lifecycle.BrakeStatus, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.brake, !s.brake.StartedAt.IsZero(), nil
}

func (s *memStore) StartBrake(_ context.Context, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.brake.StartedAt, s.brake.LastRun = now, now
	return nil
}

func (s *memStore) SetBrakeRun(_ context.Context, lastRun, now time.Time, stop bool) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.brake.LastRun.Equal(lastRun) {
		return false, nil
	}
	s.brake.LastRun = now
	if stop {
		s.brake.StoppedAt, s.brake.Reason = now, lifecycle.ByClock
	}
	return true, nil
}

// confirm releases the brake, as an operator does.
func (s *memStore) confirm(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.brake.LastRun, s.brake.StoppedAt, s.brake.Reason = now, time.Time{}, ""
}

func newMemStore(ends time.Time) *memStore {
	return &memStore{
		domains: map[string]lifecycle.Domain{"dom_1": {ID: "dom_1", Customer: "cus_ada", Name: "alt.org", PaidUntil: ends}},
		expired: map[string]bool{},
	}
}

func newService(t *testing.T, store lifecycle.Store, change ...func(*lifecycle.Config)) *lifecycle.Service {
	t.Helper()
	cfg := lifecycle.Config{Store: store, Node: "node"}
	for _, c := range change {
		c(&cfg)
	}
	var err error
	if cfg.Brake, err = lifecycle.NewBrake(lifecycle.BrakeConfig{Store: store, Now: cfg.Now}); err != nil {
		t.Fatal(err)
	}
	service, err := lifecycle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// runFor runs the services for the given duration.
func runFor(t *testing.T, duration time.Duration, services ...*lifecycle.Service) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	var all sync.WaitGroup
	for _, service := range services {
		all.Go(func() { service.Run(ctx) })
	}
	all.Wait()
}

const day = 24 * time.Hour

// offsetClock is a business clock that can be moved.
type offsetClock struct{ by time.Duration }

func (s *offsetClock) now() time.Time { return time.Now().Add(s.by) }

func TestNotices_EachIsSentOnceAndOnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ends := time.Now().Add(60 * day)
		date := ends.UTC().Format(time.DateOnly)
		store, clock := newMemStore(ends), &offsetClock{}
		waiting := 0
		service := newService(t, store, func(cfg *lifecycle.Config) {
			cfg.MailQueued = func() { waiting++ }
			cfg.Now = clock.now
		})
		var want []string
		for _, step := range []struct {
			before time.Duration // the end
			notice string
		}{
			{30*day + time.Hour, ""},
			{30 * day, "expiring_month"},
			{7*day + time.Hour, ""},
			{7 * day, "expiring_week"},
			{time.Hour, ""},
			{0, "expired"},
			{-10 * day, ""},
		} {
			clock.by = time.Until(ends.Add(-step.before))
			store.confirm(clock.now())
			runFor(t, time.Minute, service)
			if step.notice != "" {
				want = append(want, step.notice+" alt.org "+date)
			}
			if !slices.Equal(store.notices, want) {
				t.Fatalf("%s before the end: %q, want %q", step.before, store.notices, want)
			}
		}
		if waiting != 3 || !store.expired["dom_1"] || len(store.events) != 1 || store.events[0].Action != lifecycle.ActionExpired {
			t.Errorf("%d mails queued, audit events %+v", waiting, store.events)
		}
	})
}

func TestNotices_OnlyLatestMissedIsSent(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]string{20 * day: "expiring_month", 3 * day: "expiring_week", -4 * day: "expired", 31 * day: ""} {
		synctest.Test(t, func(t *testing.T) {
			store := newMemStore(time.Now().Add(left))
			runFor(t, time.Minute, newService(t, store))
			if got := strings.Join(store.notices, ","); want == "" && got != "" || want != "" && !strings.HasPrefix(got, want+" ") || len(store.notices) > 1 {
				t.Errorf("%s before the end: %q, want %q", left, got, want)
			}
		})
	}
}

func TestNotices_DeclaredContractIsNotSaidToRenew(t *testing.T) {
	t.Parallel()
	for _, declared := range []string{"cancelled_at", "withdrawn_at", ""} {
		synctest.Test(t, func(t *testing.T) {
			store := newMemStore(time.Now().Add(20 * day))
			domain := store.domains["dom_1"]
			domain.Renews = true
			store.domains["dom_1"], store.charge = domain, lifecycle.Charge{At: time.Now().Add(6 * day), Gross: 1190, MethodExpires: "1999-12"}
			at := time.Now().Add(-day - 30*time.Minute) // after midnight in Germany
			switch declared {
			case "cancelled_at":
				store.declared.CancelledAt = at
			case "withdrawn_at":
				store.declared.WithdrawnAt = at
			}
			store.declared.Expires = declared == "cancelled_at"
			runFor(t, time.Minute, newService(t, store))
			data := store.mails[0].Data
			if declared == "" && (data["charge_at"] == "" || data["method_expires"] != "1999-12") || declared != "" && (data["charge_at"] != "" || data[declared] != registrar.FormatInGermany(at, time.DateOnly, "")) {
				t.Errorf("%s: %v", declared, data)
			}
			if (data["choice"] == "expire") != (declared == "cancelled_at") {
				t.Errorf("%s: choice %q", declared, data["choice"])
			}
			if (data["on_hold"] == "true") != (declared == "withdrawn_at") {
				t.Errorf("%s: on hold %q", declared, data["on_hold"])
			}
		})
	}
}

func TestNotices_SayThatAutomaticRenewalBeginsWithNextTerm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore(time.Now().Add(20 * day))
		domain := store.domains["dom_1"]
		domain.Renews = true
		store.domains["dom_1"], store.charge = domain, lifecycle.Charge{NextTerm: true}
		runFor(t, 22*day, newService(t, store))
		if len(store.mails) != 3 {
			t.Fatalf("%d notices were sent", len(store.mails))
		}
		for _, mail := range store.mails {
			if mail.Data["next_term"] != "true" || mail.Data["charge_at"] != "" {
				t.Errorf("%s: %v", mail.Kind, mail.Data)
			}
		}
	})
}

func TestNotices_NameWhatRegistryDoesAtTheEnd(t *testing.T) {
	t.Parallel()
	for tld, want := range map[string][2]int{".eu": {0, 40}, ".se": {10, 70}, ".uk": {30, 95}} { // days until the hold, and until the deletion
		synctest.Test(t, func(t *testing.T) {
			ends := time.Now().Add(5 * day)
			store := newMemStore(ends)
			domain := store.domains["dom_1"]
			domain.TLD = tld
			store.domains["dom_1"] = domain
			runFor(t, time.Minute, newService(t, store))
			held := ""
			if want[0] > 0 {
				held = ends.AddDate(0, 0, want[0]).UTC().Format(time.DateOnly)
			}
			data := store.mails[0].Data
			if deleted := ends.AddDate(0, 0, want[1]).UTC().Format(time.DateOnly); data["unpaid"] != "expire" || data["hold_at"] != held || data["delete_at"] != deleted {
				t.Errorf("%s: %v, want %s and %s", tld, data, held, deleted)
			}
		})
	}
}

func TestNotices_LetExpireSaysUntilWhenItCanBeKept(t *testing.T) {
	t.Parallel()
	for tld, want := range map[string]string{".at": "true", ".ch": "true", ".eu": "true", ".com": "", ".de": "", ".fr": ""} {
		for _, left := range []time.Duration{5 * day, -time.Hour} {
			synctest.Test(t, func(t *testing.T) {
				for _, expires := range []bool{true, false} {
					store := newMemStore(time.Now().Add(left))
					domain := store.domains["dom_1"]
					domain.TLD, domain.Expires = tld, expires
					store.domains["dom_1"] = domain
					runFor(t, time.Minute, newService(t, store))
					over := want
					if !expires && tld != ".eu" {
						over = ""
					}
					if data := store.mails[0].Data; data["over"] != over {
						t.Errorf("%s, let expire %t, %s before the end: %v", tld, expires, left, data)
					}
				}
			})
		}
	}
}

func TestNotices_RestartAfterRenewal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, clock := newMemStore(time.Now().Add(20*day)), &offsetClock{}
		service := newService(t, store, func(cfg *lifecycle.Config) { cfg.Now = clock.now })
		runFor(t, time.Minute, service)
		renewed := store.domains["dom_1"]
		renewed.PaidUntil, renewed.LastNotice = renewed.PaidUntil.AddDate(1, 0, 0), lifecycle.NoticeNone
		store.domains["dom_1"] = renewed
		clock.by = 300 * day
		store.confirm(clock.now())
		runFor(t, time.Minute, service)
		if len(store.notices) != 1 {
			t.Fatalf("notices = %q", store.notices)
		}
		clock.by = 360 * day
		store.confirm(clock.now())
		runFor(t, time.Minute, service)
		if len(store.notices) != 2 || !strings.HasPrefix(store.notices[1], "expiring_month") {
			t.Errorf("notices = %q", store.notices)
		}
	})
}

func TestNotices_OneOfManyNodesSends(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore(time.Now().Add(20 * day))
		runFor(t, time.Minute, newService(t, store), newService(t, store), newService(t, store))
		if len(store.notices) != 1 {
			t.Errorf("notices = %q", store.notices)
		}
	})
}

func TestNotices_FailedStoreIsRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore(time.Now().Add(20 * day))
		store.failures = 3
		runFor(t, time.Minute, newService(t, store))
		if len(store.notices) != 1 {
			t.Errorf("notices = %q", store.notices)
		}
	})
}

func TestNotices_UseBusinessTimeAndMailsUseClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newMemStore(time.Now().Add(60 * day))
		runFor(t, time.Minute, newService(t, store, func(cfg *lifecycle.Config) {
			cfg.Now = func() time.Time { return time.Now().Add(55 * day) }
		}))
		if len(store.notices) != 1 || !strings.HasPrefix(store.notices[0], "expiring_week") || time.Since(store.at[0]) > time.Minute {
			t.Errorf("notices = %q at %v", store.notices, store.at)
		}
	})
}

func TestBrake_ClockJumpStopsNoticesUntilConfirmed(t *testing.T) {
	t.Parallel()
	for name, jump := range map[string]time.Duration{"ahead": 25 * time.Hour, "behind": -25 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			store, clock := newMemStore(time.Now().Add(30*day+12*time.Hour)), &offsetClock{}
			if jump < 0 {
				store.domains["dom_1"] = lifecycle.Domain{ID: "dom_1", Customer: "cus_ada", Name: "alt.org", PaidUntil: time.Now().Add(20 * day)}
				store.brake = lifecycle.BrakeStatus{StartedAt: time.Now(), LastRun: time.Now()}
			}
			service := newService(t, store, func(cfg *lifecycle.Config) { cfg.Now = clock.now })
			if jump > 0 {
				runFor(t, time.Minute, service)
			}
			clock.by = jump
			runFor(t, time.Hour, service)
			if len(store.notices) != 0 || !store.brake.StoppedByClock() {
				t.Fatalf("%s: notices %q, brake %+v", name, store.notices, store.brake)
			}
			if left := store.brake.LastRun.Sub(clock.now()).Abs(); left > 2*time.Minute {
				t.Errorf("%s: the stopped job does not follow the time: %s", name, left)
			}
			store.confirm(store.brake.LastRun)
			runFor(t, time.Minute, service)
			if len(store.notices) != 1 {
				t.Errorf("%s: after the confirmation: %q", name, store.notices)
			}
		})
	}
}

// A job that read the sandbox's clock before two steps is not ahead of its time.
func TestBrake_TimeReadBeforeTwoStepsDoesNotStop(t *testing.T) {
	t.Parallel()
	store, clock := newMemStore(time.Now().Add(40*day)), &offsetClock{}
	brake, err := lifecycle.NewBrake(lifecycle.BrakeConfig{Store: store, Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	before := clock.now().Add(-time.Millisecond)
	for range 3 {
		if _, err := brake.StoppedByClock(t.Context(), clock.now()); err != nil {
			t.Fatal(err)
		}
		clock.by += 12 * time.Hour
	}
	if stopped, err := brake.StoppedByClock(t.Context(), before); stopped || err != nil || store.brake.Engaged() {
		t.Errorf("stopped: %t, %v, %+v", stopped, err, store.brake)
	}
}

func TestBrake_HalfDayStepsDoNotStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, clock := newMemStore(time.Now().Add(40*day)), &offsetClock{}
		service := newService(t, store, func(cfg *lifecycle.Config) { cfg.Now = clock.now })
		for range 100 {
			runFor(t, 10*time.Second, service)
			clock.by += 12 * time.Hour
			service.Wake()
		}
		if store.brake.Engaged() || len(store.notices) != 3 {
			t.Errorf("brake %+v, notices %q", store.brake, store.notices)
		}
	})
}
