package manners

import (
	"math"
	"time"
)

// pace is the generic cell rate algorithm: one point in time says everything
// about the past.
//
// due is when the host would be quiet again if questions began exactly one
// interval apart. A question may begin at t if due - t is at most tolerance, and
// it moves due to max(due, t) + interval. Since tolerance is burst - 1
// intervals, n questions that begin within a span w fulfil
// (n - 1)·interval <= w + tolerance, so n is at most burst + w/interval.
type pace struct {
	interval  time.Duration // zero means no limit
	tolerance time.Duration
	due       time.Time
}

func newPace(perSecond float64, burst int) pace {
	if perSecond <= 0 {
		return pace{}
	}
	// Rounded up: an interval that is too short by a fraction adds up.
	interval := time.Duration(math.Ceil(float64(time.Second) / perSecond))
	return pace{interval: interval, tolerance: time.Duration(burst-1) * interval}
}

// wait is how long after now a question may begin that has ahead others before
// it. Zero or less means now.
func (p *pace) wait(now time.Time, ahead int) time.Duration {
	if p.interval == 0 {
		return 0
	}
	due := p.due
	if due.Before(now) {
		due = now
	}
	return due.Sub(now) - p.tolerance + time.Duration(ahead)*p.interval
}

// begin counts a question that begins now.
func (p *pace) begin(now time.Time) {
	if p.due.Before(now) {
		p.due = now
	}
	p.due = p.due.Add(p.interval)
}
