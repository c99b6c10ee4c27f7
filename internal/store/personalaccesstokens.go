package store

import (
	"cmp"
	"context"
	"slices"

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
		counted, err := countToken(ctx, q, token, limit, event)
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
// Expired ones are revoked to make room, each with an event like the given one.
func countToken(ctx context.Context, q *query.Queries, token oauth.PersonalAccessToken, limit int, event registrar.AuditEvent) (int64, error) {
	if err := q.LockCustomer(ctx, token.Customer); err != nil {
		return 0, err
	}
	counted, err := q.IncrementTokenCount(ctx, token.Customer, int64(limit))
	if err != nil || counted > 0 {
		return counted, err
	}
	ended, err := revokeTokens(ctx, q, token.Customer, event, func(old oauth.PersonalAccessToken) bool { return old.Expired(event.At) })
	if err != nil || ended == 0 {
		return 0, err
	}
	return q.IncrementTokenCount(ctx, token.Customer, int64(limit))
}

// revokeTokens revokes the tokens of an account that match, each with an event, and returns
// their number. The caller has locked the customer's row. Tokens are locked in the order of
// recordUses.
func revokeTokens(ctx context.Context, q *query.Queries, customer string, event registrar.AuditEvent, match func(oauth.PersonalAccessToken) bool) (count int, err error) {
	tokens, err := rowsAs(tokenOf)(q.ListActivePersonalAccessTokens(ctx, customer))
	if err != nil {
		return 0, err
	}
	for _, token := range slices.Backward(tokens) {
		if !match(token) {
			continue
		}
		if err := swapped(q.RevokePersonalAccessToken(ctx, query.RevokePersonalAccessTokenParams{ID: token.ID, CustomerID: customer, RevokedAt: micros(event.At)})); err != nil {
			return 0, err
		}
		event.Action, event.Object = oauth.TokenRevoked, token.ID
		if err := insertAuditEvent(ctx, q, event); err != nil {
			return 0, err
		}
		count++
	}
	return count, q.DecrementTokenCount(ctx, int64(count), customer)
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

// RevokePersonalAccessToken revokes a token of the account. The customer's row is locked
// before the token's, as by RevokeDelegates.
func (db *DB) RevokePersonalAccessToken(ctx context.Context, customer, id string, event registrar.AuditEvent) error {
	if sqldb.IsUnstorable(id) {
		return noSuchToken()
	}
	return db.write(ctx, func(q *query.Queries) error {
		if err := q.LockCustomer(ctx, customer); err != nil {
			return err
		}
		revoked, err := changed(rowsOf(q.RevokePersonalAccessToken(ctx, query.RevokePersonalAccessTokenParams{ID: id, CustomerID: customer, RevokedAt: micros(event.At)})))
		if err != nil {
			return err
		}
		if !revoked {
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
