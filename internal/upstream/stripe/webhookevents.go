package stripe

import (
	"encoding/json"
	"strings"

	api "github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// BadWebhookSignature goes with KindInvalid: nobody who knows a secret of ours has signed it,
// or long ago, or it is no message.
const BadWebhookSignature registrar.Code = "bad_message"

// verifyEvent reads a message that was signed with the secret.
func verifyEvent(secret string, payload []byte, signature string) (api.Event, error) {
	return webhook.ConstructEventWithOptions(payload, signature, secret, webhook.ConstructEventOptions{
		// Five minutes, by the wall's clock. That a signature is from the future is
		// not held against it.
		Tolerance: webhook.DefaultTolerance,
		// An account's messages have the version that the account is set to, and we
		// read no more than ids, which have looked the same in all of them.
		IgnoreAPIVersionMismatch: true,
	})
}

// ParseEvent checks a message and says what it is about: which of our things Stripe has
// news of, and nothing for a thing that does not concern us. What the news is, is not
// said: whoever wants to know must look. signature is the header Stripe-Signature,
// payload the body byte by byte.
func (c *Client) ParseEvent(payload []byte, signature string) (order.Event, error) {
	for _, secret := range c.secrets {
		event, err := verifyEvent(secret, payload, signature)
		if err != nil {
			continue
		}
		return eventOf(event)
	}
	// The cause is left out: whoever guesses learns nothing from us.
	return order.Event{}, &registrar.Error{Kind: registrar.KindInvalid, Code: BadWebhookSignature}
}

// eventObject is all that we read of the thing that a message is about.
type eventObject struct {
	ID            string   `json:"id"`
	PaymentIntent objectID `json:"payment_intent"`
}

// objectID is an id, or a thing that has one.
type objectID string

// UnmarshalJSON reads both; null leaves it empty.
func (r *objectID) UnmarshalJSON(raw []byte) error {
	id, plain := api.ParseID(raw)
	if plain {
		*r = objectID(id)
		return nil
	}
	var thing struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(raw, &thing); err != nil {
		return err
	}
	*r = objectID(thing.ID)
	return nil
}

func eventOf(event api.Event) (order.Event, error) {
	if event.Data == nil {
		return order.Event{}, &registrar.Error{Kind: registrar.KindInvalid, Code: BadWebhookSignature}
	}
	var thing eventObject
	if err := json.Unmarshal(event.Data.Raw, &thing); err != nil {
		return order.Event{}, &registrar.Error{Kind: registrar.KindInvalid, Code: BadWebhookSignature, Err: err}
	}
	has := func(prefix string) bool { return strings.HasPrefix(string(event.Type), prefix) }
	switch {
	case has("checkout.session."):
		return order.Event{Session: thing.ID, Intent: string(thing.PaymentIntent)}, nil
	case has("payment_intent."):
		return order.Event{Intent: thing.ID}, nil
	case has("charge."), has("refund."):
		// Charges, disputes and refunds name the payment.
		return order.Event{Intent: string(thing.PaymentIntent)}, nil
	case has("identity.verification_session."):
		return order.Event{Verification: thing.ID}, nil
	}
	return order.Event{}, nil
}
