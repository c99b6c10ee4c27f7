package hostlimit

import (
	"cmp"
	"log/slog"
	"math"
	"time"
)

const (
	// minCallTime is the time a call must have left when its turn comes; with less
	// it is pointless.
	minCallTime = 200 * time.Millisecond
	// minBlameTime is how long a host must have had before the expiry of the
	// caller's deadline counts against it.
	minBlameTime = time.Second

	// throttlesBeforePause is how many consecutive throttle responses without
	// Retry-After pause a host. Some servers throttle single names, which must not
	// block the whole host.
	throttlesBeforePause = 3

	maxPause   = 10 * time.Minute
	minBackoff = 2 * time.Second
	maxBackoff = time.Minute
)

// Event is counted for operators.
type Event string

// Limiter events.
const (
	Waited        Event = "waited"         // a call waited for its turn
	RefusedBusy   Event = "refused_busy"   // a call was refused to protect the host or the limiter
	RefusedPaused Event = "refused_paused" // a call was refused because the host is paused
	Paused        Event = "paused"         // the host asked for a pause
	BreakerOpened Event = "opened"         // the host failed too often
	BreakerClosed Event = "closed"         // the host recovered
)

// Options configures a Limiter. The zero value uses conservative defaults.
type Options struct {
	// PerSecond is the sustained rate of calls per host; 0 means 20, a negative
	// number means no limit.
	PerSecond float64
	// Burst is the number of calls allowed at once after idle time; 0 means
	// PerSecond rounded up, so that an idle host serves a whole search at once.
	Burst int
	// MaxConcurrent limits the calls in flight per host; 0 means 64, a negative
	// number means no limit.
	MaxConcurrent int
	// MaxWaiting limits the waiting calls per host; 0 means 256, a negative number
	// means that none may wait.
	MaxWaiting int
	// Nodes is how many nodes share the limits of a host, and this one gets its part of them;
	// nil means 1.
	Nodes func() int
	// MaxHosts limits the number of tracked hosts; 0 means 4096.
	MaxHosts int
	// Breaker configures the circuit breaker.
	Breaker Breaker

	// Logger receives pauses and recoveries; nil discards them.
	Logger *slog.Logger
	// Observe is called for every event. It must not call the Limiter.
	Observe func(host string, event Event)
}

// part returns a node's part of a limit, at least 1. A negative limit is none.
func (o *Options) part(limit int) int {
	if limit < 0 {
		return limit
	}
	return max(1, limit/max(1, o.Nodes()))
}

// Breaker configures when a host that fails at least half of its calls is paused.
type Breaker struct {
	// MinCalls is the number of calls within Window needed for a decision; 0 means
	// 20, a negative number disables the breaker.
	MinCalls int
	// Window is how far back calls count; 0 means 30 s.
	Window time.Duration
	// MinOpen is the first pause, MaxOpen the maximum after doublings; 0 means 10 s
	// and 2 min.
	MinOpen, MaxOpen time.Duration
}

func (o Options) withDefaults() Options {
	o.PerSecond = cmp.Or(o.PerSecond, 20)
	if o.Burst <= 0 {
		o.Burst = int(math.Ceil(max(o.PerSecond, 1)))
	}
	o.MaxConcurrent = cmp.Or(o.MaxConcurrent, 64)
	o.MaxWaiting = max(cmp.Or(o.MaxWaiting, 256), 0)
	o.MaxHosts = cmp.Or(o.MaxHosts, 4096)
	o.Breaker.MinCalls = cmp.Or(o.Breaker.MinCalls, 20)
	o.Breaker.Window = cmp.Or(o.Breaker.Window, 30*time.Second)
	o.Breaker.MinOpen = cmp.Or(o.Breaker.MinOpen, 10*time.Second)
	o.Breaker.MaxOpen = cmp.Or(o.Breaker.MaxOpen, 2*time.Minute)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Nodes == nil {
		o.Nodes = func() int { return 1 }
	}
	if o.Observe == nil {
		o.Observe = func(string, Event) {}
	}
	return o
}
