package office

import (
	"context"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Securing is whether the registry keeps a domain from leaving, as a lock wants it.
type Securing string

// How it stands; empty where a lock does not want it.
const (
	Secured    Securing = "secured"
	UnderWay   Securing = "under_way"
	NotSecured Securing = "not_secured"
)

// Secure asks the registry again to keep a locked domain from leaving.
func (s *Service) Secure(ctx context.Context, operator registrar.Actor, id string) error {
	if err := requireOperator(operator); err != nil {
		return err
	}
	lock, found, err := s.cfg.Store.LockByID(ctx, id)
	if err != nil {
		return err
	}
	if !found || !lock.LiftedAt.IsZero() || !slices.Contains(lock.Blocks, Transfer) {
		return missing(NoSuchLock)
	}
	return s.cfg.Secure(ctx, operator, lock.Customer, lock.Domain, lock.ID)
}

// lookUpSecuring notes how far the registry keeps the domain of a lock. A crash between the
// lock and the registry is seen here, and so is a registry that has refused.
func (s *Service) lookUpSecuring(ctx context.Context, lock *Lock) error {
	if s.cfg.SecuredFor == nil || !slices.Contains(lock.Blocks, Transfer) {
		return nil
	}
	secured, underWay, err := s.cfg.SecuredFor(ctx, lock.Domain, lock.ID)
	switch {
	case secured:
		lock.Securing = Secured
	case underWay:
		lock.Securing = UnderWay
	default:
		lock.Securing = NotSecured
	}
	return err
}
