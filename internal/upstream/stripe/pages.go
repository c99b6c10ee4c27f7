package stripe

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// What our metadata is called at Stripe.
const (
	metaOrder   = "order"
	metaPayment = "payment"
)

const euro = "eur"

// keepsMoneyLater are the means of payment that can be charged again later without
// becoming another one: after iDEAL or Bancontact, for example, the next charge
// would be a direct debit, which is not certain at once.
var keepsMoneyLater = []string{"card", "link", "paypal", "revolut_pay", "amazon_pay"}

func keepable(methods []string) []string {
	return slices.DeleteFunc(slices.Clone(methods), func(method string) bool { return !slices.Contains(keepsMoneyLater, method) })
}

// OpenPage makes a checkout session, or finds it. EndsAt must be 30 minutes to 24
// hours ahead when the page is first made, and the same whenever the call is
// repeated: Stripe compares all that belongs to a key.
func (c *Client) OpenPage(ctx context.Context, page order.Page) (order.Opened, error) {
	opened, err := c.openPage(ctx, page, page.ID)
	if page.Holder != "" && errors.Is(err, &registrar.Error{Kind: registrar.KindNotFound, Code: Unknown}) {
		// Somebody has deleted the customer at Stripe, who must not be barred from
		// paying by that. It is another call, so it has another key.
		page.Holder = ""
		return c.openPage(ctx, page, page.ID+"-anew")
	}
	return opened, err
}

func (c *Client) openPage(ctx context.Context, page order.Page, key string) (order.Opened, error) {
	var made *api.CheckoutSession
	params := c.sessionParams(page)
	params.SetIdempotencyKey(key)
	err := c.call(ctx, "open_page", func(ctx context.Context) (err error) {
		made, err = c.api.V1CheckoutSessions.Create(ctx, params)
		return err
	})
	if err != nil {
		return order.Opened{}, err
	}
	if made.ID == "" || made.URL == "" && made.Status == api.CheckoutSessionStatusOpen {
		return order.Opened{}, registrar.Fault(registrar.FaultBroken, c.host+": open_page", nil)
	}
	return order.Opened{Session: made.ID, URL: made.URL, EndsAt: time.Unix(made.ExpiresAt, 0)}, nil
}

func (c *Client) sessionParams(page order.Page) *api.CheckoutSessionCreateParams {
	meta := map[string]string{metaOrder: page.Order, metaPayment: page.ID}
	params := &api.CheckoutSessionCreateParams{
		Mode:               api.String(string(api.CheckoutSessionModePayment)),
		PaymentMethodTypes: api.StringSlice(c.methods),
		ClientReferenceID:  api.String(page.Order),
		Metadata:           meta,
		PaymentIntentData:  &api.CheckoutSessionCreatePaymentIntentDataParams{Metadata: meta},
		Locale:             api.String(page.Language),
		SuccessURL:         api.String(page.Paid),
		CancelURL:          api.String(page.Back),
		ExpiresAt:          api.Int64(page.EndsAt.Unix()),
		// The amount is in euros wherever the card comes from; the order compares it.
		AdaptivePricing: &api.CheckoutSessionCreateAdaptivePricingParams{Enabled: api.Bool(false)},
	}
	for _, line := range page.Lines {
		params.LineItems = append(params.LineItems, &api.CheckoutSessionCreateLineItemParams{
			Quantity: api.Int64(1),
			PriceData: &api.CheckoutSessionCreateLineItemPriceDataParams{
				Currency:    api.String(euro),
				UnitAmount:  api.Int64(int64(line.Amount)),
				ProductData: &api.CheckoutSessionCreateLineItemPriceDataProductDataParams{Name: api.String(line.Name)},
			},
		})
	}
	keep := page.Keep && len(c.keepable) > 0
	if keep {
		params.PaymentMethodTypes = api.StringSlice(c.keepable)
		params.PaymentIntentData.SetupFutureUsage = api.String(string(api.PaymentIntentSetupFutureUsageOffSession))
	}
	switch {
	case page.Holder != "":
		params.Customer = api.String(page.Holder)
	default:
		params.CustomerEmail = api.String(page.Email)
		if keep {
			params.CustomerCreation = api.String(string(api.CheckoutSessionCustomerCreationAlways))
		}
	}
	return params
}

// whatWeLookAt is asked for with each look, so that one call tells all.
var whatWeLookAt = []string{"payment_intent.latest_charge", "payment_intent.payment_method"}

// Look is how a page stands.
func (c *Client) Look(ctx context.Context, session string) (order.Standing, error) {
	var seen *api.CheckoutSession
	err := c.call(ctx, "look", func(ctx context.Context) (err error) {
		seen, err = c.api.V1CheckoutSessions.Retrieve(ctx, session, &api.CheckoutSessionRetrieveParams{Expand: api.StringSlice(whatWeLookAt)})
		return err
	})
	if err != nil {
		return order.Standing{}, err
	}
	return c.standing("look", seen)
}

// ClosePage closes a page and says how it stands then. One that is paid or closed
// already can't be closed; that is no error, but an answer.
func (c *Client) ClosePage(ctx context.Context, session string) (order.Standing, error) {
	params := &api.CheckoutSessionExpireParams{Expand: api.StringSlice(whatWeLookAt)}
	// Closing twice is closing once, so the key need not be remembered. It must not
	// be: the answer that Stripe keeps with it may be an old failure.
	params.SetIdempotencyKey(api.NewIdempotencyKey())
	var seen *api.CheckoutSession
	err := c.call(ctx, "close_page", func(ctx context.Context) (err error) {
		seen, err = c.api.V1CheckoutSessions.Expire(ctx, session, params)
		return err
	})
	if errors.Is(err, &registrar.Error{Kind: registrar.KindInvalid, Code: Refused}) {
		return c.Look(ctx, session)
	}
	if err != nil {
		return order.Standing{}, err
	}
	return c.standing("close_page", seen)
}

func (c *Client) standing(call string, s *api.CheckoutSession) (order.Standing, error) {
	standing := order.Standing{
		Payment: s.Metadata[metaPayment], Order: s.Metadata[metaOrder],
		Amount: registrar.Cents(s.AmountTotal), Currency: string(s.Currency),
	}
	intent := s.PaymentIntent
	if intent != nil {
		standing.Intent = intent.ID
		if intent.Status == api.PaymentIntentStatusSucceeded {
			// Money is money, whatever the page says.
			standing.Paid = true
			standing.Amount, standing.Currency = registrar.Cents(intent.AmountReceived), string(intent.Currency)
			standing.Card, standing.Method = cardOf(intent), methodOf(intent)
			return standing, nil
		}
	}
	switch {
	case s.Status == api.CheckoutSessionStatusOpen:
		return standing, nil
	case s.Status == api.CheckoutSessionStatusExpired:
		standing.Ended = true
		return standing, nil
	case s.Status != api.CheckoutSessionStatusComplete || intent == nil || intent.Status == "":
		return order.Standing{}, registrar.Fault(registrar.FaultBroken, c.host+": "+call, nil)
	}
	// The page is used up. A payment that has failed after all can't be repeated
	// there; any other may still succeed.
	standing.Ended = intent.Status == api.PaymentIntentStatusCanceled || intent.Status == api.PaymentIntentStatusRequiresPaymentMethod
	return standing, nil
}

// cardOf is the fingerprint of the card that was really charged.
func cardOf(intent *api.PaymentIntent) string {
	if charge := intent.LatestCharge; charge != nil && charge.PaymentMethodDetails != nil && charge.PaymentMethodDetails.Card != nil {
		return charge.PaymentMethodDetails.Card.Fingerprint
	}
	if method := intent.PaymentMethod; method != nil && method.Card != nil {
		return method.Card.Fingerprint
	}
	return ""
}

// methodOf is what may be charged again later: only what the human was asked for.
func methodOf(intent *api.PaymentIntent) *order.Method {
	if intent.SetupFutureUsage != api.PaymentIntentSetupFutureUsageOffSession || intent.Customer == nil || intent.PaymentMethod == nil {
		return nil
	}
	return &order.Method{Holder: intent.Customer.ID, ID: intent.PaymentMethod.ID, Label: label(intent.PaymentMethod)}
}

// names are how people write what Stripe writes in small letters.
var names = map[string]string{
	"visa": "Visa", "mastercard": "Mastercard", "amex": "American Express", "diners": "Diners Club", "discover": "Discover",
	"jcb": "JCB", "unionpay": "UnionPay", "cartes_bancaires": "Cartes Bancaires", "girocard": "girocard",
	"link": "Link", "paypal": "PayPal", "revolut_pay": "Revolut Pay", "amazon_pay": "Amazon Pay",
}

// label is for people: Visa •••• 4242.
func label(method *api.PaymentMethod) string {
	kind := string(method.Type)
	if method.Card == nil {
		if name, known := names[kind]; known {
			return name
		}
		return strings.ReplaceAll(kind, "_", " ")
	}
	brand, known := names[string(method.Card.Brand)]
	if !known {
		brand = "Card"
	}
	return brand + " •••• " + method.Card.Last4
}
