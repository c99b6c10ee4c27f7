package app

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

type limits struct {
	lookups, whois *ratelimit.Budget
	tokens         *ratelimit.Limiter
	registrations  *ratelimit.Limiter
	rdap           *ratelimit.Limiter
	// badTokens and badGrants bound failed authentications at MCP and at the token endpoint.
	badTokens, badGrants *ratelimit.Gate
	// names bounds registry queries per customer and agent.
	names *nameBudget
}

func (p *App) newLimits(context.Context) (err error) {
	cfg := p.cfg.Limits
	if p.limits.lookups, p.limits.whois, err = p.newLookupBudgets(); err != nil {
		return err
	}
	if p.limits.tokens, err = p.newLimiter("tokens", perMinuteAndHour(cfg.TokenPerMinute, cfg.TokenPerHour)...); err != nil {
		return err
	}
	if p.limits.registrations, err = p.newLimiter("registrations", perMinuteAndHour(cfg.RegisterPerMinute, cfg.RegisterPerHour)...); err != nil {
		return err
	}
	if p.limits.rdap, err = p.newLimiter("rdap", perMinuteAndHour(cfg.RDAPPerMinute, cfg.RDAPPerHour)...); err != nil {
		return err
	}
	failures := ratelimit.Window{Limit: cfg.BadTokensPerAddress, Per: time.Minute}
	if p.limits.badTokens, err = p.newGate("bad tokens", 1, failures); err != nil {
		return err
	}
	if p.limits.badGrants, err = p.newGate("bad grants", 1, failures); err != nil {
		return err
	}
	p.limits.names, err = newNameBudget(cfg, p.newLimiter)
	return err
}

func (p *App) newLookupBudgets() (lookups, whois *ratelimit.Budget, err error) {
	limits := p.cfg.Limits
	var shared, sharedWhois []ratelimit.NetworkLimit
	for _, egress := range limits.SharedEgress {
		networks, err := config.Prefixes([]string{egress.Network})
		if err != nil {
			return nil, nil, err
		}
		minute, sixHours := egress.LookupPerMinute, egress.LookupPer6Hours
		shared = append(shared, ratelimit.NetworkLimit{Network: networks[0], Windows: perMinuteAnd6Hours(minute, sixHours)})
		sharedWhois = append(sharedWhois, ratelimit.NetworkLimit{Network: networks[0], Windows: perMinuteAnd6Hours((minute+1)/2, (sixHours+1)/2)})
	}
	if lookups, err = p.newBudget("lookups", perMinuteAnd6Hours(limits.LookupPerMinute, limits.LookupPer6Hours), shared); err != nil {
		return nil, nil, err
	}
	whois, err = p.newBudget("whois", perMinuteAnd6Hours(limits.WhoisPerMinute, limits.WhoisPer6Hours), sharedWhois)
	newGauge(p.metrics, "dotkontor_ratelimit_addresses", "Addresses with recent requests, counted once per kind of limit.",
		func() float64 { return float64(lookups.Len() + whois.Len()) })
	return lookups, whois, err
}

func (p *App) newBudget(name string, everyone []ratelimit.Window, networks []ratelimit.NetworkLimit) (*ratelimit.Budget, error) {
	budget, err := ratelimit.NewBudget(p.limiterConfig(name, everyone...), networks)
	p.inBackground(budget.Run)
	return budget, err
}

func (p *App) newLimiter(name string, windows ...ratelimit.Window) (*ratelimit.Limiter, error) {
	limiter, err := ratelimit.New(p.limiterConfig(name, windows...))
	p.inBackground(limiter.Run)
	return limiter, err
}

func (p *App) limiterConfig(name string, windows ...ratelimit.Window) ratelimit.Config {
	return ratelimit.Config{Name: name, Windows: windows, MaxKeys: p.cfg.Limits.MaxAddresses, Shared: p.services.shared}
}

// newTextLimiter returns a function that counts an event per key and returns how long to
// wait.
func (p *App) newTextLimiter(name string, perHour, per10Hours int) (func(key string) time.Duration, error) {
	limiter, err := p.newLimiter(name, ratelimit.Window{Limit: perHour, Per: time.Hour}, ratelimit.Window{Limit: per10Hours, Per: 10 * time.Hour})
	return limiter.AllowText, err
}

// newGate returns a gate for failed authentications. Attempts with a well-formed key get
// keyed times the limit.
func (p *App) newGate(name string, keyed int, window ratelimit.Window) (*ratelimit.Gate, error) {
	gate, err := ratelimit.NewGate(p.limiterConfig(name, window), keyed)
	p.inBackground(gate.Run)
	return gate, err
}

func perMinuteAndHour(perMinute, perHour int) []ratelimit.Window {
	return []ratelimit.Window{{Limit: perMinute, Per: time.Minute}, {Limit: perHour, Per: time.Hour}}
}

func perMinuteAnd6Hours(perMinute, per6Hours int) []ratelimit.Window {
	return []ratelimit.Window{{Limit: perMinute, Per: time.Minute}, {Limit: per6Hours, Per: 6 * time.Hour}}
}

// nameBudget bounds the registry queries per customer and per checkout agent, across
// pages, tools and sessions. An order, even a dry run, queries up to 100 names, so without
// it a free account could bypass the lookup limits.
type nameBudget struct {
	// Payments count separately, so that a customer who viewed too many orders can
	// still pay one.
	quotes, payments           *ratelimit.Limiter
	agentQuotes, agentPayments *ratelimit.Limiter
}

func newNameBudget(limits config.Limits, newLimiter func(string, ...ratelimit.Window) (*ratelimit.Limiter, error)) (*nameBudget, error) {
	b := &nameBudget{}
	customer := perMinuteAndHour(limits.QuotesPerMinute, limits.QuotesPerHour)
	agent := perMinuteAndHour(limits.AgentQuotesPerMinute, limits.AgentQuotesPerHour)
	for _, limit := range []struct {
		into    **ratelimit.Limiter
		name    string
		windows []ratelimit.Window
	}{
		{&b.quotes, "quotes", customer},
		{&b.payments, "payments", customer},
		{&b.agentQuotes, "quotes of agents", agent},
		{&b.agentPayments, "payments of agents", agent},
	} {
		var err error
		if *limit.into, err = newLimiter(limit.name, limit.windows...); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Spend counts all names of one call, or none and returns how long to wait. Operators and the service itself are not limited.
func (b *nameBudget) Spend(actor registrar.Actor, purpose registrar.QueryPurpose, names int) time.Duration {
	quotes, payments, key := b.quotes, b.payments, ratelimit.TextKey(actor.Customer)
	switch actor.Kind {
	case registrar.ActorOperator, registrar.ActorSystem:
		return 0
	case registrar.ActorAgent:
		quotes, payments, key = b.agentQuotes, b.agentPayments, ratelimit.TextKey(actor.Through)
	default: // a customer, by whatever means
	}
	limiter := quotes
	if purpose == registrar.ForPayment {
		limiter = payments
	}
	for _, window := range limiter.Windows() {
		names = min(names, window.Limit) // so that the largest order fits into any setting
	}
	if names < 1 {
		return 0
	}
	return limiter.AllowN(key, names).RetryAfter
}
