package order

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// lookEvery is how often orders are looked for that others stored or left.
	lookEvery = time.Second
	atOnce    = 16
)

func (s *Service) newLoop() *duty.Loop[Order] {
	return &duty.Loop[Order]{
		Due: s.due, Key: func(o Order) string { return o.ID }, Do: s.work,
		Failed: duty.Report(s.cfg.Logger, "orders"),
		Every:  lookEvery, Batch: 4 * atOnce, AtOnce: atOnce,
	}
}

func (s *Service) due(ctx context.Context, limit int) ([]Order, error) {
	now := s.clock()
	orders, err := s.cfg.Store.DueOrders(ctx, now, limit)
	if err != nil {
		return nil, err
	}
	oldest := time.Duration(0)
	if len(orders) > 0 {
		oldest = max(0, now.Sub(orders[0].DueAt))
	}
	s.cfg.Oldest(oldest)
	return orders, nil
}

// Wake says that an order has become due. It never waits.
func (s *Service) Wake() { s.loop.Wake() }

// Run does what is due until ctx ends. What this node held when it stopped is due
// when it starts (store.DB.TakeNode).
func (s *Service) Run(ctx context.Context) { s.loop.Run(ctx) }

// work does what an order that is due waits for.
func (s *Service) work(ctx context.Context, o Order) {
	if ctx.Err() != nil {
		return
	}
	var (
		known = make(map[string]bool, len(o.Refunds)) // refunds whose call may have been sent
		err   error
		what  string
	)
	for _, refund := range o.Refunds {
		known[refund.ID] = true
	}
	switch o.State {
	case AwaitingPayment, AwaitingVerification:
		what = "identity"
		o, err = s.await(ctx, o)
	case Paying:
		what = "payment"
		o, err = s.inquire(ctx, o)
	case Provisioning:
		what = "lines"
		o, err = s.finish(ctx, o)
	default: // at its end: only refunds are left
	}
	if err == nil && o.refundsDue() {
		what = "refund"
		if o, err = s.take(ctx, o); err == nil {
			o, err = s.refund(ctx, o, func(r Refund) bool { return known[r.ID] })
		}
	}
	if err != nil {
		s.wait(ctx, o, what, err)
	}
}

// take claims an order for calls to the provider. Whoever is later finds nothing to
// change: it gets an error that says nothing, because somebody is at it.
func (s *Service) take(ctx context.Context, o Order) (Order, error) {
	if o.Node != "" && o.DueAt.After(s.clock()) {
		if o.Node == s.cfg.Node {
			return o, nil // this node has just written it
		}
		return o, errTaken
	}
	now := o.clone()
	now.Attempts++
	s.hold(&now)
	m := Move{Was: o, Order: now}
	moved, err := s.move(ctx, &m)
	if err != nil {
		return o, err
	}
	if !moved {
		return o, errTaken
	}
	return m.Order, nil
}

// errTaken says that somebody else has changed the order and cares for it.
var errTaken = fail(registrar.KindConflict, "taken")

// await looks at an order that waits for a human.
func (s *Service) await(ctx context.Context, o Order) (Order, error) {
	if o.State == AwaitingVerification && !s.over(o) {
		if err := s.lookIdentity(ctx, o.Customer); err != nil {
			o.Attempts++ // so that it is asked more and more rarely
			return o, err
		}
		var err error
		if o, err = s.again(ctx, o.ID); err != nil {
			return o, err
		}
	}
	o, err := s.expire(ctx, o)
	if err != nil || !o.State.Open() || o.State == Paying || o.DueAt.After(s.clock()) || o.refundsDue() {
		return o, err
	}
	now := o.clone()
	if now.State == AwaitingVerification && now.Attempts > 0 {
		now.Attempts++
	}
	return s.leave(ctx, o, now)
}

// leave puts an order to rest until somebody has to look at it again.
func (s *Service) leave(ctx context.Context, was, now Order) (Order, error) {
	s.rest(&now)
	m := Move{Was: was, Order: now}
	moved, err := s.move(ctx, &m)
	if err == nil && !moved {
		err = errTaken
	}
	return m.Order, err
}

// inquire looks at the payment that is under way.
func (s *Service) inquire(ctx context.Context, o Order) (Order, error) {
	o, err := s.take(ctx, o)
	if err != nil {
		return o, err
	}
	payment := o.underWay()
	if payment == nil {
		return o, &registrar.Error{Kind: registrar.KindInternal, Detail: "an order is paying without a payment"}
	}
	if payment.Kind == ByToken {
		// Whoever was charging is gone, and nobody else has the token.
		if o, err = s.closePage(ctx, o); err != nil {
			return o, errTaken // it has been postponed there
		}
		return o, nil
	}
	switch payment.State {
	case PaymentOpening:
		if !s.now().Before(payment.EndsAt) {
			// The provider would refuse to make it now, and nobody has its address.
			return s.abandon(ctx, o, payment.ID)
		}
		buyer, err := s.cfg.Store.BuyerOf(ctx, o.Customer)
		if err != nil {
			return o, err
		}
		o, _, _, err = s.openPage(ctx, o, buyer)
		if err != nil && waits(err) {
			return o, errTaken // it has been postponed there
		}
		return o, nil
	case PaymentClosing:
		if o, err = s.closePage(ctx, o); err != nil {
			return o, errTaken // it has been postponed there
		}
		return o, nil
	default:
		if o, err = s.look(ctx, o, payment.ID); err != nil || o.State != Paying || o.Node != s.cfg.Node {
			return o, err
		}
		return s.leave(ctx, o, o.clone())
	}
}

// finish looks at the lines of a paid order.
func (s *Service) finish(ctx context.Context, o Order) (Order, error) {
	owed := len(o.Refunds)
	o, err := s.change(ctx, o, func(was Order) (Move, bool) {
		if was.State != Provisioning {
			return Move{}, false
		}
		return s.conclude(was)
	})
	if err != nil {
		return o, err
	}
	if len(o.Refunds) > owed {
		boundary(atRefundWritten)
	}
	if o.State.Final() {
		boundary(atSettled)
	}
	if o.State != Provisioning || o.refundsDue() || o.DueAt.After(s.clock()) {
		return o, nil
	}
	now := o.clone()
	now.Attempts++
	return s.leave(ctx, o, now)
}

// wait leaves an order for later. It is never given up: what is written down
// happens, or somebody has to be told.
func (s *Service) wait(ctx context.Context, o Order, what string, err error) {
	if err == errTaken { //nolint:errorlint // the very one
		return
	}
	kind, code := registrar.KindOf(err), registrar.CodeOf(err)
	s.cfg.Waiting(what, code)
	s.cfg.SetBack(ctx, o.ID, code)
	pause := duty.Pause(max(1, o.Attempts), firstPause, longPause)
	log := s.cfg.Logger.With("order", o.ID, "state", string(o.State), "what", what, "reason", kind.String(), "code", string(code),
		"attempts", o.Attempts, "again_in", pause.String())
	if kind == registrar.KindInternal || !waits(err) {
		log.ErrorContext(ctx, "an order waits, and somebody has to do something", "detail", err.Error())
	} else {
		log.WarnContext(ctx, "an order waits for the payment provider")
	}
	now := o.clone()
	now.Node, now.DueAt = "", s.clock().Add(pause)
	if _, err := s.move(ctx, &Move{Was: o, Order: now}); err != nil {
		s.cfg.Logger.ErrorContext(ctx, "an order can't be stored; its lease ends by itself", "order", o.ID, "error", err.Error())
	}
}
