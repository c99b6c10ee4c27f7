package hostlimit

import (
	"log/slog"
	"math"
	"time"
)

const (
	defaultPerSecond     = 20
	defaultMaxConcurrent = 64
	defaultMaxWaiting    = 256
	defaultMaxHosts      = 4096

	// minCallTime is what a question that had to wait must have left when its turn
	// comes. One that starts with less is asked for nothing.
	minCallTime = 200 * time.Millisecond
	// minBlameTime is how long a host must have had before an end of the caller's
	// own deadline is held against it.
	minBlameTime = time.Second

	// throttlesBeforePause is how often in a row a host must say "slow down" without
	// saying how long before it is left alone. Some servers say it of a single
	// name that they do not like, and that must not close the host to all.
	throttlesBeforePause = 3

	maxPause   = 10 * time.Minute
	minBackoff = 2 * time.Second
	maxBackoff = time.Minute
)

// Event is something that an operator may want to count.
type Event string

// The events.
const (
	Waited        Event = "waited"         // a question waited for its turn
	RefusedBusy   Event = "refused_busy"   // a question was refused to protect the host or us
	RefusedPaused Event = "refused_paused" // a question was refused because the host asked to be left alone
	Paused        Event = "paused"         // the host asked to be left alone
	BreakerOpened Event = "opened"         // the host failed too often and is left alone
	BreakerClosed Event = "closed"         // the host is well again
)

// Options are the settings of a Guard. The zero value is a polite one.
type Options struct {
	// PerSecond is how many questions a second one host is asked in the long
	// run; 0 means 20, a negative number means no limit.
	PerSecond float64
	// Burst is how many of them may come at once after a quiet time; 0 means
	// PerSecond rounded up, so that a quiet host answers a whole search at once.
	Burst int
	// MaxConcurrent bounds the questions under way at one host; 0 means 64, a
	// negative number means no limit.
	MaxConcurrent int
	// MaxWaiting bounds the questions that wait for their turn at one host; 0
	// means 256, a negative number means that none may wait.
	MaxWaiting int
	// MaxHosts bounds how many hosts are kept in mind; 0 means 4096.
	MaxHosts int
	// Breaker says when a host is left alone.
	Breaker Breaker

	// Now is the clock; nil means time.Now. Waiting uses the real one.
	Now func() time.Time
	// Logger hears when a host is left alone and when it is well again. nil
	// means silence.
	Logger *slog.Logger
	// Observe is told every event. It must not call the Guard.
	Observe func(host string, event Event)
}

// Breaker says when a host that fails is left alone. The zero value means the
// defaults that are named with each field.
type Breaker struct {
	// MinCalls within Window must have ended before anything is concluded; 0
	// means 20, a negative number switches the breaker off.
	MinCalls int
	// FailureShare is the share of failures at which the host is left alone; 0
	// means 0.5.
	FailureShare float64
	// Window is how far back calls count; 0 means 30 s.
	Window time.Duration
	// MinOpen is how long the host is left alone the first time, LastRest the
	// most after doublings; 0 means 10 s and 2 min.
	MinOpen, MaxOpen time.Duration
}

func (o Options) withDefaults() Options {
	o.PerSecond = orDefault(o.PerSecond, defaultPerSecond)
	if o.Burst <= 0 {
		o.Burst = int(math.Ceil(max(o.PerSecond, 1)))
	}
	o.MaxConcurrent = orDefault(o.MaxConcurrent, defaultMaxConcurrent)
	o.MaxWaiting = max(orDefault(o.MaxWaiting, defaultMaxWaiting), 0)
	o.MaxHosts = orDefault(o.MaxHosts, defaultMaxHosts)
	o.Breaker.MinCalls = orDefault(o.Breaker.MinCalls, 20)
	o.Breaker.FailureShare = orDefault(o.Breaker.FailureShare, 0.5)
	o.Breaker.Window = orDefault(o.Breaker.Window, 30*time.Second)
	o.Breaker.MinOpen = orDefault(o.Breaker.MinOpen, 10*time.Second)
	o.Breaker.MaxOpen = orDefault(o.Breaker.MaxOpen, 2*time.Minute)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observe == nil {
		o.Observe = func(string, Event) {}
	}
	return o
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}
