package stripe

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// What Stripe can say beside the faults that every server outside has.
const (
	// KeyRefused goes with KindUpstream: our key is wrong or may not do this. An
	// operator mends it; nothing is decided.
	KeyRefused registrar.Code = "key_refused"
	// Refused goes with KindInvalid or KindConflict: Stripe does not do what we
	// asked. Its own code is in the detail.
	Refused registrar.Code = "provider_refused"
	// ResourceMissing goes with KindNotFound: there is no such page, payment or verification.
	ResourceMissing registrar.Code = "provider_knows_nothing"
	// IdempotencyMismatch goes with KindConflict: the id was used before, with other
	// contents.
	IdempotencyMismatch registrar.Code = "id_used_otherwise"
	// RefundFailed goes with KindConflict: the refund exists, and the bank has sent
	// the money back to us. A person must act.
	RefundFailed registrar.Code = "refund_failed"
	// AlreadyRefunded goes with KindConflict: nothing of the payment is left, and
	// what was given back was not given by us.
	AlreadyRefunded registrar.Code = "already_refunded"
)

// maxRetryAfter bounds what is believed of Retry-After.
const maxRetryAfter = 10 * time.Minute

// retryable says whether the same call can be sent again at once. Stripe's own
// word comes first: it says no to an error 500 that it has remembered under our key.
func retryable(err error) bool {
	var said *api.Error
	if !errors.As(err, &said) {
		// No answer, or none that can be read. A context that has ended is noticed
		// before the next attempt.
		return !errors.Is(err, context.Canceled)
	}
	if said.LastResponse != nil {
		switch said.LastResponse.Header.Get("Stripe-Should-Retry") {
		case "true":
			return true
		case "false":
			return false
		}
	}
	switch {
	case said.HTTPStatusCode == http.StatusConflict, said.HTTPStatusCode >= http.StatusInternalServerError:
		return true
	case said.HTTPStatusCode == http.StatusTooManyRequests:
		// Somebody else held the object for a moment; that is no call for calm.
		return said.Code == api.ErrorCodeLockTimeout
	default:
		return false
	}
}

// toError turns what the library returned into our own error.
func (c *Client) toError(call string, err error) *registrar.Error {
	var said *api.Error
	if errors.As(err, &said) {
		return c.fromStripeError(call, said)
	}
	code := registrar.FaultRefused
	var network net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		code = registrar.FaultTimeout
	case !errors.As(err, &network) && !errors.Is(err, context.Canceled):
		code = registrar.FaultBroken
	}
	return registrar.Fault(code, c.host+": "+call, &registrar.Cause{
		Part: "stripe", Operation: call, Target: c.host, Class: cmp.Or(registrar.NetworkClass(err), "unreadable_answer"), Err: err,
	})
}

// fromStripeError is what Stripe itself said.
func (c *Client) fromStripeError(call string, stripeErr *api.Error) *registrar.Error {
	problem := &registrar.Error{Kind: registrar.KindUpstream, Detail: c.errorDetail(call, stripeErr), Err: &registrar.Cause{
		Part: "stripe", Operation: call, Target: c.host, Class: registrar.HTTPClass(stripeErr.HTTPStatusCode),
		Code: "HTTP " + strconv.Itoa(stripeErr.HTTPStatusCode), Reference: registrar.PlainReference(stripeErr.RequestID), Err: stripeErr,
	}}
	switch status := stripeErr.HTTPStatusCode; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		problem.Code = KeyRefused
	case status == http.StatusTooManyRequests:
		problem.Code, problem.RetryAfter = registrar.FaultThrottled, retryAfter(stripeErr)
	case stripeErr.Type == api.ErrorTypeIdempotency && status != http.StatusConflict:
		problem.Kind, problem.Code = registrar.KindConflict, IdempotencyMismatch
	case status == http.StatusConflict:
		problem.Code = registrar.FaultBusy
	case status >= http.StatusInternalServerError || status < http.StatusBadRequest:
		problem.Code, problem.RetryAfter = registrar.FaultBroken, retryAfter(stripeErr)
	case stripeErr.Code == api.ErrorCodeChargeAlreadyRefunded:
		problem.Kind, problem.Code = registrar.KindConflict, AlreadyRefunded
	case status == http.StatusNotFound || stripeErr.Code == api.ErrorCodeResourceMissing:
		problem.Kind, problem.Code = registrar.KindNotFound, ResourceMissing
	case status == http.StatusPaymentRequired:
		problem.Kind, problem.Code = registrar.KindConflict, Refused
	default:
		problem.Kind, problem.Code = registrar.KindInvalid, Refused
	}
	return problem
}

func retryAfter(stripeErr *api.Error) time.Duration {
	if stripeErr.LastResponse == nil {
		return 0
	}
	seconds, err := strconv.Atoi(stripeErr.LastResponse.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}

// errorDetail is for the operator: which call, and Stripe's status, code, parameter and
// number of the request. Its sentence is left out, because it quotes what was sent.
func (c *Client) errorDetail(call string, stripeErr *api.Error) string {
	parts := []string{c.host + ": " + call, strconv.Itoa(stripeErr.HTTPStatusCode)}
	for _, word := range []string{string(stripeErr.Code), stripeErr.Param, stripeErr.RequestID} {
		if word = identifierOrEmpty(word); word != "" {
			parts = append(parts, word)
		}
	}
	return strings.Join(parts, " ")
}

// identifierOrEmpty is text if it is a word as Stripe's codes, parameters and numbers are,
// and nothing else.
func identifierOrEmpty(text string) string {
	if len(text) > 100 || strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_[]") != "" {
		return ""
	}
	return text
}
