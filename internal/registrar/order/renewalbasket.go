package order

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// basketKey is the items key of a customer's renewal basket. When its payment begins, the
// order's id is appended, so that another basket can be opened meanwhile.
const basketKey = "basket:renewals"

// changedKey is the prefix of the items key of another order from which an item was removed.
const changedKey = "changed:"

// IsRenewalBasket reports whether a customer collects renewals in this order.
func (o Order) IsRenewalBasket() bool { return strings.HasPrefix(o.ItemsKey, basketKey) }

// Editable reports whether the customer can remove items while the order awaits payment:
// those of an order that a program has prepared belong together.
func (o Order) Editable() bool { return o.Channel == ChannelPortal }

// errUnquoted is the result of items that keep their price because only others were quoted.
var errUnquoted = fail(registrar.KindUpstream, registrar.FaultBusy)

// AddRenewals adds renewals and restores to the customer's renewal basket, or opens one. An
// item whose domain is in the basket already replaces it. Items that can't be ordered are
// returned with their reason, those beyond MaxPortalItems without a query at a registry. The
// error is an *ItemsRefused or *ItemsUnquoted if no registry accepts any; the other items are
// then returned, too. If none fits into the basket, it is returned as it is.
func (s *Service) AddRenewals(ctx context.Context, actor registrar.Actor, requested []RequestedItem) (Order, []RefusedItem, error) {
	if err := actor.RequirePerson(); err != nil {
		return Order{}, nil, err
	}
	if slices.ContainsFunc(requested, func(item RequestedItem) bool { return !item.Kind.ForHeldDomain() }) {
		return Order{}, nil, fail(registrar.KindInvalid, BadItems)
	}
	open, err := s.cfg.Store.ListOpenRenewalOrders(ctx, actor.Customer)
	if err != nil {
		return Order{}, nil, err
	}
	requested, refused, paying := splitPaying(requested, open)
	if len(requested) == 0 {
		if paying != nil {
			return *paying, nil, nil
		}
		return Order{}, nil, &ItemsRefused{Items: refused}
	}
	basket, found, err := s.firstBasket(ctx, open)
	if err != nil {
		return Order{}, nil, err
	}
	requested, refused = splitFull(requested, basket.Items, refused)
	if found && len(requested) == 0 {
		return basket, refused, nil
	}
	o, err := s.newOrder(actor, Request{Items: requested, Channel: ChannelPortal})
	if err != nil {
		return Order{}, nil, err
	}
	buyer, err := s.cfg.Store.GetBuyer(ctx, actor.Customer)
	if err != nil {
		return Order{}, nil, err
	}
	o.Email, o.ItemsKey = buyer.Email, basketKey
	results, err := s.quoteRequested(ctx, actor, buyer, requested, o.Items)
	if err != nil {
		return Order{}, nil, err
	}
	if refusal := refusalError(o.Items, results); refusal != nil {
		if !slices.ContainsFunc(results, func(r quoteResult) bool { return r.err == nil }) {
			return Order{}, refused, refusal
		}
		o.Items, results, refused = dropRefused(o.Items, results, refused)
	}
	return s.addToBasket(ctx, actor, o, buyer, results, refused)
}

// splitPaying leaves out items that an order in payment has already. paying is that order if
// it has all of them.
func splitPaying(requested []RequestedItem, open []Order) (rest []RequestedItem, refused []RefusedItem, paying *Order) {
	inPayment := make(map[string]*Order)
	for i := range open {
		for _, item := range open[i].Items {
			if open[i].State == Paying {
				inPayment[item.Name] = &open[i]
			}
		}
	}
	same := true
	for _, item := range requested {
		found := inPayment[item.Name.ASCII()]
		if found == nil {
			rest = append(rest, item)
			continue
		}
		same = same && (paying == nil || paying == found)
		paying = found
		refused = append(refused, RefusedItem{Name: item.Name.ASCII(), Kind: item.Kind, Reason: fail(registrar.KindConflict, PaymentOpenElsewhere)})
	}
	if !same || len(rest) > 0 {
		paying = nil
	}
	return rest, refused, paying
}

// splitFull leaves out items that don't fit into a basket with these items.
func splitFull(requested []RequestedItem, basket []Item, refused []RefusedItem) (fitting []RequestedItem, all []RefusedItem) {
	room := MaxPortalItems - len(basket)
	for _, item := range requested {
		name := item.Name.ASCII()
		switch {
		case slices.ContainsFunc(basket, func(other Item) bool { return other.Name == name }): // replaces it
			fitting = append(fitting, item)
		case room > 0:
			fitting, room = append(fitting, item), room-1
		default:
			refused = append(refused, basketFull(name, item.Kind))
		}
	}
	return fitting, refused
}

func basketFull(name string, kind Kind) RefusedItem {
	return RefusedItem{Name: name, Kind: kind, Reason: fail(registrar.KindConflict, BasketFull)}
}

// quoteRequested queries the registries about requested items; planned are those of the order
// that they become.
func (s *Service) quoteRequested(ctx context.Context, actor registrar.Actor, buyer Buyer, items []RequestedItem, planned []Item) ([]quoteResult, error) {
	requests := make([]provision.QuoteRequest, len(items))
	for i, item := range items {
		registrant := planned[i].RegistrantOr(buyer.registrant())
		requests[i] = provision.QuoteRequest{Customer: actor.Customer, Name: item.Name, Kind: item.Kind, Years: item.Years, Code: item.Code, Registrant: &registrant}
	}
	return s.quoteFresh(ctx, actor, registrar.ForQuote, requests)
}

// dropRefused leaves out the items without a quote.
func dropRefused(items []Item, results []quoteResult, refused []RefusedItem) (left []Item, quotes []quoteResult, all []RefusedItem) {
	for i, item := range items {
		if err := results[i].err; err != nil {
			refused = append(refused, RefusedItem{Name: item.Name, Kind: item.Kind, Reason: err})
			continue
		}
		left, quotes = append(left, item), append(quotes, results[i])
	}
	return left, quotes, refused
}

// addToBasket stores a new basket, or adds its items to the one that is open.
func (s *Service) addToBasket(
	ctx context.Context, actor registrar.Actor, o Order, buyer Buyer, results []quoteResult, refused []RefusedItem,
) (Order, []RefusedItem, error) {
	swept := false
	for range maxAttempts {
		basket, found, err := s.openBasket(ctx, actor.Customer)
		if err != nil {
			return Order{}, nil, err
		}
		if found {
			full := refused
			basket, err = s.changeBasket(ctx, actor, basket, buyer, func(next *Order) []quoteResult {
				var quotes []quoteResult
				quotes, full = mergeItems(next, o.Items, results, refused)
				return quotes
			})
			if errors.Is(err, errConflict) {
				continue // it was paid or changed meanwhile
			}
			return basket, full, err
		}
		fresh := o.clone()
		if err := s.applyQuotes(ctx, &fresh, buyer, results); err != nil {
			return Order{}, nil, err
		}
		s.addLinks(&fresh)
		s.releaseLease(&fresh)
		stored, added, err := s.cfg.Store.AddOrder(ctx, fresh, s.cfg.MaxOpen, s.auditEvent(actor, ActionCreated, fresh))
		switch {
		case registrar.CodeOf(err) == TooManyOpen && !swept:
			swept = true // the worker may not have expired overdue orders yet
			if err := s.expireOverdue(ctx, actor.Customer); err != nil {
				return Order{}, nil, err
			}
		case err != nil:
			return Order{}, nil, err
		case added:
			s.cfg.OnStateChange(stored.State)
			return stored, refused, nil
		}
	}
	return Order{}, nil, errBusy()
}

// openBasket finds the basket that items can be added to. One whose payment has begun is not.
func (s *Service) openBasket(ctx context.Context, customer string) (Order, bool, error) {
	open, err := s.cfg.Store.ListOpenRenewalOrders(ctx, customer)
	if err != nil {
		return Order{}, false, err
	}
	return s.firstBasket(ctx, open)
}

// firstBasket finds that basket among a customer's open renewal orders.
func (s *Service) firstBasket(ctx context.Context, open []Order) (Order, bool, error) {
	for _, o := range open {
		o, err := s.expire(ctx, o)
		if err != nil {
			return Order{}, false, err
		}
		if o.State.waiting() {
			return o, true, nil
		}
	}
	return Order{}, false, nil
}

// OpenRenewals returns the actor's renewal basket; false if there is none.
func (s *Service) OpenRenewals(ctx context.Context, actor registrar.Actor) (Order, bool, error) {
	if err := actor.RequirePerson(); err != nil {
		return Order{}, false, err
	}
	return s.openBasket(ctx, actor.Customer)
}

// mergeItems adds items to a basket up to its limit and returns the quotes of all its items.
func mergeItems(basket *Order, items []Item, results []quoteResult, refused []RefusedItem) (quotes []quoteResult, full []RefusedItem) {
	full = slices.Clone(refused)
	quotes = unquoted(len(basket.Items))
	for i, item := range items {
		at := slices.IndexFunc(basket.Items, func(other Item) bool { return other.Name == item.Name })
		switch {
		case at >= 0:
			if basket.Items[at].Kind == item.Kind {
				item.ID = basket.Items[at].ID
			}
			basket.Items[at], quotes[at] = item, results[i]
		case len(basket.Items) >= MaxPortalItems:
			full = append(full, basketFull(item.Name, item.Kind))
		default:
			basket.Items, quotes = append(basket.Items, item), append(quotes, results[i])
		}
	}
	return quotes, full
}

// unquoted returns the results of items that keep their price.
func unquoted(items int) []quoteResult {
	return slices.Repeat([]quoteResult{{err: errUnquoted}}, items)
}

// changeBasket changes the items of a basket that awaits payment. change returns their quotes.
// It returns errConflict if the order has changed.
func (s *Service) changeBasket(ctx context.Context, actor registrar.Actor, basket Order, buyer Buyer, change func(next *Order) []quoteResult) (Order, error) {
	next := basket.clone()
	results := change(&next)
	if err := s.applyQuotes(ctx, &next, buyer, results); err != nil {
		return basket, err
	}
	if slices.Equal(basket.Items, next.Items) {
		return basket, nil
	}
	next.ExpiresAt = s.now().Add(s.cfg.OrderTTL)
	s.releaseLease(&next)
	m := Transition{From: basket, To: next, AuditEvents: []registrar.AuditEvent{s.auditEvent(actor, ActionChanged, next)}}
	if err := s.transition(ctx, &m); err != nil {
		return basket, err
	}
	return m.To, nil
}

// RemoveItem removes an item from the actor's editable order; one without items is canceled.
// An item that is gone already is no error.
func (s *Service) RemoveItem(ctx context.Context, actor registrar.Actor, paySecret, item string) error {
	o, err := s.ownOrder(ctx, actor, paySecret)
	if err != nil {
		return err
	}
	buyer, err := s.cfg.Store.GetBuyer(ctx, o.Customer)
	if err != nil {
		return err
	}
	for range maxAttempts {
		switch {
		case !o.Editable() || !o.State.waiting():
			return fail(registrar.KindConflict, NotOpen)
		case o.item(item) == nil:
			return nil
		case len(o.Items) == 1:
			m := Transition{From: o, To: o.clone(), AuditEvents: []registrar.AuditEvent{s.auditEvent(actor, ActionCanceled, o)}}
			s.setState(&m.To, Canceled)
			err = s.transition(ctx, &m)
		default:
			err = s.removeItem(ctx, actor, o, buyer, item)
		}
		if !errors.Is(err, errConflict) {
			return err
		}
		if o, err = s.reload(ctx, o.ID); err != nil {
			return err
		}
	}
	return errBusy()
}

func (s *Service) removeItem(ctx context.Context, actor registrar.Actor, basket Order, buyer Buyer, item string) error {
	_, err := s.changeBasket(ctx, actor, basket, buyer, func(next *Order) []quoteResult {
		next.Items = slices.DeleteFunc(next.Items, func(i Item) bool { return i.ID == item })
		if !next.IsRenewalBasket() {
			next.ItemsKey = changedKey + next.ID // there may be another open order with these items
		}
		return unquoted(len(next.Items))
	})
	return err
}

// refuseEndedTerms refuses items whose term was extended since they were ordered: the customer
// saw the end of another term.
func refuseEndedTerms(items []Item, results []quoteResult) {
	for i, item := range items {
		now := results[i].quote.TermEnd
		if results[i].err == nil && !item.TermEnd.IsZero() && !now.IsZero() && !now.Equal(item.TermEnd) {
			results[i] = quoteResult{err: fail(registrar.KindConflict, TermPaid)}
		}
	}
}

// setTerm stores the term that an item extends.
func (i *Item) setTerm(ends time.Time) {
	if i.Kind.ForHeldDomain() && i.TermEnd.IsZero() {
		i.TermEnd = ends
	}
}
