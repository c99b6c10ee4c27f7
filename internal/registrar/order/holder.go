package order

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
)

// HolderFixed (KindInvalid): only a name that is registered or transferred has a choice of holders.
const HolderFixed registrar.Code = "holder_fixed"

// attachHolders copies the current data of holders to the items that name one. An item whose
// holder does not exist gets none; refuseHolders refuses it.
func (s *Service) attachHolders(ctx context.Context, o *Order) error {
	known := make(map[string]registrar.Registrant)
	for i := range o.Items {
		item := &o.Items[i]
		if item.Holder == "" {
			continue
		}
		registrant, found := known[item.Holder]
		if !found && s.cfg.Holder != nil {
			var err error
			if registrant, err = s.cfg.Holder(ctx, o.Customer, item.Holder); err != nil && registrar.KindOf(err) != registrar.KindNotFound {
				return err
			}
			known[item.Holder] = registrant
		}
		item.Registrant = registrant
	}
	return nil
}

// refuseHolders refuses items whose holder was deleted, or whose extension requires a verified
// identity of somebody else than the buyer.
func refuseHolders(items []Item, buyer Buyer, results []quoteResult) {
	for i, item := range items {
		switch {
		case item.Holder == "":
		case item.Registrant == registrar.Registrant{}:
			results[i] = quoteResult{err: fail(registrar.KindConflict, holder.NoSuchHolder)}
		case results[i].err == nil && results[i].quote.Verify && !registrar.SameName(item.Registrant.Name, buyer.Name):
			results[i] = quoteResult{err: fail(registrar.KindConflict, registrar.IdentityRequired)}
		}
	}
}

// SetHolders chooses the holders of items of an unpaid order, by the items' ids. An empty holder or
// holder.Own means the customer.
func (s *Service) SetHolders(ctx context.Context, actor registrar.Actor, paySecret string, holders map[string]string) error {
	o, err := s.ownOrder(ctx, actor, paySecret)
	if err != nil {
		return err
	}
	chosen := make(map[string]string, len(holders))
	for item, id := range holders {
		target := o.item(item)
		if target == nil || target.Kind.ForHeldDomain() {
			return fail(registrar.KindInvalid, HolderFixed)
		}
		if id == holder.Own {
			id = ""
		}
		if chosen[item] = id; id == "" || id == target.Holder {
			continue
		}
		if s.cfg.Holder == nil {
			return fail(registrar.KindConflict, holder.NoSuchHolder)
		}
		if _, err := s.cfg.Holder(ctx, o.Customer, id); registrar.KindOf(err) == registrar.KindNotFound {
			return fail(registrar.KindConflict, holder.NoSuchHolder)
		} else if err != nil {
			return err
		}
	}
	open := false
	_, err = s.update(ctx, o, func(m *Transition) bool {
		open = m.From.State.waiting()
		changed := false
		for item, id := range chosen {
			target := m.To.item(item)
			if target == nil || target.Holder == id {
				continue
			}
			target.Holder, target.Registrant, changed = id, registrar.Registrant{}, true
			m.To.ItemsKey = changedKey + m.To.ID // there may be another open order with these items
		}
		return open && changed
	})
	if err == nil && !open {
		err = fail(registrar.KindConflict, NotOpen)
	}
	return err
}
