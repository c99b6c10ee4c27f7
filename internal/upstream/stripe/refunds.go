package stripe

import (
	"context"
	"iter"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// Metadata keys of a refund in addition to the order.
const (
	metaRefund = "refund"
	metaReason = "reason"
)

// Refund creates a refund. If the call may have been sent before, it queries Stripe
// first: Stripe forgets idempotency keys after a day.
func (c *Client) Refund(ctx context.Context, refund order.RefundRequest, maybeSent bool) (string, error) {
	if maybeSent {
		found, err := c.findRefund(ctx, refund)
		if err != nil || found != nil {
			return c.refundID(found, err)
		}
	}
	if err := c.checkRefundable(ctx, refund.Intent); err != nil {
		return "", err
	}
	params := &api.RefundCreateParams{
		PaymentIntent: api.String(refund.Intent),
		Amount:        api.Int64(int64(refund.Amount)),
		Metadata:      map[string]string{metaOrder: refund.Order, metaRefund: refund.ID, metaReason: refund.Reason},
	}
	params.SetIdempotencyKey(refund.ID)
	made, err := create(ctx, c, "refund", c.api.createRefund, params)
	return c.refundID(made, err)
}

// checkRefundable returns ChargeDisputed if the payment is disputed and Stripe does not refund
// it, and ChargeLost if the bank has returned it to the customer.
func (c *Client) checkRefundable(ctx context.Context, intent string) error {
	refused, code := "", order.ChargeDisputed
	err := c.call(ctx, "check_dispute", func(ctx context.Context) error {
		charges := &api.ChargeListParams{PaymentIntent: api.String(intent)}
		charges.Limit = api.Int64(listPageSize)
		for charge, err := range c.api.listCharges(ctx, charges).All(ctx) {
			if err != nil {
				return err
			}
			if !charge.Disputed {
				continue
			}
			disputes := &api.DisputeListParams{Charge: api.String(charge.ID)}
			disputes.Limit = api.Int64(listPageSize)
			for dispute, err := range c.api.listDisputes(ctx, disputes).All(ctx) {
				if err != nil {
					return err
				}
				if !dispute.IsChargeRefundable {
					refused, code = identifierOrEmpty(dispute.ID), order.ChargeDisputed
					if dispute.Status == api.DisputeStatusLost {
						code = order.ChargeLost
					}
					return nil
				}
			}
		}
		return nil
	})
	if err == nil && refused != "" {
		err = &registrar.Error{Kind: registrar.KindConflict, Code: code, Detail: c.host + ": dispute " + refused}
	}
	return err
}

// findRefund returns the refund with our id in its metadata; nil if there is none.
func (c *Client) findRefund(ctx context.Context, refund order.RefundRequest) (found *api.Refund, err error) {
	err = c.call(ctx, "find_refund", func(ctx context.Context) error {
		found = nil
		return c.eachRefund(ctx, refund.Intent, func(candidate *api.Refund) bool {
			if candidate.Metadata[metaRefund] == refund.ID {
				found = candidate
			}
			return found == nil
		})
	})
	return found, err
}

// eachRefund calls use for each refund of a payment until it returns false.
func (c *Client) eachRefund(ctx context.Context, intent string, use func(*api.Refund) bool) error {
	params := &api.RefundListParams{PaymentIntent: api.String(intent)}
	params.Limit = api.Int64(listPageSize)
	for one, err := range c.api.listRefunds(ctx, params).All(ctx) {
		if err != nil {
			return err
		}
		if !use(one) {
			return nil
		}
	}
	return nil
}

// ListRefunds returns all refunds of a payment intent.
func (c *Client) ListRefunds(ctx context.Context, intent string) (all []order.ProviderRefund, err error) {
	err = c.call(ctx, "find_refund", func(ctx context.Context) error {
		all = nil
		return c.eachRefund(ctx, intent, func(one *api.Refund) bool {
			all = append(all, providerRefund(one))
			return true
		})
	})
	return all, err
}

// RefundsSince lists the refunds of all payments that were created since then, newest first.
func (c *Client) RefundsSince(ctx context.Context, since time.Time) iter.Seq2[order.ProviderRefund, error] {
	type entry struct {
		ID       string            `json:"id"`
		Intent   objectID          `json:"payment_intent"`
		Metadata map[string]string `json:"metadata"`
		Amount   int64             `json:"amount"`
		Status   api.RefundStatus  `json:"status"`
	}
	get := func(ctx context.Context, list api.ListParams) ([]*entry, error) {
		return getPage[entry](ctx, c, "/v1/refunds", &api.RefundListParams{ListParams: list, CreatedRange: &api.RangeQueryParams{GreaterThanOrEqual: since.Unix()}})
	}
	id := func(refund *entry) string { return refund.ID }
	return pages(ctx, c, "list_refunds", get, id, func(refund *entry) (order.ProviderRefund, bool) {
		return providerRefund(&api.Refund{
			ID: refund.ID, PaymentIntent: &api.PaymentIntent{ID: string(refund.Intent)}, Metadata: refund.Metadata, Amount: refund.Amount, Status: refund.Status,
		}), true
	})
}

func providerRefund(refund *api.Refund) order.ProviderRefund {
	return order.ProviderRefund{
		ID: refund.ID, Intent: intentID(refund.PaymentIntent), Refund: refund.Metadata[metaRefund], Amount: registrar.Cents(refund.Amount), Failed: hasFailed(refund),
	}
}

// hasFailed reports whether the money did not reach the customer.
func hasFailed(refund *api.Refund) bool {
	return refund.Status == api.RefundStatusFailed || refund.Status == api.RefundStatusCanceled
}

// refundID returns the provider's id of a pending or completed refund.
func (c *Client) refundID(refund *api.Refund, err error) (string, error) {
	switch {
	case err != nil:
		return "", err
	case refund.ID == "":
		return "", c.broken("refund")
	case hasFailed(refund):
		return "", &registrar.Error{Kind: registrar.KindConflict, Code: RefundFailed, Detail: c.host + ": refund " + identifierOrEmpty(refund.ID)}
	}
	return refund.ID, nil
}
