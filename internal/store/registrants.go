package store

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

func (a accounts) RegistrantOf(ctx context.Context, id string) (customer.Registrant, bool, error) {
	row, err := a.q.RegistrantOf(ctx, id)
	ok, err := found(err)
	return customer.Registrant{
		Kind: customer.RegistrantKind(row.Kind), Name: row.Name, Organisation: row.Organisation,
		Street: row.Street, PostalCode: row.PostalCode, City: row.City, State: row.State, Country: row.Country,
		Phone: row.Phone, VATID: row.VatID, UpdatedAt: fromMicros(row.UpdatedAt),
	}, ok, err
}

func (a accounts) PaymentUnderWay(ctx context.Context, id string) (bool, error) {
	_, err := a.q.PaymentUnderWay(ctx, id)
	return found(err)
}

func (a accounts) PutRegistrant(ctx context.Context, id string, r customer.Registrant) error {
	return a.q.PutRegistrant(ctx, query.PutRegistrantParams{
		CustomerID: id, Kind: string(r.Kind), Name: r.Name, Organisation: r.Organisation,
		Street: r.Street, PostalCode: r.PostalCode, City: r.City, State: r.State, Country: r.Country,
		Phone: r.Phone, VatID: r.VATID, UpdatedAt: micros(r.UpdatedAt),
	})
}
