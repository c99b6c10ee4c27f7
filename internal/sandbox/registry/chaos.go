package registry

import (
	"sync/atomic"
	"time"
)

// fault is what chaos does to one response.
type fault uint8

const (
	faultNone fault = iota
	faultSlow
	faultBroken
	faultThrottled
	faultDropped
	faultKinds = int(faultDropped)
)

var faultNames = [...]string{"none", "slow", "broken", "throttled", "dropped"}

func (f fault) String() string { return faultNames[f] }

// injectedFault is a fault with its details.
type injectedFault struct {
	fault
	delay   time.Duration // for faultSlow
	variant uint64        // selects a variant of the fault
}

// faultRNG decides the faults of one host. The n-th decision depends only on the
// seed and n.
type faultRNG struct {
	share   float64
	seed    uint64
	timings timings
	count   atomic.Uint64
}

func (d *faultRNG) next() injectedFault {
	if d.share <= 0 {
		return injectedFault{}
	}
	n := d.count.Add(1)
	luck, kind, detail := mix(d.seed+3*n), mix(d.seed+3*n+1), mix(d.seed+3*n+2)
	if float64(luck>>11)/(1<<53) >= d.share {
		return injectedFault{}
	}
	m := injectedFault{fault: fault(1 + kind%uint64(faultKinds)), variant: detail}
	if m.fault == faultSlow {
		m.delay = d.timings.slowMin
		if spread := d.timings.slowMax - d.timings.slowMin; spread > 0 {
			m.delay += time.Duration(detail % uint64(spread))
		}
	}
	return m
}

// mix spreads the bits of x, so that neighbouring numbers are unrelated (the
// finaliser of SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hashText hashes a text (FNV-1a, then mixed, because FNV alone leaves the high
// bits of short texts similar).
func hashText(text string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 0x100000001b3
	}
	return mix(h)
}
