package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ provision.Domains = (*DB)(nil)

func provisionDomainOf(row query.Domain) provision.Domain {
	return provision.Domain{
		ID: row.ID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld, Status: registrar.DomainStatus(row.Status), PaidUntil: fromMicros(row.PaidUntil),
		Account: row.Account, Handle: row.Handle, Suspended: row.ContactHold != "", RegistryStatus: strings.Fields(row.RegistryStatus),
		RegistryExpires: fromMicros(row.RegistryExpires), SyncedAt: fromMicros(row.SyncedAt), SyncDue: fromMicros(row.SyncDue),
		UpdatedAt: fromMicros(row.UpdatedAt),
	}
}

// ListDueDomains returns domains that are due for a registry sync.
func (db *DB) ListDueDomains(ctx context.Context, now time.Time, limit int) ([]provision.Domain, error) {
	return rowsAs(provisionDomainOf)(db.read().ListDomainsDueForSync(ctx, micros(now), int32(limit)))
}

// ListDomainsAfter returns a page of all domains, by id.
func (db *DB) ListDomainsAfter(ctx context.Context, id string, limit int) ([]provision.Domain, error) {
	return rowsAs(provisionDomainOf)(db.read().ListDomains(ctx, id, int32(limit)))
}

// DomainByName returns the domain that is held now under a name, or else the last one.
func (db *DB) DomainByName(ctx context.Context, name string) (provision.Domain, bool, error) {
	domains, err := rowsAs(provisionDomainOf)(db.read().ListDomainsByName(ctx, name))
	if err != nil {
		return provision.Domain{}, false, err
	}
	domain, found := heldOrLast(domains)
	if mayBeHeld := domain.Status != registrar.DomainActive || slices.Contains(domain.RegistryStatus, "clientHold"); found && mayBeHeld && !domain.Suspended {
		domain.Suspended, err = db.read().IsHeldByLock(ctx, domain.ID, "")
	}
	return domain, found, err
}

// heldOrLast returns the one of a name's domains that is held now, or else the last one.
func heldOrLast(domains []provision.Domain) (provision.Domain, bool) {
	if len(domains) == 0 {
		return provision.Domain{}, false
	}
	held := slices.IndexFunc(domains, func(d provision.Domain) bool { return d.Status != registrar.DomainTransferredOut })
	if held < 0 {
		held = len(domains) - 1
	}
	return domains[held], true
}

// MakeDomainSyncDue makes the domain that is held under a name due for a registry sync.
func (db *DB) MakeDomainSyncDue(ctx context.Context, name string, now time.Time) error {
	return db.single().MakeDomainSyncDue(ctx, micros(now), name)
}

// UpdateDomainFromRegistry stores the registry's state of a domain.
func (db *DB) UpdateDomainFromRegistry(ctx context.Context, was, now provision.Domain, event *registrar.AuditEvent) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		if was.Status == registrar.DomainPending && now.Status == registrar.DomainActive {
			if err := swapped(q.ActivateDomain(ctx, query.ActivateDomainParams{
				Status: string(now.Status), PaidUntil: micros(now.PaidUntil), RegistryExpires: micros(now.RegistryExpires), SyncDue: micros(now.SyncDue),
				UpdatedAt: micros(now.UpdatedAt), ID: was.ID,
			})); err != nil {
				return err
			}
			was.Status, was.SyncDue = now.Status, now.SyncDue
		}
		if err := swapped(q.UpdateDomainFromRegistry(ctx, query.UpdateDomainFromRegistryParams{
			Status: string(now.Status), RegistryStatus: strings.Join(now.RegistryStatus, " "), RegistryExpires: micros(now.RegistryExpires),
			SyncedAt: micros(now.SyncedAt), SyncDue: micros(now.SyncDue), UpdatedAt: micros(now.UpdatedAt),
			ID: was.ID, WasStatus: string(was.Status), WasDue: micros(was.SyncDue),
		})); err != nil {
			return err
		}
		if now.Record != nil {
			if err := putRegistryRecord(ctx, q, was.ID, *now.Record); err != nil {
				return err
			}
		}
		if !now.DeletedAt.IsZero() {
			if err := q.InsertDeletedTermEnd(ctx, query.InsertDeletedTermEndParams{
				StepAt: micros(now.SyncedAt), DueAt: overdue, DeletedAt: micros(now.DeletedAt), UpdatedAt: micros(now.SyncedAt), DomainID: was.ID,
			}); err != nil {
				return err
			}
		}
		if now.Status == registrar.DomainTransferredOut && was.Status != now.Status {
			if err := endConsent(ctx, q, was.ID, renewal.EndTransferred, now.UpdatedAt); err != nil {
				return err
			}
		}
		if err := followSyncedTransfer(ctx, q, now, was.Account); err != nil {
			return err
		}
		return recordEffects(ctx, q, event, nil, time.Time{})
	})
}
