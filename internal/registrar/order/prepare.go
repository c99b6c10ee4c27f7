package order

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
)

// Create prepares an order and charges nothing. If the customer has an open order with
// the same items, it returns that one. If items can't be ordered, the error is an
// *ItemsRefused and nothing is stored.
func (s *Service) Create(ctx context.Context, actor registrar.Actor, req Request) (Order, error) {
	view, err := s.Prepare(ctx, actor, req)
	return view.Order, err
}

// Prepare is Create that also returns what is missing for payment. It sets Order,
// Owner, Missing and MissingByItem of the view. If items of a person's order can't be ordered,
// the view's order has the others with their prices; it is not stored.
func (s *Service) Prepare(ctx context.Context, actor registrar.Actor, req Request) (View, error) {
	if actor.Customer == "" {
		return View{}, fail(registrar.KindUnauthenticated, registrar.SignInFirst)
	}
	o, err := s.newOrder(actor, req)
	if err != nil {
		return View{}, err
	}
	buyer, err := s.cfg.Store.GetBuyer(ctx, actor.Customer)
	if err != nil {
		return View{}, err
	}
	o.Email = buyer.Email
	if err := s.attachHolders(ctx, &o); err != nil {
		return View{}, err
	}
	results, err := s.quoteRequested(ctx, actor, buyer, req.Items, o.Items)
	if err != nil {
		return View{}, err
	}
	refuseHolders(o.Items, buyer, results)
	if err := refusalError(o.Items, results); err != nil {
		return s.priceOthers(ctx, o, buyer, results), err
	}
	if err := s.applyQuotes(ctx, &o, buyer, results); err != nil {
		return View{}, err
	}
	o.ItemsKey = itemsKey(o.Items)
	requested := o.Items
	if req.DryRun {
		if err := s.checkOpenLimit(ctx, o); err != nil {
			return View{}, err
		}
		o.ID = ""
	} else {
		s.addLinks(&o)
		s.releaseLease(&o)
		if o, err = s.addOrReuse(ctx, actor, o, buyer, results); err != nil {
			return View{}, err
		}
	}
	if ordered, ok := alignResults(o.Items, requested, results); ok && o.State != Paying {
		return newView(o, buyer, ordered), nil
	}
	return View{Order: o, Owner: buyer}, nil
}

func (s *Service) priceOthers(ctx context.Context, o Order, buyer Buyer, results []quoteResult) View {
	o.Items, results, _ = dropRefused(o.Items, results, nil)
	if o.Channel != ChannelPortal || len(o.Items) == 0 || s.applyQuotes(ctx, &o, buyer, results) != nil {
		return View{}
	}
	o.ID = ""
	return View{Order: o, Owner: buyer}
}

// Outstanding returns what is missing of an open order as far as known without a
// registry: registrant data, auth codes and the identity.
func (s *Service) Outstanding(ctx context.Context, o Order) (View, error) {
	if !o.State.waiting() {
		return View{Order: o}, nil
	}
	resolved, err := s.resolveBuyer(ctx, o)
	if err != nil {
		return View{}, err
	}
	return newView(o, resolved.buyer, make([]quoteResult, len(o.Items))), nil
}

// newOrder returns an order without prices.
func (s *Service) newOrder(actor registrar.Actor, req Request) (Order, error) {
	limit := maxItems
	if req.Channel == ChannelPortal {
		limit = MaxPortalItems
	}
	if len(req.Items) == 0 || len(req.Items) > limit {
		return Order{}, fail(registrar.KindInvalid, BadItems)
	}
	now := s.now()
	o := Order{
		ID: registrar.NewID(IDPrefix, now), Customer: actor.Customer, Channel: req.Channel, By: actor, ByName: req.ByName, Claimed: true,
		CreatedAt: now, UpdatedAt: now, ExpiresAt: now.Add(s.cfg.OrderTTL), Version: 1,
	}
	seen := make(map[string]bool, len(req.Items))
	for _, requested := range req.Items {
		name := requested.Name.ASCII()
		if requested.Name.Label() == "" || seen[name] {
			return Order{}, fail(registrar.KindInvalid, BadItems)
		}
		seen[name] = true
		switch {
		case requested.Kind == Register, requested.Kind == Transfer:
		case requested.Kind == Renew && req.Channel != ChannelACP: // a checkout session may belong to anyone
		case requested.Kind == Restore && req.Channel == ChannelPortal:
		default:
			return Order{}, fail(registrar.KindInvalid, BadItems)
		}
		item := Item{ID: registrar.NewID("itm_", now), Name: name, TLD: requested.Name.TLD(), Kind: requested.Kind, State: ItemWaiting}
		if requested.Code != "" {
			if requested.Kind != Transfer || req.Channel != ChannelPortal || !IsAuthCode(requested.Code) {
				return Order{}, fail(registrar.KindInvalid, BadCode)
			}
			item.SealedCode = s.cfg.Seal.Seal(registrar.AuthCodePurpose(name), requested.Code)
		}
		if requested.Holder != "" && requested.Kind.ForHeldDomain() {
			return Order{}, fail(registrar.KindInvalid, HolderFixed)
		}
		if requested.Holder != holder.Own {
			item.Holder = requested.Holder
		}
		o.Items = append(o.Items, item)
	}
	return o, nil
}

// itemsKey is equal for equal items in any order.
func itemsKey(items []Item) string {
	keys := make([]string, len(items))
	for i, item := range items {
		keys[i] = string(item.Kind) + ":" + item.Name
		if item.Kind == Renew || item.Kind == Register && item.Years > 1 {
			keys[i] += ":" + strconv.Itoa(item.Years)
		}
		if item.Holder != "" {
			keys[i] += ":" + item.Holder
		}
	}
	slices.Sort(keys)
	sum := sha256.Sum256([]byte(strings.Join(keys, "\n")))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// checkOpenLimit returns TooManyOpen if addOrReuse would.
func (s *Service) checkOpenLimit(ctx context.Context, o Order) error {
	err := s.cfg.Store.CheckOpenOrderLimit(ctx, o, s.cfg.MaxOpen)
	if registrar.CodeOf(err) != TooManyOpen {
		return err
	}
	if err := s.expireOverdue(ctx, o.Customer); err != nil {
		return err
	}
	return s.cfg.Store.CheckOpenOrderLimit(ctx, o, s.cfg.MaxOpen)
}

// addOrReuse stores a new order, or returns the open one with the same items.
func (s *Service) addOrReuse(ctx context.Context, actor registrar.Actor, o Order, buyer Buyer, results []quoteResult) (Order, error) {
	swept := false
	for range maxAttempts {
		stored, added, err := s.cfg.Store.AddOrder(ctx, o, s.cfg.MaxOpen, s.auditEvent(actor, ActionCreated, o))
		switch {
		case registrar.CodeOf(err) == TooManyOpen && !swept:
			// The worker may not have expired overdue orders yet.
			swept = true
			if err := s.expireOverdue(ctx, actor.Customer); err != nil {
				return Order{}, err
			}
			continue
		case err != nil:
			return Order{}, err
		case added:
			s.cfg.OnStateChange(o.State)
			return stored, nil
		case stored.State != Paying && s.pastExpiry(stored):
			if _, err := s.expire(ctx, stored); err != nil {
				return Order{}, err
			}
			continue
		case stored.State == Paying:
			return stored, nil
		}
		ordered, ok := alignResults(stored.Items, o.Items, results)
		if !ok {
			return stored, nil // the store compares items differently
		}
		now := stored.clone()
		for _, item := range o.Items { // the registry has just verified these codes
			at := slices.IndexFunc(now.Items, func(a Item) bool { return a.Name == item.Name })
			if item.SealedCode != "" {
				now.Items[at].SealedCode = item.SealedCode
			}
		}
		for i := range now.Items { // requested again: for the term that ends now
			now.Items[i].TermEnd = time.Time{}
		}
		if err := s.applyQuotes(ctx, &now, buyer, ordered); err != nil {
			return Order{}, err
		}
		return s.reprice(ctx, stored, now)
	}
	return Order{}, errBusy()
}

// alignResults orders the results like items; false if an item was not requested.
func alignResults(items, requested []Item, results []quoteResult) ([]quoteResult, bool) {
	ordered := make([]quoteResult, len(items))
	for i, item := range items {
		at := slices.IndexFunc(requested, func(a Item) bool { return a.Name == item.Name && a.Kind == item.Kind })
		if at < 0 {
			return nil, false
		}
		ordered[i] = results[at]
	}
	return ordered, true
}

// reprice stores new prices of an open order. On a version conflict the other change
// wins: prices are checked again before charging.
func (s *Service) reprice(ctx context.Context, was, now Order) (Order, error) {
	if !needsUpdate(was, now) {
		return was, nil
	}
	s.releaseLease(&now)
	m := Transition{From: was, To: now}
	err := s.transition(ctx, &m)
	switch {
	case errors.Is(err, errConflict):
		return s.reload(ctx, was.ID)
	case err != nil:
		return was, err
	}
	return m.To, nil
}

// expireOverdue relies on the limit of open orders: a few pages cover all of them.
func (s *Service) expireOverdue(ctx context.Context, customer string) error {
	const page = 100
	for range maxAttempts {
		overdue, err := s.cfg.Store.ListOverdueOrders(ctx, customer, s.now(), page)
		if err != nil {
			return err
		}
		for _, o := range overdue {
			if _, err := s.expire(ctx, o); err != nil {
				return err
			}
		}
		if len(overdue) < page {
			return nil
		}
	}
	return nil
}

func (s *Service) expire(ctx context.Context, o Order) (Order, error) {
	if s.pastExpiry(o) {
		if err := s.relistTransfers(ctx, o); err != nil {
			return o, err
		}
	}
	return s.update(ctx, o, func(m *Transition) bool {
		s.setState(&m.To, Expired)
		m.AuditEvents = []registrar.AuditEvent{s.systemAuditEvent(ActionExpired, m.To)}
		return m.From.State.waiting() && s.pastExpiry(m.From)
	})
}

// Get returns an order of the actor's account.
func (s *Service) Get(ctx context.Context, actor registrar.Actor, id string) (Order, error) {
	if actor.Customer == "" {
		return Order{}, fail(registrar.KindUnauthenticated, registrar.SignInFirst)
	}
	o, err := existing(s.cfg.Store.GetCustomerOrder(ctx, actor.Customer, id))
	if err != nil {
		return Order{}, err
	}
	return s.expire(ctx, o)
}

// List returns up to limit of the account's orders, newest first, starting after the id
// before; empty starts with the newest.
func (s *Service) List(ctx context.Context, actor registrar.Actor, before string, limit int) ([]Order, error) {
	if actor.Customer == "" {
		return nil, fail(registrar.KindUnauthenticated, registrar.SignInFirst)
	}
	page, err := s.cfg.Store.ListOrders(ctx, actor.Customer, before, limit)
	if err != nil {
		return nil, err
	}
	for i := range page {
		if page[i], err = s.expire(ctx, page[i]); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// ListRefundedFor returns the account's orders of which something was refunded for one of
// some withdrawal notices.
func (s *Service) ListRefundedFor(ctx context.Context, actor registrar.Actor, notices []string) ([]Order, error) {
	if actor.Customer == "" {
		return nil, fail(registrar.KindUnauthenticated, registrar.SignInFirst)
	}
	return s.cfg.Store.ListOrdersOfNotices(ctx, actor.Customer, notices)
}

// Page returns a page of the account's orders in a state, newest first, and their total
// number. An empty state means all. Overdue orders are expired first, so that the filter
// matches what is shown.
func (s *Service) Page(ctx context.Context, actor registrar.Actor, state State, limit, offset int) (page []Order, total int, err error) {
	if actor.Customer == "" {
		return nil, 0, fail(registrar.KindUnauthenticated, registrar.SignInFirst)
	}
	if err := s.expireOverdue(ctx, actor.Customer); err != nil {
		return nil, 0, err
	}
	return s.cfg.Store.PageOrders(ctx, actor.Customer, state, limit, offset)
}

// Cancel cancels an order of the actor's account that awaits payment or verification.
// Canceling it again changes nothing and records no audit event. Every other order
// yields NotOpen and is returned as it is; a payment in flight is not interrupted.
func (s *Service) Cancel(ctx context.Context, actor registrar.Actor, id string) (Order, error) {
	o, err := s.Get(ctx, actor, id)
	if err != nil {
		return Order{}, err
	}
	return s.cancelUnpaid(ctx, actor, o)
}
