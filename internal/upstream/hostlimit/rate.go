package hostlimit

import (
	"math"
	"time"
)

// rate implements the generic cell rate algorithm, whose only state is one point in
// time.
//
// due is when the host would be idle again if calls began exactly one interval
// apart. A call may begin at t if due - t is at most tolerance, and it moves due to
// max(due, t) + interval. Since tolerance is burst - 1 intervals, n calls that
// begin within a period w fulfil (n - 1)·interval <= w + tolerance, so n is at most
// burst + w/interval.
type rate struct {
	nodes     int           // what it was made for
	interval  time.Duration // zero means no limit
	tolerance time.Duration
	due       time.Time
}

func newRate(perSecond float64, burst int) rate {
	if perSecond <= 0 {
		return rate{}
	}
	// Rounded up, because the error of a shorter interval adds up.
	interval := time.Duration(math.Ceil(float64(time.Second) / perSecond))
	return rate{interval: interval, tolerance: time.Duration(burst-1) * interval}
}

// divide makes the rate that of one of so many nodes. What is due stays due.
func (p *rate) divide(o *Options) {
	nodes := max(1, o.Nodes())
	if p.nodes == nodes {
		return
	}
	due := p.due
	*p = newRate(o.PerSecond/float64(nodes), o.part(o.Burst))
	p.nodes, p.due = nodes, due
}

// wait is how long after now a call with ahead others before it may begin. Zero or
// less means now.
func (p *rate) wait(now time.Time, ahead int) time.Duration {
	if p.interval == 0 {
		return 0
	}
	due := p.due
	if due.Before(now) {
		due = now
	}
	return due.Sub(now) - p.tolerance + time.Duration(ahead)*p.interval
}

func (p *rate) take(now time.Time) {
	if p.due.Before(now) {
		p.due = now
	}
	p.due = p.due.Add(p.interval)
}
