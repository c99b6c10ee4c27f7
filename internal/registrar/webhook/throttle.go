package webhook

import (
	"errors"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// maxPerAgent deliveries are in flight, so that a hanging agent leaves capacity for the
	// others; further ones wait for busyDelay.
	maxPerAgent = 4
	busyDelay   = time.Second
	// After a failure all deliveries to the agent back off.
	minAgentBackoff = 2 * time.Second
	maxAgentBackoff = 5 * time.Minute
)

// agentThrottle limits deliveries per agent. Agents without failures or deliveries in
// flight are removed, so it is bounded by the number of configured agents.
type agentThrottle struct {
	mu     sync.Mutex
	agents map[string]agentState
}

type agentState struct {
	inFlight, failures int
	blockedUntil       time.Time // no delivery before
}

// acquire counts a delivery to an agent. If it must not be sent now, acquire returns how
// long to wait, and counts nothing.
func (d *agentThrottle) acquire(agent string, now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.agents[agent]
	if wait := at.blockedUntil.Sub(now); wait > 0 {
		return wait
	}
	if at.inFlight >= maxPerAgent {
		return busyDelay
	}
	at.inFlight++
	d.agents[agent] = at
	return 0
}

// release ends a delivery that acquire has admitted.
func (d *agentThrottle) release(agent string, now time.Time, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.agents[agent]
	at.inFlight--
	var failure *registrar.Error
	switch {
	case err == nil || errors.Is(err, errNoRecipient):
		at.failures, at.blockedUntil = 0, time.Time{}
	case errors.As(err, &failure) && failure.Kind == registrar.KindUpstream: // internal errors say nothing about the agent
		at.failures++
		at.blockedUntil = now.Add(max(jobs.Backoff(at.failures, minAgentBackoff, maxAgentBackoff), min(failure.RetryAfter, maxBackoff)))
	}
	if at.inFlight == 0 && at.failures == 0 {
		delete(d.agents, agent)
		return
	}
	d.agents[agent] = at
}
