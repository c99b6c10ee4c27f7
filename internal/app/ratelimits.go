package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

// limits are the rate limits of requests.
type limits struct {
	lookups, whois *ratelimit.Budget
	tokens         *ratelimit.Limiter
	registrations  *ratelimit.Limiter
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
	if p.limits.tokens, err = p.newLimiter(
		ratelimit.Window{Limit: cfg.TokenPerMinute, Per: time.Minute}, ratelimit.Window{Limit: cfg.TokenPerHour, Per: time.Hour}); err != nil {
		return err
	}
	if p.limits.registrations, err = p.newLimiter(
		ratelimit.Window{Limit: cfg.RegisterPerMinute, Per: time.Minute}, ratelimit.Window{Limit: cfg.RegisterPerHour, Per: time.Hour}); err != nil {
		return err
	}
	failures := ratelimit.Window{Limit: cfg.BadTokensPerAddress, Per: time.Minute}
	if p.limits.badTokens, err = p.newGate(1, failures); err != nil {
		return err
	}
	if p.limits.badGrants, err = p.newGate(1, failures); err != nil {
		return err
	}
	p.limits.names, err = newNameBudget(cfg, p.newLimiter)
	return err
}

// newLookupBudgets returns the budgets of lookups and of whois_lookup.
func (p *App) newLookupBudgets() (lookups, whois *ratelimit.Budget, err error) {
	limits := p.cfg.Limits
	var shared, sharedWhois []ratelimit.NetworkLimit
	for _, egress := range limits.SharedEgress {
		networks, err := config.Prefixes([]string{egress.Network})
		if err != nil {
			return nil, nil, err
		}
		shared = append(shared, ratelimit.NetworkLimit{
			Network: networks[0],
			Windows: windows(egress.LookupPerMinute, egress.LookupPer6Hours),
		})
		sharedWhois = append(sharedWhois, ratelimit.NetworkLimit{
			Network: networks[0],
			Windows: windows((egress.LookupPerMinute+1)/2, (egress.LookupPer6Hours+1)/2),
		})
	}
	lookups, err = p.newBudget(windows(limits.LookupPerMinute, limits.LookupPer6Hours), shared)
	if err != nil {
		return nil, nil, err
	}
	whois, err = p.newBudget(windows(limits.WhoisPerMinute, limits.WhoisPer6Hours), sharedWhois)
	if err != nil {
		return nil, nil, err
	}
	return lookups, whois, p.metrics.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "dotkontor_ratelimit_addresses",
		Help: "Addresses with recent requests, counted once per kind of limit.",
	}, func() float64 { return float64(lookups.Len() + whois.Len()) }))
}

func (p *App) newBudget(everyone []ratelimit.Window, shared []ratelimit.NetworkLimit) (*ratelimit.Budget, error) {
	budget, err := ratelimit.NewBudget(ratelimit.Config{Windows: everyone, MaxKeys: p.cfg.Limits.MaxAddresses}, shared)
	if err != nil {
		return nil, err
	}
	p.background = append(p.background, budget.Run)
	return budget, nil
}

// newLimiter returns a limiter whose expired keys are swept in the background.
func (p *App) newLimiter(windows ...ratelimit.Window) (*ratelimit.Limiter, error) {
	limiter, err := ratelimit.New(ratelimit.Config{Windows: windows, MaxKeys: p.cfg.Limits.MaxAddresses})
	if err != nil {
		return nil, err
	}
	p.background = append(p.background, limiter.Run)
	return limiter, nil
}

// newGate is newLimiter for failed authentications. Attempts with a well-formed key
// get keyed times the limit.
func (p *App) newGate(keyed int, windows ...ratelimit.Window) (*ratelimit.Gate, error) {
	gate, err := ratelimit.NewGate(ratelimit.Config{Windows: windows, MaxKeys: p.cfg.Limits.MaxAddresses}, keyed)
	if err != nil {
		return nil, err
	}
	p.background = append(p.background, gate.Run)
	return gate, nil
}

func windows(perMinute, perSixHours int) []ratelimit.Window {
	return []ratelimit.Window{{Limit: perMinute, Per: time.Minute}, {Limit: perSixHours, Per: 6 * time.Hour}}
}
