package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

const (
	// shutdownGrace is how long a call in flight may continue after the service begins to
	// stop. A response that arrives in time saves a query at the next start.
	shutdownGrace = 5 * time.Second
	// storeTimeout bounds a write before or after a call, also during shutdown.
	storeTimeout = 10 * time.Second
	// leaseMargin is how much longer than a call and its writes a lease lasts, so that no
	// other node starts meanwhile.
	leaseMargin = time.Minute
	// batchesPerLease is how many rows a slot may have to work off before the last one of a
	// batch ends: the row in progress, and two of the batch.
	batchesPerLease = 3
)

// unstoredWaits are the waits between attempts to postpone a row when the database has failed. A
// failover takes a few seconds.
var unstoredWaits = []time.Duration{3 * time.Second, 7 * time.Second, 20 * time.Second}

// ErrSettled is returned by a handler whose row is not to be postponed: its next due time is
// stored, another node has it, or it can't be stored and its lease expires by itself.
var ErrSettled = errors.New("row settled")

// ErrUnstored is an ErrSettled of a handler that could not store its result. Its row is due again
// as soon as the database works.
var ErrUnstored = fmt.Errorf("row not stored: %w", ErrSettled)

// Unstored is the ErrUnstored of a write that the database may have committed although the
// connection broke: the row is what it was before, or Row.
type Unstored[T any] struct{ Row T }

func (Unstored[T]) Error() string { return ErrUnstored.Error() }
func (Unstored[T]) Unwrap() error { return ErrUnstored }

// Again is returned by a handler whose row is fine and due again after a delay.
type Again time.Duration

func (Again) Error() string { return "due again" }

// Worker processes due rows under leases: a handler does the work, the worker decides how
// long a lease and a call last, and when a row is due again. Its fields must not change
// after Run.
type Worker[T any] struct {
	Name   string // the job's name in logs and traces
	Logger *slog.Logger
	// ListDue returns up to limit rows that are due, the longest overdue first.
	ListDue func(ctx context.Context, now time.Time, limit int) ([]T, error)
	// ClaimDue, unless it is nil, replaces ListDue and Claim: one statement moves the due times
	// of up to limit rows to the end of a lease and returns them.
	ClaimDue func(ctx context.Context, now, leaseEnd time.Time, limit int) ([]T, error)
	// Key identifies a row, Attempts counts the attempts that it has failed.
	Key      func(T) string
	Attempts func(T) int
	// Claim moves the due time of a row to the end of a lease. It returns false if another
	// node was faster. If it is nil, Handle claims the row with its first change.
	Claim func(ctx context.Context, row T, leaseEnd time.Time) (T, bool)
	// Handle works on a row and returns what it has become. After an error the row is due
	// again: after the delay of an Again, otherwise with backoff.
	Handle func(ctx context.Context, row T) (T, error)
	// Postpone ends the lease and makes the row due.
	Postpone func(ctx context.Context, row T, due time.Time)
	// OnRetry is called before a row is postponed with backoff, with a logger that has the
	// reason, the attempts and the delay; RecordError, unless nil, stores the reason.
	OnRetry     func(ctx context.Context, log *slog.Logger, row T, err error)
	RecordError func(ctx context.Context, key string, code registrar.Code)
	Clock       func() time.Time // the real time
	// Deadline bounds a call to another system.
	Deadline               time.Duration
	MinBackoff, MaxBackoff time.Duration
	RetryAfter             bool // the delay is at least the RetryAfter of an error
	// Interval is how often the worker looks for rows stored by other nodes, 0 means every
	// second; Concurrency is how many rows it processes at a time.
	Interval    time.Duration
	Concurrency int
	Pace        *Pace // spreads the rows; nil means that they begin at once

	loop Loop[T]
	// stop ends the postponing of rows that could not be stored; nil before Run.
	stop       atomic.Pointer[<-chan struct{}]
	postponing sync.WaitGroup
}

// Run processes rows until ctx ends, and lets handlers in flight finish.
func (w *Worker[T]) Run(ctx context.Context) {
	w.loop.ListDue = func(ctx context.Context, limit int) ([]T, error) { return w.ListDue(ctx, w.Now(), limit) }
	w.loop.Key, w.loop.Do, w.loop.OnError = w.Key, w.process, ErrorLogger(w.Logger, w.Name)
	w.loop.Interval, w.loop.Concurrency, w.loop.BatchSize = cmp.Or(w.Interval, time.Second), w.Concurrency, 4*w.Concurrency
	if w.ClaimDue != nil {
		w.loop.BatchSize = (batchesPerLease - 1) * w.Concurrency
		w.loop.ListDue = func(ctx context.Context, limit int) ([]T, error) {
			return w.ClaimDue(ctx, w.Now(), w.leaseEnd(batchesPerLease), limit)
		}
		w.loop.Release = func(ctx context.Context, rows []T) {
			ctx, cancel := w.StoreContext(ctx)
			defer cancel()
			for _, row := range rows {
				w.Postpone(ctx, row, w.Now())
			}
		}
	}
	stop := ctx.Done()
	w.stop.Store(&stop)
	w.loop.Run(ctx)
	w.postponing.Wait()
}

// Wake makes Run look for due rows soon. It never blocks. A nil Worker ignores it.
func (w *Worker[T]) Wake() {
	if w != nil {
		w.loop.Wake()
	}
}

func (w *Worker[T]) process(ctx context.Context, row T) {
	if w.Pace.Wait(ctx) != nil {
		return // shutting down; the row stays due
	}
	if w.Claim != nil {
		claimed, ok := w.Claim(ctx, row, w.LeaseEnd())
		if !ok {
			return
		}
		row = claimed
	}
	ctx, span := startSpan(ctx, w.Name)
	defer span.end()
	span.SetInt(tracing.Attempts, w.Attempts(row))
	row, err := w.Handle(ctx, row)
	span.handled(err)
	w.Settle(ctx, row, err)
}

// Settle ends the work on a row: after an error it is due again. Requests that work on a
// row under a lease call it, too.
func (w *Worker[T]) Settle(ctx context.Context, row T, err error) {
	unstored := errors.Is(err, ErrUnstored)
	if err == nil || errors.Is(err, ErrSettled) && !unstored {
		return
	}
	if unstored {
		rows := []T{row}
		if lost, ok := errors.AsType[Unstored[T]](err); ok {
			rows = append(rows, lost.Row)
		}
		w.postponeAgain(ctx, 0, rows...)
		return
	}
	if cause, ok := errors.AsType[*registrar.Cause](err); ok && cause.Part == registrar.PartDatabase {
		defer func() { w.postponeAgain(ctx, w.MinBackoff, row) }()
	}
	ctx, cancel := w.StoreContext(ctx)
	defer cancel()
	var again Again
	attempts := w.Attempts(row)
	delay := Backoff(attempts, w.MinBackoff, w.MaxBackoff)
	if errors.As(err, &again) {
		delay = time.Duration(again)
	} else {
		var failure *registrar.Error
		if w.RetryAfter && errors.As(err, &failure) {
			delay = min(max(delay, failure.RetryAfter), w.MaxBackoff)
		}
		w.OnRetry(ctx, w.Logger.With(registrar.LogFailure(err), "attempts", attempts, "retry_in", delay.String()), row, err)
		if w.RecordError != nil {
			w.RecordError(ctx, w.Key(row), registrar.CodeOf(err))
		}
	}
	w.Postpone(ctx, row, w.Now().Add(delay))
}

// postponeAgain repeats Postpone after the database has failed, so that the row does not wait for
// the end of its lease. It compares and swaps, so only the first one that is stored has an effect.
// It ends with Run.
func (w *Worker[T]) postponeAgain(ctx context.Context, delay time.Duration, rows ...T) {
	stop := w.stop.Load()
	if stop == nil {
		return // Run has not begun
	}
	w.postponing.Go(func() {
		for _, wait := range unstoredWaits {
			select {
			case <-*stop:
				return
			case <-time.After(failpoint.Backoff(wait)):
			}
			ctx, cancel := w.StoreContext(ctx)
			for _, row := range rows {
				w.Postpone(ctx, row, w.Now().Add(delay))
			}
			cancel()
		}
	})
}

// Now returns the real time in stored precision, so that it compares equal to values read
// back.
func (w *Worker[T]) Now() time.Time { return w.Clock().Truncate(time.Microsecond) }

// LeaseEnd returns the end of a lease taken now. It outlives one call and the writes before
// and after it.
func (w *Worker[T]) LeaseEnd() time.Time { return w.leaseEnd(1) }

func (w *Worker[T]) leaseEnd(rows int) time.Time {
	return w.Now().Add(time.Duration(rows)*(w.Deadline+2*storeTimeout) + leaseMargin)
}

// CallContext bounds one call to another system. When ctx ends first, the call may continue
// for a short grace period. It has ended from the start if this node may have lost its leases.
func (w *Worker[T]) CallContext(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline := w.Deadline
	if !mayCall(ctx) {
		deadline = 0
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), deadline)
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(shutdownGrace):
			cancel()
		case <-call.Done():
		}
	})
	return call, func() { stop(); cancel() }
}

// StoreContext bounds the writes before or after a call, whether or not ctx has ended.
func (*Worker[T]) StoreContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
}
