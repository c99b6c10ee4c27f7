package store

import (
	"context"
	"database/sql"
	"iter"
	"math"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ dispute.Store = (*DB)(nil)

// maxDisputedDomains bounds the domains of an order; none has more items.
const maxDisputedDomains = 1000

// orderPayment is how a provision item names the order that paid for it.
const orderPayment = "order:"

func disputeOf(row query.Dispute) dispute.Dispute {
	return dispute.Dispute{
		Report: dispute.Report{
			ID: row.ID, Charge: row.Charge, Intent: row.Intent, Status: dispute.Status(row.Status), Reason: row.Reason, Currency: row.Currency,
			Amount: registrar.Cents(row.Amount), Withdrawn: registrar.Cents(row.Withdrawn), Fee: registrar.Cents(row.Fee),
			Charged: registrar.Cents(row.Charged), Refunded: registrar.Cents(row.Refunded), Debit: row.Debit == 1, Refundable: row.Refundable == 1,
			DueBy: fromMicros(row.EvidenceDue), OpenedAt: fromMicros(row.OpenedAt),
		},
		Payment: row.PaymentID, Order: row.OrderID, BankReturn: row.BankReturn == 1, Lock: dispute.Lock(row.LockState), OpenWork: row.OpenWork == 1,
		Note: row.Note, DecidedBy: row.DecidedBy, DecidedAt: fromMicros(row.DecidedAt),
		Version: row.Version, DueAt: fromMicros(row.DueAt), Node: row.Node, Attempts: int(row.Attempts),
		StoredAt: fromMicros(row.StoredAt), UpdatedAt: fromMicros(row.UpdatedAt),
		LockedAt: fromMicros(row.LockedAt), LiftedAt: fromMicros(row.LiftedAt), Decision: dispute.Decision(row.Decision),
	}
}

func disputeOfCustomer(row query.Dispute, customer string) dispute.Dispute {
	d := disputeOf(row)
	d.Customer = customer
	return d
}

// GetDispute returns a dispute with the customer of its order.
func (db *DB) GetDispute(ctx context.Context, id string) (dispute.Dispute, bool, error) {
	if sqldb.IsUnstorable(id) {
		return dispute.Dispute{}, false, nil
	}
	return rowAs(func(row query.GetDisputeRow) dispute.Dispute {
		return disputeOfCustomer(row.Dispute, row.CustomerID)
	})(db.read().GetDispute(ctx, id))
}

// FindDisputedPayment returns the payment of a provider's payment intent.
func (db *DB) FindDisputedPayment(ctx context.Context, intent string) (dispute.Subject, bool, error) {
	return rowAs(func(row query.FindDisputedPaymentRow) dispute.Subject {
		return dispute.Subject{Payment: row.ID, Order: row.OrderID, Customer: row.CustomerID, Captured: row.State == string(order.PaymentCaptured)}
	})(db.read().FindDisputedPayment(ctx, intent))
}

// StoreDispute inserts a dispute, or replaces the version in Was, with its effects.
func (db *DB) StoreDispute(ctx context.Context, update dispute.Update) (bool, error) {
	d := update.Now
	return db.swap(ctx, func(q *query.Queries) error {
		store := func() (sql.Result, error) {
			return q.UpdateDispute(ctx, query.UpdateDisputeParams{
				Charge: d.Charge, Intent: d.Intent, PaymentID: d.Payment, OrderID: d.Order, Status: string(d.Status), Reason: d.Reason, Currency: d.Currency,
				Amount: int64(d.Amount), Withdrawn: int64(d.Withdrawn), Fee: int64(d.Fee), Charged: int64(d.Charged), Refunded: int64(d.Refunded),
				Debit: boolToInt(d.Debit), Refundable: boolToInt(d.Refundable), EvidenceDue: micros(d.DueBy), LockState: string(d.Lock),
				OpenWork: boolToInt(d.OpenWork), Note: d.Note, DecidedBy: d.DecidedBy, DecidedAt: micros(d.DecidedAt), DueAt: micros(d.DueAt), Node: d.Node,
				Attempts: int64(d.Attempts), UpdatedAt: micros(d.UpdatedAt), LockedAt: micros(d.LockedAt), LiftedAt: micros(d.LiftedAt), Decision: string(d.Decision), ID: d.ID, WasVersion: update.Was.Version,
			})
		}
		if update.Was.ID == "" {
			store = func() (sql.Result, error) {
				return q.InsertDispute(ctx, query.InsertDisputeParams{
					ID: d.ID, Charge: d.Charge, Intent: d.Intent, PaymentID: d.Payment, OrderID: d.Order, Status: string(d.Status), Reason: d.Reason,
					Currency: d.Currency, Amount: int64(d.Amount), Withdrawn: int64(d.Withdrawn), Fee: int64(d.Fee), Charged: int64(d.Charged),
					Refunded: int64(d.Refunded), Debit: boolToInt(d.Debit), Refundable: boolToInt(d.Refundable), BankReturn: boolToInt(d.BankReturn),
					EvidenceDue: micros(d.DueBy), OpenedAt: micros(d.OpenedAt), LockState: string(d.Lock), OpenWork: boolToInt(d.OpenWork), Note: d.Note,
					DecidedBy: d.DecidedBy, DecidedAt: micros(d.DecidedAt), Version: 1, DueAt: micros(d.DueAt), Node: d.Node, Attempts: int64(d.Attempts),
					StoredAt: micros(d.StoredAt), UpdatedAt: micros(d.UpdatedAt), LockedAt: micros(d.LockedAt), LiftedAt: micros(d.LiftedAt), Decision: string(d.Decision),
				})
			}
		}
		if err := swapped(store()); err != nil {
			return err
		}
		if err := recordEffects(ctx, q, update.AuditEvent, update.Mail, update.At); err != nil {
			return err
		}
		return recordEffects(ctx, q, nil, update.OperatorMail, update.At)
	})
}

// ClaimDueDisputes leases disputes that are due, the longest overdue first.
func (db *DB) ClaimDueDisputes(ctx context.Context, now, lease time.Time, limit int) (claimed []dispute.Dispute, err error) {
	err = db.sql.WriteOne(ctx, func(tx sqldb.DBTX) (err error) {
		claimed, err = rowsAs(disputeOf)(query.New(tx).ClaimDueDisputes(ctx, query.ClaimDueDisputesParams{
			Lease: micros(lease), Node: db.node, Now: micros(now), MaxRows: int32(limit),
		}))
		return err
	})
	return claimed, err
}

// PostponeDispute ends a lease, unless the dispute was made due meanwhile.
func (db *DB) PostponeDispute(ctx context.Context, id string, lease, due time.Time, attempts int) error {
	_, err := db.single().PostponeDispute(ctx, query.PostponeDisputeParams{ID: id, Lease: micros(lease), DueAt: micros(due), Attempts: int64(attempts)})
	return err
}

// ListDisputedDomains returns the domains that an order paid for, unless they were transferred out.
func (db *DB) ListDisputedDomains(ctx context.Context, order string) ([]dispute.Domain, error) {
	return rowsAs(func(row query.ListDisputedDomainsRow) dispute.Domain {
		return dispute.Domain{ID: row.ID, Name: row.Name, TLD: row.Tld, Customer: row.CustomerID, Status: registrar.DomainStatus(row.Status)}
	})(db.read().ListDisputedDomains(ctx, orderPayment+order, maxDisputedDomains))
}

// ListPaidDomains returns the domains that an order paid for, also those that were transferred out.
func (db *DB) ListPaidDomains(ctx context.Context, order string) ([]dispute.Domain, error) {
	return rowsAs(func(row query.ListPaidDomainsRow) dispute.Domain {
		return dispute.Domain{ID: row.ID, Name: row.Name, TLD: row.Tld, Customer: row.CustomerID, Status: registrar.DomainStatus(row.Status)}
	})(db.read().ListPaidDomains(ctx, orderPayment+order, maxDisputedDomains))
}

// ListDomainDisputes returns the disputes whose locks are in force for a domain.
func (db *DB) ListDomainDisputes(ctx context.Context, domain string) ([]dispute.Dispute, error) {
	return rowsAs(disputeOf)(db.read().ListDomainDisputes(ctx, domain))
}

// IsDomainDisputed reports whether the lock of a dispute is in force for a domain.
func (db *DB) IsDomainDisputed(ctx context.Context, domain string) (bool, error) {
	disputes, err := db.ListDomainDisputes(ctx, domain)
	return len(disputes) > 0, err
}

// ListDisputes returns a page of disputes before an id, the newest first.
func (db *DB) ListDisputes(ctx context.Context, open bool, before string, limit int) ([]dispute.Dispute, error) {
	opened := int64(math.MaxInt64)
	if before != "" {
		last, found, err := db.GetDispute(ctx, before)
		if err != nil || !found {
			return nil, err
		}
		opened = micros(last.OpenedAt)
	}
	return rowsAs(func(row query.ListDisputesRow) dispute.Dispute {
		d := disputeOfCustomer(row.Dispute, row.CustomerID)
		d.CustomerEmail = row.Email
		return d
	})(db.read().ListDisputes(ctx, query.ListDisputesParams{OpenWork: boolToInt(open), BeforeOpened: opened, BeforeID: before, MaxRows: int32(limit)}))
}

// ListLockingDisputes returns disputes whose locks are in force, the newest first.
func (db *DB) ListLockingDisputes(ctx context.Context, limit int) ([]dispute.Dispute, error) {
	return rowsAs(func(row query.ListLockingDisputesRow) dispute.Dispute {
		return disputeOfCustomer(row.Dispute, row.CustomerID)
	})(db.read().ListLockingDisputes(ctx, int32(limit)))
}

// ListOrderDisputes returns the disputes of an order, the oldest first.
func (db *DB) ListOrderDisputes(ctx context.Context, order string) ([]dispute.Dispute, error) {
	return rowsAs(disputeOf)(db.read().ListOrderDisputes(ctx, order))
}

// ListDisputesOfOrders returns the disputes of some orders, the oldest first.
func (db *DB) ListDisputesOfOrders(ctx context.Context, orders []string) ([]dispute.Dispute, error) {
	return rowsAs(disputeOf)(db.read().ListDisputesOfOrders(ctx, jsonText(orders)))
}

// ListCustomerDisputes returns the disputes of a customer's orders from one to another, by id; the
// oldest first.
func (db *DB) ListCustomerDisputes(ctx context.Context, customer, first, last string) ([]dispute.Dispute, error) {
	return rowsAs(disputeOf)(db.read().ListCustomerDisputes(ctx, query.ListCustomerDisputesParams{CustomerID: customer, FirstOrder: first, LastOrder: last}))
}

// CountOpenDisputes counts disputes with open work, up to 1000.
func (db *DB) CountOpenDisputes(ctx context.Context) (int, error) {
	count, err := db.read().CountOpenDisputes(ctx)
	return int(count), err
}

// ClaimDisputeListing leases the daily listing, if it is due.
func (db *DB) ClaimDisputeListing(ctx context.Context, provider string, now, lease time.Time) (until time.Time, claimed bool, err error) {
	err = db.sql.WriteOne(ctx, func(tx sqldb.DBTX) error {
		rows, err := query.New(tx).ClaimDisputeListing(ctx, query.ClaimDisputeListingParams{Provider: provider, Lease: micros(lease), Node: db.node, Now: micros(now)})
		if claimed = len(rows) == 1; claimed {
			until = fromMicros(rows[0])
		}
		return err
	})
	return until, claimed, err
}

// FinishDisputeListing ends the lease of a listing.
func (db *DB) FinishDisputeListing(ctx context.Context, provider string, lease, until, due time.Time) error {
	_, err := db.single().FinishDisputeListing(ctx, query.FinishDisputeListingParams{Provider: provider, Lease: micros(lease), ListedUntil: micros(until), DueAt: micros(due)})
	return err
}

// ReconciliationDisputes returns all disputes.
func (db *DB) ReconciliationDisputes(ctx context.Context) iter.Seq2[dispute.Dispute, error] {
	return pages(ctx, func(ctx context.Context, after string, limit int) ([]dispute.Dispute, error) {
		return rowsAs(disputeOf)(db.read().ListDisputesAfter(ctx, after, int32(limit)))
	}, func(d dispute.Dispute) string { return d.ID })
}
