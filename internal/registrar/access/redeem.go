package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/netip"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Tokens are a pair, as the application gets it once.
type Tokens struct {
	Access, Refresh string
	Scope           string
	ExpiresIn       time.Duration
}

// Redemption is a request for the tokens of a code (RFC 6749, 4.1.3).
type Redemption struct {
	Credentials
	Code, Verifier string
	// RedirectURI may be left out, as OAuth 2.1 does: the verifier binds the code
	// to whoever asked for it. Where it is sent it must be the same.
	RedirectURI string
	Resources   []string
	Address     netip.Addr
}

// Redeem turns a code into tokens, once. A code is burnt by a wrong verifier; a
// code that comes again ends what came out of it.
func (a *Applications) Redeem(ctx context.Context, asked Redemption) (Tokens, error) {
	client, err := a.authenticate(ctx, asked.Credentials)
	if err != nil {
		return Tokens{}, err
	}
	if !a.resources.accepts(asked.Resources) {
		return Tokens{}, invalid(ForeignResource)
	}
	hash, ok := registrar.HashSecret(registrar.CodeSecret, asked.Code)
	if !ok {
		return Tokens{}, invalid(BadCode)
	}
	code, known, err := a.store.Code(ctx, hash)
	if err != nil {
		return Tokens{}, err
	}
	if !known || code.ClientID != client.ID {
		// A stranger who has seen a code can't harm its owner with it.
		return Tokens{}, invalid(BadCode)
	}
	now := a.now()
	grant := registrar.NewID("grant_", now)
	actor := registrar.Actor{Kind: registrar.ActorApplication, Customer: code.Customer, Through: grant, Address: asked.Address}
	replay := registrar.Deed{Actor: actor, Action: AppReplayed, Customer: code.Customer, At: now}
	wrong := !rightVerifier(asked.Verifier, code.Challenge) || asked.RedirectURI != "" && asked.RedirectURI != code.RedirectURI
	if wrong || code.Used || code.Disabled || code.Resource != a.resources.canonical || !now.Before(code.ExpiresAt) {
		if err := a.store.Burn(ctx, hash, replay); err != nil {
			return Tokens{}, err
		}
		return Tokens{}, invalid(BadCode)
	}
	tokens, pair := newTokens(code.Scope, now)
	connected := registrar.Deed{Actor: actor, Action: AppConnected, Customer: code.Customer, At: now}
	connected.Object = AppLabel(code.ClientName, code.RedirectURI)
	redeemed, err := a.store.Redeem(ctx, hash, Family{
		GrantID: grant, Customer: code.Customer, ClientID: client.ID, ClientName: code.ClientName,
		RedirectURI: code.RedirectURI, Scope: code.Scope, Resource: code.Resource, At: now,
	}, pair, connected, replay)
	if err != nil {
		return Tokens{}, err
	}
	if !redeemed {
		return Tokens{}, invalid(BadCode)
	}
	return tokens, nil
}

const minVerifier, maxVerifier = 43, 128

// rightVerifier is RFC 7636, 4.6, for S256, which is the only method here.
func rightVerifier(verifier, challenge string) bool {
	if len(verifier) < minVerifier || len(verifier) > maxVerifier {
		return false
	}
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}

func newTokens(scope string, now time.Time) (Tokens, Pair) {
	tokens := Tokens{Scope: scope, ExpiresIn: AccessLife}
	pair := Pair{Scope: scope, AccessExpiresAt: now.Add(AccessLife), RefreshExpireAt: now.Add(RefreshLife)}
	tokens.Access, pair.Access = registrar.NewSecret(registrar.AccessToken)
	tokens.Refresh, pair.Refresh = registrar.NewSecret(registrar.RefreshToken)
	return tokens, pair
}
