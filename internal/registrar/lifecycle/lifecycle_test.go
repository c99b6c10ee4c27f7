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

// shelf is a store in memory.
type shelf struct {
	mu      sync.Mutex
	domains map[string]lifecycle.Domain
	expired map[string]bool
	told    []string
	deeds   []registrar.Deed
	at      []time.Time
	// broken fails so many times.
	broken int
}

func (s *shelf) Ending(_ context.Context, told lifecycle.Notice, until time.Time, limit int) ([]lifecycle.Domain, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ending []lifecycle.Domain
	for id, domain := range s.domains {
		if domain.Told == told && !domain.PaidUntil.After(until) && !s.expired[id] && len(ending) < limit {
			ending = append(ending, domain)
		}
	}
	return ending, nil
}

func (s *shelf) Tell(_ context.Context, telling lifecycle.Telling) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken > 0 {
		s.broken--
		return false, errors.New("broken")
	}
	if s.domains[telling.Was.ID] != telling.Was {
		return false, nil
	}
	domain := telling.Was
	domain.Told = telling.Notice
	s.domains[domain.ID] = domain
	s.expired[domain.ID] = telling.Notice == lifecycle.Over
	s.told = append(s.told, string(telling.Letter.Kind)+" "+telling.Letter.Facts["domain"]+" "+telling.Letter.Facts["paid_until"])
	s.at = append(s.at, telling.At)
	if telling.Deed != nil {
		s.deeds = append(s.deeds, *telling.Deed)
	}
	return true, nil
}

func newShelf(ends time.Time) *shelf {
	return &shelf{
		domains: map[string]lifecycle.Domain{"dom_1": {ID: "dom_1", Customer: "cus_ada", Name: "alt.org", PaidUntil: ends}},
		expired: map[string]bool{},
	}
}

func serve(t *testing.T, store lifecycle.Store, change ...func(*lifecycle.Config)) *lifecycle.Service {
	t.Helper()
	cfg := lifecycle.Config{Store: store}
	for _, c := range change {
		c(&cfg)
	}
	service, err := lifecycle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// runFor lets services work for a while.
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

// shifted is a clock of the business that can be moved.
type shifted struct{ by time.Duration }

func (s *shifted) now() time.Time { return time.Now().Add(s.by) }

func TestEachNoticeOfATermIsSentOnceAndInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ends := time.Now().Add(60 * day)
		date := ends.UTC().Format(time.DateOnly)
		store, clock := newShelf(ends), &shifted{}
		waiting := 0
		service := serve(t, store, func(cfg *lifecycle.Config) {
			cfg.LettersWaiting = func() { waiting++ }
			cfg.Now = clock.now
		})
		var want []string
		for _, step := range []struct {
			before time.Duration // the end
			told   string
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
			runFor(t, time.Minute, service)
			if step.told != "" {
				want = append(want, step.told+" alt.org "+date)
			}
			if !slices.Equal(store.told, want) {
				t.Fatalf("%s before the end: %q, want %q", step.before, store.told, want)
			}
		}
		if waiting != 3 || !store.expired["dom_1"] || len(store.deeds) != 1 || store.deeds[0].Action != lifecycle.Expired {
			t.Errorf("%d letters wait, the audit tells %+v", waiting, store.deeds)
		}
	})
}

func TestOfMissedNoticesOnlyTheLastIsSent(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]string{20 * day: "expiring_month", 3 * day: "expiring_week", -4 * day: "expired", 31 * day: ""} {
		synctest.Test(t, func(t *testing.T) {
			store := newShelf(time.Now().Add(left))
			runFor(t, time.Minute, serve(t, store))
			if got := strings.Join(store.told, ","); want == "" && got != "" || want != "" && !strings.HasPrefix(got, want+" ") || len(store.told) > 1 {
				t.Errorf("%s before the end: %q, want %q", left, got, want)
			}
		})
	}
}

func TestARenewedTermHasNoticesOfItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, clock := newShelf(time.Now().Add(20*day)), &shifted{}
		service := serve(t, store, func(cfg *lifecycle.Config) { cfg.Now = clock.now })
		runFor(t, time.Minute, service)
		renewed := store.domains["dom_1"]
		renewed.PaidUntil, renewed.Told = renewed.PaidUntil.AddDate(1, 0, 0), lifecycle.None
		store.domains["dom_1"] = renewed
		clock.by = 300 * day
		runFor(t, time.Minute, service)
		if len(store.told) != 1 {
			t.Fatalf("told %q", store.told)
		}
		clock.by = 360 * day
		runFor(t, time.Minute, service)
		if len(store.told) != 2 || !strings.HasPrefix(store.told[1], "expiring_month") {
			t.Errorf("told %q", store.told)
		}
	})
}

func TestOfManyNodesOneTellsAHolder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newShelf(time.Now().Add(20 * day))
		runFor(t, time.Minute, serve(t, store), serve(t, store), serve(t, store))
		if len(store.told) != 1 {
			t.Errorf("told %q", store.told)
		}
	})
}

func TestANoticeThatCantBeStoredIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newShelf(time.Now().Add(20 * day))
		store.broken = 3
		runFor(t, time.Minute, serve(t, store))
		if len(store.told) != 1 {
			t.Errorf("told %q", store.told)
		}
	})
}

func TestNoticesGoByTheTimeOfTheBusinessAndLettersByTheTrueOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newShelf(time.Now().Add(60 * day))
		runFor(t, time.Minute, serve(t, store, func(cfg *lifecycle.Config) {
			cfg.Now = func() time.Time { return time.Now().Add(55 * day) }
		}))
		if len(store.told) != 1 || !strings.HasPrefix(store.told[0], "expiring_week") || time.Since(store.at[0]) > time.Minute {
			t.Errorf("told %q at %v", store.told, store.at)
		}
	})
}
