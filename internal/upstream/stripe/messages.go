package stripe

import (
	"encoding/json"
	"strings"

	api "github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// BadMessage goes with KindInvalid: nobody who knows a secret of ours has signed it,
// or long ago, or it is no message.
const BadMessage registrar.Code = "bad_message"

// Message says which of our things Stripe has news of. What the news is, it does not
// say: whoever wants to know must look.
type Message struct {
	// Type is Stripe's, such as checkout.session.completed.
	Type string
	// Session is a page to pay at, Intent a payment, Payment our own id of it, and
	// Verification a verification. All are empty for what does not concern us.
	Session, Intent, Payment, Verification string
}

// signedBy reads a message that was signed with the secret.
func signedBy(secret string, payload []byte, signature string) (api.Event, error) {
	return webhook.ConstructEventWithOptions(payload, signature, secret, webhook.ConstructEventOptions{
		// Five minutes, by the wall's clock. That a signature is from the future is
		// not held against it.
		Tolerance: webhook.DefaultTolerance,
		// An account's messages have the version that the account is set to, and we
		// read no more than ids, which have looked the same in all of them.
		IgnoreAPIVersionMismatch: true,
	})
}

// Read checks a message and says what it is about. signature is the header
// Stripe-Signature, payload the body byte by byte.
func (c *Client) Read(payload []byte, signature string) (Message, error) {
	for _, secret := range c.secrets {
		event, err := signedBy(secret, payload, signature)
		if err != nil {
			continue
		}
		return about(event)
	}
	// The cause is left out: whoever guesses learns nothing from us.
	return Message{}, &registrar.Error{Kind: registrar.KindInvalid, Code: BadMessage}
}

// subject is all that we read of the thing that a message is about.
type subject struct {
	ID            string            `json:"id"`
	PaymentIntent reference         `json:"payment_intent"`
	Metadata      map[string]string `json:"metadata"`
}

// reference is an id, or a thing that has one.
type reference string

// UnmarshalJSON reads both; null leaves it empty.
func (r *reference) UnmarshalJSON(raw []byte) error {
	id, plain := api.ParseID(raw)
	if plain {
		*r = reference(id)
		return nil
	}
	var thing struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(raw, &thing); err != nil {
		return err
	}
	*r = reference(thing.ID)
	return nil
}

func about(event api.Event) (Message, error) {
	message := Message{Type: string(event.Type)}
	if event.Data == nil {
		return Message{}, &registrar.Error{Kind: registrar.KindInvalid, Code: BadMessage}
	}
	var thing subject
	if err := json.Unmarshal(event.Data.Raw, &thing); err != nil {
		return Message{}, &registrar.Error{Kind: registrar.KindInvalid, Code: BadMessage, Err: err}
	}
	has := func(prefix string) bool { return strings.HasPrefix(message.Type, prefix) }
	switch {
	case has("checkout.session."):
		message.Session, message.Intent, message.Payment = thing.ID, string(thing.PaymentIntent), thing.Metadata[metaPayment]
	case has("payment_intent."):
		message.Intent, message.Payment = thing.ID, thing.Metadata[metaPayment]
	case has("charge."), has("refund."):
		// Charges, disputes and refunds name the payment.
		message.Intent = string(thing.PaymentIntent)
	case has("identity.verification_session."):
		message.Verification = thing.ID
	}
	return message, nil
}
