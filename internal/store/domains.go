package store

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ holding.Store = (*DB)(nil)

// DomainsOf returns the account's domains.
func (db *DB) DomainsOf(ctx context.Context, customer string) ([]holding.Domain, error) {
	rows, err := db.read().DomainsOfCustomer(ctx, customer)
	if err != nil {
		return nil, err
	}
	domains := make([]holding.Domain, 0, len(rows))
	for _, row := range rows {
		domains = append(domains, heldDomain(row))
	}
	return domains, nil
}

func heldDomain(row query.DomainsOfCustomerRow) holding.Domain {
	return holding.Domain{
		ID: row.ID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld,
		Status: holding.Status(row.Status), PaidUntil: fromMicros(row.PaidUntil), AutoRenew: row.AutoRenew != 0,
		CreatedAt: fromMicros(row.CreatedAt), UpdatedAt: fromMicros(row.UpdatedAt),
	}
}

// PageOf is a page of the account's domains.
func (db *DB) PageOf(ctx context.Context, customer string, filter holding.Filter, limit int) ([]holding.Domain, error) {
	return db.pageOfDomains(ctx, customer, filter, limit, 0)
}

func (db *DB) pageOfDomains(ctx context.Context, customer string, filter holding.Filter, limit, offset int) ([]holding.Domain, error) {
	if neverStored(filter.AfterName) || neverStored(filter.AfterID) {
		return nil, nil
	}
	rows, err := db.read().PageOfDomains(ctx, query.PageOfDomainsParams{
		CustomerID: customer, AfterName: filter.AfterName, AfterID: filter.AfterID, Pattern: "%" + filter.Part + "%",
		Status: string(filter.Status), PaidBefore: micros(filter.PaidBefore), Most: int32(limit), Skipped: int32(offset),
	})
	domains := make([]holding.Domain, 0, len(rows))
	for _, row := range rows {
		domains = append(domains, heldDomain(query.DomainsOfCustomerRow(row)))
	}
	return domains, err
}

// FindDomains is a page of the matching domains, and how many match in all.
func (db *DB) FindDomains(ctx context.Context, customer string, filter holding.Filter, limit, offset int) ([]holding.Domain, int, error) {
	total, err := db.read().CountMatchingDomains(ctx, query.CountMatchingDomainsParams{
		CustomerID: customer, Pattern: "%" + filter.Part + "%", Status: string(filter.Status), PaidBefore: micros(filter.PaidBefore),
	})
	if err != nil || total <= int64(offset) {
		return nil, int(total), err
	}
	domains, err := db.pageOfDomains(ctx, customer, filter, limit, offset)
	return domains, int(total), err
}

// CountOf says how many domains of each status an account has.
func (db *DB) CountOf(ctx context.Context, customer string) (map[holding.Status]int, error) {
	rows, err := db.read().CountDomains(ctx, customer)
	counts := make(map[holding.Status]int, len(rows))
	for _, row := range rows {
		counts[holding.Status(row.Status)] = int(row.Domains)
	}
	return counts, err
}

// maxCompared bounds how many of a customer's names an order is compared with.
const maxCompared = 1000

// NamesOf are names that a customer holds, for comparing.
func (db *DB) NamesOf(ctx context.Context, customer string) ([]string, error) {
	return db.read().NamesHeldBy(ctx, query.NamesHeldByParams{CustomerID: customer, Limit: maxCompared})
}

// AddDomain stores a domain with its deed.
func (db *DB) AddDomain(ctx context.Context, domain holding.Domain, deed registrar.Deed) error {
	return db.write(ctx, func(q *query.Queries) error {
		held, err := q.HoldHolder(ctx, domain.Customer)
		if err != nil {
			return err
		}
		if held == 0 {
			return &registrar.Error{Kind: registrar.KindNotFound, Code: holding.NoSuchCustomer}
		}
		added, err := q.InsertDomain(ctx, query.InsertDomainParams{
			ID: domain.ID, CustomerID: domain.Customer, Name: domain.Name, Tld: domain.TLD,
			Status: string(domain.Status), PaidUntil: micros(domain.PaidUntil), AutoRenew: number(domain.AutoRenew),
			CreatedAt: micros(domain.CreatedAt), UpdatedAt: micros(domain.UpdatedAt),
		})
		if err != nil {
			return err
		}
		if added == 0 {
			return &registrar.Error{Kind: registrar.KindConflict, Code: holding.NameHeld}
		}
		return recordDeed(ctx, q, deed)
	})
}

// number is how yes and no are stored.
func number(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
