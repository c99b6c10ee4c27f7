package store

import (
	"context"
	"errors"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ lifecycle.Store = (*DB)(nil)

// ListEndingDomains returns active domains with a given last notice whose term ends by a
// given time.
func (db *DB) ListEndingDomains(ctx context.Context, notice lifecycle.Notice, until time.Time, limit int) ([]lifecycle.Domain, error) {
	rows, err := db.read().ListExpiringDomains(ctx, query.ListExpiringDomainsParams{ExpiryNotice: int64(notice), Until: micros(until), MaxRows: int32(limit)})
	domains := make([]lifecycle.Domain, 0, len(rows))
	for _, row := range rows {
		domains = append(domains, lifecycle.Domain{
			ID: row.ID, Customer: row.CustomerID, Name: row.Name, PaidUntil: fromMicros(row.PaidUntil), LastNotice: lifecycle.Notice(row.ExpiryNotice),
		})
	}
	return domains, err
}

// errNoticeConflict rolls back a notice that another node has sent.
var errNoticeConflict = errors.New("the domain has changed")

// StoreExpiryNotice stores a notice with its mail.
func (db *DB) StoreExpiryNotice(ctx context.Context, notice lifecycle.NoticeUpdate) (bool, error) {
	err := db.write(ctx, func(q *query.Queries) error {
		status := registrar.DomainActive
		if notice.Notice == lifecycle.NoticeExpired {
			status = registrar.DomainExpired
		}
		changed, err := q.SetDomainExpiryNotice(ctx, query.SetDomainExpiryNoticeParams{
			ExpiryNotice: int64(notice.Notice), Status: string(status), UpdatedAt: micros(notice.Now),
			ID: notice.Domain.ID, WasExpiryNotice: int64(notice.Domain.LastNotice), PaidUntil: micros(notice.Domain.PaidUntil),
		})
		if err != nil {
			return err
		}
		if changed == 0 {
			return errNoticeConflict
		}
		if err := enqueueMail(ctx, q, notice.Mail, notice.At); err != nil {
			return err
		}
		if notice.AuditEvent == nil {
			return nil
		}
		return insertAuditEvent(ctx, q, *notice.AuditEvent)
	})
	if errors.Is(err, errNoticeConflict) {
		return false, nil
	}
	return err == nil, err
}

// SetAutoRenew sets automatic renewal of a customer's domain.
func (db *DB) SetAutoRenew(ctx context.Context, customer, domain string, on bool, event registrar.AuditEvent) error {
	return db.write(ctx, func(q *query.Queries) error {
		methods := int64(1)
		if on {
			var err error
			// The method is locked before the domain, as when a method is removed.
			if methods, err = q.LockPaymentMethod(ctx, customer); err != nil {
				return err
			}
		}
		changed, err := q.SetAutoRenew(ctx, query.SetAutoRenewParams{
			AutoRenew: boolToInt(on), UpdatedAt: micros(event.At), ID: domain, CustomerID: customer,
		})
		if err != nil {
			return err
		}
		if changed == 0 {
			return &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchDomain}
		}
		if methods == 0 { // the domain stays unchanged
			return &registrar.Error{Kind: registrar.KindConflict, Code: portfolio.NoPaymentMethod}
		}
		return insertAuditEvent(ctx, q, event)
	})
}
