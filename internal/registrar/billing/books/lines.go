package books

func (a *audit) line(l Line) {
	a.Lines++
	fresh := a.fresh(l.UpdatedAt)
	if !l.DueAt.IsZero() && a.options.Patience > 0 && a.options.Now.Sub(l.DueAt) > a.options.Patience {
		a.wrong(false, "stuck", l.ID, "nobody has looked at the line of %s since it was due at %s", l.Name, l.DueAt.UTC().Format("2006-01-02 15:04:05"))
	}
	if l.Order != "" {
		a.lineOfOrder(l, fresh)
	}
	switch {
	case l.Stage == Done && l.RefundDue:
		a.wrong(fresh, "refund", l.ID, "%s is carried out and marked for a refund", l.Name)
	case l.Stage == Failed && !l.RefundDue:
		a.wrong(fresh, "refund", l.ID, "%s failed and nobody gets money back", l.Name)
	}
	if l.Stage != Done {
		return
	}
	if l.Domain == "" {
		a.wrong(fresh, "domain", l.ID, "the line is carried out and no domain came of it")
		return
	}
	if l.Kind != "renew" {
		a.brought[l.Domain]++
	}
	a.wanted[l.Domain] = domainOf{line: l.ID, customer: l.Customer, name: l.Name, fresh: fresh}
}

func (a *audit) lineOfOrder(l Line, fresh bool) {
	i, known := a.items[l.ID]
	if !known {
		a.wrong(fresh, "line", l.ID, "the line of %s says that %s paid for it, and no item there knows it", l.Name, l.Order)
		return
	}
	i.lines++
	a.items[l.ID] = i
	fresh = fresh || i.fresh
	if i.order != l.Order || i.name != l.Name || i.kind != l.Kind || i.customer != l.Customer {
		a.wrong(fresh, "line", l.ID, "the line wants to %s %s for %s, the item of %s says %s %s", l.Kind, l.Name, l.Order, i.order, i.kind, i.name)
	}
	stage := i.stage
	if stage == GivenBack {
		stage = Failed
	}
	if stage != l.Stage {
		a.wrong(fresh, "line", l.ID, "the line of %s is %s, its item in %s is %s", l.Name, l.Stage, l.Order, i.stage)
	}
}

func (a *audit) linesMissing() {
	for id, i := range a.items {
		if i.lines != 1 {
			a.wrong(i.fresh, "line", i.order, "%s should have the line %s, of which there are %d", i.name, id, i.lines)
		}
	}
	a.items = nil
}

func (a *audit) domain(d Domain) {
	a.Domains++
	fresh := a.fresh(d.UpdatedAt)
	if l, expected := a.wanted[d.ID]; expected {
		if l.customer != d.Customer || l.name != d.Name {
			a.wrong(fresh || l.fresh, "domain", d.ID, "the domain is %s, and its line %s brought %s here for another account or name", d.Name, l.line, l.name)
		}
		delete(a.wanted, d.ID)
	}
	if !d.Ours {
		return
	}
	switch n := a.brought[d.ID]; {
	case d.Pending && n > 0:
		a.wrong(fresh, "domain", d.ID, "%s is still on its way and its line is carried out", d.Name)
	case !d.Pending && n != 1:
		a.wrong(fresh, "domain", d.ID, "%s is registered, and %d lines brought it here, not one", d.Name, n)
	}
}

func (a *audit) domainsMissing() {
	for id, l := range a.wanted {
		a.wrong(l.fresh, "domain", l.line, "%s is carried out and there is no domain %s", l.name, id)
	}
	a.wanted, a.brought = nil, nil
}
