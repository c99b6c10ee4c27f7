package reconcile

import (
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func (a *reconciler) checkOrder(o order.Order) {
	a.Orders++
	fresh := a.isFresh(o.UpdatedAt)
	a.checkTotals(o, fresh)
	for _, p := range o.Payments {
		a.payments[p.ID] = &payment{order: o.ID, state: p.State, amount: p.Amount, fresh: fresh || a.isFresh(p.UpdatedAt)}
		if p.Intent == "" {
			continue
		}
		if other, taken := a.intents[p.Intent]; taken {
			a.addFinding(fresh, "charge", o.ID, "payments %s and %s have the same charge at the provider", p.ID, other)
		}
		a.intents[p.Intent] = p.ID
	}
	a.checkCaptured(o, fresh)
	a.checkOrderItems(o, fresh)
	a.checkRefunds(o, fresh)
	a.expectDocuments(o, fresh)
	a.checkStuck(o)
	a.collectRenewedItems(o, fresh)
}

func (a *reconciler) checkTotals(o order.Order, fresh bool) {
	var net, vat, gross registrar.Cents
	for _, i := range o.Items {
		if i.Gross != i.Net+i.VAT || i.Net < 0 || i.VAT < 0 {
			a.addFinding(fresh, "totals", o.ID, "%s costs %s net and %s VAT, but %s gross", i.Name, i.Net, i.VAT, i.Gross)
		}
		net, vat, gross = net+i.Net, vat+i.VAT, gross+i.Gross
	}
	if net != o.Totals.Net || vat != o.Totals.VAT || gross != o.Totals.Gross {
		a.addFinding(fresh, "totals", o.ID, "the items add up to %s + %s = %s, the order says %s + %s = %s", net, vat, gross, o.Totals.Net, o.Totals.VAT, o.Totals.Gross)
	}
	// Half-up, computed differently from package billing.
	t := o.Totals
	if off := 2*(t.Net*registrar.Cents(t.RateBasisPoints)-t.VAT*10_000) + 10_000; off < 0 || off >= 20_000 {
		a.addFinding(fresh, "totals", o.ID, "%s is not the VAT of %s at %d hundredths of a percent", t.VAT, t.Net, t.RateBasisPoints)
	}
}

func (a *reconciler) checkCaptured(o order.Order, fresh bool) {
	var captured []order.Payment
	for _, p := range o.Payments {
		if p.State == order.PaymentCaptured {
			captured = append(captured, p)
		}
	}
	switch paid := isPaid(o); {
	case !paid && len(captured) > 0:
		a.addFinding(fresh, "charge", o.ID, "the order is %s and has the captured payment %s", o.State, captured[0].ID)
	case !paid:
	case o.Totals.Gross == 0 && len(captured) > 0:
		a.addFinding(fresh, "charge", o.ID, "the order is free but has the captured payment %s", captured[0].ID)
	case o.Totals.Gross == 0:
	case len(captured) != 1:
		a.addFinding(fresh, "charge", o.ID, "the order is paid but has %d captured payments, want 1", len(captured))
	case captured[0].Amount != o.Totals.Gross:
		a.addFinding(fresh, "charge", o.ID, "the order costs %s and %s was captured", o.Totals.Gross, captured[0].Amount)
	case captured[0].Intent == "":
		a.addFinding(fresh, "charge", o.ID, "payment %s has no charge at the provider", captured[0].ID)
	}
}

// checkOrderItems checks the items of an order; checkItem compares their provisioning.
func (a *reconciler) checkOrderItems(o order.Order, fresh bool) {
	paid := isPaid(o)
	for _, i := range o.Items {
		stage, known := stages[i.State]
		if !known {
			a.addFinding(fresh, "item", o.ID, "%s has the unknown state %q", i.Name, i.State)
			continue
		}
		if i.ProvisionItem != "" {
			if other, taken := a.items[i.ProvisionItem]; taken {
				a.addFinding(fresh, "item", i.ProvisionItem, "%s of %s and %s of %s have the same provision item", i.Name, o.ID, other.name, other.order)
			}
			a.items[i.ProvisionItem] = &item{order: o.ID, customer: o.Customer, name: i.Name, kind: i.Kind, stage: stage, fresh: fresh}
		}
		switch {
		case !paid && i.ProvisionItem != "":
			a.addFinding(fresh, "item", o.ID, "the order is %s and %s has the provision item %s", o.State, i.Name, i.ProvisionItem)
		case !paid && stage != open:
			a.addFinding(fresh, "item", o.ID, "the order is %s and %s is %s", o.State, i.Name, stage)
		case paid && i.ProvisionItem == "" && stage != failed && stage != refunded:
			a.addFinding(fresh, "item", o.ID, "the order is paid, but %s has no provision item", i.Name)
		case o.State.Final() && paid && stage == open:
			a.addFinding(fresh, "item", o.ID, "the order is %s and %s is %s", o.State, i.Name, stage)
		}
	}
}

func (a *reconciler) checkStuck(o order.Order) {
	fresh := a.isFresh(o.UpdatedAt)
	a.checkOverdue(o.DueAt, o.ID, "the order")
	if isPaid(o) && !o.State.Final() && !slices.ContainsFunc(o.Items, func(i order.Item) bool { return stages[i.State] == open }) {
		a.addFinding(fresh, "stuck", o.ID, "all items have ended, but the order is still %s", o.State)
	}
	for _, p := range o.Payments {
		if inFlight(p.State) && (o.State.Final() || isPaid(o)) {
			a.addFinding(fresh || a.isFresh(p.UpdatedAt), "stuck", o.ID, "the order is %s and payment %s can still be made", o.State, p.ID)
		}
	}
}
