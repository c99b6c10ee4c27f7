package oauth

import (
	"context"
	"net/netip"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// PersonalAccessToken is a token as its owner sees it in a list.
type PersonalAccessToken struct {
	ID       string
	Customer string
	Name     string
	// LastUsedAt is zero for an unused token, RevokedAt for an active one.
	CreatedAt, LastUsedAt, RevokedAt time.Time
}

// TokenInfo is what a bearer token grants.
type TokenInfo struct {
	// Customer is the account that the bearer acts for.
	Customer string
	// TokenID identifies the token in rate limits and the audit log.
	TokenID string
	// Kind is the role of the bearer.
	Kind registrar.ActorKind
	// MayWrite grants all tools; without it, only those open to everyone.
	MayWrite bool
}

// Actor returns the bearer as an actor.
func (g TokenInfo) Actor(address netip.Addr) registrar.Actor {
	return registrar.Actor{Kind: g.Kind, Customer: g.Customer, Through: g.TokenID, Address: address}
}

// TokenState is the stored state of a token and its account.
type TokenState struct {
	TokenID, Customer string
	Revoked           bool
	// Disabled and Confirmed are those of the account.
	Disabled, Confirmed bool
}

// TokenUse is the last use of a token.
type TokenUse struct {
	TokenID string
	At      time.Time
}

// Store stores tokens. Each method is one transaction that includes its audit event and
// mail.
type Store interface {
	// CreatePersonalAccessToken stores a token unless the account has limit active ones
	// (TooManyTokens) or is missing or disabled (KindNotFound).
	CreatePersonalAccessToken(ctx context.Context, token PersonalAccessToken, hash registrar.SecretHash, limit int, event registrar.AuditEvent, mail registrar.Mail) error
	// ListActivePersonalAccessTokens returns the account's active tokens, newest first.
	ListActivePersonalAccessTokens(ctx context.Context, customer string) ([]PersonalAccessToken, error)
	// ListPersonalAccessTokens returns the account's newest tokens, revoked or not.
	ListPersonalAccessTokens(ctx context.Context, customer string, limit int) ([]PersonalAccessToken, error)
	// GetPersonalAccessToken returns one by its id, or KindNotFound.
	GetPersonalAccessToken(ctx context.Context, id string) (PersonalAccessToken, error)
	// RevokePersonalAccessToken revokes the account's token at the time of the event.
	// It does nothing if the token is already revoked and returns KindNotFound if the
	// account has no such token.
	RevokePersonalAccessToken(ctx context.Context, customer, id string, event registrar.AuditEvent) error
	// GetTokenState returns the state of the token with this hash; false if there is
	// none.
	GetTokenState(ctx context.Context, hash registrar.SecretHash) (TokenState, bool, error)
	// RecordTokenUses stores last uses. A later stored time is left unchanged.
	RecordTokenUses(ctx context.Context, uses []TokenUse) error
}
