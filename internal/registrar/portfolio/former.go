package portfolio

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Former is a domain that an account held until it was deleted or handed over to its registry. Those
// transferred to another registrar stay in the list of domains.
type Former struct {
	ID, Name, TLD string
	PaidUntil     time.Time
	EndedAt       time.Time
	HandedOver    bool // to the registry, which asks the registrant; otherwise it was deleted
	Refunded      bool // its registration was refunded
}

// Outcome is what happened to the domain: handed_over, refunded or deleted.
func (f Former) Outcome() string {
	switch {
	case f.HandedOver:
		return "handed_over"
	case f.Refunded:
		return "refunded"
	default:
		return "deleted"
	}
}

// Former returns the former domains of the actor's account, the last to end first.
func (s *Service) Former(ctx context.Context, actor registrar.Actor) ([]Former, error) {
	if actor.Customer == "" {
		return nil, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	domains, err := s.store.ListFormerDomains(ctx, actor.Customer, MaxListed)
	slices.SortStableFunc(domains, func(a, b Former) int { return b.EndedAt.Compare(a.EndedAt) })
	return domains, err
}

// GetFormer returns a former domain of the actor's account.
func (s *Service) GetFormer(ctx context.Context, actor registrar.Actor, domain string) (Former, error) {
	domains, err := s.Former(ctx, actor)
	if err != nil {
		return Former{}, err
	}
	at := slices.IndexFunc(domains, func(f Former) bool { return f.ID == domain })
	if at < 0 {
		return Former{}, registrar.NotFound(registrar.NoSuchDomain)
	}
	return domains[at], nil
}
