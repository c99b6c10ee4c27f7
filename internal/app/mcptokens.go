package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
)

// tokenCheckTimeout is short, because a lookup proceeds without a token that can't be
// checked.
const tokenCheckTimeout = 2 * time.Second

// mcpTokens verifies access tokens for the MCP endpoint.
type mcpTokens struct {
	tokens               *oauth.Service
	good, bad, unchecked prometheus.Counter
}

var _ mcp.Tokens = (*mcpTokens)(nil)

func newMCPTokens(tokens *oauth.Service, metrics *prometheus.Registry) *mcpTokens {
	checks := newCounter(metrics, "dotkontor_token_checks_total",
		"Access tokens in requests, by outcome: good, bad (unknown, expired or revoked), unchecked (the database did not respond).", label{name: "outcome"})
	return &mcpTokens{
		tokens: tokens,
		good:   checks.WithLabelValues("good"), bad: checks.WithLabelValues("bad"), unchecked: checks.WithLabelValues("unchecked"),
	}
}

// Verify returns KindUnauthenticated only if the database confirms it.
func (t *mcpTokens) Verify(ctx context.Context, bearer string) (oauth.TokenInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, tokenCheckTimeout)
	defer cancel()
	token, err := t.tokens.Verify(ctx, bearer)
	switch {
	case err == nil:
		t.good.Inc()
	case registrar.KindOf(err) == registrar.KindUnauthenticated:
		t.bad.Inc()
	default:
		t.unchecked.Inc()
	}
	return token, registrar.DatabaseError(err)
}
