package store

import (
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
	rows, err := a.q.ListOperators(ctx, maxOperators)
	list := make([]account.Account, 0, len(rows))
	for _, row := range rows {
		list = append(list, accountOf(row))
	}
	return list, err
}

func (a accounts) SetOperator(ctx context.Context, id string, operator bool) (bool, error) {
	return changed(a.q.SetOperator(ctx, boolToInt(operator), id))
}

// GetDomainRef returns the domain with a name, unless it was transferred out.
func (db *DB) GetDomainRef(ctx context.Context, name string) (admin.DomainRef, bool, error) {
	if isUnstorableText(name) {
		return admin.DomainRef{}, false, nil
	}
	row, err := db.read().GetCurrentDomainByName(ctx, name)
	ok, err := found(err)
	return admin.DomainRef{ID: row.ID, Name: row.Name, Customer: row.CustomerID}, ok, err
}

// AddDomainLock stores a lock with its audit event and mail.
func (db *DB) AddDomainLock(ctx context.Context, lock admin.Lock, event registrar.AuditEvent, mail registrar.Mail) error {
	words := make([]string, len(lock.Restrictions))
	for i, block := range lock.Restrictions {
		words[i] = string(block)
	}
	return db.write(ctx, func(q *query.Queries) error {
		if err := q.InsertDomainLock(ctx, query.InsertDomainLockParams{
			ID: lock.ID, DomainID: lock.Domain, CustomerID: lock.Customer, Name: lock.Name, Cause: string(lock.Cause),
			Reason: lock.Reason, Reference: lock.Reference, Restrictions: strings.Join(words, " "),
			ReviewAt: micros(lock.ReviewAt), SetBy: lock.SetBy, SetAt: micros(lock.SetAt),
		}); err != nil {
			return err
		}
		if err := insertAuditEvent(ctx, q, event); err != nil {
			return err
		}
		return accounts{q}.QueueMail(ctx, mail, lock.SetAt)
	})
}

// LiftDomainLock ends an active lock.
func (db *DB) LiftDomainLock(ctx context.Context, lock admin.Lock, event registrar.AuditEvent, mail registrar.Mail) (lifted bool, err error) {
	err = db.write(ctx, func(q *query.Queries) error {
		lifted, err = changed(q.LiftDomainLock(ctx, query.LiftDomainLockParams{
			LiftedAt: micros(lock.LiftedAt), LiftedBy: lock.LiftedBy, ID: lock.ID,
		}))
		if err != nil || !lifted {
			return err
		}
		if err := insertAuditEvent(ctx, q, event); err != nil {
			return err
		}
		return accounts{q}.QueueMail(ctx, mail, lock.LiftedAt)
	})
	return lifted, err
}

func lockOf(row query.DomainLock) admin.Lock {
	lock := admin.Lock{
		ID: row.ID, Domain: row.DomainID, Name: row.Name, Customer: row.CustomerID, Cause: admin.Cause(row.Cause),
		Reason: row.Reason, Reference: row.Reference, ReviewAt: fromMicros(row.ReviewAt), SetBy: row.SetBy, SetAt: fromMicros(row.SetAt),
		LiftedBy: row.LiftedBy, LiftedAt: fromMicros(row.LiftedAt),
	}
	for word := range strings.FieldsSeq(row.Restrictions) {
		lock.Restrictions = append(lock.Restrictions, admin.Restriction(word))
	}
	return lock
}

func locksOf(rows []query.DomainLock, err error) ([]admin.Lock, error) {
	locks := make([]admin.Lock, 0, len(rows))
	for _, row := range rows {
		locks = append(locks, lockOf(row))
	}
	return locks, err
}

// GetDomainLock returns a lock, active or lifted.
func (db *DB) GetDomainLock(ctx context.Context, id string) (admin.Lock, bool, error) {
	if isUnstorableText(id) {
		return admin.Lock{}, false, nil
	}
	row, err := db.read().GetDomainLock(ctx, id)
	ok, err := found(err)
	return lockOf(row), ok, err
}

// ListActiveLocksOfDomain returns the active locks of a domain.
func (db *DB) ListActiveLocksOfDomain(ctx context.Context, domain string) ([]admin.Lock, error) {
	return locksOf(db.read().ListActiveLocksOfDomain(ctx, domain))
}

// ListActiveDomainLocks returns active locks, the earliest review first.
func (db *DB) ListActiveDomainLocks(ctx context.Context, limit int) ([]admin.Lock, error) {
	return locksOf(db.read().ListActiveDomainLocks(ctx, int32(limit)))
}

// ListLiftedDomainLocks returns lifted locks, the last lifted first.
func (db *DB) ListLiftedDomainLocks(ctx context.Context, limit int) ([]admin.Lock, error) {
	return locksOf(db.read().ListLiftedDomainLocks(ctx, int32(limit)))
}

// RecordAuditEvent stores one audit event.
func (db *DB) RecordAuditEvent(ctx context.Context, event registrar.AuditEvent) error {
	return db.write(ctx, func(q *query.Queries) error { return insertAuditEvent(ctx, q, event) })
}

// ListPendingRefunds returns refunds that are not made yet, the oldest first.
func (db *DB) ListPendingRefunds(ctx context.Context, limit int) ([]admin.Refund, error) {
	rows, err := db.read().ListPendingRefunds(ctx, int32(limit))
	refunds := make([]admin.Refund, 0, len(rows))
	for _, row := range rows {
		refunds = append(refunds, admin.Refund{ID: row.ID, Order: row.OrderID, Amount: registrar.Cents(row.Amount), Since: fromMicros(row.CreatedAt)})
	}
	return refunds, err
}

// jobErrorSweepSize is the number of old job errors deleted with each new one; more than
// one, so that they don't accumulate.
const jobErrorSweepSize = 4

func jobErrorKey(kind admin.JobKind, id string) string { return string(kind) + ":" + id }

// PutJobError stores the last error of a job.
func (db *DB) PutJobError(ctx context.Context, kind admin.JobKind, id string, setback admin.JobError, before time.Time) error {
	return db.write(ctx, func(q *query.Queries) error {
		if _, err := q.DeleteOldJobErrors(ctx, micros(before), jobErrorSweepSize); err != nil {
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
