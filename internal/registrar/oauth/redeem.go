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
	actor := registrar.Actor{Kind: registrar.ActorApplication, Customer: code.Customer, Through: grant, Address: request.Address}
	replay := registrar.AuditEvent{Actor: actor, Action: AppReplayed, Customer: code.Customer, At: now}
	wrong := !verifierMatches(request.Verifier, code.Challenge) || request.RedirectURI != "" && request.RedirectURI != code.RedirectURI
	if wrong || code.Used || code.Disabled || code.Resource != a.audience.canonical || !now.Before(code.ExpiresAt) {
		if err := a.cfg.Store.InvalidateAuthorizationCode(ctx, hash, replay); err != nil {
			return TokenResponse{}, err
		}
		return TokenResponse{}, registrar.Invalid(BadCode)
	}
	tokens, pair := newTokens(code.Scope, now)
	connected := registrar.AuditEvent{Actor: actor, Action: AppConnected, Customer: code.Customer, At: now}
	connected.Object = AppLabel(code.ClientName, code.RedirectURI)
	redeemed, err := a.cfg.Store.RedeemAuthorizationCode(ctx, hash, Grant{
		GrantID: grant, Customer: code.Customer, ClientID: client.ID, ClientName: code.ClientName,
		RedirectURI: code.RedirectURI, Scope: code.Scope, Resource: code.Resource, At: now,
	}, pair, connected, replay)
	if !redeemed {
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
