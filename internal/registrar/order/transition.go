package order

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// maxAttempts bounds the retries after version conflicts.
	maxAttempts = 20

	// Payments are polled at growing intervals, in case a webhook is lost.
	minPaymentPoll = 15 * time.Second
	maxPaymentPoll = 5 * time.Minute
	// The end of a provision item makes its order due; polling covers items that failed
	// before provisioning started, because the name was held.
	minProvisioningPoll = 10 * time.Second
	maxProvisioningPoll = time.Hour
	// Open verifications are polled, too.
	minIdentityPoll = time.Minute
	maxIdentityPoll = time.Hour
)

// The audit actions.
const (
	ActionCreated   registrar.Action = "order_made"
	ActionPaid      registrar.Action = "order_paid"
	ActionConfirmed registrar.Action = "order_confirmed"
	ActionConsent   registrar.Action = "order_consented"
	ActionEnded     registrar.Action = "order_done"
	ActionCanceled  registrar.Action = "order_canceled"
	ActionExpired   registrar.Action = "order_expired"
	ActionUnmatched registrar.Action = "payment_unmatched"
	ActionRefunded  registrar.Action = "payment_refunded"
	ActionIdentity  registrar.Action = "identity_verified"
)

// Actions returns all audit actions of this package.
func Actions() []registrar.Action {
	return []registrar.Action{
		ActionCreated, ActionPaid, ActionConfirmed, ActionConsent, ActionEnded, ActionCanceled, ActionExpired, ActionUnmatched, ActionRefunded, ActionIdentity,
		ActionClaimed,
	}
}

// clone returns a copy that shares no slices with o.
func (o Order) clone() Order {
	o.Items, o.Payments, o.Refunds = slices.Clone(o.Items), slices.Clone(o.Payments), slices.Clone(o.Refunds)
	return o
}

// payment returns the payment with an id, or nil.
func (o *Order) payment(id string) *Payment {
	for i := range o.Payments {
		if o.Payments[i].ID == id {
			return &o.Payments[i]
		}
	}
	return nil
}

// inFlight reports whether the payment may still be paid.
func (s PaymentState) inFlight() bool {
	return s == PaymentOpening || s == PaymentOpen || s == PaymentClosing
}

func (o *Order) inFlightPayment() *Payment {
	for i := range o.Payments {
		if o.Payments[i].State.inFlight() {
			return &o.Payments[i]
		}
	}
	return nil
}

// CapturedPayment returns the payment that pays for the order, or nil.
func (o *Order) CapturedPayment() *Payment {
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

// RefundsDue counts the refunds that are not made yet.
func (o *Order) RefundsDue() (due int) {
	for _, refund := range o.Refunds {
		if refund.Provider == "" {
			due++
		}
	}
	return due
}

func (o *Order) hasRefundsDue() bool { return o.RefundsDue() > 0 }

// provisioningEnded reports whether a provisioning order needs processing: all items
// have ended, or a refund must be recorded.
func (o *Order) provisioningEnded() bool {
	captured, all := o.CapturedPayment(), true
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

func (s *Service) pastExpiry(o Order) bool { return !s.now().Before(o.ExpiresAt) }

// releaseLease drops this node's lease and schedules the next check.
func (s *Service) releaseLease(o *Order) {
	clock := s.worker.Now()
	o.Node = ""
	switch {
	case o.hasRefundsDue():
		o.DueAt = clock.Add(jobs.Backoff(o.Attempts, minBackoff, maxBackoff))
	case o.State == AwaitingPayment:
		o.DueAt = s.expiryDueAt(*o)
	case o.State == AwaitingVerification:
		o.DueAt = s.expiryDueAt(*o)
		if o.Attempts > 0 { // a verification was started
			o.DueAt = earlier(o.DueAt, clock.Add(jobs.Backoff(o.Attempts, minIdentityPoll, maxIdentityPoll)))
		}
	case o.State == Paying:
		o.DueAt = clock.Add(jobs.Backoff(o.Attempts, minPaymentPoll, maxPaymentPoll))
	case o.State == Provisioning && o.provisioningEnded():
		o.DueAt = clock // an item has ended meanwhile
	case o.State == Provisioning:
		o.DueAt = clock.Add(jobs.Backoff(o.Attempts, minProvisioningPoll, maxProvisioningPoll))
	default:
		o.DueAt = time.Time{}
	}
}

// setState changes an order's state and releases its lease.
func (s *Service) setState(o *Order, state State) {
	if o.State != state {
		o.State, o.Attempts = state, 0
	}
	if state != Paying && state != Provisioning {
		o.Registrant = registrar.Registrant{}
	}
	if state.Final() {
		for i := range o.Items {
			o.Items[i].SealedCode = "" // no longer needed
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

// expiryDueAt converts the order's expiry from business time to wall clock time.
func (s *Service) expiryDueAt(o Order) time.Time {
	return s.worker.Now().Add(max(time.Second, o.ExpiresAt.Sub(s.now())))
}

// setLease takes the lease for one provider call. If the process dies, the order is
// processed at the next start, or by another node once the lease expires.
func (s *Service) setLease(o *Order) {
	o.Node, o.DueAt = s.cfg.Node, s.worker.LeaseEnd()
}

// transition applies one change. It returns false, and changes nothing, on a version
// conflict; on success m.To is what is stored.
func (s *Service) transition(ctx context.Context, m *Transition) (bool, error) {
	store, cancel := s.worker.StoreContext(ctx)
	defer cancel()
	m.To.Version = m.From.Version + 1
	m.To.UpdatedAt, m.At = s.now(), s.worker.Now()
	updated, err := s.cfg.Store.UpdateOrder(store, *m)
	if err != nil || !updated {
		return false, err
	}
	if m.To.State != m.From.State {
		s.cfg.OnStateChange(m.To.State)
		s.cfg.Logger.InfoContext(ctx, "order state changed", "order", m.To.ID, "from", string(m.From.State), "state", string(m.To.State))
	}
	if len(m.Mails) > 0 {
		s.cfg.MailQueued()
	}
	if !m.To.DueAt.IsZero() && !m.To.DueAt.After(m.At) {
		s.worker.Wake()
	}
	return true, nil
}

func (s *Service) reload(ctx context.Context, id string) (Order, error) {
	store, cancel := s.worker.StoreContext(ctx)
	defer cancel()
	o, found, err := s.cfg.Store.OrderByID(store, id)
	if err == nil && !found {
		err = fail(registrar.KindNotFound, NoSuchOrder)
	}
	return o, err
}

// updateWithRetry builds and applies a transition, reloading the order after version
// conflicts. build returns false if there is nothing to do.
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

// errBusy is returned after maxAttempts version conflicts.
func errBusy() error {
	return &registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultBusy, Detail: "too many version conflicts"}
}

func (s *Service) auditEvent(actor registrar.Actor, action registrar.Action, o Order) registrar.AuditEvent {
	return registrar.AuditEvent{Actor: actor, Action: action, Customer: o.Customer, Object: o.ID, At: s.now()}
}

func (s *Service) systemAuditEvent(action registrar.Action, o Order) registrar.AuditEvent {
	return s.auditEvent(registrar.Actor{Kind: registrar.ActorSystem, Through: o.ID}, action, o)
}
