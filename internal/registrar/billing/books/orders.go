package books

import "github.com/dotkontor/dotkontor/internal/registrar"

func (a *audit) order(o Order) {
	a.Orders++
	fresh := a.fresh(o.UpdatedAt)
	a.totals(o, fresh)
	for _, p := range o.Payments {
		a.payments[p.ID] = &payment{order: o.ID, standing: p.Standing, amount: p.Amount, fresh: fresh || a.fresh(p.UpdatedAt)}
		if p.Intent == "" {
			continue
		}
		if other, taken := a.intents[p.Intent]; taken {
			a.wrong(fresh, "charge", o.ID, "payment %s and payment %s are the same charge at the provider", p.ID, other)
		}
		a.intents[p.Intent] = p.ID
	}
	a.keeps(o, fresh)
	a.outcomes(o, fresh)
	a.refundsOf(o, fresh)
	a.papersOf(o, fresh)
	a.stuck(o)
}

func (a *audit) totals(o Order, fresh bool) {
	var net, vat, gross registrar.Cents
	for _, i := range o.Items {
		if i.Gross != i.Net+i.VAT || i.Net < 0 || i.VAT < 0 {
			a.wrong(fresh, "totals", o.ID, "%s costs %s net and %s VAT, but %s gross", i.Name, i.Net, i.VAT, i.Gross)
		}
		net, vat, gross = net+i.Net, vat+i.VAT, gross+i.Gross
	}
	if net != o.Net || vat != o.VAT || gross != o.Gross {
		a.wrong(fresh, "totals", o.ID, "the items add up to %s + %s = %s, the order says %s + %s = %s", net, vat, gross, o.Net, o.VAT, o.Gross)
	}
	// Half-up, written another way than where it is reckoned.
	if off := 2*(o.Net*registrar.Cents(o.RateBasisPoints)-o.VAT*10_000) + 10_000; off < 0 || off >= 20_000 {
		a.wrong(fresh, "totals", o.ID, "%s is not the VAT of %s at %d hundredths of a percent", o.VAT, o.Net, o.RateBasisPoints)
	}
}

// keeps looks at what pays for an order.
func (a *audit) keeps(o Order, fresh bool) {
	var kept []Payment
	for _, p := range o.Payments {
		if p.Standing == Kept {
			kept = append(kept, p)
		}
	}
	switch {
	case !o.Paid && len(kept) > 0:
		a.wrong(fresh, "charge", o.ID, "the order is %s and keeps %s", o.State, kept[0].ID)
	case !o.Paid:
	case o.Gross == 0 && len(kept) > 0:
		a.wrong(fresh, "charge", o.ID, "the order costs nothing and keeps %s", kept[0].ID)
	case o.Gross == 0:
	case len(kept) != 1:
		a.wrong(fresh, "charge", o.ID, "the order is paid and keeps %d payments, not one", len(kept))
	case kept[0].Amount != o.Gross:
		a.wrong(fresh, "charge", o.ID, "the order costs %s and keeps %s", o.Gross, kept[0].Amount)
	case kept[0].Intent == "":
		a.wrong(fresh, "charge", o.ID, "nobody knows which charge at the provider %s is", kept[0].ID)
	}
}

// outcomes looks at what became of the items; their lines are compared later.
func (a *audit) outcomes(o Order, fresh bool) {
	for _, i := range o.Items {
		if i.Line != "" {
			if other, taken := a.items[i.Line]; taken {
				a.wrong(fresh, "line", i.Line, "%s of %s and %s of %s have the same line", i.Name, o.ID, other.name, other.order)
			}
			a.items[i.Line] = item{order: o.ID, customer: o.Customer, name: i.Name, kind: i.Kind, stage: i.Stage, fresh: fresh}
		}
		failed := i.Stage == Failed || i.Stage == GivenBack
		switch {
		case !o.Paid && i.Line != "":
			a.wrong(fresh, "line", o.ID, "the order is %s and %s has the line %s", o.State, i.Name, i.Line)
		case !o.Paid && i.Stage != Open:
			a.wrong(fresh, "line", o.ID, "the order is %s and %s is %s", o.State, i.Name, i.Stage)
		case o.Paid && i.Line == "" && !failed:
			a.wrong(fresh, "line", o.ID, "the order is paid and nobody carries out %s", i.Name)
		case o.Ended && o.Paid && i.Stage == Open:
			a.wrong(fresh, "line", o.ID, "the order is %s and %s is %s", o.State, i.Name, i.Stage)
		}
	}
}

// refundsOf looks for the reason of each refund, and for the refund of each reason.
func (a *audit) refundsOf(o Order, fresh bool) {
	made := make(map[[2]string]int) // by payment and item
	amounts := make(map[[2]string]registrar.Cents)
	done := make(map[[2]string]bool)
	for _, r := range o.Refunds {
		key := [2]string{r.Payment, r.Item}
		made[key]++
		amounts[key] = r.Amount
		done[key] = r.Provider != ""
		young := fresh || a.fresh(r.CreatedAt)
		if a.refunds[r.ID] = (&refund{order: o.ID, payment: r.Payment, provider: r.Provider, amount: r.Amount, fresh: young}); r.Provider == "" {
			a.wrong(young, "stuck", o.ID, "the refund %s of %s is still due", r.ID, r.Amount)
			continue
		}
		if p := a.payments[r.Payment]; p != nil {
			p.returned += r.Amount
		}
	}
	// expect looks for the one refund of something. amount is -1 where only the
	// provider knows how much it was.
	expect := func(p Payment, what, item string, amount registrar.Cents, back bool) {
		key := [2]string{p.ID, item}
		switch n := made[key]; {
		case n == 0 && o.Ended:
			a.wrong(fresh, "refund", o.ID, "%s is to be given back and there is no refund", what)
		case n == 0:
			// The refund is written when the order ends, and stuck finds an order
			// that does not.
		case n > 1:
			a.wrong(fresh, "refund", o.ID, "%s has %d refunds", what, n)
		case amount >= 0 && amounts[key] != amount:
			a.wrong(fresh, "refund", o.ID, "%s of %s was to be given back and the refund is %s", amount, what, amounts[key])
		case back && !done[key]:
			a.wrong(fresh, "refund", o.ID, "%s is said to be given back and its refund is still due", what)
		}
		delete(made, key)
	}
	for _, p := range o.Payments {
		switch p.Standing {
		case Kept:
			for _, i := range o.Items {
				if (i.Stage == Failed || i.Stage == GivenBack) && i.Gross > 0 {
					expect(p, i.Name, i.ID, i.Gross, i.Stage == GivenBack)
				}
			}
		case Surplus, Returned:
			// It may be of another sum than was asked for: a reason not to keep it.
			a.payments[p.ID].owed = amounts[[2]string{p.ID, ""}]
			expect(p, "payment "+p.ID, "", -1, p.Standing == Returned)
		case InFlight, Closed:
		}
	}
	for key := range made {
		a.wrong(fresh, "refund", o.ID, "%s of payment %s is given back without a reason", amounts[key], key[0])
	}
}

// stuck looks for what somebody should long have looked at.
func (a *audit) stuck(o Order) {
	fresh := a.fresh(o.UpdatedAt)
	if !o.DueAt.IsZero() && a.options.Patience > 0 && a.options.Now.Sub(o.DueAt) > a.options.Patience {
		a.wrong(false, "stuck", o.ID, "nobody has looked at the order since it was due at %s", o.DueAt.UTC().Format("2006-01-02 15:04:05"))
	}
	if o.Paid && !o.Ended {
		open := false
		for _, i := range o.Items {
			open = open || i.Stage == Open
		}
		if !open {
			a.wrong(fresh, "stuck", o.ID, "nothing is under way any more and the order is still %s", o.State)
		}
	}
	for _, p := range o.Payments {
		if p.Standing == InFlight && (o.Ended || o.Paid) {
			a.wrong(fresh || a.fresh(p.UpdatedAt), "stuck", o.ID, "the order is %s and payment %s can still be made", o.State, p.ID)
		}
	}
}
