package hostlimit

import "time"

// callOutcome is what one call reveals about its host.
type callOutcome uint8

const (
	// outcomeNeutral: the caller left, so the outcome is unknown.
	outcomeNeutral callOutcome = iota
	outcomeSuccess
	outcomeFailure
)

// windowBuckets is the number of buckets of a breaker's window. A call counts for
// nine tenths of the window at least, and never longer than the window.
const windowBuckets = 10

// breaker is a circuit breaker over the outcomes of recent calls.
//
//	closed     calls pass and are counted
//	open       no call passes until openFor is over
//	half-open  one trial call passes at a time; success closes the breaker, failure
//	           opens it for twice as long
type breaker struct {
	rules   Breaker
	buckets [windowBuckets]windowBucket
	// openFor is zero while the breaker is closed.
	openFor   time.Duration
	openUntil time.Time
	probing   bool
}

type windowBucket struct {
	number        int64
	calls, faults int
}

// closed reports whether calls pass freely.
func (b *breaker) closed() bool { return b.openFor == 0 }

// retryIn is how long no call passes; zero if one may.
func (b *breaker) retryIn(now time.Time) time.Duration {
	switch {
	case b.closed():
		return 0
	case now.Before(b.openUntil):
		return b.openUntil.Sub(now)
	case b.probing:
		// The trial is about to decide.
		return time.Second
	default:
		return 0
	}
}

// admit lets one call pass and reports whether it is the trial.
func (b *breaker) admit() (trial bool) {
	if b.closed() {
		return false
	}
	b.probing = true
	return true
}

// record counts a call. It returns the resulting event, if any.
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
		return "" // calls begun before the breaker opened prove nothing
	}
	b.count(now, what)
	calls, faults := b.windowTotals(now)
	if b.rules.MinCalls < 0 || calls < b.rules.MinCalls || 2*faults < calls {
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

// hasHistory reports whether the breaker has state worth keeping.
func (b *breaker) hasHistory(now time.Time) bool {
	calls, _ := b.windowTotals(now)
	return calls > 0 || !b.closed()
}
