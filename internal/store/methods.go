package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// companyKind is a registrant that is not a person.
const companyKind = "company"

// BuyerOf is what orders need to know of an account.
func (db *DB) BuyerOf(ctx context.Context, customer string) (order.Buyer, error) {
	return buyerOf(ctx, db.read(), customer)
}

func buyerOf(ctx context.Context, q *query.Queries, customer string) (order.Buyer, error) {
	row, err := q.BuyerOf(ctx, customer)
	ok, err := found(err)
	if err != nil {
		return order.Buyer{}, err
	}
	if !ok {
		return order.Buyer{}, &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchCustomer}
	}
	return order.Buyer{
		Customer: row.ID, Email: row.Email, Language: row.Language, Told: row.Told != "", Name: row.Name, Organisation: row.Organisation,
		Company: row.Kind == companyKind, Street: row.Street, PostalCode: row.PostalCode, City: row.City, State: row.State,
		Country: row.Country, Phone: row.Phone, VATID: row.VatID,
		PaymentHolder: row.Holder, MethodLabel: row.Label,
	}, nil
}

// KeepMethod keeps a customer's means of payment, in place of the one before.
func (db *DB) KeepMethod(ctx context.Context, customer string, method order.Method, now time.Time) error {
	return db.write(ctx, func(q *query.Queries) error { return putMethod(ctx, q, customer, method, now) })
}

// putMethod keeps a means of payment. One without an id only tells who the
// customer is at the provider, and does not take away a means that was kept for
// the same one.
func putMethod(ctx context.Context, q *query.Queries, customer string, method order.Method, now time.Time) error {
	if method.ID == "" {
		if err := q.PutPaymentHolder(ctx, query.PutPaymentHolderParams{CustomerID: customer, Holder: method.Holder, UpdatedAt: micros(now)}); err != nil {
			return err
		}
		return q.StopRenewing(ctx, customer) // another holder has taken the means of the former one away
	}
	return q.PutMethod(ctx, query.PutMethodParams{
		CustomerID: customer, Holder: method.Holder, Method: method.ID, Label: method.Label, UpdatedAt: micros(now),
	})
}

// MethodOf is the means of payment that a customer lets us keep; false if there
// is none.
func (db *DB) MethodOf(ctx context.Context, customer string) (order.Method, bool, error) {
	row, err := db.read().MethodOf(ctx, customer)
	ok, err := found(err)
	return order.Method{Holder: row.Holder, ID: row.Method, Label: row.Label}, ok && row.Method != "", err
}
