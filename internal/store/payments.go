package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

func paymentOf(row query.GetOrderRow) order.Payment {
	return order.Payment{
		ID: row.PaymentID, Kind: order.PaymentKind(row.PaymentKind), State: order.PaymentState(row.PaymentState), Amount: registrar.Cents(row.PaymentAmount),
		Session: row.Session, URL: row.Url, Intent: row.Intent, Card: row.Card, Failure: registrar.Code(row.PaymentFailure),
		CreatedAt: fromMicros(row.PaymentCreatedAt), EndsAt: fromMicros(row.PaymentEndsAt), UpdatedAt: fromMicros(row.PaymentUpdatedAt),
	}
}

// updatePayments stores the payments and refunds of an order that are new or changed. A
// unique index allows one captured payment per order; a second one fails the update.
func updatePayments(ctx context.Context, q *query.Queries, transition order.Transition) error {
	for _, payment := range transition.To.Payments {
		if slices.Contains(transition.From.Payments, payment) {
			continue
		}
		known := slices.ContainsFunc(transition.From.Payments, func(was order.Payment) bool { return was.ID == payment.ID })
		if err := putPayment(ctx, q, transition.To, payment, known); err != nil {
			return err
		}
	}
	for _, refund := range transition.To.Refunds {
		if slices.ContainsFunc(transition.From.Refunds, refund.Equal) {
			continue
		}
		known := slices.ContainsFunc(transition.From.Refunds, func(was order.Refund) bool { return was.ID == refund.ID })
		if err := putRefund(ctx, q, transition.To.ID, refund, known); err != nil {
			return err
		}
	}
	return nil
}

func putPayment(ctx context.Context, q *query.Queries, o order.Order, payment order.Payment, known bool) error {
	if !known {
		return q.InsertPayment(ctx, query.InsertPaymentParams{
			ID: payment.ID, OrderID: o.ID, CustomerID: o.Customer, State: string(payment.State), Amount: int64(payment.Amount),
			Session: payment.Session, Url: payment.URL, Intent: payment.Intent, Card: payment.Card,
			CreatedAt: micros(payment.CreatedAt), EndsAt: micros(payment.EndsAt), UpdatedAt: micros(payment.UpdatedAt),
			Kind: string(cmp.Or(payment.Kind, order.ByPage)), Failure: string(payment.Failure),
		})
	}
	return rowOr(fmt.Errorf("store: update payment %s: not part of order %s", payment.ID, o.ID))(q.UpdatePayment(ctx, query.UpdatePaymentParams{
		State: string(payment.State), Amount: int64(payment.Amount), Session: payment.Session, Url: payment.URL, Intent: payment.Intent,
		Card: payment.Card, Failure: string(payment.Failure), EndsAt: micros(payment.EndsAt), UpdatedAt: micros(payment.UpdatedAt), ID: payment.ID, OrderID: o.ID,
	}))
}

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
		ProviderCustomer: row.ProviderCustomer, MethodID: row.Method, MethodLabel: row.Label,
	}, nil
}
