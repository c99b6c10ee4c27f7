package store

import (
	"context"
	"iter"

	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

var _ reconcile.Database = (*DB)(nil)

// reconcilePageSize is the number of rows read at a time; the service keeps running while
// all rows are read.
const reconcilePageSize = 500

// pages reads all pages, ordered by id.
func pages[Row any](
	ctx context.Context, next func(ctx context.Context, after string, limit int) ([]Row, error), id func(Row) string,
) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for last := ""; ; {
			rows, err := next(ctx, last, reconcilePageSize)
			if err != nil {
				var none Row
				yield(none, err)
				return
			}
			for _, row := range rows {
				last = id(row)
				if !yield(row, nil) {
					return
				}
			}
			if len(rows) < reconcilePageSize {
				return
			}
		}
	}
}

// ReconciliationOrders returns all orders.
func (db *DB) ReconciliationOrders(ctx context.Context) iter.Seq2[order.Order, error] {
	return pages(ctx, db.ListOrdersAfter, func(o order.Order) string { return o.ID })
}

// ReconciliationItems returns all provision items.
func (db *DB) ReconciliationItems(ctx context.Context) iter.Seq2[provision.Item, error] {
	return pages(ctx, db.ListProvisionItemsAfter, func(l provision.Item) string { return l.ID })
}

// ReconciliationDomains returns all domains.
func (db *DB) ReconciliationDomains(ctx context.Context) iter.Seq2[provision.Domain, error] {
	return pages(ctx, db.ListDomainsAfter, func(d provision.Domain) string { return d.ID })
}

// ReconciliationClosedDomains returns the ids of domains whose unpaid term ended with their
// deletion: they have provision items, but no domain.
func (db *DB) ReconciliationClosedDomains(ctx context.Context) iter.Seq2[string, error] {
	return pages(ctx, func(ctx context.Context, after string, limit int) ([]string, error) {
		return db.read().ListClosedDomainIDs(ctx, after, int32(limit))
	}, func(id string) string { return id })
}
