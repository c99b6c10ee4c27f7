package stripe

import (
	"cmp"
	"context"
	"strings"

	api "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// Metadata keys of a verification.
const (
	metaCustomer     = "customer"
	metaVerification = "verification"
)

// Reasons for a verification without a name, in addition to Stripe's codes.
const (
	// VerificationCanceled: it was canceled before a document was shown.
	VerificationCanceled registrar.Code = "canceled"
	// VerificationWithoutName: it succeeded, but the name is missing or was
	// deleted.
	VerificationWithoutName registrar.Code = "no_name"
	// VerificationFailed: Stripe gave a reason that is not a code.
	VerificationFailed registrar.Code = "not_verified"
)

// OpenVerification creates a verification or returns the existing one. Neither the
// mail address nor the language is sent to Stripe: the page uses the browser's
// language, and the address is not needed.
func (c *Client) OpenVerification(ctx context.Context, id, customer, _, _, back string) (session, url string, err error) {
	params := &api.IdentityVerificationSessionCreateParams{
		Type:              api.String(string(api.IdentityVerificationSessionTypeDocument)),
		ClientReferenceID: api.String(customer),
		Metadata:          map[string]string{metaCustomer: customer, metaVerification: id},
		ReturnURL:         api.String(back),
	}
	params.SetIdempotencyKey(id)
	made, err := create(ctx, c, "open_verification", c.api.createVerification, params)
	if err != nil {
		return "", "", err
	}
	if made.ID == "" || made.URL == "" {
		return "", "", c.broken("open_verification")
	}
	return made.ID, made.URL, nil
}

// FetchVerification returns the status of a verification. A failed attempt leaves
// the page open for another one: then both Failed and URL are set.
func (c *Client) FetchVerification(ctx context.Context, session string) (order.Verification, error) {
	params := &api.IdentityVerificationSessionRetrieveParams{Expand: api.StringSlice([]string{"verified_outputs"})}
	seen, err := onObject(ctx, c, "look_verification", c.api.getVerification, session, params)
	if err != nil {
		return order.Verification{}, err
	}
	switch seen.Status {
	case api.IdentityVerificationSessionStatusVerified:
		if name := verifiedName(seen.VerifiedOutputs); name != "" {
			return order.Verification{Done: true, Name: name}, nil
		}
		return order.Verification{Failed: true, Failure: VerificationWithoutName}, nil
	case api.IdentityVerificationSessionStatusCanceled:
		return order.Verification{Failed: true, Failure: VerificationCanceled}, nil
	case api.IdentityVerificationSessionStatusProcessing:
		return order.Verification{}, nil
	case api.IdentityVerificationSessionStatusRequiresInput:
		if seen.LastError == nil {
			return order.Verification{URL: seen.URL}, nil
		}
		// Stripe's code without its message.
		code := cmp.Or(registrar.Code(identifierOrEmpty(string(seen.LastError.Code))), VerificationFailed)
		return order.Verification{Failed: true, Failure: code, URL: seen.URL}, nil
	default:
		return order.Verification{}, c.broken("look_verification")
	}
}

func verifiedName(outputs *api.IdentityVerificationSessionVerifiedOutputs) string {
	if outputs == nil {
		return ""
	}
	return strings.TrimSpace(strings.TrimSpace(outputs.FirstName) + " " + strings.TrimSpace(outputs.LastName))
}
