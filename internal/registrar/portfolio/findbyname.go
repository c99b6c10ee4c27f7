package portfolio

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// maxSameName is more often than anybody gives a name away and takes it back.
const maxSameName = 20

// FindByName is the domain of a name, in lower case A-labels, if the actor's account holds
// it; false if nobody does, or somebody else.
func (s *Service) FindByName(ctx context.Context, actor registrar.Actor, name string) (Domain, bool, error) {
	if actor.Customer == "" {
		return Domain{}, false, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	// The page that begins with the name begins with every domain that had it.
	domains, err := s.store.ListDomainsPage(ctx, actor.Customer, Filter{Part: name, AfterName: name}, maxSameName)
	for _, domain := range domains {
		if domain.Name == name && domain.Status != registrar.DomainTransferredOut {
			return domain, true, err
		}
	}
	return Domain{}, false, err
}
