package hostlimit

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// startLog records when calls began.
type startLog struct {
	mu sync.Mutex
	at []time.Time
}

func (s *startLog) call(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = append(s.at, time.Now())
	return nil
}

// check compares every period between two starts with the documented limit,
// independently of the algorithm: at most burst + rate·period.
func (s *startLog) check(t *testing.T, rate float64, burst int) {
	t.Helper()
	slices.SortFunc(s.at, time.Time.Compare)
	for i := range s.at {
		for j := i; j < len(s.at); j++ {
			span := s.at[j].Sub(s.at[i])
			if n := j - i + 1; float64(n) > float64(burst)+rate*span.Seconds()+1e-9 {
				t.Fatalf("%d calls began within %s, but only %d + %v·%s may", n, span, burst, rate, span)
			}
		}
	}
}

func TestRate_NoSpanExceedsBurstPlusRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate  float64
		burst int
	}{{20, 20}, {20, 1}, {3, 7}, {0.5, 2}, {7, 3}, {1000, 10}} {
		for seed := range uint64(5) {
			synctest.Test(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 47))
				g := New(Options{PerSecond: c.rate, Burst: c.burst, MaxWaiting: 50, Breaker: Breaker{MinCalls: -1}})
				var seen startLog
				var all sync.WaitGroup
				for range 400 {
					// Bursts, single calls and idle time; some callers give up.
					if rng.IntN(4) == 0 {
						time.Sleep(time.Duration(rng.Int64N(int64(5 * float64(time.Second) / c.rate))))
					}
					timeout := time.Duration(rng.Int64N(int64(20 * float64(time.Second) / c.rate)))
					all.Go(func() {
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						if timeout%3 == 0 {
							time.AfterFunc(timeout, cancel)
						}
						_ = g.Do(ctx, server, seen.call)
					})
				}
				all.Wait()
				if len(seen.at) < 100 {
					t.Fatalf("only %d of 400 were called", len(seen.at))
				}
				seen.check(t, c.rate, c.burst)
			})
		}
	}
}

func TestRate_FullRateIsUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{}) // 20 a second, 20 at once
		var seen startLog
		var all sync.WaitGroup
		began := time.Now()
		for range 120 {
			all.Go(func() {
				if err := g.Do(t.Context(), server, seen.call); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("120 calls took %s, want 20 at once and 100 in 5 s", took)
		}
		seen.check(t, 20, 20)
	})
}

// A host that several nodes query gets no more calls than from one.
func TestRate_NodesShareTheRateOfAHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nodes := 1
		var seen startLog
		var all sync.WaitGroup
		query := func(limiters ...*Limiter) {
			for _, g := range limiters {
				for range 30 {
					all.Go(func() {
						if err := g.Do(t.Context(), server, seen.call); err != nil {
							t.Error(err)
						}
					})
				}
			}
			all.Wait()
		}
		limiters := []*Limiter{New(Options{}), New(Options{}), New(Options{})}
		for _, g := range limiters {
			g.ShareAmong(func() int { return nodes })
		}
		query(limiters[0]) // alone: 20 at once
		time.Sleep(10 * time.Second)
		nodes = 3
		began := time.Now()
		query(limiters...)
		if took := time.Since(began); took < 3*time.Second || took > 5*time.Second {
			t.Errorf("90 calls of three nodes took %s, want about 3.6 s", took)
		}
		seen.check(t, 20, 20)
	})
}

func TestRate_CancelledWaitersFreeTheirTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{PerSecond: 10, Burst: 1})
		mustPass(t, g)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { _ = g.Do(ctx, server, succeed) })
		}
		synctest.Wait()
		cancel()
		all.Wait()
		began := time.Now()
		mustPass(t, g)
		if took := time.Since(began); took != 100*time.Millisecond {
			t.Errorf("waited %s for callers that have left", took)
		}
	})
}

func TestLimiter_TurnAfterDeadlineIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{PerSecond: 1, Burst: 1})
		mustPass(t, g)
		hasty, cancel := context.WithTimeout(t.Context(), time.Second+minCallTime-1)
		defer cancel()
		for range 5 {
			if wait := mustRefuse(t, g, hasty, registrar.FaultBusy); wait != time.Second {
				t.Errorf("RetryAfter %s", wait)
			}
		}
		patient, done := context.WithTimeout(t.Context(), time.Second+minCallTime)
		defer done()
		began := time.Now()
		if err := g.Do(patient, server, succeed); err != nil || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestLimiter_IdleHostIgnoresShortDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{PerSecond: 1})
		hasty, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := g.Do(hasty, server, succeed); err != nil {
			t.Error(err)
		}
	})
}
