package app

import (
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

// nameBudget bounds for how many names one customer, and one checkout agent, has the
// registries asked, whichever page, tool or session asks. An order names up to 20,
// also one that is only tried, so without it a free account could look names up by
// the hundred thousand, past every limit of lookups, and keep the registries busy
// with its own pages.
type nameBudget struct {
	// mu makes the names of one call count all or none.
	mu sync.Mutex
	// Attempts to pay count apart from everything else: whoever has looked at too
	// many orders can still pay one.
	quotes, payments           *ratelimit.Limiter
	agentQuotes, agentPayments *ratelimit.Limiter
}

var _ order.Budget = (*nameBudget)(nil)

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

// Spend counts the names of one call, all or none, or says how long to wait. After
// that wait there is room for every order. Operators and the service itself are not
// counted.
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
