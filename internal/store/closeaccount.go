package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// CountCloseBlockers counts what prevents closing an account.
func (a accounts) CountCloseBlockers(ctx context.Context, id string) (account.CloseBlockers, error) {
	row, err := a.q.CountClosureBlockers(ctx, id)
	return account.CloseBlockers{Domains: int(row.Domains), Orders: int(row.Orders), Refunds: int(row.Refunds)}, err
}

// CloseAccount deletes an account's data except for orders, invoices and audit events,
// which have their own retention periods.
func (a accounts) CloseAccount(ctx context.Context, id, closedEmail string, now time.Time) (bool, error) {
	buyer, err := currentInvoiceBuyerJSON(ctx, a.q, id)
	if err != nil {
		return false, err
	}
	if err := a.q.SetPendingInvoiceBuyer(ctx, buyer, id); err != nil {
		return false, err
	}
	closed, err := changed(a.q.CloseCustomer(ctx, query.CloseCustomerParams{ClosedEmail: closedEmail, ClosedAt: micros(now), ID: id}))
	if err != nil || !closed {
		return closed, err
	}
	if err := a.q.RevokePersonalAccessTokensOfCustomer(ctx, micros(now), id); err != nil {
		return false, err
	}
	if err := a.q.RevokeGrantsOfCustomer(ctx, micros(now), id); err != nil {
		return false, err
	}
	for _, remove := range []func(context.Context, string) error{
		a.q.DeletePasskeysOfCustomer, a.q.DeleteRecoveryCodes, a.q.DeleteRegistrant, a.q.DeleteIdentity, a.q.DeletePaymentMethod,
		a.q.DeleteAgentLinksOfCustomer, a.q.DeleteLinksOfCustomer,
	} {
		if err := remove(ctx, id); err != nil {
			return false, err
		}
	}
	return true, nil
}
