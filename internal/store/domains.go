package store

import (
	"context"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ portfolio.Store = (*DB)(nil)

// ListCustomerDomains returns the account's domains.
func (db *DB) ListCustomerDomains(ctx context.Context, customer string) ([]portfolio.Domain, error) {
	return rowsAs(portfolioDomainOf)(db.read().ListCustomerDomains(ctx, customer))
}

func portfolioDomainOf(row query.ListCustomerDomainsRow) portfolio.Domain {
	return portfolio.Domain{
		ID: row.ID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld,
		Status: registrar.DomainStatus(row.Status), PaidUntil: fromMicros(row.PaidUntil), AtTermEnd: registrar.TermEndChoice(row.AtTermEnd),
		CreatedAt: fromMicros(row.CreatedAt), UpdatedAt: fromMicros(row.UpdatedAt),
	}
}

func domainWithTermOf(row query.SearchDomainsRow) portfolio.Domain {
	return portfolio.Domain{
		ID: row.ID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld,
		Status: registrar.DomainStatus(row.Status), PaidUntil: fromMicros(row.PaidUntil), AtTermEnd: registrar.TermEndChoice(row.AtTermEnd),
		Term: portfolio.Term{
			Renewal: row.RenewalState, Gross: registrar.Cents(row.RenewalGross), ChargeAt: fromMicros(row.RenewalChargeAt), Attempts: int(row.RenewalAttempts),
			Unpaid: row.EndState, WaitsForOperator: row.EndWaitsFor != "",
			StepAt: fromMicros(row.EndStepAt), HeldAt: fromMicros(row.EndHeldAt), DeletedAt: fromMicros(row.EndDeletedAt),
		},
		RegistryStatus: strings.Fields(row.RegistryStatus), CreatedAt: fromMicros(row.CreatedAt), UpdatedAt: fromMicros(row.UpdatedAt),
	}
}

// GetDomain returns a customer's domain with the end of its term.
func (db *DB) GetDomain(ctx context.Context, customer, domain string) (portfolio.Domain, bool, error) {
	return rowAs(func(row query.GetDomainTermRow) portfolio.Domain {
		return domainWithTermOf(query.SearchDomainsRow(row))
	})(db.read().GetDomainTerm(ctx, domain, customer))
}

// ListDomainNotices returns the notices about a customer's domain.
func (db *DB) ListDomainNotices(ctx context.Context, customer, domain string, limit int) ([]portfolio.Notice, error) {
	return rowsAs(func(row query.ListDomainNoticesRow) portfolio.Notice {
		return portfolio.Notice{
			Kind: registrar.MailKind(row.Kind), Recipient: row.Recipient, Subject: row.Subject, Body: row.Body,
			SentAt: fromMicros(row.SentAt), Accepted: row.Accepted != 0,
		}
	})(db.read().ListDomainNotices(ctx, query.ListDomainNoticesParams{DomainID: domain, CustomerID: customer, MaxRows: int32(limit)}))
}

// ListDomainsPage returns a page of the account's domains.
func (db *DB) ListDomainsPage(ctx context.Context, customer string, filter portfolio.Filter, limit int) ([]portfolio.Domain, error) {
	return db.searchDomains(ctx, customer, filter, limit, 0)
}

func (db *DB) searchDomains(ctx context.Context, customer string, filter portfolio.Filter, limit, offset int) ([]portfolio.Domain, error) {
	if sqldb.IsUnstorable(filter.AfterName) || sqldb.IsUnstorable(filter.AfterID) {
		return nil, nil
	}
	return rowsAs(domainWithTermOf)(db.read().SearchDomains(ctx, query.SearchDomainsParams{
		CustomerID: customer, AfterName: filter.AfterName, AfterID: filter.AfterID, Pattern: "%" + filter.Part + "%",
		Status: string(filter.Status), PaidBefore: micros(filter.PaidBefore), MaxRows: int32(limit), SkipRows: int32(offset),
	}))
}

// FindDomains returns a page of the matching domains and the total number of matches.
func (db *DB) FindDomains(ctx context.Context, customer string, filter portfolio.Filter, limit, offset int) ([]portfolio.Domain, int, error) {
	total, err := db.read().CountSearchedDomains(ctx, query.CountSearchedDomainsParams{
		CustomerID: customer, Pattern: "%" + filter.Part + "%", Status: string(filter.Status), PaidBefore: micros(filter.PaidBefore),
	})
	if err != nil || total <= int64(offset) {
		return nil, int(total), err
	}
	domains, err := db.searchDomains(ctx, customer, filter, limit, offset)
	return domains, int(total), err
}

// CountDomainsByStatus counts an account's domains by status.
func (db *DB) CountDomainsByStatus(ctx context.Context, customer string) (map[registrar.DomainStatus]int, error) {
	rows, err := db.read().CountDomainsByStatus(ctx, customer)
	counts := make(map[registrar.DomainStatus]int, len(rows))
	for _, row := range rows {
		counts[registrar.DomainStatus(row.Status)] = int(row.Domains)
	}
	return counts, err
}

// AddDomain stores a domain with its audit event.
func (db *DB) AddDomain(ctx context.Context, domain portfolio.Domain, event registrar.AuditEvent) error {
	return db.write(ctx, func(q *query.Queries) error {
		if err := rowOr(noSuchCustomer())(q.LockConfirmedCustomer(ctx, domain.Customer)); err != nil {
			return err
		}
		if err := rowOr(nameHeld())(q.InsertDomain(ctx, query.InsertDomainParams{
			ID: domain.ID, CustomerID: domain.Customer, Name: domain.Name, Tld: domain.TLD,
			Status: string(domain.Status), PaidUntil: micros(domain.PaidUntil),
			CreatedAt: micros(domain.CreatedAt), UpdatedAt: micros(domain.UpdatedAt),
		})); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

func nameHeld() error {
	return &registrar.Error{Kind: registrar.KindConflict, Code: registrar.NameHeld}
}
