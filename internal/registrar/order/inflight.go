package order

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// CompletionWait is how long a completion waits for a payment that is in progress.
	CompletionWait = 15 * time.Second
	// MostWaitersPerAgent bounds the completions of one agent that wait at one moment,
	// mostWaiters those of all; more are answered at once with PaymentInProgress.
	MostWaitersPerAgent = 64
	mostWaiters         = 256

	// The order is read again after firstPoll, then less and less often. It may be
	// changed by any node.
	firstPoll = 25 * time.Millisecond
	longPoll  = time.Second
	// inProgressRetry is when a caller asks again about a payment without an outcome.
	inProgressRetry = 2 * time.Second
)

// PaymentInProgress goes with KindConflict: a payment is in progress whose outcome did
// not arrive in time.
const PaymentInProgress registrar.Code = "payment_in_progress"

// awaitPayment answers a completion that meets a payment in progress with the outcome
// of that payment. It is not finished if there is none that answers this completion as
// well: the order is paid, or was given back unpaid by whoever recovered it from a
// crash, and the caller decides again.
func (s *Service) awaitPayment(ctx context.Context, actor registrar.Actor, o Order, done Completion) (session Session, finished bool, err error) {
	payment := o.underWay()
	if payment == nil {
		return Session{}, false, nil // it was settled between the queries that read the order
	}
	if payment.Kind == ByPage && payment.State != PaymentClosing {
		return s.humanPays(ctx, actor, o, payment.ID)
	}
	leave, ok := s.waiters.Enter(actor.Through)
	if !ok {
		return s.inProgress(ctx, actor, o)
	}
	defer leave()
	waiting, cancel := context.WithDeadline(ctx, done.Until)
	defer cancel()
	id := payment.ID
	ended, err := duty.Poll(waiting, done.Gone, s.cfg.Closing, firstPoll, longPoll, func() (bool, error) {
		now, err := s.again(ctx, o.ID)
		if err != nil {
			return false, err
		}
		o, payment = now, now.payment(id)
		return payment == nil || !payment.State.underWay(), nil
	})
	switch {
	case err != nil && waiting.Err() == nil:
		return Session{}, true, err
	case !ended: // also if the last read failed after the deadline
		return s.inProgress(ctx, actor, o)
	case payment == nil || payment.Failure == "":
		return Session{}, false, nil
	}
	// A customer may have taken the agent's permission away meanwhile.
	failure := payment.Failure
	if o, err = s.ofAgent(ctx, actor, o.ID); err != nil {
		return Session{}, true, err
	}
	return s.notCharged(ctx, actor, o, asked{}, failure, nil)
}

// inProgress is the answer while a payment has no outcome.
func (s *Service) inProgress(ctx context.Context, actor registrar.Actor, o Order) (Session, bool, error) {
	session, err := s.beside(ctx, actor, o, &registrar.Error{
		Kind: registrar.KindConflict, Code: PaymentInProgress, RetryAfter: inProgressRetry,
	})
	return session, true, err
}

// humanPays is the answer while a human has a page to pay at, which can take as long
// as the page lives. If it is paid or has ended already, the caller decides again; if
// the provider can't be asked, the stored state is the answer.
func (s *Service) humanPays(ctx context.Context, actor registrar.Actor, o Order, payment string) (session Session, finished bool, err error) {
	if s.lookLately(ctx, o, payment, "complete") == nil {
		if o, err = s.again(ctx, o.ID); err != nil {
			return Session{}, true, err
		}
		if mine := o.payment(payment); o.State != Paying || mine == nil || !mine.State.underWay() {
			return Session{}, false, nil
		}
	}
	session, err = s.session(ctx, actor, o)
	session.Problem = ProblemPaying
	return session, true, err
}
