package lifecycle

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
)

// reportedFee is the charge for a deletion as the registry reported it; nil if it costs nothing,
// or if the term was not paid: what the registry then returns is its own renewal, which has no
// charge (package cost).
func (s *Service) reportedFee(term Term, fee registrar.Money, at time.Time) *cost.Charge {
	if term.Cause != CauseRefund || fee.Amount == 0 {
		return nil
	}
	// With the precision of registries, so that a balance stated because of it is not earlier.
	return s.deletionCharge(term, fee, at.Truncate(time.Millisecond))
}

// unreportedFee is the registration's fee that the registry returned without a report, or whose
// report was lost with the response; nil if it returned none. A domain that is deleted in its add
// grace period is gone at once, and a later one only after its redemption (RFC 3915), so it does
// not matter when this is called.
func (s *Service) unreportedFee(ctx context.Context, term Term, state RegistryState) (*cost.Charge, error) {
	grace := AddGraceOf(term.TLD)
	if term.Cause != CauseRefund || state != Gone || grace.Days == 0 {
		return nil, nil
	}
	storeCtx, cancel := s.terms.StoreContext(ctx)
	defer cancel()
	registration, found, err := s.cfg.Store.GetRegistrationCharge(storeCtx, term.Domain)
	if err != nil {
		return nil, registrar.DatabaseError(err)
	}
	until := registration.At.AddDate(0, 0, grace.Days+PolicyOf(term.TLD).RedemptionDays)
	if !found || !s.cfg.Now().Before(until) || !registration.Amount.IsZero() && registration.Amount.Amount == 0 {
		return nil, nil
	}
	fee := registration.Amount
	fee.Amount = -fee.Amount
	at := term.StepAt // when the command was due: the time of a lost response is unknown
	if at.IsZero() {
		at = s.cfg.Now()
	}
	returned := s.deletionCharge(term, fee, at)
	if returned.Source == cost.FromRegistry {
		returned.Source = cost.FromRegistration
	}
	return returned, nil
}

// deletionCharge is the charge for a deletion. Its id is that of the command: a domain is deleted
// once.
func (s *Service) deletionCharge(term Term, fee registrar.Money, at time.Time) *cost.Charge {
	charge := s.cfg.Costs.Charge(cost.Delete, term.TLD, 0, fee, at)
	charge.ID, charge.Domain, charge.Account = transaction(term, "-x"), term.Domain, term.Account
	return &charge
}
