package oauth

import (
	"context"
	"net/netip"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// PersonalAccessToken is a personal access token as its owner sees it in a list.
type PersonalAccessToken struct {
	ID       string
	Customer string
	Name     string
	// LastUsedAt is zero for a token that was never used, RevokedAt for one
	// that is active.
	CreatedAt, LastUsedAt, RevokedAt time.Time
}

// TokenInfo is what a bearer token opens.
type TokenInfo struct {
	// Customer is the account for which its bearer acts.
	Customer string
	// TokenID is the token's id, by which limits count and the audit tells.
	TokenID string
	// Kind is the role of whoever bears it.
	Kind registrar.ActorKind
	// MayWrite says that all tools are open; without it, only those that
	// everybody may use.
	MayWrite bool
}

// Actor is the bearer as domain services want to know it.
func (g TokenInfo) Actor(address netip.Addr) registrar.Actor {
	return registrar.Actor{Kind: g.Kind, Customer: g.Customer, Through: g.TokenID, Address: address}
}

// TokenState is what the store knows about a token and the account behind it.
type TokenState struct {
	TokenID, Customer string
	Revoked           bool
	// Disabled and Confirmed are those of the account.
	Disabled, Confirmed bool
}

// TokenUse says when a token was last used.
type TokenUse struct {
	TokenID string
	At      time.Time
}

// Store keeps tokens. Its methods are each one transaction, in which the deed
// and the letter are stored as well.
type Store interface {
	// CreatePersonalAccessToken stores a token unless the account has limit active ones
	// (TooManyTokens) or is missing or disabled (KindNotFound).
	CreatePersonalAccessToken(ctx context.Context, token PersonalAccessToken, hash registrar.SecretHash, limit int, deed registrar.AuditEvent, letter registrar.Mail) error
	// ListActivePersonalAccessTokens are the account's active ones, the newest first.
	ListActivePersonalAccessTokens(ctx context.Context, customer string) ([]PersonalAccessToken, error)
	// ListPersonalAccessTokens are the account's newest ones, revoked or not.
	ListPersonalAccessTokens(ctx context.Context, customer string, limit int) ([]PersonalAccessToken, error)
	// GetPersonalAccessToken returns one by its id, or KindNotFound.
	GetPersonalAccessToken(ctx context.Context, id string) (PersonalAccessToken, error)
	// RevokePersonalAccessToken revokes the account's token at the time of the deed. If it is
	// revoked already, nothing happens; if the account has no such token, it
	// returns KindNotFound.
	RevokePersonalAccessToken(ctx context.Context, customer, id string, deed registrar.AuditEvent) error
	// GetTokenState returns what is known about the token with this hash; false if
	// there is none.
	GetTokenState(ctx context.Context, hash registrar.SecretHash) (TokenState, bool, error)
	// RecordTokenUses notes when tokens were last used. A later time that is stored
	// already stays.
	RecordTokenUses(ctx context.Context, uses []TokenUse) error
}
