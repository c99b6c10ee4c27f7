package stripe

import (
	"encoding/json"
	"strings"

	api "github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// BadWebhookSignature has KindInvalid: the signature is missing, wrong or too old,
// or the payload is not an event.
const BadWebhookSignature registrar.Code = "bad_message"

// ParseEvent verifies an event and returns the ids of the objects it concerns; it
// is empty for other objects. The state in the event is ignored: callers fetch the
// object. signature is the Stripe-Signature header, payload the raw body.
func (c *Client) ParseEvent(payload []byte, signature string) (order.Event, error) {
	for _, secret := range c.options.Secrets {
		event, err := webhook.ConstructEventWithOptions(payload, signature, secret, webhook.ConstructEventOptions{
			// Five minutes of wall clock time. Signatures from the future are accepted.
			Tolerance: webhook.DefaultTolerance,
			// Events have the API version configured in the account; only ids are read,
			// which are the same in all versions.
			IgnoreAPIVersionMismatch: true,
		})
		if err == nil {
			return eventOf(event)
		}
	}
	// The cause is omitted, so that an attacker learns nothing.
	return order.Event{}, &registrar.Error{Kind: registrar.KindInvalid, Code: BadWebhookSignature}
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

func eventOf(event api.Event) (order.Event, error) {
	if event.Data == nil {
		return order.Event{}, &registrar.Error{Kind: registrar.KindInvalid, Code: BadWebhookSignature}
	}
	var object struct {
		ID            string   `json:"id"`
		Mode          string   `json:"mode"` // of a checkout session
		PaymentIntent objectID `json:"payment_intent"`
	}
	if err := json.Unmarshal(event.Data.Raw, &object); err != nil {
		return order.Event{}, &registrar.Error{Kind: registrar.KindInvalid, Code: BadWebhookSignature, Err: err}
	}
	has := func(prefix string) bool { return strings.HasPrefix(string(event.Type), prefix) }
	switch {
	case has("checkout.session.") && object.Mode == string(api.CheckoutSessionModeSetup):
		return order.Event{Setup: object.ID}, nil
	case has("checkout.session."):
		return order.Event{Session: object.ID, Intent: string(object.PaymentIntent)}, nil
	case has("payment_intent."):
		return order.Event{Intent: object.ID}, nil
	case has("charge.dispute."):
		return order.Event{Dispute: object.ID}, nil
	case has("charge."), has("refund."):
		// Charges and refunds reference the payment intent.
		refunds := has("refund.") || has("charge.refund")
		return order.Event{Intent: string(object.PaymentIntent), Refunds: refunds}, nil
	case has("identity.verification_session."):
		return order.Event{Verification: object.ID}, nil
	}
	return order.Event{}, nil
}
