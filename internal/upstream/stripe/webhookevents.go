package stripe

import (
	"encoding/json"
	"slices"
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
	signed := slices.ContainsFunc(c.options.Secrets, func(secret string) bool {
		// Five minutes of wall clock time. Signatures from the future are accepted.
		return webhook.ValidatePayloadWithTolerance(payload, signature, secret, webhook.DefaultTolerance) == nil
	})
	if !signed {
		// The cause is omitted, so that an attacker learns nothing.
		return order.Event{}, &registrar.Error{Kind: registrar.KindInvalid, Code: BadWebhookSignature}
	}
	return eventOf(payload)
}

// eventOf reads a signed event. Events have the API version configured in the account; only ids
// are read, which are the same in all versions.
func eventOf(payload []byte) (order.Event, error) {
	var event struct {
		Object string `json:"object"` // the thin events of the API's second version have another one
		Type   string `json:"type"`
		Data   struct {
			Object *struct {
				ID            string   `json:"id"`
				Mode          string   `json:"mode"` // of a checkout session
				PaymentIntent objectID `json:"payment_intent"`
			} `json:"object"`
		} `json:"data"`
	}
	err := json.Unmarshal(payload, &event)
	object := event.Data.Object
	if err != nil || event.Object != "event" || object == nil {
		return order.Event{}, &registrar.Error{Kind: registrar.KindInvalid, Code: BadWebhookSignature, Err: err}
	}
	has := func(prefix string) bool { return strings.HasPrefix(event.Type, prefix) }
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
