package order

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// The steps that payments by token and by saved method share: the intent is created, stored,
// confirmed once, and canceled if it does not pay. doc.go has the states.

// prepareCharge creates the intent of a stored payment and stores it. If that fails,
// the payment is closed: an intent that is not stored is never confirmed. method is zero for
// a token.
func (s *Service) prepareCharge(ctx context.Context, o Order, id string, buyer Buyer, method PaymentMethod) (Order, error) {
	over, err := s.mustRecheck(ctx, o, buyer)
	intent := ""
	if err == nil && !over {
		call, cancel := s.worker.CallContext(ctx)
		intent, err = s.cfg.Provider.PrepareCharge(call, Charge{ID: id, Order: o.ID, Amount: o.payment(id).Amount, Method: method})
		cancel()
	}
	if err != nil || over {
		left, stored := s.abandonPayment(ctx, o, id, prepareFailure(o.payment(id).Kind, err))
		if err == nil {
			return left, stored
		}
		if !registrar.IsTransient(err) && registrar.CodeOf(err) != NoPaymentMethod {
			s.cfg.Logger.ErrorContext(ctx, "payment intent refused", "order", o.ID, "payment", id, "error", err.Error())
			err = &registrar.Error{Kind: registrar.KindInternal, Code: ProviderRefused, Err: err}
		}
		return left, err
	}
	return s.updatePayment(ctx, o, id, PaymentOpening, func(m *Transition, mine *Payment) {
		mine.State, mine.Session, mine.Intent = PaymentOpen, intent, intent
		m.To.Attempts = 0
		s.setLease(&m.To)
	})
}

// prepareFailure is why a payment ended before its intent existed. It is stored for saved
// methods only: an agent gets the error.
func prepareFailure(kind PaymentKind, err error) registrar.Code {
	switch {
	case kind != ByMethod || err == nil:
		return ""
	case registrar.CodeOf(err) == NoPaymentMethod:
		return NoPaymentMethod
	case registrar.IsTransient(err):
		return ProviderUnavailable
	default:
		return ProviderRefused
	}
}

// settleCharge stores the outcome of a charge, or the provider's refusal of it. failure is
// why it did not pay; without one it is paid, or the provider is still processing it. The
// error says that the outcome is not stored, or that the intent could not be canceled yet.
func (s *Service) settleCharge(ctx context.Context, o Order, id string, outcome ChargeOutcome, refusal error) (now Order, failure registrar.Code, err error) {
	kind := o.payment(id).Kind
	failure = outcome.Declined
	switch {
	case refusal != nil && registrar.CodeOf(refusal) == NoPaymentMethod:
		failure = NoPaymentMethod
	case refusal != nil:
		s.cfg.Logger.ErrorContext(ctx, "charge refused", "order", o.ID, "payment", id, "error", refusal.Error())
		failure = ProviderRefused
	case outcome.NeedsHuman && kind == ByMethod:
		failure = AuthenticationRequired
	case outcome.NeedsHuman:
		failure = ProblemHuman
	}
	if failure == "" {
		if o, err = s.applyPaymentStatus(ctx, o, id, outcome.Status); err != nil || o.State != Paying {
			return o, "", err
		}
		o, err = s.update(ctx, o, func(m *Transition) bool { // processing may take a while
			s.releaseLease(&m.To)
			return m.From.State == Paying && m.From.Node == s.cfg.Node
		})
		return o, "", err
	}
	o, err = s.updatePayment(ctx, o, id, PaymentOpen, func(m *Transition, mine *Payment) {
		mine.State, mine.Failure = PaymentClosing, failure
		s.setLease(&m.To)
	})
	// If the payment was closed elsewhere, another one may be in flight by now.
	if mine := o.payment(id); err == nil && mine != nil && mine.State == PaymentClosing {
		o, err = s.closePayment(ctx, o)
	}
	return o, failure, err
}
