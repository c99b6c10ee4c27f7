package order

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Failed provider calls are retried indefinitely.
const (
	minBackoff = 2 * time.Second
	maxBackoff = 10 * time.Minute
)

// failedCall is the error of a provider call; what names it in the metrics.
type failedCall struct {
	what string
	error
}

func (f failedCall) Unwrap() error { return f.error }

// retryLater postpones an order after an error.
func (s *Service) retryLater(ctx context.Context, o Order, what string, err error) {
	s.worker.Settle(ctx, o, failedCall{what, err})
}

// onRetry reports that an order has to wait. Orders are never abandoned: errors that
// retrying can't fix are logged for the operator.
func (s *Service) onRetry(ctx context.Context, log *slog.Logger, o Order, err error) {
	var failed failedCall
	errors.As(err, &failed)
	s.cfg.OnRetry(failed.what, registrar.CodeOf(err))
	log = log.With("order", o.ID, "state", string(o.State), "what", failed.what)
	if registrar.KindOf(err) == registrar.KindInternal || !registrar.IsTransient(err) {
		log.ErrorContext(ctx, "order processing failed, operator action required", "detail", err.Error())
	} else {
		log.WarnContext(ctx, "order waiting for the payment provider")
	}
}

func (s *Service) postpone(ctx context.Context, o Order, due time.Time) {
	now := o.clone()
	now.Node, now.DueAt = "", due
	if err := s.transition(ctx, &Transition{From: o, To: now}); err != nil && !errors.Is(err, errConflict) {
		s.cfg.Logger.ErrorContext(ctx, "order not postponed, its lease will expire", "order", o.ID, "error", err.Error())
	}
}
