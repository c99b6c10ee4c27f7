package stripe

import (
	"context"

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
	params := &api.RefundCreateParams{
		PaymentIntent: api.String(refund.Intent),
		Amount:        api.Int64(int64(refund.Amount)),
		Metadata:      map[string]string{metaOrder: refund.Order, metaRefund: refund.ID, metaReason: refund.Reason},
	}
	params.SetIdempotencyKey(refund.ID)
	made, err := create(ctx, c, "refund", c.api.createRefund, params)
	return c.refundID(made, err)
}

// findRefund returns the refund with our id in its metadata; nil if there is none.
func (c *Client) findRefund(ctx context.Context, refund order.RefundRequest) (found *api.Refund, err error) {
	err = c.call(ctx, "find_refund", func(ctx context.Context) error {
		found = nil
		params := &api.RefundListParams{PaymentIntent: api.String(refund.Intent)}
		params.Limit = api.Int64(100)
		for candidate, err := range c.api.listRefunds(ctx, params).All(ctx) {
			if err != nil {
				return err
			}
			if candidate.Metadata[metaRefund] == refund.ID {
				found = candidate
				return nil
			}
		}
		return nil
	})
	return found, err
}

// refundID returns the provider's id of a pending or completed refund.
func (c *Client) refundID(refund *api.Refund, err error) (string, error) {
	switch {
	case err != nil:
		return "", err
	case refund.ID == "":
		return "", c.broken("refund")
	case refund.Status == api.RefundStatusFailed || refund.Status == api.RefundStatusCanceled:
		return "", &registrar.Error{Kind: registrar.KindConflict, Code: RefundFailed, Detail: c.host + ": refund " + identifierOrEmpty(refund.ID)}
	}
	return refund.ID, nil
}
