package hostlimit

import (
	"container/list"
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Limiter limits calls to hosts. It is safe for concurrent use. A nil Limiter
// allows everything.
type Limiter struct {
	options Options

	mu    sync.Mutex
	hosts map[string]*host
}

// New returns a Limiter.
func New(o Options) *Limiter {
	return &Limiter{options: o.withDefaults(), hosts: make(map[string]*host)}
}

// ShareAmong makes this node use its part of each host's limits; nodes returns how many share
// them. It must be called before the first call.
func (g *Limiter) ShareAmong(nodes func() int) { g.options.Nodes = nodes }

// Do runs call when host permits it and returns its error. Without running it, Do
// returns FaultThrottled if the host asked for a pause, and FaultBusy if the
// breaker is open, too many calls wait, or the turn would come after the deadline
// of ctx. RetryAfter then says when to try again.
//
// call reports failures as *registrar.Error: the code decides whether the host is
// to blame.
func (g *Limiter) Do(ctx context.Context, name string, call func(ctx context.Context) error) error {
	if g == nil {
		return call(ctx)
	}
	h := g.acquireHost(name)
	if h == nil {
		g.options.Observe(name, RefusedBusy)
		return registrar.Fault(registrar.FaultBusy, name, errTooManyHosts)
	}
	defer g.releaseHost(h)

	t, refusal := h.admit(ctx, &g.options)
	if t.waited {
		g.options.Observe(name, Waited)
	}
	if refusal != nil {
		switch refusal.Code {
		case registrar.FaultThrottled:
			g.options.Observe(name, RefusedPaused)
		case registrar.FaultBusy:
			g.options.Observe(name, RefusedBusy)
		default: // the caller left
		}
		return refusal
	}
	// The permit is returned even if call panics.
	err := errPanicked
	defer func() { g.finish(ctx, h, t, err) }()
	err = call(ctx)
	return err
}

var (
	errTooManyHosts = errors.New("hostlimit: too many hosts with pauses or failures")
	errPanicked     = errors.New("hostlimit: call panicked")
)

func (g *Limiter) finish(ctx context.Context, h *host, t permit, err error) {
	now := time.Now()
	var fault *registrar.Error
	_ = errors.As(err, &fault) // fault stays nil if there is none
	for _, event := range h.finish(now, t, classify(ctx, err, fault, now.Sub(t.began)), fault) {
		g.reportEvent(ctx, h, event)
	}
}

// classify reports whether the host is to blame for the outcome of a call.
func classify(ctx context.Context, err error, fault *registrar.Error, took time.Duration) callOutcome {
	switch {
	case err == nil:
		return outcomeSuccess
	case errors.Is(err, context.Canceled), errors.Is(err, errPanicked), fault == nil:
		return outcomeNeutral
	}
	switch fault.Code {
	case registrar.FaultTimeout:
		if ctx.Err() != nil && took < minBlameTime {
			return outcomeNeutral // the caller's deadline was too short
		}
		return outcomeFailure
	case registrar.FaultRefused, registrar.FaultBroken, registrar.FaultThrottled:
		return outcomeFailure
	default: // the limiter refused, or the query was invalid
		return outcomeNeutral
	}
}

// acquireHost finds or creates the state of a host and holds it. It returns nil if
// the table is full of hosts that must not be evicted.
func (g *Limiter) acquireHost(name string) *host {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.hosts[name]
	if h == nil {
		if len(g.hosts) >= g.options.MaxHosts {
			g.evictIdle()
		}
		if len(g.hosts) >= g.options.MaxHosts {
			return nil
		}
		h = &host{
			name:    name,
			rate:    newRate(g.options.PerSecond, g.options.Burst),
			breaker: breaker{rules: g.options.Breaker},
			queue:   list.New(),
		}
		g.hosts[name] = h
	}
	h.users++
	return h
}

func (g *Limiter) releaseHost(h *host) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h.users--
}

// evictIdle evicts all evictable hosts. It is called only when the table is full.
func (g *Limiter) evictIdle() {
	now := time.Now()
	maps.DeleteFunc(g.hosts, func(_ string, h *host) bool { return h.evictable(now) })
}

func (g *Limiter) reportEvent(ctx context.Context, h *host, event Event) {
	switch event {
	case Paused:
		g.options.Logger.InfoContext(ctx, "upstream host paused", "host", h.name)
	case BreakerOpened:
		g.options.Logger.WarnContext(ctx, "upstream host circuit breaker opened", "host", h.name)
	case BreakerClosed:
		g.options.Logger.InfoContext(ctx, "upstream host recovered", "host", h.name)
	default:
		return
	}
	g.options.Observe(h.name, event)
}
