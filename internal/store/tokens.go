package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ access.Store = (*DB)(nil)

// CreateToken stores a token with its deed and letter.
func (db *DB) CreateToken(
	ctx context.Context, token access.Token, hash registrar.SecretHash, limit int, deed registrar.Deed, letter registrar.Letter,
) error {
	return db.write(ctx, func(q *query.Queries) error {
		counted, err := q.CountTokenIn(ctx, query.CountTokenInParams{ID: token.Customer, TokenCount: int64(limit)})
		if err != nil {
			return err
		}
		if counted == 0 {
			return whyNotCounted(ctx, q, token.Customer)
		}
		if err := q.InsertToken(ctx, query.InsertTokenParams{
			ID: token.ID, CustomerID: token.Customer, Name: token.Name, Hash: string(hash), CreatedAt: micros(token.CreatedAt),
		}); err != nil {
			return err
		}
		if err := recordDeed(ctx, q, deed); err != nil {
			return err
		}
		return recordLetter(ctx, q, letter, token.CreatedAt)
	})
}

func whyNotCounted(ctx context.Context, q *query.Queries, customer string) error {
	account, err := q.TokenCount(ctx, customer)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return &registrar.Error{Kind: registrar.KindNotFound}
	case err != nil:
		return err
	case account.DisabledAt != 0:
		return &registrar.Error{Kind: registrar.KindNotFound}
	default:
		return &registrar.Error{Kind: registrar.KindConflict, Code: access.TooManyTokens}
	}
}

// ActiveTokens returns the account's active tokens, the newest first.
func (db *DB) ActiveTokens(ctx context.Context, customer string) ([]access.Token, error) {
	rows, err := db.read().ActiveTokensOfCustomer(ctx, customer)
	return tokensOf(rows), err
}

// LatestTokens returns the account's newest tokens, revoked or not.
func (db *DB) LatestTokens(ctx context.Context, customer string, limit int) ([]access.Token, error) {
	rows, err := db.read().LatestTokensOfCustomer(ctx, query.LatestTokensOfCustomerParams{CustomerID: customer, Limit: int32(limit)})
	return tokensOf(rows), err
}

// Token returns a token by its id.
func (db *DB) Token(ctx context.Context, id string) (access.Token, error) {
	if neverStored(id) {
		return access.Token{}, noSuchToken()
	}
	row, err := db.read().TokenByID(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		return access.Token{}, noSuchToken()
	}
	return tokenOf(row), err
}

// RevokeToken revokes a token of the account.
func (db *DB) RevokeToken(ctx context.Context, customer, id string, deed registrar.Deed) error {
	if neverStored(id) {
		return noSuchToken()
	}
	return db.write(ctx, func(q *query.Queries) error {
		revoked, err := q.RevokeToken(ctx, query.RevokeTokenParams{ID: id, CustomerID: customer, RevokedAt: micros(deed.At)})
		if err != nil {
			return err
		}
		if revoked == 0 {
			row, err := q.TokenByID(ctx, id)
			if errors.Is(err, sql.ErrNoRows) || err == nil && row.CustomerID != customer {
				return noSuchToken()
			}
			return err // revoked already
		}
		if _, err := q.CountTokenOut(ctx, customer); err != nil {
			return err
		}
		return recordDeed(ctx, q, deed)
	})
}

// Bearing returns what is known about the token with this hash.
func (db *DB) Bearing(ctx context.Context, hash registrar.SecretHash) (access.Bearing, bool, error) {
	row, err := db.read().BearingOfToken(ctx, string(hash))
	if errors.Is(err, sql.ErrNoRows) {
		return access.Bearing{}, false, nil
	}
	if err != nil {
		return access.Bearing{}, false, err
	}
	return access.Bearing{
		TokenID: row.ID, Customer: row.CustomerID, Revoked: row.RevokedAt != 0,
		Disabled: row.DisabledAt != 0, Confirmed: row.ConfirmedAt != 0,
	}, true, nil
}

// TokensUsed notes when tokens were last used. All nodes go through tokens in
// the same order, so that none waits for another in a circle.
func (db *DB) TokensUsed(ctx context.Context, uses []access.Use) error {
	sorted := slices.SortedFunc(slices.Values(uses), func(a, b access.Use) int { return strings.Compare(a.TokenID, b.TokenID) })
	return db.write(ctx, func(q *query.Queries) error {
		for _, use := range sorted {
			if err := q.TokenUsed(ctx, query.TokenUsedParams{ID: use.TokenID, LastUsedAt: micros(use.At)}); err != nil {
				return err
			}
		}
		return nil
	})
}

func noSuchToken() error {
	return &registrar.Error{Kind: registrar.KindNotFound, Code: access.NoSuchToken}
}

func tokensOf(rows []query.Token) []access.Token {
	tokens := make([]access.Token, 0, len(rows))
	for _, row := range rows {
		tokens = append(tokens, tokenOf(row))
	}
	return tokens
}

func tokenOf(row query.Token) access.Token {
	return access.Token{
		ID: row.ID, Customer: row.CustomerID, Name: row.Name, CreatedAt: fromMicros(row.CreatedAt),
		LastUsedAt: fromMicros(row.LastUsedAt), RevokedAt: fromMicros(row.RevokedAt),
	}
}
