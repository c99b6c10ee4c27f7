package app

import (
	"context"
	"errors"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
)

// orderRegistrants validates buyer contacts by the rules of the portal's form.
type orderRegistrants struct{}

var _ order.Registrants = orderRegistrants{}

// contactFields maps registrant fields to contact fields.
var contactFields = map[string][]string{
	account.FieldName: {"first_name", "last_name"}, account.FieldOrganisation: {"organisation"}, account.FieldStreet: {"street"},
	account.FieldPostalCode: {"postal_code"}, account.FieldCity: {"city"}, account.FieldState: {"state"},
	account.FieldCountry: {"country"}, account.FieldPhone: {"phone"}, account.FieldVATID: {"vat_id"}, account.FieldEmail: {"email"},
}

// Normalise returns the normalised contact, or all invalid fields.
func (orderRegistrants) Normalise(contact order.Contact) (order.Contact, []string) {
	street := contact.Street
	if contact.Street2 != "" {
		street += ", " + contact.Street2
	}
	kind := account.Person
	if contact.Organisation != "" {
		kind = account.Company
	}
	fitted, email, err := account.NormaliseRegistrant(account.Registrant{
		Kind: kind, Name: contact.Name(), Organisation: contact.Organisation, Street: street, PostalCode: contact.PostalCode,
		City: contact.City, State: contact.State, Country: contact.Country, Phone: contact.Phone, VATID: contact.VATID,
	}, contact.Email)
	var missing []string
	var wrong *account.FieldError
	switch {
	case errors.As(err, &wrong):
		for field, names := range contactFields {
			if _, bad := wrong.Fields[field]; bad {
				missing = append(missing, names...)
			}
		}
		slices.Sort(missing)
		return contact, missing
	case err != nil:
		return contact, []string{"email"}
	}
	// A registrant's name is a single field.
	return order.Contact{
		LastName: fitted.Name, Organisation: fitted.Organisation, Email: email, Phone: fitted.Phone, VATID: fitted.VATID,
		Street: fitted.Street, PostalCode: fitted.PostalCode, City: fitted.City, State: fitted.State, Country: fitted.Country,
		Language: contact.Language,
	}, nil
}

// orderPortfolio lists a customer's names for orders.
type orderPortfolio struct{ portfolio *portfolio.Service }

var _ order.Portfolio = orderPortfolio{}

// NamesOf returns the names that a customer holds.
func (h orderPortfolio) NamesOf(ctx context.Context, customer string) ([]string, error) {
	held, err := h.portfolio.List(ctx, registrar.Actor{Kind: registrar.ActorSystem, Customer: customer})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(held))
	for i, domain := range held {
		names[i] = domain.Name
	}
	return names, nil
}
