package idempotency

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// A request that waits for the answer of one in flight looks for it after
	// firstPoll, then less and less often.
	firstPoll = 50 * time.Millisecond
	longPoll  = time.Second
	// So many may wait on a node at one moment, in total and of one caller; more are
	// told InFlight at once.
	mostWaiters          = 256
	mostWaitersPerCaller = 64
)

// Wait says how long a request waits for the answer of one in flight.
type Wait struct {
	// Caller is who waits, for bounding their number.
	Caller string
	// Until ends the wait, and so does either channel when it is closed; a nil one
	// never is.
	Until         time.Time
	Gone, Closing <-chan struct{}
}

// BeginOrWait is Begin, but waits for the answer while another request with the key is
// in flight. If that one gives its key back, this one takes it.
func (s *Service) BeginOrWait(ctx context.Context, scope, key string, body []byte, wait Wait) (run *Run, before *Stored, err error) {
	inFlight := func() bool {
		run, before, err = s.Begin(ctx, scope, key, body)
		return registrar.CodeOf(err) == InFlight
	}
	if !inFlight() {
		return run, before, err
	}
	leave, ok := s.waiters.Enter(wait.Caller)
	if !ok {
		return run, before, err
	}
	defer leave()
	waiting, cancel := context.WithDeadline(ctx, wait.Until)
	defer cancel()
	// Whatever ends the wait, err is what the last look has set.
	_, _ = duty.Poll(waiting, wait.Gone, wait.Closing, firstPoll, longPoll, func() (bool, error) { return !inFlight(), nil })
	return run, before, err
}
