package ratelimit

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestNew_RejectsInvalidConfig(t *testing.T) {
	t.Parallel()
	good := Window{Limit: 1, Per: time.Second}
	tests := []struct {
		name string
		cfg  Config
		ok   bool
	}{
		{"no window", Config{}, false},
		{"limit 0", Config{Windows: []Window{{0, time.Second}}}, false},
		{"negative limit", Config{Windows: []Window{{-1, time.Second}}}, false},
		{"largest limit", Config{Windows: []Window{{100_000, time.Second}}}, true},
		{"limit too large", Config{Windows: []Window{{100_001, time.Second}}}, false},
		{"no length", Config{Windows: []Window{{1, 0}}}, false},
		{"negative length", Config{Windows: []Window{{1, -time.Second}}}, false},
		{"shortest", Config{Windows: []Window{{1, 1}}}, true},
		{"longest", Config{Windows: []Window{{1, 11 * time.Hour}}}, true},
		{"too long", Config{Windows: []Window{{1, 11*time.Hour + 1}}}, false},
		{"second window is wrong", Config{Windows: []Window{good, {0, time.Second}}}, false},
		{"negative bound", Config{Windows: []Window{good}, MaxKeys: -1}, false},
		{"bound of one", Config{Windows: []Window{good}, MaxKeys: 1}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			limiter, err := New(test.cfg)
			if (err == nil) != test.ok || (limiter != nil) != test.ok {
				t.Errorf("New = %v, %v; want ok %v", limiter, err, test.ok)
			}
		})
	}
}

func TestWindows_AreCopied(t *testing.T) {
	t.Parallel()
	given := contractWindows()
	limiter, _ := withClock(t, given...)
	given[0].Limit = 7
	limiter.Windows()[0].Limit = 8
	if got := limiter.Windows(); got[0] != contractWindows()[0] || got[1] != contractWindows()[1] {
		t.Errorf("windows are %v, want %v", got, contractWindows())
	}
}

func TestDecision_DescribesTightestWindow(t *testing.T) {
	t.Parallel()
	limiter, clock := withClock(t, contractWindows()...)
	key := keyNumber(1)
	if got, want := limiter.Peek(key), (Decision{Allowed: true, Window: 0, Remaining: 30}); got != want {
		t.Errorf("unused: %+v, want %+v", got, want)
	}
	minute, sixHours := time.Minute+tickLength, 6*time.Hour+tickLength
	want := Decision{Allowed: true, Window: 0, Remaining: 29, Reset: minute}
	if got := limiter.Allow(key); got != want {
		t.Errorf("first: %+v, want %+v", got, want)
	}
	clock.advance(10 * time.Second)
	spend(t, limiter, key, 28)
	want = Decision{Allowed: true, Window: 0, Remaining: 0, Reset: minute - 10*time.Second}
	if got := limiter.Allow(key); got != want {
		t.Errorf("last: %+v, want %+v", got, want)
	}
	want.Allowed, want.RetryAfter = false, want.Reset
	if got := limiter.Allow(key); got != want {
		t.Errorf("refused: %+v, want %+v", got, want)
	}

	// Nine more bursts use up the long window; both are then full, and the one
	// that frees up last decides.
	for range 9 {
		clock.advance(time.Minute + tickLength)
		spend(t, limiter, key, 30)
	}
	reset := sixHours - clock.at()
	want = Decision{Allowed: false, RetryAfter: reset, Window: 1, Remaining: 0, Reset: reset}
	if got := limiter.Allow(key); got != want {
		t.Errorf("both full: %+v, want %+v", got, want)
	}
}

func TestAllow_RefusedRequestCountsInNoWindow(t *testing.T) {
	t.Parallel()
	limiter, clock := withClock(t, contractWindows()...)
	key := keyNumber(1)
	accepted := 0
	for range 10 {
		for range 1000 {
			if limiter.Allow(key).Allowed {
				accepted++
			}
		}
		clock.advance(time.Minute + tickLength)
	}
	if accepted != 300 {
		t.Errorf("%d accepted, want 300: ten full minutes", accepted)
	}
}

func TestAllow_KeysAreIndependent(t *testing.T) {
	t.Parallel()
	limiter, _ := withClock(t, contractWindows()...)
	spend(t, limiter, keyNumber(1), 30)
	if limiter.Allow(keyNumber(1)).Allowed {
		t.Error("first key exceeded 30")
	}
	spend(t, limiter, keyNumber(2), 30)
	spend(t, limiter, TextKey("token"), 30)
}

func TestRetryAfterSeconds_RoundsUp(t *testing.T) {
	t.Parallel()
	tests := []struct {
		decision Decision
		want     int
	}{
		{Decision{Allowed: true}, 0},
		{Decision{Allowed: true, Reset: time.Minute}, 0},
		{Decision{RetryAfter: 1}, 1},
		{Decision{RetryAfter: time.Second}, 1},
		{Decision{RetryAfter: time.Second + 1}, 2},
		{Decision{RetryAfter: 59*time.Second + 999*time.Millisecond}, 60},
		{Decision{RetryAfter: 6 * time.Hour}, 21600},
		{Decision{}, 1},
	}
	for _, test := range tests {
		if got := test.decision.RetryAfterSeconds(); got != test.want {
			t.Errorf("%+v: %d seconds, want %d", test.decision, got, test.want)
		}
	}
}

func TestAllow_ClockGoingBackFreesNothing(t *testing.T) {
	t.Parallel()
	limiter, clock := withClock(t, contractWindows()...)
	key := keyNumber(1)
	clock.set(time.Hour)
	spend(t, limiter, key, 29)
	for _, offset := range []time.Duration{time.Hour - 1, 30 * time.Minute, 0, -time.Hour, -200 * 365 * 24 * time.Hour} {
		clock.set(offset)
		if got := limiter.Peek(key); got.Remaining != 1 {
			t.Errorf("clock at %v: %d left, want 1", offset, got.Remaining)
		}
	}
	clock.set(0)
	spend(t, limiter, key, 1)
	refused := limiter.Allow(key)
	if refused.Allowed {
		t.Fatal("31st request allowed after the clock went back")
	}
	if limiter.Sweep() != 0 {
		t.Error("key removed after the clock went back")
	}
	clock.advance(refused.RetryAfter - 1)
	if limiter.Peek(key).Allowed {
		t.Error("allowed before RetryAfter")
	}
	clock.advance(1)
	if !limiter.Peek(key).Allowed {
		t.Error("refused after RetryAfter")
	}
}

func TestAllow_ClockBeforeStartStillLimits(t *testing.T) {
	t.Parallel()
	limiter, clock := withClock(t, contractWindows()...)
	for _, offset := range []time.Duration{1, tickLength, time.Hour} {
		clock.set(-offset)
		key := keyNumber(int(offset))
		spend(t, limiter, key, 30)
		if limiter.Allow(key).Allowed {
			t.Errorf("%v before the start: 31st request allowed", offset)
		}
	}
}

func TestAllow_FarFutureClockDoesNotOverflow(t *testing.T) {
	t.Parallel()
	limiter, clock := withClock(t, contractWindows()...)
	clock.set(math.MaxInt64)
	spend(t, limiter, keyNumber(1), 30)
	if got := limiter.Allow(keyNumber(1)); got.Allowed || got.RetryAfter <= 0 || got.RetryAfter > time.Hour {
		t.Errorf("%+v, want a refusal of about a minute", got)
	}
}

func TestAllow_OldHitsExpireAcrossTickWraparound(t *testing.T) {
	t.Parallel()
	const wrap = (1 << 32) * tickLength
	for _, delay := range []time.Duration{wrap - time.Minute, wrap - tickLength, wrap, wrap + tickLength, wrap + time.Minute, 2 * wrap, 9 * wrap} {
		t.Run(fmt.Sprint(delay), func(t *testing.T) {
			t.Parallel()
			limiter, clock := withClock(t, contractWindows()...)
			for day := range 20 {
				spend(t, limiter, keyNumber(1), 30)
				if limiter.Allow(keyNumber(1)).Allowed {
					t.Fatalf("round %d: 31st request allowed", day)
				}
				clock.advance(delay)
			}
		})
	}
}

func TestAllow_ConcurrentCallersGetExactlyTheLimit(t *testing.T) {
	t.Parallel()
	limiter, _ := withClock(t, Window{Limit: 100, Per: time.Minute}, Window{Limit: 300, Per: time.Hour})
	var accepted atomic.Int64
	var callers sync.WaitGroup
	for range 32 {
		callers.Go(func() {
			for range 50 {
				limiter.Peek(keyNumber(1))
				if limiter.Allow(keyNumber(1)).Allowed {
					accepted.Add(1)
				}
				limiter.Sweep()
			}
		})
	}
	callers.Wait()
	if accepted.Load() != 100 {
		t.Errorf("%d accepted, want 100", accepted.Load())
	}
}

func TestRun_SweepsUntilContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(t, Config{Windows: contractWindows()})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			limiter.Run(ctx)
		}()
		limiter.Allow(keyNumber(1))
		time.Sleep(6*time.Hour - time.Second)
		synctest.Wait()
		if limiter.Len() != 1 {
			t.Error("key removed inside its window")
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if limiter.Len() != 0 {
			t.Error("key not removed")
		}
		cancel()
		<-ended
	})
}
