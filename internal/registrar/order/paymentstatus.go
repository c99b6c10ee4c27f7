package order

import (
	"context"
	"strings"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Refund reasons, as sent to the provider.
const (
	reasonItem      = "failed_item"
	reasonUnmatched = "unmatched"
)

// RefundReasons returns all refund reasons.
func RefundReasons() []string { return []string{reasonItem, reasonUnmatched} }

// currency is the only currency sold in.
const currency = "eur"

// HandleEvent checks what a provider's webhook is about. It returns an error if that
// fails, so that the provider repeats the webhook; unknown objects are ignored.
func (s *Service) HandleEvent(ctx context.Context, event Event) error {
	if event.Verification != "" {
		return s.handleVerificationEvent(ctx, event.Verification)
	}
	var (
		o     Order
		found bool
		err   error
	)
	switch {
	case event.Session != "":
		o, found, err = s.cfg.Store.OrderBySession(ctx, event.Session)
	case event.Intent != "":
		o, found, err = s.cfg.Store.OrderByIntent(ctx, event.Intent)
	}
	if err != nil || !found {
		return err
	}
	for _, payment := range o.Payments {
		bySession := event.Session != "" && payment.Session == event.Session
		byIntent := event.Intent != "" && payment.Intent == event.Intent
		if !bySession && !byIntent {
			continue
		}
		_, err = s.refreshPayment(ctx, o, payment.ID)
		return err
	}
	return nil
}

// refreshPayment fetches a payment's status from the provider and applies it. Decided
// payments are not fetched again.
func (s *Service) refreshPayment(ctx context.Context, o Order, id string) (Order, error) {
	payment := o.payment(id)
	if payment == nil || payment.Session == "" {
		return o, nil
	}
	if !payment.State.inFlight() && payment.State != PaymentClosed {
		return o, nil
	}
	call, cancel := s.worker.CallContext(ctx)
	fetch := s.cfg.Provider.FetchPage
	if payment.Kind == ByToken {
		fetch = s.cfg.Provider.FetchCharge
	}
	status, err := fetch(call, payment.Session)
	cancel()
	if err != nil {
		return o, err
	}
	return s.applyPaymentStatus(ctx, o, id, status)
}

// refreshPaymentCached is refreshPayment for page views: within RecheckInterval one
// calls the provider, and the others share the response.
func (s *Service) refreshPaymentCached(ctx context.Context, o Order, id, page string) error {
	_, err := s.paymentChecks.Get(ctx, page+":"+id, nil, func(ctx context.Context) (struct{}, error) {
		_, err := s.refreshPayment(ctx, o, id)
		return struct{}{}, err
	})
	return err
}

// verdict is what a payment's status means for its order.
type verdict uint8

const (
	verdictNone verdict = iota
	// verdictCapture: the payment pays for the order.
	verdictCapture
	// verdictRefund: paid, but the order can't use it.
	verdictRefund
	// verdictClose: it can't be paid any more.
	verdictClose
	// verdictMismatch: the provider's object belongs to another payment.
	verdictMismatch
)

// judgePayment decides what a payment's status means. A payment is captured only if the
// order is waiting for exactly this payment and the amount matches.
func judgePayment(o Order, id string, status PaymentStatus) verdict {
	payment := o.payment(id)
	if payment == nil {
		return verdictNone
	}
	underWay := payment.State.inFlight()
	if !underWay && payment.State != PaymentClosed {
		return verdictNone // decided already
	}
	if !status.Paid {
		if status.Ended && underWay {
			return verdictClose
		}
		return verdictNone
	}
	if status.Payment != payment.ID || status.Order != o.ID {
		return verdictMismatch
	}
	if underWay && o.State == Paying && o.CapturedPayment() == nil &&
		status.Amount == payment.Amount && payment.Amount == o.Totals.Gross && strings.EqualFold(status.Currency, currency) {
		return verdictCapture
	}
	return verdictRefund
}

// decidePayment is judgePayment, except that nothing is sold to an account that was
// closed while its page was open.
func (s *Service) decidePayment(ctx context.Context, o Order, id string, status PaymentStatus) (verdict, error) {
	what := judgePayment(o, id, status)
	if what != verdictCapture {
		return what, nil
	}
	_, err := s.cfg.Store.GetBuyer(ctx, o.Customer)
	if registrar.CodeOf(err) == registrar.NoSuchCustomer {
		return verdictRefund, nil
	}
	return what, err
}

// applyPaymentStatus stores what the provider reported. Paid and ended are final, so a
// status still holds for an order that has changed meanwhile.
func (s *Service) applyPaymentStatus(ctx context.Context, o Order, id string, status PaymentStatus) (Order, error) {
	if status.Paid {
		failpoint.Hit(failpointMoneySeen)
	}
	for range maxAttempts {
		m := Transition{From: o, To: o.clone()}
		payment := m.To.payment(id)
		what, err := s.decidePayment(ctx, o, id, status)
		if err != nil {
			return o, err
		}
		switch what {
		case verdictNone:
			return o, nil
		case verdictMismatch:
			err := &registrar.Error{Kind: registrar.KindInternal, Detail: "provider's page belongs to another payment"}
			s.cfg.Logger.ErrorContext(ctx, "payment page mismatch", "order", o.ID, "payment", id)
			return o, err
		case verdictClose:
			payment.State, payment.UpdatedAt = PaymentClosed, s.now()
			s.reopenOrder(&m)
		case verdictRefund:
			payment.State, payment.Intent, payment.Card, payment.UpdatedAt = PaymentUnmatched, status.Intent, status.Card, s.now()
			m.AuditEvents, m.Mails = []registrar.AuditEvent{s.systemAuditEvent(ActionUnmatched, o)}, []registrar.Mail{unmatchedMail(o, status.Amount)}
			s.addRefund(&m.To, id, "", status.Amount)
			s.reopenOrder(&m)
			m.To.DueAt = s.worker.Now()
		case verdictCapture:
			payment.State, payment.Intent, payment.Card, payment.UpdatedAt = PaymentCaptured, status.Intent, status.Card, s.now()
			if o.AutoRenew {
				m.Method = status.Method
			}
			m.AuditEvents = []registrar.AuditEvent{s.systemAuditEvent(ActionPaid, o)}
		}
		updated, err := s.storeVerdict(ctx, &m, what)
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

func (s *Service) storeVerdict(ctx context.Context, m *Transition, what verdict) (bool, error) {
	if what == verdictCapture {
		return s.startProvisioning(ctx, m)
	}
	updated, err := s.transition(ctx, m)
	if err == nil && updated && what == verdictRefund {
		s.cfg.Logger.WarnContext(ctx, "unmatched payment, refund due", "order", m.To.ID)
		failpoint.Hit(failpointRefundWritten)
		s.worker.Wake()
	}
	return updated, err
}

// reopenOrder lets an order be paid again after its payment in flight has ended, or
// expires it.
func (s *Service) reopenOrder(m *Transition) {
	if m.To.State != Paying || m.To.inFlightPayment() != nil {
		s.releaseLease(&m.To)
		return
	}
	// The next payer may be another one and gives their own consent.
	m.To.Completer, m.To.Consent = "", Consent{}
	if s.pastExpiry(m.To) {
		s.setState(&m.To, Expired)
		if len(m.AuditEvents) == 0 {
			m.AuditEvents = []registrar.AuditEvent{s.systemAuditEvent(ActionExpired, m.To)}
		}
		return
	}
	s.setState(&m.To, AwaitingPayment)
}

// startProvisioning moves a paid or free order to Provisioning.
func (s *Service) startProvisioning(ctx context.Context, m *Transition) (bool, error) {
	now := s.now()
	for i := range m.To.Items {
		item := &m.To.Items[i]
		item.State, item.ProvisionItem = ItemProvisioning, registrar.NewID("lin_", now)
	}
	m.To.PaidAt, m.Provision = now, true
	s.setState(&m.To, Provisioning)
	m.Mails = append(m.Mails, receiptMail(m.To))
	if !m.To.Claimed {
		m.To.ClaimMailedAt = now
		m.Mails = append(m.Mails, claimMail(m.To))
	}
	updated, err := s.transition(ctx, m)
	if err != nil || !updated {
		return false, err
	}
	failpoint.Hit(failpointPaidWritten)
	s.cfg.ItemsPaid()
	return true, nil
}

// addRefund records a refund that is due, once.
func (s *Service) addRefund(o *Order, payment, item string, amount registrar.Cents) {
	for _, refund := range o.Refunds {
		if refund.Payment == payment && refund.Item == item {
			return
		}
	}
	now := s.now()
	o.Refunds = append(o.Refunds, Refund{
		ID: registrar.NewID("ref_", now), Payment: payment, Item: item, Amount: amount, CreatedAt: now,
	})
}

// concludeProvisioning records refunds for failed items and ends the order when all of
// its items have ended.
func (s *Service) concludeProvisioning(o Order) (Transition, bool) {
	now := o.clone()
	captured, over, active := now.CapturedPayment(), true, 0
	for i := range now.Items {
		switch item := &now.Items[i]; item.State {
		case ItemActive:
			active++
		case ItemFailed:
			if captured != nil && item.Gross > 0 {
				s.addRefund(&now, captured.ID, item.ID, item.Gross)
			}
		case ItemRefunded:
		default:
			over = false
		}
	}
	if !over && len(now.Refunds) == len(o.Refunds) {
		return Transition{}, false
	}
	m := Transition{To: now}
	if over {
		state := PartiallyCompleted
		switch active {
		case len(now.Items):
			state = Completed
		case 0:
			state = Failed
		}
		s.setState(&m.To, state)
		m.AuditEvents = []registrar.AuditEvent{s.systemAuditEvent(ActionEnded, now)}
		m.Mails = []registrar.Mail{outcomeMail(m.To)}
	}
	if m.To.hasRefundsDue() {
		s.setLease(&m.To)
	} else {
		s.releaseLease(&m.To)
	}
	return m, true
}

// makeRefunds makes the due refunds. maybeSent reports whether the call may have been
// sent before; it is false for refunds recorded just now. A refund that the provider
// rejects needs an operator and does not delay the others.
func (s *Service) makeRefunds(ctx context.Context, o Order, maybeSent func(Refund) bool) (Order, error) {
	var refused error
	for _, due := range o.Refunds {
		if due.Provider != "" {
			continue
		}
		payment := o.payment(due.Payment)
		reason := reasonItem
		if due.Item == "" {
			reason = reasonUnmatched
		}
		call, cancel := s.worker.CallContext(ctx)
		id, err := s.cfg.Provider.Refund(call, RefundRequest{
			ID: due.ID, Order: o.ID, Intent: payment.Intent, Amount: due.Amount, Reason: reason,
		}, maybeSent(due))
		cancel()
		if err != nil && !registrar.IsTransient(err) {
			refused = err
			continue
		}
		if err != nil {
			return o, err
		}
		failpoint.Hit(failpointRefundMade)
		if o, err = s.markRefunded(ctx, o, due.ID, id); err != nil {
			return o, err
		}
		failpoint.Hit(failpointRefundKnown)
		s.cfg.OnRefund(reason)
	}
	return o, refused
}

// markRefunded stores that a refund was made.
func (s *Service) markRefunded(ctx context.Context, o Order, refund, provider string) (Order, error) {
	return s.updateWithRetry(ctx, o, func(was Order) (Transition, bool) {
		now := was.clone()
		for i := range now.Refunds {
			made := &now.Refunds[i]
			if made.ID != refund || made.Provider != "" {
				continue
			}
			made.Provider, made.MadeAt = provider, s.now()
			if item := now.item(made.Item); item != nil {
				item.State = ItemRefunded
			} else if payment := now.payment(made.Payment); payment != nil && payment.State == PaymentUnmatched {
				payment.State, payment.UpdatedAt = PaymentRefunded, s.now()
			}
			now.Attempts = 0
			if now.hasRefundsDue() {
				s.setLease(&now)
			} else {
				s.releaseLease(&now)
			}
			return Transition{To: now, AuditEvents: []registrar.AuditEvent{s.systemAuditEvent(ActionRefunded, now)}}, true
		}
		return Transition{}, false
	})
}
