package store

import (
	"context"
	"math"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// GetBrake returns the safety brake; false if nothing has run yet.
func (db *DB) GetBrake(ctx context.Context) (lifecycle.BrakeStatus, bool, error) {
	return rowAs(func(row query.Brake) lifecycle.BrakeStatus {
		return lifecycle.BrakeStatus{
			StartedAt: fromMicros(row.StartedAt), LastRun: fromMicros(row.LastRunAt), Day: row.Day, Actions: int(row.Actions), Allowed: int(row.Allowed),
			StoppedAt: fromMicros(row.StoppedAt), Reason: lifecycle.StopReason(row.Reason),
			ConfirmedBy: row.ConfirmedBy, ConfirmedAt: fromMicros(row.ConfirmedAt),
		}
	})(db.read().GetBrake(ctx))
}

// StartBrake stores the first run, unless there was one.
func (db *DB) StartBrake(ctx context.Context, now time.Time) error {
	return db.single().InsertBrake(ctx, micros(now))
}

// SetBrakeRun stores a run, or stops the brake by the clock rule.
func (db *DB) SetBrakeRun(ctx context.Context, lastRun, now time.Time, stop bool) (bool, error) {
	if stop {
		return changed(db.single().StopBrakeByClock(ctx, micros(now), micros(lastRun)))
	}
	return changed(db.single().SetBrakeRun(ctx, micros(now), micros(lastRun)))
}

// StopBrakeByVolume engages the brake, unless it is engaged.
func (db *DB) StopBrakeByVolume(ctx context.Context, now time.Time) (bool, error) {
	return changed(db.single().StopBrakeByVolume(ctx, micros(now)))
}

// ConfirmBrake releases the brake and allows as many actions as were planned.
func (db *DB) ConfirmBrake(ctx context.Context, stoppedAt, now time.Time, planned int, event registrar.AuditEvent) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		if err := swapped(q.ConfirmBrake(ctx, query.ConfirmBrakeParams{
			ConfirmedBy: event.Actor.Through, ConfirmedAt: micros(event.At), Day: lifecycle.DayOf(now), Planned: int64(planned), WasStopped: micros(stoppedAt),
		})); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

// CountHeldDomains counts the domains of all customers.
func (db *DB) CountHeldDomains(ctx context.Context) (int, error) {
	held, err := db.read().CountHeldDomains(ctx, math.MaxInt32)
	return int(held), err
}
