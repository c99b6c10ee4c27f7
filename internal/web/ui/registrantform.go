package ui

import (
	"errors"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

// RegistrantCheckPath is where our script validates registrant data while it is typed.
const RegistrantCheckPath = RegistrantPath + "/check"

// RegistrantFields returns the inputs of registrant data. Their texts are RegistrantTexts.
func RegistrantFields(language string, r account.Registrant) []Field {
	text := func(name, autocomplete, value string) Field {
		return Field{Name: name, Label: "field." + name, Type: "text", Autocomplete: autocomplete, Value: value, MaxLength: 200}
	}
	sometimes := func(f Field, hint string) Field {
		f.ServerChecked, f.Hint = true, hint
		return f
	}
	phone := text(account.FieldPhone, "tel", account.FormatPhone(r.Phone))
	phone.Hint, phone.Type = "hint.phone", "tel"
	vat := text(account.FieldVATID, "off", r.VATID)
	vat.Hint, vat.Optional = "hint.vat_id", true
	organisation := sometimes(text(account.FieldOrganisation, "organization", r.Organisation), "hint.organisation")
	vat.Only, organisation.Only = string(account.Company), string(account.Company)
	state := sometimes(text(account.FieldState, "address-level1", r.State), "hint.state")
	if r.State == "" { // one that is stored stays visible, so that it can be removed
		state.Only = "state"
	}
	if r.Organisation != "" || r.VATID != "" {
		r.Kind = account.Company // so that saving drops neither
	}
	return []Field{
		{Name: account.FieldKind, Label: "field.kind", Value: string(r.Kind), Choices: []Choice{
			{Value: string(account.Person), Label: "kind.person"}, {Value: string(account.Company), Label: "kind.company"},
		}},
		text(account.FieldName, "name", r.Name),
		organisation,
		text(account.FieldStreet, "street-address", r.Street),
		sometimes(text(account.FieldPostalCode, "postal-code", r.PostalCode), "hint.postal_code"),
		text(account.FieldCity, "address-level2", r.City),
		{Name: account.FieldCountry, Label: "field.country", Autocomplete: "country", Value: r.Country, Choices: Countries(language)},
		state,
		phone,
		vat,
	}
}

// RegistrantOf returns the registrant of a form. A private person has no organisation and no
// VAT ID: the form hides these fields, which may still have a value. A form that does not ask
// for the kind describes a company if it names one.
func RegistrantOf(field func(name string) string) account.Registrant {
	r := account.Registrant{
		Kind: account.RegistrantKind(field(account.FieldKind)), Name: field(account.FieldName),
		Organisation: field(account.FieldOrganisation), Street: field(account.FieldStreet),
		PostalCode: field(account.FieldPostalCode), City: field(account.FieldCity), State: field(account.FieldState),
		Country: field(account.FieldCountry), Phone: field(account.FieldPhone), VATID: field(account.FieldVATID),
	}
	switch {
	case r.Kind == account.Person:
		r.Organisation, r.VATID = "", ""
	case r.Kind != "":
	case r.Organisation != "":
		r.Kind = account.Company
	default:
		r.Kind = account.Person
	}
	return r
}

// MarkInvalid adds the problems of an *account.FieldError to its fields and moves the
// focus to the first. It does nothing with other errors.
func (templates *Templates) MarkInvalid(fields []Field, err error) {
	var invalid *account.FieldError
	if !errors.As(err, &invalid) {
		return
	}
	focused := false
	for i, field := range fields {
		if code, wrong := invalid.Fields[field.Name]; wrong {
			fields[i].Problem, fields[i].Focus = templates.FieldProblem(field.Name, code), !focused
			focused = true
		}
	}
}

// FieldProblem returns the text key for a field's code, or a generic one.
func (templates *Templates) FieldProblem(field string, code registrar.Code) string {
	for _, key := range []string{"problem." + field + "." + string(code), ProblemKey(code)} {
		if templates.Has(key) {
			return key
		}
	}
	return "problem.field"
}
