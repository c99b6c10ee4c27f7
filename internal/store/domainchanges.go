package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ domainchange.Store = (*DB)(nil)

// GetCustomerDomain returns a customer's domain.
func (db *DB) GetCustomerDomain(ctx context.Context, customer, id string) (domainchange.Domain, bool, error) {
	return rowAs(func(row query.Domain) domainchange.Domain {
		return domainchange.Domain{
			ID: row.ID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld, Status: registrar.DomainStatus(row.Status),
			PaidUntil: fromMicros(row.PaidUntil), RegistryExpires: fromMicros(row.RegistryExpires), Account: row.Account, Handle: row.Handle,
			Holder: row.HolderID, Registrant: fromJSON[registrar.Registrant](row.Registrant), RegistrantSince: registrantSince(row),
			Premium: row.Premium != 0,
		}
	})(db.read().GetCustomerDomain(ctx, id, customer))
}

// GetRegistrantData returns the registrant of a customer's domains.
func (db *DB) GetRegistrantData(ctx context.Context, customer string) (registrar.Registrant, bool, error) {
	return db.GetRegistrant(ctx, customer)
}

// ListPastRegistrants returns the former registrants of a domain, the newest first.
func (db *DB) ListPastRegistrants(ctx context.Context, domain string, limit int) ([]domainchange.PastRegistrant, error) {
	return rowsAs(func(row query.PastRegistrant) domainchange.PastRegistrant {
		return domainchange.PastRegistrant{
			Holder: row.HolderID, Registrant: fromJSON[registrar.Registrant](row.Registrant), Reason: holder.Reason(row.Reason),
			Since: fromMicros(row.Since), Until: fromMicros(row.Until),
		}
	})(db.read().ListPastRegistrants(ctx, domain, int32(limit)))
}

// GetRegistryRecord returns the registry's data about a domain as last read.
func (db *DB) GetRegistryRecord(ctx context.Context, domain string) (domainchange.Record, bool, error) {
	return decodeRow(func(row query.GetRegistryRecordRow) (record domainchange.Record, err error) {
		err = json.Unmarshal([]byte(row.Data), &record)
		record.ReadAt = fromMicros(row.ReadAt)
		return record, err
	})(db.read().GetRegistryRecord(ctx, domain))
}

// PutRegistryRecord stores the registry's data about a domain, and the statuses of the newest record
// where the list of domains reads them.
func (db *DB) PutRegistryRecord(ctx context.Context, domain string, record domainchange.Record) error {
	return db.write(ctx, func(q *query.Queries) error {
		if err := putRegistryRecord(ctx, q, domain, record); err != nil {
			return err
		}
		newest, err := q.GetRegistryRecord(ctx, domain)
		if err != nil {
			return err
		}
		return q.SetRegistryStatus(ctx, statusText(fromJSON[domainchange.Record](newest.Data).Statuses), domain)
	})
}

// statusText is how the statuses of a registry are stored with a domain.
func statusText(statuses []string) string {
	return strings.Join(slices.Sorted(slices.Values(statuses)), " ")
}

func putRegistryRecord(ctx context.Context, q *query.Queries, domain string, record domainchange.Record) error {
	data, err := json.Marshal(record)
	if err != nil {
		return err
	}
	return q.PutRegistryRecord(ctx, query.PutRegistryRecordParams{DomainID: domain, Data: string(data), ReadAt: micros(record.ReadAt)})
}

// AddDomainChange stores an open change.
func (db *DB) AddDomainChange(ctx context.Context, change domainchange.Change) error {
	return db.write(ctx, func(q *query.Queries) error {
		if _, err := q.GetCustomerDomain(ctx, change.Domain, change.Customer); err != nil {
			if _, err := found(err); err != nil {
				return err
			}
			return registrar.NotFound(registrar.NoSuchDomain)
		}
		inProgress := registrar.Conflict(domainchange.ChangeInProgress) // or a changed domain
		if err := rowOr(inProgress)(insertDomainChange(ctx, q, change)); err != nil {
			return err
		}
		// The row comes first, as in UpdateDomainChange: two transactions can't wait for each other,
		// and a change that ended before this one has set the registrant that is read now.
		suspends := change.Kind == domainchange.Hold && strings.HasPrefix(change.Desired.Lock, contactcheck.IDPrefix)
		locks := change.Kind == domainchange.Hold && strings.HasPrefix(change.Desired.Lock, admin.LockIDPrefix)
		if suspends || locks { // a confirmation, or the end of the lock, waits, or has been committed
			if _, err := found(ignoreRow(q.LockDomain(ctx, change.Domain))); err != nil {
				return err
			}
		}
		if locks {
			if lock, err := q.GetDomainLock(ctx, change.Desired.Lock); err != nil || lock.LiftedAt != 0 {
				return cmp.Or(err, inProgress)
			}
		}
		if !suspends && change.Replaces.IsZero() {
			return nil
		}
		domain, err := q.GetCustomerDomain(ctx, change.Domain, change.Customer)
		switch {
		case err != nil:
			return err
		case suspends && (domain.ContactHold != change.Desired.Lock || domain.ContactCheck == ""),
			!change.Replaces.IsZero() && !change.Replaces.Equal(registrantSince(domain)):
			return inProgress
		}
		return nil
	})
}

// registrantSince is when a domain got its registrant.
func registrantSince(row query.Domain) time.Time {
	return fromMicros(cmp.Or(row.RegistrantSince, row.CreatedAt))
}

func insertDomainChange(ctx context.Context, q *query.Queries, change domainchange.Change) (sql.Result, error) {
	desired, err := json.Marshal(change.Desired)
	if err != nil {
		return nil, err
	}
	return q.InsertDomainChange(ctx, query.InsertDomainChangeParams{
		ID: change.ID, Account: change.Account, Kind: string(change.Kind), Desired: string(desired), Handle: change.Handle,
		OldHandle: change.OldHandle, CodeSealed: change.SealedCode, State: string(change.State),
		ByKind: string(change.Actor.Kind), ByID: change.Actor.Through, ByAddress: addressText(change.Actor.Address),
		DueAt: micros(change.DueAt), Node: change.Node, Attempts: int64(change.Attempts), Now: micros(change.CreatedAt),
		DomainID: change.Domain, CustomerID: change.Customer, BulkID: change.Bulk,
	})
}

// UpdateDomainChange stores a transition of a change with its effect on the domain.
func (db *DB) UpdateDomainChange(ctx context.Context, transition domainchange.Transition) (bool, error) {
	now := transition.To
	now.SealedCode = db.reseal(registrar.AuthCodePurpose(now.Name), now.SealedCode)
	desired, err := json.Marshal(now.Desired)
	if err != nil {
		return false, err
	}
	return db.swap(ctx, func(q *query.Queries) error {
		if err := swapped(q.UpdateDomainChange(ctx, query.UpdateDomainChangeParams{
			State: string(now.State), Failure: string(now.Failure), Desired: string(desired), WaitUntil: micros(now.WaitUntil), CodeSealed: now.SealedCode, DueAt: micros(now.DueAt), Node: now.Node,
			Attempts: int64(now.Attempts), UpdatedAt: micros(now.UpdatedAt), ID: now.ID,
			WasState: string(transition.From.State), WasDue: micros(transition.From.DueAt),
		})); err != nil {
			return err
		}
		if now.State == domainchange.StatusDone && now.Kind == domainchange.UpdateRegistrant {
			if err := setRegistrant(ctx, q, transition); err != nil {
				return err
			}
		}
		if transition.Record != nil {
			if err := putRegistryRecord(ctx, q, now.Domain, *transition.Record); err != nil {
				return err
			}
			if err := q.SetRegistryStatus(ctx, statusText(transition.Record.Statuses), now.Domain); err != nil {
				return err
			}
		}
		if transition.NextLock != "" {
			if err := insertNextLock(ctx, q, transition); err != nil {
				return err
			}
		}
		if err := recordEffects(ctx, q, transition.AuditEvent, transition.Mail, transition.At); err != nil {
			return err
		}
		return queueMails(ctx, q, transition.Notices, transition.At)
	})
}

// insertNextLock adds the change that locks a transferred domain after another one has ended.
func insertNextLock(ctx context.Context, q *query.Queries, transition domainchange.Transition) error {
	before := transition.To
	_, err := insertDomainChange(ctx, q, domainchange.Change{
		ID: transition.NextLock, Customer: before.Customer, Domain: before.Domain, Account: before.Account,
		Kind: domainchange.Lock, State: domainchange.StatusOpen, Actor: before.Actor, DueAt: transition.At, CreatedAt: before.UpdatedAt,
	})
	return err
}

// setRegistrant gives a domain the registrant of a change that was made, and keeps the former one.
func setRegistrant(ctx context.Context, q *query.Queries, transition domainchange.Transition) error {
	change := transition.To
	if transition.PastRegistrant != transition.Registrant {
		if err := q.InsertPastRegistrant(ctx, query.InsertPastRegistrantParams{
			ID: change.ID, Registrant: optionalJSON(transition.PastRegistrant), Reason: string(change.Desired.Reason), Now: micros(change.UpdatedAt), DomainID: change.Domain,
		}); err != nil {
			return err
		}
	}
	return q.SetDomainRegistrant(ctx, query.SetDomainRegistrantParams{
		Handle: change.Handle, HolderID: change.Desired.Holder, Registrant: optionalJSON(transition.Registrant), Now: micros(change.UpdatedAt), ID: change.Domain,
		EmailKey: emailKey(transition.Registrant.Email), SameAddress: boolToInt(emailKey(transition.PastRegistrant.Email) == emailKey(transition.Registrant.Email)),
	})
}

func changeOf(row query.DomainChange) (domainchange.Change, error) {
	address, _ := netip.ParseAddr(row.ByAddress)
	change := domainchange.Change{
		ID: row.ID, Customer: row.CustomerID, Domain: row.DomainID, Name: row.Name, TLD: row.Tld, Account: row.Account,
		Kind: domainchange.ChangeKind(row.Kind), Handle: row.Handle, OldHandle: row.OldHandle, SealedCode: row.CodeSealed,
		State: domainchange.ChangeStatus(row.State), Failure: registrar.Code(row.Failure), Bulk: row.BulkID,
		Actor:     registrar.Actor{Kind: registrar.ActorKind(row.ByKind), Customer: row.CustomerID, Through: row.ByID, Address: address},
		WaitUntil: fromMicros(row.WaitUntil), DueAt: fromMicros(row.DueAt), Node: row.Node, Attempts: int(row.Attempts),
		CreatedAt: fromMicros(row.CreatedAt), UpdatedAt: fromMicros(row.UpdatedAt),
	}
	err := json.Unmarshal([]byte(row.Desired), &change.Desired)
	return change, err
}

// ClaimDueDomainChanges leases changes that are due by the clock, or whose wait is over by the
// business time, the longest overdue first.
func (db *DB) ClaimDueDomainChanges(ctx context.Context, clock, now, lease time.Time, limit int) (claimed []domainchange.Change, err error) {
	err = db.sql.WriteOne(ctx, func(tx sqldb.DBTX) (err error) {
		claimed, err = decodeRows(changeOf)(query.New(tx).ClaimDueDomainChanges(ctx, query.ClaimDueDomainChangesParams{
			Clock: micros(clock), Now: micros(now), Lease: micros(lease), Node: db.node, MaxRows: int32(limit),
		}))
		return err
	})
	return claimed, err
}

// GetDomainChange returns a change of any customer.
func (db *DB) GetDomainChange(ctx context.Context, id string) (domainchange.Change, bool, error) {
	return decodeRow(changeOf)(db.read().GetDomainChange(ctx, id))
}

// ListDomainChanges returns a domain's changes, the newest first.
func (db *DB) ListDomainChanges(ctx context.Context, domain string, limit int) ([]domainchange.Change, error) {
	return decodeRows(changeOf)(db.read().ListDomainChanges(ctx, domain, int32(limit)))
}

// ListSecureChanges returns a domain's changes of the kind Secure, the newest first.
func (db *DB) ListSecureChanges(ctx context.Context, domain string, limit int) ([]domainchange.Change, error) {
	return decodeRows(changeOf)(db.read().ListSecureChanges(ctx, domain, int32(limit)))
}

// GetLastChangeFor returns the newest change of two kinds that was stored for a lock or dispute.
func (db *DB) GetLastChangeFor(ctx context.Context, domain, reference string, kind, or domainchange.ChangeKind) (domainchange.Change, bool, error) {
	quoted, err := json.Marshal(reference)
	if err != nil {
		return domainchange.Change{}, false, err
	}
	row, err := db.read().GetLastChangeFor(ctx, query.GetLastChangeForParams{
		DomainID: domain, Kind: string(kind), OtherKind: string(or), Pattern: `%"for":` + string(quoted) + "%",
	})
	if exists, err := found(ignoreRow(row, err)); err != nil || !exists {
		return domainchange.Change{}, false, err
	}
	change, err := changeOf(row)
	return change, err == nil, err
}

// IsOpenedSince reports whether an unlock or an auth code was stored after a change.
func (db *DB) IsOpenedSince(ctx context.Context, domain, change string) (bool, error) {
	count, err := db.read().CountOpeningsSince(ctx, domain, change)
	return count > 0, err
}

// ListObjectAuditEvents returns the audit events of one object of a customer.
func (db *DB) ListObjectAuditEvents(ctx context.Context, customer, object string, limit int) ([]registrar.AuditEvent, error) {
	return rowsAs(auditEventOf)(db.read().ListObjectAuditEvents(ctx, query.ListObjectAuditEventsParams{
		CustomerID: customer, Object: object, Limit: int32(limit),
	}))
}
