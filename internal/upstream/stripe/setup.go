package stripe

import (
	"cmp"
	"context"
	"errors"

	api "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

var _ renewal.Provider = (*Client)(nil)

// metaSetup is the metadata key of a session that saves a payment method.
const metaSetup = "setup"

// OpenSetupPage creates a checkout session of mode setup or returns the existing one.
func (c *Client) OpenSetupPage(ctx context.Context, page renewal.SetupPage) (url string, err error) {
	url, err = c.openSetupPage(ctx, page, page.ID)
	if page.ProviderCustomer != "" && errors.Is(err, &registrar.Error{Kind: registrar.KindNotFound, Code: ResourceMissing}) {
		page.ProviderCustomer = "" // as in OpenPage
		return c.openSetupPage(ctx, page, page.ID+"-anew")
	}
	return url, err
}

func (c *Client) openSetupPage(ctx context.Context, page renewal.SetupPage, key string) (string, error) {
	methods := c.reusableMethods
	if len(methods) == 0 {
		methods = []string{"card"}
	}
	meta := map[string]string{metaCustomer: page.Customer, metaSetup: page.ID}
	params := &api.CheckoutSessionCreateParams{
		Mode:               api.String(string(api.CheckoutSessionModeSetup)),
		PaymentMethodTypes: api.StringSlice(methods),
		ClientReferenceID:  api.String(page.Customer),
		Metadata:           meta,
		SetupIntentData:    &api.CheckoutSessionCreateSetupIntentDataParams{Metadata: meta},
		Locale:             api.String(page.Language),
		SuccessURL:         api.String(page.DoneURL),
		CancelURL:          api.String(page.BackURL),
	}
	if page.ProviderCustomer != "" {
		params.Customer = api.String(page.ProviderCustomer)
	} else {
		params.CustomerEmail = api.String(page.Email)
		params.CustomerCreation = api.String(string(api.CheckoutSessionCustomerCreationAlways))
	}
	params.SetIdempotencyKey(key)
	made, err := post[checkoutSession](ctx, c, "open_setup", "/v1/checkout/sessions", params)
	if err != nil {
		return "", err
	}
	if made.ID == "" || made.URL == "" {
		return "", c.broken("open_setup")
	}
	return made.URL, nil
}

// setupExpand is requested with each fetch, so that one call returns everything.
var setupExpand = []string{"setup_intent.payment_method"}

// FetchSetupPage returns what was saved at a page. A session of another mode is empty.
func (c *Client) FetchSetupPage(ctx context.Context, session string) (renewal.Setup, error) {
	params := &api.CheckoutSessionRetrieveParams{Expand: api.StringSlice(setupExpand)}
	seen, err := retrieve[checkoutSession](ctx, c, "look_setup", api.FormatURLPath("/v1/checkout/sessions/%s", session), params)
	if err != nil || seen.Mode != api.CheckoutSessionModeSetup {
		return renewal.Setup{}, err
	}
	setup := renewal.Setup{ID: seen.Metadata[metaSetup], Customer: seen.Metadata[metaCustomer]}
	intent := seen.SetupIntent.object
	if intent == nil || intent.Status != api.SetupIntentStatusSucceeded || intent.PaymentMethod.object == nil {
		return setup, nil
	}
	customer := cmp.Or(seen.Customer, intent.Customer)
	if customer == "" || intent.PaymentMethod.object.Customer == "" { // removed since
		return setup, nil
	}
	setup.Method = savedMethod(customer, intent.PaymentMethod.object)
	return setup, nil
}

// ForgetMethod detaches a payment method from its customer.
func (c *Client) ForgetMethod(ctx context.Context, method string) error {
	params := &api.PaymentMethodDetachParams{}
	params.SetIdempotencyKey(api.NewIdempotencyKey()) // detaching is idempotent; see ClosePage
	_, err := onObject(ctx, c, "forget_method", c.api.detachMethod, method, params)
	if errors.Is(err, &registrar.Error{Kind: registrar.KindNotFound, Code: ResourceMissing}) || errors.Is(err, &registrar.Error{Kind: registrar.KindInvalid, Code: Refused}) {
		return nil // it is gone or detached
	}
	return err
}
