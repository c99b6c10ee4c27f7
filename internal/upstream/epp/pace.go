package epp

import "time"

// bucket is a bound on commands in time. The zero bucket lets everything pass.
type bucket struct {
	perSecond float64
	burst     float64
	tokens    float64
	at        time.Time
}

func newBucket(perSecond float64, burst int) bucket {
	return bucket{perSecond: perSecond, burst: max(1, float64(burst)), tokens: max(1, float64(burst))}
}

// wait is how long it takes until one more may pass; 0 means now.
func (b *bucket) wait(now time.Time) time.Duration {
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

func (b *bucket) take() {
	if b.perSecond > 0 {
		b.tokens--
	}
}

// pace bounds the commands of an account. Quotes and lookups pay into both buckets,
// orders into the whole one only, so the others can't use up the orders' share.
type pace struct{ whole, shared bucket }

func newPace(perSecond float64, burst int, orderShare float64) pace {
	if perSecond <= 0 {
		return pace{}
	}
	left := 1 - orderShare
	return pace{
		whole:  newBucket(perSecond, burst),
		shared: newBucket(perSecond*left, max(1, int(float64(burst)*left))),
	}
}

func (p *pace) wait(now time.Time, class Class) time.Duration {
	wait := p.whole.wait(now)
	if class.shared() {
		wait = max(wait, p.shared.wait(now))
	}
	return wait
}

func (p *pace) take(class Class) {
	p.whole.take()
	if class.shared() {
		p.shared.take()
	}
}
