package reconcile

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// ProviderDispute is a dispute at the provider.
type ProviderDispute struct {
	ID, Intent        string
	Status            string
	Amount, Withdrawn registrar.Cents
	CreatedAt         time.Time
}

// disputed is a stored dispute until the provider's is read.
type disputed struct {
	dispute.Dispute
	found int
	fresh bool
}

func (a *reconciler) checkDispute(d dispute.Dispute) {
	fresh := a.isFresh(d.UpdatedAt)
	a.Disputes++
	a.disputes[d.ID] = &disputed{Dispute: d, fresh: fresh}
	a.withdrawn[d.Charge] += d.Withdrawn
	var expected registrar.Cents // what the bank has taken
	switch d.Status {
	case dispute.NeedsResponse, dispute.UnderReview:
		a.Disputed += d.Amount
		expected = d.Amount
	case dispute.Lost:
		a.DisputesLost += d.Amount
		expected = d.Amount
	case dispute.Won:
		a.DisputesWon += d.Amount
	default: // nothing is taken for an inquiry
	}
	if d.Withdrawn != expected {
		a.addFinding(fresh, "dispute", d.ID, "it is %s over %s, and %s is withdrawn", d.Status, d.Amount, d.Withdrawn)
	}
	p := a.payments[d.Payment]
	switch {
	case d.Payment == "":
	case p == nil || p.order != d.Order:
		a.addFinding(fresh, "dispute", d.ID, "it is about payment %s of %s, which does not exist", d.Payment, d.Order)
	default:
		p.withdrawn += d.Withdrawn
		p.fresh = p.fresh || fresh
		if expected > 0 && p.state == order.PaymentCaptured && d.Lock == dispute.LockNone {
			a.addFinding(fresh, "dispute", d.ID, "it is %s, and the domains of %s are not locked", d.Status, d.Order)
		}
	}
	if d.DueAt.IsZero() {
		return
	}
	a.checkOverdue(d.DueAt, d.ID, "the dispute")
}

// checkReturnedTwice reports payments of which more was refunded and taken back than was paid.
func (a *reconciler) checkReturnedTwice() {
	for id, p := range a.payments {
		paid := p.amount
		if p.state == order.PaymentUnmatched || p.state == order.PaymentRefunded {
			paid = p.owed
		}
		if p.withdrawn > 0 && p.refunded+p.withdrawn > paid {
			a.addFinding(p.fresh, "dispute", p.order, "of payment %s over %s, %s was refunded and %s taken back by the bank", id, paid, p.refunded, p.withdrawn)
		}
	}
}

func (a *reconciler) checkProviderDispute(d ProviderDispute) {
	stored := a.disputes[d.ID]
	if stored == nil {
		a.addFinding(a.isFresh(d.CreatedAt), "dispute", d.ID, "the provider has a dispute over %s that is not stored", d.Amount)
		return
	}
	stored.found++
	fresh := stored.fresh || a.isFresh(d.CreatedAt)
	if string(stored.Status) != d.Status {
		a.addFinding(fresh, "dispute", d.ID, "it is %s here and %s at the provider", stored.Status, d.Status)
	}
	if stored.Amount != d.Amount || stored.Withdrawn != d.Withdrawn || stored.Intent != d.Intent {
		a.addFinding(fresh, "dispute", d.ID, "%s of %s is withdrawn here, %s of %s at the provider", stored.Withdrawn, stored.Amount, d.Withdrawn, d.Amount)
	}
}

func (a *reconciler) checkMissingDisputes() {
	for id, d := range a.disputes {
		if d.found != 1 {
			a.addFinding(d.fresh, "dispute", id, "it exists %d times at the provider", d.found)
		}
	}
}
