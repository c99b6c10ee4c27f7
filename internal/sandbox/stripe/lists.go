package stripe

import "slices"

const (
	defaultPage = 10
	largestPage = 100
)

func getIntent(c *call) (map[string]any, *refusal) {
	return getObject(c, &c.intents, "payment_intent", c.showIntent)
}

func getCharge(c *call) (map[string]any, *refusal) {
	return getObject(c, &c.charges, "charge", c.showCharge)
}

func getRefund(c *call) (map[string]any, *refusal) {
	return getObject(c, &c.refunds, "refund", c.showRefund)
}

func getCustomer(c *call) (map[string]any, *refusal) {
	return getObject(c, &c.customers, "customer", c.plainCustomer)
}

func getMethod(c *call) (map[string]any, *refusal) {
	return getObject(c, &c.methods, "PaymentMethod", c.plainMethod)
}

func (t *tx) plainCustomer(one *customer, wanted tree) (map[string]any, *refusal) {
	return t.viewCustomer(one), noExpansion(wanted)
}

func (t *tx) plainMethod(one *method, wanted tree) (map[string]any, *refusal) {
	return expandFields(t.viewMethod(one), wanted, map[string]expander{"customer": t.customerExpander(one.Customer)})
}

// getObject returns a single object.
func getObject[T any](c *call, from *table[T], kind string, show func(*T, tree) (map[string]any, *refusal)) (map[string]any, *refusal) {
	if wrong := c.params.finish(); wrong != nil {
		return nil, wrong
	}
	object := from.get(c.id)
	if object == nil {
		return nil, missing("id", kind, c.id)
	}
	return show(object, c.expand)
}

func listSessions(c *call) (map[string]any, *refusal) {
	intent := c.params.text("payment_intent")
	return listObjects(c, &c.sessions, "checkout.session", "/v1/checkout/sessions", c.showSession, func(s *session) (int64, bool) {
		return s.Created, intent == "" || s.Intent == intent
	})
}

func listIntents(c *call) (map[string]any, *refusal) {
	customer := c.params.text("customer")
	return listObjects(c, &c.intents, "payment_intent", "/v1/payment_intents", c.showIntent, func(i *intent) (int64, bool) {
		return i.Created, customer == "" || i.Customer == customer
	})
}

func listCharges(c *call) (map[string]any, *refusal) {
	intent, customer := c.params.text("payment_intent"), c.params.text("customer")
	return listObjects(c, &c.charges, "charge", "/v1/charges", c.showCharge, func(one *charge) (int64, bool) {
		return one.Created, (intent == "" || one.Intent == intent) && (customer == "" || one.Customer == customer)
	})
}

func listRefunds(c *call) (map[string]any, *refusal) {
	intent, charge := c.params.text("payment_intent"), c.params.text("charge")
	from := &c.refunds
	if intent != "" { // the common query, which must not scan everything
		if c.intents.get(intent) == nil {
			return nil, missing("payment_intent", "payment_intent", intent)
		}
		from = &table[refund]{byID: c.refunds.byID, order: c.refundsOf[intent]}
	}
	return listObjects(c, from, "refund", "/v1/refunds", c.showRefund, func(r *refund) (int64, bool) {
		return r.Created, charge == "" || r.Charge == charge
	})
}

func listMethods(c *call) (map[string]any, *refusal) {
	customer := c.params.required("customer")
	c.params.oneOf("type", "card")
	return listObjects(c, &c.methods, "PaymentMethod", "/v1/payment_methods", c.plainMethod, func(m *method) (int64, bool) {
		return m.Created, m.Customer == customer
	})
}

// listObjects returns a page, newest first.
func listObjects[T any](c *call, from *table[T], kind, path string, show func(*T, tree) (map[string]any, *refusal), pick func(*T) (created int64, yes bool)) (map[string]any, *refusal) {
	p := c.params
	limit, given := p.number("limit")
	if !given {
		limit = defaultPage
	}
	if limit < 1 || limit > largestPage {
		p.fail(invalid("parameter_invalid_integer", "limit", "limit must be from 1 to 100."))
	}
	after, before := p.text("starting_after"), p.text("ending_before")
	since, hasSince := p.number("created[gte]")
	until, hasUntil := p.number("created[lte]")
	if wrong := p.finish(); wrong != nil {
		return nil, wrong
	}
	newest := slices.Clone(from.order)
	slices.Reverse(newest)
	for param, id := range map[string]string{"starting_after": after, "ending_before": before} {
		if id != "" && from.get(id) == nil {
			return nil, missing(param, kind, id)
		}
	}
	if after != "" {
		newest = newest[slices.Index(newest, after)+1:]
	}
	if before != "" {
		if newest = newest[:max(slices.Index(newest, before), 0)]; int64(len(newest)) > limit {
			newest = newest[int64(len(newest))-limit:]
		}
	}
	data := []any{}
	more := false
	for _, id := range newest {
		object := from.get(id)
		created, yes := pick(object)
		if !yes || hasSince && created < since || hasUntil && created > until {
			continue
		}
		if int64(len(data)) == limit {
			more = true
			break
		}
		view, wrong := show(object, c.expand["data"])
		if wrong != nil {
			return nil, wrong
		}
		data = append(data, view)
	}
	return map[string]any{"object": "list", "url": path, "has_more": more, "data": data}, nil
}
