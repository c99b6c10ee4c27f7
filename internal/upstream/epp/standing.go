package epp

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Standing is how an account's connections do at this moment, for people.
type Standing struct {
	Host string
	// Open are the connections, Most how many there may be, Waiting the commands that
	// have none.
	Open, Most, Waiting int
	// Since is when connections began to fail, Until when the next one is tried, and
	// Why the reason; zero while all is well.
	Since, Until time.Time
	Why          registrar.Code
}

// Standing is how the connections do.
func (c *Client) Standing() Standing {
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Standing{Host: c.Host(), Open: p.workers - p.dialing, Most: c.account.MaxConnections}
	for _, waiting := range p.waiting {
		s.Waiting += waiting.Len()
	}
	if p.backoff.why != nil {
		s.Why, s.Since, s.Until = p.backoff.why.Code, p.backoff.since, p.backoff.until
	}
	return s
}
