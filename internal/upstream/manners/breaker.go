package manners

import "time"

// outcome is what one call says about its host.
type outcome uint8

const (
	// saysNothing: the caller left, so nobody knows what the host would have said.
	saysNothing outcome = iota
	went
	failed
)

// slots is how many parts the window of a breaker is cut into. A call counts
// for at least nine tenths of the window, and never longer than it.
const slots = 10

// breaker counts how calls end and says when to leave the host alone.
//
//	closed     calls pass and are counted
//	resting    no call passes until the rest is over
//	trying     the rest is over: one call passes at a time. If it goes well the
//	           breaker closes, if it fails the host rests twice as long
type breaker struct {
	rules Breaker
	parts [slots]part
	// rest is zero while the breaker is closed.
	rest   time.Duration
	until  time.Time
	trying bool
}

// part counts the calls of one slice of time.
type part struct {
	number        int64
	calls, faults int
}

// closed says whether calls pass freely.
func (b *breaker) closed() bool { return b.rest == 0 }

// blocked says how long no call passes, zero if one may.
func (b *breaker) blocked(now time.Time) time.Duration {
	switch {
	case b.closed():
		return 0
	case now.Before(b.until):
		return b.until.Sub(now)
	case b.trying:
		// The trial decides within moments; nobody knows how many.
		return time.Second
	default:
		return 0
	}
}

// begin lets one call pass and says whether it is the trial.
func (b *breaker) begin() (trial bool) {
	if b.closed() {
		return false
	}
	b.trying = true
	return true
}

// end counts a call. It returns the event that this was, or nothing.
func (b *breaker) end(now time.Time, what outcome, trial bool) Event {
	if trial {
		b.trying = false
		switch what {
		case went:
			*b = breaker{rules: b.rules}
			return Closed
		case failed:
			b.rest = min(2*b.rest, b.rules.LastRest)
			b.until = now.Add(b.rest)
			return Opened
		case saysNothing: // the next call is the trial
		}
		return ""
	}
	if what == saysNothing || !b.closed() {
		return "" // what began before the rest is no news about after it
	}
	b.count(now, what)
	if b.rules.MinCalls < 0 || !b.tooBad(now) {
		return ""
	}
	b.rest = b.rules.FirstRest
	b.until = now.Add(b.rest)
	return Opened
}

func (b *breaker) partNumber(now time.Time) int64 {
	return now.UnixNano() / max(int64(b.rules.Window)/slots, 1)
}

func (b *breaker) count(now time.Time, what outcome) {
	number := b.partNumber(now)
	p := &b.parts[number%slots]
	if p.number != number {
		*p = part{number: number}
	}
	p.calls++
	if what == failed {
		p.faults++
	}
}

// recent counts the calls and faults of the window.
func (b *breaker) recent(now time.Time) (calls, faults int) {
	number := b.partNumber(now)
	for _, p := range b.parts {
		if p.number > number-slots && p.number <= number {
			calls += p.calls
			faults += p.faults
		}
	}
	return calls, faults
}

func (b *breaker) tooBad(now time.Time) bool {
	calls, faults := b.recent(now)
	return calls >= b.rules.MinCalls && float64(faults) >= b.rules.FailureShare*float64(calls)
}

// remembers says whether there is anything to lose.
func (b *breaker) remembers(now time.Time) bool {
	calls, _ := b.recent(now)
	return calls > 0 || !b.closed()
}
