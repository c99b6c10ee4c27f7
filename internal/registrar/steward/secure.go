package steward

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Secure has the registry keep a customer's domain from leaving, because an operator
// says so. Nil means that it is so, or will be as soon as the registry answers.
func (s *Service) Secure(ctx context.Context, operator registrar.Actor, customer, id string) error {
	if operator.Kind != registrar.ActorOperator {
		return &registrar.Error{Kind: registrar.KindForbidden, Code: "operators_only"}
	}
	domain, found, err := s.cfg.Store.DomainOf(ctx, customer, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchDomain}
	}
	if err != nil {
		return err
	}
	change, _, err := s.prepare(ctx, operator, domain, Wish{Kind: Lock})
	if err != nil {
		return err
	}
	if err := s.cfg.Store.AddChange(ctx, change); err != nil {
		return err
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Patience)
	defer cancel()
	if change, _ = s.carry(call, change); change.State == StateRefused {
		return &registrar.Error{Kind: registrar.KindConflict, Code: change.Failure}
	}
	return nil
}
