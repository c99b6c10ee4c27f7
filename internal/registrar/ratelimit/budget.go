package ratelimit

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// NetworkLimit gives one network windows of its own: its users share a few addresses,
// so each address may ask more. Addresses still count one by one.
type NetworkLimit struct {
	Network netip.Prefix
	Windows []Window
}

// Budget is one limit for everybody, with other limits for some networks.
type Budget struct {
	everyone *Limiter
	networks []networkLimiter
}

type networkLimiter struct {
	network netip.Prefix
	limiter *Limiter
}

// NewBudget checks everything and returns a Budget. Where networks overlap, the
// smallest one counts.
func NewBudget(everyone Config, shared []NetworkLimit) (*Budget, error) {
	limiter, err := New(everyone)
	if err != nil {
		return nil, err
	}
	b := &Budget{everyone: limiter}
	for _, s := range shared {
		cfg := everyone
		cfg.Windows = s.Windows
		limiter, err := New(cfg)
		if err != nil {
			return nil, fmt.Errorf("network %s: %w", s.Network, err)
		}
		b.networks = append(b.networks, networkLimiter{network: s.Network.Masked(), limiter: limiter})
	}
	slices.SortStableFunc(b.networks, func(x, y networkLimiter) int { return y.network.Bits() - x.network.Bits() })
	return b, nil
}

// Spend counts one request of addr if it is allowed, and says which windows
// apply to it. The windows are shared: do not change them.
func (b *Budget) Spend(addr netip.Addr) (Decision, []Window) {
	limiter := b.limiterFor(addr)
	return limiter.Allow(AddressKey(addr)), limiter.windows
}

// SpendToken is Spend for a request that came with a valid token, which is known
// by its id. In a shared network an address says little about who is calling
// and a token says it well: there the token counts, with the windows of
// everybody. Elsewhere the address does, or tokens would be a way round it.
func (b *Budget) SpendToken(addr netip.Addr, token string) (Decision, []Window) {
	if b.limiterFor(addr) == b.everyone {
		return b.Spend(addr)
	}
	return b.everyone.Allow(TextKey(token)), b.everyone.windows
}

func (b *Budget) limiterFor(addr netip.Addr) *Limiter {
	addr = addr.Unmap().WithZone("")
	for _, s := range b.networks {
		if s.network.Contains(addr) {
			return s.limiter
		}
	}
	return b.everyone
}

// Len is how many addresses are remembered.
func (b *Budget) Len() int {
	total := b.everyone.Len()
	for _, s := range b.networks {
		total += s.limiter.Len()
	}
	return total
}

// Run forgets what is no longer needed until ctx ends.
func (b *Budget) Run(ctx context.Context, interval time.Duration) {
	var all sync.WaitGroup
	all.Go(func() { b.everyone.Run(ctx, interval) })
	for _, s := range b.networks {
		all.Go(func() { s.limiter.Run(ctx, interval) })
	}
	all.Wait()
}
