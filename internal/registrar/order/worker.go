package order

import (
	"context"
	"errors"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const concurrency = 16

func (s *Service) newWorker() *jobs.Worker[Order] {
	return &jobs.Worker[Order]{
		Name: "orders", Logger: s.cfg.Logger, Clock: s.cfg.Clock, ListDue: s.listDue,
		Key: func(o Order) string { return o.ID }, Attempts: func(o Order) int { return o.Attempts },
		Handle: s.process, Postpone: s.postpone, OnRetry: s.onRetry, RecordError: s.cfg.RecordError,
		Deadline: s.cfg.Deadline, MinBackoff: minBackoff, MaxBackoff: maxBackoff, Concurrency: concurrency,
	}
}

func (s *Service) listDue(ctx context.Context, now time.Time, limit int) ([]Order, error) {
	orders, err := s.cfg.Store.ListDueOrders(ctx, now, limit)
	if err != nil {
		return nil, err
	}
	oldest := time.Duration(0)
	if len(orders) > 0 {
		oldest = max(0, now.Sub(orders[0].DueAt))
	}
	s.cfg.OnOldestDue(oldest)
	return orders, nil
}

// Wake announces a due order. It never blocks.
func (s *Service) Wake() { s.worker.Wake() }

// Run processes due orders until ctx ends. Orders whose lease this node held when it
// stopped are due when it starts (store.DB.ClaimNode).
func (s *Service) Run(ctx context.Context) { s.worker.Run(ctx) }

func (s *Service) process(ctx context.Context, o Order) (_ Order, err error) {
	if ctx.Err() != nil {
		return o, nil //nolint:nilerr // nothing was done, and the next run does it
	}
	known := o.Refunds // their calls may have been sent
	what := ""
	switch o.State {
	case AwaitingPayment, AwaitingVerification:
		what = "identity"
		o, err = s.checkWaiting(ctx, o)
	case Paying:
		what = "payment"
		o, err = s.checkPayment(ctx, o)
	case Provisioning:
		what = "items"
		o, err = s.finishProvisioning(ctx, o)
	default: // final: only refunds are left
	}
	if err == nil && o.RefundsDue() > 0 {
		what = "refund"
		if o, err = s.acquireLease(ctx, o); err == nil {
			o, err = s.makeRefunds(ctx, o, known)
		}
	}
	if err != nil {
		err = failedCall{what, err}
	}
	return o, err
}

// acquireLease takes the lease for provider calls, unless another worker holds it.
func (s *Service) acquireLease(ctx context.Context, o Order) (Order, error) {
	if o.Node != "" && o.DueAt.After(s.worker.Now()) {
		if o.Node == s.cfg.Node {
			return o, nil // this node has just stored it
		}
		return o, jobs.ErrSettled
	}
	now := o.clone()
	now.Attempts++
	s.setLease(&now)
	m := Transition{From: o, To: now}
	err := s.transition(ctx, &m)
	if errors.Is(err, errConflict) {
		return o, err
	}
	return m.To, err // a lease whose commit failed may be stored; if not, the order is still due
}

func (s *Service) checkWaiting(ctx context.Context, o Order) (Order, error) {
	if o.State == AwaitingVerification && !s.pastExpiry(o) {
		if err := s.checkIdentity(ctx, o.Customer); err != nil {
			o.Attempts++ // slows down polling
			return o, err
		}
		var err error
		if o, err = s.reload(ctx, o.ID); err != nil {
			return o, err
		}
	}
	o, err := s.expire(ctx, o)
	if err != nil || !o.State.waiting() || o.DueAt.After(s.worker.Now()) || o.RefundsDue() > 0 {
		return o, err
	}
	now := o.clone()
	if now.State == AwaitingVerification && now.Attempts > 0 {
		now.Attempts++
	}
	return s.storeRelease(ctx, o, now)
}

func (s *Service) storeRelease(ctx context.Context, was, now Order) (Order, error) {
	s.releaseLease(&now)
	m := Transition{From: was, To: now}
	err := s.transition(ctx, &m)
	return m.To, err
}

func (s *Service) checkPayment(ctx context.Context, o Order) (Order, error) {
	o, err := s.acquireLease(ctx, o)
	if err != nil {
		return o, err
	}
	payment := o.inFlightPayment()
	if payment == nil {
		return o, &registrar.Error{Kind: registrar.KindInternal, Detail: "order is paying but has no payment in flight"}
	}
	// The process that was charging is gone, and with it the token. A saved method is
	// charged again by the next attempt of its renewal.
	if payment.Kind.byIntent() || payment.State == PaymentClosing {
		if o, err = s.closePayment(ctx, o); err != nil {
			return o, jobs.ErrSettled // postponed by closePayment
		}
		return o, nil
	}
	if payment.State == PaymentOpening {
		if !s.now().Before(payment.EndsAt) {
			// The provider would refuse to create the page now, and its URL is unknown.
			return s.abandonPayment(ctx, o, payment.ID, "")
		}
		buyer, err := s.cfg.Store.GetBuyer(ctx, o.Customer)
		if err != nil {
			return o, err
		}
		if o, _, err = s.openPage(ctx, o, buyer); err != nil {
			return o, jobs.ErrSettled // postponed by openPage
		}
		return o, nil
	}
	if o, err = s.refreshPayment(ctx, o, payment.ID); err != nil || o.State != Paying || o.Node != s.cfg.Node {
		return o, err
	}
	return s.storeRelease(ctx, o, o.clone())
}

func (s *Service) finishProvisioning(ctx context.Context, o Order) (Order, error) {
	owed := len(o.Refunds)
	o, err := s.update(ctx, o, func(m *Transition) bool { return s.concludeProvisioning(ctx, m) })
	if err != nil {
		return o, err
	}
	if len(o.Refunds) > owed {
		failpoint.Hit("refund_written")
	}
	if o.State.Final() {
		failpoint.Hit("settled")
	}
	if o.State != Provisioning || o.RefundsDue() > 0 || o.DueAt.After(s.worker.Now()) {
		return o, nil
	}
	now := o.clone()
	now.Attempts++
	return s.storeRelease(ctx, o, now)
}
