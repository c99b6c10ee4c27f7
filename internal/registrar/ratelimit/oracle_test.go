package ratelimit_test

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/test/testkit/limittest"
)

func TestAllow_AgreesWithExactModel(t *testing.T) {
	t.Parallel()
	for name, windows := range limittest.Windows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limiter, set := withClock(t, windows)
			limittest.Exact(t, limiter, windows, ratelimit.OracleSteps, set)
		})
	}
}

func TestAllow_RoundingNeverExceedsLimit(t *testing.T) {
	t.Parallel()
	for name, windows := range limittest.Windows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limiter, set := withClock(t, windows)
			limittest.Rounded(t, limiter, windows, ratelimit.OracleSteps, set)
		})
	}
}

// A key that is never idle for a whole window is never reset, so its log crosses
// the wrap-around with hits on both sides.
func TestAllow_BusyKeyIsLimitedAcrossTickWraparound(t *testing.T) {
	t.Parallel()
	windows := []ratelimit.Window{{Limit: 5, Per: time.Hour}}
	limiter, set := withClock(t, windows)
	var accepted []time.Duration
	for now := time.Duration(0); now < 5*24*time.Hour; now += 7*time.Minute + 13*time.Microsecond {
		set(now)
		if limiter.Allow(limittest.Key(1)).Allowed {
			accepted = append(accepted, now)
		}
	}
	if len(accepted) < 500 {
		t.Errorf("only %d accepted in five days", len(accepted))
	}
	limittest.CheckWindows(t, accepted, windows)
}

// withClock returns a limiter and a function that sets its clock to a time after its start.
func withClock(t *testing.T, windows []ratelimit.Window) (*ratelimit.Limiter, func(time.Duration)) {
	t.Helper()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := start
	limiter, err := ratelimit.New(ratelimit.Config{Windows: windows, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return limiter, func(at time.Duration) { now = start.Add(at) }
}
