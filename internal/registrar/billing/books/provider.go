package books

import "strings"

func (a *audit) charge(c Charge) {
	a.Charges++
	a.Charged += c.Amount
	fresh := a.fresh(c.CreatedAt)
	id := c.Payment
	if ours, known := a.intents[c.Intent]; known {
		if id != "" && id != ours {
			a.wrong(fresh, "charge", c.ID, "the provider has it for payment %s, we have it for %s", id, ours)
		}
		id = ours
	}
	p := a.payments[id]
	if p == nil {
		if c.Returned < c.Amount {
			a.wrong(fresh, "stray", c.ID, "the provider took %s that no order knows of, and gave %s back", c.Amount, c.Returned)
		}
		return
	}
	p.charges++
	p.seen += c.Returned
	fresh = fresh || p.fresh
	if !strings.EqualFold(c.Currency, "eur") {
		a.wrong(fresh, "charge", c.ID, "%s was charged in %s", p.order, c.Currency)
	}
	switch p.standing {
	case Surplus, Returned:
		if c.Amount != p.owed {
			a.wrong(fresh, "refund", c.ID, "the provider took %s by payment %s of %s, and %s is to be given back", c.Amount, id, p.order, p.owed)
		}
	case Kept:
		if c.Amount != p.amount {
			a.wrong(fresh, "charge", c.ID, "payment %s of %s is %s, the provider took %s", id, p.order, p.amount, c.Amount)
		}
	case InFlight, Closed:
		if c.Returned < c.Amount {
			a.wrong(fresh, "stray", c.ID, "the provider took %s by payment %s of %s, which is %s here", c.Amount, id, p.order, p.standing)
		}
	}
}

func (a *audit) chargesMissing() {
	for id, p := range a.payments {
		switch p.standing {
		case Kept, Surplus, Returned:
			if p.charges != 1 {
				a.wrong(p.fresh, "charge", p.order, "payment %s is %s, and the provider has %d charges for it", id, p.standing, p.charges)
			}
			if p.returned != p.seen {
				a.wrong(p.fresh, "refund", p.order, "%s of payment %s was given back here, %s at the provider", p.returned, id, p.seen)
			}
		case InFlight, Closed:
		}
	}
}

// giveBack looks at one refund at the provider.
func (a *audit) giveBack(r Return) {
	a.Returns++
	fresh := a.fresh(r.CreatedAt)
	ours := a.refunds[r.Refund]
	if r.Failed {
		if ours != nil && ours.provider == r.ID {
			a.wrong(fresh || ours.fresh, "refund", r.ID, "%s of %s did not reach the customer: somebody has to pay it back otherwise", r.Amount, ours.order)
			ours.found++
		}
		return
	}
	a.GivenBack += r.Amount
	if ours == nil {
		// Whoever gives a charge back whole that no order keeps has a reason.
		if p := a.payments[a.intents[r.Intent]]; p != nil {
			a.wrong(fresh || p.fresh, "refund", r.ID, "the provider gave %s of %s back, and we know of no reason", r.Amount, p.order)
		}
		return
	}
	ours.found++
	fresh = fresh || ours.fresh
	switch {
	case r.Amount != ours.amount:
		a.wrong(fresh, "refund", r.ID, "%s of %s was to be given back, the provider gave %s", ours.amount, ours.order, r.Amount)
	case ours.provider != "" && ours.provider != r.ID:
		a.wrong(fresh, "refund", r.ID, "the refund %s of %s is %s here", r.Refund, ours.order, ours.provider)
	case r.Intent != "" && a.intents[r.Intent] != ours.payment:
		a.wrong(fresh, "refund", r.ID, "the refund %s of %s was made of another payment", r.Refund, ours.order)
	}
}

func (a *audit) returnsMissing() {
	for id, r := range a.refunds {
		if r.provider != "" && r.found != 1 {
			a.wrong(r.fresh, "refund", r.order, "the refund %s is made, and the provider has it %d times", id, r.found)
		}
	}
}
