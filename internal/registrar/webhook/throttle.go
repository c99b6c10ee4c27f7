package webhook

import (
	"errors"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// maxPerAgent bounds the messages to one agent that are under way, so that one
	// that hangs leaves room for the others.
	maxPerAgent = 4
	// busyDelay is how long a message waits for its turn.
	busyDelay = time.Second
	// After a failure the agent is left alone, for longer and longer.
	minAgentBackoff = 2 * time.Second
	maxAgentBackoff = 5 * time.Minute
)

// agentThrottle remembers how agents behave. Who behaves is forgotten, so it holds at most
// as many as the operator has added.
type agentThrottle struct {
	mu     sync.Mutex
	agents map[string]agentState
}

type agentState struct {
	inFlight, failures int
	blockedUntil       time.Time // nobody calls before
}

// acquire counts a message to an agent. If it must not be sent now, it says how long
// to wait, and nothing is counted.
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

// release is called after enter has let a message pass.
func (d *agentThrottle) release(agent string, now time.Time, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.agents[agent]
	at.inFlight--
	var failure *registrar.Error
	switch {
	case err == nil || errors.Is(err, errNoRecipient):
		at.failures, at.blockedUntil = 0, time.Time{}
	case errors.As(err, &failure) && failure.Kind == registrar.KindUpstream: // our own faults say nothing about the agent
		at.failures++
		at.blockedUntil = now.Add(max(jobs.Backoff(at.failures, minAgentBackoff, maxAgentBackoff), min(failure.RetryAfter, maxBackoff)))
	}
	if at.inFlight == 0 && at.failures == 0 {
		delete(d.agents, agent)
		return
	}
	d.agents[agent] = at
}
