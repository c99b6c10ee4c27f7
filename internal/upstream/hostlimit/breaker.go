package hostlimit

import "time"

// callOutcome is what one call says about its host.
type callOutcome uint8

const (
	// saysNothing: the caller left, so nobody knows what the host would have said.
	outcomeNeutral callOutcome = iota
	outcomeSuccess
	outcomeFailure
)

// windowBuckets is how many parts the window of a breaker is cut into. A call counts
// for at least nine tenths of the window, and never longer than it.
const windowBuckets = 10

// breaker counts how calls end and says when to leave the host alone.
//
//	closed     calls pass and are counted
//	resting    no call passes until the rest is over
//	trying     the rest is over: one call passes at a time. If it goes well the
//	           breaker closes, if it fails the host rests twice as long
type breaker struct {
	rules   Breaker
	buckets [windowBuckets]windowBucket
	// openFor is zero while the breaker is closed.
	openFor   time.Duration
	openUntil time.Time
	probing   bool
}

// windowBucket counts the calls of one slice of time.
type windowBucket struct {
	number        int64
	calls, faults int
}

// closed says whether calls pass freely.
func (b *breaker) closed() bool { return b.openFor == 0 }

// retryIn says how long no call passes, zero if one may.
func (b *breaker) retryIn(now time.Time) time.Duration {
	switch {
	case b.closed():
		return 0
	case now.Before(b.openUntil):
		return b.openUntil.Sub(now)
	case b.probing:
		// The trial decides within moments; nobody knows how many.
		return time.Second
	default:
		return 0
	}
}

// admit lets one call pass and says whether it is the trial.
func (b *breaker) admit() (trial bool) {
	if b.closed() {
		return false
	}
	b.probing = true
	return true
}

// record counts a call. It returns the event that this was, or nothing.
func (b *breaker) record(now time.Time, what callOutcome, trial bool) Event {
	if trial {
		b.probing = false
		switch what {
		case outcomeSuccess:
			*b = breaker{rules: b.rules}
			return BreakerClosed
		case outcomeFailure:
			b.openFor = min(2*b.openFor, b.rules.MaxOpen)
			b.openUntil = now.Add(b.openFor)
			return BreakerOpened
		case outcomeNeutral: // the next call is the trial
		}
		return ""
	}
	if what == outcomeNeutral || !b.closed() {
		return "" // what began before the rest is no news about after it
	}
	b.count(now, what)
	if b.rules.MinCalls < 0 || !b.shouldOpen(now) {
		return ""
	}
	b.openFor = b.rules.MinOpen
	b.openUntil = now.Add(b.openFor)
	return BreakerOpened
}

func (b *breaker) bucketNumber(now time.Time) int64 {
	return now.UnixNano() / max(int64(b.rules.Window)/windowBuckets, 1)
}

func (b *breaker) count(now time.Time, what callOutcome) {
	number := b.bucketNumber(now)
	p := &b.buckets[number%windowBuckets]
	if p.number != number {
		*p = windowBucket{number: number}
	}
	p.calls++
	if what == outcomeFailure {
		p.faults++
	}
}

// windowTotals counts the calls and faults of the window.
func (b *breaker) windowTotals(now time.Time) (calls, faults int) {
	number := b.bucketNumber(now)
	for _, p := range b.buckets {
		if p.number > number-windowBuckets && p.number <= number {
			calls += p.calls
			faults += p.faults
		}
	}
	return calls, faults
}

func (b *breaker) shouldOpen(now time.Time) bool {
	calls, faults := b.windowTotals(now)
	return calls >= b.rules.MinCalls && float64(faults) >= b.rules.FailureShare*float64(calls)
}

// hasHistory says whether there is anything to lose.
func (b *breaker) hasHistory(now time.Time) bool {
	calls, _ := b.windowTotals(now)
	return calls > 0 || !b.closed()
}
