package epp

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// PoolStatus is how an account's connections do at this moment, for people.
type PoolStatus struct {
	Host string
	// Open are the connections, Most how many there may be, Waiting the commands that
	// have none.
	Open, MaxConnections, Waiting int
	// Since is when connections began to fail, Until when the next one is tried, and
	// Why the reason; zero while all is well.
	Since, RetryAt time.Time
	Cause          registrar.Code
}

// PoolStatus is how the connections do.
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
