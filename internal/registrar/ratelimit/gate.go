package ratelimit

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	// trustedFor is how long a credential is trusted after it was issued or last accepted,
	// and maxTrusted how many are remembered. Clients refresh every hour, with a token
	// issued an hour before.
	trustedFor = 2 * time.Hour
	maxTrusted = 16384
)

// Gate limits failed authentication attempts by address, and is consulted before an
// attempt costs anything. A caller without a key is refused as soon as its address is over
// the limit. Callers with a key have a separate limit for wrong keys, so floods without a
// key don't lock them out, and a recently accepted key is always checked, so floods of
// wrong keys don't either. A nil Gate admits everyone.
type Gate struct {
	all, keyed *Limiter
	now        func() time.Time

	mu      sync.Mutex
	trusted map[Key]time.Time
}

// NewGate returns a Gate with the windows of cfg for all failures. Failures with a key may
// be keyed times as many: a forged key costs one database query, and callers behind the
// same address with valid keys that are not trusted yet need capacity.
func NewGate(cfg Config, keyed int) (*Gate, error) {
	all, err := New(cfg)
	if err != nil {
		return nil, err
	}
	cfg.Windows, cfg.Name = slices.Clone(cfg.Windows), cfg.Name+" with key"
	for i := range cfg.Windows {
		cfg.Windows[i].Limit *= max(keyed, 1)
	}
	withKey, err := New(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Gate{all: all, keyed: withKey, now: cfg.Now, trusted: make(map[Key]time.Time)}, nil
}

// Run sweeps every minute until ctx ends.
func (g *Gate) Run(ctx context.Context) { runAll(ctx, g.all, g.keyed) }

// Admit reports whether an attempt may proceed. key is empty if no credential could be valid.
func (g *Gate) Admit(addr netip.Addr, key string) Decision {
	if g == nil {
		return Decision{Allowed: true}
	}
	if g.all.shared != nil && key != "" && g.isTrusted(key) {
		return Decision{Allowed: true} // saves a round trip
	}
	d := g.all.Peek(AddressKey(addr))
	if d.Allowed || key == "" {
		return d
	}
	if g.isTrusted(key) {
		d.Allowed = true
		return d
	}
	return g.keyed.Peek(AddressKey(addr))
}

// Fail counts a failed attempt. The Decision is not Allowed if the address is over its limit.
func (g *Gate) Fail(addr netip.Addr, key string) Decision {
	if g == nil {
		return Decision{Allowed: true}
	}
	if key != "" {
		g.keyed.Allow(AddressKey(addr))
		g.mu.Lock()
		delete(g.trusted, TextKey(key))
		g.mu.Unlock()
	}
	return g.all.Allow(AddressKey(addr))
}

// Trust records that a key was issued or accepted.
func (g *Gate) Trust(key string) {
	if g == nil || key == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	if len(g.trusted) >= maxTrusted {
		for old, until := range g.trusted {
			if len(g.trusted) < maxTrusted && now.Before(until) {
				break
			}
			delete(g.trusted, old)
		}
	}
	g.trusted[TextKey(key)] = now.Add(trustedFor)
}

func (g *Gate) isTrusted(key string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	until, known := g.trusted[TextKey(key)]
	return known && g.now().Before(until)
}
