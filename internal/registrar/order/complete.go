package order

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

const (
	CompletionWait = 15 * time.Second // for a payment in progress
	// Any more waiting completions of one agent, or of all, get PaymentInProgress at once.
	MaxWaitersPerAgent = 64
	maxWaiters         = 256

	// The order is polled, because any node may change it.
	minPollInterval = 25 * time.Millisecond
	maxPollInterval = time.Second
	inProgressRetry = 2 * time.Second // the Retry-After of PaymentInProgress
)

// CompleteSession pays an order with the buyer's token, or confirms a free one. The
// Session is returned next to the error whenever it is known. doc.go has the order of
// outcomes; completing a paid order again succeeds.
func (s *Service) CompleteSession(ctx context.Context, actor registrar.Actor, id string, completion Completion) (Session, error) {
	ctx, span := tracing.Start(ctx, "order", "complete")
	session, err := s.completeSession(ctx, actor, id, completion)
	span.End(err)
	return session, err
}

func (s *Service) completeSession(ctx context.Context, actor registrar.Actor, id string, completion Completion) (Session, error) {
	if completion.Until.IsZero() {
		completion.Until = s.worker.Now().Add(CompletionWait)
	}
	for range maxAttempts {
		o, err := s.orderForAgent(ctx, actor, id)
		if err != nil {
			return Session{}, err
		}
		var session Session
		switch o.State {
		case AwaitingPayment, AwaitingVerification:
			session, err = s.completeOnce(ctx, actor, o, completion)
		case Paying:
			session, err = s.awaitPayment(ctx, actor, o, completion)
		case Canceled, Expired:
			return s.sessionWithError(ctx, actor, o, fail(registrar.KindConflict, NotOpen))
		default: // paid: nothing is charged again
			return s.currentSession(ctx, actor, o)
		}
		if !errors.Is(err, errConflict) {
			return session, err
		}
	}
	return Session{}, errBusy()
}

// completeOnce makes one attempt. It returns errConflict if the order has changed.
func (s *Service) completeOnce(ctx context.Context, actor registrar.Actor, o Order, completion Completion) (Session, error) {
	checked, err := s.recheck(ctx, actor, o, completion)
	if err != nil {
		return Session{}, err
	}
	session, err := s.buildSession(checked.view, checked.resolved)
	if err != nil {
		return Session{}, err
	}
	if checked.problem != nil {
		return session, s.conflictOr(ctx, checked.view.Order, checked.problem)
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
		s.startProvisioning(&m)
		if err := s.transition(ctx, &m); err != nil {
			return Session{}, err
		}
		return s.currentSession(ctx, actor, m.To)
	case completion.Token == "":
		return s.handToHuman(ctx, session, ProblemNoPayment)
	}
	call, cancel := s.worker.CallContext(ctx)
	err = s.cfg.Provider.CheckToken(call, completion.Token, o.Totals.Gross, s.now())
	cancel()
	if err != nil {
		return session, s.conflictOr(ctx, o, err)
	}
	return s.chargeToken(ctx, actor, o, checked, completion.Token)
}

func (o *Order) setCompleter(agent registrar.Actor) {
	if o.Agent == "" {
		o.Completer = agent.Through
	}
}

// conflictOr returns the error, or errConflict if the order was updated since it was read. A
// taken name or a spent token may then result from the same request sent twice, because the
// order is always updated first.
func (s *Service) conflictOr(ctx context.Context, read Order, problem error) error {
	if now, err := s.reload(ctx, read.ID); err == nil && now.Version != read.Version {
		return errConflict
	}
	return problem
}

type recheckResult struct {
	view     View
	resolved resolvedBuyer
	problem  error // why the order can't be completed as it is
}

// recheck quotes all items again and stores what has changed.
func (s *Service) recheck(ctx context.Context, actor registrar.Actor, o Order, completion Completion) (checked recheckResult, err error) {
	now := o.clone()
	if checked.resolved, err = s.updateBuyer(ctx, &now, completion.Contact); err != nil {
		return checked, err
	}
	requests, err := s.quoteRequests(ctx, &now, checked.resolved.buyer)
	if err != nil {
		return checked, err
	}
	results := make([]quoteResult, len(now.Items))
	if checked.resolved.buyer.HasRegistrant { // without registrant data the order can't be completed
		purpose := registrar.ForQuote
		if completion.Token != "" || o.Totals.Gross == 0 {
			purpose = paymentPurpose(o, checked.resolved.buyer)
		}
		if results, err = s.quoteFresh(ctx, actor, purpose, requests); err != nil {
			return checked, err
		}
		refuseHolders(now.Items, checked.resolved.buyer, results)
		if err := s.applyQuotes(ctx, &now, checked.resolved.buyer, results); err != nil {
			return checked, err
		}
	}
	changed := priceDiffers(o, now)
	if now.Contact != o.Contact || now.Customer != o.Customer || needsUpdate(o, now) {
		s.releaseLease(&now)
		m := Transition{From: o, To: now, GuestRegistrant: checked.resolved.normalized}
		if err := s.transition(ctx, &m); err != nil {
			return checked, err
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
	return checked, nil
}

// handToHuman returns the link for a human. A guest is mailed a claim link.
func (s *Service) handToHuman(ctx context.Context, session Session, problem registrar.Code) (Session, error) {
	o, err := s.sendClaimMail(ctx, session.Order, claimMailInterval)
	if err != nil {
		return session, err
	}
	session.Order, session.Problem, session.Status = o, problem, NotReady
	return session, nil
}

// chargeToken charges the token. Only the process that stores the intent confirms it;
// if that process dies, the intent is canceled or found to be paid.
func (s *Service) chargeToken(ctx context.Context, actor registrar.Actor, o Order, checked recheckResult, token string) (Session, error) {
	next := o.clone()
	next.setCompleter(actor)
	next.Registrant = checked.resolved.buyer.registrant()
	id := s.startPayment(&next, ByToken)
	m := Transition{From: o, To: next, ExpectedBuyer: o.expectedBuyer(checked.resolved.buyer)}
	if err := s.transition(ctx, &m); err != nil {
		return Session{}, err
	}
	failpoint.Hit("charge_written")
	o, err := s.prepareCharge(ctx, m.To, id, checked.resolved.buyer, PaymentMethod{})
	if err != nil {
		return Session{}, err
	}
	payment := o.payment(id)
	if payment == nil || payment.State != PaymentOpen {
		return Session{}, errConflict // abandoned meanwhile
	}
	failpoint.Hit("intent_known")
	release, _ := s.paymentLocks.acquire(ctx, payment.Intent)
	defer release()
	call, cancel := s.worker.CallContext(ctx)
	outcome, err := s.cfg.Provider.Charge(call, Charge{ID: id, Order: o.ID, Amount: payment.Amount, Intent: payment.Intent, Token: token})
	cancel()
	if err != nil && registrar.IsTransient(err) {
		s.retryLater(ctx, o, "charge", err)
		return Session{}, err
	}
	failpoint.Hit("charge_made")
	return s.applyChargeOutcome(ctx, actor, o, id, checked, outcome, err)
}

// applyChargeOutcome returns the session after the outcome of a token's charge, or the
// provider's refusal of it, is stored.
func (s *Service) applyChargeOutcome(ctx context.Context, actor registrar.Actor, o Order, id string, checked recheckResult, outcome ChargeOutcome, refusal error) (Session, error) {
	o, failure, err := s.settleCharge(ctx, o, id, outcome, refusal)
	switch {
	case err != nil && (failure == "" || !registrar.IsTransient(err)):
		return Session{}, err
	case failure != "":
		return s.sessionNotCharged(ctx, actor, o, checked, failure, refusal)
	case o.State == Provisioning && o.Agent == actor.Through: // paid: the agent may read its own order without a link
		return s.currentSession(ctx, actor, o)
	default:
		return Session{}, errConflict // paid, or the caller waits for the provider
	}
}

// sessionNotCharged is the outcome of a token that did not pay, unless it did after all.
func (s *Service) sessionNotCharged(ctx context.Context, actor registrar.Actor, o Order, checked recheckResult, failure registrar.Code, refusal error) (session Session, err error) {
	if !o.State.Open() {
		return s.currentSession(ctx, actor, o)
	}
	checked.view.Order = o
	if session, err = s.buildSession(checked.view, checked.resolved); err != nil {
		return Session{}, err
	}
	switch failure {
	case ProblemHuman:
		return s.handToHuman(ctx, session, ProblemHuman)
	case ProviderRefused:
		return session, &registrar.Error{Kind: registrar.KindInternal, Code: ProviderRefused, Err: refusal}
	default:
		return session, fail(registrar.KindConflict, failure)
	}
}

// awaitPayment returns the outcome of the payment in progress to another completion, or
// errConflict if that does not decide this completion: the order is paid, or crash recovery
// has returned it unpaid.
func (s *Service) awaitPayment(ctx context.Context, actor registrar.Actor, o Order, completion Completion) (session Session, err error) {
	payment := o.inFlightPayment()
	if payment == nil {
		return Session{}, errConflict // settled between the queries that read the order
	}
	if payment.Kind == ByPage && payment.State != PaymentClosing {
		return s.sessionHumanPaying(ctx, actor, o, payment.ID)
	}
	leave, ok := s.waiters.Acquire(actor.Through)
	if !ok {
		return s.sessionInProgress(ctx, actor, o)
	}
	defer leave()
	waiting, cancel := context.WithDeadline(ctx, completion.Until)
	defer cancel()
	id := payment.ID
	ended, err := jobs.Poll(waiting, completion.CallerGone, s.cfg.Draining, minPollInterval, maxPollInterval, func() (bool, error) {
		now, err := s.reload(ctx, o.ID)
		if err != nil {
			return false, err
		}
		o, payment = now, now.payment(id)
		return payment == nil || !payment.State.inFlight(), nil
	})
	switch {
	case err != nil && waiting.Err() == nil:
		return Session{}, err
	case !ended: // also if the last read failed after the deadline
		return s.sessionInProgress(ctx, actor, o)
	case payment == nil || payment.Failure == "":
		return Session{}, errConflict
	}
	// The customer may have unlinked the agent meanwhile.
	failure := payment.Failure
	if o, err = s.orderForAgent(ctx, actor, o.ID); err != nil {
		return Session{}, err
	}
	return s.sessionNotCharged(ctx, actor, o, recheckResult{}, failure, nil)
}

func (s *Service) sessionInProgress(ctx context.Context, actor registrar.Actor, o Order) (Session, error) {
	return s.sessionWithError(ctx, actor, o, &registrar.Error{Kind: registrar.KindConflict, Code: PaymentInProgress, RetryAfter: inProgressRetry})
}

// sessionHumanPaying is the result while a customer has a payment page, for as long as
// the page lives. If the page is paid or closed already, the caller decides again; if
// the provider can't be called, the stored state is returned.
func (s *Service) sessionHumanPaying(ctx context.Context, actor registrar.Actor, o Order, payment string) (session Session, err error) {
	if s.refreshPaymentCached(ctx, o, payment, "complete") == nil {
		if o, err = s.reload(ctx, o.ID); err != nil {
			return Session{}, err
		}
		if mine := o.payment(payment); o.State != Paying || mine == nil || !mine.State.inFlight() {
			return Session{}, errConflict
		}
	}
	session, err = s.currentSession(ctx, actor, o)
	session.Problem = ProblemPaying
	return session, err
}
