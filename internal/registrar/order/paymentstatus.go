package order

import (
	"cmp"
	"context"
	"strings"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const currency = "eur" // the only one sold in

// HandleEvent checks what a provider's webhook is about. It returns an error if that
// fails, so that the provider repeats the webhook; unknown objects are ignored.
func (s *Service) HandleEvent(ctx context.Context, event Event) error {
	if event.Verification != "" {
		return s.handleVerificationEvent(ctx, event.Verification)
	}
	id, lookup := event.Session, s.cfg.Store.OrderBySession
	if id == "" {
		id, lookup = event.Intent, s.cfg.Store.OrderByIntent
	}
	if id == "" {
		return nil
	}
	release, _ := s.paymentLocks.acquire(ctx, id)
	defer release()
	if s.capturedJustNow(id) && !event.Refunds {
		return nil
	}
	o, found, err := lookup(ctx, id)
	if err != nil || !found {
		return err
	}
	payment := find(o.Payments, func(p Payment) bool { return p.Session == id || p.Intent == id })
	if payment == nil {
		return nil
	}
	if o, err = s.refreshPayment(ctx, o, payment.ID); err == nil && event.Refunds {
		_, err = s.syncRefunds(ctx, o, payment.ID)
	}
	return err
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
	if payment.Kind.byIntent() {
		fetch = s.cfg.Provider.FetchCharge
	}
	status, err := fetch(call, payment.Session)
	cancel()
	if err != nil {
		return o, err
	}
	return s.applyPaymentStatus(ctx, o, id, status)
}

// capturedJustNow reports whether this node has captured the payment with a provider's id
// within RecheckInterval: there is nothing left to query.
func (s *Service) capturedJustNow(id string) bool {
	_, captured := s.paymentChecks.Cached(capturedKey(id))
	return captured
}

func capturedKey(id string) string { return "captured:" + id }

// refreshPaymentCached is for page views, which share a response for RecheckInterval.
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
	verdictNone    verdict = iota
	verdictCapture         // the payment pays for the order
	verdictRefund          // paid, but the order can't use it
	verdictClose           // it can't be paid any more
)

// judgePayment decides what a payment's status means. A payment is captured only if the
// order is waiting for exactly this payment, the amount matches, and the account was not
// closed while its page was open. It returns the buyer of a captured payment.
func (s *Service) judgePayment(ctx context.Context, o Order, id string, status PaymentStatus) (verdict, *Buyer, error) {
	payment := o.payment(id)
	if payment == nil {
		return verdictNone, nil, nil
	}
	inFlight := payment.State.inFlight()
	switch {
	case !inFlight && payment.State != PaymentClosed: // decided already
		return verdictNone, nil, nil
	case !status.Paid && status.Ended && inFlight:
		return verdictClose, nil, nil
	case !status.Paid:
		return verdictNone, nil, nil
	case status.Payment != payment.ID || status.Order != o.ID:
		s.cfg.Logger.ErrorContext(ctx, "payment page mismatch", "order", o.ID, "payment", id)
		return verdictNone, nil, &registrar.Error{Kind: registrar.KindInternal, Detail: "provider's page belongs to another payment"}
	case !inFlight || o.State != Paying || o.CapturedPayment() != nil ||
		status.Amount != payment.Amount || payment.Amount != o.Totals.Gross || !strings.EqualFold(status.Currency, currency):
		return verdictRefund, nil, nil
	}
	buyer, err := s.cfg.Store.GetBuyer(ctx, o.Customer)
	if registrar.CodeOf(err) == registrar.NoSuchCustomer {
		return verdictRefund, nil, nil
	}
	return verdictCapture, &buyer, err
}

// applyPaymentStatus stores what the provider reported. Paid and ended are final, so a
// status still holds for an order that has changed meanwhile.
func (s *Service) applyPaymentStatus(ctx context.Context, o Order, id string, status PaymentStatus) (Order, error) {
	if status.Paid {
		failpoint.Hit("money_seen")
	}
	var (
		what    verdict
		refused error
	)
	o, err := s.update(ctx, o, func(m *Transition) bool {
		if what, m.InvoiceBuyer, refused = s.judgePayment(ctx, m.From, id, status); what == verdictNone || refused != nil {
			return false
		}
		payment := m.To.payment(id)
		payment.UpdatedAt = s.now()
		if what == verdictClose {
			payment.State = PaymentClosed
			s.reopenOrder(m)
			return true
		}
		payment.Intent, payment.Card = status.Intent, status.Card
		if what == verdictCapture {
			payment.State, payment.Failure = PaymentCaptured, ""
			if m.To.AutoRenew {
				m.Method = status.Method
			}
			m.AuditEvents = []registrar.AuditEvent{s.systemAuditEvent(ActionPaid, m.To)}
			s.startProvisioning(m)
			return true
		}
		payment.State = PaymentUnmatched
		m.AuditEvents, m.Mails = []registrar.AuditEvent{s.systemAuditEvent(ActionUnmatched, m.To)}, []registrar.Mail{unmatchedMail(m.To, status.Amount)}
		s.addRefund(&m.To, id, "", status.Amount)
		s.reopenOrder(m)
		m.To.DueAt = s.worker.Now()
		return true
	})
	if err == nil && what == verdictCapture {
		for _, id := range []string{o.payment(id).Session, status.Intent} {
			s.paymentChecks.Set(capturedKey(id), struct{}{})
		}
	}
	if err = cmp.Or(refused, err); err == nil && what == verdictRefund {
		s.cfg.Logger.WarnContext(ctx, "unmatched payment, refund due", "order", o.ID)
		failpoint.Hit("refund_written")
		s.worker.Wake()
	}
	return o, err
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
	m.To.dropRenewal()
	if s.pastExpiry(m.To) {
		s.setState(&m.To, Expired)
		if len(m.AuditEvents) == 0 {
			m.AuditEvents = []registrar.AuditEvent{s.systemAuditEvent(ActionExpired, m.To)}
		}
		return
	}
	s.setState(&m.To, AwaitingPayment)
}

// startProvisioning prepares the transition of a paid or free order to Provisioning.
func (s *Service) startProvisioning(m *Transition) {
	now := s.now()
	for i := range m.To.Items {
		item := &m.To.Items[i]
		item.State, item.ProvisionItem = ItemProvisioning, registrar.NewID("prv_", now)
	}
	m.To.PaidAt, m.Provision = now, true
	s.setState(&m.To, Provisioning)
	receipt := receiptMail(m.To, cmp.Or(m.InvoiceBuyer, m.ExpectedBuyer)) // a free order has no invoice
	s.addExpectedDays(receipt.Data, m.To)
	m.Mails = append(m.Mails, receipt)
	if !m.To.Claimed {
		m.To.ClaimMailedAt = now
		m.Mails = append(m.Mails, claimMail(m.To))
	}
}

// addRefund records a refund that is due, once.
func (s *Service) addRefund(o *Order, payment, item string, amount registrar.Cents) {
	if find(o.Refunds, func(r Refund) bool { return r.Source == BySystem && r.Payment == payment && r.Item == item }) != nil {
		return
	}
	now := s.now()
	refund := Refund{ID: registrar.NewID("ref_", now), Payment: payment, Item: item, Amount: amount, CreatedAt: now}
	if of := o.item(item); of != nil && of.Gross != amount { // some of it was refunded at the provider
		refund.Parts = o.withVAT([]RefundPart{{Item: item, Gross: amount}})
	}
	o.Refunds = append(o.Refunds, refund)
}

// concludeProvisioning records refunds and mails for failed items and ends the order when all of
// its items have ended.
func (s *Service) concludeProvisioning(ctx context.Context, m *Transition) bool {
	if m.From.State != Provisioning {
		return false
	}
	now := &m.To
	captured, over, active := now.CapturedPayment(), true, 0
	var failed []string // items that no mail has named yet
	for _, item := range now.Items {
		switch item.State {
		case ItemActive:
			active++
		case ItemFailed:
			if now.owesFailureMail(item) {
				failed = append(failed, item.ID)
			}
			if captured != nil && now.owesRefund(item) {
				s.addRefund(now, captured.ID, item.ID, now.RemainingOf(item.ID))
			}
		case ItemRefunded:
		default:
			over = false
		}
	}
	if !over && len(now.Refunds) == len(m.From.Refunds) && len(failed) == 0 {
		return false
	}
	for _, id := range failed {
		now.item(id).FailureMailedAt = s.now()
	}
	for _, id := range failed {
		if !over { // otherwise the mail about the outcome says so
			m.Mails = append(m.Mails, itemFailedMail(*now, *now.item(id)))
		}
	}
	now.markRefundedItems() // at the provider, while they were provisioned
	if over {
		state := PartiallyCompleted
		switch active {
		case len(now.Items):
			state = Completed
		case 0:
			state = Failed
		}
		m.AuditEvents = []registrar.AuditEvent{s.systemAuditEvent(ActionEnded, *now)}
		s.setState(now, state)
		// The receipt of an automatic renewal says what will be renewed.
		if now.Channel != ChannelRenewal || state != Completed || captured == nil || captured.Kind != ByMethod {
			store, cancel := s.worker.StoreContext(ctx)
			defer cancel()
			m.Mails = []registrar.Mail{outcomeMail(*now, s.knownBuyer(store, *now), s.ItemRenewalPrices(*now), s.afterItems(store, *now), s.cfg.LocksTransfers)}
		}
	}
	s.leaseForRefunds(now)
	return true
}

// leaseForRefunds takes the lease if refunds are due, and releases it otherwise.
func (s *Service) leaseForRefunds(o *Order) {
	if o.RefundsDue() > 0 {
		s.setLease(o)
	} else {
		s.releaseLease(o)
	}
}
