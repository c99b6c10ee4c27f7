package epp

import (
	"math"
	"time"
)

// tokenBucket limits a rate. The zero value allows everything.
type tokenBucket struct {
	perSecond float64
	burst     float64
	tokens    float64
	at        time.Time
}

func newTokenBucket(perSecond float64) tokenBucket {
	burst := max(1, math.Floor(perSecond))
	return tokenBucket{perSecond: perSecond, burst: burst, tokens: burst}
}

// wait is the time until one more command may pass; 0 means now.
func (b *tokenBucket) wait(now time.Time) time.Duration {
	if b.perSecond <= 0 {
		return 0
	}
	if !b.at.IsZero() {
		b.tokens = min(b.burst, b.tokens+b.perSecond*now.Sub(b.at).Seconds())
	}
	b.at = now
	if b.tokens >= 1 {
		return 0
	}
	return time.Duration((1-b.tokens)/b.perSecond*float64(time.Second)) + 1
}

func (b *tokenBucket) take() {
	if b.perSecond > 0 {
		b.tokens--
	}
}

// rateLimit limits the commands of an account. Quotes and lookups take from both
// buckets, orders only from total, so the others can't use up the orders' share.
type rateLimit struct{ total, shared tokenBucket }

func newRateLimit(perSecond, orderShare float64) rateLimit {
	if perSecond <= 0 {
		return rateLimit{}
	}
	return rateLimit{total: newTokenBucket(perSecond), shared: newTokenBucket(perSecond * (1 - orderShare))}
}

// divide makes this node's rate its part of the account's. Tokens that it has stay.
func (p *rateLimit) divide(perSecond, orderShare float64, nodes int) {
	part := perSecond / float64(max(1, nodes))
	if p.total.perSecond == part || perSecond <= 0 {
		return
	}
	divided := newRateLimit(part, orderShare)
	divided.total.tokens, divided.total.at = min(p.total.tokens, divided.total.burst), p.total.at
	divided.shared.tokens, divided.shared.at = min(p.shared.tokens, divided.shared.burst), p.shared.at
	*p = divided
}

func (p *rateLimit) wait(now time.Time, priority Priority) time.Duration {
	wait := p.total.wait(now)
	if priority.isShared() {
		wait = max(wait, p.shared.wait(now))
	}
	return wait
}

func (p *rateLimit) take(priority Priority) {
	p.total.take()
	if priority.isShared() {
		p.shared.take()
	}
}
