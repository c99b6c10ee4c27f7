package idempotency

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// A request that waits for the answer of one in flight looks for it after
	// firstPoll, then less and less often.
	minPollInterval = 50 * time.Millisecond
	maxPollInterval = time.Second
	// So many may wait on a node at one moment, in total and of one caller; more are
	// told InFlight at once.
	maxWaiters          = 256
	maxWaitersPerCaller = 64
)

// WaitOptions says how long a request waits for the answer of one in flight.
type WaitOptions struct {
	// Caller is who waits, for bounding their number.
	Caller string
	// Until ends the wait, and so does either channel when it is closed; a nil one
	// never is.
	Until                time.Time
	ClientGone, Shutdown <-chan struct{}
}

// BeginOrWait is Begin, but waits for the answer while another request with the key is
// in flight. If that one gives its key back, this one takes it.
func (s *Service) BeginOrWait(ctx context.Context, scope, key string, body []byte, options WaitOptions) (run *Run, stored *StoredResponse, err error) {
	inFlight := func() bool {
		run, stored, err = s.Begin(ctx, scope, key, body)
		return registrar.CodeOf(err) == InFlight
	}
	if !inFlight() {
		return run, stored, err
	}
	leave, ok := s.waiters.Acquire(options.Caller)
	if !ok {
		return run, stored, err
	}
	defer leave()
	waitCtx, cancel := context.WithDeadline(ctx, options.Until)
	defer cancel()
	// Whatever ends the wait, err is what the last look has set.
	_, _ = jobs.Poll(waitCtx, options.ClientGone, options.Shutdown, minPollInterval, maxPollInterval, func() (bool, error) { return !inFlight(), nil })
	return run, stored, err
}
