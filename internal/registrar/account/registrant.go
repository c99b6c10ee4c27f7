package account

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// RegistrantKind distinguishes persons from companies.
type RegistrantKind string

// The kinds of registrants.
const (
	Person  RegistrantKind = "person"
	Company RegistrantKind = "company"
)

// Registrant is the registrant of the account's domains.
type Registrant struct {
	Kind         RegistrantKind
	Name         string
	Organisation string // required for a company
	Street       string
	PostalCode   string
	City         string
	State        string // required in countries whose addresses have one, such as the USA
	Country      string // the ISO 3166 code in two capital letters
	Phone        string // stored in EPP's form, +49.30123456
	VATID        string // optional
	UpdatedAt    time.Time
}

// The fields of a registrant, as FieldError names them.
const (
	FieldKind         = "kind"
	FieldName         = "name"
	FieldOrganisation = "organisation"
	FieldStreet       = "street"
	FieldPostalCode   = "postal_code"
	FieldCity         = "city"
	FieldState        = "state"
	FieldCountry      = "country"
	FieldPhone        = "phone"
	FieldVATID        = "vat_id"
	// FieldEmail is used only where there is no account; otherwise the account's address applies.
	FieldEmail = "email"
)

// The codes of a FieldError.
const (
	FieldMissing registrar.Code = "missing"
	FieldTooLong registrar.Code = "too_long"
	// FieldUnusable: control characters, or no letter or digit.
	FieldUnusable registrar.Code = "unusable"
	// FieldForm: malformed for this country.
	FieldForm registrar.Code = "form"
	// FieldForeign: a VAT ID of a country without a register that we can query.
	FieldForeign registrar.Code = "foreign"
	// FieldUnknown: not one of the allowed values.
	FieldUnknown registrar.Code = "unknown"
)

// FieldError reports every invalid field of a form at once, with one code per field.
type FieldError struct{ Fields map[string]registrar.Code }

// Error names the fields, never their values.
func (e *FieldError) Error() string {
	names := make([]string, 0, len(e.Fields))
	for field, code := range e.Fields {
		names = append(names, field+"="+string(code))
	}
	slices.Sort(names)
	return "invalid: " + strings.Join(names, ", ")
}

// Unwrap gives the error its kind.
func (e *FieldError) Unwrap() error { return registrar.Invalid(RegistrantInvalid) }

// NormaliseRegistrant validates a registrant without an account and returns it and the
// address in stored form, or a *FieldError with every invalid field.
func NormaliseRegistrant(r Registrant, email string) (normalised Registrant, address string, err error) {
	address, _, emailErr := parseEmail(email)
	normalised, err = r.normalise()
	if emailErr == nil {
		return normalised, address, err
	}
	var problems *FieldError
	if !errors.As(err, &problems) {
		problems = &FieldError{Fields: make(map[string]registrar.Code)}
	}
	problems.Fields[FieldEmail] = FieldForm
	return r, "", problems
}

// normalise returns the form that registries expect, or a *FieldError with every invalid field.
func (r Registrant) normalise() (Registrant, error) {
	problems := make(map[string]registrar.Code)
	text := func(field string, value *string, required bool, maxLength int) {
		*value = strings.Join(strings.FieldsFunc(*value, func(c rune) bool { return c == ' ' || c == '\u00a0' }), " ")
		switch {
		case *value == "" && required:
			problems[field] = FieldMissing
		case *value == "":
		case utf8.RuneCountInString(*value) > maxLength:
			problems[field] = FieldTooLong
		case !plainText(*value):
			problems[field] = FieldUnusable
		}
	}
	if r.Kind != Person && r.Kind != Company {
		problems[FieldKind] = FieldUnknown
	}
	r.Country = strings.ToUpper(strings.TrimSpace(r.Country))
	_, known := callingCodes()[r.Country]
	if !known {
		problems[FieldCountry] = FieldUnknown
	}
	text(FieldName, &r.Name, true, 100)
	text(FieldOrganisation, &r.Organisation, r.Kind == Company, 100)
	text(FieldStreet, &r.Street, true, 120)
	text(FieldCity, &r.City, true, 80)
	text(FieldState, &r.State, known && RequiresState(r.Country), 80)
	normaliseField := func(field string, value *string, required bool, form func(country, value string) (string, bool)) {
		if strings.TrimSpace(*value) == "" {
			*value = ""
			if required {
				problems[field] = FieldMissing
			}
			return
		}
		normalised, ok := form(r.Country, *value)
		if !ok {
			problems[field] = FieldForm
			return
		}
		*value = normalised
	}
	// Without a country the format can't be checked, but a missing value can be reported: nearly
	// every country has postal codes.
	postalCode, phone := normalisePostalCode, normalisePhone
	if !known {
		asTyped := func(_, value string) (string, bool) { return value, true }
		postalCode, phone = asTyped, asTyped
	}
	normaliseField(FieldPostalCode, &r.PostalCode, !known || !strings.Contains(countriesWithoutPostalCodes, r.Country), postalCode)
	normaliseField(FieldPhone, &r.Phone, true, phone)
	if problems[FieldPhone] == "" && known && phoneTooLong(r.Phone) {
		problems[FieldPhone] = FieldTooLong
	}
	normaliseField(FieldVATID, &r.VATID, false, func(_, id string) (string, bool) { return normaliseVATID(id) })
	if problems[FieldVATID] == FieldForm && foreignVATID(r.Country, r.VATID) {
		problems[FieldVATID] = FieldForeign
	}
	if len(problems) > 0 {
		return r, &FieldError{Fields: problems}
	}
	return r, nil
}

// plainText requires at least one letter or digit and no control characters.
func plainText(text string) bool {
	return utf8.ValidString(text) &&
		!strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) || c == utf8.RuneError }) &&
		strings.ContainsFunc(text, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) })
}

// Registrant returns the account's registrant; false if there is none yet.
func (s *Service) Registrant(ctx context.Context, actor registrar.Actor) (Registrant, bool, error) {
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return Registrant{}, false, err
	}
	return s.read().GetRegistrant(ctx, account.ID)
}

// SetRegistrant stores the registrant, or reports all invalid fields as a *FieldError. The
// account's address gets a mail about a change, but not about the first data, nor before anything is
// registered or paid for.
func (s *Service) SetRegistrant(ctx context.Context, actor registrar.Actor, registrant Registrant) error {
	return s.changeRecentlySignedIn(ctx, actor, func(t *tx, account Account) error {
		_, known, err := t.GetRegistrant(ctx, account.ID)
		if err != nil {
			return err
		}
		if err := s.storeRegistrant(ctx, t, actor, account.ID, registrant); err != nil || !known {
			return err
		}
		if ordered, err := t.HasOrdered(ctx, account.ID); err != nil || !ordered {
			return err
		}
		return t.queueMail(ctx, actor, registrar.Mail{Kind: registrar.MailRegistrantChanged, Customer: account.ID})
	})
}

// AddRegistrant is SetRegistrant for an account without a registrant. It replaces nothing,
// so it requires no recent sign-in. Adding the same data again changes nothing; other data
// is RegistrantKnown.
func (s *Service) AddRegistrant(ctx context.Context, actor registrar.Actor, registrant Registrant) error {
	return s.changeSignedIn(ctx, actor, func(t *tx, account Account) error {
		if err := t.LockCustomer(ctx, account.ID); err != nil {
			return err
		}
		current, known, err := t.GetRegistrant(ctx, account.ID)
		if err != nil {
			return err
		}
		if !known {
			return s.storeRegistrant(ctx, t, actor, account.ID, registrant)
		}
		added, err := registrant.normalise()
		if err != nil {
			return err
		}
		if added.UpdatedAt = current.UpdatedAt; added != current {
			return registrar.Conflict(RegistrantKnown)
		}
		return nil
	})
}

func (s *Service) storeRegistrant(ctx context.Context, t *tx, actor registrar.Actor, id string, registrant Registrant) error {
	checked, err := registrant.normalise()
	if err != nil {
		return err
	}
	if err := s.checkRegistrantChange(ctx, t, id, checked); err != nil {
		return err
	}
	checked.UpdatedAt = t.now
	if err := t.PutRegistrant(ctx, id, checked); err != nil {
		return err
	}
	return t.recordEvent(ctx, actor, ActionRegistrantChanged, id, "")
}

// checkRegistrantChange refuses a change while an order is being paid for the current
// registrant, and a registrant that the extension of a domain or a paid item does not
// admit. A rule is checked only if the data it concerns changes: a registrant who
// already fails one can still correct a phone number.
func (s *Service) checkRegistrantChange(ctx context.Context, t *tx, id string, registrant Registrant) error {
	// An order is priced, and an identity verified, for this registrant: neither may
	// change between opening the payment page and the payment.
	if err := t.LockCustomer(ctx, id); err != nil {
		return err
	}
	underWay, err := t.PaymentUnderWay(ctx, id)
	if err != nil {
		return err
	}
	if underWay {
		return registrar.Conflict(PaymentUnderWay)
	}
	tlds, err := t.ListRegistrantExtensions(ctx, id)
	if err != nil {
		return err
	}
	verified, err := t.VerifiedName(ctx, id)
	if err != nil {
		return err
	}
	current, _, err := t.GetRegistrant(ctx, id)
	if err != nil {
		return err
	}
	moved := registrant.Country != current.Country
	renamed := registrant.Name != current.Name || registrant.Kind != current.Kind || registrant.Organisation != current.Organisation
	return registrar.CheckExtensions(s.cfg.Extension, tlds, func(extension registrar.Extension) error {
		if moved {
			if err := extension.CheckCountry(registrant.Country); err != nil {
				return err
			}
		}
		if renamed {
			return extension.CheckIdentity(registrant.Name, verified)
		}
		return nil
	})
}
