package idempotency

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// A waiting request polls at these intervals, backing off from the first to the
	// second.
	minPollInterval = 50 * time.Millisecond
	maxPollInterval = time.Second
	// These limit the requests waiting on a node, in total and per caller; further ones
	// get InFlight at once.
	maxWaiters          = 256
	maxWaitersPerCaller = 64
)

// WaitOptions limits the wait for a request in flight.
type WaitOptions struct {
	// Caller identifies the client, to limit its waiting requests.
	Caller string
	// Until ends the wait, as does closing either channel; a nil channel never closes.
	Until                time.Time
	ClientGone, Shutdown <-chan struct{}
}

// BeginOrWait is Begin, but waits while another request with the key is in flight. If
// that one releases its key, this one acquires it.
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
	// However the wait ends, err is that of the last poll.
	_, _ = jobs.Poll(waitCtx, options.ClientGone, options.Shutdown, minPollInterval, maxPollInterval, func() (bool, error) { return !inFlight(), nil })
	return run, stored, err
}
