package access

import (
	"context"
	"net/netip"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Token is a personal access token as its owner sees it in a list.
type Token struct {
	ID       string
	Customer string
	Name     string
	// LastUsedAt is zero for a token that was never used, RevokedAt for one
	// that is active.
	CreatedAt, LastUsedAt, RevokedAt time.Time
}

// Grant is what a bearer token opens.
type Grant struct {
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
func (g Grant) Actor(address netip.Addr) registrar.Actor {
	return registrar.Actor{Kind: g.Kind, Customer: g.Customer, Through: g.TokenID, Address: address}
}

// Bearing is what the store knows about a token and the account behind it.
type Bearing struct {
	TokenID, Customer string
	Revoked           bool
	// Disabled and Confirmed are those of the account.
	Disabled, Confirmed bool
}

// Use says when a token was last used.
type Use struct {
	TokenID string
	At      time.Time
}

// Store keeps tokens. Its methods are each one transaction, in which the deed
// and the letter are stored as well.
type Store interface {
	// CreateToken stores a token unless the account has limit active ones
	// (TooManyTokens) or is missing or disabled (KindNotFound).
	CreateToken(ctx context.Context, token Token, hash registrar.SecretHash, limit int, deed registrar.Deed, letter registrar.Letter) error
	// ActiveTokens are the account's active ones, the newest first.
	ActiveTokens(ctx context.Context, customer string) ([]Token, error)
	// LatestTokens are the account's newest ones, revoked or not.
	LatestTokens(ctx context.Context, customer string, limit int) ([]Token, error)
	// Token returns one by its id, or KindNotFound.
	Token(ctx context.Context, id string) (Token, error)
	// RevokeToken revokes the account's token at the time of the deed. If it is
	// revoked already, nothing happens; if the account has no such token, it
	// returns KindNotFound.
	RevokeToken(ctx context.Context, customer, id string, deed registrar.Deed) error
	// Bearing returns what is known about the token with this hash; false if
	// there is none.
	Bearing(ctx context.Context, hash registrar.SecretHash) (Bearing, bool, error)
	// TokensUsed notes when tokens were last used. A later time that is stored
	// already stays.
	TokensUsed(ctx context.Context, uses []Use) error
}
