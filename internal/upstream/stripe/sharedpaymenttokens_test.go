package stripe

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestCheckToken_VerifiesLimitsBeforeUse(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	token := func(currency string, most int64, ends time.Time, reason string) scriptedResponse {
		return ok(fmt.Sprintf(`{"id":"spt_1","usage_limits":{"currency":%q,"max_amount":%d,"expires_at":%d},"deactivated_reason":%s}`,
			currency, most, ends.Unix(), reason))
	}
	later := now.Add(time.Minute)
	for name, one := range map[string]struct {
		token  string
		answer scriptedResponse
		code   registrar.Code
	}{
		"good":                 {"spt_1", token("eur", 1190, later, "null"), ""},
		"in capitals":          {"spt_1", token("EUR", 1190, later, "null"), ""},
		"a cent too little":    {"spt_1", token("eur", 1189, later, "null"), order.TokenTooSmall},
		"over":                 {"spt_1", token("eur", 1190, now, "null"), order.TokenExpired},
		"expired by status":    {"spt_1", token("eur", 1190, later, `"expired"`), order.TokenExpired},
		"another currency":     {"spt_1", token("usd", 1190, later, "null"), order.PaymentDeclined},
		"used":                 {"spt_1", token("eur", 1190, later, `"consumed"`), order.PaymentDeclined},
		"revoked":              {"spt_1", token("eur", 1190, later, `"revoked"`), order.PaymentDeclined},
		"without limits":       {"spt_1", ok(`{"id":"spt_1","usage_limits":null}`), order.PaymentDeclined},
		"unknown":              {"spt_1", errorResponse(http.StatusNotFound, "invalid_request_error", "resource_missing"), order.PaymentDeclined},
		"a path":               {"../charges", ok(`{}`), order.PaymentDeclined},
		"a dot segment":        {"..", ok(`{}`), order.PaymentDeclined},
		"a control code":       {"spt_a\x00", ok(`{}`), order.PaymentDeclined},
		"endless":              {"spt_" + strings.Repeat("a", 252), ok(`{}`), order.PaymentDeclined},
		"nothing":              {"", ok(`{}`), order.PaymentDeclined},
		"an invalid API key":   {"spt_1", errorResponse(http.StatusUnauthorized, "invalid_request_error", ""), KeyRefused},
		"not JSON":             {"spt_1", ok(`<html>`), registrar.FaultBroken},
		"Stripe is overloaded": {"spt_1", errorResponse(http.StatusTooManyRequests, "invalid_request_error", "rate_limit"), registrar.FaultThrottled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &scriptedTransport{steps: []scriptedResponse{one.answer}}
			err := newClient(Options{Key: "sk_test_1"}, s).CheckToken(t.Context(), one.token, 1190, now)
			if registrar.CodeOf(err) != one.code || (err == nil) != (one.code == "") {
				t.Errorf("got %v", err)
			}
			if one.token != "spt_1" && len(s.sent) != 0 {
				t.Errorf("Stripe was called: %s", s.sent[0].path)
			}
		})
	}
}

func TestCharge_TokenIsSentOnlyAtConfirmation(t *testing.T) {
	t.Parallel()
	s := &scriptedTransport{steps: []scriptedResponse{
		ok(`{"id":"pi_1","status":"requires_payment_method"}`),
		ok(`{"id":"pi_1","status":"succeeded","amount_received":1190,"currency":"eur","metadata":{"order":"ord_1","payment":"pay_1"},
			"latest_charge":{"id":"ch_1","payment_method_details":{"card":{"fingerprint":"finger"}}}}`),
	}}
	c := newClient(Options{Key: "sk_test_1"}, s)
	charge := order.Charge{ID: "pay_1", Order: "ord_1", Amount: 1190}
	intent, err := c.PrepareCharge(t.Context(), charge)
	if err != nil || intent != "pi_1" {
		t.Fatalf("%q, %v", intent, err)
	}
	charge.Intent, charge.Token = intent, "spt_1"
	got, err := c.Charge(t.Context(), charge)
	want := order.PaymentStatus{Paid: true, Payment: "pay_1", Order: "ord_1", Amount: 1190, Currency: "eur", Intent: "pi_1", Card: "finger"}
	if err != nil || got != (order.ChargeOutcome{Status: want}) {
		t.Errorf("%+v, %v", got, err)
	}
	prepared, confirmed := s.sent[0], s.sent[1]
	if prepared.key != "pay_1" || prepared.form.Get(tokenParameter) != "" || prepared.form.Get("confirm") != "" || prepared.form.Get("amount") != "1190" {
		t.Errorf("prepared by %+v", prepared)
	}
	if confirmed.path != "/v1/payment_intents/pi_1/confirm" || confirmed.key != "pay_1-confirm" || confirmed.form.Get(tokenParameter) != "spt_1" ||
		confirmed.form.Get(methodType) != "" {
		t.Errorf("confirmed by %+v", confirmed)
	}
}

func TestCharge_MapsStripeOutcomes(t *testing.T) {
	t.Parallel()
	declined := order.ChargeOutcome{Declined: order.PaymentDeclined}
	for name, one := range map[string]struct {
		steps   []scriptedResponse
		outcome order.ChargeOutcome
		code    registrar.Code
	}{
		"declined":                            {[]scriptedResponse{errorResponse(http.StatusPaymentRequired, "card_error", "card_declined")}, declined, ""},
		"customer action required":            {[]scriptedResponse{errorResponse(http.StatusPaymentRequired, "card_error", "authentication_required")}, order.ChargeOutcome{NeedsHuman: true}, ""},
		"the token is declined":               {[]scriptedResponse{errorResponse(http.StatusBadRequest, "invalid_request_error", "")}, declined, ""},
		"the token is unknown":                {[]scriptedResponse{errorResponse(http.StatusBadRequest, "invalid_request_error", "resource_missing")}, declined, ""},
		"the parameter was renamed":           {[]scriptedResponse{errorResponse(http.StatusBadRequest, "invalid_request_error", "parameter_unknown")}, order.ChargeOutcome{}, Refused},
		"an invalid API key":                  {[]scriptedResponse{errorResponse(http.StatusForbidden, "invalid_request_error", "")}, order.ChargeOutcome{}, KeyRefused},
		"confirmed with another token before": {[]scriptedResponse{errorResponse(http.StatusBadRequest, "idempotency_error", "")}, order.ChargeOutcome{}, IdempotencyMismatch},
		"it was canceled": {
			[]scriptedResponse{errorResponse(http.StatusBadRequest, "invalid_request_error", "payment_intent_unexpected_state"), ok(`{"id":"pi_1","status":"canceled"}`)},
			order.ChargeOutcome{Status: order.PaymentStatus{Ended: true, Intent: "pi_1"}, Declined: order.PaymentDeclined},
			"",
		},
		"it was paid": {
			[]scriptedResponse{errorResponse(http.StatusBadRequest, "invalid_request_error", "payment_intent_unexpected_state"), ok(`{"id":"pi_1","status":"succeeded","amount_received":5}`)},
			order.ChargeOutcome{Status: order.PaymentStatus{Paid: true, Amount: 5, Intent: "pi_1"}},
			"",
		},
		"action incomplete": {
			[]scriptedResponse{ok(`{"id":"pi_1","status":"requires_action"}`)},
			order.ChargeOutcome{Status: order.PaymentStatus{Intent: "pi_1"}, NeedsHuman: true},
			"",
		},
		"processing": {[]scriptedResponse{ok(`{"id":"pi_1","status":"processing"}`)}, order.ChargeOutcome{Status: order.PaymentStatus{Intent: "pi_1"}}, ""},
		"nothing":    {[]scriptedResponse{ok(`{}`)}, order.ChargeOutcome{}, registrar.FaultBroken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(Options{Key: "sk_test_1"}, &scriptedTransport{steps: one.steps})
			got, err := c.Charge(t.Context(), order.Charge{ID: "pay_1", Intent: "pi_1", Token: "spt_1"})
			if got != one.outcome || registrar.CodeOf(err) != one.code {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func TestCancelCharge_ReturnsStatusWhenAlreadyPaid(t *testing.T) {
	t.Parallel()
	s := &scriptedTransport{steps: []scriptedResponse{
		errorResponse(http.StatusBadRequest, "invalid_request_error", "payment_intent_unexpected_state"),
		ok(`{"id":"pi_1","status":"succeeded","amount_received":1190,"currency":"eur"}`),
	}}
	got, err := newClient(Options{Key: "sk_test_1"}, s).CancelCharge(t.Context(), "pi_1")
	if err != nil || !got.Paid || got.Amount != 1190 || len(s.sent) != 2 {
		t.Errorf("%+v, %v after %d calls", got, err, len(s.sent))
	}
}
