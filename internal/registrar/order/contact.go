package order

import (
	"cmp"
	"context"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// BuyerContact is what an agent has said of the buyer of an order that it may see. Unlike
// Session it asks nobody but the store.
func (s *Service) BuyerContact(ctx context.Context, actor registrar.Actor, id string) (Contact, error) {
	o, err := s.orderForAgent(ctx, actor, id)
	return o.Contact, err
}

// merge is the contact with what was told anew. Another street is another address:
// what not every address has goes with the former one.
func (c Contact) merge(update Contact) Contact {
	if update.Street != "" && update.Street != c.Street {
		c.Street2, c.State = "", ""
	}
	return Contact{
		FirstName: cmp.Or(update.FirstName, c.FirstName), LastName: cmp.Or(update.LastName, c.LastName),
		Organisation: cmp.Or(update.Organisation, c.Organisation), Email: cmp.Or(update.Email, c.Email),
		Phone: cmp.Or(update.Phone, c.Phone), VATID: cmp.Or(update.VATID, c.VATID),
		Street: cmp.Or(update.Street, c.Street), Street2: cmp.Or(update.Street2, c.Street2),
		PostalCode: cmp.Or(update.PostalCode, c.PostalCode), City: cmp.Or(update.City, c.City), State: cmp.Or(update.State, c.State),
		Country: cmp.Or(update.Country, c.Country), Language: cmp.Or(update.Language, c.Language),
	}
}

// Name is the whole name.
func (c Contact) Name() string { return strings.TrimSpace(c.FirstName + " " + c.LastName) }
