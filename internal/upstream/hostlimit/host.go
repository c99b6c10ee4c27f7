package hostlimit

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

type host struct {
	name string
	// users counts the calls that hold this host. The Limiter's lock guards it.
	users int

	mu       sync.Mutex
	rate     rate
	breaker  breaker
	throttle throttle
	inFlight int
	// queue holds a channel for each waiting call in FIFO order, which makes it check
	// again. Only the first one watches the clock.
	queue *list.List
}

type permit struct {
	began  time.Time
	probe  bool
	waited bool
}

// admit waits until a call may begin. A call whose turn would come after the
// deadline of ctx is refused at once.
func (h *host) admit(ctx context.Context, o *Options) (permit, *registrar.Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	h.rate.divide(o)
	if refusal := h.refusal(now); refusal != nil {
		return permit{}, refusal
	}
	if h.queue.Len() == 0 && h.canStart(now, o) {
		return h.start(now), nil
	}
	if h.queue.Len() >= o.MaxWaiting || h.exceedsDeadline(ctx, now) {
		return permit{}, h.busy(h.rate.wait(now, h.queue.Len()), nil)
	}
	wake := make(chan struct{}, 1)
	place := h.queue.PushBack(wake)
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
		case <-wake:
		case <-alarm:
		case <-ctx.Done():
		}
		h.mu.Lock()
		now = time.Now()
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
	return h.rate.wait(now, 0) <= 0 && (o.MaxConcurrent < 0 || h.inFlight < o.part(o.MaxConcurrent))
}

func (h *host) start(now time.Time) permit {
	h.rate.take(now)
	h.inFlight++
	return permit{began: now, probe: h.breaker.admit()}
}

// exceedsDeadline reports whether the turn of the next call in the queue comes too
// late for ctx. How long running calls take is unknown, so this is the earliest
// possible time; if it gets later, the call waits until ctx ends.
func (h *host) exceedsDeadline(ctx context.Context, now time.Time) bool {
	deadline, limited := ctx.Deadline()
	wait := h.rate.wait(now, h.queue.Len())
	return limited && wait > 0 && now.Add(wait+minCallTime).After(deadline)
}

// refusal is the error while the host is paused.
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

// contextFault is the fault of a call whose context ended in the queue. A cancelled
// call gets a timeout like any other; one that ran out of time was delayed by the
// limiter.
func (h *host) contextFault(cause error) *registrar.Error {
	if cause == context.Canceled { //nolint:errorlint // ctx.Err returns it bare
		return registrar.Fault(registrar.FaultTimeout, h.name, cause)
	}
	return h.busy(0, cause)
}

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

// signalFirst wakes the first call in the queue. Every call that leaves the queue
// wakes the next, so state changes reach all of them.
func (h *host) signalFirst() {
	first := h.queue.Front()
	if first == nil {
		return
	}
	if wake, ok := first.Value.(chan struct{}); ok {
		select {
		case wake <- struct{}{}:
		default: // a wake-up is already pending
		}
	}
}

// evictable reports whether the host has no state worth keeping.
func (h *host) evictable(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.users == 0 && !h.breaker.hasHistory(now) && h.throttle.remaining(now) == 0 && !h.rate.due.After(now)
}

// throttle is the pause that the host requested.
type throttle struct {
	setAt       time.Time
	until       time.Time
	backoff     time.Duration // the last pause without Retry-After
	unspecified int           // consecutive throttle responses without Retry-After
}

func (p *throttle) remaining(now time.Time) time.Duration { return max(p.until.Sub(now), 0) }

// apply pauses a host that throttled a call begun at began. It reports whether the
// pause is new: of many concurrent calls, only the first one extends the backoff.
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

// reset clears the backoff after a successful call.
func (p *throttle) reset(began time.Time) {
	if began.After(p.setAt) {
		p.backoff, p.unspecified = 0, 0
	}
}
