package order

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	maxAttempts = 20 // after version conflicts

	// Payments are polled at growing intervals, in case a webhook is lost.
	minPaymentPoll = 15 * time.Second
	maxPaymentPoll = 5 * time.Minute
	// The end of a provision item makes its order due. Polling covers those that failed at
	// once, because the name was held.
	minProvisioningPoll = 10 * time.Second
	maxProvisioningPoll = time.Hour
	minIdentityPoll     = time.Minute
	maxIdentityPoll     = time.Hour
)

// The audit actions.
const (
	ActionCreated   registrar.Action = "order_created"
	ActionChanged   registrar.Action = "order_changed" // items were added to or removed from a renewal basket
	ActionPaid      registrar.Action = "order_paid"
	ActionConfirmed registrar.Action = "order_confirmed"
	ActionConsent   registrar.Action = "order_consented"
	ActionEnded     registrar.Action = "order_ended"
	ActionCanceled  registrar.Action = "order_canceled"
	ActionExpired   registrar.Action = "order_expired"
	ActionUnmatched registrar.Action = "payment_unmatched"
	ActionRefunded  registrar.Action = "payment_refunded"
	ActionIdentity  registrar.Action = "identity_verified"

	ActionRefundOrdered  registrar.Action = "refund_ordered"  // by an operator
	ActionRefundBooked   registrar.Action = "refund_booked"   // made at the provider
	ActionRefundRefused  registrar.Action = "refund_refused"  // by the provider
	ActionRefundReturned registrar.Action = "refund_returned" // by the customer's bank
	ActionRefundAssigned registrar.Action = "refund_assigned" // to items, by an operator
	ActionRefundSettled  registrar.Action = "refund_settled"  // an operator closed a returned or refused refund
	ActionDomainKept     registrar.Action = "refunded_domain_kept"

	actionClaimed registrar.Action = "order_claimed"
)

func (o Order) clone() Order {
	o.Items, o.Payments, o.Refunds = slices.Clone(o.Items), slices.Clone(o.Payments), slices.Clone(o.Refunds)
	return o
}

// find returns the first element that matches, or nil.
func find[T any](list []T, match func(T) bool) *T {
	if i := slices.IndexFunc(list, match); i >= 0 {
		return &list[i]
	}
	return nil
}

func (o *Order) payment(id string) *Payment {
	return find(o.Payments, func(p Payment) bool { return p.ID == id })
}

// inFlight reports whether the payment may still be paid.
func (s PaymentState) inFlight() bool {
	return s == PaymentOpening || s == PaymentOpen || s == PaymentClosing
}

func (o *Order) inFlightPayment() *Payment {
	return find(o.Payments, func(p Payment) bool { return p.State.inFlight() })
}

func (o *Order) CapturedPayment() *Payment {
	return find(o.Payments, func(p Payment) bool { return p.State == PaymentCaptured })
}

func (o *Order) item(id string) *Item {
	return find(o.Items, func(i Item) bool { return i.ID == id })
}

// RefundsDue counts the refunds that are not made yet.
func (o *Order) RefundsDue() (due int) {
	for _, refund := range o.Refunds {
		if refund.Due() {
			due++
		}
	}
	return due
}

// provisioningEnded reports whether all items have ended, or a failure must be recorded.
func (o *Order) provisioningEnded() bool {
	all := true
	for _, item := range o.Items {
		switch item.State {
		case ItemActive, ItemRefunded:
		case ItemFailed:
			if o.owesRefund(item) || o.owesFailureMail(item) {
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
	case o.RefundsDue() > 0:
		o.DueAt = clock.Add(jobs.Backoff(o.Attempts, minBackoff, maxBackoff))
	case o.State.waiting():
		delay := max(time.Second, o.ExpiresAt.Sub(s.now()))    // expiry is business time
		if o.State == AwaitingVerification && o.Attempts > 0 { // a verification was started
			delay = min(delay, jobs.Backoff(o.Attempts, minIdentityPoll, maxIdentityPoll))
		}
		o.DueAt = clock.Add(delay)
	case o.State == Paying:
		o.DueAt = clock.Add(jobs.Backoff(o.Attempts, minPaymentPoll, maxPaymentPoll))
	case o.State == Provisioning && o.provisioningEnded():
		o.DueAt = clock // an item has ended meanwhile
	case o.State == Provisioning:
		delay := jobs.Backoff(o.Attempts, minProvisioningPoll, maxProvisioningPoll)
		if left := o.PaidAt.Add(delayNoticeAfter).Sub(s.now()); left > 0 {
			delay = min(delay, left)
		}
		o.DueAt = clock.Add(delay)
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
		for i := range o.Items {
			o.Items[i].Registrant = registrar.Registrant{}
		}
	}
	if state.Final() {
		for i := range o.Items {
			o.Items[i].SealedCode = "" // no longer needed
		}
	}
	s.releaseLease(o)
}

// setLease takes the lease for one provider call. If the process dies, the order is
// processed at the next start, or by another node once the lease expires.
func (s *Service) setLease(o *Order) {
	o.Node, o.DueAt = s.cfg.Node, s.worker.LeaseEnd()
}

// errConflict is a version conflict: the caller reloads the order and decides again. A worker
// leaves the order to the worker that changed it.
var errConflict = fmt.Errorf("order: version conflict: %w", jobs.ErrSettled)

// transition applies one change, after which m.To is what is stored, or returns errConflict.
func (s *Service) transition(ctx context.Context, m *Transition) error {
	store, cancel := s.worker.StoreContext(ctx)
	defer cancel()
	m.To.Version = m.From.Version + 1
	m.To.UpdatedAt, m.At = s.now(), s.worker.Now()
	m.addDelayedMail()
	updated, err := s.cfg.Store.UpdateOrder(store, *m)
	switch {
	case err != nil:
		return err
	case !updated:
		return errConflict
	}
	if m.To.State != m.From.State {
		s.cfg.OnStateChange(m.To.State)
		s.cfg.Logger.InfoContext(ctx, "order state changed", "order", m.To.ID, "from", string(m.From.State), "state", string(m.To.State))
	}
	for _, refund := range m.RefundsMade() {
		s.cfg.OnRefund(refund.ReasonOf())
	}
	if len(m.Mails) > 0 {
		s.cfg.MailQueued()
	}
	if VisibleToAgent(m.From, m.To) {
		s.cfg.WebhookQueued()
	}
	if m.Provision {
		failpoint.Hit("paid_written")
		s.cfg.ItemsPaid(m.To.Channel == ChannelRenewal)
	}
	if !m.To.DueAt.IsZero() && !m.To.DueAt.After(m.At) {
		s.worker.Wake()
	}
	return nil
}

func (s *Service) reload(ctx context.Context, id string) (Order, error) {
	store, cancel := s.worker.StoreContext(ctx)
	defer cancel()
	return existing(s.cfg.Store.OrderByID(store, id))
}

// existing turns a missing order into NoSuchOrder.
func existing(o Order, found bool, err error) (Order, error) {
	if err == nil && !found {
		err = fail(registrar.KindNotFound, NoSuchOrder)
	}
	return o, err
}

// update changes an order, reloading it after version conflicts. change gets a transition
// to the same state and returns false if there is nothing to do.
func (s *Service) update(ctx context.Context, o Order, change func(m *Transition) bool) (Order, error) {
	for range maxAttempts {
		m := Transition{From: o, To: o.clone()}
		if !change(&m) {
			return o, nil
		}
		err := s.transition(ctx, &m)
		if err == nil {
			return m.To, nil
		}
		if errors.Is(err, errConflict) {
			o, err = s.reload(ctx, o.ID)
		}
		if err != nil {
			return o, err
		}
	}
	return o, errBusy()
}

// updatePayment is update for a payment, unless its state is no longer this one.
func (s *Service) updatePayment(ctx context.Context, o Order, id string, in PaymentState, change func(m *Transition, mine *Payment)) (Order, error) {
	return s.update(ctx, o, func(m *Transition) bool {
		mine := m.To.payment(id)
		if mine == nil || mine.State != in {
			return false
		}
		mine.UpdatedAt = s.now()
		change(m, mine)
		return true
	})
}

func errBusy() error {
	return &registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultBusy, Detail: "too many version conflicts"}
}

func (s *Service) auditEvent(actor registrar.Actor, action registrar.Action, o Order) registrar.AuditEvent {
	return registrar.AuditEvent{Actor: actor, Action: action, Customer: o.Customer, Object: o.ID, At: s.now()}
}

func (s *Service) systemAuditEvent(action registrar.Action, o Order) registrar.AuditEvent {
	return s.auditEvent(registrar.Actor{Kind: registrar.ActorSystem, Through: o.ID}, action, o)
}

// refundAuditEvent is a systemAuditEvent about a refund of the order.
func (s *Service) refundAuditEvent(action registrar.Action, o Order, refund string) registrar.AuditEvent {
	event := s.systemAuditEvent(action, o)
	event.Refund = refund
	return event
}
