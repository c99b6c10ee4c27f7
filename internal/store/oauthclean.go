package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// Clean removes at most limit rows of each kind. Each kind is a transaction of
// its own, so that nobody waits for all of them. Connections go before clients,
// which a row of grants keeps in place.
func (db *DB) Clean(ctx context.Context, due access.Due, limit int) (int, error) {
	n := int32(limit)
	removed := 0
	for _, step := range []struct {
		before time.Time
		remove func(*query.Queries, int64) (int64, error)
	}{
		{due.Tokens, func(q *query.Queries, before int64) (int64, error) {
			return q.DeleteExpiredAccessTokens(ctx, query.DeleteExpiredAccessTokensParams{ExpiresAt: before, Limit: n})
		}},
		{due.Tokens, func(q *query.Queries, before int64) (int64, error) {
			return q.DeleteExpiredRefreshTokens(ctx, query.DeleteExpiredRefreshTokensParams{ExpiresAt: before, Limit: n})
		}},
		{due.Codes, func(q *query.Queries, before int64) (int64, error) {
			return q.DeleteExpiredCodes(ctx, query.DeleteExpiredCodesParams{ExpiresAt: before, Limit: n})
		}},
		{due.Consents, func(q *query.Queries, before int64) (int64, error) {
			return q.DeleteExpiredConsents(ctx, query.DeleteExpiredConsentsParams{ExpiresAt: before, Limit: n})
		}},
		{due.Grants, func(q *query.Queries, before int64) (int64, error) {
			return q.DeleteEndedGrants(ctx, query.DeleteEndedGrantsParams{ExpiresAt: before, Limit: n})
		}},
		{due.Clients, func(q *query.Queries, before int64) (int64, error) {
			return q.DeleteUnusedClients(ctx, query.DeleteUnusedClientsParams{LastUsedAt: before, Limit: n})
		}},
	} {
		err := db.write(ctx, func(q *query.Queries) error {
			gone, err := step.remove(q, micros(step.before))
			removed += int(gone)
			return err
		})
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}
