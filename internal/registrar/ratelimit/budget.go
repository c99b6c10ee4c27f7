package ratelimit

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
)

// NetworkLimit gives one network its own windows: its users share few addresses, so each
// address may send more. Addresses are still counted one by one.
type NetworkLimit struct {
	Network netip.Prefix
	Windows []Window
	limiter *Limiter
}

// Budget is a default limit with other limits for some networks.
type Budget struct {
	everyone *Limiter
	networks []NetworkLimit
}

// NewBudget returns a Budget. If networks overlap, the smallest one applies.
func NewBudget(everyone Config, shared []NetworkLimit) (*Budget, error) {
	limiter, err := New(everyone)
	if err != nil {
		return nil, err
	}
	b := &Budget{everyone: limiter}
	name := everyone.Name
	for _, s := range shared {
		everyone.Windows, everyone.Name = s.Windows, name+" "+s.Network.Masked().String()
		if s.limiter, err = New(everyone); err != nil {
			return nil, fmt.Errorf("network %s: %w", s.Network, err)
		}
		s.Network = s.Network.Masked()
		b.networks = append(b.networks, s)
	}
	slices.SortStableFunc(b.networks, func(x, y NetworkLimit) int { return y.Network.Bits() - x.Network.Bits() })
	return b, nil
}

// Spend counts one request of addr if it is allowed, and returns the windows that apply.
// The caller must not modify them.
func (b *Budget) Spend(addr netip.Addr) (Decision, []Window) {
	limiter := b.limiterFor(addr)
	return limiter.Allow(AddressKey(addr)), limiter.windows
}

// SpendToken is Spend for a request with a valid token, identified by its id. In a shared
// network the token identifies the caller better than the address, so the token is
// counted, with the default windows. Elsewhere the address is counted, so that tokens
// can't be used to bypass the limit.
func (b *Budget) SpendToken(addr netip.Addr, token string) (Decision, []Window) {
	if b.limiterFor(addr) == b.everyone {
		return b.Spend(addr)
	}
	return b.everyone.Allow(TextKey(token)), b.everyone.windows
}

func (b *Budget) limiterFor(addr netip.Addr) *Limiter {
	addr = addr.Unmap().WithZone("")
	for _, s := range b.networks {
		if s.Network.Contains(addr) {
			return s.limiter
		}
	}
	return b.everyone
}

// Len returns the number of remembered addresses.
func (b *Budget) Len() int {
	total := b.everyone.Len()
	for _, s := range b.networks {
		total += s.limiter.Len()
	}
	return total
}

// Run sweeps every minute until ctx ends.
func (b *Budget) Run(ctx context.Context) {
	limiters := []*Limiter{b.everyone}
	for _, s := range b.networks {
		limiters = append(limiters, s.limiter)
	}
	runAll(ctx, limiters...)
}

func runAll(ctx context.Context, limiters ...*Limiter) {
	var all sync.WaitGroup
	for _, limiter := range limiters {
		all.Go(func() { limiter.Run(ctx) })
	}
	all.Wait()
}
