package store

import (
	"context"
	"errors"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ lifecycle.Store = (*DB)(nil)

// Ending are active domains that were told this much and whose term ends until
// then.
func (db *DB) Ending(ctx context.Context, told lifecycle.Notice, until time.Time, limit int) ([]lifecycle.Domain, error) {
	rows, err := db.read().EndingDomains(ctx, query.EndingDomainsParams{Told: int64(told), Until: micros(until), Most: int32(limit)})
	domains := make([]lifecycle.Domain, 0, len(rows))
	for _, row := range rows {
		domains = append(domains, lifecycle.Domain{
			ID: row.ID, Customer: row.CustomerID, Name: row.Name, PaidUntil: fromMicros(row.PaidUntil), Told: lifecycle.Notice(row.Notified),
		})
	}
	return domains, err
}

// errToldMeanwhile rolls a notice back that somebody else has sent.
var errToldMeanwhile = errors.New("the domain is not what it was")

// Tell stores a notice with its letter.
func (db *DB) Tell(ctx context.Context, telling lifecycle.Telling) (bool, error) {
	err := db.write(ctx, func(q *query.Queries) error {
		status := holding.StatusActive
		if telling.Notice == lifecycle.Over {
			status = holding.StatusExpired
		}
		changed, err := q.TellDomain(ctx, query.TellDomainParams{
			Told: int64(telling.Notice), Status: string(status), UpdatedAt: micros(telling.Now),
			ID: telling.Was.ID, WasTold: int64(telling.Was.Told), PaidUntil: micros(telling.Was.PaidUntil),
		})
		if err != nil {
			return err
		}
		if changed == 0 {
			return errToldMeanwhile
		}
		if err := recordLetter(ctx, q, telling.Letter, telling.At); err != nil {
			return err
		}
		if telling.Deed == nil {
			return nil
		}
		return recordDeed(ctx, q, *telling.Deed)
	})
	if errors.Is(err, errToldMeanwhile) {
		return false, nil
	}
	return err == nil, err
}

// SetAutoRenew stores whether a customer's domain renews by itself.
func (db *DB) SetAutoRenew(ctx context.Context, customer, domain string, on bool, deed registrar.Deed) error {
	return db.write(ctx, func(q *query.Queries) error {
		methods := int64(1)
		if on {
			var err error
			// Before the domain, as those take the two who take a method away.
			if methods, err = q.HoldMethod(ctx, customer); err != nil {
				return err
			}
		}
		changed, err := q.SetAutoRenew(ctx, query.SetAutoRenewParams{
			AutoRenew: number(on), UpdatedAt: micros(deed.At), ID: domain, CustomerID: customer,
		})
		if err != nil {
			return err
		}
		if changed == 0 {
			return &registrar.Error{Kind: registrar.KindNotFound, Code: holding.NoSuchDomain}
		}
		if methods == 0 { // and the domain is left as it was
			return &registrar.Error{Kind: registrar.KindConflict, Code: holding.NoMethod}
		}
		return recordDeed(ctx, q, deed)
	})
}
