package order

import (
	"context"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// CompleteSession pays an order with the buyer's token, or confirms one that costs
// nothing. The Session comes beside the error whenever it is known. doc.go has the
// order of the answers; one that is completed already is answered as such.
func (s *Service) CompleteSession(ctx context.Context, actor registrar.Actor, id string, completion Completion) (Session, error) {
	if completion.Until.IsZero() {
		completion.Until = s.clock().Add(CompletionWait)
	}
	for range maxAttempts {
		o, err := s.orderForAgent(ctx, actor, id)
		if err != nil {
			return Session{}, err
		}
		var (
			session  Session
			finished bool
		)
		switch o.State {
		case AwaitingPayment, AwaitingVerification:
			session, finished, err = s.completeOnce(ctx, actor, o, completion)
		case Paying:
			session, finished, err = s.awaitPayment(ctx, actor, o, completion)
		case Canceled, Expired:
			return s.sessionWithError(ctx, actor, o, fail(registrar.KindConflict, NotOpen))
		default: // paid: nothing is charged again
			return s.currentSession(ctx, actor, o)
		}
		if finished {
			return session, err
		}
	}
	return Session{}, errBusy()
}

// completeOnce tries it once. It is not finished if somebody else has changed the order.
func (s *Service) completeOnce(ctx context.Context, actor registrar.Actor, o Order, completion Completion) (session Session, finished bool, err error) {
	checked, finished, err := s.recheck(ctx, actor, o, completion)
	if err != nil || !finished {
		return Session{}, finished, err
	}
	if session, err = s.buildSession(checked.view, checked.resolved); err != nil {
		return Session{}, true, err
	}
	if checked.problem != nil {
		return session, !s.changedSince(ctx, checked.view.Order), checked.problem
	}
	o = checked.view.Order
	missing := checked.view.Missing
	switch {
	case slices.Contains(missing, MissingIdentity):
		return s.handToHuman(ctx, session, ProblemIdentity)
	case slices.Contains(missing, MissingCode):
		return s.handToHuman(ctx, session, ProblemCode)
	case o.Totals.Gross == 0:
		m := Transition{From: o, To: o.clone(), ExpectedBuyer: o.expectedBuyer(checked.resolved.buyer), AuditEvents: []registrar.AuditEvent{s.auditEvent(actor, ActionConfirmed, o)}}
		m.To.setCompleter(actor)
		m.To.Registrant = checked.resolved.buyer.registrant()
		updated, err := s.startProvisioning(ctx, &m)
		if err != nil || !updated {
			return Session{}, err != nil, err
		}
		session, err = s.currentSession(ctx, actor, m.To)
		return session, true, err
	case completion.Token == "" || s.cfg.Tokens == nil:
		return s.handToHuman(ctx, session, ProblemNoPayment)
	}
	call, cancel := s.callContext(ctx)
	err = s.cfg.Tokens.CheckToken(call, completion.Token, o.Totals.Gross, s.now())
	cancel()
	if err != nil {
		return session, !s.changedSince(ctx, o), err
	}
	return s.chargeToken(ctx, actor, o, checked, completion.Token)
}

// setCompleter notes the agent that completes a customer's order.
func (o *Order) setCompleter(agent registrar.Actor) {
	if o.Agent == "" {
		o.Completer = agent.Through
	}
}

// changedSince says that an order was moved since it was read. Then a name that is taken,
// or a token that is spent, may be so because of this very order, by the same request
// sent twice: the order is always moved before that.
func (s *Service) changedSince(ctx context.Context, read Order) bool {
	now, err := s.reload(ctx, read.ID)
	return err == nil && now.Version != read.Version
}

// recheckResult is an order after price and availability were asked for again.
type recheckResult struct {
	view     View
	resolved resolvedBuyer
	// problem is why it can't be completed as it is.
	problem error
}

// recheck asks for everything once more and stores what has changed. It is not
// finished if somebody else has changed the order.
func (s *Service) recheck(ctx context.Context, actor registrar.Actor, o Order, completion Completion) (checked recheckResult, finished bool, err error) {
	now := o.clone()
	if checked.resolved, err = s.updateBuyer(ctx, &now, completion.Contact); err != nil {
		return checked, true, err
	}
	requests, err := s.quoteRequests(now, checked.resolved.buyer)
	if err != nil {
		return checked, true, err
	}
	results := make([]quoteResult, len(now.Items))
	if checked.resolved.buyer.HasRegistrant { // nobody has to be asked about what can't be completed
		purpose := registrar.ForQuote
		if completion.Token != "" && s.cfg.Tokens != nil || o.Totals.Gross == 0 {
			purpose = paymentPurpose(o, checked.resolved.buyer)
		}
		if results, err = s.quoteFresh(ctx, actor, purpose, requests); err != nil {
			return checked, true, err
		}
		if err := s.applyQuotes(ctx, &now, checked.resolved.buyer, results); err != nil {
			return checked, true, err
		}
	}
	changed := priceDiffers(o, now)
	if now.Contact != o.Contact || now.Customer != o.Customer || needsUpdate(o, now) {
		if now.State != o.State {
			now.Attempts = 0
		}
		s.releaseLease(&now)
		m := Transition{From: o, To: now, GuestRegistrant: checked.resolved.normalized}
		updated, err := s.transition(ctx, &m)
		if err != nil || !updated {
			return checked, err != nil, err
		}
		now = m.To
	}
	checked.view = View{Order: now, Owner: checked.resolved.buyer}
	checked.view.addQuotes(results)
	missingFields := slices.ContainsFunc(checked.view.Missing, func(word string) bool { return word != MissingCode && word != MissingIdentity })
	switch no := refusalError(now.Items, results); {
	case missingFields:
		checked.problem = fail(registrar.KindConflict, DataMissing)
	case no != nil:
		checked.problem = no
	case changed:
		checked.problem = fail(registrar.KindConflict, PriceChanged)
	}
	return checked, true, nil
}

// handToHuman gives a completion to a human, who needs the link. If the order is nobody's
// yet, the buyer gets a letter with which to claim it.
func (s *Service) handToHuman(ctx context.Context, session Session, problem registrar.Code) (Session, bool, error) {
	o, err := s.sendClaimMail(ctx, session.Order, claimMailInterval)
	if err != nil {
		return session, true, err
	}
	session.Order, session.Problem, session.Status = o, problem, NotReady
	return session, true, nil
}

// chargeToken takes the money. The one who stores the intent is the only one who ever
// confirms it; whatever happens to this process after that, the intent is canceled,
// or found to be paid.
func (s *Service) chargeToken(ctx context.Context, actor registrar.Actor, o Order, checked recheckResult, token string) (session Session, finished bool, err error) {
	created := s.now()
	id := registrar.NewID("pay_", created)
	next := o.clone()
	next.Payments = append(next.Payments, Payment{
		ID: id, Kind: ByToken, State: PaymentOpening, Amount: next.Totals.Gross, CreatedAt: created, EndsAt: created.Add(pageTTL), UpdatedAt: created,
	})
	next.setCompleter(actor)
	next.Registrant = checked.resolved.buyer.registrant()
	s.setState(&next, Paying)
	s.setLease(&next)
	m := Transition{From: o, To: next, ExpectedBuyer: o.expectedBuyer(checked.resolved.buyer)}
	updated, err := s.transition(ctx, &m)
	if err != nil || !updated {
		return Session{}, err != nil, err
	}
	hitFailpoint(failpointChargeWritten)
	o, err = s.prepareCharge(ctx, m.To, id, checked.resolved.buyer)
	if err != nil {
		return Session{}, true, err
	}
	payment := o.payment(id)
	if payment == nil || payment.State != PaymentOpen {
		return Session{}, false, nil // it was given up, by us or by another
	}
	hitFailpoint(failpointIntentKnown)
	call, cancel := s.callContext(ctx)
	outcome, err := s.cfg.Tokens.Charge(call, Charge{ID: id, Order: o.ID, Amount: payment.Amount, Intent: payment.Intent, Token: token})
	cancel()
	if err != nil && isRetryable(err) {
		s.retryLater(ctx, o, "charge", err)
		return Session{}, true, err
	}
	hitFailpoint(failpointChargeMade)
	return s.applyChargeOutcome(ctx, actor, o, id, checked, outcome, err)
}

// prepareCharge makes the intent of a payment that is written down and stores it. If
// that can't be, the payment is closed: without a stored intent nobody confirms any.
func (s *Service) prepareCharge(ctx context.Context, o Order, id string, buyer Buyer) (Order, error) {
	over, err := s.needsIdentityWithOthers(ctx, o, buyer)
	if err == nil && !over && o.Claimed {
		// As with a page: the registrant may have been changed since the price was asked.
		var present Buyer
		present, err = s.cfg.Store.GetBuyer(ctx, o.Customer)
		over = present != buyer
	}
	intent := ""
	if err == nil && !over {
		call, cancel := s.callContext(ctx)
		intent, err = s.cfg.Tokens.PrepareCharge(call, Charge{ID: id, Order: o.ID, Amount: o.payment(id).Amount})
		cancel()
	}
	if err != nil || over {
		left, stored := s.abandonPayment(ctx, o, id)
		if err == nil {
			return left, stored
		}
		if !isRetryable(err) {
			s.cfg.Logger.ErrorContext(ctx, "the payment provider refuses to prepare a charge", "order", o.ID, "payment", id, "error", err.Error())
			err = &registrar.Error{Kind: registrar.KindInternal, Code: ProviderRefused, Err: err}
		}
		return left, err
	}
	return s.updateWithRetry(ctx, o, func(was Order) (Transition, bool) {
		now := was.clone()
		mine := now.payment(id)
		if mine == nil || mine.State != PaymentOpening {
			return Transition{}, false
		}
		mine.State, mine.Session, mine.Intent, mine.UpdatedAt = PaymentOpen, intent, intent, s.now()
		now.Attempts = 0
		s.setLease(&now)
		return Transition{To: now}, true
	})
}

// applyChargeOutcome writes down what became of a charge. refusal is the provider's word, if it
// did not take the charge at all.
func (s *Service) applyChargeOutcome(ctx context.Context, actor registrar.Actor, o Order, id string, checked recheckResult, outcome ChargeOutcome, refusal error) (session Session, finished bool, err error) {
	failure := outcome.Declined
	switch {
	case refusal != nil:
		s.cfg.Logger.ErrorContext(ctx, "the payment provider refuses a charge", "order", o.ID, "payment", id, "error", refusal.Error())
		failure = ProviderRefused
	case outcome.NeedsHuman:
		failure = ProblemHuman
	}
	if failure == "" {
		if o, err = s.applyPaymentStatus(ctx, o, id, outcome.Status); err != nil {
			return Session{}, true, err
		}
		if o.State == Paying { // it may take a while
			if o, err = s.updateWithRetry(ctx, o, func(was Order) (Transition, bool) {
				now := was.clone()
				s.releaseLease(&now)
				return Transition{To: now}, was.State == Paying && was.Node == s.cfg.Node
			}); err != nil {
				return Session{}, true, err
			}
		}
		return Session{}, false, nil // paid; or the caller waits for the provider
	}
	o, err = s.updateWithRetry(ctx, o, func(was Order) (Transition, bool) {
		now := was.clone()
		mine := now.payment(id)
		if mine == nil || mine.State != PaymentOpen {
			return Transition{}, false
		}
		mine.State, mine.Failure, mine.UpdatedAt = PaymentClosing, failure, s.now()
		s.setLease(&now)
		return Transition{To: now}, true
	})
	// If somebody else has closed it, another payment may be under way by now.
	if mine := o.payment(id); err == nil && mine != nil && mine.State == PaymentClosing {
		o, err = s.closePayment(ctx, o)
	}
	if err != nil && !isRetryable(err) {
		return Session{}, true, err
	}
	return s.sessionNotCharged(ctx, actor, o, checked, failure, refusal)
}

// sessionNotCharged is the answer if the token did not pay; but if the intent turns out to be
// paid nevertheless, the order is.
func (s *Service) sessionNotCharged(ctx context.Context, actor registrar.Actor, o Order, checked recheckResult, failure registrar.Code, refusal error) (session Session, finished bool, err error) {
	if !o.State.Open() {
		session, err = s.currentSession(ctx, actor, o)
		return session, true, err
	}
	checked.view.Order = o
	if session, err = s.buildSession(checked.view, checked.resolved); err != nil {
		return Session{}, true, err
	}
	switch failure {
	case ProblemHuman:
		return s.handToHuman(ctx, session, ProblemHuman)
	case ProviderRefused:
		return session, true, &registrar.Error{Kind: registrar.KindInternal, Code: ProviderRefused, Err: refusal}
	default:
		return session, true, fail(registrar.KindConflict, failure)
	}
}
