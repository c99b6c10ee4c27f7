package stripe

import (
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
	var made *api.IdentityVerificationSession
	err = c.call(ctx, "open_verification", func(ctx context.Context) (err error) {
		made, err = c.api.V1IdentityVerificationSessions.Create(ctx, params)
		return err
	})
	if err != nil {
		return "", "", err
	}
	if made.ID == "" || made.URL == "" {
		return "", "", registrar.Fault(registrar.FaultBroken, c.host+": open_verification", nil)
	}
	return made.ID, made.URL, nil
}

// FetchVerification returns the status of a verification. A failed attempt leaves
// the page open for another one: then both Failed and URL are set.
func (c *Client) FetchVerification(ctx context.Context, session string) (order.Verification, error) {
	params := &api.IdentityVerificationSessionRetrieveParams{Expand: api.StringSlice([]string{"verified_outputs"})}
	var seen *api.IdentityVerificationSession
	err := c.call(ctx, "look_verification", func(ctx context.Context) (err error) {
		seen, err = c.api.V1IdentityVerificationSessions.Retrieve(ctx, session, params)
		return err
	})
	if err != nil {
		return order.Verification{}, err
	}
	switch seen.Status {
	case api.IdentityVerificationSessionStatusVerified:
		name := verifiedName(seen.VerifiedOutputs)
		if name == "" {
			return order.Verification{Failed: true, Failure: VerificationWithoutName}, nil
		}
		return order.Verification{Done: true, Name: name}, nil
	case api.IdentityVerificationSessionStatusCanceled:
		return order.Verification{Failed: true, Failure: VerificationCanceled}, nil
	case api.IdentityVerificationSessionStatusProcessing:
		return order.Verification{}, nil
	case api.IdentityVerificationSessionStatusRequiresInput:
		if seen.LastError == nil {
			return order.Verification{URL: seen.URL}, nil
		}
		return order.Verification{Failed: true, Failure: verificationFailure(seen.LastError), URL: seen.URL}, nil
	default:
		return order.Verification{}, registrar.Fault(registrar.FaultBroken, c.host+": look_verification", nil)
	}
}

func verifiedName(outputs *api.IdentityVerificationSessionVerifiedOutputs) string {
	if outputs == nil {
		return ""
	}
	return strings.TrimSpace(strings.TrimSpace(outputs.FirstName) + " " + strings.TrimSpace(outputs.LastName))
}

// verificationFailure returns Stripe's code without its message.
func verificationFailure(last *api.IdentityVerificationSessionLastError) registrar.Code {
	if code := identifierOrEmpty(string(last.Code)); code != "" {
		return registrar.Code(code)
	}
	return VerificationFailed
}
