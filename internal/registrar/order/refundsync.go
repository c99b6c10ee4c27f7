package order

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// refundWindow is how far back refunds are listed: a bank may return one weeks later.
	refundWindow = 40 * 24 * time.Hour
	// refundSyncInterval is how often they are listed, in case a webhook is lost.
	refundSyncInterval = 24 * time.Hour
	// refundSyncRetry is the delay after a listing failed, and refundSyncTimeout bounds one.
	refundSyncRetry, refundSyncTimeout = 10 * time.Minute, time.Hour
)

// RunRefundSync lists the provider's refunds once a day until ctx ends.
func (s *Service) RunRefundSync(ctx context.Context) {
	for delay := refundSyncRetry; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(delay):
		}
		delay = refundSyncInterval
		call, cancel := context.WithTimeout(ctx, refundSyncTimeout)
		if err := s.SyncAllRefunds(call); err != nil && ctx.Err() == nil {
			s.cfg.Logger.WarnContext(ctx, "refunds not compared with the payment provider", "error", err.Error())
			delay = refundSyncRetry
		}
		cancel()
	}
}

// SyncAllRefunds books the refunds of the last weeks that differ from ours.
func (s *Service) SyncAllRefunds(ctx context.Context) error {
	for theirs, err := range s.cfg.Provider.RefundsSince(ctx, s.cfg.Now().Add(-refundWindow)) {
		if err != nil {
			return err
		}
		if theirs.Intent == "" {
			continue
		}
		o, found, err := s.cfg.Store.OrderByIntent(ctx, theirs.Intent)
		if err != nil {
			return err
		}
		payment := find(o.Payments, func(p Payment) bool { return p.Intent == theirs.Intent })
		if !found || payment == nil || isBooked(o, theirs) {
			continue
		}
		if _, err := s.syncRefunds(ctx, o, payment.ID); err != nil {
			return err
		}
	}
	return nil
}

// isBooked reports whether our refund says the same as the provider's.
func isBooked(o Order, theirs ProviderRefund) bool {
	ours := find(o.Refunds, func(r Refund) bool { return r.Provider == theirs.ID || r.ID == theirs.Refund && theirs.Refund != "" })
	if ours == nil {
		return theirs.Failed
	}
	return ours.Provider == theirs.ID && ours.Returned() == theirs.Failed
}

// syncRefunds compares the refunds of a payment with the provider's and books the differences:
// refunds that were made there, and those that the bank returned.
func (s *Service) syncRefunds(ctx context.Context, o Order, id string) (Order, error) {
	payment := o.payment(id)
	if payment == nil || payment.Intent == "" {
		return o, nil
	}
	switch payment.State {
	case PaymentCaptured, PaymentUnmatched, PaymentRefunded:
	default:
		return o, nil
	}
	call, cancel := s.worker.CallContext(ctx)
	listed, err := s.cfg.Provider.ListRefunds(call, payment.Intent)
	cancel()
	if err != nil {
		return o, err
	}
	return s.update(ctx, o, func(m *Transition) bool {
		changed := false
		for _, theirs := range listed {
			if !isBooked(m.To, theirs) {
				changed = s.bookRefund(ctx, m, id, theirs) || changed
			}
		}
		if changed {
			s.releaseAfterRefund(&m.To)
		}
		return changed
	})
}

// bookRefund records one refund of the provider that differs from ours.
func (s *Service) bookRefund(ctx context.Context, m *Transition, payment string, theirs ProviderRefund) bool {
	o := &m.To
	ours := find(o.Refunds, func(r Refund) bool { return r.Provider == theirs.ID || r.ID == theirs.Refund })
	if ours == nil {
		return s.bookForeign(ctx, m, payment, theirs)
	}
	if ours.Provider == "" {
		s.markMade(m, ours, theirs.ID)
	}
	if theirs.Failed && ours.Made() {
		ours.Failure, ours.FailedAt, ours.Task = ReturnedByBank, s.now(), TaskReturned
		m.AuditEvents = append(m.AuditEvents, s.refundAuditEvent(ActionRefundReturned, *o, ours.ID))
		m.Mails = append(m.Mails, returnedMail(*o, *ours))
		s.cfg.Logger.WarnContext(ctx, "refund returned by the bank, operator action required", "order", o.ID, "refund", ours.ID)
	}
	return true
}

// bookForeign records a refund that was made at the provider. If what is due no longer fits
// into the payment, the newest due refunds are superseded by it.
func (s *Service) bookForeign(ctx context.Context, m *Transition, payment string, theirs ProviderRefund) bool {
	o, now := &m.To, s.now()
	s.cfg.Logger.WarnContext(ctx, "refund made at the payment provider", "order", o.ID, "provider_refund", theirs.ID)
	booked := Refund{ID: registrar.NewID("ref_", now), Payment: payment, Amount: theirs.Amount, Source: ByProvider, CreatedAt: now}
	if o.payment(payment).State != PaymentCaptured { // it has no invoice
		same := func(r Refund) bool { return r.Payment == payment && r.Due() && r.Amount == theirs.Amount }
		if due := find(o.Refunds, same); due != nil {
			m.AuditEvents = append(m.AuditEvents, s.refundAuditEvent(ActionRefundBooked, *o, due.ID))
			s.markMade(m, due, theirs.ID)
			return true
		}
		booked.Provider, booked.MadeAt = theirs.ID, now
		m.AuditEvents = append(m.AuditEvents, s.refundAuditEvent(ActionRefundBooked, *o, booked.ID))
		o.Refunds = append(o.Refunds, booked)
		return true
	}
	m.AuditEvents = append(m.AuditEvents, s.refundAuditEvent(ActionRefundBooked, *o, booked.ID))
	for i := len(o.Refunds) - 1; i >= 0 && o.Remaining() < theirs.Amount; i-- {
		if r := &o.Refunds[i]; r.Due() && r.Payment == payment {
			r.Failure, r.FailedAt = Superseded, now
		}
	}
	switch left := o.Remaining(); {
	case theirs.Amount > left: // an operator has paid there what the bank returned
		if returned := find(o.Refunds, func(r Refund) bool { return r.Task == TaskReturned && r.Amount == theirs.Amount }); returned != nil {
			booked.Replaces, booked.Parts, returned.Task = returned.ID, slices.Clone(o.PartsOf(*returned)), TaskNone
		} else if returned := find(o.Refunds, Refund.Returned); returned != nil {
			booked.Replaces = returned.ID
		}
	case theirs.Amount == left, len(o.Items) == 1:
		booked.Parts = o.divide(theirs.Amount)
	default:
		booked.Parts, booked.Task = o.withVAT([]RefundPart{{Gross: theirs.Amount}}), TaskAssign
	}
	o.Refunds = append(o.Refunds, booked)
	last := &o.Refunds[len(o.Refunds)-1]
	s.markMade(m, last, theirs.ID)
	if last.Task = booked.Task; last.Task == TaskNone && o.IsRefunded() && o.keepsDomains(*last) {
		last.Task = TaskDomains
	}
	return true
}

// keepsDomains reports whether the customer may still have domains that a refund is for. One that pays
// a returned refund again changes nothing about them.
func (o *Order) keepsDomains(r Refund) bool {
	return r.Replaces == "" && slices.ContainsFunc(r.Parts, func(part RefundPart) bool {
		item := o.item(part.Item)
		return item != nil && item.State != ItemFailed && item.State != ItemRefunded
	})
}
