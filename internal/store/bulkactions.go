package store

import (
	"context"
	"encoding/json"

	"github.com/dotkontor/dotkontor/internal/registrar/bulk"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ bulk.Store = (*DB)(nil)

// AddBulkAction stores an action and deletes the customer's oldest ones.
func (db *DB) AddBulkAction(ctx context.Context, action bulk.Action) error {
	results, err := json.Marshal(action.Results)
	if err != nil {
		return err
	}
	return db.write(ctx, func(q *query.Queries) error {
		if err := q.InsertBulkAction(ctx, query.InsertBulkActionParams{
			ID: action.ID, CustomerID: action.Customer, Action: string(action.Kind), OrderID: action.Order,
			Results: string(results), CreatedAt: micros(action.At),
		}); err != nil {
			return err
		}
		return q.DeleteOldBulkActions(ctx, action.Customer)
	})
}

// GetBulkAction returns an action of a customer.
func (db *DB) GetBulkAction(ctx context.Context, customer, id string) (bulk.Action, bool, error) {
	return decodeRow(func(row query.BulkAction) (bulk.Action, error) {
		action := bulk.Action{ID: row.ID, Customer: row.CustomerID, Kind: bulk.Kind(row.Action), Order: row.OrderID, At: fromMicros(row.CreatedAt)}
		err := json.Unmarshal([]byte(row.Results), &action.Results)
		return action, err
	})(db.read().GetBulkAction(ctx, id, customer))
}

// ListBulkChanges returns the domain changes of an action.
func (db *DB) ListBulkChanges(ctx context.Context, customer, action string) ([]domainchange.Change, error) {
	return decodeRows(changeOf)(db.read().ListBulkChanges(ctx, action, customer))
}
