package epp

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// PoolStatus is a snapshot of an account's connections for operators.
type PoolStatus struct {
	Host string
	// Open counts the connections, Waiting the commands without one.
	Open, MaxConnections, Waiting int
	// Since is when connections began to fail, RetryAt the next attempt, and Cause
	// the reason; all are zero while connections work.
	Since, RetryAt time.Time
	Cause          registrar.Code
}

// PoolStatus returns the current state of the connections.
func (c *Client) PoolStatus() PoolStatus {
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	s := PoolStatus{Host: c.Host(), Open: p.workers - p.dialing, MaxConnections: c.account.MaxConnections}
	for _, waiting := range p.waiting {
		s.Waiting += waiting.Len()
	}
	if p.backoff.cause != nil {
		s.Cause, s.Since, s.RetryAt = p.backoff.cause.Code, p.backoff.since, p.backoff.until
	}
	return s
}
