package oauth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/netip"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// TokenResponse is a token pair, returned to the application once.
type TokenResponse struct {
	Access, Refresh string
	Scope           string
	ExpiresIn       time.Duration
}

// CodeRequest is an access token request with a code (RFC 6749, 4.1.3).
type CodeRequest struct {
	ClientCredentials
	Code, Verifier string
	// RedirectURI may be omitted, as in OAuth 2.1, because the verifier binds the code
	// to its requester. If sent, it must match.
	RedirectURI string
	Resources   []string
	Address     netip.Addr
}

// Redeem exchanges a code for tokens, once. A wrong verifier invalidates the code; a
// second redemption ends the grant.
func (a *AuthorizationServer) Redeem(ctx context.Context, request CodeRequest) (TokenResponse, error) {
	client, err := a.authenticate(ctx, request.ClientCredentials)
	if err != nil {
		return TokenResponse{}, err
	}
	if !a.audience.accepts(request.Resources) {
		return TokenResponse{}, registrar.Invalid(ForeignResource)
	}
	hash, ok := registrar.HashSecret(registrar.AuthorizationCodeSecret, request.Code)
	if !ok {
		return TokenResponse{}, registrar.Invalid(BadCode)
	}
	code, known, err := a.cfg.Store.GetAuthorizationCode(ctx, hash)
	if !known || code.ClientID != client.ID {
		// Another client that has seen a code can't invalidate it.
		return TokenResponse{}, cmp.Or(err, registrar.Invalid(BadCode))
	}
	now := a.cfg.Now()
	grant := registrar.NewID("grant_", now)
	replay := applicationEvent(AppReplayed, code.Customer, grant, request.Address, now)
	wrong := !verifierMatches(request.Verifier, code.Challenge) || request.RedirectURI != "" && request.RedirectURI != code.RedirectURI
	if wrong || code.Used || code.Disabled || code.Resource != a.audience.canonical || !now.Before(code.ExpiresAt) {
		if err := a.cfg.Store.InvalidateAuthorizationCode(ctx, hash, replay); err != nil {
			return TokenResponse{}, err
		}
		return TokenResponse{}, registrar.Invalid(BadCode)
	}
	tokens, pair := newTokens(code.Scope, now)
	connected := applicationEvent(AppConnected, code.Customer, grant, request.Address, now)
	connected.Object = AppLabel(code.ClientName, code.RedirectURI)
	redeemed, err := a.cfg.Store.RedeemAuthorizationCode(ctx, hash, Grant{
		GrantID: grant, Customer: code.Customer, ClientID: client.ID, ClientName: code.ClientName,
		RedirectURI: code.RedirectURI, Scope: code.Scope, Resource: code.Resource, At: now,
	}, pair, connected, replay)
	if !redeemed || err != nil {
		return TokenResponse{}, cmp.Or(err, registrar.Invalid(BadCode))
	}
	return tokens, nil
}

const minVerifier, maxVerifier = 43, 128

// verifierMatches implements RFC 7636, 4.6, for S256, the only supported method.
func verifierMatches(verifier, challenge string) bool {
	if len(verifier) < minVerifier || len(verifier) > maxVerifier {
		return false
	}
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}

func newTokens(scope string, now time.Time) (TokenResponse, TokenPair) {
	tokens := TokenResponse{Scope: scope, ExpiresIn: AccessTokenTTL}
	pair := TokenPair{Scope: scope, AccessExpiresAt: now.Add(AccessTokenTTL), RefreshExpiresAt: now.Add(RefreshTokenTTL)}
	tokens.Access, pair.Access = registrar.NewSecret(registrar.AccessToken)
	tokens.Refresh, pair.Refresh = registrar.NewSecret(registrar.RefreshToken)
	return tokens, pair
}

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
	}, pair, applicationEvent(AppReplayed, token.Customer, token.GrantID, request.Address, now))
	if !rotated || err != nil {
		return TokenResponse{}, cmp.Or(err, registrar.Invalid(BadRefresh))
	}
	return tokens, nil
}

// RevokeToken ends the grant of a token, whether access or refresh token (RFC 7009). An
// unknown token, or one of another application, changes nothing. ended is for limits on
// failures and not for the application.
func (a *AuthorizationServer) RevokeToken(ctx context.Context, credentials ClientCredentials, token string, address netip.Addr) (ended bool, err error) {
	client, err := a.authenticate(ctx, credentials)
	if err != nil {
		return false, err
	}
	grant, owner, customer, err := a.findGrant(ctx, token)
	if err != nil || grant == "" || owner != client.ID {
		return false, err
	}
	return a.cfg.Store.EndGrant(ctx, grant, applicationEvent(AppEnded, customer, grant, address, a.cfg.Now()))
}

// findGrant returns the grant of a token; empty if there is none.
func (a *AuthorizationServer) findGrant(ctx context.Context, token string) (grant, client, customer string, err error) {
	if hash, ok := registrar.HashSecret(registrar.AccessToken, token); ok {
		found, _, err := a.cfg.Store.GetAccessToken(ctx, hash)
		return found.GrantID, found.ClientID, found.Customer, err
	}
	if hash, ok := registrar.HashSecret(registrar.RefreshToken, token); ok {
		found, _, err := a.cfg.Store.GetRefreshToken(ctx, hash)
		return found.GrantID, found.ClientID, found.Customer, err
	}
	return "", "", "", nil
}

// applicationEvent is an event caused by an application at the token endpoint.
func applicationEvent(action registrar.Action, customer, grant string, address netip.Addr, at time.Time) registrar.AuditEvent {
	actor := registrar.Actor{Kind: registrar.ActorApplication, Customer: customer, Through: grant, Address: address}
	return registrar.AuditEvent{Actor: actor, Action: action, Customer: customer, At: at}
}
