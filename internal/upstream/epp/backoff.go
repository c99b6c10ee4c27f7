package epp

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// How long to wait after a connection could not be made.
const (
	minBackoff = 500 * time.Millisecond
	maxBackoff = 30 * time.Second
	// A refused login is asked again seldom: registries lock accounts.
	minLoginBackoff = time.Minute
	maxLoginBackoff = 15 * time.Minute
)

// backoff is the pause after a failed connection. It doubles as long as none
// succeeds.
type backoff struct {
	delay time.Duration
	// since is when the first of the failures was seen.
	since, until time.Time
	cause        *registrar.Error
}

func (b *backoff) remaining(now time.Time) time.Duration { return max(0, b.until.Sub(now)) }

// allows says whether one more connection may be tried while so many are. After a
// failure it is one at a time, until one succeeds.
func (b *backoff) allows(now time.Time, dialing int) bool {
	return b.remaining(now) == 0 && (b.delay == 0 || dialing == 0)
}

func (b *backoff) reset() { *b = backoff{} }

func (b *backoff) recordFailure(now time.Time, cause *registrar.Error) {
	first, last := minBackoff, maxBackoff
	if cause.Code == ResultLogin {
		first, last = minLoginBackoff, maxLoginBackoff
	}
	// Several connections that fail at once are one failure.
	if b.remaining(now) == 0 || b.delay < first {
		b.delay = min(max(2*b.delay, first), last)
		b.until = now.Add(b.delay)
	}
	if b.cause == nil {
		b.since = now
	}
	b.cause = cause
}

// fault is what those are told who come during the pause.
func (b *backoff) fault(now time.Time) *registrar.Error {
	current := *b.cause
	current.RetryAfter = b.remaining(now)
	return &current
}
