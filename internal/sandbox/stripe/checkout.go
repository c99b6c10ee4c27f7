package stripe

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"
)

// createSession creates a checkout session. It accepts the parameters that the
// product sends, and a few without effect.
func createSession(c *call) (map[string]any, *refusal) {
	p := c.params
	s := &session{
		ID: newID("cs_test_"), Created: c.at, Status: "open", PaymentStatus: "unpaid", Currency: "",
		Reference: p.text("client_reference_id"), Customer: p.text("customer"), Email: p.text("customer_email"),
		Creation: p.oneOf("customer_creation", "always", "if_required"), Locale: p.text("locale"),
		Metadata: p.metadata("metadata"), IntentMetadata: p.metadata("payment_intent_data[metadata]"),
		Description: p.text("payment_intent_data[description]"), SubmitText: p.text("custom_text[submit][message]"),
		FutureUse:  p.oneOf("payment_intent_data[setup_future_usage]", "off_session", "on_session"),
		SuccessURL: p.address("success_url"), CancelURL: p.address("cancel_url"), Methods: p.list("payment_method_types"),
	}
	p.oneOf("ui_mode", "hosted_page")
	p.oneOf("submit_type", "auto", "pay")
	p.oneOf("billing_address_collection", "auto")
	p.oneOf("payment_intent_data[capture_method]", "automatic", "automatic_async")
	p.oneOf("automatic_tax[enabled]", "false")
	p.oneOf("adaptive_pricing[enabled]", "false")
	p.oneOf("saved_payment_method_options[payment_method_save]", "disabled", "enabled")
	p.oneOf("payment_method_options[card][request_three_d_secure]", "any", "automatic", "challenge")
	p.ignore("payment_intent_data[receipt_email]", "payment_intent_data[statement_descriptor_suffix]", "integration_identifier")
	if len([]rune(s.SubmitText)) > 1200 {
		p.fail(invalid("", "custom_text[submit][message]", "custom_text[submit][message] can have 1200 characters."))
	}
	shown := p.list("saved_payment_method_options[allow_redisplay_filters]")
	mode := p.required("mode")
	if mode != "payment" && mode != "setup" && mode != "" {
		p.fail(invalid("", "mode", "The sandbox knows the modes payment and setup only."))
	}
	if s.SuccessURL == "" {
		p.fail(invalid("parameter_missing", "success_url", "Missing required param: success_url."))
	}
	if len(s.Methods) > 0 && !slices.Contains(s.Methods, "card") {
		p.fail(invalid("", "payment_method_types", "The sandbox's page has a form for cards only."))
	}
	if len(s.Reference) > 200 {
		p.fail(invalid("", "client_reference_id", "client_reference_id can have 200 characters."))
	}
	if mode == "setup" {
		c.readSetup(s)
	} else {
		c.readLineItems(s)
	}
	c.readExpiry(s)
	if s.Customer != "" {
		switch {
		case c.customers.get(s.Customer) == nil:
			p.fail(invalid("resource_missing", "customer", "No such customer: '"+s.Customer+"'"))
		case s.Email != "":
			p.fail(invalid("", "customer_email", "You may only specify one of these parameters: customer, customer_email."))
		case s.Creation != "":
			p.fail(invalid("", "customer_creation", "You may only specify one of these parameters: customer, customer_creation."))
		}
		s.CustomerGiven = true
		s.ShowSaved = slices.Contains(shown, "limited") && mode == "payment"
	}
	if len(shown) > 0 && s.Customer == "" {
		p.fail(invalid("", "saved_payment_method_options", "saved_payment_method_options can only be used with a customer."))
	}
	if wrong := p.finish(); wrong != nil {
		return nil, wrong
	}
	c.putSession(s)
	return c.showSession(s, c.expand)
}

func (c *call) readLineItems(s *session) {
	p := c.params
	count := p.count("line_items")
	if count == 0 || count > 100 {
		p.fail(invalid("parameter_missing", "line_items", "line_items must have 1 to 100 items in payment mode."))
	}
	for i := range min(count, 100) {
		at := fmt.Sprintf("line_items[%d]", i)
		one := line{ID: newID("li_"), Name: p.required(at + "[price_data][product_data][name]"), Quantity: 1}
		p.ignore(at+"[price_data][product_data][description]", at+"[price_data][tax_behavior]")
		p.metadata(at + "[price_data][product_data][metadata]")
		if quantity, found := p.number(at + "[quantity]"); found {
			one.Quantity = quantity
		} else {
			p.fail(invalid("parameter_missing", at+"[quantity]", "Quantity is required. Add `quantity` to `"+at+"`"))
		}
		unit, found := p.number(at + "[price_data][unit_amount]")
		if !found {
			p.fail(invalid("parameter_missing", at+"[price_data][unit_amount]", "Missing required param: "+at+"[price_data][unit_amount]."))
		}
		if one.Unit = unit; unit < 0 || unit > 99_999_999 || one.Quantity < 1 || one.Quantity > 999_999 {
			p.fail(invalid("parameter_invalid_integer", at, "Amounts are from 0 to 99999999 and quantities from 1."))
		}
		currency := strings.ToLower(p.required(at + "[price_data][currency]"))
		if s.Currency != "" && currency != s.Currency {
			p.fail(invalid("", at+"[price_data][currency]", "All prices on a Checkout Session must be in the same currency."))
		}
		s.Currency = currency
		s.Amount += one.Unit * one.Quantity
		s.Lines = append(s.Lines, one)
	}
	if len(s.Currency) != 3 {
		p.fail(invalid("", "line_items[0][price_data][currency]", "Invalid currency: "+s.Currency))
	}
	if s.Amount > 0 && s.Amount < 50 {
		p.fail(invalid("amount_too_small", "", "The Checkout Session's total amount due must add up to at least €0.50 eur"))
	}
}

func (c *call) readExpiry(s *session) {
	now := c.now()
	s.ExpiresAt = now.Add(maxSessionTTL).Unix()
	end, found := c.params.number("expires_at")
	if !found {
		return
	}
	// Both clocks may truncate seconds differently.
	const leeway = 5 * time.Second
	if end < now.Add(minSessionTTL-leeway).Unix() || end > now.Add(maxSessionTTL+leeway).Unix() {
		c.params.fail(invalid("", "expires_at", fmt.Sprintf(
			"The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout Session creation; here it is %s.", now.UTC().Format(time.RFC3339))))
	}
	s.ExpiresAt = end
}

func getSession(c *call) (map[string]any, *refusal) {
	if wrong := c.params.finish(); wrong != nil {
		return nil, wrong
	}
	s := c.sessions.get(c.id)
	if s == nil {
		return nil, missing("session", "checkout.session", c.id)
	}
	return c.showSession(s, c.expand)
}

func expireSession(c *call) (map[string]any, *refusal) {
	if wrong := c.params.finish(); wrong != nil {
		return nil, wrong
	}
	s := c.sessions.get(c.id)
	if s == nil {
		return nil, missing("session", "checkout.session", c.id)
	}
	if s.Status != "open" {
		return nil, &refusal{
			status: http.StatusBadRequest, Type: "invalid_request_error",
			Message: "Only Checkout Sessions with a status in [\"open\"] can be expired. This Checkout Session has a status of `" + s.Status + "`.",
		}
	}
	return c.showSession(c.expire(s), c.expand)
}

// expire expires an unpaid session.
func (t *tx) expire(s *session) *session {
	s = copyOf(s)
	s.Status, s.Asking = "expired", nil
	t.putSession(s)
	if i := copyOf(t.intents.get(s.Intent)); i != nil {
		i.Status = "canceled"
		t.putIntent(i)
	}
	t.emit("checkout.session.expired", t.viewSession(s))
	return s
}

// expireSessions expires due sessions. The caller holds the lock.
func (s *Server) expireSessions() {
	b := s.state
	now := b.now().Unix()
	if now < b.nextExpiry {
		return
	}
	t := b.begin()
	next := int64(math.MaxInt64)
	for id := range b.open {
		one := b.sessions.get(id)
		if one.ExpiresAt <= now {
			t.expire(one)
			continue
		}
		next = min(next, one.ExpiresAt)
	}
	if len(t.change.Sessions) > 0 {
		if err := s.commit(t); err != nil {
			s.opts.Logger.Error("sandbox stripe journal write failed", "error", err)
			return
		}
	}
	b.nextExpiry = next
}
