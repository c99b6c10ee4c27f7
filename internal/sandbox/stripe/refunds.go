package stripe

import (
	"errors"
	"fmt"
	"net/http"
)

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
	if wrong := c.refundCharge(paid, one, amount, given); wrong != nil {
		return nil, wrong
	}
	return c.showRefund(one, c.expand)
}

// refundCharge refunds a charge, which is a copy. Without an amount it refunds all that is left.
func (t *tx) refundCharge(paid *charge, one *refund, amount int64, given bool) *refusal {
	if wrong := t.chargeDisputed(paid.ID); wrong != nil {
		return wrong
	}
	left := paid.Amount - paid.Refunded
	if !given {
		amount = left
	}
	if left == 0 {
		return &refusal{
			status: http.StatusBadRequest, Type: "invalid_request_error", Code: "charge_already_refunded",
			Message: "Charge " + paid.ID + " has already been refunded.",
		}
	}
	if amount > left {
		return &refusal{
			status: http.StatusBadRequest, Type: "invalid_request_error", Param: "amount",
			Message: "Refund amount (" + euros(amount) + ") is greater than unrefunded amount on charge (" + euros(left) + ")",
		}
	}
	one.Amount, one.Currency, one.Charge, one.Intent = amount, paid.Currency, paid.ID, paid.Intent
	paid.Refunded += amount
	t.putCharge(paid)
	t.change.Refunds = append(t.change.Refunds, one)
	t.emit("charge.refunded", t.viewCharge(paid))
	t.emit("refund.created", t.viewRefund(one))
	return nil
}

// RefundControl is what the control endpoint is asked to do about a payment or a refund.
type RefundControl struct {
	Intent string `json:"payment_intent,omitempty"` // of the payment to refund
	Amount int64  `json:"amount,omitempty"`         // in cents; 0 means all that is left
	Refund string `json:"refund,omitempty"`         // the refund that the bank returns
}

// RefundPayment refunds a payment as an operator does in the provider's dashboard.
func (s *Server) RefundPayment(intent string, amount int64) (Refund, error) {
	return s.changeRefund(func(t *tx) (*refund, error) {
		i := t.intents.get(intent)
		if i == nil {
			return nil, fmt.Errorf("no payment intent %q", intent)
		}
		paid := copyOf(t.charges.get(i.Charge))
		if paid == nil || paid.Status != "succeeded" || amount < 0 {
			return nil, fmt.Errorf("payment intent %q has nothing to refund", intent)
		}
		one := &refund{ID: newID("re_"), Created: t.at, Reason: "requested_by_customer"}
		if wrong := t.refundCharge(paid, one, amount, amount > 0); wrong != nil {
			return nil, errors.New(wrong.Message)
		}
		return one, nil
	})
}

// ReturnRefund lets a refund fail after it succeeded: the bank returns the money.
func (s *Server) ReturnRefund(id string) (Refund, error) {
	return s.changeRefund(func(t *tx) (*refund, error) {
		one := copyOf(t.refunds.get(id))
		if one == nil || one.Failed {
			return nil, fmt.Errorf("no successful refund %q", id)
		}
		paid := copyOf(t.charges.get(one.Charge))
		one.Failed, paid.Refunded = true, paid.Refunded-one.Amount
		t.putCharge(paid)
		t.change.Refunds = append(t.change.Refunds, one)
		t.emit("refund.updated", t.viewRefund(one))
		t.emit("refund.failed", t.viewRefund(one))
		t.emit("charge.refund.updated", t.viewRefund(one))
		return one, nil
	})
}

func (s *Server) changeRefund(change func(*tx) (*refund, error)) (Refund, error) {
	b := s.state
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.begin()
	one, err := change(t)
	if err != nil {
		return Refund{}, err
	}
	return recordOf(one), s.commit(t)
}

func recordOf(r *refund) Refund {
	return Refund{r.ID, r.Intent, r.Amount, r.Failed, cloneMetadata(r.Metadata)}
}

// controlRefund refunds a payment or returns a refund.
func (s *Server) controlRefund(r *http.Request) (any, error) {
	var wanted RefundControl
	if err := readJSON(r, &wanted); err != nil {
		return nil, err
	}
	if wanted.Refund != "" {
		return s.ReturnRefund(wanted.Refund)
	}
	return s.RefundPayment(wanted.Intent, wanted.Amount)
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
