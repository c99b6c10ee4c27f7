package order

import (
	"context"
	"sync"
	"time"
)

// maxLockWait bounds how long a webhook waits for a charge of the same payment.
const maxLockWait = 2 * time.Second

// paymentLocks let one request of this node at a time settle a payment. The response to a
// charge, the provider's webhook and the customer's return arrive within milliseconds: on
// their own, each would query the provider, and all but one would lose a version conflict.
// Correctness does not depend on the locks, and other nodes have their own.
type paymentLocks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // by the provider's id; closed on release
}

// acquire locks a payment, or proceeds without the lock after maxLockWait. waited means that
// the payment may have changed meanwhile.
func (l *paymentLocks) acquire(ctx context.Context, id string) (release func(), waited bool) {
	ctx, cancel := context.WithTimeout(ctx, maxLockWait)
	defer cancel()
	for {
		l.mu.Lock()
		holder, busy := l.held[id]
		if !busy {
			mine := make(chan struct{})
			l.held[id] = mine
			l.mu.Unlock()
			return func() {
				l.mu.Lock()
				delete(l.held, id)
				l.mu.Unlock()
				close(mine)
			}, waited
		}
		l.mu.Unlock()
		waited = true
		select {
		case <-holder:
		case <-ctx.Done():
			return func() {}, true
		}
	}
}
