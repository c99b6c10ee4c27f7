package main

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
)

// How long an agent waits for the database. A lookup whose token can't be
// checked goes on without it, so that wait is the shorter one.
const (
	checkTokenWithin  = 2 * time.Second
	listDomainsWithin = 5 * time.Second
)

// agentTokens tells the MCP endpoint whose a token is.
type agentTokens struct {
	access *access.Service
	// Each check is counted in one of these.
	good, bad, unchecked prometheus.Counter
}

var _ mcp.Tokens = (*agentTokens)(nil)

func newAgentTokens(tokens *access.Service, metrics *prometheus.Registry) (*agentTokens, error) {
	checks := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_token_checks_total",
		Help: "Access tokens that came with requests, by outcome: good, bad (unknown, expired or revoked), unchecked (the database did not answer).",
	}, []string{"outcome"})
	return &agentTokens{
		access: tokens,
		good:   checks.WithLabelValues("good"), bad: checks.WithLabelValues("bad"), unchecked: checks.WithLabelValues("unchecked"),
	}, metrics.Register(checks)
}

// Verify says ErrBadToken only where it is certain.
func (t *agentTokens) Verify(ctx context.Context, bearer string) (mcp.Caller, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTokenWithin)
	defer cancel()
	grant, err := t.access.Verify(ctx, bearer)
	switch {
	case errors.Is(err, &registrar.Error{Kind: registrar.KindUnauthenticated}):
		t.bad.Inc()
		return mcp.Caller{}, mcp.ErrBadToken
	case err != nil:
		t.unchecked.Inc()
		return mcp.Caller{}, databaseFault(err)
	}
	t.good.Inc()
	return mcp.Caller{Account: grant.Customer, TokenID: grant.TokenID, Kind: grant.Kind, MayWrite: grant.MayWrite}, nil
}

// agentDomains tells the MCP endpoint what a customer holds.
type agentDomains struct{ holdings *holding.Service }

var _ mcp.Domains = agentDomains{}

// List returns the caller's own domains.
func (d agentDomains) List(ctx context.Context, who mcp.Caller) ([]mcp.Domain, error) {
	ctx, cancel := context.WithTimeout(ctx, listDomainsWithin)
	defer cancel()
	held, err := d.holdings.List(ctx, who.Actor())
	if err != nil {
		return nil, databaseFault(err)
	}
	domains := make([]mcp.Domain, 0, len(held))
	for _, domain := range held {
		entry := mcp.Domain{Domain: domain.Name, TLD: domain.TLD, Status: string(domain.Status), AutoRenew: domain.AutoRenew}
		if !domain.PaidUntil.IsZero() {
			until := domain.PaidUntil.UTC().Format(time.RFC3339)
			entry.ExpiresAt = &until
		}
		domains = append(domains, entry)
	}
	return domains, nil
}

// databaseFault gives a foreign error our form, so that the log has a reason
// without words that a driver chose.
func databaseFault(err error) error {
	var ours *registrar.Error
	if errors.As(err, &ours) {
		return err
	}
	code := registrar.Code("database")
	if errors.Is(err, context.DeadlineExceeded) {
		code = "database_timeout"
	}
	return &registrar.Error{Kind: registrar.KindInternal, Code: code, Err: err}
}
