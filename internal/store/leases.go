package store

import (
	"context"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/store/query"
)

// ReleasedLeases counts released leases by kind.
type ReleasedLeases struct {
	Orders, ProvisionItems, DomainChanges, Mails, WebhookDeliveries, IdempotencyKeys int64
}

// ClaimNode makes this process the node of that name: its leases carry the name, and
// those that an earlier process of the name still holds are released. It is called
// once, before anything is claimed, and by the one process that has the name.
//
// Every kind of lease has an entry here. Invoices, expiry notices and registry syncs have
// no lease: a transaction claims them, or a compare-and-swap after the work.
func (db *DB) ClaimNode(ctx context.Context, name string, now time.Time) (ReleasedLeases, error) {
	db.node = name
	var released ReleasedLeases
	at := micros(now)
	// Each has a transaction of its own, so that no rows are locked while it waits for
	// another table.
	for _, one := range []struct {
		what string
		to   *int64
		free func(*query.Queries) (int64, error)
	}{
		{"orders", &released.Orders, func(q *query.Queries) (int64, error) {
			return q.ReleaseOrders(ctx, at, name)
		}},
		{"provision items", &released.ProvisionItems, func(q *query.Queries) (int64, error) {
			return q.ReleaseProvisionItems(ctx, at, name)
		}},
		{"domain changes", &released.DomainChanges, func(q *query.Queries) (int64, error) {
			return q.ReleaseDomainChanges(ctx, at, name)
		}},
		{"mails", &released.Mails, func(q *query.Queries) (int64, error) {
			return q.ReleaseMails(ctx, at, name)
		}},
		{"webhook deliveries", &released.WebhookDeliveries, func(q *query.Queries) (int64, error) {
			return q.ReleaseWebhookDeliveries(ctx, at, name)
		}},
		{"idempotency keys", &released.IdempotencyKeys, func(q *query.Queries) (int64, error) { return q.ReleaseIdempotencyKeys(ctx, name) }},
	} {
		err := db.write(ctx, func(q *query.Queries) (err error) {
			*one.to, err = one.free(q)
			return err
		})
		if err != nil {
			return released, fmt.Errorf("store: release leases on %s: %w", one.what, err)
		}
	}
	return released, nil
}
