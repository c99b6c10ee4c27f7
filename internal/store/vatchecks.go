package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/store/query"
)

// VATCheck returns the last VIES result for a VAT id; false if there is none.
func (db *DB) VATCheck(ctx context.Context, id string) (valid bool, checkedAt time.Time, ok bool, err error) {
	if isUnstorableText(id) {
		return false, time.Time{}, false, nil
	}
	row, err := db.read().GetVATCheck(ctx, id)
	ok, err = found(err)
	return row.Valid != 0, fromMicros(row.CheckedAt), ok, err
}

// SetVATCheck stores a VIES result, unless a newer one is stored.
func (db *DB) SetVATCheck(ctx context.Context, id string, valid bool, checkedAt time.Time) error {
	return db.write(ctx, func(q *query.Queries) error {
		return q.PutVATCheck(ctx, query.PutVATCheckParams{VatID: id, Valid: boolToInt(valid), CheckedAt: micros(checkedAt)})
	})
}
