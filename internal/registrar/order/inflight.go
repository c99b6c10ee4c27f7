package order

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// CompletionWait is how long a completion waits for a payment in progress.
	CompletionWait = 15 * time.Second
	// MaxWaitersPerAgent bounds the waiting completions of one agent, maxWaiters those
	// of all; any more get PaymentInProgress at once.
	MaxWaitersPerAgent = 64
	maxWaiters         = 256

	// The order is polled, because any node may change it, at growing intervals.
	minPollInterval = 25 * time.Millisecond
	maxPollInterval = time.Second
	// inProgressRetry is the Retry-After of PaymentInProgress.
	inProgressRetry = 2 * time.Second
)

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
