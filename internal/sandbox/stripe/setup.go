package stripe

// A session of mode setup saves a card without a payment. Its page has the form of a
// payment page; its setup intent is part of the session.

// readSetup checks what is different in mode setup.
func (c *call) readSetup(s *session) {
	p := c.params
	p.metadata("setup_intent_data[metadata]")
	if p.count("line_items") > 0 {
		p.fail(invalid("", "line_items", "You can not pass `line_items` in `setup` mode."))
	}
	for _, name := range []string{"payment_intent_data[metadata]", "payment_intent_data[setup_future_usage]"} {
		if p.text(name) != "" {
			p.fail(invalid("", name, "You can not pass `payment_intent_data` in `setup` mode."))
		}
	}
	s.Setup, s.SetupIntent, s.PaymentStatus = true, newID("seti_"), "no_payment_required"
}

// saveCard completes a session of mode setup.
func (t *tx) saveCard(s *session, c card) paymentAttempt {
	if s.Customer == "" {
		one := &customer{ID: newID("cus_"), Created: t.at, Email: s.Email, Name: c.Name, Locales: locales(s.Locale)}
		t.change.Customers = append(t.change.Customers, one)
		s.Customer = one.ID
	}
	way := &method{ID: newID("pm_"), Created: t.at, Customer: s.Customer, Card: c}
	t.change.Methods = append(t.change.Methods, way)
	s.Status, s.Method, s.Asking = "complete", way.ID, nil
	t.putSession(s)
	t.emit("setup_intent.succeeded", t.viewSetupIntent(s))
	t.emit("checkout.session.completed", t.viewSession(s))
	return paymentAttempt{session: s}
}

// setUp saves a card for an open session, or requests authentication.
func (t *tx) setUp(s *session, c card, bank bankOutcome) paymentAttempt {
	s = copyOf(s)
	switch {
	case bank.needsAuthentication:
		s.Asking = &c
		t.putSession(s)
		return paymentAttempt{session: s, needsAuthentication: true}
	case bank.refusal != nil:
		return paymentAttempt{session: s, refusal: bank.refusal}
	}
	return t.saveCard(s, c)
}

// finishSetupAuthentication ends the bank's authentication.
func (t *tx) finishSetupAuthentication(s *session, yes bool) paymentAttempt {
	asked := *s.Asking
	s = copyOf(s)
	s.Asking = nil
	if !yes {
		t.putSession(s)
		return paymentAttempt{session: s, refusal: declined("setup_intent_authentication_failure", "",
			"We are unable to authenticate your payment method. Please choose a different payment method and try again.")}
	}
	return t.saveCard(s, asked)
}

func (t *tx) viewSetupIntent(s *session) map[string]any {
	status := "requires_payment_method"
	switch {
	case s.Method != "":
		status = "succeeded"
	case s.Status == "expired":
		status = "canceled"
	case s.Asking != nil:
		status = "requires_action"
	}
	return map[string]any{
		"id": s.SetupIntent, "object": "setup_intent", "created": s.Created, "livemode": false, "status": status, "usage": "off_session",
		"customer": nullIfEmpty(s.Customer), "payment_method": nullIfEmpty(s.Method), "metadata": map[string]string{},
		"payment_method_types": []string{"card"},
	}
}

func (t *tx) setupIntentExpander(s *session) expander {
	return func(below tree) (map[string]any, *refusal) {
		if !s.Setup {
			return nil, nil
		}
		return expandFields(t.viewSetupIntent(s), below, map[string]expander{
			"payment_method": t.methodExpander(s.Method), "customer": t.customerExpander(s.Customer),
		})
	}
}

// detachMethod removes a saved method from its customer. It can't be charged afterwards.
func detachMethod(c *call) (map[string]any, *refusal) {
	if wrong := c.params.finish(); wrong != nil {
		return nil, wrong
	}
	one := copyOf(c.methods.get(c.id))
	switch {
	case one == nil:
		return nil, missing("id", "PaymentMethod", c.id)
	case one.Customer == "":
		return nil, invalid("", "", "The payment method you provided is not attached to a customer so detachment is impossible.")
	}
	one.Customer = ""
	c.change.Methods = append(c.change.Methods, one)
	c.emit("payment_method.detached", c.viewMethod(one))
	return c.viewMethod(one), nil
}
