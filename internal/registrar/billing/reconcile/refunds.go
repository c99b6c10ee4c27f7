package reconcile

import (
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// checkRefunds checks that every refund has a reason, every reason one refund, and that they
// stay within the invoice.
func (a *reconciler) checkRefunds(o order.Order, fresh bool) {
	made := make(map[[2]string][]order.Refund) // those of the service itself, by payment and item
	for _, r := range o.Refunds {
		recent := fresh || a.isFresh(r.CreatedAt)
		a.refunds[r.ID] = &refund{order: o.ID, payment: r.Payment, provider: r.Provider, amount: r.Amount, returned: r.Returned(), fresh: recent}
		if r.Provider != "" {
			a.providerRefunds[r.Provider] = r.ID
		}
		if r.Due() {
			a.addFinding(recent, "stuck", o.ID, "the refund %s of %s is still due", r.ID, r.Amount)
		}
		if p := a.payments[r.Payment]; p != nil && r.Made() {
			p.refunded += r.Amount
		} else if p != nil && r.Returned() {
			p.returned += r.Amount
		}
		refused := r.Provider == "" && r.Failure != ""
		switch {
		case r.Source == order.BySystem && (!refused || r.Failure != order.Superseded):
			key := [2]string{r.Payment, r.Item}
			made[key] = append(made[key], r)
		case r.Source != order.BySystem && r.Source != order.ByOperator && r.Source != order.ByProvider:
			a.addFinding(recent, "refund", o.ID, "the refund %s has the unknown source %q", r.ID, r.Source)
		}
	}
	a.checkRefundedAmounts(o, fresh)
	back, _ := sumParts(o)
	// expect checks the one refund for a reason.
	expect := func(p order.Payment, what, item string, marked bool) {
		key := [2]string{p.ID, item}
		switch refunds := made[key]; {
		case len(refunds) == 0 && o.State.Final():
			a.addFinding(fresh, "refund", o.ID, "%s is to be refunded and has no refund", what)
		case len(refunds) == 0:
			// The refund is stored when the order ends; an order that doesn't end is stuck.
		case len(refunds) > 1:
			a.addFinding(fresh, "refund", o.ID, "%s has %d refunds", what, len(refunds))
		case marked && refunds[0].Provider == "":
			a.addFinding(fresh, "refund", o.ID, "%s is marked as refunded and its refund is still due", what)
		}
		delete(made, key)
	}
	for _, p := range o.Payments {
		switch p.State {
		case order.PaymentCaptured:
			unassigned := back[""] // refunds at the provider that may be for any item
			for _, i := range o.Items {
				if i.State != order.ItemFailed && i.State != order.ItemRefunded || i.Gross == 0 {
					continue
				}
				own := made[[2]string{p.ID, i.ID}]
				if back[i.ID] > i.Gross || back[i.ID] < i.Gross && back[i.ID]+unassigned < i.Gross && (len(own) > 0 || back[i.ID] > 0) && o.State.Final() {
					a.addFinding(fresh, "refund", o.ID, "%s of %s was to be refunded and the refund is %s", i.Gross, i.Name, back[i.ID])
				}
				if len(own) > 0 || back[i.ID] < i.Gross && unassigned == 0 {
					expect(p, i.Name, i.ID, i.State == order.ItemRefunded)
				}
			}
		case order.PaymentUnmatched, order.PaymentRefunded:
			// The amount may differ from the requested one: a reason for being unmatched.
			for _, r := range made[[2]string{p.ID, ""}] {
				a.payments[p.ID].owed = r.Amount
			}
			expect(p, "payment "+p.ID, "", p.State == order.PaymentRefunded)
		default:
		}
	}
	for key, refunds := range made {
		a.addFinding(fresh, "refund", o.ID, "%s of payment %s is refunded without a reason", refunds[len(refunds)-1].Amount, key[0])
	}
}

// sumParts sums up what the invoice is corrected by, by item, and its VAT. Money that the bank
// returned is owed to the customer, so it counts.
func sumParts(o order.Order) (gross map[string]registrar.Cents, vat registrar.Cents) {
	gross = make(map[string]registrar.Cents)
	items := make(map[string]order.Item)
	for _, i := range o.Items {
		items[i.ID] = i
	}
	for _, r := range o.Refunds {
		switch {
		case r.Provider == "" && r.Failure != "" || r.Replaces != "":
		case len(r.Parts) == 0 && r.Item != "":
			gross[r.Item] += r.Amount
			vat += items[r.Item].VAT
		default:
			for _, part := range r.Parts {
				gross[part.Item] += part.Gross
				vat += part.VAT
			}
		}
	}
	return gross, vat
}

// checkRefundedAmounts checks that refunds stay within the invoice, item by item, and that the
// parts of each add up to it.
func (a *reconciler) checkRefundedAmounts(o order.Order, fresh bool) {
	gross, vat := sumParts(o)
	sum := registrar.Cents(0)
	for _, part := range gross {
		sum += part
	}
	for _, i := range o.Items {
		if gross[i.ID] > i.Gross {
			a.addFinding(fresh, "refund", o.ID, "%s of %s is refunded, which cost %s", gross[i.ID], i.Name, i.Gross)
		}
	}
	switch left := o.Totals.Gross - sum; {
	case left < 0:
		a.addFinding(fresh, "refund", o.ID, "%s is refunded of an order of %s", sum, o.Totals.Gross)
	case vat < 0 || o.Totals.VAT-vat < 0 || o.Totals.VAT-vat > left:
		a.addFinding(fresh, "refund", o.ID, "the refunds have %s VAT of %s, with %s of %s left", vat, o.Totals.VAT, left, o.Totals.Gross)
	}
	for _, r := range o.Refunds {
		if len(r.Parts) == 0 {
			continue
		}
		sum := registrar.Cents(0)
		for _, part := range r.Parts {
			if sum += part.Gross; part.VAT < 0 || part.VAT > part.Gross {
				a.addFinding(fresh, "refund", o.ID, "a part of the refund %s is %s with %s VAT", r.ID, part.Gross, part.VAT)
			}
		}
		if sum != r.Amount {
			a.addFinding(fresh, "refund", o.ID, "the parts of the refund %s add up to %s, and it is %s", r.ID, sum, r.Amount)
		}
	}
}
