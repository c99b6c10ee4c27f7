package stripe

import (
	"context"
	"errors"
	"net/http"

	api "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// Charges of saved payment methods are made off-session: the customer is not there and can't
// be redirected. Unlike those of tokens, they are part of Stripe's stable API.

// prepareRenewal creates a payment intent for a saved payment method, which takes no money
// before it is confirmed.
func (c *Client) prepareRenewal(ctx context.Context, charge order.Charge) (string, error) {
	params := &intentParams{
		Amount: api.Int64(int64(charge.Amount)), Currency: api.String(euro),
		Customer: api.String(charge.Method.ProviderCustomer), PaymentMethod: api.String(charge.Method.ID),
		Metadata: map[string]string{metaOrder: charge.Order, metaPayment: charge.ID},
		// The types that can be charged off-session: Stripe then expects no return URL.
		PaymentMethodTypes: api.StringSlice(c.reusableMethods),
	}
	params.SetIdempotencyKey(charge.ID)
	made, err := post[paymentIntent](ctx, c, "prepare_renewal", intentsPath, params)
	switch {
	case isMissingMethod(err):
		return "", noPaymentMethod(err)
	case err != nil:
		return "", err
	case made.ID == "":
		return "", c.broken("prepare_renewal")
	}
	return made.ID, nil
}

// chargeRenewal confirms the intent of a saved payment method.
func (c *Client) chargeRenewal(ctx context.Context, charge order.Charge) (order.ChargeOutcome, error) {
	params := &intentParams{
		PaymentMethod: api.String(charge.Method.ID), OffSession: api.Bool(true), Expand: api.StringSlice(intentExpand),
	}
	params.SetIdempotencyKey(charge.ID + "-confirm")
	seen, err := post[paymentIntent](ctx, c, "charge_renewal", api.FormatURLPath(intentsPath+"/%s/confirm", charge.Intent), params)
	if err == nil {
		outcome, err := c.chargeOutcome("charge_renewal", seen)
		if outcome.Declined != "" {
			outcome.Declined = order.CardDeclined
		}
		return outcome, err
	}
	var stripeErr *api.Error
	switch {
	case !errors.As(err, &stripeErr) || registrar.KindOf(err) == registrar.KindUpstream:
		return order.ChargeOutcome{}, err
	case isMissingMethod(err):
		return order.ChargeOutcome{}, noPaymentMethod(err)
	case stripeErr.HTTPStatusCode == http.StatusPaymentRequired:
		return declinedRenewal(stripeErr), nil
	case stripeErr.Code == api.ErrorCodePaymentIntentUnexpectedState:
		// The intent was canceled, or it is already paid.
		status, err := c.FetchCharge(ctx, charge.Intent)
		if err == nil && status.Ended && !status.Paid {
			return order.ChargeOutcome{Status: status, Declined: order.CardDeclined}, nil
		}
		return order.ChargeOutcome{Status: status}, err
	default:
		return order.ChargeOutcome{}, err // our request was wrong; the operator must be informed
	}
}

// declinedRenewal distinguishes what the customer can do about a decline.
func declinedRenewal(stripeErr *api.Error) order.ChargeOutcome {
	switch {
	case stripeErr.Code == api.ErrorCodeAuthenticationRequired || stripeErr.DeclineCode == api.DeclineCodeAuthenticationRequired:
		return order.ChargeOutcome{NeedsHuman: true}
	case stripeErr.Code == api.ErrorCodeExpiredCard || stripeErr.DeclineCode == api.DeclineCodeExpiredCard:
		return order.ChargeOutcome{Declined: order.CardExpired}
	case stripeErr.DeclineCode == api.DeclineCodeInsufficientFunds:
		return order.ChargeOutcome{Declined: order.InsufficientFunds}
	default:
		return order.ChargeOutcome{Declined: order.CardDeclined}
	}
}

// isMissingMethod reports whether Stripe no longer has the customer or the payment method, or
// does not let the one use the other.
func isMissingMethod(err error) bool {
	var stripeErr *api.Error
	if !errors.As(err, &stripeErr) {
		return false
	}
	return (stripeErr.Param == "payment_method" || stripeErr.Param == "customer") &&
		(stripeErr.HTTPStatusCode == http.StatusBadRequest || stripeErr.HTTPStatusCode == http.StatusNotFound)
}

func noPaymentMethod(err error) error {
	return &registrar.Error{Kind: registrar.KindConflict, Code: order.NoPaymentMethod, Err: err}
}
