package oauth

import (
	"cmp"
	"context"
	"net/netip"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// RefreshRequest is a request to refresh an access token (RFC 6749, 6).
type RefreshRequest struct {
	ClientCredentials
	Refresh   string
	Scope     string
	Resources []string
	Address   netip.Addr
}

// Refresh exchanges a refresh token for a new pair and marks it used.
//
// A reused token means that there is a copy, and it can't be known who holds the
// original: the grant ends. There is one exception. Several processes of one person may
// share a refresh token and find at the same moment that the access token has expired.
// So within the leeway, the token directly preceding the current one gets a further
// pair, a bounded number of times; beyond that it is refused, but the grant continues.
// Directly preceding means that no token it was rotated into has been used yet.
//
// The refresh tokens of these pairs are siblings. They are valid until the leeway is
// over: the first sibling used after it revokes the others, and a revoked sibling used
// later ends the grant. So a copied token is usable alongside its original for one
// leeway only. The access tokens of revoked siblings expire within the hour.
//
// The customer is mailed when a replay ends a grant.
//
// A grant that refreshes too often is rate limited, and its token remains valid. A
// reused token is never rate limited: otherwise a thief who refreshes in a loop could
// prevent the detection of the theft.
func (a *AuthorizationServer) Refresh(ctx context.Context, request RefreshRequest) (TokenResponse, error) {
	client, err := a.authenticate(ctx, request.ClientCredentials)
	if err != nil {
		return TokenResponse{}, err
	}
	if !a.audience.accepts(request.Resources) {
		return TokenResponse{}, registrar.Invalid(ForeignResource)
	}
	hash, ok := registrar.HashSecret(registrar.RefreshToken, request.Refresh)
	if !ok {
		return TokenResponse{}, registrar.Invalid(BadRefresh)
	}
	token, known, err := a.cfg.Store.GetRefreshToken(ctx, hash)
	now := a.cfg.Now()
	if !known || token.ClientID != client.ID || token.Revoked || token.Disabled ||
		token.Resource != a.audience.canonical || !now.Before(token.ExpiresAt) {
		return TokenResponse{}, cmp.Or(err, registrar.Invalid(BadRefresh))
	}
	scope, ok := narrowScope(token.Scope, request.Scope)
	if !ok {
		return TokenResponse{}, registrar.Invalid(WiderScope)
	}
	if !token.Used && !token.Superseded {
		if wait := a.cfg.AllowRefresh(token.GrantID); wait > 0 {
			return TokenResponse{}, &registrar.Error{Kind: registrar.KindRateLimited, Code: TooManyRefreshes, RetryAfter: wait}
		}
	}
	tokens, pair := newTokens(scope, now)
	rotated, err := a.cfg.Store.RotateRefreshToken(ctx, Rotation{
		Hash: hash, GrantID: token.GrantID, Generation: token.Generation, Epoch: token.Epoch, Now: now, Leeway: a.cfg.Leeway, MaxReuses: maxReuses,
	}, pair, registrar.AuditEvent{
		Actor: registrar.Actor{
			Kind: registrar.ActorApplication, Customer: token.Customer, Through: token.GrantID, Address: request.Address,
		},
		Action: AppReplayed, Customer: token.Customer, At: now,
	})
	if !rotated {
		return TokenResponse{}, cmp.Or(err, registrar.Invalid(BadRefresh))
	}
	return tokens, nil
}
