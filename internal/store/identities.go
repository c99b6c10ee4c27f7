package store

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// GetIdentity returns a customer's identity verification; false if there was none.
func (db *DB) GetIdentity(ctx context.Context, customer string) (order.Identity, bool, error) {
	row, err := db.read().GetIdentity(ctx, customer)
	ok, err := found(err)
	return order.Identity{
		Customer: row.CustomerID, Session: row.Session, URL: row.Url, Name: row.Name, VerifiedAt: fromMicros(row.VerifiedAt),
		Failure: registrar.Code(row.Failure), UpdatedAt: fromMicros(row.UpdatedAt),
	}, ok, err
}

// UpdateIdentity replaces the identity was; nil means that there is none yet.
func (db *DB) UpdateIdentity(ctx context.Context, was *order.Identity, now order.Identity, event *registrar.AuditEvent) (bool, error) {
	var stored int64
	err := db.write(ctx, func(q *query.Queries) (err error) {
		if was == nil {
			stored, err = q.InsertIdentity(ctx, query.InsertIdentityParams{
				CustomerID: now.Customer, Session: now.Session, Url: now.URL, Name: now.Name, VerifiedAt: micros(now.VerifiedAt),
				Failure: string(now.Failure), UpdatedAt: micros(now.UpdatedAt),
			})
		} else {
			stored, err = q.ReplaceIdentity(ctx, query.ReplaceIdentityParams{
				Session: now.Session, Url: now.URL, Name: now.Name, VerifiedAt: micros(now.VerifiedAt),
				Failure: string(now.Failure), UpdatedAt: micros(now.UpdatedAt), CustomerID: now.Customer,
				WasSession: was.Session, WasUrl: was.URL, WasName: was.Name, WasVerifiedAt: micros(was.VerifiedAt),
				WasFailure: string(was.Failure), WasUpdatedAt: micros(was.UpdatedAt),
			})
		}
		if err != nil || stored == 0 || event == nil {
			return err
		}
		return insertAuditEvent(ctx, q, *event)
	})
	return err == nil && stored == 1, err
}

// CustomerByVerification returns the customer of the provider's verification session.
func (db *DB) CustomerByVerification(ctx context.Context, session string) (customer string, ok bool, err error) {
	if isUnstorableText(session) {
		return "", false, nil
	}
	customer, err = db.read().GetCustomerByVerification(ctx, session)
	ok, err = found(err)
	return customer, ok, err
}
