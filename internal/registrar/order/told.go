package order

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Told is what an agent has said of the buyer of an order that it may see. Unlike
// Session it asks nobody but the store.
func (s *Service) Told(ctx context.Context, actor registrar.Actor, id string) (Contact, error) {
	o, err := s.ofAgent(ctx, actor, id)
	return o.Contact, err
}
