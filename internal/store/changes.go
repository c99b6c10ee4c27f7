package store

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ steward.Store = (*DB)(nil)

// DomainOf is a customer's domain.
func (db *DB) DomainOf(ctx context.Context, customer, id string) (steward.Domain, bool, error) {
	if neverStored(id) {
		return steward.Domain{}, false, nil
	}
	row, err := db.read().OwnDomain(ctx, query.OwnDomainParams{ID: id, CustomerID: customer})
	ok, err := found(err)
	return steward.Domain{
		ID: row.ID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld, Status: row.Status, PaidUntil: fromMicros(row.PaidUntil),
		AutoRenew: row.AutoRenew != 0, Account: row.Account, Handle: row.Handle,
	}, ok, err
}

// HolderData is whom a customer's domains are registered for.
func (db *DB) HolderData(ctx context.Context, customer string) (steward.Holder, bool, error) {
	holder, told, err := db.HolderOf(ctx, customer)
	return holder, told, err
}

// RecordOf is what the registry told of a domain.
func (db *DB) RecordOf(ctx context.Context, domain string) (steward.Record, bool, error) {
	row, err := db.read().RecordOfDomain(ctx, domain)
	if ok, err := found(err); !ok {
		return steward.Record{}, false, err
	}
	var record steward.Record
	if err := json.Unmarshal([]byte(row.Data), &record); err != nil {
		return steward.Record{}, false, err
	}
	record.ReadAt = fromMicros(row.ReadAt)
	return record, true, nil
}

// KeepRecord keeps what a registry told of a domain.
func (db *DB) KeepRecord(ctx context.Context, domain string, record steward.Record) error {
	return db.write(ctx, func(q *query.Queries) error { return keepRecord(ctx, q, domain, record) })
}

func keepRecord(ctx context.Context, q *query.Queries, domain string, record steward.Record) error {
	data, err := json.Marshal(record)
	if err != nil {
		return err
	}
	return q.KeepRecord(ctx, query.KeepRecordParams{DomainID: domain, Data: string(data), ReadAt: micros(record.ReadAt)})
}

// AddChange stores an open change.
func (db *DB) AddChange(ctx context.Context, change steward.Change) error {
	wanted, err := json.Marshal(change.Wanted)
	if err != nil {
		return err
	}
	return db.write(ctx, func(q *query.Queries) error {
		if _, err := q.OwnDomain(ctx, query.OwnDomainParams{ID: change.Domain, CustomerID: change.Customer}); err != nil {
			if ok, err := found(err); ok || err != nil {
				return err
			}
			return &registrar.Error{Kind: registrar.KindNotFound, Code: steward.NoSuchDomain}
		}
		added, err := q.InsertChange(ctx, query.InsertChangeParams{
			ID: change.ID, Account: change.Account, Kind: string(change.Kind), Wanted: string(wanted), Handle: change.Handle,
			OldHandle: change.OldHandle, CodeSealed: change.SealedCode, State: string(change.State),
			ByKind: string(change.Actor.Kind), ByID: change.Actor.Through, ByAddress: addressText(change.Actor.Address),
			DueAt: micros(change.DueAt), Node: change.Node, Attempts: int64(change.Attempts), Now: micros(change.CreatedAt),
			DomainID: change.Domain, CustomerID: change.Customer,
		})
		if err == nil && added == 0 { // another change, or another state of the domain
			err = &registrar.Error{Kind: registrar.KindConflict, Code: steward.UnderWay}
		}
		return err
	})
}

// errChangeMoved rolls a step back whose change is somewhere else.
var errChangeMoved = errors.New("the change is not where the step begins")

// MoveChange takes one step of a change, with what it means for the domain.
func (db *DB) MoveChange(ctx context.Context, move steward.Move) (bool, error) {
	move.Now.SealedCode = db.resealed(registrar.CodePurpose(move.Now.Name), move.Now.SealedCode)
	err := db.write(ctx, func(q *query.Queries) error {
		now := move.Now
		moved, err := q.MoveChange(ctx, query.MoveChangeParams{
			State: string(now.State), Failure: string(now.Failure), CodeSealed: now.SealedCode, DueAt: micros(now.DueAt), Node: now.Node,
			Attempts: int64(now.Attempts), UpdatedAt: micros(now.UpdatedAt), ID: now.ID,
			WasState: string(move.Was.State), WasDue: micros(move.Was.DueAt),
		})
		if err != nil {
			return err
		}
		if moved == 0 {
			return errChangeMoved
		}
		if now.State == steward.StateDone && now.Kind == steward.TakeHolder {
			err := q.HandOverDomain(ctx, query.HandOverDomainParams{Handle: now.Handle, UpdatedAt: micros(now.UpdatedAt), ID: now.Domain})
			if err != nil {
				return err
			}
		}
		return tellChange(ctx, q, move)
	})
	if errors.Is(err, errChangeMoved) {
		return false, nil
	}
	return err == nil, err
}

func tellChange(ctx context.Context, q *query.Queries, move steward.Move) error {
	if move.Record != nil {
		if err := keepRecord(ctx, q, move.Now.Domain, *move.Record); err != nil {
			return err
		}
	}
	if move.Deed != nil {
		if err := recordDeed(ctx, q, *move.Deed); err != nil {
			return err
		}
	}
	if move.Letter == nil {
		return nil
	}
	return recordLetter(ctx, q, *move.Letter, move.At)
}

func changeOf(row query.Change) (steward.Change, error) {
	address, _ := netip.ParseAddr(row.ByAddress)
	change := steward.Change{
		ID: row.ID, Customer: row.CustomerID, Domain: row.DomainID, Name: row.Name, TLD: row.Tld, Account: row.Account,
		Kind: steward.Kind(row.Kind), Handle: row.Handle, OldHandle: row.OldHandle, SealedCode: row.CodeSealed,
		State: steward.State(row.State), Failure: registrar.Code(row.Failure),
		Actor: registrar.Actor{Kind: registrar.ActorKind(row.ByKind), Customer: row.CustomerID, Through: row.ByID, Address: address},
		DueAt: fromMicros(row.DueAt), Node: row.Node, Attempts: int(row.Attempts),
		CreatedAt: fromMicros(row.CreatedAt), UpdatedAt: fromMicros(row.UpdatedAt),
	}
	return change, json.Unmarshal([]byte(row.Wanted), &change.Wanted)
}

func changesOf(rows []query.Change, err error) ([]steward.Change, error) {
	changes := make([]steward.Change, 0, len(rows))
	for _, row := range rows {
		change, err := changeOf(row)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change)
	}
	return changes, err
}

// DueChanges are open changes whose time has come, the longest overdue first.
func (db *DB) DueChanges(ctx context.Context, now time.Time, limit int) ([]steward.Change, error) {
	return changesOf(db.read().DueChanges(ctx, query.DueChangesParams{DueAt: micros(now), Limit: int32(limit)}))
}

// ChangeByID is one change, whoever's it is.
func (db *DB) ChangeByID(ctx context.Context, id string) (steward.Change, bool, error) {
	if neverStored(id) {
		return steward.Change{}, false, nil
	}
	row, err := db.read().ChangeByID(ctx, id)
	if ok, err := found(err); !ok {
		return steward.Change{}, false, err
	}
	change, err := changeOf(row)
	return change, err == nil, err
}

// ChangesOf are a domain's changes, the newest first.
func (db *DB) ChangesOf(ctx context.Context, domain string, limit int) ([]steward.Change, error) {
	return changesOf(db.read().ChangesOfDomain(ctx, query.ChangesOfDomainParams{DomainID: domain, Limit: int32(limit)}))
}

// SecuringsOf are a domain's changes of that kind, the newest first.
func (db *DB) SecuringsOf(ctx context.Context, domain string, limit int) ([]steward.Change, error) {
	return changesOf(db.read().SecuringsOfDomain(ctx, query.SecuringsOfDomainParams{DomainID: domain, Limit: int32(limit)}))
}

// DeedsAbout is what the audit tells of one object of a customer's.
func (db *DB) DeedsAbout(ctx context.Context, customer, object string, limit int) ([]registrar.Deed, error) {
	rows, err := db.read().DeedsAbout(ctx, query.DeedsAboutParams{CustomerID: customer, Object: object, Limit: int32(limit)})
	deeds := make([]registrar.Deed, 0, len(rows))
	for _, row := range rows {
		deeds = append(deeds, deedOf(row))
	}
	return deeds, err
}
