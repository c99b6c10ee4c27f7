package manners

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Guard watches over questions to hosts. It is safe for concurrent use. A nil
// Guard lets everything pass.
type Guard struct {
	options Options

	mu    sync.Mutex
	hosts map[string]*host
}

// New makes a Guard.
func New(o Options) *Guard {
	return &Guard{options: o.withDefaults(), hosts: make(map[string]*host)}
}

// Do calls ask when it is its turn at host and returns what ask returns. It
// returns without having called it, with FaultThrottled, if the host asked to be
// left alone, and with FaultBusy if the host fails too often, too many wait
// already, or the turn would come after the deadline of ctx. RetryAfter then
// says when another try makes sense.
//
// ask reports what went wrong as a *registrar.Error: its code decides whether
// the host is to blame.
func (g *Guard) Do(ctx context.Context, name string, ask func(ctx context.Context) error) error {
	if g == nil {
		return ask(ctx)
	}
	h := g.enter(name)
	if h == nil {
		g.options.Observe(name, RefusedBusy)
		return registrar.Fault(registrar.FaultBusy, name, errTooManyHosts)
	}
	defer g.leave(h)

	t, refusal := h.begin(ctx, &g.options)
	if t.waited {
		g.options.Observe(name, Waited)
	}
	if refusal != nil {
		g.tellRefusal(name, refusal)
		return refusal
	}
	// Whatever happens in ask, its place is given back.
	err := errDidNotReturn
	defer func() { g.end(ctx, h, t, err) }()
	err = ask(ctx)
	return err
}

var (
	errTooManyHosts = errors.New("too many hosts are in trouble at once")
	errDidNotReturn = errors.New("the question did not return")
)

func (g *Guard) end(ctx context.Context, h *host, t ticket, err error) {
	now := g.options.Now()
	var fault *registrar.Error
	if !errors.As(err, &fault) {
		fault = nil
	}
	events := h.end(now, t, judge(ctx, err, fault, now.Sub(t.began)), fault)
	for _, event := range events {
		g.tell(ctx, h, event)
	}
}

// judge says whether the host is to blame for the way in which a question ended.
func judge(ctx context.Context, err error, fault *registrar.Error, took time.Duration) outcome {
	switch {
	case err == nil:
		return went
	case errors.Is(err, context.Canceled), errors.Is(err, errDidNotReturn), fault == nil:
		return saysNothing
	}
	switch fault.Code {
	case registrar.FaultTimeout:
		if ctx.Err() != nil && took < fairTrial {
			return saysNothing // the caller had no more time to give
		}
		return failed
	case registrar.FaultRefused, registrar.FaultBroken, registrar.FaultThrottled:
		return failed
	default: // we held back ourselves, or the question was wrong
		return saysNothing
	}
}

// enter finds or makes the state of a host and holds it. It is nil if there are
// too many hosts of which something must be remembered.
func (g *Guard) enter(name string) *host {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.hosts[name]
	if h == nil {
		if len(g.hosts) >= g.options.MaxHosts {
			g.forgetIdle()
		}
		if len(g.hosts) >= g.options.MaxHosts {
			return nil
		}
		h = &host{
			name:    name,
			pace:    newPace(g.options.PerSecond, g.options.Burst),
			breaker: breaker{rules: g.options.Breaker},
			queue:   list.New(),
		}
		g.hosts[name] = h
	}
	h.users++
	return h
}

func (g *Guard) leave(h *host) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h.users--
}

// forgetIdle makes room. It looks at every host, but only when there are too
// many, and then it forgets all that it can.
func (g *Guard) forgetIdle() {
	now := g.options.Now()
	for name, h := range g.hosts {
		if h.forgettable(now) {
			delete(g.hosts, name)
		}
	}
}

func (g *Guard) tellRefusal(name string, refusal *registrar.Error) {
	switch refusal.Code {
	case registrar.FaultThrottled:
		g.options.Observe(name, RefusedPaused)
	case registrar.FaultBusy:
		g.options.Observe(name, RefusedBusy)
	default: // the caller left
	}
}

func (g *Guard) tell(ctx context.Context, h *host, event Event) {
	switch event {
	case Paused:
		g.options.Logger.InfoContext(ctx, "upstream: the host asks to be left alone for a while", "host", h.name)
	case Opened:
		g.options.Logger.WarnContext(ctx, "upstream: the host fails too often and is left alone for a while", "host", h.name)
	case Closed:
		g.options.Logger.InfoContext(ctx, "upstream: the host is well again", "host", h.name)
	default:
		return
	}
	g.options.Observe(h.name, event)
}
