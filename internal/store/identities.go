package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// GetIdentity returns a customer's identity verification; false if there was none.
func (db *DB) GetIdentity(ctx context.Context, customer string) (order.Identity, bool, error) {
	return rowAs(func(row query.Identity) order.Identity {
		return order.Identity{
			Customer: row.CustomerID, Session: row.Session, URL: row.Url, Name: row.Name, VerifiedAt: fromMicros(row.VerifiedAt),
			Failure: registrar.Code(row.Failure), UpdatedAt: fromMicros(row.UpdatedAt),
		}
	})(db.read().GetIdentity(ctx, customer))
}

// UpdateIdentity replaces the identity was; nil means that there is none yet.
func (db *DB) UpdateIdentity(ctx context.Context, was *order.Identity, now order.Identity, event *registrar.AuditEvent) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		var err error
		if was == nil {
			err = swapped(q.InsertIdentity(ctx, query.InsertIdentityParams{
				CustomerID: now.Customer, Session: now.Session, Url: now.URL, Name: now.Name, VerifiedAt: micros(now.VerifiedAt),
				Failure: string(now.Failure), UpdatedAt: micros(now.UpdatedAt),
			}))
		} else {
			err = swapped(q.ReplaceIdentity(ctx, query.ReplaceIdentityParams{
				Session: now.Session, Url: now.URL, Name: now.Name, VerifiedAt: micros(now.VerifiedAt),
				Failure: string(now.Failure), UpdatedAt: micros(now.UpdatedAt), CustomerID: now.Customer,
				WasSession: was.Session, WasUrl: was.URL, WasName: was.Name, WasVerifiedAt: micros(was.VerifiedAt),
				WasFailure: string(was.Failure), WasUpdatedAt: micros(was.UpdatedAt),
			}))
		}
		if err != nil {
			return err
		}
		return recordEffects(ctx, q, event, nil, time.Time{})
	})
}

// CustomerByVerification returns the customer of the provider's verification session.
func (db *DB) CustomerByVerification(ctx context.Context, session string) (string, bool, error) {
	return foundValue(db.read().GetCustomerByVerification(ctx, session))
}

// VATCheck returns the last VIES result for a VAT ID; false if there is none.
func (db *DB) VATCheck(ctx context.Context, id string) (valid bool, checkedAt time.Time, ok bool, err error) {
	row, err := db.read().GetVATCheck(ctx, id)
	ok, err = found(err)
	return row.Valid != 0, fromMicros(row.CheckedAt), ok, err
}

// SetVATCheck stores a VIES result, unless a newer one is stored.
func (db *DB) SetVATCheck(ctx context.Context, id string, valid bool, checkedAt time.Time) error {
	return db.single().PutVATCheck(ctx, query.PutVATCheckParams{VatID: id, Valid: boolToInt(valid), CheckedAt: micros(checkedAt)})
}
