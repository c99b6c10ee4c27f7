package stripe

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestErrors_MapStripeErrorsToKindsAndRetries(t *testing.T) {
	t.Parallel()
	const invalid = "invalid_request_error"
	for name, test := range map[string]struct {
		step scriptedResponse
		kind registrar.Kind
		code registrar.Code
		// sends is the expected number of attempts.
		sends int
		wait  time.Duration
	}{
		"a wrong parameter":    {errorResponse(http.StatusBadRequest, invalid, "parameter_invalid_integer"), registrar.KindInvalid, Refused, 1, 0},
		"a declined card":      {errorResponse(http.StatusPaymentRequired, "card_error", "card_declined"), registrar.KindConflict, Refused, 1, 0},
		"other parameters":     {errorResponse(http.StatusBadRequest, "idempotency_error", ""), registrar.KindConflict, IdempotencyMismatch, 1, 0},
		"missing resource":     {errorResponse(http.StatusNotFound, invalid, "resource_missing"), registrar.KindNotFound, ResourceMissing, 1, 0},
		"a wrong key":          {errorResponse(http.StatusUnauthorized, invalid, ""), registrar.KindUpstream, KeyRefused, 1, 0},
		"a restricted key":     {errorResponse(http.StatusForbidden, invalid, ""), registrar.KindUpstream, KeyRefused, 1, 0},
		"refunded already":     {errorResponse(http.StatusBadRequest, invalid, "charge_already_refunded"), registrar.KindConflict, AlreadyRefunded, 1, 0},
		"still in progress":    {errorResponse(http.StatusConflict, "idempotency_error", "idempotency_key_in_use"), registrar.KindUpstream, registrar.FaultBusy, 3, 0},
		"rate limit":           {scriptedResponse{status: http.StatusTooManyRequests, header: map[string]string{"Retry-After": "7"}, body: `{"error":{"type":"invalid_request_error","code":"rate_limit"}}`}, registrar.KindUpstream, registrar.FaultThrottled, 1, 7 * time.Second},
		"rate limit for years": {scriptedResponse{status: http.StatusTooManyRequests, header: map[string]string{"Retry-After": "99999999"}, body: `{"error":{"type":"invalid_request_error"}}`}, registrar.KindUpstream, registrar.FaultThrottled, 1, maxRetryAfter},
		"error 500":            {errorResponse(http.StatusInternalServerError, "api_error", ""), registrar.KindUpstream, registrar.FaultBroken, 3, 0},
		"a remembered 500":     {scriptedResponse{status: http.StatusInternalServerError, header: map[string]string{"Stripe-Should-Retry": "false"}, body: `{"error":{"type":"api_error"}}`}, registrar.KindUpstream, registrar.FaultBroken, 1, 0},
		"garbage":              {ok("garbage"), registrar.KindUpstream, registrar.FaultBroken, 3, 0},
		"a page of HTML":       {scriptedResponse{status: http.StatusBadGateway, body: "<html>"}, registrar.KindUpstream, registrar.FaultBroken, 3, 0},
		"silence":              {scriptedResponse{noResponse: true}, registrar.KindUpstream, registrar.FaultTimeout, 3, 0},
		"a cut connection":     {scriptedResponse{connectionError: true}, registrar.KindUpstream, registrar.FaultRefused, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
				_, err := c.OpenPage(t.Context(), samplePage())
				var problem *registrar.Error
				if !errors.As(err, &problem) || problem.Kind != test.kind || problem.Code != test.code || problem.RetryAfter != test.wait {
					t.Errorf("got %v with RetryAfter %s", err, problem.RetryAfter)
				}
				if cause := registrar.CauseOf(err); !strings.HasPrefix(cause, "stripe: ") || strings.Contains(cause, "unclassified") ||
					test.code == KeyRefused && !strings.Contains(cause, ": login_refused (HTTP 40") {
					t.Errorf("the cause is %q", cause)
				}
				if len(s.sent) != test.sends {
					t.Errorf("sent %d times", len(s.sent))
				}
			}, test.step)
		})
	}
}

func TestCall_EndsWithCallerContext(t *testing.T) {
	t.Parallel()
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		began := time.Now()
		if _, err := c.FetchPage(ctx, "cs_1"); err == nil || registrar.KindOf(err) != registrar.KindUpstream {
			t.Errorf("got %v", err)
		}
		if time.Since(began) != 100*time.Millisecond || len(s.sent) != 1 {
			t.Errorf("it took %s and %d calls", time.Since(began), len(s.sent))
		}
	}, scriptedResponse{noResponse: true})
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := c.FetchPage(ctx, "cs_1"); err == nil || len(s.sent) != 1 {
			t.Errorf("got %v after %d calls, though the delay exceeds the caller's deadline", err, len(s.sent))
		}
	}, scriptedResponse{connectionError: true})
}
