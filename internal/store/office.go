package store

import (
	"context"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ office.Store = (*DB)(nil)

// maxOperators is more than any service has.
const maxOperators = 1000

func (a accounts) Operators(ctx context.Context) ([]customer.Account, error) {
	rows, err := a.q.Operators(ctx, maxOperators)
	list := make([]customer.Account, 0, len(rows))
	for _, row := range rows {
		list = append(list, accountOf(row))
	}
	return list, err
}

func (a accounts) SetOperator(ctx context.Context, id string, operator bool) (bool, error) {
	return changed(a.q.SetOperator(ctx, query.SetOperatorParams{ID: id, Operator: number(operator)}))
}

// HeldDomain is the domain of a name, unless it went elsewhere.
func (db *DB) HeldDomain(ctx context.Context, name string) (office.Held, bool, error) {
	if neverStored(name) {
		return office.Held{}, false, nil
	}
	row, err := db.read().HeldDomain(ctx, name)
	ok, err := found(err)
	return office.Held{ID: row.ID, Name: row.Name, Customer: row.CustomerID}, ok, err
}

// AddLock stores a lock with its deed and letter.
func (db *DB) AddLock(ctx context.Context, lock office.Lock, deed registrar.Deed, letter registrar.Letter) error {
	words := make([]string, len(lock.Blocks))
	for i, block := range lock.Blocks {
		words[i] = string(block)
	}
	return db.write(ctx, func(q *query.Queries) error {
		if err := q.InsertDomainLock(ctx, query.InsertDomainLockParams{
			ID: lock.ID, DomainID: lock.Domain, CustomerID: lock.Customer, Name: lock.Name, Cause: string(lock.Cause),
			Reason: lock.Reason, Reference: lock.Reference, Blocks: strings.Join(words, " "),
			ReviewAt: micros(lock.ReviewAt), SetBy: lock.SetBy, SetAt: micros(lock.SetAt),
		}); err != nil {
			return err
		}
		if err := recordDeed(ctx, q, deed); err != nil {
			return err
		}
		return accounts{q}.StoreLetter(ctx, letter, lock.SetAt)
	})
}

// LiftLock ends a lock that is in force.
func (db *DB) LiftLock(ctx context.Context, lock office.Lock, deed registrar.Deed, letter registrar.Letter) (lifted bool, err error) {
	err = db.write(ctx, func(q *query.Queries) error {
		lifted, err = changed(q.LiftDomainLock(ctx, query.LiftDomainLockParams{
			LiftedAt: micros(lock.LiftedAt), LiftedBy: lock.LiftedBy, ID: lock.ID,
		}))
		if err != nil || !lifted {
			return err
		}
		if err := recordDeed(ctx, q, deed); err != nil {
			return err
		}
		return accounts{q}.StoreLetter(ctx, letter, lock.LiftedAt)
	})
	return lifted, err
}

func lockOf(row query.DomainLock) office.Lock {
	lock := office.Lock{
		ID: row.ID, Domain: row.DomainID, Name: row.Name, Customer: row.CustomerID, Cause: office.Cause(row.Cause),
		Reason: row.Reason, Reference: row.Reference, ReviewAt: fromMicros(row.ReviewAt), SetBy: row.SetBy, SetAt: fromMicros(row.SetAt),
		LiftedBy: row.LiftedBy, LiftedAt: fromMicros(row.LiftedAt),
	}
	for word := range strings.FieldsSeq(row.Blocks) {
		lock.Blocks = append(lock.Blocks, office.Block(word))
	}
	return lock
}

func locksOf(rows []query.DomainLock, err error) ([]office.Lock, error) {
	locks := make([]office.Lock, 0, len(rows))
	for _, row := range rows {
		locks = append(locks, lockOf(row))
	}
	return locks, err
}

// LockByID is one lock, in force or not.
func (db *DB) LockByID(ctx context.Context, id string) (office.Lock, bool, error) {
	if neverStored(id) {
		return office.Lock{}, false, nil
	}
	row, err := db.read().DomainLockByID(ctx, id)
	ok, err := found(err)
	return lockOf(row), ok, err
}

// LocksOf are those in force on a domain.
func (db *DB) LocksOf(ctx context.Context, domain string) ([]office.Lock, error) {
	return locksOf(db.read().DomainLocksOf(ctx, domain))
}

// LocksInForce begin with the one that is due first.
func (db *DB) LocksInForce(ctx context.Context, limit int) ([]office.Lock, error) {
	return locksOf(db.read().DomainLocksInForce(ctx, int32(limit)))
}

// LiftedLocks begin with the one that was lifted last.
func (db *DB) LiftedLocks(ctx context.Context, limit int) ([]office.Lock, error) {
	return locksOf(db.read().DomainLocksLifted(ctx, int32(limit)))
}

// Note writes one entry of the audit.
func (db *DB) Note(ctx context.Context, deed registrar.Deed) error {
	return db.write(ctx, func(q *query.Queries) error { return recordDeed(ctx, q, deed) })
}

// WaitingRefunds are those that are due the longest.
func (db *DB) WaitingRefunds(ctx context.Context, limit int) ([]office.Refund, error) {
	rows, err := db.read().RefundsWaiting(ctx, int32(limit))
	refunds := make([]office.Refund, 0, len(rows))
	for _, row := range rows {
		refunds = append(refunds, office.Refund{ID: row.ID, Order: row.OrderID, Amount: registrar.Cents(row.Amount), Since: fromMicros(row.CreatedAt)})
	}
	return refunds, err
}

// forgottenAtOnce is how many old setbacks go when a new one comes: more than one, so
// that they can't pile up.
const forgottenAtOnce = 4

func setbackKey(kind office.JobKind, id string) string { return string(kind) + ":" + id }

// KeepSetback remembers why a job did not get on.
func (db *DB) KeepSetback(ctx context.Context, kind office.JobKind, id string, setback office.Setback, before time.Time) error {
	return db.write(ctx, func(q *query.Queries) error {
		if _, err := q.DeleteOldSetbacks(ctx, query.DeleteOldSetbacksParams{At: micros(before), Limit: forgottenAtOnce}); err != nil {
			return err
		}
		return q.PutSetback(ctx, query.PutSetbackParams{Job: setbackKey(kind, id), Code: string(setback.Code), At: micros(setback.At)})
	})
}

// Setback is why a job did not get on; false if nobody knows.
func (db *DB) Setback(ctx context.Context, kind office.JobKind, id string) (office.Setback, bool, error) {
	row, err := db.read().SetbackOf(ctx, setbackKey(kind, id))
	ok, err := found(err)
	return office.Setback{Code: registrar.Code(row.Code), At: fromMicros(row.At)}, ok, err
}
