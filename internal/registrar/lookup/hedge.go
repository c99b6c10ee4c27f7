package lookup

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// A hedge is a question to WHOIS beside one to RDAP that takes long. It changes
// nothing in the order of the ladder and in its rules: a WHOIS answer that will
// decide at its own rung merely ends the wait at RDAP's. If RDAP has answered
// first, the hedge is forgotten, except that a "free" which is already there
// and contradicts RDAP's record makes the name Unknown.
type hedge struct {
	// answered is closed when finding, err and took can be read.
	answered chan struct{}
	finding  Finding
	err      error
	took     time.Duration
}

// askRDAP asks with an eye on the clock.
func (c *climber) askRDAP(ctx context.Context) (Finding, bool) {
	whois := c.engine.whois
	if c.engine.hedgeAfter <= 0 || whois == nil || c.engine.rdap == nil || c.ext.WHOIS == "" {
		return c.ask(ctx, SourceRDAP, c.engine.rdap)
	}
	patience, decided := context.WithCancel(ctx)
	defer decided()
	h := &hedge{answered: make(chan struct{})}
	c.hedge = h
	timer := time.AfterFunc(c.engine.hedgeAfter, func() {
		h.ask(ctx, c, whois)
		if h.err == nil && c.decidesByWHOIS(h.finding) {
			decided()
		}
	})
	finding, ok := c.ask(patience, SourceRDAP, c.engine.rdap)
	if timer.Stop() {
		c.hedge = nil // WHOIS was not asked yet; its rung will do it
	}
	return finding, ok
}

// ask fills in the answer.
func (h *hedge) ask(ctx context.Context, c *climber, whois Records) {
	began := time.Now()
	defer close(h.answered)
	defer func() {
		if problem := recover(); problem != nil {
			h.err = c.engine.caught(ctx, problem)
		}
		h.took = time.Since(began)
	}()
	h.finding, h.err = whois.Find(ctx, c.ext, c.name)
}

// decidesByWHOIS says that rung 3 will end with this finding.
func (c *climber) decidesByWHOIS(finding Finding) bool {
	switch finding.State {
	case Registered, Reserved:
		return true
	case Free:
		return c.ruling != doubtful
	default:
		return false
	}
}

// saysFree looks at what is there and does not wait.
func (h *hedge) saysFree() bool {
	if h == nil {
		return false
	}
	select {
	case <-h.answered:
		return h.err == nil && h.finding.State == Free
	default:
		return false
	}
}

// askWHOIS takes the answer of the hedge if it was asked, and asks otherwise.
func (c *climber) askWHOIS(ctx context.Context) (Finding, bool) {
	h := c.hedge
	if h == nil {
		return c.ask(ctx, SourceWHOIS, c.engine.whois)
	}
	select {
	case <-h.answered:
	case <-ctx.Done():
		return c.note(SourceWHOIS, Finding{}, registrar.Fault(registrar.FaultTimeout, c.ext.WHOIS, ctx.Err()), c.engine.deadline)
	}
	return c.note(SourceWHOIS, h.finding, h.err, h.took)
}
