package stripe

import (
	"net/http"
	"strings"
	"time"
)

// tokenTTL is the default lifetime of a token.
const tokenTTL = time.Hour

// magicTokens are predefined tokens, by prefix.
var magicTokens = []struct {
	prefix, card string
	max          int64
	life         time.Duration
}{
	{"spt_ok", "4242424242424242", 10_000_00, tokenTTL},
	{"spt_declined", "4000000000000002", 10_000_00, tokenTTL},
	{"spt_expired", "4242424242424242", 10_000_00, -tokenTTL},
	{"spt_small", "4242424242424242", 50, tokenTTL},
	{"spt_human", "4000002500003155", 10_000_00, tokenTTL},
}

// testMethods are Stripe's names of test cards.
var testMethods = map[string]string{
	"pm_card_visa": "4242424242424242", "pm_card_mastercard": "5555555555554444",
	"pm_card_visa_chargeDeclined": "4000000000000002", "pm_card_chargeDeclinedInsufficientFunds": "4000000000009995",
	"pm_card_threeDSecureRequired": "4000002500003155",
}

// tokenOf returns a stored or magic token; nil if there is none.
func (t *tx) tokenOf(id string) *token {
	if known := t.tokens.get(id); known != nil {
		return copyOf(known)
	}
	for _, kind := range magicTokens {
		if strings.HasPrefix(id, kind.prefix) {
			return &token{ID: id, Created: t.at, Currency: "eur", Max: kind.max, ExpiresAt: t.now().Add(kind.life).Unix(), Number: kind.card}
		}
	}
	return nil
}

// deactivationReason is why a token can't be used; empty while it is active.
func (t *tx) deactivationReason(one *token) string {
	if one.Ended == "" && one.ExpiresAt <= t.at {
		return "expired"
	}
	return one.Ended
}

func (t *tx) viewToken(one *token) map[string]any {
	reason, at := t.deactivationReason(one), any(nil)
	switch {
	case one.At > 0:
		at = one.At
	case reason == "expired":
		at = one.ExpiresAt
	}
	last4 := one.Number[len(one.Number)-4:]
	return map[string]any{
		"id": one.ID, "object": "shared_payment.granted_token", "created": one.Created, "livemode": false,
		"agent_details": nil, "deactivated_at": at, "deactivated_reason": nullIfEmpty(reason), "shared_metadata": map[string]string{},
		"usage_limits":           map[string]any{"currency": one.Currency, "max_amount": one.Max, "expires_at": one.ExpiresAt, "recurring_interval": nil},
		"usage_details":          map[string]any{"amount_captured": map[string]any{"currency": one.Currency, "value": one.Spent}},
		"payment_method_details": map[string]any{"type": "card", "card": map[string]any{"brand": "visa", "last4": last4}},
	}
}

func getToken(c *call) (map[string]any, *refusal) {
	if wrong := c.params.finish(); wrong != nil {
		return nil, wrong
	}
	one := c.tokenOf(c.id)
	if one == nil {
		return nil, missing("id", "shared_payment.granted_token", c.id)
	}
	return c.viewToken(one), noExpansion(c.expand)
}

// createToken is Stripe's test helper.
func createToken(c *call) (map[string]any, *refusal) {
	p := c.params
	one := &token{ID: newID("spt_"), Created: c.at, Currency: strings.ToLower(p.required("usage_limits[currency]"))}
	number, known := testMethods[p.required("payment_method")]
	if !known {
		p.fail(missing("payment_method", "PaymentMethod", p.text("payment_method")))
	}
	one.Number = number
	most, _ := p.number("usage_limits[max_amount]")
	if one.Max = most; most < 1 {
		p.fail(invalid("parameter_missing", "usage_limits[max_amount]", "Missing required param: usage_limits[max_amount]."))
	}
	end, given := p.number("usage_limits[expires_at]")
	if one.ExpiresAt = end; !given {
		one.ExpiresAt = c.now().Add(tokenTTL).Unix()
	}
	p.metadata("shared_metadata")
	p.ignore("customer")
	if wrong := p.finish(); wrong != nil {
		return nil, wrong
	}
	c.change.Tokens = append(c.change.Tokens, one)
	return c.viewToken(one), noExpansion(c.expand)
}

func revokeToken(c *call) (map[string]any, *refusal) {
	if wrong := c.params.finish(); wrong != nil {
		return nil, wrong
	}
	one := c.tokenOf(c.id)
	if one == nil {
		return nil, missing("id", "shared_payment.granted_token", c.id)
	}
	if c.deactivationReason(one) != "" {
		return nil, invalid("", "", "This token is deactivated already.")
	}
	one.Ended, one.At = "revoked", c.at
	c.change.Tokens = append(c.change.Tokens, one)
	return c.viewToken(one), noExpansion(c.expand)
}

// createIntent creates an unconfirmed payment intent.
func createIntent(c *call) (map[string]any, *refusal) {
	p := c.params
	one := &intent{
		ID: newID("pi_"), Created: c.at, Status: "requires_payment_method", Currency: strings.ToLower(p.required("currency")),
		Description: p.text("description"), Metadata: p.metadata("metadata"),
	}
	amount, _ := p.number("amount")
	if one.Amount = amount; amount < 50 {
		p.fail(invalid("amount_too_small", "amount", "Amount must be at least €0.50 eur"))
	}
	p.oneOf("automatic_payment_methods[enabled]", "true", "false")
	p.oneOf("automatic_payment_methods[allow_redirects]", "always", "never")
	p.oneOf("capture_method", "automatic", "automatic_async")
	p.oneOf("confirm", "false")
	c.readSavedMethod(one)
	if wrong := p.finish(); wrong != nil {
		return nil, wrong
	}
	c.putIntent(one)
	return c.showIntent(one, c.expand)
}

func unexpectedState(i *intent, what string) *refusal {
	return &refusal{
		status: http.StatusBadRequest, Type: "invalid_request_error", Code: "payment_intent_unexpected_state",
		Message: "You cannot " + what + " this PaymentIntent because it has a status of " + i.Status + ".",
	}
}

// confirmIntent charges a token or a saved card.
func confirmIntent(c *call) (map[string]any, *refusal) {
	p := c.params
	const name = "payment_method_data[shared_payment_granted_token]"
	if known := c.intents.get(c.id); p.text("payment_method") != "" || known != nil && known.Method != "" {
		return c.confirmSaved()
	}
	id := p.required(name)
	p.ignore("payment_method_data[type]")
	if wrong := p.finish(); wrong != nil {
		return nil, wrong
	}
	i := copyOf(c.intents.get(c.id))
	switch {
	case i == nil:
		return nil, missing("intent", "payment_intent", c.id)
	case i.Session != "" || i.Status != "requires_payment_method" && i.Status != "requires_confirmation":
		return nil, unexpectedState(i, "confirm")
	}
	one := c.tokenOf(id)
	if one == nil {
		return nil, &refusal{
			status: http.StatusBadRequest, Type: "invalid_request_error", Code: "resource_missing", Param: name,
			Message: "No such shared_payment.granted_token: '" + id + "'",
		}
	}
	if reason := c.deactivationReason(one); reason != "" || one.Currency != i.Currency || one.Max < i.Amount {
		return nil, &refusal{
			status: http.StatusBadRequest, Type: "invalid_request_error", Param: name,
			Message: "This token can't be used for this payment: it is deactivated, or its limits do not allow it.",
		}
	}
	return c.chargeToken(i, one)
}

// chargeToken applies the bank's decision.
func (c *call) chargeToken(i *intent, one *token) (map[string]any, *refusal) {
	used, bank, wrong := c.readCard(one.Number, "", "")
	if wrong == nil {
		wrong = bank.refusal
	}
	if wrong == nil {
		wrong = bank.chargeRefusal
	}
	way := &method{ID: newID("pm_"), Created: c.at, Card: used}
	paid := &charge{
		ID: newID("ch_"), Created: c.at, Status: "succeeded", Currency: i.Currency, Amount: i.Amount, Intent: i.ID,
		Method: way.ID, Card: used, Metadata: i.Metadata,
	}
	if bank.needsAuthentication {
		i.Status, i.Error = "requires_action", nil
		c.putIntent(i)
		c.emit("payment_intent.requires_action", c.viewIntent(i))
		return c.showIntent(i, c.expand)
	}
	if wrong != nil {
		declined := copyOf(wrong)
		declined.happened = true
		paid.Status, paid.Error, paid.Method = "failed", declined, ""
		i.Status, i.Charge, i.Error = "requires_payment_method", paid.ID, declined
		c.putIntent(i)
		c.putCharge(paid)
		c.emit("payment_intent.payment_failed", c.viewIntent(i))
		return nil, declined
	}
	one.Ended, one.At, one.Spent = "consumed", c.at, i.Amount
	i.Status, i.Received, i.Method, i.Charge, i.Error = "succeeded", i.Amount, way.ID, paid.ID, nil
	c.change.Tokens = append(c.change.Tokens, one)
	c.change.Methods = append(c.change.Methods, way)
	c.putIntent(i)
	c.putCharge(paid)
	c.emit("payment_intent.succeeded", c.viewIntent(i))
	return c.showIntent(i, c.expand)
}

func cancelIntent(c *call) (map[string]any, *refusal) {
	p := c.params
	p.oneOf("cancellation_reason", "duplicate", "fraudulent", "requested_by_customer", "abandoned")
	if wrong := p.finish(); wrong != nil {
		return nil, wrong
	}
	i := copyOf(c.intents.get(c.id))
	switch {
	case i == nil:
		return nil, missing("intent", "payment_intent", c.id)
	case i.Session != "" || i.Status == "succeeded" || i.Status == "canceled":
		return nil, unexpectedState(i, "cancel")
	}
	i.Status = "canceled"
	c.putIntent(i)
	c.emit("payment_intent.canceled", c.viewIntent(i))
	return c.showIntent(i, c.expand)
}
