package store

import (
	"context"
	"encoding/json"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ holder.Store = (*DB)(nil)

func holderOf(row query.Holder) holder.Holder {
	return holder.Holder{
		ID: row.ID, Kind: account.RegistrantKind(row.Kind), Contacts: holder.Contacts{Tech: row.TechID, Billing: row.BillingID}, UpdatedAt: fromMicros(row.UpdatedAt),
		Registrant: registrar.Registrant{
			Name: row.Name, Organisation: row.Organisation, Street: row.Street, PostalCode: row.PostalCode, City: row.City,
			State: row.State, Country: row.Country, Phone: row.Phone, Email: row.Email,
		},
	}
}

// ListHolders returns an account's holders, without the account itself.
func (db *DB) ListHolders(ctx context.Context, customer string, limit int) ([]holder.Holder, error) {
	return rowsAs(holderOf)(db.read().ListHolders(ctx, customer, int32(limit)))
}

// GetHolder returns a holder of an account.
func (db *DB) GetHolder(ctx context.Context, customer, id string) (holder.Holder, bool, error) {
	if sqldb.IsUnstorable(id) {
		return holder.Holder{}, false, nil
	}
	return rowAs(holderOf)(db.read().GetHolder(ctx, id, customer))
}

// GetOwnHolder returns an account's own data.
func (db *DB) GetOwnHolder(ctx context.Context, customer string) (holder.Holder, bool, error) {
	return rowAs(func(row query.GetRegistrantWithEmailRow) holder.Holder {
		return holder.Holder{ID: holder.Own, Kind: account.RegistrantKind(row.Kind), Registrant: registrantOfRow(row), UpdatedAt: fromMicros(row.UpdatedAt)}
	})(db.read().GetRegistrantWithEmail(ctx, customer))
}

// AddHolder stores a holder unless the account has too many.
func (db *DB) AddHolder(ctx context.Context, customer string, h holder.Holder, limit int, event registrar.AuditEvent) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		// The account's row is the lock for the number of its holders.
		if err := q.LockCustomer(ctx, customer); err != nil {
			return err
		}
		if err := swapped(q.InsertHolder(ctx, query.InsertHolderParams{
			ID: h.ID, CustomerID: customer, Kind: string(h.Kind), Name: h.Name, Organisation: h.Organisation, Street: h.Street, PostalCode: h.PostalCode,
			City: h.City, State: h.State, Country: h.Country, Phone: h.Phone, Email: h.Email,
			TechID: h.Contacts.Tech, BillingID: h.Contacts.Billing, Now: micros(h.UpdatedAt), MaxHolders: int64(limit),
		})); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

// UpdateHolder stores new data of a holder.
func (db *DB) UpdateHolder(ctx context.Context, customer string, h holder.Holder, event registrar.AuditEvent) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		if err := swapped(q.UpdateHolder(ctx, query.UpdateHolderParams{
			Kind: string(h.Kind), Name: h.Name, Organisation: h.Organisation, Street: h.Street, PostalCode: h.PostalCode, City: h.City,
			State: h.State, Country: h.Country, Phone: h.Phone, Email: h.Email,
			TechID: h.Contacts.Tech, BillingID: h.Contacts.Billing, Now: micros(h.UpdatedAt), ID: h.ID, CustomerID: customer,
		})); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

// DeleteHolder deletes a holder. Domains and paid orders have copies of its data.
func (db *DB) DeleteHolder(ctx context.Context, customer, id string, event registrar.AuditEvent) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		if err := swapped(q.DeleteHolder(ctx, id, customer)); err != nil {
			return err
		}
		if err := q.ClearHolderContact(ctx, id, customer); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

// ListDomainsOfHolder returns the domains after a name that a customer holds for a holder.
func (db *DB) ListDomainsOfHolder(ctx context.Context, customer, id, after string, limit int) ([]holder.Domain, error) {
	own, _, err := db.GetRegistrant(ctx, customer)
	if err != nil {
		return nil, err
	}
	return rowsAs(func(row query.ListDomainsOfHolderRow) holder.Domain {
		domain := holder.Domain{ID: row.ID, Name: row.Name, TLD: row.Tld, Status: registrar.DomainStatus(row.Status), Registrant: own}
		if row.Registrant != "" {
			domain.Registrant = fromJSON[registrar.Registrant](row.Registrant)
		}
		return domain
	})(db.read().ListDomainsOfHolder(ctx, query.ListDomainsOfHolderParams{CustomerID: customer, HolderID: storedHolder(id), AfterName: after, MaxRows: int32(limit)}))
}

// storedHolder returns the id as columns have it: empty for the account itself.
func storedHolder(id string) string {
	if id == holder.Own {
		return ""
	}
	return id
}

// freezeRegistrants copies an account's data to its domains that have no registrant of their own,
// before the data change.
func freezeRegistrants(ctx context.Context, q *query.Queries, customer string) error {
	row, err := q.GetRegistrantWithEmail(ctx, customer)
	if known, err := found(err); err != nil || !known {
		return err
	}
	text, err := json.Marshal(registrantOfRow(row))
	if err != nil {
		return err
	}
	return q.FreezeRegistrants(ctx, string(text), customer)
}
