package portfolio

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// maxSameName exceeds the number of times a customer plausibly transfers one name out
// and back.
const maxSameName = 20

// FindByName returns the domain with a name, in lower-case A-labels, that the actor's
// account holds; false if the account does not hold it.
func (s *Service) FindByName(ctx context.Context, actor registrar.Actor, name string) (Domain, bool, error) {
	if actor.Customer == "" {
		return Domain{}, false, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	// The page that starts at the name starts with every domain that ever had it.
	domains, err := s.store.ListDomainsPage(ctx, actor.Customer, Filter{Part: name, AfterName: name}, maxSameName)
	for _, domain := range domains {
		if domain.Name == name && domain.Status != registrar.DomainTransferredOut {
			return domain, true, err
		}
	}
	return Domain{}, false, err
}
