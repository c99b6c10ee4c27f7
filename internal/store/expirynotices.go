package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ lifecycle.Store = (*DB)(nil)

// ListEndingDomains returns active domains with that last notice whose term ends by until.
func (db *DB) ListEndingDomains(ctx context.Context, notice lifecycle.Notice, until time.Time, limit int) ([]lifecycle.Domain, error) {
	return rowsAs(func(row query.ListExpiringDomainsRow) lifecycle.Domain {
		return lifecycle.Domain{
			ID: row.ID, Customer: row.CustomerID, Name: row.Name, PaidUntil: fromMicros(row.PaidUntil), LastNotice: lifecycle.Notice(row.ExpiryNotice),
		}
	})(db.read().ListExpiringDomains(ctx, query.ListExpiringDomainsParams{ExpiryNotice: int64(notice), Until: micros(until), MaxRows: int32(limit)}))
}

// StoreExpiryNotice stores a notice with its mail.
func (db *DB) StoreExpiryNotice(ctx context.Context, notice lifecycle.NoticeUpdate) (bool, error) {
	status := registrar.DomainActive
	if notice.Notice == lifecycle.NoticeExpired {
		status = registrar.DomainExpired
	}
	return db.swap(ctx, func(q *query.Queries) error {
		if err := swapped(q.SetDomainExpiryNotice(ctx, query.SetDomainExpiryNoticeParams{
			ExpiryNotice: int64(notice.Notice), Status: string(status), UpdatedAt: micros(notice.Now),
			ID: notice.Domain.ID, WasExpiryNotice: int64(notice.Domain.LastNotice), PaidUntil: micros(notice.Domain.PaidUntil),
		})); err != nil {
			return err
		}
		return recordEffects(ctx, q, notice.AuditEvent, &notice.Mail, notice.At)
	})
}
