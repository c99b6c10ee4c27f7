package stripe

import "net/http"

func createRefund(c *call) (map[string]any, *refusal) {
	p := c.params
	intentID, chargeID := p.text("payment_intent"), p.text("charge")
	one := &refund{
		ID: newID("re_"), Created: c.at, Metadata: p.metadata("metadata"),
		Reason: p.oneOf("reason", "duplicate", "fraudulent", "requested_by_customer"),
	}
	amount, given := p.number("amount")
	if (intentID == "") == (chargeID == "") {
		p.fail(invalid("parameter_missing", "payment_intent", "One of the following params should be provided for this request: payment_intent or charge."))
	}
	if given && amount < 1 {
		p.fail(invalid("parameter_invalid_integer", "amount", "This value must be greater than or equal to 1."))
	}
	if wrong := p.finish(); wrong != nil {
		return nil, wrong
	}
	if intentID != "" {
		i := c.intents.get(intentID)
		if i == nil {
			return nil, missing("payment_intent", "payment_intent", intentID)
		}
		if i.Status != "succeeded" {
			return nil, &refusal{
				status: http.StatusBadRequest, Type: "invalid_request_error", Param: "payment_intent",
				Message: "This PaymentIntent (" + i.ID + ") does not have a successful charge to refund.",
			}
		}
		chargeID = i.Charge
	}
	paid := copyOf(c.charges.get(chargeID))
	if paid == nil || paid.Status != "succeeded" {
		return nil, missing("charge", "charge", chargeID)
	}
	left := paid.Amount - paid.Refunded
	if !given {
		amount = left
	}
	if left == 0 {
		return nil, &refusal{
			status: http.StatusBadRequest, Type: "invalid_request_error", Code: "charge_already_refunded",
			Message: "Charge " + paid.ID + " has already been refunded.",
		}
	}
	if amount > left {
		return nil, &refusal{
			status: http.StatusBadRequest, Type: "invalid_request_error", Param: "amount",
			Message: "Refund amount (" + euros(amount) + ") is greater than unrefunded amount on charge (" + euros(left) + ")",
		}
	}
	one.Amount, one.Currency, one.Charge, one.Intent = amount, paid.Currency, paid.ID, paid.Intent
	paid.Refunded += amount
	c.putCharge(paid)
	c.change.Refunds = append(c.change.Refunds, one)
	c.emit("charge.refunded", c.viewCharge(paid))
	return c.showRefund(one, c.expand)
}

func createCustomer(c *call) (map[string]any, *refusal) {
	p := c.params
	one := &customer{
		ID: newID("cus_"), Created: c.at, Email: p.text("email"), Name: p.text("name"), Description: p.text("description"),
		Locales: p.list("preferred_locales"), Metadata: p.metadata("metadata"),
	}
	if wrong := p.finish(); wrong != nil {
		return nil, wrong
	}
	c.change.Customers = append(c.change.Customers, one)
	return c.viewCustomer(one), noExpansion(c.expand)
}
