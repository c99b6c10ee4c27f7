package stripe

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	api "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// TokenRequestFormat configures the API for shared payment tokens, a preview that
// has changed before. Empty fields have defaults.
type TokenRequestFormat struct {
	// Parameter is the name of the token parameter in a confirmation.
	Parameter string
	// Version is the Stripe-Version of all token calls.
	Version string
	// Method is sent as payment_method_data[type]; empty sends none.
	Method string
}

const (
	tokenParameter = "payment_method_data[shared_payment_granted_token]"
	tokenVersion   = "2025-09-30.preview"
	methodType     = "payment_method_data[type]"
)

func (c *Client) tokenVersionHeader() http.Header {
	return http.Header{"Stripe-Version": {c.options.Token.Version}}
}

// grantedToken holds the members of a token in use.
type grantedToken struct {
	api.APIResource

	ID     string `json:"id"`
	Limits *struct {
		Currency  string `json:"currency"`
		MaxAmount int64  `json:"max_amount"`
		ExpiresAt int64  `json:"expires_at"`
	} `json:"usage_limits"`
	DeactivatedAt     int64  `json:"deactivated_at"`
	DeactivatedReason string `json:"deactivated_reason"`
}

// Limits of a token's syntax: the agent's value becomes part of a URL path.
const (
	maxTokenLength = 255
	tokenPrefix    = "spt_"
)

// CheckToken fetches a token and checks whether it can pay an amount at a time.
func (c *Client) CheckToken(ctx context.Context, token string, amount registrar.Cents, at time.Time) error {
	if !validTokenSyntax(token) {
		return paymentDeclined(order.PaymentDeclined)
	}
	path := "/v1/shared_payment/granted_tokens/" + url.PathEscape(token)
	granted, err := retrieve[grantedToken](ctx, c, "read_token", path, &api.Params{Headers: c.tokenVersionHeader()})
	switch kind := registrar.KindOf(err); {
	case kind == registrar.KindNotFound || kind == registrar.KindInvalid:
		return paymentDeclined(order.PaymentDeclined) // the token does not exist or is not for this account
	case err != nil:
		return err
	}
	limits := granted.Limits
	switch {
	case granted.DeactivatedReason == "expired", limits != nil && limits.ExpiresAt > 0 && limits.ExpiresAt <= at.Unix():
		return paymentDeclined(order.TokenExpired)
	case granted.ID == "" || granted.DeactivatedReason != "" || granted.DeactivatedAt > 0 || limits == nil || !strings.EqualFold(limits.Currency, euro):
		return paymentDeclined(order.PaymentDeclined)
	case limits.MaxAmount < int64(amount):
		return paymentDeclined(order.TokenTooSmall)
	}
	return nil
}

func paymentDeclined(code registrar.Code) error {
	return &registrar.Error{Kind: registrar.KindConflict, Code: code}
}

const intentsPath = "/v1/payment_intents"

// validTokenSyntax reports whether text can be a token. All tokens share a prefix,
// which also keeps text from being a dot segment of a path.
func validTokenSyntax(text string) bool {
	return strings.HasPrefix(text, tokenPrefix) && len(text) <= maxTokenLength && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, unicode.IsControl)
}

// PrepareCharge creates an unconfirmed payment intent, which can't take money yet.
func (c *Client) PrepareCharge(ctx context.Context, charge order.Charge) (string, error) {
	if charge.Method.ID != "" {
		return c.prepareRenewal(ctx, charge)
	}
	params := &intentParams{
		Amount: api.Int64(int64(charge.Amount)), Currency: api.String(euro),
		Metadata: map[string]string{metaOrder: charge.Order, metaPayment: charge.ID},
		// There is no browser session that could be redirected.
		AutomaticPaymentMethods: &api.PaymentIntentCreateAutomaticPaymentMethodsParams{
			Enabled: api.Bool(true), AllowRedirects: api.String("never"),
		},
	}
	params.Headers = c.tokenVersionHeader()
	params.SetIdempotencyKey(charge.ID)
	made, err := post[paymentIntent](ctx, c, "prepare_charge", intentsPath, params)
	switch {
	case err != nil:
		return "", err
	case made.ID == "":
		return "", c.broken("prepare_charge")
	}
	return made.ID, nil
}

// intentExpand is requested with each fetch of a payment intent.
var intentExpand = []string{"latest_charge", "payment_method"}

// Charge confirms a payment intent with a token, or that of a saved payment method.
func (c *Client) Charge(ctx context.Context, charge order.Charge) (order.ChargeOutcome, error) {
	if charge.Method.ID != "" {
		return c.chargeRenewal(ctx, charge)
	}
	params := &intentParams{Expand: api.StringSlice(intentExpand)}
	params.Headers = c.tokenVersionHeader()
	params.AddExtra(c.options.Token.Parameter, charge.Token)
	if c.options.Token.Method != "" {
		params.AddExtra(methodType, c.options.Token.Method)
	}
	params.SetIdempotencyKey(charge.ID + "-confirm")
	seen, err := post[paymentIntent](ctx, c, "charge", api.FormatURLPath(intentsPath+"/%s/confirm", charge.Intent), params)
	if err != nil {
		return c.chargeFailure(ctx, charge, err)
	}
	return c.chargeOutcome("charge", seen)
}

func (c *Client) chargeFailure(ctx context.Context, charge order.Charge, err error) (order.ChargeOutcome, error) {
	var stripeErr *api.Error
	if !errors.As(err, &stripeErr) || registrar.KindOf(err) == registrar.KindUpstream {
		return order.ChargeOutcome{}, err
	}
	switch {
	case stripeErr.Code == api.ErrorCodeAuthenticationRequired:
		return order.ChargeOutcome{NeedsHuman: true}, nil
	case stripeErr.HTTPStatusCode == http.StatusPaymentRequired:
		return order.ChargeOutcome{Declined: order.PaymentDeclined}, nil
	case stripeErr.Code == api.ErrorCodePaymentIntentUnexpectedState:
		// The intent was canceled, or it is already paid.
		status, err := c.FetchCharge(ctx, charge.Intent)
		if err == nil && status.Ended && !status.Paid {
			return order.ChargeOutcome{Status: status, Declined: order.PaymentDeclined}, nil
		}
		return order.ChargeOutcome{Status: status}, err
	case registrar.CodeOf(err) == IdempotencyMismatch || stripeErr.Code == api.ErrorCodeParameterUnknown || stripeErr.Code == api.ErrorCodeParameterMissing:
		return order.ChargeOutcome{}, err // our request was wrong; the operator must be informed
	default:
		c.options.Logger.WarnContext(ctx, "stripe declined the payment token", "detail", c.errorDetail("charge", stripeErr))
		return order.ChargeOutcome{Declined: order.PaymentDeclined}, nil
	}
}

func (c *Client) chargeOutcome(call string, intent *paymentIntent) (order.ChargeOutcome, error) {
	status, err := c.intentPaymentStatus(call, intent)
	if err != nil {
		return order.ChargeOutcome{}, err
	}
	outcome := order.ChargeOutcome{Status: status}
	switch intent.Status {
	case api.PaymentIntentStatusRequiresAction:
		outcome.NeedsHuman = true
	case api.PaymentIntentStatusRequiresPaymentMethod, api.PaymentIntentStatusCanceled:
		outcome.Declined = order.PaymentDeclined
	default:
	}
	return outcome, nil
}

// FetchCharge returns the status of a payment intent.
func (c *Client) FetchCharge(ctx context.Context, intent string) (order.PaymentStatus, error) {
	params := &intentParams{Expand: api.StringSlice(intentExpand)}
	params.Headers = c.tokenVersionHeader()
	seen, err := retrieve[paymentIntent](ctx, c, "look_charge", api.FormatURLPath(intentsPath+"/%s", intent), params)
	if err != nil {
		return order.PaymentStatus{}, err
	}
	return c.intentPaymentStatus("look_charge", seen)
}

// CancelCharge cancels a payment intent and returns its final status. One that is
// already paid or canceled can't be canceled; that is not an error.
func (c *Client) CancelCharge(ctx context.Context, intent string) (order.PaymentStatus, error) {
	params := &intentParams{Expand: api.StringSlice(intentExpand)}
	params.Headers = c.tokenVersionHeader()
	// As with pages, canceling is idempotent, and a stored failure must not be
	// repeated.
	params.SetIdempotencyKey(api.NewIdempotencyKey())
	seen, err := post[paymentIntent](ctx, c, "cancel_charge", api.FormatURLPath(intentsPath+"/%s/cancel", intent), params)
	if errors.Is(err, &registrar.Error{Kind: registrar.KindInvalid, Code: Refused}) {
		return c.FetchCharge(ctx, intent)
	}
	if err != nil {
		return order.PaymentStatus{}, err
	}
	return c.intentPaymentStatus("cancel_charge", seen)
}

func (c *Client) intentPaymentStatus(call string, intent *paymentIntent) (order.PaymentStatus, error) {
	if intent.ID == "" || intent.Status == "" {
		return order.PaymentStatus{}, c.broken(call)
	}
	return order.PaymentStatus{
		Paid: intent.Status == api.PaymentIntentStatusSucceeded, Ended: intent.Status == api.PaymentIntentStatusCanceled,
		Payment: intent.Metadata[metaPayment], Order: intent.Metadata[metaOrder],
		Amount: registrar.Cents(intent.AmountReceived), Currency: intent.Currency, Intent: intent.ID, Card: cardFingerprint(intent),
	}, nil
}
