package order

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Contact is a buyer as an agent told: who wants to hold the domains, and where
// letters go. Empty fields were not told.
type Contact struct {
	FirstName, LastName, Organisation, Email, Phone, VATID string
	Street, Street2, PostalCode, City, State, Country      string
	// Language is de or en.
	Language string
}

// SessionRequest is what an agent wants to order. Contact is nil if it told none.
type SessionRequest struct {
	Items   []Wanted
	Contact *Contact
}

// SessionChange is what an agent wants to be different. Items are kept if nil; what
// Contact tells replaces what was told before, field by field.
type SessionChange struct {
	Items   []Wanted
	Contact *Contact
}

// Completion is an agent's word that its buyer wants to pay now.
type Completion struct {
	// Token is the buyer's shared payment token; empty if there is no payment data.
	Token   string
	Contact *Contact
	// Until ends the wait for a payment that is in progress already; zero means
	// CompletionWait from now. Gone ends it when it is closed, because the caller
	// has left; nil means never.
	Until time.Time
	Gone  <-chan struct{}
}

// SessionStatus is how far an order has come, in the words of checkout sessions.
type SessionStatus string

// The statuses.
const (
	NotReady         SessionStatus = "not_ready_for_payment"
	Ready            SessionStatus = "ready_for_payment"
	InProgress       SessionStatus = "in_progress"
	SessionCompleted SessionStatus = "completed"
	SessionCanceled  SessionStatus = "canceled"
	SessionExpired   SessionStatus = "expired"
)

// Why a completion gave a link instead of an end.
const (
	ProblemIdentity  registrar.Code = "identity"
	ProblemCode      registrar.Code = "auth_code"
	ProblemNoPayment registrar.Code = "no_payment_data"
	ProblemHuman     registrar.Code = "needs_human"
	// ProblemPaying: a human is at the payment page, and the session is InProgress.
	ProblemPaying registrar.Code = "human_is_paying"
)

// Session is an order as its agent sees it.
type Session struct {
	Order  Order
	Status SessionStatus
	// Missing, Needs, Refused, Unasked and AskedAt are those of View.
	Missing []string
	Needs   map[string][]string
	Refused map[string]error
	Unasked bool
	AskedAt time.Time
	// Untold are the fields of the contact that are missing or can't be used, where
	// Missing has registrant; empty if the holder's account has to tell them.
	Untold []string
	// PayURL is where a human goes on; VerifyURL is empty unless an identity is open.
	PayURL, VerifyURL string
	// Problem is why a completion gave a link; empty otherwise.
	Problem registrar.Code
}

// CreateSession makes an order for an agent's buyer and charges nothing. If items
// can't be ordered the error is an *ItemsRefused, and nothing is stored.
func (s *Service) CreateSession(ctx context.Context, actor registrar.Actor, req SessionRequest) (Session, error) {
	if !isAgent(actor) {
		return Session{}, fail(registrar.KindUnauthenticated, SignInFirst)
	}
	o, err := s.newOrder(actor, Request{Items: req.Items, Channel: ThroughACP})
	if err != nil {
		return Session{}, err
	}
	o.Agent, o.Claimed = actor.Through, false
	o.Customer = registrar.NewID("cus_", o.CreatedAt)
	o.ItemsKey = sessionKey(o)
	who, err := s.tell(ctx, &o, req.Contact)
	if err != nil {
		return Session{}, err
	}
	view, err := s.offer(ctx, actor, &o, who)
	if err != nil {
		return Session{}, err
	}
	s.addLinks(&o)
	s.rest(&o)
	if err := s.cfg.Store.AddSession(ctx, o, who.fitted, s.cfg.MaxSessions, s.cfg.MaxOpen, s.deed(actor, ActionMade, o)); err != nil {
		return Session{}, err
	}
	s.cfg.Reached(o.State)
	view.Order = o
	return s.sessionOf(view, who)
}

// Session is an order that the agent may see. While it can be paid it has present
// prices, and what registries say or said a moment ago.
func (s *Service) Session(ctx context.Context, actor registrar.Actor, id string) (Session, error) {
	o, err := s.ofAgent(ctx, actor, id)
	if err != nil {
		return Session{}, err
	}
	return s.session(ctx, actor, o)
}

// UpdateSession changes an order that nobody has begun to pay.
func (s *Service) UpdateSession(ctx context.Context, actor registrar.Actor, id string, change SessionChange) (Session, error) {
	o, err := s.ofAgent(ctx, actor, id)
	if err != nil {
		return Session{}, err
	}
	for range tries {
		if o.State != AwaitingPayment && o.State != AwaitingVerification {
			return s.beside(ctx, actor, o, fail(registrar.KindConflict, NotOpen))
		}
		now := o.clone()
		if change.Items != nil {
			if err := s.replaceItems(ctx, actor, &now, change.Items); err != nil {
				return s.beside(ctx, actor, o, err)
			}
		}
		who, err := s.tell(ctx, &now, change.Contact)
		if err != nil {
			return Session{}, err
		}
		view, err := s.offer(ctx, actor, &now, who)
		if err != nil {
			return s.beside(ctx, actor, o, err)
		}
		if now.State != o.State {
			now.Attempts = 0
		}
		s.rest(&now)
		m := Move{Was: o, Order: now, Fitted: who.fitted}
		moved, err := s.move(ctx, &m)
		if err != nil {
			return Session{}, err
		}
		if moved {
			view.Order = m.Order
			return s.sessionOf(view, who)
		}
		if o, err = s.again(ctx, o.ID); err != nil {
			return Session{}, err
		}
	}
	return Session{}, errBusy()
}

// CancelSession ends an order that nobody has paid.
func (s *Service) CancelSession(ctx context.Context, actor registrar.Actor, id string) (Session, error) {
	o, err := s.ofAgent(ctx, actor, id)
	if err != nil {
		return Session{}, err
	}
	if o.State.Open() {
		o, err = s.cancel(ctx, actor, o)
	} else {
		err = fail(registrar.KindConflict, NotOpen)
	}
	return s.beside(ctx, actor, o, err)
}

func isAgent(actor registrar.Actor) bool {
	return actor.Kind == registrar.ActorAgent && actor.Through != ""
}

// ofAgent finds an order that the agent may touch: its own, or one of a customer who
// has linked it. Its own that is a linked customer's is closed to it with the link, as
// long as it is not paid: nobody acts for a customer without leave. A renewal is
// between us and the holder.
func (s *Service) ofAgent(ctx context.Context, actor registrar.Actor, id string) (Order, error) {
	if !isAgent(actor) {
		return Order{}, fail(registrar.KindUnauthenticated, SignInFirst)
	}
	o, found, err := s.cfg.Store.OrderByID(ctx, id)
	if err != nil {
		return Order{}, err
	}
	byLink := o.Agent == "" || o.byLink() && o.State.Open()
	switch {
	case !found || o.Agent != "" && o.Agent != actor.Through:
		found = false
	case byLink:
		if found, err = s.cfg.Store.HasLinked(ctx, o.Customer, actor.Through); err != nil {
			return Order{}, err
		}
	}
	if !found || slices.ContainsFunc(o.Items, func(i Item) bool { return i.Kind == Renew }) {
		return Order{}, fail(registrar.KindNotFound, NoSuchOrder)
	}
	return s.expire(ctx, o)
}

// byLink says that an agent's order is a customer's because of their link, and not
// because they have claimed it: then there was a letter.
func (o *Order) byLink() bool { return o.Agent != "" && o.Claimed && o.ClaimAskedAt.IsZero() }

// sessionKey makes no two sessions equal: an agent may have several buyers for a name.
func sessionKey(o Order) string { return itemsKey(o.Items) + ":" + o.ID }

// replaceItems gives an order other items. Those that stay keep their auth codes. What
// a customer has ordered or claimed is theirs to choose: they would hold the names.
func (s *Service) replaceItems(ctx context.Context, actor registrar.Actor, o *Order, wanted []Wanted) error {
	theirs := o.Agent == ""
	if !theirs && o.Claimed {
		linked, err := s.cfg.Store.HasLinked(ctx, o.Customer, o.Agent)
		if err != nil {
			return err
		}
		theirs = !linked
	}
	if theirs {
		return fail(registrar.KindConflict, NotOpen)
	}
	fresh, err := s.newOrder(actor, Request{Items: wanted, Channel: o.Channel})
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

// teller is who an agent's order is for.
type teller struct {
	buyer Buyer
	// fitted is the registrant of a shadow account; nil if it does not suffice, or if
	// the order has a customer.
	fitted *Contact
	untold []string
}

// tell adds what an agent says of the buyer, and finds who the order is for.
func (s *Service) tell(ctx context.Context, o *Order, told *Contact) (teller, error) {
	if told != nil && o.Agent != "" {
		before := o.Contact.Email
		o.Contact = o.Contact.with(*told)
		if !o.Claimed && !strings.EqualFold(before, o.Contact.Email) {
			o.ClaimAskedAt = time.Time{} // whoever got a letter was not the buyer; the store voids its link
		}
	}
	if !o.Claimed && o.Contact.Email != "" {
		customer, found, err := s.cfg.Store.LinkedCustomer(ctx, o.Agent, o.Contact.Email)
		if err != nil {
			return teller{}, err
		}
		if found {
			o.Customer, o.Claimed, o.ClaimAskedAt = customer, true, time.Time{}
		}
	}
	if !o.Claimed {
		o.Email = o.Contact.Email
		return s.shadow(*o), nil
	}
	buyer, err := s.cfg.Store.BuyerOf(ctx, o.Customer)
	if err == nil && o.Agent != "" {
		o.Email = strings.ToLower(buyer.Email)
	}
	return teller{buyer: buyer}, err
}

// shadow is who an unclaimed order is for.
func (s *Service) shadow(o Order) teller {
	who := teller{buyer: Buyer{Customer: o.Customer, Email: o.Contact.Email, Language: cmp.Or(o.Contact.Language, "de")}}
	if s.cfg.Registrants == nil {
		return who
	}
	fitted, untold := s.cfg.Registrants.Fit(o.Contact)
	if who.untold = untold; len(untold) > 0 {
		return who
	}
	who.fitted = &fitted
	b := &who.buyer
	b.Told, b.Name, b.Organisation, b.Company, b.VATID = true, fitted.Name(), fitted.Organisation, fitted.Organisation != "", fitted.VATID
	b.Street, b.PostalCode, b.City, b.State = fitted.Street, fitted.PostalCode, fitted.City, fitted.State
	b.Country, b.Phone = fitted.Country, fitted.Phone
	return who
}

// who is whom an order is for as it stands.
func (s *Service) who(ctx context.Context, o Order) (teller, error) {
	if !o.Claimed {
		return s.shadow(o), nil
	}
	buyer, err := s.cfg.Store.BuyerOf(ctx, o.Customer)
	return teller{buyer: buyer}, err
}

// offer asks for an order that is not stored yet, prices it, and says what is
// missing. What can't be ordered is an error.
func (s *Service) offer(ctx context.Context, actor registrar.Actor, o *Order, who teller) (View, error) {
	wishes, err := s.wishes(*o, who.buyer)
	if err != nil {
		return View{}, err
	}
	answers, err := s.askFresh(ctx, actor, registrar.ForQuote, wishes)
	if err != nil {
		return View{}, err
	}
	if err := refusal(o.Items, answers); err != nil {
		return View{}, err
	}
	if err := s.price(ctx, o, who.buyer, answers); err != nil {
		return View{}, err
	}
	view := View{Order: *o, Owner: who.buyer}
	view.Missing, view.Needs = missing(*o, who.buyer, answers)
	return view, nil
}

// session is an order as its agent sees it now.
func (s *Service) session(ctx context.Context, actor registrar.Actor, o Order) (Session, error) {
	if o.State != AwaitingPayment && o.State != AwaitingVerification {
		return s.sessionOf(View{Order: o}, teller{})
	}
	who, err := s.who(ctx, o)
	if err != nil {
		return Session{}, err
	}
	view := View{Order: o, Owner: who.buyer}
	if err := s.review(ctx, actor, &view); err != nil {
		return Session{}, err
	}
	return s.sessionOf(view, who)
}

// beside is the session next to an error.
func (s *Service) beside(ctx context.Context, actor registrar.Actor, o Order, cause error) (Session, error) {
	session, err := s.session(ctx, actor, o)
	return session, cmp.Or(cause, err)
}

// sessionOf says a view in the words of sessions.
func (s *Service) sessionOf(view View, who teller) (Session, error) {
	o := view.Order
	session := Session{Order: o, Missing: view.Missing, Needs: view.Needs, Refused: view.Refused, Unasked: view.Unasked, AskedAt: view.AskedAt}
	switch o.State {
	case AwaitingPayment, AwaitingVerification:
		session.Status = NotReady
		if o.State == AwaitingPayment && len(view.Missing) == 0 && len(view.Refused) == 0 {
			session.Status = Ready
		}
		session.Untold = who.untold
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
