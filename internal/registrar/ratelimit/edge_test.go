package ratelimit

import (
	"fmt"
	"testing"
	"time"
)

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
