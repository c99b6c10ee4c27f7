package store

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ domainchange.Store = (*DB)(nil)

// GetCustomerDomain returns a customer's domain.
func (db *DB) GetCustomerDomain(ctx context.Context, customer, id string) (domainchange.Domain, bool, error) {
	if isUnstorableText(id) {
		return domainchange.Domain{}, false, nil
	}
	row, err := db.read().GetCustomerDomain(ctx, id, customer)
	ok, err := found(err)
	return domainchange.Domain{
		ID: row.ID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld, Status: registrar.DomainStatus(row.Status), PaidUntil: fromMicros(row.PaidUntil),
		AutoRenew: row.AutoRenew != 0, Account: row.Account, Handle: row.Handle,
	}, ok, err
}

// GetRegistrantData returns the registrant of a customer's domains.
func (db *DB) GetRegistrantData(ctx context.Context, customer string) (registrar.Registrant, bool, error) {
	registrant, ok, err := db.GetRegistrant(ctx, customer)
	return registrant, ok, err
}

// GetRegistryRecord returns the registry's data about a domain as last read.
func (db *DB) GetRegistryRecord(ctx context.Context, domain string) (domainchange.Record, bool, error) {
	row, err := db.read().GetRegistryRecord(ctx, domain)
	if ok, err := found(err); !ok {
		return domainchange.Record{}, false, err
	}
	var record domainchange.Record
	if err := json.Unmarshal([]byte(row.Data), &record); err != nil {
		return domainchange.Record{}, false, err
	}
	record.ReadAt = fromMicros(row.ReadAt)
	return record, true, nil
}

// PutRegistryRecord stores the registry's data about a domain.
func (db *DB) PutRegistryRecord(ctx context.Context, domain string, record domainchange.Record) error {
	return db.write(ctx, func(q *query.Queries) error { return putRegistryRecord(ctx, q, domain, record) })
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
	desired, err := json.Marshal(change.Desired)
	if err != nil {
		return err
	}
	return db.write(ctx, func(q *query.Queries) error {
		if _, err := q.GetCustomerDomain(ctx, change.Domain, change.Customer); err != nil {
			if ok, err := found(err); ok || err != nil {
				return err
			}
			return &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchDomain}
		}
		added, err := q.InsertDomainChange(ctx, query.InsertDomainChangeParams{
			ID: change.ID, Account: change.Account, Kind: string(change.Kind), Desired: string(desired), Handle: change.Handle,
			OldHandle: change.OldHandle, CodeSealed: change.SealedCode, State: string(change.State),
			ByKind: string(change.Actor.Kind), ByID: change.Actor.Through, ByAddress: addressText(change.Actor.Address),
			DueAt: micros(change.DueAt), Node: change.Node, Attempts: int64(change.Attempts), Now: micros(change.CreatedAt),
			DomainID: change.Domain, CustomerID: change.Customer,
		})
		if err == nil && added == 0 { // another open change, or a changed domain
			err = &registrar.Error{Kind: registrar.KindConflict, Code: domainchange.ChangeInProgress}
		}
		return err
	})
}

// errChangeConflict rolls back a transition from a state that the change is no longer in.
var errChangeConflict = errors.New("the domain change is in another state")

// UpdateDomainChange stores a transition of a change with its effect on the domain.
func (db *DB) UpdateDomainChange(ctx context.Context, transition domainchange.Transition) (bool, error) {
	transition.To.SealedCode = db.reseal(registrar.AuthCodePurpose(transition.To.Name), transition.To.SealedCode)
	err := db.write(ctx, func(q *query.Queries) error {
		now := transition.To
		moved, err := q.UpdateDomainChange(ctx, query.UpdateDomainChangeParams{
			State: string(now.State), Failure: string(now.Failure), CodeSealed: now.SealedCode, DueAt: micros(now.DueAt), Node: now.Node,
			Attempts: int64(now.Attempts), UpdatedAt: micros(now.UpdatedAt), ID: now.ID,
			WasState: string(transition.From.State), WasDue: micros(transition.From.DueAt),
		})
		if err != nil {
			return err
		}
		if moved == 0 {
			return errChangeConflict
		}
		if now.State == domainchange.StatusDone && now.Kind == domainchange.UpdateRegistrant {
			err := q.SetDomainHandle(ctx, query.SetDomainHandleParams{Handle: now.Handle, UpdatedAt: micros(now.UpdatedAt), ID: now.Domain})
			if err != nil {
				return err
			}
		}
		return recordChangeEffects(ctx, q, transition)
	})
	if errors.Is(err, errChangeConflict) {
		return false, nil
	}
	return err == nil, err
}

func recordChangeEffects(ctx context.Context, q *query.Queries, transition domainchange.Transition) error {
	if transition.Record != nil {
		if err := putRegistryRecord(ctx, q, transition.To.Domain, *transition.Record); err != nil {
			return err
		}
	}
	if transition.AuditEvent != nil {
		if err := insertAuditEvent(ctx, q, *transition.AuditEvent); err != nil {
			return err
		}
	}
	if transition.Mail == nil {
		return nil
	}
	return enqueueMail(ctx, q, *transition.Mail, transition.At)
}

func changeOf(row query.DomainChange) (domainchange.Change, error) {
	address, _ := netip.ParseAddr(row.ByAddress)
	change := domainchange.Change{
		ID: row.ID, Customer: row.CustomerID, Domain: row.DomainID, Name: row.Name, TLD: row.Tld, Account: row.Account,
		Kind: domainchange.ChangeKind(row.Kind), Handle: row.Handle, OldHandle: row.OldHandle, SealedCode: row.CodeSealed,
		State: domainchange.ChangeStatus(row.State), Failure: registrar.Code(row.Failure),
		Actor: registrar.Actor{Kind: registrar.ActorKind(row.ByKind), Customer: row.CustomerID, Through: row.ByID, Address: address},
		DueAt: fromMicros(row.DueAt), Node: row.Node, Attempts: int(row.Attempts),
		CreatedAt: fromMicros(row.CreatedAt), UpdatedAt: fromMicros(row.UpdatedAt),
	}
	return change, json.Unmarshal([]byte(row.Desired), &change.Desired)
}

func changesOf(rows []query.DomainChange, err error) ([]domainchange.Change, error) {
	changes := make([]domainchange.Change, 0, len(rows))
	for _, row := range rows {
		change, err := changeOf(row)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change)
	}
	return changes, err
}

// ListDueDomainChanges returns due changes, the longest overdue first.
func (db *DB) ListDueDomainChanges(ctx context.Context, now time.Time, limit int) ([]domainchange.Change, error) {
	return changesOf(db.read().ListDueDomainChanges(ctx, micros(now), int32(limit)))
}

// GetDomainChange returns a change of any customer.
func (db *DB) GetDomainChange(ctx context.Context, id string) (domainchange.Change, bool, error) {
	if isUnstorableText(id) {
		return domainchange.Change{}, false, nil
	}
	row, err := db.read().GetDomainChange(ctx, id)
	if ok, err := found(err); !ok {
		return domainchange.Change{}, false, err
	}
	change, err := changeOf(row)
	return change, err == nil, err
}

// ListDomainChanges returns a domain's changes, the newest first.
func (db *DB) ListDomainChanges(ctx context.Context, domain string, limit int) ([]domainchange.Change, error) {
	return changesOf(db.read().ListDomainChanges(ctx, domain, int32(limit)))
}

// ListSecureChanges returns a domain's changes of the kind Secure, the newest first.
func (db *DB) ListSecureChanges(ctx context.Context, domain string, limit int) ([]domainchange.Change, error) {
	return changesOf(db.read().ListSecureChanges(ctx, domain, int32(limit)))
}

// ListObjectAuditEvents returns the audit events of one object of a customer.
func (db *DB) ListObjectAuditEvents(ctx context.Context, customer, object string, limit int) ([]registrar.AuditEvent, error) {
	rows, err := db.read().ListObjectAuditEvents(ctx, query.ListObjectAuditEventsParams{CustomerID: customer, Object: object, Limit: int32(limit)})
	events := make([]registrar.AuditEvent, 0, len(rows))
	for _, row := range rows {
		events = append(events, auditEventOf(row))
	}
	return events, err
}
