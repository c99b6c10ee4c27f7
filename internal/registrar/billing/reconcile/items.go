package reconcile

import (
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func (a *reconciler) checkItem(l provision.Item) {
	a.ProvisionItems++
	fresh := a.isFresh(l.UpdatedAt)
	a.checkOverdue(l.DueAt, l.ID, "the provisioning of "+l.Name)
	if paidBy, ok := order.OrderOfPayment(l.Payment); ok {
		a.compareWithOrderItem(l, paidBy, fresh)
	}
	switch {
	case l.State == provision.StateActive && l.RefundDue:
		a.addFinding(fresh, "refund", l.ID, "%s is provisioned and marked for a refund", l.Name)
	case l.State == provision.StateFailed && !l.RefundDue:
		a.addFinding(fresh, "refund", l.ID, "%s failed and is not marked for a refund", l.Name)
	}
	if l.State != provision.StateActive {
		return
	}
	if l.Domain == "" {
		a.addFinding(fresh, "domain", l.ID, "the provision item is active but has no domain")
		return
	}
	if !l.Kind.ForHeldDomain() {
		a.registrations[l.Domain]++
	}
	a.expectedDomains[l.Domain] = expectedDomain{item: l.ID, customer: l.Customer, name: l.Name, fresh: fresh}
}

func (a *reconciler) compareWithOrderItem(l provision.Item, paidBy string, fresh bool) {
	i, known := a.items[l.ID]
	if !known {
		a.addFinding(fresh, "item", l.ID, "the provision item for %s refers to %s, which has no such item", l.Name, paidBy)
		return
	}
	i.provisionItems++
	fresh = fresh || i.fresh
	if i.order != paidBy || i.name != l.Name || i.kind != l.Kind || i.customer != l.Customer {
		a.addFinding(fresh, "item", l.ID, "the provision item is to %s %s for %s, but the item of %s is to %s %s", l.Kind, l.Name, paidBy, i.order, i.kind, i.name)
	}
	result := open
	switch l.State {
	case provision.StateActive:
		result = provisioned
	case provision.StateFailed:
		result = failed
	default:
	}
	if i.stage != result && (i.stage != refunded || result != failed) {
		a.addFinding(fresh, "item", l.ID, "the provision item for %s is %s, but its item in %s is %s", l.Name, result, paidBy, i.stage)
	}
}

func (a *reconciler) checkMissingItems() {
	for id, i := range a.items {
		if i.provisionItems != 1 {
			a.addFinding(i.fresh, "item", i.order, "%s should have one provision item %s and has %d", i.name, id, i.provisionItems)
		}
	}
	a.items = nil
}

func (a *reconciler) checkDomain(d provision.Domain) {
	a.Domains++
	fresh := a.isFresh(d.UpdatedAt)
	a.checkTerm(d, fresh)
	if l, expected := a.expectedDomains[d.ID]; expected {
		if l.customer != d.Customer || l.name != d.Name {
			a.addFinding(fresh || l.fresh, "domain", d.ID, "the domain is %s, but its item %s provisioned %s for another account or name", d.Name, l.item, l.name)
		}
		delete(a.expectedDomains, d.ID)
	}
	if d.Account == "" {
		return // no item of ours registered it
	}
	pending := d.Status == registrar.DomainPending
	switch n := a.registrations[d.ID]; {
	case pending && n > 0:
		a.addFinding(fresh, "domain", d.ID, "%s is still pending although its item is provisioned", d.Name)
	case !pending && n != 1:
		a.addFinding(fresh, "domain", d.ID, "%s is registered by %d provision items, want 1", d.Name, n)
	}
}

// checkClosedDomain accepts that a domain is gone, whatever was provisioned for it.
func (a *reconciler) checkClosedDomain(id string) { delete(a.expectedDomains, id) }

func (a *reconciler) checkMissingDomains() {
	for id, l := range a.expectedDomains {
		a.addFinding(l.fresh, "domain", l.item, "%s is provisioned and there is no domain %s", l.name, id)
	}
	a.expectedDomains, a.registrations = nil, nil
}
