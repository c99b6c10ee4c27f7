package reconcile

func (a *reconciler) checkItem(l ProvisionItem) {
	a.ProvisionItems++
	fresh := a.isFresh(l.UpdatedAt)
	if !l.DueAt.IsZero() && a.options.GracePeriod > 0 && a.options.Now.Sub(l.DueAt) > a.options.GracePeriod {
		a.addFinding(false, "stuck", l.ID, "the provisioning of %s is overdue since %s", l.Name, l.DueAt.UTC().Format("2006-01-02 15:04:05"))
	}
	if l.Order != "" {
		a.compareWithOrderItem(l, fresh)
	}
	switch {
	case l.Stage == ItemDone && l.RefundDue:
		a.addFinding(fresh, "refund", l.ID, "%s is provisioned and marked for a refund", l.Name)
	case l.Stage == ItemFailed && !l.RefundDue:
		a.addFinding(fresh, "refund", l.ID, "%s failed and is not marked for a refund", l.Name)
	}
	if l.Stage != ItemDone {
		return
	}
	if l.Domain == "" {
		a.addFinding(fresh, "domain", l.ID, "the item is provisioned without a domain")
		return
	}
	if l.Kind != "renew" {
		a.registrations[l.Domain]++
	}
	a.expectedDomains[l.Domain] = expectedDomain{item: l.ID, customer: l.Customer, name: l.Name, fresh: fresh}
}

func (a *reconciler) compareWithOrderItem(l ProvisionItem, fresh bool) {
	i, known := a.items[l.ID]
	if !known {
		a.addFinding(fresh, "line", l.ID, "the provisioning item for %s refers to %s, which has no such item", l.Name, l.Order)
		return
	}
	i.provisionItems++
	a.items[l.ID] = i
	fresh = fresh || i.fresh
	if i.order != l.Order || i.name != l.Name || i.kind != l.Kind || i.customer != l.Customer {
		a.addFinding(fresh, "line", l.ID, "the provisioning item is to %s %s for %s, the item of %s is to %s %s", l.Kind, l.Name, l.Order, i.order, i.kind, i.name)
	}
	stage := i.stage
	if stage == ItemRefunded {
		stage = ItemFailed
	}
	if stage != l.Stage {
		a.addFinding(fresh, "line", l.ID, "the provisioning item for %s is %s, its item in %s is %s", l.Name, l.Stage, l.Order, i.stage)
	}
}

func (a *reconciler) checkMissingItems() {
	for id, i := range a.items {
		if i.provisionItems != 1 {
			a.addFinding(i.fresh, "line", i.order, "%s should have one provisioning item %s and has %d", i.name, id, i.provisionItems)
		}
	}
	a.items = nil
}

func (a *reconciler) checkDomain(d Domain) {
	a.Domains++
	fresh := a.isFresh(d.UpdatedAt)
	if l, expected := a.expectedDomains[d.ID]; expected {
		if l.customer != d.Customer || l.name != d.Name {
			a.addFinding(fresh || l.fresh, "domain", d.ID, "the domain is %s, but its item %s provisioned %s for another account or name", d.Name, l.item, l.name)
		}
		delete(a.expectedDomains, d.ID)
	}
	if !d.ViaItem {
		return
	}
	switch n := a.registrations[d.ID]; {
	case d.Pending && n > 0:
		a.addFinding(fresh, "domain", d.ID, "%s is still pending although its item is provisioned", d.Name)
	case !d.Pending && n != 1:
		a.addFinding(fresh, "domain", d.ID, "%s is registered by %d provisioning items, want 1", d.Name, n)
	}
}

func (a *reconciler) checkMissingDomains() {
	for id, l := range a.expectedDomains {
		a.addFinding(l.fresh, "domain", l.item, "%s is provisioned and there is no domain %s", l.name, id)
	}
	a.expectedDomains, a.registrations = nil, nil
}
