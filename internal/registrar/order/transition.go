package order

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// storeTimeout bounds what follows a call, also while the service stops.
	storeTimeout = 10 * time.Second
	// maxAttempts bounds how often a change is thought through anew because others
	// changed the order meanwhile.
	maxAttempts = 20

	// A page to pay at is looked at more and more rarely; a message of the provider
	// comes sooner if nothing is lost.
	minPaymentPoll = 15 * time.Second
	maxPaymentPoll = 5 * time.Minute
	// The end of a line makes its order due. This is for what ended before it
	// began: a name that was held already.
	minProvisioningPoll = 10 * time.Second
	maxProvisioningPoll = time.Hour
	// An identity that somebody is showing is asked about, too.
	minIdentityPoll = time.Minute
	maxIdentityPoll = time.Hour
	// What the provider did not do is tried again, for ever.
	minBackoff = 2 * time.Second
	maxBackoff = 10 * time.Minute
)

// What the audit tells.
const (
	ActionCreated   registrar.Action = "order_made"
	ActionPaid      registrar.Action = "order_paid"
	ActionConfirmed registrar.Action = "order_confirmed"
	ActionConsent   registrar.Action = "order_consented"
	ActionEnded     registrar.Action = "order_done"
	ActionCanceled  registrar.Action = "order_canceled"
	ActionExpired   registrar.Action = "order_expired"
	ActionUnmatched registrar.Action = "payment_surplus"
	ActionRefunded  registrar.Action = "payment_refunded"
	ActionIdentity  registrar.Action = "identity_verified"
)

// Actions are all of them.
func Actions() []registrar.Action {
	return []registrar.Action{
		ActionCreated, ActionPaid, ActionConfirmed, ActionConsent, ActionEnded, ActionCanceled, ActionExpired, ActionUnmatched, ActionRefunded, ActionIdentity,
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

// inFlight says that the page may exist and be paid.
func (s PaymentState) inFlight() bool {
	return s == PaymentOpening || s == PaymentOpen || s == PaymentClosing
}

// inFlightPayment is the payment for which the order is paying.
func (o *Order) inFlightPayment() *Payment {
	for i := range o.Payments {
		if o.Payments[i].State.inFlight() {
			return &o.Payments[i]
		}
	}
	return nil
}

// capturedPayment is the payment that pays for the order.
func (o *Order) capturedPayment() *Payment {
	for i := range o.Payments {
		if o.Payments[i].State == PaymentCaptured {
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

// hasRefundsDue says that money waits to go back.
func (o *Order) hasRefundsDue() bool { return o.RefundsDue() > 0 }

// provisioningEnded says that the lines of a paid order have left something to do: all are
// at their end, or money is owed for one.
func (o *Order) provisioningEnded() bool {
	captured, all := o.capturedPayment(), true
	for _, item := range o.Items {
		owed := func(r Refund) bool { return r.Item == item.ID }
		switch item.State {
		case ItemActive, ItemRefunded:
		case ItemFailed:
			if captured != nil && item.Gross > 0 && !slices.ContainsFunc(o.Refunds, owed) {
				return true
			}
		default:
			all = false
		}
	}
	return all
}

// pastExpiry says that the price's end has come.
func (s *Service) pastExpiry(o Order) bool { return !s.now().Before(o.ExpiresAt) }

// releaseLease gives an order out of this node's hands, until somebody has to look at it
// again.
func (s *Service) releaseLease(o *Order) {
	clock := s.clock()
	o.Node = ""
	switch {
	case o.hasRefundsDue():
		o.DueAt = clock.Add(jobs.Backoff(o.Attempts, minBackoff, maxBackoff))
	case o.State == AwaitingPayment:
		o.DueAt = s.expiryDueAt(*o)
	case o.State == AwaitingVerification:
		o.DueAt = s.expiryDueAt(*o)
		if o.Attempts > 0 { // somebody has begun to show who they are
			o.DueAt = earlier(o.DueAt, clock.Add(jobs.Backoff(o.Attempts, minIdentityPoll, maxIdentityPoll)))
		}
	case o.State == Paying:
		o.DueAt = clock.Add(jobs.Backoff(max(1, o.Attempts), minPaymentPoll, maxPaymentPoll))
	case o.State == Provisioning && o.provisioningEnded():
		o.DueAt = clock // a line has ended while this was written
	case o.State == Provisioning:
		o.DueAt = clock.Add(jobs.Backoff(max(1, o.Attempts), minProvisioningPoll, maxProvisioningPoll))
	default:
		o.DueAt = time.Time{}
	}
}

// setState brings an order to a state and gives it out of this node's hands.
func (s *Service) setState(o *Order, state State) {
	if o.State != state {
		o.State, o.Attempts = state, 0
	}
	if state != Paying && state != Provisioning {
		o.Registrant = registrar.Registrant{}
	}
	if state.Final() {
		for i := range o.Items {
			o.Items[i].SealedCode = "" // nobody needs a name's auth code any more
		}
	}
	s.releaseLease(o)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// expiryDueAt is the true time at which the price ends by the time of the business.
func (s *Service) expiryDueAt(o Order) time.Time {
	return s.clock().Add(max(time.Second, o.ExpiresAt.Sub(s.now())))
}

// setLease keeps an order in this node's hands for one call: if the process dies, it
// is taken up at the next start, or by another node after the lease.
func (s *Service) setLease(o *Order) {
	o.Node, o.DueAt = s.cfg.Node, s.clock().Add(s.cfg.Deadline+2*storeTimeout+time.Minute)
}

// transition makes one change. It is false, and nothing has changed, if the order is not
// any more what it was; on success m.Order is what is stored.
func (s *Service) transition(ctx context.Context, m *Transition) (bool, error) {
	store, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	m.To.Version = m.From.Version + 1
	m.To.UpdatedAt, m.At = s.now(), s.clock()
	updated, err := s.cfg.Store.UpdateOrder(store, *m)
	if err != nil || !updated {
		return false, err
	}
	if m.To.State != m.From.State {
		s.cfg.OnStateChange(m.To.State)
		s.cfg.Logger.InfoContext(ctx, "an order has come further", "order", m.To.ID, "from", string(m.From.State), "state", string(m.To.State))
	}
	if len(m.Mails) > 0 {
		s.cfg.MailQueued()
	}
	if !m.To.DueAt.IsZero() && !m.To.DueAt.After(m.At) {
		s.loop.Wake()
	}
	return true, nil
}

// reload reads an order that others have changed.
func (s *Service) reload(ctx context.Context, id string) (Order, error) {
	store, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	o, found, err := s.cfg.Store.OrderByID(store, id)
	if err == nil && !found {
		err = fail(registrar.KindNotFound, NoSuchOrder)
	}
	return o, err
}

// updateWithRetry thinks and writes until nobody is in between. think says with false that
// there is nothing to do.
func (s *Service) updateWithRetry(ctx context.Context, o Order, build func(was Order) (Transition, bool)) (Order, error) {
	for range maxAttempts {
		m, wanted := build(o)
		if !wanted {
			return o, nil
		}
		m.From = o
		updated, err := s.transition(ctx, &m)
		if err != nil {
			return o, err
		}
		if updated {
			return m.To, nil
		}
		if o, err = s.reload(ctx, o.ID); err != nil {
			return o, err
		}
	}
	return o, errBusy()
}

// errBusy is for an order that too many change at once.
func errBusy() error {
	return &registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultBusy, Detail: "the order is being changed by others"}
}

func (s *Service) auditEvent(actor registrar.Actor, action registrar.Action, o Order) registrar.AuditEvent {
	return registrar.AuditEvent{Actor: actor, Action: action, Customer: o.Customer, Object: o.ID, At: s.now()}
}

func (s *Service) systemAuditEvent(action registrar.Action, o Order) registrar.AuditEvent {
	return s.auditEvent(registrar.Actor{Kind: registrar.ActorSystem, Through: o.ID}, action, o)
}

// callContext bounds a call to the provider. When the service stops, a call under way
// has a short time left: an answer that arrives saves a question at the next start.
func (s *Service) callContext(ctx context.Context) (context.Context, context.CancelFunc) {
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

// isRetryable says that the provider has decided nothing.
func isRetryable(err error) bool {
	switch registrar.KindOf(err) {
	case registrar.KindUpstream, registrar.KindRateLimited, registrar.KindInternal:
		return true
	default:
		return false
	}
}
