package order

import (
	"cmp"
	"context"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Told is what an agent has said of the buyer of an order that it may see. Unlike
// Session it asks nobody but the store.
func (s *Service) Told(ctx context.Context, actor registrar.Actor, id string) (Contact, error) {
	o, err := s.ofAgent(ctx, actor, id)
	return o.Contact, err
}

// with is the contact with what was told anew. Another street is another address:
// what not every address has goes with the former one.
func (c Contact) with(told Contact) Contact {
	if told.Street != "" && told.Street != c.Street {
		c.Street2, c.State = "", ""
	}
	return Contact{
		FirstName: cmp.Or(told.FirstName, c.FirstName), LastName: cmp.Or(told.LastName, c.LastName),
		Organisation: cmp.Or(told.Organisation, c.Organisation), Email: cmp.Or(told.Email, c.Email),
		Phone: cmp.Or(told.Phone, c.Phone), VATID: cmp.Or(told.VATID, c.VATID),
		Street: cmp.Or(told.Street, c.Street), Street2: cmp.Or(told.Street2, c.Street2),
		PostalCode: cmp.Or(told.PostalCode, c.PostalCode), City: cmp.Or(told.City, c.City), State: cmp.Or(told.State, c.State),
		Country: cmp.Or(told.Country, c.Country), Language: cmp.Or(told.Language, c.Language),
	}
}

// Name is the whole name.
func (c Contact) Name() string { return strings.TrimSpace(c.FirstName + " " + c.LastName) }
