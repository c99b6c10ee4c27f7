package jobs

import (
	"context"
	"time"
)

// shutdownGrace is how long a call in flight may continue after the service begins
// to stop. A response that arrives in time saves a query at the next start.
const shutdownGrace = 5 * time.Second

// CallContext bounds one call to another system by timeout. When ctx ends first, the
// call may continue for a short grace period.
func CallContext(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(shutdownGrace):
			cancel()
		case <-call.Done():
		}
	})
	return call, func() { stop(); cancel() }
}

// LeaseEnd returns the end of a lease taken now, in stored precision. It outlives one call
// and the writes before and after it, so that no other node starts meanwhile.
func LeaseEnd(now time.Time, call, store time.Duration) time.Time {
	const margin = time.Minute
	return now.Add(call + 2*store + margin).Truncate(time.Microsecond)
}
