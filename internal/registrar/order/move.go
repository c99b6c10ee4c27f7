package order

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// storing bounds what follows a call, also while the service stops.
	storing = 10 * time.Second
	// tries bounds how often a change is thought through anew because others
	// changed the order meanwhile.
	tries = 20

	// A page to pay at is looked at more and more rarely; a message of the provider
	// comes sooner if nothing is lost.
	firstLook = 15 * time.Second
	longLook  = 5 * time.Minute
	// The end of a line makes its order due. This is for what ended before it
	// began: a name that was held already.
	firstLines = 10 * time.Second
	longLines  = time.Hour
	// An identity that somebody is showing is asked about, too.
	firstIdentity = time.Minute
	longIdentity  = time.Hour
	// What the provider did not do is tried again, for ever.
	firstPause = 2 * time.Second
	longPause  = 10 * time.Minute
)

// What the audit tells.
const (
	ActionMade     registrar.Action = "order_made"
	ActionPaid     registrar.Action = "order_paid"
	ActionFree     registrar.Action = "order_confirmed"
	ActionConsent  registrar.Action = "order_consented"
	ActionDone     registrar.Action = "order_done"
	ActionCanceled registrar.Action = "order_canceled"
	ActionExpired  registrar.Action = "order_expired"
	ActionSurplus  registrar.Action = "payment_surplus"
	ActionRefunded registrar.Action = "payment_refunded"
	ActionIdentity registrar.Action = "identity_verified"
)

// Actions are all of them.
func Actions() []registrar.Action {
	return []registrar.Action{
		ActionMade, ActionPaid, ActionFree, ActionConsent, ActionDone, ActionCanceled, ActionExpired, ActionSurplus, ActionRefunded, ActionIdentity,
		ActionClaimed,
	}
}

// clone is a copy that can be changed without changing o.
func (o Order) clone() Order {
	o.Items, o.Payments, o.Refunds = slices.Clone(o.Items), slices.Clone(o.Payments), slices.Clone(o.Refunds)
	return o
}

// payment is the one with an id, nil if there is none.
func (o *Order) payment(id string) *Payment {
	for i := range o.Payments {
		if o.Payments[i].ID == id {
			return &o.Payments[i]
		}
	}
	return nil
}

// underWay says that the page may exist and be paid.
func (s PaymentState) underWay() bool {
	return s == PaymentOpening || s == PaymentOpen || s == PaymentClosing
}

// underWay is the payment for which the order is paying.
func (o *Order) underWay() *Payment {
	for i := range o.Payments {
		if o.Payments[i].State.underWay() {
			return &o.Payments[i]
		}
	}
	return nil
}

// kept is the payment that pays for the order.
func (o *Order) kept() *Payment {
	for i := range o.Payments {
		if o.Payments[i].State == PaymentKept {
			return &o.Payments[i]
		}
	}
	return nil
}

func (o *Order) item(id string) *Item {
	for i := range o.Items {
		if o.Items[i].ID == id {
			return &o.Items[i]
		}
	}
	return nil
}

// RefundsDue is how many refunds are not made yet.
func (o *Order) RefundsDue() (due int) {
	for _, refund := range o.Refunds {
		if refund.Provider == "" {
			due++
		}
	}
	return due
}

// refundsDue says that money waits to go back.
func (o *Order) refundsDue() bool { return o.RefundsDue() > 0 }

// linesEnded says that the lines of a paid order have left something to do: all are
// at their end, or money is owed for one.
func (o *Order) linesEnded() bool {
	kept, all := o.kept(), true
	for _, item := range o.Items {
		owed := func(r Refund) bool { return r.Item == item.ID }
		switch item.State {
		case ItemActive, ItemRefunded:
		case ItemFailed:
			if kept != nil && item.Gross > 0 && !slices.ContainsFunc(o.Refunds, owed) {
				return true
			}
		default:
			all = false
		}
	}
	return all
}

// over says that the price's end has come.
func (s *Service) over(o Order) bool { return !s.now().Before(o.ExpiresAt) }

// rest gives an order out of this node's hands, until somebody has to look at it
// again.
func (s *Service) rest(o *Order) {
	clock := s.clock()
	o.Node = ""
	switch {
	case o.refundsDue():
		o.DueAt = clock.Add(duty.Pause(o.Attempts, firstPause, longPause))
	case o.State == AwaitingPayment:
		o.DueAt = s.atEnd(*o)
	case o.State == AwaitingVerification:
		o.DueAt = s.atEnd(*o)
		if o.Attempts > 0 { // somebody has begun to show who they are
			o.DueAt = earlier(o.DueAt, clock.Add(duty.Pause(o.Attempts, firstIdentity, longIdentity)))
		}
	case o.State == Paying:
		o.DueAt = clock.Add(duty.Pause(max(1, o.Attempts), firstLook, longLook))
	case o.State == Provisioning && o.linesEnded():
		o.DueAt = clock // a line has ended while this was written
	case o.State == Provisioning:
		o.DueAt = clock.Add(duty.Pause(max(1, o.Attempts), firstLines, longLines))
	default:
		o.DueAt = time.Time{}
	}
}

// enter brings an order to a state and gives it out of this node's hands.
func (s *Service) enter(o *Order, state State) {
	if o.State != state {
		o.State, o.Attempts = state, 0
	}
	if state != Paying && state != Provisioning {
		o.Registrant = registrar.Holder{}
	}
	if state.Final() {
		for i := range o.Items {
			o.Items[i].SealedCode = "" // nobody needs a name's auth code any more
		}
	}
	s.rest(o)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// atEnd is the true time at which the price ends by the time of the business.
func (s *Service) atEnd(o Order) time.Time {
	return s.clock().Add(max(time.Second, o.ExpiresAt.Sub(s.now())))
}

// hold keeps an order in this node's hands for one call: if the process dies, it
// is taken up at the next start, or by another node after the lease.
func (s *Service) hold(o *Order) {
	o.Node, o.DueAt = s.cfg.Node, s.clock().Add(s.cfg.Deadline+2*storing+time.Minute)
}

// move makes one change. It is false, and nothing has changed, if the order is not
// any more what it was; on success m.Order is what is stored.
func (s *Service) move(ctx context.Context, m *Move) (bool, error) {
	store, cancel := context.WithTimeout(context.WithoutCancel(ctx), storing)
	defer cancel()
	m.Order.Version = m.Was.Version + 1
	m.Order.UpdatedAt, m.At = s.now(), s.clock()
	moved, err := s.cfg.Store.MoveOrder(store, *m)
	if err != nil || !moved {
		return false, err
	}
	if m.Order.State != m.Was.State {
		s.cfg.Reached(m.Order.State)
		s.cfg.Logger.InfoContext(ctx, "an order has come further", "order", m.Order.ID, "from", string(m.Was.State), "state", string(m.Order.State))
	}
	if len(m.Letters) > 0 {
		s.cfg.LettersWaiting()
	}
	if !m.Order.DueAt.IsZero() && !m.Order.DueAt.After(m.At) {
		s.loop.Wake()
	}
	return true, nil
}

// again reads an order that others have changed.
func (s *Service) again(ctx context.Context, id string) (Order, error) {
	store, cancel := context.WithTimeout(context.WithoutCancel(ctx), storing)
	defer cancel()
	o, found, err := s.cfg.Store.OrderByID(store, id)
	if err == nil && !found {
		err = fail(registrar.KindNotFound, NoSuchOrder)
	}
	return o, err
}

// change thinks and writes until nobody is in between. think says with false that
// there is nothing to do.
func (s *Service) change(ctx context.Context, o Order, think func(was Order) (Move, bool)) (Order, error) {
	for range tries {
		m, wanted := think(o)
		if !wanted {
			return o, nil
		}
		m.Was = o
		moved, err := s.move(ctx, &m)
		if err != nil {
			return o, err
		}
		if moved {
			return m.Order, nil
		}
		if o, err = s.again(ctx, o.ID); err != nil {
			return o, err
		}
	}
	return o, errBusy()
}

// errBusy is for an order that too many change at once.
func errBusy() error {
	return &registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultBusy, Detail: "the order is being changed by others"}
}

func (s *Service) deed(actor registrar.Actor, action registrar.Action, o Order) registrar.Deed {
	return registrar.Deed{Actor: actor, Action: action, Customer: o.Customer, Object: o.ID, At: s.now()}
}

func (s *Service) ownDeed(action registrar.Action, o Order) registrar.Deed {
	return s.deed(registrar.Actor{Kind: registrar.ActorSystem, Through: o.ID}, action, o)
}

// calling bounds a call to the provider. When the service stops, a call under way
// has a short time left: an answer that arrives saves a question at the next start.
func (s *Service) calling(ctx context.Context) (context.Context, context.CancelFunc) {
	const grace = 5 * time.Second
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Deadline)
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(grace):
			cancel()
		case <-call.Done():
		}
	})
	return call, func() { stop(); cancel() }
}

// waits says that the provider has decided nothing.
func waits(err error) bool {
	switch registrar.KindOf(err) {
	case registrar.KindUpstream, registrar.KindRateLimited, registrar.KindInternal:
		return true
	default:
		return false
	}
}
