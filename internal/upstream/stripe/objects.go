package stripe

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	api "github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/form"
)

// The types below have only the members that are read. The library's have hundreds and refer to
// one another: decoding one of them costs several passes over the response and makes encoding/json
// keep a description of them all, which takes some MiB.

type checkoutSession struct {
	api.APIResource

	ID            string                    `json:"id"`
	URL           string                    `json:"url"`
	Mode          api.CheckoutSessionMode   `json:"mode"`
	Status        api.CheckoutSessionStatus `json:"status"`
	ExpiresAt     int64                     `json:"expires_at"`
	Metadata      map[string]string         `json:"metadata"`
	AmountTotal   int64                     `json:"amount_total"`
	Currency      string                    `json:"currency"`
	Customer      objectID                  `json:"customer"`
	PaymentIntent expanded[paymentIntent]   `json:"payment_intent"`
	SetupIntent   expanded[setupIntent]     `json:"setup_intent"`
}

type paymentIntent struct {
	api.APIResource

	ID               string                            `json:"id"`
	Status           api.PaymentIntentStatus           `json:"status"`
	Metadata         map[string]string                 `json:"metadata"`
	AmountReceived   int64                             `json:"amount_received"`
	Currency         string                            `json:"currency"`
	SetupFutureUsage api.PaymentIntentSetupFutureUsage `json:"setup_future_usage"`
	Customer         objectID                          `json:"customer"`
	LatestCharge     expanded[struct {
		PaymentMethodDetails struct {
			Card *card `json:"card"`
		} `json:"payment_method_details"`
	}] `json:"latest_charge"`
	PaymentMethod expanded[paymentMethod] `json:"payment_method"`
}

type setupIntent struct {
	Status        api.SetupIntentStatus   `json:"status"`
	Customer      objectID                `json:"customer"`
	PaymentMethod expanded[paymentMethod] `json:"payment_method"`
}

type paymentMethod struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Customer objectID `json:"customer"`
	Card     *card    `json:"card"`
}

type card struct {
	Brand       string `json:"brand"`
	Last4       string `json:"last4"`
	Fingerprint string `json:"fingerprint"`
	ExpYear     int    `json:"exp_year"`
	ExpMonth    int    `json:"exp_month"`
}

// expanded is an object that the response has in full, or only its id where the request does not
// expand it. It is empty for null.
type expanded[T any] struct {
	id     string
	object *T
}

// UnmarshalJSON accepts both.
func (e *expanded[T]) UnmarshalJSON(raw []byte) error {
	if id, plain := api.ParseID(raw); plain {
		e.id = id
		return nil
	}
	return json.Unmarshal(raw, &e.object)
}

// objectID is an id, or an expanded object with one.
type objectID string

// UnmarshalJSON accepts both; null leaves it empty.
func (r *objectID) UnmarshalJSON(raw []byte) error {
	id, plain := api.ParseID(raw)
	if plain {
		*r = objectID(id)
		return nil
	}
	var object struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return err
	}
	*r = objectID(object.ID)
	return nil
}

// intentParams are the parameters of payment intents that are used. Those of the library have
// dozens, each of which it looks at by reflection.
type intentParams struct {
	api.Params `form:"*"`

	Amount                  *int64                                                `form:"amount"`
	Currency                *string                                               `form:"currency"`
	Customer                *string                                               `form:"customer"`
	Metadata                map[string]string                                     `form:"metadata"`
	PaymentMethod           *string                                               `form:"payment_method"`
	PaymentMethodTypes      []*string                                             `form:"payment_method_types"`
	AutomaticPaymentMethods *api.PaymentIntentCreateAutomaticPaymentMethodsParams `form:"automatic_payment_methods"`
	OffSession              *bool                                                 `form:"off_session"`
	Expand                  []*string                                             `form:"expand"`
}

// resource limits T to types that embed api.APIResource.
type resource[T any] interface {
	*T
	api.LastResponseSetter
}

// post is call for a POST request whose response is read into a type of our own.
func post[T any, R resource[T]](ctx context.Context, c *Client, name, path string, params api.ParamsContainer) (*T, error) {
	return send[T, R](ctx, c, name, http.MethodPost, path, params)
}

// retrieve is post for a GET request.
func retrieve[T any, R resource[T]](ctx context.Context, c *Client, name, path string, params api.ParamsContainer) (*T, error) {
	return send[T, R](ctx, c, name, http.MethodGet, path, params)
}

func send[T any, R resource[T]](ctx context.Context, c *Client, name, method, path string, params api.ParamsContainer) (object *T, err error) {
	err = c.call(ctx, name, func(ctx context.Context) error {
		object = new(T)
		return c.exchange(ctx, method, path, params, R(object))
	})
	return object, err
}

func (c *Client) exchange(ctx context.Context, method, path string, params api.ParamsContainer, response api.LastResponseSetter) error {
	values := new(form.Values)
	form.AppendTo(values, params)
	body := values.Encode()
	if method == http.MethodGet && body != "" {
		path, body = path+"?"+body, ""
	}
	common := params.GetParams()
	common.Context = ctx
	request, err := c.backend.NewRequest(method, path, c.options.Key, "application/x-www-form-urlencoded", common)
	if err != nil {
		return err
	}
	return c.backend.Do(request, bytes.NewBufferString(body), response)
}
