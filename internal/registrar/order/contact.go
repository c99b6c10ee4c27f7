package order

import (
	"cmp"
	"context"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// BuyerContact returns the contact that an agent supplied for an order it may see.
// Unlike Session it queries no registry.
func (s *Service) BuyerContact(ctx context.Context, actor registrar.Actor, id string) (Contact, error) {
	o, err := s.orderForAgent(ctx, actor, id)
	return o.Contact, err
}

// merge returns the contact with the update's non-empty fields. A new street is a new
// address, so its optional fields are reset.
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

// Name joins first and last name.
func (c Contact) Name() string { return strings.TrimSpace(c.FirstName + " " + c.LastName) }

// IsCompany reports whether the contact names an organisation.
func (c Contact) IsCompany() bool { return c.Organisation != "" }

// GuestLanguage is the language of a guest account: the contact's, or German.
func (c Contact) GuestLanguage() string { return cmp.Or(c.Language, "de") }
