package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// connectedClientRecheck is the time until a connected client is checked again, so that
// not every cleanup reads all of them.
const connectedClientRecheck = 24 * time.Hour

// DeleteExpiredOAuth deletes at most limit rows of each kind, each kind in a transaction of
// its own to keep locks short. Grants are deleted before the clients that they reference.
func (db *DB) DeleteExpiredOAuth(ctx context.Context, due oauth.ExpiryCutoffs, limit int) (int, error) {
	n := int32(limit)
	done := 0
	for _, step := range []struct {
		before time.Time
		remove func(*query.Queries, int64) (int64, error)
	}{
		{due.Tokens, func(q *query.Queries, before int64) (int64, error) {
			return q.DeleteExpiredAccessTokens(ctx, before, n)
		}},
		{due.Tokens, func(q *query.Queries, before int64) (int64, error) {
			return q.DeleteExpiredRefreshTokens(ctx, before, n)
		}},
		{due.Codes, func(q *query.Queries, before int64) (int64, error) {
			return q.DeleteExpiredAuthorizationCodes(ctx, before, n)
		}},
		{due.Consents, func(q *query.Queries, before int64) (int64, error) {
			return q.DeleteExpiredConsents(ctx, before, n)
		}},
		{due.Grants, func(q *query.Queries, before int64) (int64, error) {
			return q.DeleteEndedGrants(ctx, before, n)
		}},
		{due.Clients, func(q *query.Queries, before int64) (int64, error) {
			touched, err := q.TouchConnectedClients(ctx, query.TouchConnectedClientsParams{
				Before: before, MaxRows: n, LastUsedAt: before + connectedClientRecheck.Microseconds(),
			})
			if err != nil {
				return 0, err
			}
			deleted, err := q.DeleteUnusedClients(ctx, before, n)
			return touched + deleted, err
		}},
	} {
		err := db.write(ctx, func(q *query.Queries) error {
			rows, err := step.remove(q, micros(step.before))
			done += int(rows)
			return err
		})
		if err != nil {
			return done, err
		}
	}
	return done, nil
}
