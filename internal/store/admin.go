package store

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ admin.Store = (*DB)(nil)

// maxOperators bounds a list; no service has more.
const maxOperators = 1000

func (a accounts) ListOperators(ctx context.Context) ([]account.Account, error) {
	return rowsAs(accountOf)(a.q.ListOperators(ctx, maxOperators))
}

func (a accounts) SetOperator(ctx context.Context, id string, operator bool) (bool, error) {
	return changed(a.q.SetOperator(ctx, boolToInt(operator), id))
}

// GetDomainRef returns the domain with a name, unless it was transferred out.
func (db *DB) GetDomainRef(ctx context.Context, name string) (admin.DomainRef, bool, error) {
	return rowAs(func(row query.Domain) admin.DomainRef {
		return admin.DomainRef{ID: row.ID, Name: row.Name, TLD: row.Tld, Customer: row.CustomerID}
	})(db.read().GetCurrentDomainByName(ctx, name))
}

// AddDomainLock stores a lock with its audit event and mail.
func (db *DB) AddDomainLock(ctx context.Context, lock admin.Lock, event registrar.AuditEvent, mail registrar.Mail, clock time.Time) error {
	words := make([]string, len(lock.Restrictions))
	for i, block := range lock.Restrictions {
		words[i] = string(block)
	}
	return db.write(ctx, func(q *query.Queries) error {
		if err := q.InsertDomainLock(ctx, query.InsertDomainLockParams{
			ID: lock.ID, DomainID: lock.Domain, CustomerID: lock.Customer, Name: lock.Name, Cause: string(lock.Cause),
			Reason: lock.Reason, Reference: lock.Reference, Restrictions: strings.Join(words, " "),
			ReviewAt: micros(lock.ReviewAt), SetBy: lock.SetBy, SetAt: micros(lock.SetAt), HoldStepAt: micros(lock.HoldStepAt),
		}); err != nil {
			return err
		}
		return recordEffects(ctx, q, &event, &mail, clock)
	})
}

// LiftDomainLock ends an active lock.
func (db *DB) LiftDomainLock(ctx context.Context, lock admin.Lock, event registrar.AuditEvent, mail registrar.Mail, clock time.Time) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		if lock.Has(admin.Hold) { // a hold that is being stored for it comes first, and is released then
			if _, err := found(ignoreRow(q.LockDomain(ctx, lock.Domain))); err != nil {
				return err
			}
		}
		if err := swapped(q.LiftDomainLock(ctx, query.LiftDomainLockParams{
			LiftedAt: micros(lock.LiftedAt), LiftedBy: lock.LiftedBy, HoldStepAt: micros(lock.HoldStepAt), ID: lock.ID,
		})); err != nil {
			return err
		}
		return recordEffects(ctx, q, &event, &mail, clock)
	})
}

func lockOf(row query.DomainLock) admin.Lock {
	lock := admin.Lock{
		ID: row.ID, Domain: row.DomainID, Name: row.Name, Customer: row.CustomerID, Cause: admin.Cause(row.Cause),
		Reason: row.Reason, Reference: row.Reference, ReviewAt: fromMicros(row.ReviewAt), SetBy: row.SetBy, SetAt: fromMicros(row.SetAt),
		LiftedBy: row.LiftedBy, LiftedAt: fromMicros(row.LiftedAt), HoldStepAt: fromMicros(row.HoldStepAt),
	}
	for word := range strings.FieldsSeq(row.Restrictions) {
		lock.Restrictions = append(lock.Restrictions, admin.Restriction(word))
	}
	return lock
}

// GetDomainLock returns a lock, active or lifted.
func (db *DB) GetDomainLock(ctx context.Context, id string) (admin.Lock, bool, error) {
	return rowAs(lockOf)(db.read().GetDomainLock(ctx, id))
}

// ListActiveLocksOfDomain returns the active locks of a domain.
func (db *DB) ListActiveLocksOfDomain(ctx context.Context, domain string) ([]admin.Lock, error) {
	return rowsAs(lockOf)(db.read().ListActiveLocksOfDomain(ctx, domain))
}

// ListActiveLocksOfCustomer returns the active locks of a customer's domains.
func (db *DB) ListActiveLocksOfCustomer(ctx context.Context, customer string, limit int) ([]admin.Lock, error) {
	return rowsAs(lockOf)(db.read().ListActiveLocksOfCustomer(ctx, customer, int32(limit)))
}

// ListActiveDomainLocks returns active locks, the earliest review first.
func (db *DB) ListActiveDomainLocks(ctx context.Context, limit int) ([]admin.Lock, error) {
	return rowsAs(lockOf)(db.read().ListActiveDomainLocks(ctx, int32(limit)))
}

// ListLiftedDomainLocks returns lifted locks, the last lifted first.
func (db *DB) ListLiftedDomainLocks(ctx context.Context, limit int) ([]admin.Lock, error) {
	return rowsAs(lockOf)(db.read().ListLiftedDomainLocks(ctx, int32(limit)))
}

// ListDueLockHolds returns locks whose hold is due for a comparison with the registry.
func (db *DB) ListDueLockHolds(ctx context.Context, now time.Time, limit int) ([]admin.Lock, error) {
	return rowsAs(lockOf)(db.read().ListDueLockHolds(ctx, micros(now), int32(limit)))
}

// SetLockHoldStep stores when the hold of a lock is compared next.
func (db *DB) SetLockHoldStep(ctx context.Context, lock admin.Lock, next time.Time) (bool, error) {
	return changed(db.single().SetLockHoldStep(ctx, query.SetLockHoldStepParams{
		HoldStepAt: micros(next), ID: lock.ID, WasStep: micros(lock.HoldStepAt), LiftedAt: micros(lock.LiftedAt),
	}))
}

// RecordAuditEvent stores one audit event.
func (db *DB) RecordAuditEvent(ctx context.Context, event registrar.AuditEvent) error {
	return db.write(ctx, func(q *query.Queries) error { return insertAuditEvent(ctx, q, event) })
}

// CountFailedJobs counts unfinished jobs with an error by kind, and refunds due since a time.
func (db *DB) CountFailedJobs(ctx context.Context, refundsDueSince time.Time) (map[admin.JobKind]int, int, error) {
	row, err := db.read().CountFailedJobs(ctx, micros(refundsDueSince))
	return map[admin.JobKind]int{
		admin.JobOrder: int(row.Orders), admin.JobItem: int(row.Items), admin.JobChange: int(row.Changes), admin.JobMail: int(row.Mails), admin.JobWebhook: int(row.Webhooks),
	}, int(row.Refunds + row.UndecidedRefunds), err
}

// ListPendingRefunds returns refunds that are not made yet, the oldest first.
func (db *DB) ListPendingRefunds(ctx context.Context, limit int) ([]admin.Refund, error) {
	return rowsAs(func(row query.ListPendingRefundsRow) admin.Refund {
		return admin.Refund{
			Subject: admin.Subject{Name: row.Name, Items: int(cmp.Or(row.RefundedItems, row.Items))},
			ID:      row.ID, Order: row.OrderID, Amount: registrar.Cents(row.Amount), Since: fromMicros(row.CreatedAt),
		}
	})(db.read().ListPendingRefunds(ctx, int32(limit)))
}

// jobErrorSweepSize old errors are deleted with each new one, so that they don't accumulate.
const jobErrorSweepSize = 4

func jobErrorKey(kind admin.JobKind, id string) string { return string(kind) + ":" + id }

// PutJobError stores the last error of a job.
func (db *DB) PutJobError(ctx context.Context, kind admin.JobKind, id string, setback admin.JobError, before time.Time) error {
	return db.write(ctx, func(q *query.Queries) error {
		if err := q.DeleteOldJobErrors(ctx, micros(before), jobErrorSweepSize); err != nil {
			return err
		}
		return q.PutJobError(ctx, query.PutJobErrorParams{Job: jobErrorKey(kind, id), Code: string(setback.Code), At: micros(setback.At)})
	})
}

// GetJobError returns the last error of a job; false if there is none.
func (db *DB) GetJobError(ctx context.Context, kind admin.JobKind, id string) (admin.JobError, bool, error) {
	row, err := db.read().GetJobError(ctx, jobErrorKey(kind, id))
	ok, err := found(err)
	return admin.JobError{Code: registrar.Code(row.Code), At: fromMicros(row.At)}, ok, err
}
