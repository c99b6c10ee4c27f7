package manners

import (
	"cmp"
	"slices"
	"time"
)

// Standing is how a host does at this moment, for people.
type Standing struct {
	Host string
	// Resting: it fails too often. Paused: it asked to be left alone. Until is when it
	// is asked again; zero if it is.
	Resting, Paused bool
	Until           time.Time
	// Calls and Faults are those of the breaker's window; UnderWay and Waiting those of
	// now.
	Calls, Faults, UnderWay, Waiting int
}

// Standings are all hosts that are remembered, those in trouble first.
func (g *Guard) Standings() []Standing {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	hosts := make([]*host, 0, len(g.hosts))
	for _, h := range g.hosts {
		hosts = append(hosts, h)
	}
	g.mu.Unlock()
	now := g.options.Now()
	all := make([]Standing, 0, len(hosts))
	for _, h := range hosts {
		all = append(all, h.standing(now))
	}
	slices.SortFunc(all, func(a, b Standing) int {
		return cmp.Or(compareTrouble(a, b), cmp.Compare(a.Host, b.Host))
	})
	return all
}

func compareTrouble(a, b Standing) int {
	trouble := func(s Standing) int {
		if s.Resting || s.Paused {
			return 0
		}
		return 1
	}
	return trouble(a) - trouble(b)
}

func (h *host) standing(now time.Time) Standing {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := Standing{Host: h.name, UnderWay: h.underWay, Waiting: h.queue.Len(), Resting: !h.breaker.closed()}
	s.Calls, s.Faults = h.breaker.recent(now)
	if left := max(h.pause.left(now), h.breaker.blocked(now)); left > 0 {
		s.Until = now.Add(left)
	}
	s.Paused = h.pause.left(now) > 0
	return s
}
