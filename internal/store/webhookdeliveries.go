package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/webhook"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ webhook.Store = (*DB)(nil)

// ListDueDeliveries returns due webhook deliveries, the longest overdue first.
func (db *DB) ListDueDeliveries(ctx context.Context, now time.Time, limit int) ([]webhook.Delivery, error) {
	return rowsAs(deliveryOf)(db.read().ListDueWebhookDeliveries(ctx, micros(now), int32(limit)))
}

func deliveryOf(row query.WebhookDelivery) webhook.Delivery {
	return webhook.Delivery{
		Order: row.OrderID, Agent: row.AgentID, EventCount: row.EventCount, DeliveredCount: row.DeliveredCount,
		PendingSince: fromMicros(row.PendingSince), DueAt: fromMicros(row.DueAt), Attempts: int(row.Attempts),
	}
}

func claimedDeliveryOf(row query.ClaimWebhookDeliveryRow) webhook.Delivery {
	delivery := deliveryOf(query.WebhookDelivery{
		OrderID: row.OrderID, AgentID: row.AgentID, EventCount: row.EventCount, DeliveredCount: row.DeliveredCount,
		PendingSince: row.PendingSince, DueAt: row.DueAt, Attempts: row.Attempts,
	})
	delivery.Target = agent.SealedWebhook{URL: row.WebhookUrl, Version: row.WebhookVersion, Sealed: row.WebhookSealed}
	return delivery
}

// ClaimDelivery leases a delivery. It returns false if another node has claimed it.
func (db *DB) ClaimDelivery(ctx context.Context, orderID string, wasDue, lease time.Time) (claimed webhook.Delivery, mine bool, err error) {
	err = db.sql.WriteOne(ctx, func(tx sqldb.DBTX) (err error) {
		claimed, mine, err = rowAs(claimedDeliveryOf)(query.New(tx).ClaimWebhookDelivery(ctx, query.ClaimWebhookDeliveryParams{
			OrderID: orderID, WasDue: micros(wasDue), Lease: micros(lease), Node: db.node,
		}))
		return err
	})
	return claimed, mine && err == nil, err
}

// CompleteDelivery ends a claim, unless its lease has ended. Events since the claim stay due.
func (db *DB) CompleteDelivery(ctx context.Context, orderID string, lease time.Time, eventCount, deliveredCount int64, now time.Time) error {
	return db.single().CompleteWebhookDelivery(ctx, query.CompleteWebhookDeliveryParams{
		OrderID: orderID, Lease: micros(lease), EventCount: eventCount, DeliveredCount: deliveredCount, Now: micros(now),
	})
}

// PostponeDelivery ends a claim and reschedules the delivery.
func (db *DB) PostponeDelivery(ctx context.Context, orderID string, lease, due time.Time, attempts int) error {
	return db.single().PostponeWebhookDelivery(ctx, query.PostponeWebhookDeliveryParams{
		OrderID: orderID, Lease: micros(lease), Due: micros(due), Attempts: int64(attempts),
	})
}
