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

// GetBuyer is what orders need to know of an account.
func (db *DB) GetBuyer(ctx context.Context, customer string) (order.Buyer, error) {
	return buyerOf(ctx, db.read(), customer)
}

func buyerOf(ctx context.Context, q *query.Queries, customer string) (order.Buyer, error) {
	row, err := q.GetBuyer(ctx, customer)
	ok, err := found(err)
	if err != nil {
		return order.Buyer{}, err
	}
	if !ok {
		return order.Buyer{}, &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchCustomer}
	}
	return order.Buyer{
		Customer: row.ID, Email: row.Email, Language: row.Language, HasRegistrant: row.RegistrantCustomerID != "", Name: row.Name, Organisation: row.Organisation,
		Company: row.Kind == companyKind, Street: row.Street, PostalCode: row.PostalCode, City: row.City, State: row.State,
		Country: row.Country, Phone: row.Phone, VATID: row.VatID,
		ProviderCustomer: row.ProviderCustomer, MethodLabel: row.Label,
	}, nil
}

// PutPaymentMethod keeps a customer's means of payment, in place of the one before.
func (db *DB) PutPaymentMethod(ctx context.Context, customer string, method order.PaymentMethod, now time.Time) error {
	return db.write(ctx, func(q *query.Queries) error { return putPaymentMethod(ctx, q, customer, method, now) })
}

// putPaymentMethod keeps a means of payment. One without an id only tells who the
// customer is at the provider, and does not take away a means that was kept for
// the same one.
func putPaymentMethod(ctx context.Context, q *query.Queries, customer string, method order.PaymentMethod, now time.Time) error {
	if method.ID == "" {
		if err := q.PutProviderCustomer(ctx, query.PutProviderCustomerParams{CustomerID: customer, ProviderCustomer: method.ProviderCustomer, UpdatedAt: micros(now)}); err != nil {
			return err
		}
		return q.DisableAutoRenewWithoutPaymentMethod(ctx, customer) // another holder has taken the means of the former one away
	}
	return q.PutPaymentMethod(ctx, query.PutPaymentMethodParams{
		CustomerID: customer, ProviderCustomer: method.ProviderCustomer, Method: method.ID, Label: method.Label, UpdatedAt: micros(now),
	})
}

// GetPaymentMethod is the means of payment that a customer lets us keep; false if there
// is none.
func (db *DB) GetPaymentMethod(ctx context.Context, customer string) (order.PaymentMethod, bool, error) {
	row, err := db.read().GetPaymentMethod(ctx, customer)
	ok, err := found(err)
	return order.PaymentMethod{ProviderCustomer: row.ProviderCustomer, ID: row.Method, Label: row.Label}, ok && row.Method != "", err
}
