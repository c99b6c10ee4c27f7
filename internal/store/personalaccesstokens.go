package store

import (
	"cmp"
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ oauth.Store = (*DB)(nil)

// CreatePersonalAccessToken stores a token with its audit event and mail.
func (db *DB) CreatePersonalAccessToken(
	ctx context.Context, token oauth.PersonalAccessToken, hash registrar.SecretHash, limit int, event registrar.AuditEvent, mail registrar.Mail,
) error {
	return db.write(ctx, func(q *query.Queries) error {
		counted, err := countToken(ctx, q, token, limit)
		if err != nil {
			return err
		}
		if counted == 0 {
			account, ok, err := foundValue(q.GetTokenCount(ctx, token.Customer))
			if err == nil && ok && account.DisabledAt == 0 {
				return &registrar.Error{Kind: registrar.KindConflict, Code: oauth.TooManyTokens}
			}
			return cmp.Or(err, error(&registrar.Error{Kind: registrar.KindNotFound}))
		}
		if err := q.InsertPersonalAccessToken(ctx, query.InsertPersonalAccessTokenParams{
			ID: token.ID, CustomerID: token.Customer, Name: token.Name, Purpose: token.Purpose, Hash: string(hash),
			CreatedAt: micros(token.CreatedAt), ExpiresAt: micros(token.ExpiresAt),
		}); err != nil {
			return err
		}
		return recordEffects(ctx, q, &event, &mail, token.CreatedAt)
	})
}

// countToken counts a new token of an account; 0 if it has limit tokens, none of them expired.
func countToken(ctx context.Context, q *query.Queries, token oauth.PersonalAccessToken, limit int) (int64, error) {
	counted, err := q.IncrementTokenCount(ctx, token.Customer, int64(limit))
	if err != nil || counted > 0 {
		return counted, err
	}
	ended, err := q.RevokeExpiredPersonalAccessTokens(ctx, micros(token.CreatedAt), token.Customer)
	if err != nil || ended == 0 {
		return 0, err
	}
	if err := q.DecrementTokenCount(ctx, ended, token.Customer); err != nil {
		return 0, err
	}
	return q.IncrementTokenCount(ctx, token.Customer, int64(limit))
}

// ListActivePersonalAccessTokens returns the account's active tokens, the newest first.
func (db *DB) ListActivePersonalAccessTokens(ctx context.Context, customer string) ([]oauth.PersonalAccessToken, error) {
	return rowsAs(tokenOf)(db.read().ListActivePersonalAccessTokens(ctx, customer))
}

// ListPersonalAccessTokens returns the account's newest tokens, revoked or not.
func (db *DB) ListPersonalAccessTokens(ctx context.Context, customer string, limit int) ([]oauth.PersonalAccessToken, error) {
	return rowsAs(tokenOf)(db.read().ListLatestPersonalAccessTokens(ctx, customer, int32(limit)))
}

// GetPersonalAccessToken returns a token by its id.
func (db *DB) GetPersonalAccessToken(ctx context.Context, id string) (oauth.PersonalAccessToken, error) {
	token, ok, err := rowAs(tokenOf)(db.read().GetPersonalAccessToken(ctx, id))
	if err == nil && !ok {
		err = noSuchToken()
	}
	return token, err
}

// RevokePersonalAccessToken revokes a token of the account.
func (db *DB) RevokePersonalAccessToken(ctx context.Context, customer, id string, event registrar.AuditEvent) error {
	if sqldb.IsUnstorable(id) {
		return noSuchToken()
	}
	return db.write(ctx, func(q *query.Queries) error {
		revoked, err := q.RevokePersonalAccessToken(ctx, query.RevokePersonalAccessTokenParams{ID: id, CustomerID: customer, RevokedAt: micros(event.At)})
		if err != nil {
			return err
		}
		if revoked == 0 {
			row, _, err := foundValue(q.GetPersonalAccessToken(ctx, id))
			if err == nil && row.CustomerID != customer {
				return noSuchToken()
			}
			return err // already revoked
		}
		if err := q.DecrementTokenCount(ctx, 1, customer); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

// GetTokenState returns the state of the token with this hash.
func (db *DB) GetTokenState(ctx context.Context, hash registrar.SecretHash) (oauth.TokenState, bool, error) {
	return rowAs(func(row query.GetPersonalAccessTokenByHashRow) oauth.TokenState {
		return oauth.TokenState{
			TokenID: row.ID, Customer: row.CustomerID, Revoked: row.RevokedAt != 0, ExpiresAt: fromMicros(row.ExpiresAt),
			Disabled: row.DisabledAt != 0, Confirmed: row.ConfirmedAt != 0,
		}
	})(db.read().GetPersonalAccessTokenByHash(ctx, string(hash)))
}

// RecordTokenUses stores when tokens were last used.
func (db *DB) RecordTokenUses(ctx context.Context, uses []oauth.TokenUse) error {
	return db.recordUses(ctx, uses, (*query.Queries).TouchPersonalAccessToken)
}

func noSuchToken() error {
	return &registrar.Error{Kind: registrar.KindNotFound, Code: oauth.NoSuchToken}
}

func tokenOf(row query.PersonalAccessToken) oauth.PersonalAccessToken {
	return oauth.PersonalAccessToken{
		ID: row.ID, Customer: row.CustomerID, Name: row.Name, Purpose: row.Purpose, CreatedAt: fromMicros(row.CreatedAt),
		LastUsedAt: fromMicros(row.LastUsedAt), RevokedAt: fromMicros(row.RevokedAt), ExpiresAt: fromMicros(row.ExpiresAt),
	}
}
