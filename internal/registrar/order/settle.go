package order

import (
	"context"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Why money goes back, as the provider is told.
const (
	reasonItem    = "failed_item"
	reasonSurplus = "surplus"
)

// RefundReasons are all reasons for which money goes back.
func RefundReasons() []string { return []string{reasonItem, reasonSurplus} }

// currency is the only one in which anything is sold.
const currency = "eur"

// Heard looks at what a message of the provider is about. It returns an error if
// that was not possible, so that the provider repeats the message; something that
// nobody here knows is none.
func (s *Service) Heard(ctx context.Context, event Event) error {
	if event.Verification != "" {
		return s.heardIdentity(ctx, event.Verification)
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
		_, err = s.look(ctx, o, payment.ID)
		return err
	}
	return nil
}

// look asks the provider how a payment stands and writes down what follows from it.
// What is decided is not asked about again.
func (s *Service) look(ctx context.Context, o Order, id string) (Order, error) {
	payment := o.payment(id)
	if payment == nil || payment.Session == "" {
		return o, nil
	}
	if !payment.State.underWay() && payment.State != PaymentClosed {
		return o, nil
	}
	call, cancel := s.calling(ctx)
	standing, err := s.standing(call, *payment)
	cancel()
	if err != nil {
		return o, err
	}
	return s.settle(ctx, o, id, standing)
}

// lookLately is look for page views: of those that come to one page within LookAgain,
// one asks the provider and the others wait for the same answer.
func (s *Service) lookLately(ctx context.Context, o Order, id, page string) error {
	_, err := s.looked.Ask(ctx, page+":"+id, nil, func(ctx context.Context) (struct{}, error) {
		_, err := s.look(ctx, o, id)
		return struct{}{}, err
	})
	return err
}

// standing asks how a payment stands, of whichever kind it is.
func (s *Service) standing(ctx context.Context, payment Payment) (Standing, error) {
	switch {
	case payment.Kind != ByToken:
		return s.cfg.Payments.Look(ctx, payment.Session)
	case s.cfg.Tokens == nil:
		return Standing{}, errNoTokens
	default:
		return s.cfg.Tokens.LookCharge(ctx, payment.Session)
	}
}

// shutDown takes from everybody what a payment could still be paid by.
func (s *Service) shutDown(ctx context.Context, payment Payment) (Standing, error) {
	switch {
	case payment.Kind != ByToken:
		return s.cfg.Payments.ClosePage(ctx, payment.Session)
	case s.cfg.Tokens == nil:
		return Standing{}, errNoTokens
	default:
		return s.cfg.Tokens.CancelCharge(ctx, payment.Session)
	}
}

// errNoTokens is for a payment that was made while tokens were taken.
var errNoTokens = &registrar.Error{Kind: registrar.KindInternal, Detail: "a payment by token is under way, and none are taken any more"}

// verdict is what a payment's standing means for its order.
type verdict uint8

const (
	unchanged verdict = iota
	// keep: the money pays for the order.
	keep
	// giveBack: the money is there, and the order does not want it.
	giveBack
	// shut: the page can't be paid any more.
	shut
	// foreign: the provider tells of a payment that is not this one.
	foreign
)

// judge is the heart of it, and a pure function. Money is kept only if the order
// waits for this very payment and it is the very sum.
func judge(o Order, id string, standing Standing) verdict {
	payment := o.payment(id)
	if payment == nil {
		return unchanged
	}
	underWay := payment.State.underWay()
	if !underWay && payment.State != PaymentClosed {
		return unchanged // it is decided
	}
	if !standing.Paid {
		if standing.Ended && underWay {
			return shut
		}
		return unchanged
	}
	if standing.Payment != payment.ID || standing.Order != o.ID {
		return foreign
	}
	if underWay && o.State == Paying && o.kept() == nil &&
		standing.Amount == payment.Amount && payment.Amount == o.Totals.Gross && strings.EqualFold(standing.Currency, currency) {
		return keep
	}
	return giveBack
}

// decide is what judge says, but nothing is sold to an account that was closed while
// its page was open.
func (s *Service) decide(ctx context.Context, o Order, id string, standing Standing) (verdict, error) {
	what := judge(o, id, standing)
	if what != keep {
		return what, nil
	}
	_, err := s.cfg.Store.BuyerOf(ctx, o.Customer)
	if registrar.CodeOf(err) == NoSuchCustomer {
		return giveBack, nil
	}
	return what, err
}

// settle writes down what the provider said of a payment. Paid and ended are said
// for ever, so a standing is as good for the order as others have left it.
func (s *Service) settle(ctx context.Context, o Order, id string, standing Standing) (Order, error) {
	if standing.Paid {
		boundary(atMoneySeen)
	}
	for range tries {
		m := Move{Was: o, Order: o.clone()}
		payment := m.Order.payment(id)
		what, err := s.decide(ctx, o, id, standing)
		if err != nil {
			return o, err
		}
		switch what {
		case unchanged:
			return o, nil
		case foreign:
			err := &registrar.Error{Kind: registrar.KindInternal, Detail: "the provider's page belongs to another payment"}
			s.cfg.Logger.ErrorContext(ctx, "a payment page is not what it should be, and somebody has to look", "order", o.ID, "payment", id)
			return o, err
		case shut:
			payment.State, payment.UpdatedAt = PaymentClosed, s.now()
			s.reopen(&m)
		case giveBack:
			payment.State, payment.Intent, payment.Card, payment.UpdatedAt = PaymentSurplus, standing.Intent, standing.Card, s.now()
			m.Deeds, m.Letters = []registrar.Deed{s.ownDeed(ActionSurplus, o)}, []registrar.Letter{surplusLetter(o, standing.Amount)}
			s.owe(&m.Order, id, "", standing.Amount)
			s.reopen(&m)
			m.Order.DueAt = s.clock()
		case keep:
			payment.State, payment.Intent, payment.Card, payment.UpdatedAt = PaymentKept, standing.Intent, standing.Card, s.now()
			if o.AutoRenew {
				m.Method = standing.Method
			}
			m.Deeds = []registrar.Deed{s.ownDeed(ActionPaid, o)}
		}
		moved, err := s.store(ctx, &m, what)
		if err != nil {
			return o, err
		}
		if moved {
			return m.Order, nil
		}
		if o, err = s.again(ctx, o.ID); err != nil {
			return o, err
		}
	}
	return o, errBusy()
}

func (s *Service) store(ctx context.Context, m *Move, what verdict) (bool, error) {
	if what == keep {
		return s.provision(ctx, m)
	}
	moved, err := s.move(ctx, m)
	if err == nil && moved && what == giveBack {
		s.cfg.Logger.WarnContext(ctx, "a payment that no order wants is given back", "order", m.Order.ID)
		boundary(atRefundWritten)
		s.loop.Wake()
	}
	return moved, err
}

// reopen lets an order whose payment under way is over be paid in another way, or
// not at all if its time has come.
func (s *Service) reopen(m *Move) {
	if m.Order.State != Paying || m.Order.underWay() != nil {
		s.rest(&m.Order)
		return
	}
	// Whoever pays it next may be somebody else, and speaks for themselves.
	m.Order.Completer, m.Order.Consent = "", Consent{}
	if s.over(m.Order) {
		s.enter(&m.Order, Expired)
		if len(m.Deeds) == 0 {
			m.Deeds = []registrar.Deed{s.ownDeed(ActionExpired, m.Order)}
		}
		return
	}
	s.enter(&m.Order, AwaitingPayment)
}

// provision is the step from paid, or free, to lines that are carried out.
func (s *Service) provision(ctx context.Context, m *Move) (bool, error) {
	now := s.now()
	for i := range m.Order.Items {
		item := &m.Order.Items[i]
		item.State, item.Line = ItemProvisioning, registrar.NewID("lin_", now)
	}
	m.Order.PaidAt, m.Lines = now, true
	s.enter(&m.Order, Provisioning)
	m.Letters = append(m.Letters, receipt(m.Order))
	if !m.Order.Claimed {
		m.Order.ClaimAskedAt = now
		m.Letters = append(m.Letters, claimLetter(m.Order))
	}
	moved, err := s.move(ctx, m)
	if err != nil || !moved {
		return false, err
	}
	boundary(atPaidWritten)
	s.cfg.Lines.Wake()
	return true, nil
}

// owe writes down that money goes back, once.
func (s *Service) owe(o *Order, payment, item string, amount registrar.Cents) {
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

// conclude looks at the lines of a paid order: what failed is owed, and when all
// are at their end, so is the order.
func (s *Service) conclude(o Order) (Move, bool) {
	now := o.clone()
	kept, over, active := now.kept(), true, 0
	for i := range now.Items {
		switch item := &now.Items[i]; item.State {
		case ItemActive:
			active++
		case ItemFailed:
			if kept != nil && item.Gross > 0 {
				s.owe(&now, kept.ID, item.ID, item.Gross)
			}
		case ItemRefunded:
		default:
			over = false
		}
	}
	if !over && len(now.Refunds) == len(o.Refunds) {
		return Move{}, false
	}
	m := Move{Order: now}
	if over {
		state := PartiallyCompleted
		switch active {
		case len(now.Items):
			state = Completed
		case 0:
			state = Failed
		}
		s.enter(&m.Order, state)
		m.Deeds = []registrar.Deed{s.ownDeed(ActionDone, now)}
		m.Letters = []registrar.Letter{outcome(m.Order)}
	}
	if m.Order.refundsDue() {
		s.hold(&m.Order)
	} else {
		s.rest(&m.Order)
	}
	return m, true
}

// refund gives back what is owed. asked says that a call may have been sent before;
// it is false for what was owed only just now. What the provider refuses is for a
// person to mend, and the others' money does not wait for that.
func (s *Service) refund(ctx context.Context, o Order, asked func(Refund) bool) (Order, error) {
	var refused error
	for _, due := range o.Refunds {
		if due.Provider != "" {
			continue
		}
		payment := o.payment(due.Payment)
		reason := reasonItem
		if due.Item == "" {
			reason = reasonSurplus
		}
		call, cancel := s.calling(ctx)
		id, err := s.cfg.Payments.Refund(call, RefundCall{
			ID: due.ID, Order: o.ID, Intent: payment.Intent, Amount: due.Amount, Reason: reason,
		}, asked(due))
		cancel()
		if err != nil && !waits(err) {
			refused = err
			continue
		}
		if err != nil {
			return o, err
		}
		boundary(atRefundMade)
		if o, err = s.refunded(ctx, o, due.ID, id); err != nil {
			return o, err
		}
		boundary(atRefundKnown)
		s.cfg.Refunded(reason)
	}
	return o, refused
}

// refunded writes down that the provider has given money back.
func (s *Service) refunded(ctx context.Context, o Order, refund, provider string) (Order, error) {
	return s.change(ctx, o, func(was Order) (Move, bool) {
		now := was.clone()
		for i := range now.Refunds {
			made := &now.Refunds[i]
			if made.ID != refund || made.Provider != "" {
				continue
			}
			made.Provider, made.MadeAt = provider, s.now()
			if item := now.item(made.Item); item != nil {
				item.State = ItemRefunded
			} else if payment := now.payment(made.Payment); payment != nil && payment.State == PaymentSurplus {
				payment.State, payment.UpdatedAt = PaymentReturned, s.now()
			}
			now.Attempts = 0
			if now.refundsDue() {
				s.hold(&now)
			} else {
				s.rest(&now)
			}
			return Move{Order: now, Deeds: []registrar.Deed{s.ownDeed(ActionRefunded, now)}}, true
		}
		return Move{}, false
	})
}
