package reconcile

import "strings"

func (a *reconciler) checkCharge(c Charge) {
	a.Charges++
	a.Charged += c.Amount
	fresh := a.isFresh(c.CreatedAt)
	id := c.Payment
	if db, known := a.intents[c.Intent]; known {
		if id != "" && id != db {
			a.addFinding(fresh, "charge", c.ID, "the provider has it for payment %s, we have it for %s", id, db)
		}
		id = db
	}
	p := a.payments[id]
	if p == nil {
		if c.Refunded < c.Amount {
			a.addFinding(fresh, "stray", c.ID, "the provider took %s that no order knows of, and gave %s back", c.Amount, c.Refunded)
		}
		return
	}
	p.charges++
	p.providerRefunded += c.Refunded
	fresh = fresh || p.fresh
	if !strings.EqualFold(c.Currency, "eur") {
		a.addFinding(fresh, "charge", c.ID, "%s was charged in %s", p.order, c.Currency)
	}
	switch p.status {
	case PaymentUnmatched, PaymentRefunded:
		if c.Amount != p.owed {
			a.addFinding(fresh, "refund", c.ID, "the provider took %s by payment %s of %s, and %s is to be given back", c.Amount, id, p.order, p.owed)
		}
	case PaymentCaptured:
		if c.Amount != p.amount {
			a.addFinding(fresh, "charge", c.ID, "payment %s of %s is %s, the provider took %s", id, p.order, p.amount, c.Amount)
		}
	case PaymentInFlight, PaymentClosed:
		if c.Refunded < c.Amount {
			a.addFinding(fresh, "stray", c.ID, "the provider took %s by payment %s of %s, which is %s here", c.Amount, id, p.order, p.status)
		}
	}
}

func (a *reconciler) checkMissingCharges() {
	for id, p := range a.payments {
		switch p.status {
		case PaymentCaptured, PaymentUnmatched, PaymentRefunded:
			if p.charges != 1 {
				a.addFinding(p.fresh, "charge", p.order, "payment %s is %s, and the provider has %d charges for it", id, p.status, p.charges)
			}
			if p.refunded != p.providerRefunded {
				a.addFinding(p.fresh, "refund", p.order, "%s of payment %s was given back here, %s at the provider", p.refunded, id, p.providerRefunded)
			}
		case PaymentInFlight, PaymentClosed:
		}
	}
}

// checkProviderRefund looks at one refund at the provider.
func (a *reconciler) checkProviderRefund(r ProviderRefund) {
	a.Refunds++
	fresh := a.isFresh(r.CreatedAt)
	db := a.refunds[r.Refund]
	if r.Failed {
		if db != nil && db.provider == r.ID {
			a.addFinding(fresh || db.fresh, "refund", r.ID, "%s of %s did not reach the customer: somebody has to pay it back otherwise", r.Amount, db.order)
			db.found++
		}
		return
	}
	a.Refunded += r.Amount
	if db == nil {
		// Whoever gives a charge back whole that no order keeps has a reason.
		if p := a.payments[a.intents[r.Intent]]; p != nil {
			a.addFinding(fresh || p.fresh, "refund", r.ID, "the provider gave %s of %s back, and we know of no reason", r.Amount, p.order)
		}
		return
	}
	db.found++
	fresh = fresh || db.fresh
	switch {
	case r.Amount != db.amount:
		a.addFinding(fresh, "refund", r.ID, "%s of %s was to be given back, the provider gave %s", db.amount, db.order, r.Amount)
	case db.provider != "" && db.provider != r.ID:
		a.addFinding(fresh, "refund", r.ID, "the refund %s of %s is %s here", r.Refund, db.order, db.provider)
	case r.Intent != "" && a.intents[r.Intent] != db.payment:
		a.addFinding(fresh, "refund", r.ID, "the refund %s of %s was made of another payment", r.Refund, db.order)
	}
}

func (a *reconciler) checkMissingRefunds() {
	for id, r := range a.refunds {
		if r.provider != "" && r.found != 1 {
			a.addFinding(r.fresh, "refund", r.order, "the refund %s is made, and the provider has it %d times", id, r.found)
		}
	}
}
