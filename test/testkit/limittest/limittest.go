// Package limittest checks a rate limiter against the rule in its simplest form.
package limittest

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

// Tick is the resolution of a limiter.
const Tick = 10 * time.Microsecond

// Limiter is what is tested.
type Limiter interface {
	Peek(key ratelimit.Key) ratelimit.Decision
	Allow(key ratelimit.Key) ratelimit.Decision
}

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
func (m *model) wait(now, slack time.Duration, windows []ratelimit.Window) time.Duration {
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
func (m *model) remaining(now time.Duration, windows []ratelimit.Window) int {
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
	Tick,
	time.Millisecond,
	100 * time.Millisecond,
	2 * time.Second,
}

var edgeSteps = []time.Duration{
	time.Minute - 2*Tick,
	time.Minute - Tick,
	time.Minute,
	time.Minute + Tick,
	time.Minute + 2*Tick,
}

var rareSteps = []time.Duration{
	time.Hour,
	6*time.Hour - Tick,
	6 * time.Hour,
	6*time.Hour + Tick,
	11 * time.Hour,
	// Just below, at and above the wrap-around of the low 32 bits.
	(1<<32 - 1) * Tick,
	(1 << 32) * Tick,
	(1<<32 + 1) * Tick,
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
	case roll < 220 && wait > Tick:
		return wait - Tick
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
	return random.IntN(keys)
}

const keys = 4

// Windows are the windows to test with.
var Windows = map[string][]ratelimit.Window{
	"contract":                       {{Limit: 30, Per: time.Minute}, {Limit: 300, Per: 6 * time.Hour}},
	"long window first":              {{Limit: 300, Per: 6 * time.Hour}, {Limit: 30, Per: time.Minute}},
	"long window with smaller limit": {{Limit: 40, Per: time.Minute}, {Limit: 25, Per: 10 * time.Minute}},
	"one place":                      {{Limit: 1, Per: time.Minute}},
	"eleven hours":                   {{Limit: 3, Per: time.Minute}, {Limit: 20, Per: 11 * time.Hour}},
}

// Exact makes so many steps. set moves the limiter's clock to a time since its start, always by
// whole ticks, so nothing is rounded and the limiter must agree with the model in everything.
func Exact(t *testing.T, limiter Limiter, windows []ratelimit.Window, steps int, set func(at time.Duration)) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	models := make([]model, keys)
	var refused, accepted, n int
	var now, wait time.Duration
	for i := range steps {
		now += step(random, wait).Truncate(Tick)
		set(now)
		n = nextKey(random, n)
		key, m := Key(n), &models[n]

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
		if diff := got.RetryAfter - want; diff < 0 || diff > Tick {
			t.Fatalf("step %d: RetryAfter is %v, model wait %v", i, got.RetryAfter, want)
		}
		wait = got.RetryAfter
	}
	t.Logf("%d accepted, %d refused", accepted, refused)
	if accepted < steps/200 || refused < steps/200 {
		t.Errorf("%d accepted and %d refused: too few for a proof", accepted, refused)
	}
	for _, m := range models {
		CheckWindows(t, m.accepted, windows)
	}
}

// Rounded makes so many steps of any length. Between ticks the limiter may be stricter than the
// model by less than a tick, and never more lenient.
func Rounded(t *testing.T, limiter Limiter, windows []ratelimit.Window, steps int, set func(at time.Duration)) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	models := make([]model, keys)
	var n int
	var now, wait time.Duration
	for i := range steps {
		jitter := time.Duration(random.Int64N(int64(2 * Tick)))
		now += max(0, step(random, wait)+jitter-Tick)
		set(now)
		n = nextKey(random, n)
		key, m := Key(n), &models[n]

		least, most := m.wait(now, 0, windows), m.wait(now, Tick, windows)
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
			checkWaitIsExact(t, limiter, key, now, got.RetryAfter, set)
		}
		wait = got.RetryAfter
	}
	for _, m := range models {
		CheckWindows(t, m.accepted, windows)
	}
}

// checkWaitIsExact peeks one nanosecond before the end of the wait and at it, and
// resets the clock. Peek counts nothing, so the walk is not affected.
func checkWaitIsExact(t *testing.T, limiter Limiter, key ratelimit.Key, now, wait time.Duration, set func(at time.Duration)) {
	t.Helper()
	defer set(now)
	set(now + wait - 1)
	if decision := limiter.Peek(key); decision.Allowed || decision.RetryAfter != 1 {
		t.Fatalf("1 ns before the end of a wait of %v: %+v", wait, decision)
	}
	set(now + wait)
	if decision := limiter.Peek(key); !decision.Allowed {
		t.Fatalf("after a wait of %v: %+v", wait, decision)
	}
}

// CheckWindows checks the guarantee in real time: a request and the one limit positions later are
// more than the window apart.
func CheckWindows(t *testing.T, accepted []time.Duration, windows []ratelimit.Window) {
	t.Helper()
	for _, window := range windows {
		for i := window.Limit; i < len(accepted); i++ {
			if span := accepted[i] - accepted[i-window.Limit]; span <= window.Per {
				t.Fatalf("%d requests within %v, the limit is %d in %v", window.Limit+1, span, window.Limit, window.Per)
			}
		}
	}
}

// Key returns the key of the n-th IPv4 address.
func Key(n int) ratelimit.Key {
	var bytes [4]byte
	binary.BigEndian.PutUint32(bytes[:], uint32(n))
	return ratelimit.AddressKey(netip.AddrFrom4(bytes))
}
