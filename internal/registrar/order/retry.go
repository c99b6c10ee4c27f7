package order

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Failed provider calls are retried indefinitely.
const (
	minBackoff = 2 * time.Second
	maxBackoff = 10 * time.Minute
)

// retryLater postpones an order after an error. Orders are never abandoned: errors that
// retrying can't fix are logged for the operator.
func (s *Service) retryLater(ctx context.Context, o Order, what string, err error) {
	if err == errTaken { //nolint:errorlint // the very one
		return
	}
	kind, code := registrar.KindOf(err), registrar.CodeOf(err)
	s.cfg.OnRetry(what, code)
	s.cfg.RecordError(ctx, o.ID, code)
	delay := jobs.Backoff(max(1, o.Attempts), minBackoff, maxBackoff)
	log := s.cfg.Logger.With("order", o.ID, "state", string(o.State), "what", what, "reason", kind.String(), "code", string(code),
		"attempts", o.Attempts, "retry_in", delay.String())
	if kind == registrar.KindInternal || !registrar.IsTransient(err) {
		log.ErrorContext(ctx, "order processing failed, operator action required", "detail", err.Error())
	} else {
		log.WarnContext(ctx, "order waits for the payment provider")
	}
	now := o.clone()
	now.Node, now.DueAt = "", s.clock().Add(delay)
	if _, err := s.transition(ctx, &Transition{From: o, To: now}); err != nil {
		s.cfg.Logger.ErrorContext(ctx, "order not postponed, its lease will expire", "order", o.ID, "error", err.Error())
	}
}
