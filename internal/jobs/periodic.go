package jobs

import (
	"context"
	"time"
)

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
