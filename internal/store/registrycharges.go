package store

import (
	"context"
	"hash/fnv"
	"iter"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var (
	_ cost.Store              = (*DB)(nil)
	_ reconcile.BooksDatabase = (*DB)(nil)
)

// marginShards is how many rows of a month and extension concurrent charges are spread over.
const marginShards = 4

// insertRegistryCharge stores a charge and adds it to the sums of its month.
func insertRegistryCharge(ctx context.Context, q *query.Queries, charge cost.Charge) error {
	if err := q.InsertRegistryCharge(ctx, query.InsertRegistryChargeParams{
		ID: charge.ID, DomainID: charge.Domain, Account: charge.Account, Tld: charge.TLD, Operation: string(charge.Operation),
		Years: int64(charge.Years), Amount: int64(charge.Amount.Amount), Currency: charge.Amount.Currency, Source: string(charge.Source),
		Euros: int64(charge.Euros), EurKnown: boolToInt(charge.EurosKnown), Month: charge.At.In(registrar.Germany()).Format(cost.MonthFormat),
		CreatedAt: micros(charge.At),
	}); err != nil {
		return err
	}
	return q.AddChargeToMargin(ctx, marginShard(charge.ID), charge.ID)
}

// insertReturnedFee stores the charge for a deletion, unless it is stored. The caller has locked
// the term.
func insertReturnedFee(ctx context.Context, q *query.Queries, charge cost.Charge) error {
	if stored, err := found(ignoreRow(q.GetRegistryCharge(ctx, charge.ID))); stored || err != nil {
		return err
	}
	return insertRegistryCharge(ctx, q, charge)
}

func marginShard(id string) int64 {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(id)) // never fails
	return int64(hash.Sum32() % marginShards)
}

func registryChargeOf(row query.RegistryCharge) cost.Charge {
	return cost.Charge{
		ID: row.ID, Domain: row.DomainID, Account: row.Account, TLD: row.Tld, Operation: cost.Operation(row.Operation), Years: int(row.Years),
		Amount: registrar.Money{Amount: registrar.Amount(row.Amount), Currency: row.Currency}, Source: cost.Source(row.Source),
		Euros: registrar.Cents(row.Euros), EurosKnown: row.EurKnown != 0, Revenue: registrar.Cents(row.Revenue), At: fromMicros(row.CreatedAt),
	}
}

// GetRegistryCharge returns the charge of a provision item.
func (db *DB) GetRegistryCharge(ctx context.Context, item string) (cost.Charge, bool, error) {
	return rowAs(registryChargeOf)(db.read().GetRegistryCharge(ctx, item))
}

// GetRegistrationCharge returns the charge for the registration of a domain that has a term which
// ended or is being ended.
func (db *DB) GetRegistrationCharge(ctx context.Context, domain string) (cost.Charge, bool, error) {
	return rowAs(registryChargeOf)(db.read().GetRegistrationCharge(ctx, domain))
}

// ListRegistryCharges returns a page of all charges, by id.
func (db *DB) ListRegistryCharges(ctx context.Context, after string, limit int) ([]cost.Charge, error) {
	return rowsAs(registryChargeOf)(db.read().ListRegistryCharges(ctx, after, int32(limit)))
}

// ListMargins returns the sums of the months from first to last, by month and extension.
func (db *DB) ListMargins(ctx context.Context, first, last string) ([]cost.MonthMargin, error) {
	return rowsAs(func(row query.ListMarginMonthsRow) cost.MonthMargin {
		return cost.MonthMargin{Month: row.Month, TLD: row.Tld, Margin: cost.Margin{
			Items: int(row.Items), Revenue: registrar.Cents(row.Revenue), Cost: registrar.Cents(row.Euros),
			UnknownItems: int(row.UnknownItems), UnknownRevenue: registrar.Cents(row.UnknownRevenue),
		}}
	})(db.read().ListMarginMonths(ctx, first, last))
}

// FirstMarginMonth returns the first month with a charge; false if there is none.
func (db *DB) FirstMarginMonth(ctx context.Context) (string, bool, error) {
	return foundValue(db.read().GetFirstMarginMonth(ctx))
}

// ImportExchangeRates stores rates with an audit event. A stored rate of the same day is replaced.
func (db *DB) ImportExchangeRates(ctx context.Context, rates []cost.Rate, event registrar.AuditEvent) error {
	return db.write(ctx, func(q *query.Queries) error {
		for _, rate := range rates {
			if err := q.UpsertExchangeRate(ctx, query.UpsertExchangeRateParams{Day: rate.Day, Currency: rate.Currency, Rate: rate.Value}); err != nil {
				return err
			}
		}
		return insertAuditEvent(ctx, q, event)
	})
}

// ListExchangeRates returns the rates from a day on.
func (db *DB) ListExchangeRates(ctx context.Context, since time.Time) ([]cost.Rate, error) {
	return rowsAs(func(row query.ExchangeRate) cost.Rate {
		return cost.Rate{Day: row.Day, Currency: row.Currency, Value: row.Rate}
	})(db.read().ListExchangeRates(ctx, since.Format(time.DateOnly)))
}

// AddRegistryFunds stores an entry of a prefunded account with its audit event.
func (db *DB) AddRegistryFunds(ctx context.Context, entry cost.Funds, event registrar.AuditEvent) error {
	return db.write(ctx, func(q *query.Queries) error {
		if err := q.InsertRegistryFunds(ctx, query.InsertRegistryFundsParams{
			ID: entry.ID, Account: entry.Account, Kind: string(entry.Kind), Amount: int64(entry.Amount.Amount), Currency: entry.Amount.Currency,
			At: micros(entry.At), Reference: entry.Reference, CreatedBy: event.Actor.Through, CreatedAt: micros(event.At),
		}); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

// ListRegistryFunds returns the entries of all accounts, the oldest of each first.
func (db *DB) ListRegistryFunds(ctx context.Context, limit int) ([]cost.Funds, error) {
	return rowsAs(func(row query.RegistryFund) cost.Funds {
		return cost.Funds{
			ID: row.ID, Account: row.Account, Kind: cost.FundsKind(row.Kind), At: fromMicros(row.At), Reference: row.Reference,
			Amount: registrar.Money{Amount: registrar.Amount(row.Amount), Currency: row.Currency},
		}
	})(db.read().ListRegistryFunds(ctx, int32(limit)))
}

// ReconciliationCharges returns all charges.
func (db *DB) ReconciliationCharges(ctx context.Context) iter.Seq2[cost.Charge, error] {
	return pages(ctx, db.ListRegistryCharges, func(c cost.Charge) string { return c.ID })
}
