package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/store/query"
)

// VATCheck is what VIES said last of a VAT id, and when; false if it was never
// asked.
func (db *DB) VATCheck(ctx context.Context, id string) (valid bool, checkedAt time.Time, ok bool, err error) {
	if isUnstorableText(id) {
		return false, time.Time{}, false, nil
	}
	row, err := db.read().GetVATCheck(ctx, id)
	ok, err = found(err)
	return row.Valid != 0, fromMicros(row.CheckedAt), ok, err
}

// SetVATCheck keeps what VIES said, unless something newer is kept.
func (db *DB) SetVATCheck(ctx context.Context, id string, valid bool, checkedAt time.Time) error {
	return db.write(ctx, func(q *query.Queries) error {
		return q.PutVATCheck(ctx, query.PutVATCheckParams{VatID: id, Valid: boolToInt(valid), CheckedAt: micros(checkedAt)})
	})
}
