package order

import (
	"context"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// UndecidedDomain is a domain of an order that was refunded in full at the provider, about which an
// operator has to decide.
type UndecidedDomain struct {
	Item      Item
	Deletable *DeletableDomain // nil: the program can't delete it, as one that was transferred to us or renewed since
}

// decisionPlace returns where the decision about an item's domain is stored: the part of the last refund
// of the item that was made at the provider. It is false if there is nothing to decide.
func (o *Order) decisionPlace(item Item) (refund, part int, undecided bool) {
	if item.State == ItemFailed || item.State == ItemRefunded {
		return 0, 0, false
	}
	for i, r := range o.Refunds {
		if !r.counts() {
			continue
		}
		for j, p := range r.Parts {
			switch {
			case p.Item != item.ID:
			case p.Domain != "" || p.Kept != "":
				return 0, 0, false
			case r.Source == ByProvider:
				refund, part, undecided = i, j, true
			}
		}
	}
	return refund, part, undecided
}

// undecidedItems returns the items whose domains are undecided.
func (o *Order) undecidedItems() []Item {
	return slices.DeleteFunc(slices.Clone(o.Items), func(item Item) bool {
		_, _, undecided := o.decisionPlace(item)
		return !undecided
	})
}

// UndecidedDomains returns the domains of an order that TaskDomains is about. A task without any, because
// its items have failed since, is closed with Settle.
func (s *Refunds) UndecidedDomains(ctx context.Context, operator registrar.Actor, o Order) ([]UndecidedDomain, error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	if find(o.Refunds, func(r Refund) bool { return r.Task == TaskDomains }) == nil {
		return nil, nil
	}
	registered, err := s.cfg.Store.ListRegisteredDomains(ctx, o.ID)
	if err != nil {
		return nil, err
	}
	var all []UndecidedDomain
	for _, item := range o.undecidedItems() {
		one := UndecidedDomain{Item: item}
		if domain := find(registered, func(d RegisteredDomain) bool { return d.Item == item.ID }); domain != nil {
			deletable := s.deletable(item, *domain)
			one.Deletable = &deletable
		}
		all = append(all, one)
	}
	return all, nil
}

// DeleteDomain has the domain of an item deleted that TaskDomains is about. It returns DeletionForbidden if
// the domain was renewed, locked or transferred meanwhile.
func (s *Refunds) DeleteDomain(ctx context.Context, operator registrar.Actor, id, refund, item string) error {
	return s.decideDomain(ctx, operator, id, refund, item, lifecycle.ActionDeletionSet, func(part *RefundPart) error {
		registered, err := s.cfg.Store.ListRegisteredDomains(ctx, id)
		if err != nil {
			return err
		}
		domain := find(registered, func(d RegisteredDomain) bool { return d.Item == item })
		if domain == nil {
			return fail(registrar.KindConflict, DeletionForbidden)
		}
		part.Domain = domain.Domain
		return nil
	})
}

// KeepDomain leaves the domain of an item that TaskDomains is about as it is. The note says why.
func (s *Refunds) KeepDomain(ctx context.Context, operator registrar.Actor, id, refund, item, note string) error {
	note, ok := cleanNote(note)
	if !ok {
		return fail(registrar.KindInvalid, BadRefund)
	}
	return s.decideDomain(ctx, operator, id, refund, item, ActionDomainKept, func(part *RefundPart) error {
		part.Kept = note
		return nil
	})
}

// decideDomain stores a decision about a domain. The last one closes the task.
func (s *Refunds) decideDomain(
	ctx context.Context, operator registrar.Actor, id, refund, item string, action registrar.Action, set func(part *RefundPart) error,
) error {
	return s.decide(ctx, operator, id, refund, action, []RefundTask{TaskDomains}, func(m *Transition, r *Refund) error {
		about := m.To.item(item)
		if about == nil {
			return fail(registrar.KindNotFound, provision.NoSuchItem)
		}
		i, j, undecided := m.To.decisionPlace(*about)
		if !undecided {
			return fail(registrar.KindConflict, NothingToDecide)
		}
		decided := &m.To.Refunds[i]
		decided.Parts = slices.Clone(decided.Parts) // m.From has the same
		if err := set(&decided.Parts[j]); err != nil {
			return err
		}
		if len(m.To.undecidedItems()) > 0 {
			r.Task = TaskDomains
		}
		m.AuditEvents[0].Object, m.AuditEvents[0].Refund = about.Name, "" // it is about the domain
		return nil
	})
}
