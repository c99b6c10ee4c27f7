package stripe

import (
	"context"
	"iter"
	"net/http"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
)

var _ reconcile.Provider = (*Client)(nil)

// listPageSize is Stripe's maximum.
const listPageSize = 100

// pages reads all pages of a list, retrying each. get returns a page, id returns the id of an
// entry, and convert returns false to skip one.
func pages[T, R any](
	ctx context.Context, c *Client, name string,
	get func(ctx context.Context, list api.ListParams) ([]*T, error), id func(*T) string, convert func(*T) (R, bool),
) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		var last *string
		for {
			var page []*T
			err := c.call(ctx, name, func(ctx context.Context) (err error) {
				page, err = get(ctx, api.ListParams{Context: ctx, Limit: api.Int64(listPageSize), Single: true, StartingAfter: last})
				return err
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

// collect returns the entries of a page that the library has read.
func collect[T any](list api.Seq2[*T, error]) (page []*T, err error) {
	for one, err := range list {
		if err != nil {
			return nil, err
		}
		page = append(page, one)
	}
	return page, nil
}

// getPage reads a page into entries of our own type.
func getPage[T any](ctx context.Context, c *Client, path string, params api.ParamsContainer) ([]*T, error) {
	var page struct {
		api.APIResource

		Data []*T `json:"data"`
	}
	err := c.exchange(ctx, http.MethodGet, path, params, &page)
	return page.Data, err
}

// Charges lists all successful charges, newest first.
func (c *Client) Charges(ctx context.Context) iter.Seq2[reconcile.Charge, error] {
	get := func(ctx context.Context, list api.ListParams) ([]*api.Charge, error) {
		return collect(c.api.listCharges(ctx, &api.ChargeListParams{ListParams: list}).All(ctx))
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
	get := func(ctx context.Context, list api.ListParams) ([]*api.Refund, error) {
		return collect(c.api.listRefunds(ctx, &api.RefundListParams{ListParams: list}).All(ctx))
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
