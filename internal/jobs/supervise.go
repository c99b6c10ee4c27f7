package jobs

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// PanicError is the error for work that panicked. The panic value is dropped: it may
// contain personal data.
type PanicError struct{ Stack string }

func (*PanicError) Error() string { return "panic" }

// recoverPanic runs work and turns a panic into an error.
func recoverPanic(work func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = &PanicError{Stack: string(debug.Stack())}
		}
	}()
	return work()
}

// ErrorLogger returns a function that logs why a job failed. Outages that are logged
// elsewhere (registrar.Cause) are skipped, since every job would repeat them.
func ErrorLogger(logger *slog.Logger, job string) func(context.Context, error) {
	return func(ctx context.Context, err error) {
		var panicked *PanicError
		var cause *registrar.Cause
		switch {
		case errors.As(err, &panicked):
			logger.ErrorContext(ctx, registrar.PanicRecovered, "where", "job", "job", job, "stack", panicked.Stack)
		case errors.As(err, &cause) && cause.Outage:
		default:
			logger.ErrorContext(ctx, "job failed, will retry", "job", job, "code", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
		}
	}
}

const minRestartDelay, maxRestartDelay = time.Second, time.Minute

// Supervise runs work, which ends with ctx, and restarts it with backoff when it panics.
// failed is called with each panic.
func Supervise(ctx context.Context, failed func(context.Context, error), work func(context.Context)) {
	for restarts := 1; ; restarts++ {
		err := recoverPanic(func() error { work(ctx); return nil })
		if err == nil {
			return
		}
		failed(ctx, err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(Backoff(restarts, minRestartDelay, maxRestartDelay)):
		}
	}
}

// batchDelay lets waiting transactions run between two batches.
const batchDelay = 50 * time.Millisecond

// DeleteInBatches calls remove until it removes nothing, and returns the total.
func DeleteInBatches(ctx context.Context, remove func(context.Context) (int, error)) (total int, err error) {
	for {
		count, err := remove(ctx)
		total += count
		if err != nil || count == 0 {
			return total, err
		}
		select {
		case <-ctx.Done():
			return total, ctx.Err()
		case <-time.After(batchDelay):
		}
	}
}

// RunEvery calls do at the given interval until ctx ends. failed is called with its errors
// and panics unless ctx has ended.
func RunEvery(ctx context.Context, interval time.Duration, do func(context.Context) error, failed func(context.Context, error)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := recoverPanic(func() error { return do(ctx) }); err != nil && ctx.Err() == nil {
				failed(ctx, err)
			}
		}
	}
}
