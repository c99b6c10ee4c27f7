package admin

import (
	"context"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// SecureStatus is whether the registry keeps a domain from leaving, as a lock wants it.
type SecureStatus string

// How it stands; empty where a lock does not want it.
const (
	Secured          SecureStatus = "secured"
	SecureInProgress SecureStatus = "under_way"
	NotSecured       SecureStatus = "not_secured"
)

// Secure asks the registry again to keep a locked domain from leaving.
func (s *Service) Secure(ctx context.Context, operator registrar.Actor, id string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	lock, found, err := s.cfg.Store.GetDomainLock(ctx, id)
	if err != nil {
		return err
	}
	if !found || !lock.LiftedAt.IsZero() || !slices.Contains(lock.Restrictions, Transfer) {
		return notFound(NoSuchLock)
	}
	return s.cfg.Secure(ctx, operator, lock.Customer, lock.Domain, lock.ID)
}

// loadSecureStatus notes how far the registry keeps the domain of a lock. A crash between the
// lock and the registry is seen here, and so is a registry that has refused.
func (s *Service) loadSecureStatus(ctx context.Context, lock *Lock) error {
	if s.cfg.SecuredFor == nil || !slices.Contains(lock.Restrictions, Transfer) {
		return nil
	}
	secured, inProgress, err := s.cfg.SecuredFor(ctx, lock.Domain, lock.ID)
	switch {
	case secured:
		lock.SecureStatus = Secured
	case inProgress:
		lock.SecureStatus = SecureInProgress
	default:
		lock.SecureStatus = NotSecured
	}
	return err
}
