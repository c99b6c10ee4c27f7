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

// BeginRun takes a key that is free.
func (db *DB) BeginRun(ctx context.Context, a idempotency.Attempt) (idempotency.Standing, error) {
	var standing idempotency.Standing
	err := db.write(ctx, func(q *query.Queries) error {
		standing = idempotency.Standing{Began: true}
		fresh, err := q.InsertRun(ctx, query.InsertRunParams{
			Scope: a.Scope, Key: a.Key, BodyHash: a.Body, Run: a.Run, Node: db.node, LeaseEnds: micros(a.LeaseEnds), EndsAt: micros(a.EndsAt),
		})
		if err != nil || fresh == 1 {
			return err
		}
		row, err := q.RunOfKey(ctx, query.RunOfKeyParams{Scope: a.Scope, Key: a.Key})
		if errors.Is(err, sql.ErrNoRows) { // it was given back this very moment, on PostgreSQL
			standing = idempotency.Standing{Body: a.Body}
			return nil
		}
		if err != nil {
			return err
		}
		over := row.EndsAt <= micros(a.Now)
		left := row.Status == 0 && row.LeaseEnds <= micros(a.Now) && row.BodyHash == a.Body
		if over || left {
			taken, err := q.TakeRunOver(ctx, query.TakeRunOverParams{
				BodyHash: a.Body, Run: a.Run, Node: db.node, LeaseEnds: micros(a.LeaseEnds), EndsAt: micros(a.EndsAt),
				Scope: a.Scope, Key: a.Key, Former: row.Run,
			})
			if err != nil || taken == 1 {
				standing.Resumed = left && !over
				return err
			}
			row.Status, row.BodyHash = 0, a.Body // another was faster with it, and runs
		}
		standing, err = standingOf(row)
		return err
	})
	return standing, err
}

func standingOf(row query.Idempotency) (idempotency.Standing, error) {
	standing := idempotency.Standing{Body: row.BodyHash}
	if row.Status == 0 {
		return standing, nil
	}
	answer := idempotency.Sealed{Status: int(row.Status), Text: row.Answer}
	if err := json.Unmarshal([]byte(row.Headers), &answer.Header); err != nil {
		return standing, fmt.Errorf("the headers of a stored answer: %w", err)
	}
	standing.Answer = &answer
	return standing, nil
}

// FinishRun stores an answer.
func (db *DB) FinishRun(ctx context.Context, scope, key, run string, answer idempotency.Sealed) (bool, error) {
	headers, err := json.Marshal(answer.Header)
	if err != nil {
		return false, err
	}
	stored := false
	err = db.write(ctx, func(q *query.Queries) (err error) {
		stored, err = changed(q.FinishRun(ctx, query.FinishRunParams{
			Scope: scope, Key: key, Run: run, Status: int64(answer.Status), Headers: string(headers), Answer: answer.Text,
		}))
		return err
	})
	return stored && err == nil, err
}

// DropRun frees a key that runs.
func (db *DB) DropRun(ctx context.Context, scope, key, run string) error {
	return db.write(ctx, func(q *query.Queries) error {
		return q.DropRun(ctx, query.DropRunParams{Scope: scope, Key: key, Run: run})
	})
}

// ForgetRuns removes some whose time is over.
func (db *DB) ForgetRuns(ctx context.Context, now time.Time, limit int) (int, error) {
	removed := 0
	err := db.write(ctx, func(q *query.Queries) error {
		old, err := q.OldRuns(ctx, query.OldRunsParams{EndsAt: micros(now), Limit: int32(limit)})
		if err != nil {
			return err
		}
		for _, one := range old {
			if err := q.DeleteRun(ctx, query.DeleteRunParams{Scope: one.Scope, Key: one.Key, EndsAt: micros(now)}); err != nil {
				return err
			}
		}
		removed = len(old)
		return nil
	})
	return removed, err
}
