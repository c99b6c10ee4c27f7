package ratelimit

import "time"

// Decision reports whether a request is allowed and the state of its key right after the
// call that returned it.
type Decision struct {
	Allowed bool
	// RetryAfter is the time until all windows accept a request, zero if Allowed.
	RetryAfter time.Duration
	// Window is the index of the tightest window: the one with the fewest requests left,
	// and among equals the one that frees up last.
	Window int
	// Remaining is the number of requests left in the tightest window.
	Remaining int
	// Reset is the time until the tightest window's oldest request leaves it. It is zero if
	// the window is unused.
	Reset time.Duration
}

// RetryAfterSeconds is RetryAfter for the Retry-After header: whole seconds, rounded up so
// that a client that complies is not refused again. It is at least 1 when refused and 0
// when allowed.
func (d Decision) RetryAfterSeconds() int {
	if d.Allowed {
		return 0
	}
	seconds := d.RetryAfter / time.Second
	if d.RetryAfter%time.Second > 0 {
		seconds++
	}
	return max(1, int(seconds))
}
