package jobs

import (
	"context"
	"sync"
	"time"
)

// Pace spreads rows over time, so that thousands that become due together leave room for
// requests. It is safe for concurrent use; a nil Pace does not wait.
type Pace struct {
	interval time.Duration

	mu   sync.Mutex
	next time.Time // when the next row may begin
}

// NewPace returns a Pace of so many rows a second.
func NewPace(perSecond int) *Pace { return &Pace{interval: time.Second / time.Duration(perSecond)} }

// Wait waits until a row may begin, or until ctx ends.
func (p *Pace) Wait(ctx context.Context) error {
	if p == nil {
		return ctx.Err()
	}
	timer := time.NewTimer(time.Until(p.reserve(1)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Add counts rows that begin together with one that has waited.
func (p *Pace) Add(rows int) {
	if p != nil && rows > 0 {
		p.reserve(rows)
	}
}

// reserve returns when the first of so many rows may begin.
func (p *Pace) reserve(rows int) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	begin := p.next
	if now := time.Now(); begin.Before(now) {
		begin = now
	}
	p.next = begin.Add(time.Duration(rows) * p.interval)
	return begin
}
