package store

import (
	"cmp"
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// companyKind is the kind of a registrant that is an organisation.
const companyKind = "company"

// GetBuyer returns the parts of an account that orders need.
func (db *DB) GetBuyer(ctx context.Context, customer string) (order.Buyer, error) {
	return buyerOf(ctx, db.read(), customer)
}

func buyerOf(ctx context.Context, q *query.Queries, customer string) (order.Buyer, error) {
	row, err := q.GetBuyer(ctx, customer)
	if ok, err := found(err); !ok {
		return order.Buyer{}, cmp.Or(err, noSuchCustomer())
	}
	return order.Buyer{
		Customer: row.ID, Email: row.Email, Language: row.Language, HasRegistrant: row.RegistrantCustomerID != "", Name: row.Name, Organisation: row.Organisation,
		Company: row.Kind == companyKind, Street: row.Street, PostalCode: row.PostalCode, City: row.City, State: row.State,
		Country: row.Country, Phone: row.Phone, VATID: row.VatID,
		ProviderCustomer: row.ProviderCustomer, MethodLabel: row.Label,
	}, nil
}

// PutPaymentMethod replaces a customer's saved payment method.
func (db *DB) PutPaymentMethod(ctx context.Context, customer string, method order.PaymentMethod, now time.Time) error {
	return db.write(ctx, func(q *query.Queries) error { return putPaymentMethod(ctx, q, customer, method, now) })
}

// putPaymentMethod saves a payment method. One without an id only sets the provider's
// customer, and keeps a method that was saved for the same provider customer.
func putPaymentMethod(ctx context.Context, q *query.Queries, customer string, method order.PaymentMethod, now time.Time) error {
	if method.ID == "" {
		if err := q.PutProviderCustomer(ctx, query.PutProviderCustomerParams{CustomerID: customer, ProviderCustomer: method.ProviderCustomer, UpdatedAt: micros(now)}); err != nil {
			return err
		}
		return q.DisableAutoRenewWithoutPaymentMethod(ctx, customer) // another provider customer replaces the method of the former one
	}
	return q.PutPaymentMethod(ctx, query.PutPaymentMethodParams{
		CustomerID: customer, ProviderCustomer: method.ProviderCustomer, Method: method.ID, Label: method.Label, UpdatedAt: micros(now),
	})
}

// GetPaymentMethod returns a customer's saved payment method; false if there is none.
func (db *DB) GetPaymentMethod(ctx context.Context, customer string) (order.PaymentMethod, bool, error) {
	row, err := db.read().GetPaymentMethod(ctx, customer)
	ok, err := found(err)
	return order.PaymentMethod{ProviderCustomer: row.ProviderCustomer, ID: row.Method, Label: row.Label}, ok && row.Method != "", err
}
