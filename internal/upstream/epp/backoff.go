package epp

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Delays after a failed connection attempt.
const (
	minBackoff = 500 * time.Millisecond
	maxBackoff = 30 * time.Second
	// A refused login is retried rarely, because registries lock accounts.
	minLoginBackoff = time.Minute
	maxLoginBackoff = 15 * time.Minute
)

// backoff is the delay after a failed connection. It doubles until one succeeds.
type backoff struct {
	delay time.Duration
	// since is the time of the first failure.
	since, until time.Time
	cause        *registrar.Error
}

func (b *backoff) remaining(now time.Time) time.Duration { return max(0, b.until.Sub(now)) }

// allows reports whether another connection may be dialled. After a failure,
// connections are tried one at a time until one succeeds.
func (b *backoff) allows(now time.Time, dialing int) bool {
	return b.remaining(now) == 0 && (b.delay == 0 || dialing == 0)
}

func (b *backoff) reset() { *b = backoff{} }

func (b *backoff) recordFailure(now time.Time, cause *registrar.Error) {
	first, last := minBackoff, maxBackoff
	if cause.Code == ResultLogin {
		first, last = minLoginBackoff, maxLoginBackoff
	}
	// Several connections that fail at the same time count as one failure.
	if b.remaining(now) == 0 || b.delay < first {
		b.delay = min(max(2*b.delay, first), last)
		b.until = now.Add(b.delay)
	}
	if b.cause == nil {
		b.since = now
	}
	b.cause = cause
}

// fault is the error for commands submitted during the backoff.
func (b *backoff) fault(now time.Time) *registrar.Error {
	current := *b.cause
	current.RetryAfter = b.remaining(now)
	return &current
}
