package renewal

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	detachInterval    = 15 * time.Second
	detachDeadline    = 20 * time.Second
	detachConcurrency = 4
	minDetachBackoff  = 10 * time.Second
	maxDetachBackoff  = 6 * time.Hour
)

// Forgetter removes payment methods from the provider.
type Forgetter interface {
	// ForgetMethod removes a method from the provider. One that is gone is no error.
	ForgetMethod(ctx context.Context, method string) error
}

// Detachment is a payment method that is no longer saved here and has to be detached at the
// provider. While a node works on it, DueAt is the end of its lease.
type Detachment struct {
	Method   string
	DueAt    time.Time
	Attempts int
}

// DetachmentStore persists detachments. A method that is saved again, because an order was paid
// with it before it was detached, has none.
type DetachmentStore interface {
	ClaimDueDetachments(ctx context.Context, now, lease time.Time, limit int) ([]Detachment, error)
	PostponeDetachment(ctx context.Context, detachment Detachment, due time.Time) error
	DeleteDetachment(ctx context.Context, method string) error
}

// DetacherConfig configures the worker. Store and Provider are required.
type DetacherConfig struct {
	Store    DetachmentStore
	Provider Forgetter
	Now      func() time.Time // the business time; nil means time.Now
	Logger   *slog.Logger
}

// NewDetacher returns the worker that detaches methods at the provider. It repeats a failed call
// until it succeeds: nothing charges the method, but the customer was told that it is gone.
func NewDetacher(cfg DetacherConfig) (*jobs.Worker[Detachment], error) {
	if cfg.Store == nil || cfg.Provider == nil {
		return nil, errors.New("renewal: DetacherConfig.Store and Provider are required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	registrar.Default(&cfg.Now, time.Now)
	worker := &jobs.Worker[Detachment]{
		Name: "payment method detachments", Logger: cfg.Logger, Clock: cfg.Now, ClaimDue: cfg.Store.ClaimDueDetachments,
		Key: func(d Detachment) string { return d.Method }, Attempts: func(d Detachment) int { return d.Attempts },
		Postpone: func(ctx context.Context, d Detachment, due time.Time) {
			if err := cfg.Store.PostponeDetachment(ctx, d, due); err != nil {
				cfg.Logger.ErrorContext(ctx, "payment method detachment not postponed", registrar.LogFailure(err))
			}
		},
		OnRetry: func(ctx context.Context, log *slog.Logger, _ Detachment, _ error) {
			log.WarnContext(ctx, "payment method not detached at the provider, will retry")
		},
		Deadline: detachDeadline, MinBackoff: minDetachBackoff, MaxBackoff: maxDetachBackoff, RetryAfter: true,
		Interval: detachInterval, Concurrency: detachConcurrency,
	}
	worker.Handle = func(ctx context.Context, d Detachment) (Detachment, error) {
		call, cancel := worker.CallContext(ctx)
		defer cancel()
		if err := cfg.Provider.ForgetMethod(call, d.Method); err != nil {
			d.Attempts++
			return d, err
		}
		store, cancelStore := worker.StoreContext(ctx)
		defer cancelStore()
		return d, cfg.Store.DeleteDetachment(store, d.Method)
	}
	return worker, nil
}
