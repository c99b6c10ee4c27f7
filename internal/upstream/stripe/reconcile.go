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
// id, id returns the id of an entry, and convert returns false to skip one.
func pages[T, R any](
	ctx context.Context, c *Client, name string,
	get func(ctx context.Context, list api.ListParams) api.Seq2[*T, error], id func(*T) string, convert func(*T) (R, bool),
) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
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
				var none R
				yield(none, err)
				return
			}
			for _, one := range page {
				if converted, wanted := convert(one); wanted && !yield(converted, nil) {
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
	get := func(ctx context.Context, list api.ListParams) api.Seq2[*api.Charge, error] {
		return c.api.listCharges(ctx, &api.ChargeListParams{ListParams: list}).All(ctx)
	}
	id := func(charge *api.Charge) string { return charge.ID }
	return pages(ctx, c, "list_charges", get, id, func(charge *api.Charge) (reconcile.Charge, bool) {
		return reconcile.Charge{
			ID: charge.ID, Intent: intentID(charge.PaymentIntent), Payment: charge.Metadata[metaPayment],
			Amount: registrar.Cents(charge.AmountCaptured), Refunded: registrar.Cents(charge.AmountRefunded),
			Currency: string(charge.Currency), CreatedAt: time.Unix(charge.Created, 0),
		}, charge.Status == api.ChargeStatusSucceeded && charge.Captured
	})
}

// Refunds lists all refunds, newest first.
func (c *Client) Refunds(ctx context.Context) iter.Seq2[reconcile.ProviderRefund, error] {
	get := func(ctx context.Context, list api.ListParams) api.Seq2[*api.Refund, error] {
		return c.api.listRefunds(ctx, &api.RefundListParams{ListParams: list}).All(ctx)
	}
	id := func(refund *api.Refund) string { return refund.ID }
	return pages(ctx, c, "list_refunds", get, id, func(refund *api.Refund) (reconcile.ProviderRefund, bool) {
		return reconcile.ProviderRefund{
			ID: refund.ID, Intent: intentID(refund.PaymentIntent), Refund: refund.Metadata[metaRefund], Amount: registrar.Cents(refund.Amount),
			Failed:    hasFailed(refund),
			CreatedAt: time.Unix(refund.Created, 0),
		}, true
	})
}

func intentID(intent *api.PaymentIntent) string {
	if intent == nil {
		return ""
	}
	return intent.ID
}
