package duty

import (
	"context"
	"time"
)

// batchPause lets others go first, who wait while a batch is removed.
const batchPause = 50 * time.Millisecond

// InBatches removes rows batch by batch, until there is none left to remove, and
// returns how many there were.
func InBatches(ctx context.Context, remove func(context.Context) (int, error)) (all int, err error) {
	for {
		some, err := remove(ctx)
		all += some
		if err != nil || some == 0 {
			return all, err
		}
		select {
		case <-ctx.Done():
			return all, ctx.Err()
		case <-time.After(batchPause):
		}
	}
}

// Regularly does something again and again until ctx ends. failed is called with errors
// and panics while the service goes on.
func Regularly(ctx context.Context, every time.Duration, do func(context.Context) error, failed func(context.Context, error)) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := guarded(func() error { return do(ctx) }); err != nil && ctx.Err() == nil {
				failed(ctx, err)
			}
		}
	}
}
