package order

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

// makeRefunds makes the due refunds. The calls of the known ones may have been sent before,
// those of refunds recorded just now were not. A refund that the provider rejects needs an
// operator and does not delay the others.
func (s *Service) makeRefunds(ctx context.Context, o Order, known []Refund) (Order, error) {
	var refused error
	for _, due := range o.Refunds {
		if now := o.refund(due.ID); now == nil || !now.Due() {
			continue
		}
		payment := o.payment(due.Payment)
		call, cancel := s.worker.CallContext(ctx)
		call, span := tracing.Start(call, "order", "refund")
		id, err := s.cfg.Provider.Refund(call, RefundRequest{
			ID: due.ID, Order: o.ID, Intent: payment.Intent, Amount: due.Amount, Reason: due.ReasonOf(),
		}, find(known, func(r Refund) bool { return r.ID == due.ID }) != nil)
		span.End(err)
		cancel()
		if err != nil && !registrar.IsTransient(err) {
			if o, err = s.refuseRefund(ctx, o, due.ID, err); err != nil {
				refused = err
			}
			continue
		}
		if err != nil {
			return o, err
		}
		failpoint.Hit("refund_made")
		if o, err = s.markRefunded(ctx, o, due.ID, id); err != nil {
			return o, err
		}
		failpoint.Hit("refund_known")
	}
	return o, refused
}

func (o *Order) refund(id string) *Refund {
	return find(o.Refunds, func(r Refund) bool { return r.ID == id })
}

// refuseRefund handles a refund that the provider rejects: it may have been made there
// otherwise. If not, one that an operator ordered ends, and so does every one whose money the
// bank has returned already. Others stay due, because the customer must get the money.
func (s *Service) refuseRefund(ctx context.Context, o Order, id string, refusal error) (Order, error) {
	o, err := s.syncRefunds(ctx, o, o.refund(id).Payment)
	if err != nil {
		return o, err
	}
	if r := o.refund(id); !r.Due() {
		return o, nil
	} else if r.Source != ByOperator && registrar.CodeOf(refusal) != ChargeLost {
		return o, refusal
	}
	s.cfg.Logger.WarnContext(ctx, "refund refused by the payment provider", "order", o.ID, "refund", id, "detail", refusal.Error())
	return s.update(ctx, o, func(m *Transition) bool {
		r := m.To.refund(id)
		if !r.Due() {
			return false
		}
		r.Failure, r.FailedAt, r.Task = registrar.CodeOf(refusal), s.now(), TaskRefused
		s.releaseAfterRefund(&m.To)
		m.AuditEvents = []registrar.AuditEvent{s.refundAuditEvent(ActionRefundRefused, m.To, r.ID)}
		return true
	})
}

func (s *Service) markRefunded(ctx context.Context, o Order, refund, provider string) (Order, error) {
	return s.update(ctx, o, func(m *Transition) bool {
		r := m.To.refund(refund)
		if r == nil || r.Provider != "" {
			return false
		}
		s.markMade(m, r, provider)
		m.To.Attempts = 0
		s.leaseForRefunds(&m.To)
		return true
	})
}

// markMade records that the provider has made a refund.
func (s *Service) markMade(m *Transition, r *Refund, provider string) {
	r.Provider, r.MadeAt, r.Failure, r.FailedAt, r.Task = provider, s.now(), "", time.Time{}, TaskNone
	if payment := m.To.payment(r.Payment); payment != nil && payment.State == PaymentUnmatched && !m.To.IsCorrected(*r) {
		payment.State, payment.UpdatedAt = PaymentRefunded, s.now()
	}
	m.To.markRefundedItems()
	m.AuditEvents = append(m.AuditEvents, s.refundAuditEvent(ActionRefunded, m.To, r.ID))
	if r.Source != BySystem {
		m.Mails = append(m.Mails, refundMail(m.To, *r))
	}
}

// releaseAfterRefund ends the lease of a final order without further refunds.
func (s *Service) releaseAfterRefund(o *Order) {
	if o.State.Final() && o.RefundsDue() == 0 {
		s.releaseLease(o)
	}
}
