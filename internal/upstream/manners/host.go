package manners

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// host is what is known about one server.
type host struct {
	name string
	// users counts the calls that hold this host. The Guard's lock guards it.
	users int

	mu       sync.Mutex
	pace     pace
	breaker  breaker
	pause    pause
	underWay int
	// queue holds a *turn for each call that waits, in the order in which they
	// came. Only the first one looks at the clock.
	queue *list.List
}

// turn is one call's place in the queue. wake is a nudge to look again.
type turn struct{ wake chan struct{} }

// ticket is the right to ask one question.
type ticket struct {
	began  time.Time
	trial  bool
	waited bool
}

func (t *turn) nudge() {
	select {
	case t.wake <- struct{}{}:
	default: // it is awake already
	}
}

// begin waits until a question may be asked. The deadline of ctx is obeyed
// before it comes: a turn that would be too late is refused at once.
func (h *host) begin(ctx context.Context, o *Options) (ticket, *registrar.Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := o.Now()
	if refusal := h.closedTo(now); refusal != nil {
		return ticket{}, refusal
	}
	if h.queue.Len() == 0 && h.mayBegin(now, o) {
		return h.take(now), nil
	}
	if h.queue.Len() >= o.MaxWaiting || h.tooLate(ctx, now) {
		return ticket{}, h.busy(h.pace.wait(now, h.queue.Len()), nil)
	}
	mine := &turn{wake: make(chan struct{}, 1)}
	place := h.queue.PushBack(mine)
	defer func() {
		h.queue.Remove(place)
		h.nudgeFirst()
	}()
	for {
		var alarm <-chan time.Time
		if h.queue.Front() == place {
			if wait := h.pace.wait(now, 0); wait > 0 {
				alarm = time.After(wait)
			}
		}
		h.mu.Unlock()
		select {
		case <-mine.wake:
		case <-alarm:
		case <-ctx.Done():
		}
		h.mu.Lock()
		now = o.Now()
		if err := ctx.Err(); err != nil {
			return ticket{waited: true}, h.gaveUp(err)
		}
		if refusal := h.closedTo(now); refusal != nil {
			return ticket{waited: true}, refusal
		}
		if h.queue.Front() == place && h.mayBegin(now, o) {
			t := h.take(now)
			t.waited = true
			return t, nil
		}
	}
}

func (h *host) mayBegin(now time.Time, o *Options) bool {
	return h.pace.wait(now, 0) <= 0 && (o.MaxConcurrent < 0 || h.underWay < o.MaxConcurrent)
}

func (h *host) take(now time.Time) ticket {
	h.pace.begin(now)
	h.underWay++
	return ticket{began: now, trial: h.breaker.begin()}
}

// tooLate says whether the turn of the next one in the queue comes too late for
// ctx. The time for which others keep their places is not known, so this is the
// earliest moment; a caller for whom it gets later waits until ctx ends.
func (h *host) tooLate(ctx context.Context, now time.Time) bool {
	deadline, limited := ctx.Deadline()
	wait := h.pace.wait(now, h.queue.Len())
	return limited && wait > 0 && now.Add(wait+leastTime).After(deadline)
}

// closedTo is the refusal while the host is left alone.
func (h *host) closedTo(now time.Time) *registrar.Error {
	if left := h.pause.left(now); left > 0 {
		refusal := registrar.Fault(registrar.FaultThrottled, h.name, nil)
		refusal.RetryAfter = left
		return refusal
	}
	if left := h.breaker.blocked(now); left > 0 {
		return h.busy(left, nil)
	}
	return nil
}

func (h *host) busy(retryAfter time.Duration, cause error) *registrar.Error {
	refusal := registrar.Fault(registrar.FaultBusy, h.name, cause)
	refusal.RetryAfter = max(retryAfter, 0)
	return refusal
}

// gaveUp is the fault of a call whose context ended in the queue. A caller that
// left gets a time-out like any other question that it cancels; one that ran
// out of time was held back by us.
func (h *host) gaveUp(cause error) *registrar.Error {
	if cause == context.Canceled { //nolint:errorlint // ctx.Err returns it bare
		return registrar.Fault(registrar.FaultTimeout, h.name, cause)
	}
	return h.busy(0, cause)
}

// end counts how a question ended and lets the next one look.
func (h *host) end(now time.Time, t ticket, what outcome, fault *registrar.Error) (events [2]Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.underWay--
	if fault != nil && fault.Code == registrar.FaultThrottled {
		if h.pause.set(now, t.began, fault.RetryAfter) {
			events[0] = Paused
		}
	} else if what == went {
		h.pause.forgive(t.began)
	}
	events[1] = h.breaker.end(now, what, t.trial)
	h.nudgeFirst()
	return events
}

// nudgeFirst lets the first in the queue look again. Whoever leaves the queue,
// for whatever reason, nudges the next, so news reaches everyone.
func (h *host) nudgeFirst() {
	first := h.queue.Front()
	if first == nil {
		return
	}
	if waiting, ok := first.Value.(*turn); ok {
		waiting.nudge()
	}
}

// forgettable says whether nothing is lost with this host.
func (h *host) forgettable(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.users == 0 && !h.breaker.remembers(now) && h.pause.left(now) == 0 && !h.pace.due.After(now)
}

// pause is the time for which the host asked to be left alone.
type pause struct {
	setAt time.Time
	until time.Time
	blind time.Duration // the last wait that we had to choose ourselves
	told  int           // how often in a row it said "slow down" without saying how long
}

func (p *pause) left(now time.Time) time.Duration { return max(p.until.Sub(now), 0) }

// set obeys a host that told a question which began at began to slow down. It
// says whether that was news: of many questions that are told so at once, only
// the first makes the blind wait longer.
func (p *pause) set(now, began time.Time, retryAfter time.Duration) bool {
	news := began.After(p.setAt)
	if retryAfter <= 0 {
		if !news {
			return false
		}
		if p.told++; p.told < toldEnough {
			return false
		}
		p.blind = min(max(2*p.blind, firstBlindWait), lastBlindWait)
		retryAfter = p.blind
	}
	if until := now.Add(min(retryAfter, maxPause)); until.After(p.until) {
		p.until = until
	}
	if news {
		p.setAt = now
	}
	return news
}

// forgive starts the blind waits anew after a question that went well.
func (p *pause) forgive(began time.Time) {
	if began.After(p.setAt) {
		p.blind, p.told = 0, 0
	}
}
