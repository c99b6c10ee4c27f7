package store

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/webhook"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ webhook.Store = (*DB)(nil)

// ClaimDueDeliveries leases due webhook deliveries, the longest overdue first, and reads their
// orders. Deliveries that another node is claiming are skipped.
func (db *DB) ClaimDueDeliveries(ctx context.Context, now, lease time.Time, limit int) (claimed []webhook.Delivery, err error) {
	err = db.write(ctx, func(q *query.Queries) (err error) {
		claimed, err = rowsAs(deliveryOf)(q.ClaimDueWebhookDeliveries(ctx, query.ClaimDueWebhookDeliveriesParams{
			Now: micros(now), Lease: micros(lease), Node: db.node, MaxRows: int32(limit),
		}))
		if err != nil || len(claimed) == 0 {
			return err
		}
		orders, err := wholeOrders[query.ListOrdersOfDeliveriesRow](ctx, q)(q.ListOrdersOfDeliveries(ctx, micros(lease), db.node))
		for i, delivery := range claimed {
			if at := slices.IndexFunc(orders, func(o order.Order) bool { return o.ID == delivery.Order }); at >= 0 {
				claimed[i].Snapshot = &orders[at]
			}
		}
		return err
	})
	return claimed, err
}

func deliveryOf(row query.ClaimDueWebhookDeliveriesRow) webhook.Delivery {
	return webhook.Delivery{
		Order: row.OrderID, Agent: row.AgentID, EventCount: row.EventCount, DeliveredCount: row.DeliveredCount,
		PendingSince: fromMicros(row.PendingSince), DueAt: fromMicros(row.DueAt), Attempts: int(row.Attempts),
		Target: agent.SealedWebhook{URL: row.WebhookUrl, Version: row.WebhookVersion, Sealed: row.WebhookSealed},
	}
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
