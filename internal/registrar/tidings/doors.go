package tidings

import (
	"errors"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// perAgent bounds the messages to one agent that are under way, so that one
	// that hangs leaves room for the others.
	perAgent = 4
	// crowded is how long a message waits for its turn.
	crowded = time.Second
	// After a failure the agent is left alone, for longer and longer.
	firstShut = 2 * time.Second
	longShut  = 5 * time.Minute
)

// doors remembers how agents behave. Who behaves is forgotten, so it holds at most
// as many as the operator has added.
type doors struct {
	mu     sync.Mutex
	agents map[string]door
}

type door struct {
	busy, failures int
	shut           time.Time // nobody calls before
}

// enter counts a message to an agent. If it must not be sent now, it says how long
// to wait, and nothing is counted.
func (d *doors) enter(agent string, now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.agents[agent]
	if wait := at.shut.Sub(now); wait > 0 {
		return wait
	}
	if at.busy >= perAgent {
		return crowded
	}
	at.busy++
	d.agents[agent] = at
	return 0
}

// leave is called after enter has let a message pass.
func (d *doors) leave(agent string, now time.Time, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.agents[agent]
	at.busy--
	var failure *registrar.Error
	switch {
	case err == nil || errors.Is(err, errNobody):
		at.failures, at.shut = 0, time.Time{}
	case errors.As(err, &failure) && failure.Kind == registrar.KindUpstream: // our own faults say nothing about the agent
		at.failures++
		at.shut = now.Add(max(duty.Pause(at.failures, firstShut, longShut), min(failure.RetryAfter, longPause)))
	}
	if at.busy == 0 && at.failures == 0 {
		delete(d.agents, agent)
		return
	}
	d.agents[agent] = at
}
