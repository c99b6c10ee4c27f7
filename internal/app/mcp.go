package app

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Database timeouts of MCP calls. A lookup proceeds without a token that can't be
// checked, so that timeout is shorter.
const (
	tokenCheckTimeout = 2 * time.Second
	listTimeout       = 5 * time.Second
)

// mcpTokens verifies access tokens for the MCP endpoint.
type mcpTokens struct {
	tokens               *oauth.Service
	good, bad, unchecked prometheus.Counter
}

var _ mcp.Tokens = (*mcpTokens)(nil)

func newMCPTokens(tokens *oauth.Service, metrics *prometheus.Registry) (*mcpTokens, error) {
	checks := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_token_checks_total",
		Help: "Access tokens in requests, by outcome: good, bad (unknown, expired or revoked), unchecked (the database did not respond).",
	}, []string{"outcome"})
	return &mcpTokens{
		tokens: tokens,
		good:   checks.WithLabelValues("good"), bad: checks.WithLabelValues("bad"), unchecked: checks.WithLabelValues("unchecked"),
	}, metrics.Register(checks)
}

// Verify returns ErrBadToken only if the database confirms it.
func (t *mcpTokens) Verify(ctx context.Context, bearer string) (mcp.Caller, error) {
	ctx, cancel := context.WithTimeout(ctx, tokenCheckTimeout)
	defer cancel()
	grant, err := t.tokens.Verify(ctx, bearer)
	switch {
	case errors.Is(err, &registrar.Error{Kind: registrar.KindUnauthenticated}):
		t.bad.Inc()
		return mcp.Caller{}, mcp.ErrBadToken
	case err != nil:
		t.unchecked.Inc()
		return mcp.Caller{}, registrar.DatabaseError(err)
	}
	t.good.Inc()
	return mcp.Caller{Account: grant.Customer, TokenID: grant.TokenID, Kind: grant.Kind, MayWrite: grant.MayWrite}, nil
}

// mcpDomains lists a customer's domains for the MCP endpoint.
type mcpDomains struct {
	portfolio *portfolio.Service
	catalog   *catalog.Live
	baseURL   string
}

var _ mcp.Domains = mcpDomains{}

// List returns the caller's own domains.
func (d mcpDomains) List(ctx context.Context, caller mcp.Caller, which mcp.DomainFilter) ([]mcp.Domain, int, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	filter := portfolio.Filter{Part: which.Search, PaidBefore: which.ExpiresBefore}
	held, total, err := d.portfolio.Find(ctx, caller.Actor(), filter, which.Limit, which.Offset)
	if err != nil {
		return nil, 0, registrar.DatabaseError(err)
	}
	domains := make([]mcp.Domain, 0, len(held))
	for _, domain := range held {
		entry := mcp.Domain{
			Domain: domain.Name, TLD: domain.TLD, Status: string(domain.Status), AutoRenew: domain.Renews(),
			ManageURL: d.baseURL + ui.DomainsPath + "/" + domain.ID,
		}
		if !domain.PaidUntil.IsZero() {
			until := domain.PaidUntil.UTC().Format(time.RFC3339)
			entry.ExpiresAt = &until
		}
		if extension, listed := d.catalog.Extension(domain.TLD); listed && extension.Renew > 0 {
			entry.RenewEUR = &extension.Renew
		}
		domains = append(domains, entry)
	}
	return domains, total, nil
}
