package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// TiesOf is what keeps an account from being closed.
func (a accounts) TiesOf(ctx context.Context, id string) (customer.Ties, error) {
	row, err := a.q.TiesOfCustomer(ctx, id)
	return customer.Ties{Domains: int(row.Domains), Orders: int(row.Orders), Refunds: int(row.Refunds)}, err
}

// Close takes from an account all that nobody has to keep. Orders, invoices and the
// audit stay: they have their own times.
func (a accounts) Close(ctx context.Context, id, nobody string, now time.Time) (bool, error) {
	buyer, err := buyerText(ctx, a.q, id)
	if err != nil {
		return false, err
	}
	if err := a.q.KeepBuyerOf(ctx, query.KeepBuyerOfParams{Buyer: buyer, CustomerID: id}); err != nil {
		return false, err
	}
	closed, err := changed(a.q.CloseCustomer(ctx, query.CloseCustomerParams{Nobody: nobody, ClosedAt: micros(now), ID: id}))
	if err != nil || !closed {
		return closed, err
	}
	if err := a.q.RevokeTokensOf(ctx, query.RevokeTokensOfParams{RevokedAt: micros(now), CustomerID: id}); err != nil {
		return false, err
	}
	if err := a.q.RevokeGrantsOf(ctx, query.RevokeGrantsOfParams{RevokedAt: micros(now), CustomerID: id}); err != nil {
		return false, err
	}
	for _, remove := range []func(context.Context, string) error{
		a.q.DeletePasskeysOf, a.q.DeleteRecoveryCodes, a.q.DeleteRegistrant, a.q.DeleteIdentityOf, a.q.DeletePaymentMethodOf,
		a.q.DeleteAgentLinksOf, a.q.DeleteLinksOf,
	} {
		if err := remove(ctx, id); err != nil {
			return false, err
		}
	}
	return true, nil
}
