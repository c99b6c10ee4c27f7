package hostlimit

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Limiter watches over questions to hosts. It is safe for concurrent use. A nil
// Guard lets everything pass.
type Limiter struct {
	options Options

	mu    sync.Mutex
	hosts map[string]*host
}

// New makes a Guard.
func New(o Options) *Limiter {
	return &Limiter{options: o.withDefaults(), hosts: make(map[string]*host)}
}

// Do calls ask when it is its turn at host and returns what ask returns. It
// returns without having called it, with FaultThrottled, if the host asked to be
// left alone, and with FaultBusy if the host fails too often, too many wait
// already, or the turn would come after the deadline of ctx. RetryAfter then
// says when another try makes sense.
//
// ask reports what went wrong as a *registrar.Error: its code decides whether
// the host is to blame.
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
		g.observeRefusal(name, refusal)
		return refusal
	}
	// Whatever happens in ask, its place is given back.
	err := errPanicked
	defer func() { g.finish(ctx, h, t, err) }()
	err = call(ctx)
	return err
}

var (
	errTooManyHosts = errors.New("too many hosts are in trouble at once")
	errPanicked     = errors.New("the question did not return")
)

func (g *Limiter) finish(ctx context.Context, h *host, t permit, err error) {
	now := g.options.Now()
	var fault *registrar.Error
	if !errors.As(err, &fault) {
		fault = nil
	}
	events := h.finish(now, t, classify(ctx, err, fault, now.Sub(t.began)), fault)
	for _, event := range events {
		g.reportEvent(ctx, h, event)
	}
}

// classify says whether the host is to blame for the way in which a question ended.
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
			return outcomeNeutral // the caller had no more time to give
		}
		return outcomeFailure
	case registrar.FaultRefused, registrar.FaultBroken, registrar.FaultThrottled:
		return outcomeFailure
	default: // we held back ourselves, or the question was wrong
		return outcomeNeutral
	}
}

// acquireHost finds or makes the state of a host and holds it. It is nil if there are
// too many hosts of which something must be remembered.
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

// evictIdle makes room. It looks at every host, but only when there are too
// many, and then it forgets all that it can.
func (g *Limiter) evictIdle() {
	now := g.options.Now()
	for name, h := range g.hosts {
		if h.evictable(now) {
			delete(g.hosts, name)
		}
	}
}

func (g *Limiter) observeRefusal(name string, refusal *registrar.Error) {
	switch refusal.Code {
	case registrar.FaultThrottled:
		g.options.Observe(name, RefusedPaused)
	case registrar.FaultBusy:
		g.options.Observe(name, RefusedBusy)
	default: // the caller left
	}
}

func (g *Limiter) reportEvent(ctx context.Context, h *host, event Event) {
	switch event {
	case Paused:
		g.options.Logger.InfoContext(ctx, "upstream: the host asks to be left alone for a while", "host", h.name)
	case BreakerOpened:
		g.options.Logger.WarnContext(ctx, "upstream: the host fails too often and is left alone for a while", "host", h.name)
	case BreakerClosed:
		g.options.Logger.InfoContext(ctx, "upstream: the host is well again", "host", h.name)
	default:
		return
	}
	g.options.Observe(h.name, event)
}
