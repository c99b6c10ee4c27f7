package oauth

import (
	"context"
	"net/netip"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// RefreshRequest is a request for a new pair (RFC 6749, 6).
type RefreshRequest struct {
	ClientCredentials
	Refresh   string
	Scope     string
	Resources []string
	Address   netip.Addr
}

// Refresh turns a refresh token into a new pair. The old one is used up.
//
// If it comes again, somebody has a copy, and nobody can say who: the family
// ends. There is one excuse. Several processes of one person share one refresh
// token and may all find, in the same moment, that the access token has expired.
// So within the leeway the token directly before the current one gets a pair of
// its own, a bounded number of times; beyond that number it is refused, but the
// family lives. Directly before means that no token which it was rotated into has
// been used yet.
//
// Each such pair has a refresh token of its own, a sibling of the others. They last
// until the leeway is over: the first sibling used after it revokes the others, and
// a revoked one that comes later ends the family. So a copied token is good beside
// its original for one leeway, not for ever. The access tokens of revoked siblings
// run out by themselves, within the hour.
//
// Whatever ends the family as a replay is mailed to the customer.
//
// A connection that refreshes too often is told to wait, and its token stays good.
// That is never said about a token that comes again: a thief who refreshes
// without a pause could otherwise keep its theft from being noticed.
func (a *AuthorizationServer) Refresh(ctx context.Context, request RefreshRequest) (TokenResponse, error) {
	client, err := a.authenticate(ctx, request.ClientCredentials)
	if err != nil {
		return TokenResponse{}, err
	}
	if !a.audience.accepts(request.Resources) {
		return TokenResponse{}, invalid(ForeignResource)
	}
	hash, ok := registrar.HashSecret(registrar.RefreshToken, request.Refresh)
	if !ok {
		return TokenResponse{}, invalid(BadRefresh)
	}
	token, known, err := a.store.GetRefreshToken(ctx, hash)
	if err != nil {
		return TokenResponse{}, err
	}
	now := a.now()
	if !known || token.ClientID != client.ID || token.Revoked || token.Disabled ||
		token.Resource != a.audience.canonical || !now.Before(token.ExpiresAt) {
		return TokenResponse{}, invalid(BadRefresh)
	}
	scope, ok := narrowScope(token.Scope, request.Scope)
	if !ok {
		return TokenResponse{}, invalid(WiderScope)
	}
	if !token.Used && !token.Superseded {
		if wait, ok := a.allowRefresh(token.GrantID); !ok {
			return TokenResponse{}, &registrar.Error{Kind: registrar.KindRateLimited, Code: TooManyRefreshes, RetryAfter: wait}
		}
	}
	tokens, pair := newTokens(scope, now)
	rotated, err := a.store.RotateRefreshToken(ctx, Rotation{
		Hash: hash, GrantID: token.GrantID, Generation: token.Generation, Epoch: token.Epoch, Now: now, Leeway: a.leeway, MaxReuses: maxReuses,
	}, pair, registrar.AuditEvent{
		Actor: registrar.Actor{
			Kind: registrar.ActorApplication, Customer: token.Customer, Through: token.GrantID, Address: request.Address,
		},
		Action: AppReplayed, Customer: token.Customer, At: now,
	})
	if err != nil {
		return TokenResponse{}, err
	}
	if !rotated {
		return TokenResponse{}, invalid(BadRefresh)
	}
	return tokens, nil
}
