package hostlimit

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
	rate     rate
	breaker  breaker
	throttle throttle
	inFlight int
	// queue holds a *turn for each call that waits, in the order in which they
	// came. Only the first one looks at the clock.
	queue *list.List
}

// waiter is one call's place in the queue. wake is a nudge to look again.
type waiter struct{ wake chan struct{} }

// permit is the right to ask one question.
type permit struct {
	began  time.Time
	probe  bool
	waited bool
}

func (t *waiter) signal() {
	select {
	case t.wake <- struct{}{}:
	default: // it is awake already
	}
}

// admit waits until a question may be asked. The deadline of ctx is obeyed
// before it comes: a turn that would be too late is refused at once.
func (h *host) admit(ctx context.Context, o *Options) (permit, *registrar.Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := o.Now()
	if refusal := h.refusal(now); refusal != nil {
		return permit{}, refusal
	}
	if h.queue.Len() == 0 && h.canStart(now, o) {
		return h.start(now), nil
	}
	if h.queue.Len() >= o.MaxWaiting || h.exceedsDeadline(ctx, now) {
		return permit{}, h.busy(h.rate.wait(now, h.queue.Len()), nil)
	}
	mine := &waiter{wake: make(chan struct{}, 1)}
	place := h.queue.PushBack(mine)
	defer func() {
		h.queue.Remove(place)
		h.signalFirst()
	}()
	for {
		var alarm <-chan time.Time
		if h.queue.Front() == place {
			if wait := h.rate.wait(now, 0); wait > 0 {
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
			return permit{waited: true}, h.contextFault(err)
		}
		if refusal := h.refusal(now); refusal != nil {
			return permit{waited: true}, refusal
		}
		if h.queue.Front() == place && h.canStart(now, o) {
			t := h.start(now)
			t.waited = true
			return t, nil
		}
	}
}

func (h *host) canStart(now time.Time, o *Options) bool {
	return h.rate.wait(now, 0) <= 0 && (o.MaxConcurrent < 0 || h.inFlight < o.MaxConcurrent)
}

func (h *host) start(now time.Time) permit {
	h.rate.take(now)
	h.inFlight++
	return permit{began: now, probe: h.breaker.admit()}
}

// exceedsDeadline says whether the turn of the next one in the queue comes too late for
// ctx. The time for which others keep their places is not known, so this is the
// earliest moment; a caller for whom it gets later waits until ctx ends.
func (h *host) exceedsDeadline(ctx context.Context, now time.Time) bool {
	deadline, limited := ctx.Deadline()
	wait := h.rate.wait(now, h.queue.Len())
	return limited && wait > 0 && now.Add(wait+minCallTime).After(deadline)
}

// refusal is the refusal while the host is left alone.
func (h *host) refusal(now time.Time) *registrar.Error {
	if left := h.throttle.remaining(now); left > 0 {
		refusal := registrar.Fault(registrar.FaultThrottled, h.name, nil)
		refusal.RetryAfter = left
		return refusal
	}
	if left := h.breaker.retryIn(now); left > 0 {
		return h.busy(left, nil)
	}
	return nil
}

func (h *host) busy(retryAfter time.Duration, cause error) *registrar.Error {
	refusal := registrar.Fault(registrar.FaultBusy, h.name, cause)
	refusal.RetryAfter = max(retryAfter, 0)
	return refusal
}

// contextFault is the fault of a call whose context ended in the queue. A caller that
// left gets a time-out like any other question that it cancels; one that ran
// out of time was held back by us.
func (h *host) contextFault(cause error) *registrar.Error {
	if cause == context.Canceled { //nolint:errorlint // ctx.Err returns it bare
		return registrar.Fault(registrar.FaultTimeout, h.name, cause)
	}
	return h.busy(0, cause)
}

// finish counts how a question ended and lets the next one look.
func (h *host) finish(now time.Time, t permit, what callOutcome, fault *registrar.Error) (events [2]Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inFlight--
	if fault != nil && fault.Code == registrar.FaultThrottled {
		if h.throttle.apply(now, t.began, fault.RetryAfter) {
			events[0] = Paused
		}
	} else if what == outcomeSuccess {
		h.throttle.reset(t.began)
	}
	events[1] = h.breaker.record(now, what, t.probe)
	h.signalFirst()
	return events
}

// signalFirst lets the first in the queue look again. Whoever leaves the queue,
// for whatever reason, nudges the next, so news reaches everyone.
func (h *host) signalFirst() {
	first := h.queue.Front()
	if first == nil {
		return
	}
	if waiting, ok := first.Value.(*waiter); ok {
		waiting.signal()
	}
}

// evictable says whether nothing is lost with this host.
func (h *host) evictable(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.users == 0 && !h.breaker.hasHistory(now) && h.throttle.remaining(now) == 0 && !h.rate.due.After(now)
}

// throttle is the time for which the host asked to be left alone.
type throttle struct {
	setAt       time.Time
	until       time.Time
	backoff     time.Duration // the last wait that we had to choose ourselves
	unspecified int           // how often in a row it said "slow down" without saying how long
}

func (p *throttle) remaining(now time.Time) time.Duration { return max(p.until.Sub(now), 0) }

// apply obeys a host that told a question which began at began to slow down. It
// says whether that was news: of many questions that are told so at once, only
// the first makes the blind wait longer.
func (p *throttle) apply(now, began time.Time, retryAfter time.Duration) bool {
	news := began.After(p.setAt)
	if retryAfter <= 0 {
		if !news {
			return false
		}
		if p.unspecified++; p.unspecified < throttlesBeforePause {
			return false
		}
		p.backoff = min(max(2*p.backoff, minBackoff), maxBackoff)
		retryAfter = p.backoff
	}
	if until := now.Add(min(retryAfter, maxPause)); until.After(p.until) {
		p.until = until
	}
	if news {
		p.setAt = now
	}
	return news
}

// reset starts the blind waits anew after a question that went well.
func (p *throttle) reset(began time.Time) {
	if began.After(p.setAt) {
		p.backoff, p.unspecified = 0, 0
	}
}
