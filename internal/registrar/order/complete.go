package order

import (
	"context"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// CompleteSession pays an order with the buyer's token, or confirms one that costs
// nothing. The Session comes beside the error whenever it is known. doc.go has the
// order of the answers; one that is completed already is answered as such.
func (s *Service) CompleteSession(ctx context.Context, actor registrar.Actor, id string, done Completion) (Session, error) {
	if done.Until.IsZero() {
		done.Until = s.clock().Add(CompletionWait)
	}
	for range tries {
		o, err := s.ofAgent(ctx, actor, id)
		if err != nil {
			return Session{}, err
		}
		var (
			session  Session
			finished bool
		)
		switch o.State {
		case AwaitingPayment, AwaitingVerification:
			session, finished, err = s.complete(ctx, actor, o, done)
		case Paying:
			session, finished, err = s.awaitPayment(ctx, actor, o, done)
		case Canceled, Expired:
			return s.beside(ctx, actor, o, fail(registrar.KindConflict, NotOpen))
		default: // paid: nothing is charged again
			return s.session(ctx, actor, o)
		}
		if finished {
			return session, err
		}
	}
	return Session{}, errBusy()
}

// complete tries it once. It is not finished if somebody else has changed the order.
func (s *Service) complete(ctx context.Context, actor registrar.Actor, o Order, done Completion) (session Session, finished bool, err error) {
	asked, finished, err := s.askAgain(ctx, actor, o, done)
	if err != nil || !finished {
		return Session{}, finished, err
	}
	if session, err = s.sessionOf(asked.view, asked.who); err != nil {
		return Session{}, true, err
	}
	if asked.problem != nil {
		return session, !s.overtaken(ctx, asked.view.Order), asked.problem
	}
	o = asked.view.Order
	words := asked.view.Missing
	switch {
	case slices.Contains(words, MissingIdentity):
		return s.handOver(ctx, session, ProblemIdentity)
	case slices.Contains(words, MissingCode):
		return s.handOver(ctx, session, ProblemCode)
	case o.Totals.Gross == 0:
		m := Move{Was: o, Order: o.clone(), For: o.payer(asked.who.buyer), Deeds: []registrar.Deed{s.deed(actor, ActionFree, o)}}
		m.Order.completedBy(actor)
		m.Order.Registrant = asked.who.buyer.holder()
		moved, err := s.provision(ctx, &m)
		if err != nil || !moved {
			return Session{}, err != nil, err
		}
		session, err = s.session(ctx, actor, m.Order)
		return session, true, err
	case done.Token == "" || s.cfg.Tokens == nil:
		return s.handOver(ctx, session, ProblemNoPayment)
	}
	call, cancel := s.calling(ctx)
	err = s.cfg.Tokens.CheckToken(call, done.Token, o.Totals.Gross, s.now())
	cancel()
	if err != nil {
		return session, !s.overtaken(ctx, o), err
	}
	return s.charge(ctx, actor, o, asked, done.Token)
}

// completedBy notes the agent that completes a customer's order.
func (o *Order) completedBy(agent registrar.Actor) {
	if o.Agent == "" {
		o.Completer = agent.Through
	}
}

// overtaken says that an order was moved since it was read. Then a name that is taken,
// or a token that is spent, may be so because of this very order, by the same request
// sent twice: the order is always moved before that.
func (s *Service) overtaken(ctx context.Context, read Order) bool {
	now, err := s.again(ctx, read.ID)
	return err == nil && now.Version != read.Version
}

// asked is an order after price and availability were asked for again.
type asked struct {
	view View
	who  teller
	// problem is why it can't be completed as it is.
	problem error
}

// askAgain asks for everything once more and stores what has changed. It is not
// finished if somebody else has changed the order.
func (s *Service) askAgain(ctx context.Context, actor registrar.Actor, o Order, done Completion) (found asked, finished bool, err error) {
	now := o.clone()
	if found.who, err = s.tell(ctx, &now, done.Contact); err != nil {
		return found, true, err
	}
	wishes, err := s.wishes(now, found.who.buyer)
	if err != nil {
		return found, true, err
	}
	answers := make([]answer, len(now.Items))
	if found.who.buyer.Told { // nobody has to be asked about what can't be completed
		purpose := registrar.ForQuote
		if done.Token != "" && s.cfg.Tokens != nil || o.Totals.Gross == 0 {
			purpose = paymentPurpose(o, found.who.buyer)
		}
		if answers, err = s.askFresh(ctx, actor, purpose, wishes); err != nil {
			return found, true, err
		}
		if err := s.price(ctx, &now, found.who.buyer, answers); err != nil {
			return found, true, err
		}
	}
	changed := dearer(o, now)
	if now.Contact != o.Contact || now.Customer != o.Customer || differs(o, now) {
		if now.State != o.State {
			now.Attempts = 0
		}
		s.rest(&now)
		m := Move{Was: o, Order: now, Fitted: found.who.fitted}
		moved, err := s.move(ctx, &m)
		if err != nil || !moved {
			return found, err != nil, err
		}
		now = m.Order
	}
	found.view = View{Order: now, Owner: found.who.buyer}
	found.view.tell(answers)
	untold := slices.ContainsFunc(found.view.Missing, func(word string) bool { return word != MissingCode && word != MissingIdentity })
	switch no := refusal(now.Items, answers); {
	case untold:
		found.problem = fail(registrar.KindConflict, DataMissing)
	case no != nil:
		found.problem = no
	case changed:
		found.problem = fail(registrar.KindConflict, PriceChanged)
	}
	return found, true, nil
}

// handOver gives a completion to a human, who needs the link. If the order is nobody's
// yet, the buyer gets a letter with which to claim it.
func (s *Service) handOver(ctx context.Context, session Session, problem registrar.Code) (Session, bool, error) {
	o, err := s.offerClaim(ctx, session.Order, claimEvery)
	if err != nil {
		return session, true, err
	}
	session.Order, session.Problem, session.Status = o, problem, NotReady
	return session, true, nil
}

// charge takes the money. The one who stores the intent is the only one who ever
// confirms it; whatever happens to this process after that, the intent is canceled,
// or found to be paid.
func (s *Service) charge(ctx context.Context, actor registrar.Actor, o Order, with asked, token string) (session Session, finished bool, err error) {
	created := s.now()
	id := registrar.NewID("pay_", created)
	next := o.clone()
	next.Payments = append(next.Payments, Payment{
		ID: id, Kind: ByToken, State: PaymentOpening, Amount: next.Totals.Gross, CreatedAt: created, EndsAt: created.Add(pageLives), UpdatedAt: created,
	})
	next.completedBy(actor)
	next.Registrant = with.who.buyer.holder()
	s.enter(&next, Paying)
	s.hold(&next)
	m := Move{Was: o, Order: next, For: o.payer(with.who.buyer)}
	moved, err := s.move(ctx, &m)
	if err != nil || !moved {
		return Session{}, err != nil, err
	}
	boundary(atChargeWritten)
	o, err = s.prepareCharge(ctx, m.Order, id, with.who.buyer)
	if err != nil {
		return Session{}, true, err
	}
	payment := o.payment(id)
	if payment == nil || payment.State != PaymentOpen {
		return Session{}, false, nil // it was given up, by us or by another
	}
	boundary(atIntentKnown)
	call, cancel := s.calling(ctx)
	outcome, err := s.cfg.Tokens.Charge(call, Charge{ID: id, Order: o.ID, Amount: payment.Amount, Intent: payment.Intent, Token: token})
	cancel()
	if err != nil && waits(err) {
		s.wait(ctx, o, "charge", err)
		return Session{}, true, err
	}
	boundary(atChargeMade)
	return s.charged(ctx, actor, o, id, with, outcome, err)
}

// prepareCharge makes the intent of a payment that is written down and stores it. If
// that can't be, the payment is closed: without a stored intent nobody confirms any.
func (s *Service) prepareCharge(ctx context.Context, o Order, id string, buyer Buyer) (Order, error) {
	over, err := s.overTogether(ctx, o, buyer)
	if err == nil && !over && o.Claimed {
		// As with a page: the registrant may have been changed since the price was asked.
		var present Buyer
		present, err = s.cfg.Store.BuyerOf(ctx, o.Customer)
		over = present != buyer
	}
	intent := ""
	if err == nil && !over {
		call, cancel := s.calling(ctx)
		intent, err = s.cfg.Tokens.PrepareCharge(call, Charge{ID: id, Order: o.ID, Amount: o.payment(id).Amount})
		cancel()
	}
	if err != nil || over {
		left, stored := s.abandon(ctx, o, id)
		if err == nil {
			return left, stored
		}
		if !waits(err) {
			s.cfg.Logger.ErrorContext(ctx, "the payment provider refuses to prepare a charge", "order", o.ID, "payment", id, "error", err.Error())
			err = &registrar.Error{Kind: registrar.KindInternal, Code: PaymentRefused, Err: err}
		}
		return left, err
	}
	return s.change(ctx, o, func(was Order) (Move, bool) {
		now := was.clone()
		mine := now.payment(id)
		if mine == nil || mine.State != PaymentOpening {
			return Move{}, false
		}
		mine.State, mine.Session, mine.Intent, mine.UpdatedAt = PaymentOpen, intent, intent, s.now()
		now.Attempts = 0
		s.hold(&now)
		return Move{Order: now}, true
	})
}

// charged writes down what became of a charge. refusal is the provider's word, if it
// did not take the charge at all.
func (s *Service) charged(ctx context.Context, actor registrar.Actor, o Order, id string, with asked, outcome ChargeOutcome, refusal error) (session Session, finished bool, err error) {
	failure := outcome.Declined
	switch {
	case refusal != nil:
		s.cfg.Logger.ErrorContext(ctx, "the payment provider refuses a charge", "order", o.ID, "payment", id, "error", refusal.Error())
		failure = PaymentRefused
	case outcome.NeedsHuman:
		failure = ProblemHuman
	}
	if failure == "" {
		if o, err = s.settle(ctx, o, id, outcome.Standing); err != nil {
			return Session{}, true, err
		}
		if o.State == Paying { // it may take a while
			if o, err = s.change(ctx, o, func(was Order) (Move, bool) {
				now := was.clone()
				s.rest(&now)
				return Move{Order: now}, was.State == Paying && was.Node == s.cfg.Node
			}); err != nil {
				return Session{}, true, err
			}
		}
		return Session{}, false, nil // paid; or the caller waits for the provider
	}
	o, err = s.change(ctx, o, func(was Order) (Move, bool) {
		now := was.clone()
		mine := now.payment(id)
		if mine == nil || mine.State != PaymentOpen {
			return Move{}, false
		}
		mine.State, mine.Failure, mine.UpdatedAt = PaymentClosing, failure, s.now()
		s.hold(&now)
		return Move{Order: now}, true
	})
	// If somebody else has closed it, another payment may be under way by now.
	if mine := o.payment(id); err == nil && mine != nil && mine.State == PaymentClosing {
		o, err = s.closePage(ctx, o)
	}
	if err != nil && !waits(err) {
		return Session{}, true, err
	}
	return s.notCharged(ctx, actor, o, with, failure, refusal)
}

// notCharged is the answer if the token did not pay; but if the intent turns out to be
// paid nevertheless, the order is.
func (s *Service) notCharged(ctx context.Context, actor registrar.Actor, o Order, with asked, failure registrar.Code, refusal error) (session Session, finished bool, err error) {
	if !o.State.Open() {
		session, err = s.session(ctx, actor, o)
		return session, true, err
	}
	with.view.Order = o
	if session, err = s.sessionOf(with.view, with.who); err != nil {
		return Session{}, true, err
	}
	switch failure {
	case ProblemHuman:
		return s.handOver(ctx, session, ProblemHuman)
	case PaymentRefused:
		return session, true, &registrar.Error{Kind: registrar.KindInternal, Code: PaymentRefused, Err: refusal}
	default:
		return session, true, fail(registrar.KindConflict, failure)
	}
}
