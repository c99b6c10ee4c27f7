package ratelimit

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// model is the rule in its simplest form: the list of all accepted times in
// nanoseconds, without those outside every window.
type model struct{ accepted []time.Duration }

// inside counts the accepted requests whose age is at most per.
func (m *model) inside(now, per time.Duration) (count int) {
	for i := len(m.accepted) - 1; i >= 0 && now-m.accepted[i] <= per; i-- {
		count++
	}
	return count
}

// wait returns the time until every window, extended by slack, accepts.
func (m *model) wait(now, slack time.Duration, windows []Window) time.Duration {
	var wait time.Duration
	for _, window := range windows {
		if per := window.Per + slack; m.inside(now, per) >= window.Limit {
			decisive := m.accepted[len(m.accepted)-window.Limit]
			wait = max(wait, decisive+per+1-now)
		}
	}
	return wait
}

// remaining returns the smallest number of requests left in any window.
func (m *model) remaining(now time.Duration, windows []Window) int {
	least := windows[0].Limit
	for _, window := range windows {
		least = min(least, window.Limit-m.inside(now, window.Per))
	}
	return least
}

// burstSteps, edgeSteps and rareSteps are clock advances: bursts fill
// the windows, the others probe their edges.
var burstSteps = []time.Duration{
	0, 0, 0, 0, 0, 0, 0, 0,
	tickLength,
	time.Millisecond,
	100 * time.Millisecond,
	2 * time.Second,
}

var edgeSteps = []time.Duration{
	time.Minute - 2*tickLength,
	time.Minute - tickLength,
	time.Minute,
	time.Minute + tickLength,
	time.Minute + 2*tickLength,
}

var rareSteps = []time.Duration{
	time.Hour,
	6*time.Hour - tickLength,
	6 * time.Hour,
	6*time.Hour + tickLength,
	11 * time.Hour,
	// Just below, at and above the wrap-around of the low 32 bits.
	(1<<32 - 1) * tickLength,
	(1 << 32) * tickLength,
	(1<<32 + 1) * tickLength,
	3 * 24 * time.Hour,
}

// step picks the next advance. After a refusal it often goes exactly to the
// end of the wait or just before, because chance alone seldom hits an edge of the long
// window.
func step(random *rand.Rand, wait time.Duration) time.Duration {
	switch roll := random.IntN(1000); {
	case roll < 1:
		return rareSteps[random.IntN(len(rareSteps))]
	case roll < 20:
		return edgeSteps[random.IntN(len(edgeSteps))]
	case roll < 120 && wait > 0:
		return wait
	case roll < 220 && wait > tickLength:
		return wait - tickLength
	default:
		return burstSteps[random.IntN(len(burstSteps))]
	}
}

// nextKey mostly repeats the last key, so that an advance to the end of
// its wait is followed by a call of the same key.
func nextKey(random *rand.Rand, last int) int {
	if random.IntN(10) > 0 {
		return last
	}
	return random.IntN(oracleKeys)
}

const oracleKeys = 4

var oracleWindows = map[string][]Window{
	"contract":                       {{30, time.Minute}, {300, 6 * time.Hour}},
	"long window first":              {{300, 6 * time.Hour}, {30, time.Minute}},
	"long window with smaller limit": {{40, time.Minute}, {25, 10 * time.Minute}},
	"one place":                      {{1, time.Minute}},
	"eleven hours":                   {{3, time.Minute}, {20, 11 * time.Hour}},
}

// With all times on whole ticks nothing is rounded, so the limiter must agree
// with the model in everything.
func TestAllow_AgreesWithExactModel(t *testing.T) {
	t.Parallel()
	for name, windows := range oracleWindows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, 2))
			limiter, clock := withClock(t, windows...)
			models := make([]model, oracleKeys)
			var refused, accepted, n int
			var wait time.Duration
			for i := range oracleSteps {
				clock.advance(step(random, wait).Truncate(tickLength))
				n = nextKey(random, n)
				key, m, now := keyNumber(n), &models[n], clock.at()

				want := m.wait(now, 0, windows)
				peeked := limiter.Peek(key)
				got := limiter.Allow(key)
				if got.Allowed != (want == 0) || peeked.Allowed != got.Allowed || peeked.RetryAfter != got.RetryAfter {
					t.Fatalf("step %d: Peek %+v, Allow %+v, model wait %v", i, peeked, got, want)
				}
				if peeked.Remaining != m.remaining(now, windows) {
					t.Fatalf("step %d: Peek has %d left, model %d", i, peeked.Remaining, m.remaining(now, windows))
				}
				if got.Allowed {
					accepted++
					m.accepted = append(m.accepted, now)
				} else {
					refused++
				}
				if got.Remaining != m.remaining(now, windows) {
					t.Fatalf("step %d: Allow leaves %d, model %d", i, got.Remaining, m.remaining(now, windows))
				}
				if diff := got.RetryAfter - want; diff < 0 || diff > tickLength {
					t.Fatalf("step %d: RetryAfter is %v, model wait %v", i, got.RetryAfter, want)
				}
				wait = got.RetryAfter
			}
			t.Logf("%d accepted, %d refused", accepted, refused)
			if accepted < 1000 || refused < 1000 {
				t.Errorf("%d accepted and %d refused: too few for a proof", accepted, refused)
			}
			checkNoWindowOverflows(t, models, windows)
		})
	}
}

// With times between ticks the limiter may be stricter than the model by less
// than a tick, and never more lenient.
func TestAllow_RoundingNeverExceedsLimit(t *testing.T) {
	t.Parallel()
	for name, windows := range oracleWindows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(3, 4))
			limiter, clock := withClock(t, windows...)
			models := make([]model, oracleKeys)
			var n int
			var wait time.Duration
			for i := range oracleSteps {
				jitter := time.Duration(random.Int64N(int64(2 * tickLength)))
				clock.advance(max(0, step(random, wait)+jitter-tickLength))
				n = nextKey(random, n)
				key, m, now := keyNumber(n), &models[n], clock.at()

				least, most := m.wait(now, 0, windows), m.wait(now, tickLength, windows)
				got := limiter.Allow(key)
				if got.Allowed && least > 0 {
					t.Fatalf("step %d: allowed, but model wait %v", i, least)
				}
				if !got.Allowed && most == 0 {
					t.Fatalf("step %d: refused for %v, but all windows and a tick have passed", i, got.RetryAfter)
				}
				if got.RetryAfter > most || (!got.Allowed && got.RetryAfter < least) {
					t.Fatalf("step %d: RetryAfter is %v, want from %v to %v", i, got.RetryAfter, least, most)
				}
				if got.Allowed {
					m.accepted = append(m.accepted, now)
				} else {
					checkWaitIsExact(t, limiter, clock, key, got.RetryAfter)
				}
				wait = got.RetryAfter
			}
			checkNoWindowOverflows(t, models, windows)
		})
	}
}

// checkWaitIsExact peeks one nanosecond before the end of the wait and at it, and
// resets the clock. Peek counts nothing, so the walk is not affected.
func checkWaitIsExact(t *testing.T, limiter *Limiter, clock *clock, key Key, wait time.Duration) {
	t.Helper()
	refusedAt := clock.at()
	defer clock.set(refusedAt)
	clock.set(refusedAt + wait - 1)
	if decision := limiter.Peek(key); decision.Allowed || decision.RetryAfter != 1 {
		t.Fatalf("1 ns before the end of a wait of %v: %+v", wait, decision)
	}
	clock.set(refusedAt + wait)
	if decision := limiter.Peek(key); !decision.Allowed {
		t.Fatalf("after a wait of %v: %+v", wait, decision)
	}
}

// checkNoWindowOverflows checks the guarantee in real time: a hit and the one
// limit positions later are more than the window apart.
func checkNoWindowOverflows(t *testing.T, models []model, windows []Window) {
	t.Helper()
	for n, m := range models {
		for _, window := range windows {
			for i := window.Limit; i < len(m.accepted); i++ {
				if span := m.accepted[i] - m.accepted[i-window.Limit]; span <= window.Per {
					t.Fatalf("key %d: %d hits within %v, the limit is %d in %v", n, window.Limit+1, span, window.Limit, window.Per)
				}
			}
		}
	}
}

func TestAllow_WindowEdgeIsInclusive(t *testing.T) {
	t.Parallel()
	const minute, sixHours = time.Minute, 6 * time.Hour
	for _, per := range []time.Duration{minute, sixHours} {
		for _, test := range []struct {
			after   time.Duration
			allowed bool
		}{
			{per - tickLength, false},
			{per, false},
			{per + tickLength - 1, false},
			{per + tickLength, true},
		} {
			t.Run(fmt.Sprintf("%v after %v", per, test.after), func(t *testing.T) {
				t.Parallel()
				limiter, clock := withClock(t, Window{Limit: 30, Per: per})
				spend(t, limiter, keyNumber(1), 30)
				clock.advance(test.after)
				if got := limiter.Allow(keyNumber(1)); got.Allowed != test.allowed {
					t.Errorf("%+v, want allowed %v", got, test.allowed)
				}
			})
		}
	}
}

// Rounded down to one tick, this window would open too early.
func TestAllow_FractionalTickWindowIsRoundedUp(t *testing.T) {
	t.Parallel()
	limiter, clock := withClock(t, Window{Limit: 1, Per: 15 * time.Microsecond})
	clock.set(9999)
	spend(t, limiter, keyNumber(1), 1)
	clock.set(9999 + 15*time.Microsecond)
	if got := limiter.Allow(keyNumber(1)); got.Allowed {
		t.Errorf("%+v, want a refusal within 15 µs", got)
	}
	clock.advance(2 * tickLength)
	spend(t, limiter, keyNumber(1), 1)
}
