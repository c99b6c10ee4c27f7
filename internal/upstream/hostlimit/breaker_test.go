package hostlimit

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// newUnlimited returns a Limiter with only a breaker.
func newUnlimited(o Options) *Limiter {
	o.PerSecond = -1
	return New(o)
}

func repeat(t *testing.T, g *Limiter, times int, ask func(context.Context) error) {
	t.Helper()
	for range times {
		_ = g.Do(t.Context(), server, ask)
	}
}

func TestBreaker_OpensAtHalfOfTwentyCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule       string
		well, bad  int
		wantClosed bool
	}{
		{"nineteen of nineteen are too few calls", 0, 19, true},
		{"twenty of twenty", 0, 20, false},
		{"ten of twenty", 10, 10, false},
		{"nine of twenty", 11, 9, true},
		{"a hundred of two hundred and one", 101, 100, true},
		{"a hundred of two hundred", 100, 100, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newUnlimited(Options{})
				repeat(t, g, c.well, succeed)
				repeat(t, g, c.bad, failWith(registrar.FaultRefused))
				if c.wantClosed {
					mustPass(t, g)
					return
				}
				if wait := mustRefuse(t, g, t.Context(), registrar.FaultBusy); wait != 10*time.Second {
					t.Errorf("RetryAfter %s", wait)
				}
			})
		})
	}
}

func TestBreaker_IgnoresFaultsOutsideWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newUnlimited(Options{})
		repeat(t, g, 19, failWith(registrar.FaultRefused))
		time.Sleep(30 * time.Second)
		repeat(t, g, 19, failWith(registrar.FaultRefused))
		mustPass(t, g)
	})
}

func TestBreaker_OpenTimeDoublesPerFailedProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newUnlimited(Options{})
		repeat(t, g, 20, failWith(registrar.FaultTimeout))
		for _, seconds := range []int{10, 20, 40, 80, 120, 120} {
			rest := time.Duration(seconds) * time.Second
			if wait := mustRefuse(t, g, t.Context(), registrar.FaultBusy); wait != rest {
				t.Fatalf("paused for %s, want %s", wait, rest)
			}
			time.Sleep(rest - 1)
			mustRefuse(t, g, t.Context(), registrar.FaultBusy)
			time.Sleep(time.Nanosecond)
			if err := g.Do(t.Context(), server, failWith(registrar.FaultBroken)); registrar.CodeOf(err) != registrar.FaultBroken {
				t.Fatalf("the trial call was refused: %v", err)
			}
		}
		time.Sleep(120 * time.Second)
		mustPass(t, g)
		repeat(t, g, 20, failWith(registrar.FaultTimeout))
		if wait := mustRefuse(t, g, t.Context(), registrar.FaultBusy); wait != 10*time.Second {
			t.Errorf("a recovered host is paused for %s", wait)
		}
	})
}

func TestBreaker_AdmitsOneProbeAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newUnlimited(Options{})
		repeat(t, g, 20, failWith(registrar.FaultTimeout))
		time.Sleep(10 * time.Second)

		// A trial whose caller leaves decides nothing; the next call is the trial.
		ctx, leave := context.WithCancel(t.Context())
		trial := make(chan error)
		go func() { trial <- g.Do(ctx, server, takeTime(time.Minute)) }()
		synctest.Wait()
		mustRefuse(t, g, t.Context(), registrar.FaultBusy)
		leave()
		if err := <-trial; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		mustPass(t, g)
		repeat(t, g, 19, failWith(registrar.FaultTimeout))
		mustPass(t, g) // faults before the pause do not count
	})
}

func TestBreaker_IgnoresCallsEndingWhileOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newUnlimited(Options{})
		late := make(chan error)
		go func() { late <- g.Do(t.Context(), server, takeTime(time.Second)) }()
		synctest.Wait()
		repeat(t, g, 20, failWith(registrar.FaultTimeout))
		if err := <-late; err != nil {
			t.Fatal(err)
		}
		if wait := mustRefuse(t, g, t.Context(), registrar.FaultBusy); wait != 9*time.Second {
			t.Errorf("paused for %s", wait)
		}
	})
}

func TestBreaker_CountsOnlyHostFaults(t *testing.T) {
	t.Parallel()
	inTime := func(ctx context.Context) error { // the call's own timeout
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		return takeTime(time.Hour)(ctx)
	}
	for rule, c := range map[string]struct {
		ask      func(context.Context) error
		deadline time.Duration // of the caller; 0 means no deadline
		counts   bool
	}{
		"time-out":                   {ask: inTime, counts: true},
		"refused":                    {ask: failWith(registrar.FaultRefused), counts: true},
		"broken":                     {ask: failWith(registrar.FaultBroken), counts: true},
		"busy":                       {ask: failWith(registrar.FaultBusy)},
		"invalid query":              {ask: failWith(registrar.NameTooLong)},
		"internal error":             {ask: func(context.Context) error { return errors.New("a bug") }},
		"caller had too little time": {ask: inTime, deadline: minBlameTime - 1},
		"caller had enough time":     {ask: inTime, deadline: minBlameTime, counts: true},
		"caller left": {ask: func(context.Context) error {
			return registrar.Fault(registrar.FaultTimeout, server, context.Canceled)
		}},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newUnlimited(Options{Breaker: Breaker{Window: time.Hour}})
				for range 20 {
					ctx, cancel := t.Context(), context.CancelFunc(func() {})
					if c.deadline > 0 {
						ctx, cancel = context.WithTimeout(ctx, c.deadline)
					}
					_ = g.Do(ctx, server, c.ask)
					cancel()
				}
				if c.counts {
					mustRefuse(t, g, t.Context(), registrar.FaultBusy)
				} else {
					mustPass(t, g)
				}
			})
		})
	}
}

func TestLimiter_HonoursRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newUnlimited(Options{})
		repeat(t, g, 1, throttleFor(7*time.Second))
		time.Sleep(3 * time.Second)
		if wait := mustRefuse(t, g, t.Context(), registrar.FaultThrottled); wait != 4*time.Second {
			t.Errorf("RetryAfter %s", wait)
		}
		time.Sleep(4 * time.Second)
		mustPass(t, g)

		repeat(t, g, 1, throttleFor(24*time.Hour))
		if wait := mustRefuse(t, g, t.Context(), registrar.FaultThrottled); wait != 10*time.Minute {
			t.Errorf("a day is cut to %s", wait)
		}
	})
}

func TestLimiter_UnspecifiedThrottleBacksOffUntilSuccess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newUnlimited(Options{Breaker: Breaker{MinCalls: -1}})
		repeat(t, g, 2, throttleFor(0)) // once or twice, it may concern a single name
		for _, seconds := range []int{2, 4, 8, 16, 32, 60, 60} {
			repeat(t, g, 1, throttleFor(0))
			wait := mustRefuse(t, g, t.Context(), registrar.FaultThrottled)
			if wait != time.Duration(seconds)*time.Second {
				t.Fatalf("waits %s, want %d s", wait, seconds)
			}
			time.Sleep(wait)
		}
		mustPass(t, g)
		// A success that began before the host throttled does not reset the
		// backoff.
		early := make(chan error)
		go func() { early <- g.Do(t.Context(), server, takeTime(time.Second)) }()
		synctest.Wait()
		time.Sleep(time.Nanosecond)
		repeat(t, g, 3, throttleFor(0))
		if wait := mustRefuse(t, g, t.Context(), registrar.FaultThrottled); wait != 2*time.Second {
			t.Errorf("after a success it waits %s", wait)
		}
		if err := <-early; err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second + time.Nanosecond)
		repeat(t, g, 1, throttleFor(0))
		if wait := mustRefuse(t, g, t.Context(), registrar.FaultThrottled); wait != 4*time.Second {
			t.Errorf("after an old success it waits %s", wait)
		}
	})
}

func TestLimiter_ConcurrentThrottlesCountOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var events eventLog
		g := newUnlimited(Options{Observe: events.record})
		done := make(chan error)
		for i := range 10 {
			go func() {
				done <- g.Do(t.Context(), server, func(ctx context.Context) error {
					_ = takeTime(time.Second + time.Duration(i)*time.Millisecond)(ctx)
					return throttleFor(0)(ctx)
				})
			}()
		}
		for range 10 {
			<-done
		}
		if wait := mustRefuse(t, g, t.Context(), registrar.FaultThrottled); events.count(Paused) != 1 || wait != 2*time.Second-7*time.Millisecond {
			t.Errorf("%v, the last of %s", events.seen, wait)
		}
	})
}

func TestLimiter_PauseRefusesQueueAtOnce(t *testing.T) {
	t.Parallel()
	for rule, c := range map[string]struct {
		last func(context.Context) error
		want registrar.Code
	}{
		"paused": {throttleFor(time.Minute), registrar.FaultThrottled},
		"opened": {failWith(registrar.FaultBroken), registrar.FaultBusy},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := newUnlimited(Options{MaxConcurrent: 1, Breaker: Breaker{MinCalls: 1}})
				done := make(chan error)
				go func() {
					done <- g.Do(t.Context(), server, func(ctx context.Context) error {
						_ = takeTime(time.Second)(ctx)
						return c.last(ctx)
					})
				}()
				synctest.Wait()
				for range 50 {
					go func() { done <- g.Do(t.Context(), server, succeed) }()
				}
				began := time.Now()
				for range 51 {
					if err := <-done; registrar.CodeOf(err) != c.want && registrar.CodeOf(err) != registrar.FaultBroken {
						t.Errorf("got %v", err)
					}
				}
				if took := time.Since(began); took != time.Second {
					t.Errorf("waiters were released after %s", took)
				}
			})
		})
	}
}

func TestLimiter_LogsAndCountsEventsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var events eventLog
		g := newUnlimited(Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Observe: events.record})
		repeat(t, g, 25, failWith(registrar.FaultBroken))
		time.Sleep(10 * time.Second)
		mustPass(t, g)
		repeat(t, g, 3, throttleFor(time.Second))
		for event, want := range map[Event]int{BreakerOpened: 1, BreakerClosed: 1, RefusedBusy: 5, Paused: 1, RefusedPaused: 2} {
			if got := events.count(event); got != want {
				t.Errorf("%s was observed %d times, want %d", event, got, want)
			}
		}
		for _, part := range []string{"circuit breaker opened", "recovered", "paused"} {
			if strings.Count(log.String(), part) != 1 {
				t.Errorf("%q is not logged once in %s", part, log.String())
			}
		}
	})
}
