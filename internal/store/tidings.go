package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/tidings"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ tidings.Store = (*DB)(nil)

// tellMove notes that an agent has something to hear, if it can see a difference.
// Before the payment there is a session and no order, so nothing is told.
func tellMove(ctx context.Context, q *query.Queries, was, now order.Order, at time.Time) error {
	if now.Agent == "" && now.Completer == "" || now.State.Open() || now.State == order.Canceled || now.State == order.Expired {
		return nil
	}
	sameState := func(a, b order.Item) bool { return a.ID == b.ID && a.State == b.State }
	sameRefund := func(a, b order.Refund) bool { return a.ID == b.ID && a.Provider == b.Provider }
	if was.State == now.State && slices.EqualFunc(was.Items, now.Items, sameState) && slices.EqualFunc(was.Refunds, now.Refunds, sameRefund) {
		return nil
	}
	return q.TellAgent(ctx, query.TellAgentParams{OrderID: now.ID, Now: micros(at)})
}

// DueTidings returns what agents have to hear, the longest overdue first.
func (db *DB) DueTidings(ctx context.Context, now time.Time, limit int) ([]tidings.Tiding, error) {
	rows, err := db.read().DueTidings(ctx, query.DueTidingsParams{DueAt: micros(now), Limit: int32(limit)})
	if err != nil {
		return nil, fmt.Errorf("due messages to agents: %w", err)
	}
	due := make([]tidings.Tiding, 0, len(rows))
	for _, row := range rows {
		due = append(due, tidingOf(row))
	}
	return due, nil
}

func tidingOf(row query.AgentEvent) tidings.Tiding {
	return tidings.Tiding{
		Order: row.OrderID, Agent: row.AgentID, Changes: row.Changes, Told: row.Told,
		Since: fromMicros(row.Since), DueAt: fromMicros(row.DueAt), Attempts: int(row.Attempts),
	}
}

// ClaimTiding takes one until the lease ends. It is false if another node was faster.
func (db *DB) ClaimTiding(ctx context.Context, orderID string, wasDue, lease time.Time) (claimed tidings.Tiding, mine bool, err error) {
	err = db.write(ctx, func(q *query.Queries) error {
		row, err := q.ClaimTiding(ctx, query.ClaimTidingParams{OrderID: orderID, WasDue: micros(wasDue), Lease: micros(lease), Node: db.node})
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		claimed, mine = tidingOf(row), err == nil
		return err
	})
	return claimed, mine && err == nil, err
}

// SettleTiding ends a claim, unless its lease ran out. What happened meanwhile is due.
func (db *DB) SettleTiding(ctx context.Context, orderID string, lease time.Time, seen, told int64, now time.Time) error {
	return db.write(ctx, func(q *query.Queries) error {
		return q.SettleTiding(ctx, query.SettleTidingParams{OrderID: orderID, Lease: micros(lease), Seen: seen, Told: told, Now: micros(now)})
	})
}

// PostponeTiding ends a claim and gives it another time.
func (db *DB) PostponeTiding(ctx context.Context, orderID string, lease, due time.Time, attempts int) error {
	return db.write(ctx, func(q *query.Queries) error {
		return q.PostponeTiding(ctx, query.PostponeTidingParams{OrderID: orderID, Lease: micros(lease), Due: micros(due), Attempts: int64(attempts)})
	})
}
