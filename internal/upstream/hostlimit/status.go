package hostlimit

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// HostStatus is a snapshot of a host for operators.
type HostStatus struct {
	Host string
	// BreakerOpen: it fails too often. Paused: it asked for a pause. Until is the
	// end of the pause; zero if there is none.
	BreakerOpen, Paused bool
	RetryAt             time.Time
	// Calls and Faults are counted in the breaker's window; InFlight and Waiting
	// are current.
	Calls, Faults, InFlight, Waiting int
}

// HostStatuses returns all tracked hosts, failing ones first.
func (g *Limiter) HostStatuses() []HostStatus {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	hosts := slices.Collect(maps.Values(g.hosts))
	g.mu.Unlock()
	now := time.Now()
	all := make([]HostStatus, 0, len(hosts))
	for _, h := range hosts {
		all = append(all, h.status(now))
	}
	severity := func(s HostStatus) int {
		if s.BreakerOpen || s.Paused {
			return 0
		}
		return 1
	}
	slices.SortFunc(all, func(a, b HostStatus) int {
		return cmp.Or(severity(a)-severity(b), cmp.Compare(a.Host, b.Host))
	})
	return all
}

func (h *host) status(now time.Time) HostStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := HostStatus{Host: h.name, InFlight: h.inFlight, Waiting: h.queue.Len(), BreakerOpen: !h.breaker.closed()}
	s.Calls, s.Faults = h.breaker.windowTotals(now)
	if left := max(h.throttle.remaining(now), h.breaker.retryIn(now)); left > 0 {
		s.RetryAt = now.Add(left)
	}
	s.Paused = h.throttle.remaining(now) > 0
	return s
}
