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

// Error codes in addition to the faults that every upstream has.
const (
	// KeyRefused has KindUpstream: the API key is invalid or lacks a permission. An
	// operator must fix it; the order is undecided.
	KeyRefused registrar.Code = "key_refused"
	// Refused has KindInvalid or KindConflict: Stripe rejected the request. Its own
	// code is in the detail.
	Refused registrar.Code = "provider_refused"
	// ResourceMissing has KindNotFound: there is no such page, payment or
	// verification.
	ResourceMissing registrar.Code = "provider_knows_nothing"
	// IdempotencyMismatch has KindConflict: the id was used before with other
	// parameters.
	IdempotencyMismatch registrar.Code = "id_used_otherwise"
	// RefundFailed has KindConflict: the refund exists, and the bank returned the
	// money. An operator must act.
	RefundFailed registrar.Code = "refund_failed"
	// AlreadyRefunded has KindConflict: the payment was refunded completely, but
	// not by this system.
	AlreadyRefunded registrar.Code = "already_refunded"
)

const maxRetryAfter = 10 * time.Minute

// retryable reports whether the same call can be sent again at once. The
// Stripe-Should-Retry header has precedence: it is false for an error 500 that is
// stored under our key.
func retryable(err error) bool {
	var stripeErr *api.Error
	if !errors.As(err, &stripeErr) {
		// No response, or an unreadable one. An ended context is noticed before the
		// next attempt.
		return !errors.Is(err, context.Canceled)
	}
	if stripeErr.LastResponse != nil {
		switch stripeErr.LastResponse.Header.Get("Stripe-Should-Retry") {
		case "true":
			return true
		case "false":
			return false
		}
	}
	switch {
	case stripeErr.HTTPStatusCode == http.StatusConflict, stripeErr.HTTPStatusCode >= http.StatusInternalServerError:
		return true
	case stripeErr.HTTPStatusCode == http.StatusTooManyRequests:
		// Another request held the object for a moment; this is not a rate limit.
		return stripeErr.Code == api.ErrorCodeLockTimeout
	default:
		return false
	}
}

func (c *Client) toError(call string, err error) *registrar.Error {
	var stripeErr *api.Error
	if errors.As(err, &stripeErr) {
		return c.fromStripeError(call, stripeErr)
	}
	code := registrar.NetworkFault(err)
	var network net.Error
	if !errors.As(err, &network) && !errors.Is(err, context.Canceled) {
		code = registrar.FaultBroken
	}
	return registrar.Fault(code, c.host+": "+call, &registrar.Cause{
		Part: "stripe", Operation: call, Target: c.host, Class: cmp.Or(registrar.NetworkClass(err), "unreadable_answer"), Err: err,
	})
}

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

// errorDetail is for the operator: the call, and Stripe's status, code, parameter
// and request id. The message is omitted because it quotes the request.
func (c *Client) errorDetail(call string, stripeErr *api.Error) string {
	parts := []string{c.host + ": " + call, strconv.Itoa(stripeErr.HTTPStatusCode)}
	for _, word := range []string{string(stripeErr.Code), stripeErr.Param, stripeErr.RequestID} {
		if word = identifierOrEmpty(word); word != "" {
			parts = append(parts, word)
		}
	}
	return strings.Join(parts, " ")
}

// identifierOrEmpty returns text if it has the form of Stripe's codes, parameters
// and ids.
func identifierOrEmpty(text string) string {
	if len(text) > 100 || strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_[]") != "" {
		return ""
	}
	return text
}
