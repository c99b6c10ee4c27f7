package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// What customers choose for the end of a term; package renewal has the choices.
const (
	renewAutomatically = "renew"
	letExpire          = "expire"
)

// ListEndingDomains returns active domains with that last notice whose term ends by until.
func (db *DB) ListEndingDomains(ctx context.Context, notice lifecycle.Notice, until time.Time, limit int) ([]lifecycle.Domain, error) {
	return rowsAs(func(row query.ListExpiringDomainsRow) lifecycle.Domain {
		return lifecycle.Domain{
			ID: row.ID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld, PaidUntil: fromMicros(row.PaidUntil), LastNotice: lifecycle.Notice(row.ExpiryNotice),
			Renews: row.AtTermEnd == renewAutomatically, Expires: row.AtTermEnd == letExpire,
		}
	})(db.read().ListExpiringDomains(ctx, query.ListExpiringDomainsParams{ExpiryNotice: int64(notice), Until: micros(until), MaxRows: int32(limit)}))
}

// GetDomainRegistrant returns a domain's own copy of the registrant; zero if it has none.
func (db *DB) GetDomainRegistrant(ctx context.Context, customer, domain string) (registrar.Registrant, error) {
	found, _, err := db.GetCustomerDomain(ctx, customer, domain)
	return found.Registrant, err
}

// GetDeclared returns whether a customer lets a domain expire, and when they terminated the contract
// about it or withdrew from it. A termination that was handled counts if the domain is left to expire
// because of it: it was sent in the last year of the term.
func (db *DB) GetDeclared(ctx context.Context, customer, domain string, termEnd time.Time) (declared lifecycle.Declared, err error) {
	held, found, err := db.GetDomain(ctx, customer, domain)
	if err != nil || !found {
		return declared, err
	}
	declared.Expires = held.AtTermEnd == letExpire
	notices, err := db.ListContractNotices(ctx, customer, domain)
	if err != nil {
		return declared, err
	}
	for _, notice := range notices { // the newest first
		ends := held.AtTermEnd == letExpire && notice.At.After(termEnd.AddDate(-1, 0, 0))
		switch {
		case notice.Kind == withdrawal.Termination && declared.CancelledAt.IsZero() && (notice.Open() || ends):
			declared.CancelledAt = notice.At
		case notice.Kind == withdrawal.Withdrawal && declared.WithdrawnAt.IsZero() && notice.Open():
			declared.WithdrawnAt = notice.At
		}
	}
	return declared, nil
}

// AnnouncedRenewal returns the announced charge for a term.
func (db *DB) AnnouncedRenewal(ctx context.Context, customer, domain string, termEnd time.Time) (lifecycle.Charge, bool, error) {
	row, found, err := rowAs(func(row query.GetRenewalOfTermRow) query.GetRenewalOfTermRow { return row })(db.read().GetRenewalOfTerm(ctx, domain, micros(termEnd)))
	switch state := renewal.State(row.State); {
	case err != nil:
		return lifecycle.Charge{}, false, err
	case !found, state == renewal.Stopped:
		return lifecycle.Charge{NextTerm: true}, true, nil
	case state != renewal.Announced || row.ChargeAt == 0 || row.Attempts > 0:
		return lifecycle.Charge{}, false, nil
	}
	charge := lifecycle.Charge{At: fromMicros(row.ChargeAt), Gross: registrar.Cents(row.Gross)}
	methods, err := db.GetMethods(ctx, customer, 0)
	if method := methods.Default(); method.Expired(charge.At) {
		charge.MethodExpires = method.Expires
	}
	return charge, true, err
}

// StoreExpiryNotice stores a notice with its mail and, at the end of a term, the unpaid term.
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
		if notice.Notice == lifecycle.NoticeExpired {
			// What its registry does at the end of a term is read at once, not with the next daily comparison.
			if err := q.MakeDomainSyncDue(ctx, micros(notice.At), notice.Domain.Name); err != nil {
				return err
			}
			if err := q.InsertTermEnd(ctx, query.InsertTermEndParams{
				StepAt: micros(notice.StepAt), DueAt: micros(notice.At), UpdatedAt: micros(notice.Now), DomainID: notice.Domain.ID,
			}); err != nil {
				return err
			}
		}
		if err := recordEffects(ctx, q, notice.AuditEvent, &notice.Mail, notice.At); err != nil {
			return err
		}
		return recordEffects(ctx, q, nil, notice.HolderMail, notice.At)
	})
}
