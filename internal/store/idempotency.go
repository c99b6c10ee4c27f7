package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/idempotency"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ idempotency.Store = (*DB)(nil)

// BeginRun claims a free key.
func (db *DB) BeginRun(ctx context.Context, a idempotency.Attempt) (idempotency.KeyState, error) {
	state := idempotency.KeyState{Acquired: true}
	fresh, err := db.single().InsertIdempotencyKey(ctx, query.InsertIdempotencyKeyParams{
		Scope: a.Scope, Key: a.Key, BodyHash: a.Body, Run: a.Run, Node: db.node, LeaseEnds: micros(a.LeaseEnds), EndsAt: micros(a.ExpiresAt),
	})
	if err != nil || fresh == 1 {
		return state, err
	}
	err = db.write(ctx, func(q *query.Queries) error {
		row, err := q.GetIdempotencyKey(ctx, a.Scope, a.Key)
		if errors.Is(err, sql.ErrNoRows) { // released concurrently, on PostgreSQL
			state = idempotency.KeyState{Body: a.Body}
			return nil
		}
		if err != nil {
			return err
		}
		over := row.EndsAt <= micros(a.Now)
		left := row.Status == 0 && row.LeaseEnds <= micros(a.Now) && row.BodyHash == a.Body
		if over || left {
			taken, err := q.TakeOverIdempotencyKey(ctx, query.TakeOverIdempotencyKeyParams{
				BodyHash: a.Body, Run: a.Run, Node: db.node, LeaseEnds: micros(a.LeaseEnds), EndsAt: micros(a.ExpiresAt),
				Scope: a.Scope, Key: a.Key, PreviousRun: row.Run,
			})
			if err != nil || taken == 1 {
				state.Resumed = left && !over
				return err
			}
			row.Status, row.BodyHash = 0, a.Body // claimed concurrently, and in flight
		}
		state = idempotency.KeyState{Body: row.BodyHash}
		if row.Status == 0 {
			return nil
		}
		state.Response = &idempotency.SealedResponse{Status: int(row.Status), Text: row.ResponseSealed}
		if err := json.Unmarshal([]byte(row.Headers), &state.Response.Header); err != nil {
			return fmt.Errorf("store: decode headers of a stored response: %w", err)
		}
		return nil
	})
	return state, err
}

// FinishRun stores the response of a claimed key.
func (db *DB) FinishRun(ctx context.Context, scope, key, run string, answer idempotency.SealedResponse) (bool, error) {
	return changed(db.single().StoreIdempotencyResponse(ctx, query.StoreIdempotencyResponseParams{
		Scope: scope, Key: key, Run: run, Status: int64(answer.Status), Headers: jsonText(answer.Header), ResponseSealed: answer.Text,
	}))
}

// ReleaseRun releases a claimed key.
func (db *DB) ReleaseRun(ctx context.Context, scope, key, run string) error {
	return db.single().DeletePendingIdempotencyKey(ctx, query.DeletePendingIdempotencyKeyParams{Scope: scope, Key: key, Run: run})
}

// DeleteExpiredRuns deletes a batch of expired keys.
func (db *DB) DeleteExpiredRuns(ctx context.Context, now time.Time, limit int) (int, error) {
	deleted, err := db.single().DeleteExpiredIdempotencyKeys(ctx, micros(now), int32(limit))
	return int(deleted), err
}
