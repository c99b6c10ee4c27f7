package ratelimit

import "time"

// Decision says whether a request may go ahead and how its key stands. It
// describes the moment after the call that returned it.
type Decision struct {
	Allowed bool
	// RetryAfter is the time until all windows accept a request, zero if
	// Allowed.
	RetryAfter time.Duration
	// Window is the index of the tightest window: the one with the fewest
	// places left, and among equals the one that opens last.
	Window int
	// Remaining is the number of places left in the tightest window.
	Remaining int
	// Reset is the time until one more place opens in the tightest window,
	// because its oldest request leaves it. It is zero if the window is unused.
	Reset time.Duration
}

// RetryAfterSeconds is RetryAfter as the header of that name wants it: whole
// seconds, rounded up so that a client that keeps to it is not refused again.
// It is at least 1 when refused and 0 when allowed.
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
