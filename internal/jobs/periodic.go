package jobs

import (
	"context"
	"time"
)

// batchDelay lets others go first, who wait while a batch is removed.
const batchDelay = 50 * time.Millisecond

// DeleteInBatches removes rows batch by batch, until there is none left to remove, and
// returns how many there were.
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

// RunEvery does something again and again until ctx ends. failed is called with errors
// and panics while the service goes on.
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
