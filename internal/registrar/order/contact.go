package order

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

// Contact is a buyer as described by an agent: the future registrant, who gets the mails.
type Contact struct {
	FirstName, LastName, Organisation, Email, Phone, VATID string
	Street, Street2, PostalCode, City, State, Country      string
	Language                                               string // de or en
}

// BuyerContact returns the contact of an order to its agent, without querying registries.
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

// contactFields maps the fields of a registrant to those of a contact.
var contactFields = map[string][]string{
	account.FieldName: {"first_name", "last_name"}, account.FieldOrganisation: {"organisation"}, account.FieldStreet: {"street"},
	account.FieldPostalCode: {"postal_code"}, account.FieldCity: {"city"}, account.FieldState: {"state"},
	account.FieldCountry: {"country"}, account.FieldPhone: {"phone"}, account.FieldVATID: {"vat_id"}, account.FieldEmail: {"email"},
}

// normalise returns the contact in the form that registries require, by the rules of the
// portal's form, or all fields that are missing or invalid.
func (c Contact) normalise() (normalized Contact, missingFields []string) {
	street := c.Street
	if c.Street2 != "" {
		street += ", " + c.Street2
	}
	kind := account.Person
	if c.IsCompany() {
		kind = account.Company
	}
	fitted, email, err := account.NormaliseRegistrant(account.Registrant{
		Kind: kind, Name: c.Name(), Organisation: c.Organisation, Street: street, PostalCode: c.PostalCode,
		City: c.City, State: c.State, Country: c.Country, Phone: c.Phone, VATID: c.VATID,
	}, c.Email)
	var wrong *account.FieldError
	switch {
	case errors.As(err, &wrong):
		for field := range wrong.Fields {
			missingFields = append(missingFields, contactFields[field]...)
		}
		slices.Sort(missingFields)
		return c, missingFields
	case err != nil:
		return c, []string{"email"}
	}
	// A registrant's name is a single field.
	return Contact{
		LastName: fitted.Name, Organisation: fitted.Organisation, Email: email, Phone: fitted.Phone, VATID: fitted.VATID,
		Street: fitted.Street, PostalCode: fitted.PostalCode, City: fitted.City, State: fitted.State, Country: fitted.Country,
		Language: c.Language,
	}, nil
}
