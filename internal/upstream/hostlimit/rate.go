package hostlimit

import (
	"math"
	"time"
)

// rate is the generic cell rate algorithm: one point in time says everything
// about the past.
//
// due is when the host would be quiet again if questions began exactly one
// interval apart. A question may begin at t if due - t is at most tolerance, and
// it moves due to max(due, t) + interval. Since tolerance is burst - 1
// intervals, n questions that begin within a span w fulfil
// (n - 1)·interval <= w + tolerance, so n is at most burst + w/interval.
type rate struct {
	interval  time.Duration // zero means no limit
	tolerance time.Duration
	due       time.Time
}

func newRate(perSecond float64, burst int) rate {
	if perSecond <= 0 {
		return rate{}
	}
	// Rounded up: an interval that is too short by a fraction adds up.
	interval := time.Duration(math.Ceil(float64(time.Second) / perSecond))
	return rate{interval: interval, tolerance: time.Duration(burst-1) * interval}
}

// wait is how long after now a question may begin that has ahead others before
// it. Zero or less means now.
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

// take counts a question that begins now.
func (p *rate) take(now time.Time) {
	if p.due.Before(now) {
		p.due = now
	}
	p.due = p.due.Add(p.interval)
}
