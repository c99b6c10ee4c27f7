package reconcile

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

// renewedItem is an item of an automatic renewal's order.
type renewedItem struct {
	order, name string
	gross       registrar.Cents
	stage       stage
	paid, fresh bool
	claimed     bool // a renewal names the order
}

// expectedTerm is how far a domain must be paid for.
type expectedTerm struct {
	order string
	until time.Time
	fresh bool
}

func (a *reconciler) collectRenewedItems(o order.Order, fresh bool) {
	if o.Channel != order.ChannelRenewal {
		return
	}
	for _, i := range o.Items {
		a.renewedItems[[2]string{o.ID, i.Domain}] = &renewedItem{
			order: o.ID, name: i.Name, gross: i.Gross, stage: stages[i.State], paid: isPaid(o), fresh: fresh,
		}
	}
}

func (a *reconciler) checkRenewal(r renewal.Renewal) {
	a.Renewals++
	fresh := a.isFresh(r.UpdatedAt)
	if r.State == renewal.Charging { // an announced one may be postponed, or wait for the brake
		a.checkOverdue(r.ChargeAt, r.Order, "the charge for "+r.Name)
	}
	i := a.renewedItems[[2]string{r.Order, r.Domain}]
	charged := i != nil && i.paid && i.stage == provisioned
	if i != nil {
		i.claimed = true
		fresh = fresh || i.fresh
	}
	if i != nil && i.gross > r.Gross {
		a.addFinding(fresh, "renewal", r.Order, "%s costs %s, but %s was announced", r.Name, i.gross, r.Gross)
	}
	switch {
	case r.State == renewal.Renewed && !charged:
		a.addFinding(fresh, "renewal", r.Domain, "the term of %s was renewed without a charge", r.Name)
	case charged && (r.State == renewal.Announced || r.State == renewal.Charging):
		a.addFinding(fresh, "renewal", r.Order, "%s was charged and provisioned, but its renewal is %s", r.Name, r.State)
	case charged:
		until := r.TermEnd.AddDate(r.Years, 0, 0)
		if known := a.expectedTerms[r.Domain]; until.After(known.until) {
			a.expectedTerms[r.Domain] = expectedTerm{r.Order, until, fresh}
		}
	}
}

func (a *reconciler) checkUnclaimedItems() {
	for _, i := range a.renewedItems {
		if i.paid && !i.claimed {
			a.addFinding(i.fresh, "renewal", i.order, "%s was charged, but no renewal names the order", i.name)
		}
	}
	a.renewedItems = nil
}

func (a *reconciler) checkTerm(d provision.Domain, fresh bool) {
	if term, expected := a.expectedTerms[d.ID]; expected && d.PaidUntil.Before(term.until) {
		a.addFinding(fresh || term.fresh, "renewal", term.order, "%s was charged until %s, but its term ends on %s",
			d.Name, term.until.UTC().Format(time.DateOnly), d.PaidUntil.UTC().Format(time.DateOnly))
	}
	delete(a.expectedTerms, d.ID)
}
