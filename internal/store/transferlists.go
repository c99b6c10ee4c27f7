package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/store/query"
)

// GetTransferList returns a customer's list of transfers, sealed; empty if there is none.
func (db *DB) GetTransferList(ctx context.Context, customer string, now time.Time) (string, error) {
	sealed, err := db.read().GetTransferList(ctx, customer, micros(now))
	_, err = found(err)
	return sealed, err
}

// ReplaceTransferList stores a list that differs from the seen one.
func (db *DB) ReplaceTransferList(ctx context.Context, customer, seen, names, sealed string, now, expires time.Time) (bool, error) {
	return changed(db.single().ReplaceTransferList(ctx, query.ReplaceTransferListParams{
		CustomerID: customer, Names: names, ListSealed: sealed, ExpiresAt: micros(expires), Seen: seen, Now: micros(now),
	}))
}

// ListAcquiredNames returns those of the names that a customer holds, or whose registration or transfer
// is in progress.
func (db *DB) ListAcquiredNames(ctx context.Context, customer string, names []string) ([]string, error) {
	return db.read().ListAcquiredNames(ctx, customer, jsonText(names))
}
