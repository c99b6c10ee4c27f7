package app

import (
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

// nameBudget bounds the registry queries per customer and per checkout agent, across
// pages, tools and sessions. An order, even a dry run, queries up to 20 names, so without
// it a free account could bypass the lookup limits.
type nameBudget struct {
	// mu makes the names of one call count as a unit.
	mu sync.Mutex
	// Payments count separately, so that a customer who viewed too many orders can
	// still pay one.
	quotes, payments           *ratelimit.Limiter
	agentQuotes, agentPayments *ratelimit.Limiter
}

func newNameBudget(limits config.Limits, newLimiter func(...ratelimit.Window) (*ratelimit.Limiter, error)) (*nameBudget, error) {
	b := &nameBudget{}
	for _, one := range []struct {
		limiter            **ratelimit.Limiter
		perMinute, perHour int
	}{
		{&b.quotes, limits.QuotesPerMinute, limits.QuotesPerHour},
		{&b.payments, limits.QuotesPerMinute, limits.QuotesPerHour},
		{&b.agentQuotes, limits.AgentQuotesPerMinute, limits.AgentQuotesPerHour},
		{&b.agentPayments, limits.AgentQuotesPerMinute, limits.AgentQuotesPerHour},
	} {
		var err error
		*one.limiter, err = newLimiter(
			ratelimit.Window{Limit: one.perMinute, Per: time.Minute}, ratelimit.Window{Limit: one.perHour, Per: time.Hour})
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Spend counts all names of one call, or none and returns how long to wait; after that
// any order fits. Operators and the service itself are not limited.
func (b *nameBudget) Spend(actor registrar.Actor, purpose registrar.Purpose, names int) time.Duration {
	quotes, payments, key := b.quotes, b.payments, ratelimit.TextKey(actor.Customer)
	switch actor.Kind {
	case registrar.ActorOperator, registrar.ActorSystem:
		return 0
	case registrar.ActorAgent:
		quotes, payments, key = b.agentQuotes, b.agentPayments, ratelimit.TextKey(actor.Through)
	}
	limiter := quotes
	if purpose == registrar.ForPayment {
		limiter = payments
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := limiter.Peek(key); now.Remaining < names {
		return limiter.Windows()[now.Window].Per
	}
	for range names {
		limiter.Allow(key)
	}
	return 0
}
