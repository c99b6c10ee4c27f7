package admin

import (
	"context"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// SecureStatus is whether a lock's domain is secured at the registry.
type SecureStatus string

// Secure statuses; empty for a lock that does not restrict transfers.
const (
	Secured          SecureStatus = "secured"
	SecureInProgress SecureStatus = "under_way"
	NotSecured       SecureStatus = "not_secured"
)

// Secure asks the registry again to secure a locked domain.
func (s *Service) Secure(ctx context.Context, operator registrar.Actor, id string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	lock, found, err := s.cfg.Store.GetDomainLock(ctx, id)
	if err != nil {
		return err
	}
	if !found || !lock.LiftedAt.IsZero() || !slices.Contains(lock.Restrictions, Transfer) {
		return registrar.NotFound(NoSuchLock)
	}
	return s.cfg.Secure(ctx, operator, lock.Customer, lock.Domain, lock.ID)
}

// loadSecureStatus sets a lock's status from the registry changes. It reveals a crash
// between lock and registry as well as a refusal by the registry.
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
