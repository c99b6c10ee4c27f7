package stripe

import (
	"context"
	"iter"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
)

var _ reconcile.Provider = (*Client)(nil)

// listPageSize is Stripe's maximum.
const listPageSize = 100

// pages reads all pages of a list, retrying each. get returns the entries after an
// id, and id returns the id of an entry.
func pages[T any](ctx context.Context, c *Client, name string, get func(ctx context.Context, list api.ListParams) api.Seq2[*T, error], id func(*T) string) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		var last *string
		for {
			var page []*T
			err := c.call(ctx, name, func(ctx context.Context) error {
				page = page[:0]
				for one, err := range get(ctx, api.ListParams{Limit: api.Int64(listPageSize), Single: true, StartingAfter: last}) {
					if err != nil {
						return err
					}
					page = append(page, one)
				}
				return nil
			})
			if err != nil {
				yield(nil, err)
				return
			}
			for _, one := range page {
				if !yield(one, nil) {
					return
				}
			}
			if len(page) < listPageSize {
				return
			}
			last = api.String(id(page[len(page)-1]))
		}
	}
}

// Charges lists all successful charges, newest first.
func (c *Client) Charges(ctx context.Context) iter.Seq2[reconcile.Charge, error] {
	list := pages(ctx, c, "list_charges", func(ctx context.Context, list api.ListParams) api.Seq2[*api.Charge, error] {
		return c.api.V1Charges.List(ctx, &api.ChargeListParams{ListParams: list}).All(ctx)
	}, func(charge *api.Charge) string { return charge.ID })
	return func(yield func(reconcile.Charge, error) bool) {
		for charge, err := range list {
			if err != nil {
				yield(reconcile.Charge{}, err)
				return
			}
			if charge.Status != api.ChargeStatusSucceeded || !charge.Captured {
				continue
			}
			if !yield(reconcile.Charge{
				ID: charge.ID, Intent: intentID(charge.PaymentIntent), Payment: charge.Metadata[metaPayment],
				Amount: registrar.Cents(charge.AmountCaptured), Refunded: registrar.Cents(charge.AmountRefunded),
				Currency: string(charge.Currency), CreatedAt: time.Unix(charge.Created, 0),
			}, nil) {
				return
			}
		}
	}
}

// Refunds lists all refunds, newest first.
func (c *Client) Refunds(ctx context.Context) iter.Seq2[reconcile.ProviderRefund, error] {
	list := pages(ctx, c, "list_refunds", func(ctx context.Context, list api.ListParams) api.Seq2[*api.Refund, error] {
		return c.api.V1Refunds.List(ctx, &api.RefundListParams{ListParams: list}).All(ctx)
	}, func(refund *api.Refund) string { return refund.ID })
	return func(yield func(reconcile.ProviderRefund, error) bool) {
		for refund, err := range list {
			if err != nil {
				yield(reconcile.ProviderRefund{}, err)
				return
			}
			if !yield(reconcile.ProviderRefund{
				ID: refund.ID, Intent: intentID(refund.PaymentIntent), Refund: refund.Metadata[metaRefund], Amount: registrar.Cents(refund.Amount),
				Failed:    refund.Status == api.RefundStatusFailed || refund.Status == api.RefundStatusCanceled,
				CreatedAt: time.Unix(refund.Created, 0),
			}, nil) {
				return
			}
		}
	}
}

func intentID(intent *api.PaymentIntent) string {
	if intent == nil {
		return ""
	}
	return intent.ID
}
