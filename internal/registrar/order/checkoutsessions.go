package order

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// SessionRequest is an agent's request for an order. Contact is nil if it sent none.
type SessionRequest struct {
	Items   []RequestedItem
	Contact *Contact
}

// SessionChange is an agent's change of an order. Nil Items are left as they are;
// Contact's non-empty fields replace stored ones.
type SessionChange SessionRequest

// Completion is an agent's request to pay now.
type Completion struct {
	Token   string // the buyer's shared payment token; empty without payment data
	Contact *Contact
	// Until ends the wait for a payment in progress; zero means CompletionWait from
	// now. CallerGone, when closed, ends it early because the caller has left; nil
	// means never.
	Until      time.Time
	CallerGone <-chan struct{}
}

// SessionStatus is the status of a checkout session.
type SessionStatus string

// The session statuses.
const (
	NotReady         SessionStatus = "not_ready_for_payment"
	Ready            SessionStatus = "ready_for_payment"
	InProgress       SessionStatus = "in_progress"
	SessionCompleted SessionStatus = "completed"
	SessionCanceled  SessionStatus = "canceled"
	SessionExpired   SessionStatus = "expired"
)

// Why a completion returned a link for a human.
const (
	ProblemIdentity  registrar.Code = "identity"
	ProblemCode      registrar.Code = "auth_code"
	ProblemNoPayment registrar.Code = "no_payment_data"
	ProblemHuman     registrar.Code = "needs_human"
	// ProblemPaying: a customer is at the payment page, and the session is InProgress.
	ProblemPaying registrar.Code = "human_is_paying"
)

// Session is an order as its agent sees it.
type Session struct {
	View
	Status SessionStatus
	// MissingFields are the missing or invalid fields of the contact if Missing has
	// registrant; empty if the account's registrant data is incomplete.
	MissingFields []string
	// PayURL is where a human continues; VerifyURL is empty unless an identity is missing.
	PayURL, VerifyURL string
	Problem           registrar.Code // why a completion returned a link; empty otherwise
}

// CreateSession creates an order for an agent's buyer and charges nothing. If items
// can't be ordered, the error is an *ItemsRefused and nothing is stored.
func (s *Service) CreateSession(ctx context.Context, actor registrar.Actor, req SessionRequest) (Session, error) {
	if !isAgent(actor) {
		return Session{}, fail(registrar.KindUnauthenticated, registrar.SignInFirst)
	}
	o, err := s.newOrder(actor, Request{Items: req.Items, Channel: ChannelACP})
	if err != nil {
		return Session{}, err
	}
	o.Agent, o.Claimed = actor.Through, false
	o.Customer = registrar.NewID("cus_", o.CreatedAt)
	o.ItemsKey = sessionKey(o)
	resolved, err := s.updateBuyer(ctx, &o, req.Contact)
	if err != nil {
		return Session{}, err
	}
	results, err := s.quoteOrder(ctx, actor, registrar.ForQuote, &o, resolved.buyer)
	if err != nil {
		return Session{}, err
	}
	s.addLinks(&o)
	s.releaseLease(&o)
	if err := s.cfg.Store.AddSession(ctx, o, resolved.normalized, maxSessions, s.cfg.MaxOpen, s.auditEvent(actor, ActionCreated, o)); err != nil {
		return Session{}, err
	}
	s.cfg.OnStateChange(o.State)
	return s.buildSession(newView(o, resolved.buyer, results), resolved)
}

// Session returns an order that the agent may see. While it can be paid, it has current
// prices and the registries' recent responses.
func (s *Service) Session(ctx context.Context, actor registrar.Actor, id string) (Session, error) {
	o, err := s.orderForAgent(ctx, actor, id)
	if err != nil {
		return Session{}, err
	}
	return s.currentSession(ctx, actor, o)
}

// UpdateSession changes an order whose payment has not started.
func (s *Service) UpdateSession(ctx context.Context, actor registrar.Actor, id string, change SessionChange) (Session, error) {
	o, err := s.orderForAgent(ctx, actor, id)
	if err != nil {
		return Session{}, err
	}
	for range maxAttempts {
		if !o.State.waiting() {
			return s.sessionWithError(ctx, actor, o, fail(registrar.KindConflict, NotOpen))
		}
		now := o.clone()
		if change.Items != nil {
			if err := s.replaceItems(ctx, actor, &now, change.Items); err != nil {
				return s.sessionWithError(ctx, actor, o, err)
			}
		}
		resolved, err := s.updateBuyer(ctx, &now, change.Contact)
		if err != nil {
			return Session{}, err
		}
		results, err := s.quoteOrder(ctx, actor, registrar.ForQuote, &now, resolved.buyer)
		if err != nil {
			return s.sessionWithError(ctx, actor, o, err)
		}
		s.releaseLease(&now)
		m := Transition{From: o, To: now, GuestRegistrant: resolved.normalized}
		if err = s.transition(ctx, &m); err == nil {
			return s.buildSession(newView(m.To, resolved.buyer, results), resolved)
		}
		if errors.Is(err, errConflict) {
			o, err = s.reload(ctx, o.ID)
		}
		if err != nil {
			return Session{}, err
		}
	}
	return Session{}, errBusy()
}

// CancelSession cancels an unpaid order.
func (s *Service) CancelSession(ctx context.Context, actor registrar.Actor, id string) (Session, error) {
	o, err := s.orderForAgent(ctx, actor, id)
	if err != nil {
		return Session{}, err
	}
	err = fail(registrar.KindConflict, NotOpen)
	if o.State.Open() {
		o, err = s.cancel(ctx, actor, o)
	}
	return s.sessionWithError(ctx, actor, o, err)
}

func isAgent(actor registrar.Actor) bool {
	return actor.Kind == registrar.ActorAgent && actor.Through != ""
}

// orderForAgent returns an order that the agent may access: its own, or one of a
// customer who has linked it. If the agent's own order belongs to a customer through a
// link, the agent loses access to it with the link until it is paid. Renewals are never
// accessible.
func (s *Service) orderForAgent(ctx context.Context, actor registrar.Actor, id string) (Order, error) {
	if !isAgent(actor) {
		return Order{}, fail(registrar.KindUnauthenticated, registrar.SignInFirst)
	}
	o, found, err := s.cfg.Store.OrderByID(ctx, id)
	if err != nil {
		return Order{}, err
	}
	byLink := o.Agent == "" || o.ownedByLink() && o.State.Open()
	switch {
	case !found || o.Agent != "" && o.Agent != actor.Through:
		found = false
	case byLink:
		if found, err = s.cfg.Store.IsAgentLinked(ctx, o.Customer, actor.Through); err != nil {
			return Order{}, err
		}
	}
	if !found || slices.ContainsFunc(o.Items, func(i Item) bool { return i.Kind.ForHeldDomain() }) {
		return Order{}, fail(registrar.KindNotFound, NoSuchOrder)
	}
	return s.expire(ctx, o)
}

// ownedByLink reports whether an agent's order belongs to a customer through a link and
// not through a claim, which requires a claim mail.
func (o *Order) ownedByLink() bool { return o.Agent != "" && o.Claimed && o.ClaimMailedAt.IsZero() }

// sessionKey is unique per session: an agent may have several buyers for a name.
func sessionKey(o Order) string { return itemsKey(o.Items) + ":" + o.ID }

// replaceItems replaces an order's items; those that stay keep their auth codes. Orders
// that a customer created or claimed can't be changed by the agent, because the
// customer would hold the names.
func (s *Service) replaceItems(ctx context.Context, actor registrar.Actor, o *Order, requested []RequestedItem) error {
	theirs := o.Agent == ""
	if !theirs && o.Claimed {
		linked, err := s.cfg.Store.IsAgentLinked(ctx, o.Customer, o.Agent)
		if err != nil {
			return err
		}
		theirs = !linked
	}
	if theirs {
		return fail(registrar.KindConflict, NotOpen)
	}
	fresh, err := s.newOrder(actor, Request{Items: requested, Channel: o.Channel})
	if err != nil {
		return err
	}
	for i, item := range fresh.Items {
		at := slices.IndexFunc(o.Items, func(was Item) bool { return was.Name == item.Name && was.Kind == item.Kind })
		if at >= 0 {
			fresh.Items[i] = o.Items[at]
		}
	}
	o.Items = fresh.Items
	o.ItemsKey = sessionKey(*o)
	return nil
}

// resolvedBuyer is the buyer of an agent's order.
type resolvedBuyer struct {
	buyer         Buyer
	normalized    *Contact // the registrant of a guest account; nil without one
	missingFields []string
}

// updateBuyer merges an agent's contact update into the order and determines the buyer.
func (s *Service) updateBuyer(ctx context.Context, o *Order, update *Contact) (resolvedBuyer, error) {
	if update != nil && o.Agent != "" {
		before := o.Contact.Email
		o.Contact = o.Contact.merge(*update)
		if !o.Claimed && !strings.EqualFold(before, o.Contact.Email) {
			o.ClaimMailedAt = time.Time{} // the mail went to another address; the store voids its link
		}
	}
	if !o.Claimed && o.Contact.Email != "" {
		customer, found, err := s.cfg.Store.LinkedCustomer(ctx, o.Agent, o.Contact.Email)
		if err != nil {
			return resolvedBuyer{}, err
		}
		if found {
			o.Customer, o.Claimed, o.ClaimMailedAt = customer, true, time.Time{}
		}
	}
	if !o.Claimed {
		o.Email = o.Contact.Email
		return guestBuyer(*o), nil
	}
	buyer, err := s.cfg.Store.GetBuyer(ctx, o.Customer)
	if err == nil && o.Agent != "" {
		o.Email = strings.ToLower(buyer.Email)
	}
	return resolvedBuyer{buyer: buyer}, err
}

func guestBuyer(o Order) resolvedBuyer {
	resolved := resolvedBuyer{buyer: Buyer{Customer: o.Customer, Email: o.Contact.Email, Language: o.Contact.GuestLanguage()}}
	normalized, missingFields := o.Contact.normalise()
	if resolved.missingFields = missingFields; len(missingFields) > 0 {
		return resolved
	}
	resolved.normalized = &normalized
	b := &resolved.buyer
	b.HasRegistrant, b.Name, b.Organisation, b.Company, b.VATID = true, normalized.Name(), normalized.Organisation, normalized.IsCompany(), normalized.VATID
	b.Street, b.PostalCode, b.City, b.State = normalized.Street, normalized.PostalCode, normalized.City, normalized.State
	b.Country, b.Phone = normalized.Country, normalized.Phone
	return resolved
}

func (s *Service) resolveBuyer(ctx context.Context, o Order) (resolvedBuyer, error) {
	if !o.Claimed {
		return guestBuyer(o), nil
	}
	buyer, err := s.cfg.Store.GetBuyer(ctx, o.Customer)
	return resolvedBuyer{buyer: buyer}, err
}

// currentSession has current prices.
func (s *Service) currentSession(ctx context.Context, actor registrar.Actor, o Order) (Session, error) {
	if !o.State.waiting() {
		return s.buildSession(View{Order: o}, resolvedBuyer{})
	}
	resolved, err := s.resolveBuyer(ctx, o)
	if err != nil {
		return Session{}, err
	}
	view := View{Order: o, Owner: resolved.buyer}
	if err := s.refreshView(ctx, actor, &view); err != nil {
		return Session{}, err
	}
	return s.buildSession(view, resolved)
}

func (s *Service) sessionWithError(ctx context.Context, actor registrar.Actor, o Order, cause error) (Session, error) {
	session, err := s.currentSession(ctx, actor, o)
	return session, cmp.Or(cause, err)
}

func (s *Service) buildSession(view View, resolved resolvedBuyer) (Session, error) {
	o := view.Order
	session := Session{View: view}
	switch o.State {
	case AwaitingPayment, AwaitingVerification:
		session.Status, session.MissingFields = NotReady, resolved.missingFields
		if o.State == AwaitingPayment && len(view.Missing) == 0 && len(view.Refused) == 0 {
			session.Status = Ready
		}
	case Paying:
		session.Status = InProgress
	case Canceled:
		session.Status = SessionCanceled
	case Expired:
		session.Status = SessionExpired
	default:
		session.Status = SessionCompleted
	}
	var err error
	if session.PayURL, err = s.PayURL(o); err != nil {
		return Session{}, err
	}
	session.VerifyURL, err = s.VerifyURL(o)
	return session, err
}
