package epp

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// How long to wait after a connection could not be made.
const (
	firstPause = 500 * time.Millisecond
	lastPause  = 30 * time.Second
	// A refused login is asked again seldom: registries lock accounts.
	firstLoginPause = time.Minute
	lastLoginPause  = 15 * time.Minute
)

// backoff is the pause after a failed connection. It doubles as long as none
// succeeds.
type backoff struct {
	pause time.Duration
	// since is when the first of the failures was seen.
	since, until time.Time
	why          *registrar.Error
}

func (b *backoff) left(now time.Time) time.Duration { return max(0, b.until.Sub(now)) }

// allows says whether one more connection may be tried while so many are. After a
// failure it is one at a time, until one succeeds.
func (b *backoff) allows(now time.Time, dialing int) bool {
	return b.left(now) == 0 && (b.pause == 0 || dialing == 0)
}

func (b *backoff) reset() { *b = backoff{} }

func (b *backoff) set(now time.Time, why *registrar.Error) {
	first, last := firstPause, lastPause
	if why.Code == ResultLogin {
		first, last = firstLoginPause, lastLoginPause
	}
	// Several connections that fail at once are one failure.
	if b.left(now) == 0 || b.pause < first {
		b.pause = min(max(2*b.pause, first), last)
		b.until = now.Add(b.pause)
	}
	if b.why == nil {
		b.since = now
	}
	b.why = why
}

// fault is what those are told who come during the pause.
func (b *backoff) fault(now time.Time) *registrar.Error {
	told := *b.why
	told.RetryAfter = b.left(now)
	return &told
}
