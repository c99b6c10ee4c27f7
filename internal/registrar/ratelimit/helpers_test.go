package ratelimit

import (
	"encoding/binary"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"
)

// contractWindows are the contract's lookup limits per address.
func contractWindows() []Window {
	return []Window{{Limit: 30, Per: time.Minute}, {Limit: 300, Per: 6 * time.Hour}}
}

// clock is a manual clock.
type clock struct{ elapsed atomic.Int64 }

func (c *clock) now() time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(c.elapsed.Load()))
}

func (c *clock) at() time.Duration        { return time.Duration(c.elapsed.Load()) }
func (c *clock) set(at time.Duration)     { c.elapsed.Store(int64(at)) }
func (c *clock) advance(by time.Duration) { c.elapsed.Add(int64(by)) }

func newLimiter(t testing.TB, cfg Config) *Limiter {
	t.Helper()
	limiter, err := New(cfg)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return limiter
}

// withClock returns a limiter with a manual clock.
func withClock(t testing.TB, windows ...Window) (*Limiter, *clock) {
	t.Helper()
	c := &clock{}
	return newLimiter(t, Config{Windows: windows, Now: c.now}), c
}

// keyNumber returns the key of the n-th IPv4 address.
func keyNumber(n int) Key {
	var bytes [4]byte
	binary.BigEndian.PutUint32(bytes[:], uint32(n))
	return AddressKey(netip.AddrFrom4(bytes))
}

// spend makes n calls that must all be accepted.
func spend(t testing.TB, limiter *Limiter, key Key, n int) {
	t.Helper()
	for i := range n {
		if decision := limiter.Allow(key); !decision.Allowed {
			t.Fatalf("call %d of %d refused: %+v", i+1, n, decision)
		}
	}
}
