package stripe

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	api "github.com/stripe/stripe-go/v85"
	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// Metadata keys of a checkout session.
const (
	metaOrder   = "order"
	metaPayment = "payment"
)

const euro = "eur"

// maxLineItems is Stripe's limit. Only automatic renewals that a customer pays by hand can have
// more items; their page shows the number of domains.
const maxLineItems = 100

// reusableMethodTypes are the payment methods that can be charged off-session as
// the same type: after iDEAL or Bancontact, for example, the next charge would be a
// direct debit, which is not final at once.
var reusableMethodTypes = []string{"card", "link", "paypal", "revolut_pay", "amazon_pay"}

// shownMethods makes the page offer the customer's saved payment methods. Without it, Stripe
// offers only methods that were saved for every purpose, and ours are saved for renewals: their
// allow_redisplay is limited. The customer chooses the method and confirms the payment there.
var shownMethods = []string{"always", "limited", "unspecified"}

// roundedText explains line items whose gross differs by a cent from the prices of the order, in
// German and English.
var roundedText = [2]string{
	"Die Umsatzsteuer ist einmal für die ganze Bestellung gerundet und auf die Domains verteilt. Deshalb kann ein Betrag um einen Cent vom Preis in der Bestellung abweichen.",
	"VAT is rounded once for the whole order and distributed over the domains, so an amount may differ by a cent from its price in the order.",
}

// OpenPage creates a checkout session or returns the existing one. EndsAt must be
// 30 minutes to 24 hours ahead at the first call and identical in repeated calls:
// Stripe compares all parameters of an idempotency key.
func (c *Client) OpenPage(ctx context.Context, page order.PaymentPage) (order.OpenedPage, error) {
	opened, err := c.openPage(ctx, page, page.ID)
	if page.ProviderCustomer != "" && errors.Is(err, &registrar.Error{Kind: registrar.KindNotFound, Code: ResourceMissing}) {
		// The customer was deleted at Stripe, which must not prevent payment. This
		// is another request, so it has another key.
		page.ProviderCustomer = ""
		return c.openPage(ctx, page, page.ID+"-anew")
	}
	return opened, err
}

func (c *Client) openPage(ctx context.Context, page order.PaymentPage, key string) (order.OpenedPage, error) {
	params := c.sessionParams(page)
	params.SetIdempotencyKey(key)
	made, err := post[checkoutSession](ctx, c, "open_page", "/v1/checkout/sessions", params)
	if err != nil {
		return order.OpenedPage{}, err
	}
	if made.ID == "" || made.URL == "" && made.Status == api.CheckoutSessionStatusOpen {
		return order.OpenedPage{}, c.broken("open_page")
	}
	return order.OpenedPage{Session: made.ID, URL: made.URL, EndsAt: time.Unix(made.ExpiresAt, 0)}, nil
}

func (c *Client) sessionParams(page order.PaymentPage) *api.CheckoutSessionCreateParams {
	meta := map[string]string{metaOrder: page.Order, metaPayment: page.ID}
	params := &api.CheckoutSessionCreateParams{
		Mode:               api.String(string(api.CheckoutSessionModePayment)),
		PaymentMethodTypes: api.StringSlice(c.options.Methods),
		ClientReferenceID:  api.String(page.Order),
		Metadata:           meta,
		PaymentIntentData:  &api.CheckoutSessionCreatePaymentIntentDataParams{Metadata: meta},
		Locale:             api.String(page.Language),
		SuccessURL:         api.String(page.PaidURL),
		CancelURL:          api.String(page.BackURL),
		ExpiresAt:          api.Int64(page.EndsAt.Unix()),
		// The amount is in euros wherever the card comes from; the order compares
		// it.
		AdaptivePricing: &api.CheckoutSessionCreateAdaptivePricingParams{Enabled: api.Bool(false)},
	}
	items := page.Items
	if len(items) > maxLineItems {
		items = []order.Item{{Name: strconv.Itoa(len(items)) + " Domains", Gross: page.Amount}}
	}
	if page.Rounded && len(page.Items) <= maxLineItems {
		text := roundedText[0]
		if page.Language == "en" {
			text = roundedText[1]
		}
		params.CustomText = &api.CheckoutSessionCreateCustomTextParams{
			Submit: &api.CheckoutSessionCreateCustomTextSubmitParams{Message: api.String(text)},
		}
	}
	for _, line := range items {
		name := line.Name
		if written, err := idna.Punycode.ToUnicode(name); err == nil {
			name = written
		}
		params.LineItems = append(params.LineItems, &api.CheckoutSessionCreateLineItemParams{
			Quantity: api.Int64(1),
			PriceData: &api.CheckoutSessionCreateLineItemPriceDataParams{
				Currency:    api.String(euro),
				UnitAmount:  api.Int64(int64(line.Gross)),
				ProductData: &api.CheckoutSessionCreateLineItemPriceDataProductDataParams{Name: api.String(name)},
			},
		})
	}
	keep := page.SaveMethod && len(c.reusableMethods) > 0
	if keep {
		params.PaymentMethodTypes = api.StringSlice(c.reusableMethods)
		params.PaymentIntentData.SetupFutureUsage = api.String(string(api.PaymentIntentSetupFutureUsageOffSession))
	}
	if page.ProviderCustomer != "" {
		params.Customer = api.String(page.ProviderCustomer)
		params.SavedPaymentMethodOptions = &api.CheckoutSessionCreateSavedPaymentMethodOptionsParams{
			AllowRedisplayFilters: api.StringSlice(shownMethods),
		}
		return params
	}
	params.CustomerEmail = api.String(page.Email)
	if keep {
		params.CustomerCreation = api.String(string(api.CheckoutSessionCustomerCreationAlways))
	}
	return params
}

// sessionExpand is requested with each fetch, so that one call returns everything.
var sessionExpand = []string{"payment_intent.latest_charge", "payment_intent.payment_method"}

// FetchPage returns the payment status of a page.
func (c *Client) FetchPage(ctx context.Context, session string) (order.PaymentStatus, error) {
	params := &api.CheckoutSessionRetrieveParams{Expand: api.StringSlice(sessionExpand)}
	seen, err := retrieve[checkoutSession](ctx, c, "look", api.FormatURLPath("/v1/checkout/sessions/%s", session), params)
	if err != nil {
		return order.PaymentStatus{}, err
	}
	return c.paymentStatus("look", seen)
}

// ClosePage expires a page and returns its final status. A page that is already
// paid or expired can't be closed; that is not an error.
func (c *Client) ClosePage(ctx context.Context, session string) (order.PaymentStatus, error) {
	params := &api.CheckoutSessionExpireParams{Expand: api.StringSlice(sessionExpand)}
	// Expiring is idempotent, so a new key is safe. A fixed one is not: the
	// response that Stripe stores for it may be an old failure.
	params.SetIdempotencyKey(api.NewIdempotencyKey())
	seen, err := post[checkoutSession](ctx, c, "close_page", api.FormatURLPath("/v1/checkout/sessions/%s/expire", session), params)
	if errors.Is(err, &registrar.Error{Kind: registrar.KindInvalid, Code: Refused}) {
		return c.FetchPage(ctx, session)
	}
	if err != nil {
		return order.PaymentStatus{}, err
	}
	return c.paymentStatus("close_page", seen)
}

func (c *Client) paymentStatus(call string, s *checkoutSession) (order.PaymentStatus, error) {
	status := order.PaymentStatus{
		Payment: s.Metadata[metaPayment], Order: s.Metadata[metaOrder],
		Amount: registrar.Cents(s.AmountTotal), Currency: s.Currency, Intent: s.PaymentIntent.id,
	}
	intent := s.PaymentIntent.object
	if intent != nil {
		status.Intent = intent.ID
		if intent.Status == api.PaymentIntentStatusSucceeded {
			// A received payment counts, whatever the page says.
			status.Paid = true
			status.Amount, status.Currency = registrar.Cents(intent.AmountReceived), intent.Currency
			status.Card, status.Method = cardFingerprint(intent), reusableMethodOf(intent)
			return status, nil
		}
	}
	switch {
	case s.Status == api.CheckoutSessionStatusOpen:
		return status, nil
	case s.Status == api.CheckoutSessionStatusExpired:
		status.Ended = true
		return status, nil
	case s.Status != api.CheckoutSessionStatusComplete || intent == nil || intent.Status == "":
		return order.PaymentStatus{}, c.broken(call)
	}
	// The page is complete. A payment that failed after all can't be repeated
	// there; any other may still succeed.
	status.Ended = intent.Status == api.PaymentIntentStatusCanceled || intent.Status == api.PaymentIntentStatusRequiresPaymentMethod
	return status, nil
}

func cardFingerprint(intent *paymentIntent) string {
	if charge := intent.LatestCharge.object; charge != nil && charge.PaymentMethodDetails.Card != nil {
		return charge.PaymentMethodDetails.Card.Fingerprint
	}
	if method := intent.PaymentMethod.object; method != nil && method.Card != nil {
		return method.Card.Fingerprint
	}
	return ""
}

// reusableMethodOf returns the payment method if the customer agreed to save it.
func reusableMethodOf(intent *paymentIntent) *order.PaymentMethod {
	if intent.SetupFutureUsage != api.PaymentIntentSetupFutureUsageOffSession || intent.Customer == "" || intent.PaymentMethod.object == nil {
		return nil
	}
	return savedMethod(intent.Customer, intent.PaymentMethod.object)
}

func savedMethod(customer objectID, method *paymentMethod) *order.PaymentMethod {
	saved := &order.PaymentMethod{ProviderCustomer: string(customer), ID: method.ID, Label: methodLabel(method)}
	if card := method.Card; card != nil {
		saved.Fingerprint = card.Fingerprint
		if card.ExpYear > 0 {
			saved.Expires = time.Date(card.ExpYear, time.Month(card.ExpMonth), 1, 0, 0, 0, 0, time.UTC).Format(order.ExpiresLayout)
		}
	}
	return saved
}

// brandNames are the display names of Stripe's brands.
var brandNames = map[string]string{
	"visa": "Visa", "mastercard": "Mastercard", "amex": "American Express", "diners": "Diners Club", "discover": "Discover",
	"jcb": "JCB", "unionpay": "UnionPay", "cartes_bancaires": "Cartes Bancaires", "girocard": "girocard",
	"link": "Link", "paypal": "PayPal", "revolut_pay": "Revolut Pay", "amazon_pay": "Amazon Pay",
}

// methodLabel is shown to customers: Visa •••• 4242.
func methodLabel(method *paymentMethod) string {
	if method.Card == nil {
		return cmp.Or(brandNames[method.Type], strings.ReplaceAll(method.Type, "_", " "))
	}
	return cmp.Or(brandNames[method.Card.Brand], "Card") + " •••• " + method.Card.Last4
}
