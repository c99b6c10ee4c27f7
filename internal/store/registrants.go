package store

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

func (a accounts) GetRegistrant(ctx context.Context, id string) (account.Registrant, bool, error) {
	return rowAs(func(row query.Registrant) account.Registrant {
		return account.Registrant{
			Kind: account.RegistrantKind(row.Kind), Name: row.Name, Organisation: row.Organisation,
			Street: row.Street, PostalCode: row.PostalCode, City: row.City, State: row.State, Country: row.Country,
			Phone: row.Phone, VATID: row.VatID, UpdatedAt: fromMicros(row.UpdatedAt),
		}
	})(a.q.GetRegistrant(ctx, id))
}

func (a accounts) ListRegistrantExtensions(ctx context.Context, id string) ([]string, error) {
	return a.q.ListCustomerTLDs(ctx, id)
}

func (a accounts) VerifiedName(ctx context.Context, id string) (string, error) {
	name, err := a.q.GetVerifiedName(ctx, id)
	_, err = found(err)
	return name, err
}

// VerifiedName returns the verified name of a customer; empty if there is none.
func (db *DB) VerifiedName(ctx context.Context, customer string) (string, error) {
	return accounts{db.read()}.VerifiedName(ctx, customer)
}

func (a accounts) LockCustomer(ctx context.Context, id string) error {
	return a.q.LockCustomer(ctx, id)
}

func (a accounts) PaymentUnderWay(ctx context.Context, id string) (bool, error) {
	_, err := a.q.GetOrderInPayment(ctx, id)
	return found(err)
}

func (a accounts) PutRegistrant(ctx context.Context, id string, r account.Registrant) error {
	if err := freezeRegistrants(ctx, a.q, id); err != nil {
		return err
	}
	return putRegistrant(ctx, a.q, id, r)
}

func putRegistrant(ctx context.Context, q *query.Queries, id string, r account.Registrant) error {
	return q.PutRegistrant(ctx, query.PutRegistrantParams{
		CustomerID: id, Kind: string(r.Kind), Name: r.Name, Organisation: r.Organisation,
		Street: r.Street, PostalCode: r.PostalCode, City: r.City, State: r.State, Country: r.Country,
		Phone: r.Phone, VatID: r.VATID, UpdatedAt: micros(r.UpdatedAt),
	})
}
