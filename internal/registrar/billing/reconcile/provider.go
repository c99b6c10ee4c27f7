package reconcile

import (
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func (a *reconciler) checkCharge(c Charge) {
	a.Charges++
	a.Charged += c.Amount
	fresh := a.isFresh(c.CreatedAt)
	id := c.Payment
	if db, known := a.intents[c.Intent]; known {
		if id != "" && id != db {
			a.addFinding(fresh, "charge", c.ID, "it belongs to payment %s at the provider and to %s here", id, db)
		}
		id = db
	}
	p := a.payments[id]
	if p == nil {
		if c.Refunded+a.withdrawn[c.ID] < c.Amount {
			a.addFinding(fresh, "stray", c.ID, "the provider charged %s for no known order and refunded %s", c.Amount, c.Refunded)
		}
		return
	}
	p.charges++
	p.providerRefunded += c.Refunded
	fresh = fresh || p.fresh
	if !strings.EqualFold(c.Currency, "eur") {
		a.addFinding(fresh, "charge", c.ID, "%s was charged in %s", p.order, c.Currency)
	}
	switch p.state {
	case order.PaymentUnmatched, order.PaymentRefunded:
		if c.Amount != p.owed {
			a.addFinding(fresh, "refund", c.ID, "the provider charged %s for payment %s of %s, and %s is to be refunded", c.Amount, id, p.order, p.owed)
		}
	case order.PaymentCaptured:
		if c.Amount != p.amount {
			a.addFinding(fresh, "charge", c.ID, "payment %s of %s is %s, the provider charged %s", id, p.order, p.amount, c.Amount)
		}
	default:
		state := string(p.state)
		if inFlight(p.state) {
			state = "in flight"
		}
		if c.Refunded < c.Amount {
			a.addFinding(fresh, "stray", c.ID, "the provider charged %s for payment %s of %s, which is %s here", c.Amount, id, p.order, state)
		}
	}
}

func (a *reconciler) checkMissingCharges() {
	for id, p := range a.payments {
		switch p.state {
		case order.PaymentCaptured, order.PaymentUnmatched, order.PaymentRefunded:
			if p.charges != 1 {
				a.addFinding(p.fresh, "charge", p.order, "payment %s is %s and has %d charges at the provider", id, p.state, p.charges)
			}
			// A charge may still show a refund that failed later.
			if p.refunded != p.providerRefunded && p.refunded+p.returned != p.providerRefunded {
				a.addFinding(p.fresh, "refund", p.order, "%s of payment %s was refunded here, %s at the provider", p.refunded, id, p.providerRefunded)
			}
		default:
		}
	}
}

func (a *reconciler) checkProviderRefund(r ProviderRefund) {
	a.Refunds++
	fresh := a.isFresh(r.CreatedAt)
	db := a.refunds[r.Refund]
	if db == nil { // made at the provider
		db = a.refunds[a.providerRefunds[r.ID]]
	}
	if r.Failed {
		if db != nil && db.provider == r.ID {
			if !db.returned {
				a.addFinding(fresh || db.fresh, "refund", r.ID, "%s of %s did not reach the customer, and the refund is made here", r.Amount, db.order)
			}
			db.found++
		}
		return
	}
	a.Refunded += r.Amount
	if db == nil {
		// A full refund of a charge without an order was made on purpose.
		if p := a.payments[a.intents[r.Intent]]; p != nil {
			a.addFinding(fresh || p.fresh, "refund", r.ID, "the provider refunded %s of %s without a refund here", r.Amount, p.order)
		}
		return
	}
	db.found++
	fresh = fresh || db.fresh
	switch {
	case db.returned:
		a.addFinding(fresh, "refund", r.ID, "%s of %s was returned here, and is refunded at the provider", r.Amount, db.order)
	case r.Amount != db.amount:
		a.addFinding(fresh, "refund", r.ID, "%s of %s was to be refunded, the provider refunded %s", db.amount, db.order, r.Amount)
	case db.provider != "" && db.provider != r.ID:
		a.addFinding(fresh, "refund", r.ID, "the refund %s of %s is %s here", r.Refund, db.order, db.provider)
	case r.Intent != "" && a.intents[r.Intent] != db.payment:
		a.addFinding(fresh, "refund", r.ID, "the refund %s of %s is of another payment", r.Refund, db.order)
	}
}

func (a *reconciler) checkMissingRefunds() {
	for id, r := range a.refunds {
		if r.provider != "" && r.found != 1 {
			a.addFinding(r.fresh, "refund", r.order, "the refund %s is done and exists %d times at the provider", id, r.found)
		}
	}
}
