package portal

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

const (
	registrantPath      = page.RegistrantPath
	registrantCheckPath = registrantPath + "/check"
	passwordPath        = "/portal/profile/password"
	emailPath           = "/portal/profile/email"
)

// profile is the overview.
func (h *Handler) profile(v *page.Visit) error {
	registrant, known, err := h.customers.Registrant(v.R.Context(), v.Actor())
	if err != nil {
		return err
	}
	return h.views.Render(v, page.View{Name: "profile", Title: "profile.title", Section: profilePath, Data: struct {
		Customer        customer.Customer
		Registrant      customer.Registrant
		KnownRegistrant bool
	}{v.Visitor.Customer, registrant, known}})
}

func passwordForm(c customer.Customer) form {
	f := form{
		Intro: "password.intro", Username: c.Email, Action: passwordPath, Submit: "password.submit", Fields: []page.Field{newPasswordField},
		Links: []pair{{"back.profile", profilePath}},
	}
	if c.HasPassword {
		f.Fields = []page.Field{{
			Name: "old", Label: "field.old_password", Type: "password", Autocomplete: "current-password", Focus: true,
		}, newPasswordField}
	}
	return f
}

// showPassword asks for a recent sign-in first, so that nobody fills in a form
// in vain.
func (h *Handler) showPassword(v *page.Visit) error {
	if !v.Recent() {
		return v.SignInFirst(page.SignInAgainPath)
	}
	return h.show(v, "password.title", profilePath, passwordForm(v.Visitor.Customer))
}

func (h *Handler) changePassword(v *page.Visit) error {
	err := h.customers.ChangePassword(v.R.Context(), v.Actor(), v.Field("old"), v.Field("password"))
	switch {
	case err == nil:
		v.Note("password_changed")
		return v.SeeOther(profilePath)
	case registrar.CodeOf(err) == customer.BadCredentials:
		f := passwordForm(v.Visitor.Customer)
		f.Fields[0].Problem = "problem.old_password"
		return h.show(v, "password.title", profilePath, f)
	default:
		return h.again(v, "password.title", profilePath, passwordForm(v.Visitor.Customer), err)
	}
}

func changeEmailForm(c customer.Customer) form {
	field := focused(emailField)
	field.Label, field.Autocomplete = "field.new_email", "email"
	return form{
		Intro: "email.intro", IntroValue: c.Email, Action: emailPath, Submit: "email.submit", Fields: []page.Field{field},
		Links: []pair{{"back.profile", profilePath}},
	}
}

func (h *Handler) showEmail(v *page.Visit) error {
	if err := h.needMail(); err != nil {
		return err
	}
	if !v.Recent() {
		return v.SignInFirst(page.SignInAgainPath)
	}
	return h.show(v, "email.title", profilePath, changeEmailForm(v.Visitor.Customer))
}

func (h *Handler) changeEmail(v *page.Visit) error {
	if err := h.needMail(); err != nil {
		return err
	}
	if err := h.customers.ChangeEmail(v.R.Context(), v.Actor(), v.Text("email")); err != nil {
		return h.again(v, "email.title", profilePath, changeEmailForm(v.Visitor.Customer), err)
	}
	v.Note("email_link_sent")
	return v.SeeOther(profilePath)
}

// The registrant: whom domains are registered for.

// registrantForm leads to the page next afterwards; empty means the profile.
func registrantForm(language, next string, r customer.Registrant) form {
	text := func(name, autocomplete, value string) page.Field {
		return page.Field{Name: name, Label: "field." + name, Type: "text", Autocomplete: autocomplete, Value: value, MaxLength: 200}
	}
	sometimes := func(f page.Field, hint string) page.Field {
		f.Sometimes, f.Hint = true, hint
		return f
	}
	kind := page.Field{Name: customer.FieldKind, Label: "field.kind", Value: string(r.Kind), Choices: []page.Choice{
		{Value: string(customer.Person), Label: "kind.person"}, {Value: string(customer.Company), Label: "kind.company"},
	}}
	country := page.Field{
		Name: customer.FieldCountry, Label: "field.country", Autocomplete: "country", Value: r.Country, Choices: page.Countries(language),
	}
	phone := hinted(text(customer.FieldPhone, "tel", customer.ReadablePhone(r.Phone)), "hint.phone")
	phone.Type = "tel"
	vat := hinted(text(customer.FieldVATID, "off", r.VATID), "hint.vat_id")
	vat.Optional = true
	back := pair{"back.profile", profilePath}
	if next != "" { // they were about to do something else
		back = pair{"back.unsaved", next}
	}
	return form{
		Intro: "registrant.intro", Action: registrantPath, Check: registrantCheckPath, Submit: "registrant.submit", Hidden: []pair{{"next", next}},
		Fields: []page.Field{
			kind,
			text(customer.FieldName, "name", r.Name),
			sometimes(text(customer.FieldOrganisation, "organization", r.Organisation), "hint.organisation"),
			text(customer.FieldStreet, "street-address", r.Street),
			sometimes(text(customer.FieldPostalCode, "postal-code", r.PostalCode), ""),
			text(customer.FieldCity, "address-level2", r.City),
			sometimes(text(customer.FieldState, "address-level1", r.State), "hint.state"),
			country,
			phone,
			vat,
		},
		Links: []pair{back},
	}
}

func (h *Handler) showRegistrant(v *page.Visit) error {
	if !v.Recent() {
		return v.SignInFirst(page.SignInAgainPath)
	}
	registrant, known, err := h.customers.Registrant(v.R.Context(), v.Actor())
	if err != nil {
		return err
	}
	if !known {
		registrant = customer.Registrant{Kind: customer.Person, Country: "DE"}
	}
	return h.show(v, "registrant.title", profilePath, registrantForm(v.Language, page.LocalPath(v.Query("next"), ""), registrant))
}

// registrantOf reads the form's fields.
func registrantOf(field func(name string) string) customer.Registrant {
	return customer.Registrant{
		Kind: customer.RegistrantKind(field(customer.FieldKind)), Name: field(customer.FieldName),
		Organisation: field(customer.FieldOrganisation), Street: field(customer.FieldStreet),
		PostalCode: field(customer.FieldPostalCode), City: field(customer.FieldCity), State: field(customer.FieldState),
		Country: field(customer.FieldCountry), Phone: field(customer.FieldPhone), VATID: field(customer.FieldVATID),
	}
}

// checkRegistrant tells our script what is wrong with what was typed so far, in the
// words in which the page would say it. Nothing is stored.
func (h *Handler) checkRegistrant(v *page.Visit, body []byte) (any, error) {
	var typed map[string]string
	if err := json.Unmarshal(body, &typed); err != nil {
		return nil, invalidForm()
	}
	problems := make(map[string]string)
	_, _, err := customer.FitRegistrant(registrantOf(func(name string) string { return strings.TrimSpace(typed[name]) }), v.Visitor.Customer.Email)
	var faulty *customer.FieldError
	if errors.As(err, &faulty) {
		for field, code := range faulty.Fields {
			problems[field] = h.views.Text(v.Language, h.fieldProblem(field, code))
		}
	}
	return map[string]any{"problems": problems}, nil
}

func (h *Handler) setRegistrant(v *page.Visit) error {
	registrant := registrantOf(v.Text)
	to := page.LocalPath(v.Field("next"), "")
	err := h.customers.SetRegistrant(v.R.Context(), v.Actor(), registrant)
	if err == nil {
		v.Note("registrant_saved")
		return v.SeeOther(orHome(to))
	}
	f := registrantForm(v.Language, to, registrant)
	var known bool
	if f.Problem, known = h.problem(v, err); !known {
		return err
	}
	var faulty *customer.FieldError
	if !errors.As(err, &faulty) {
		return h.show(v, "registrant.title", profilePath, f)
	}
	for i, field := range f.Fields {
		if code, wrong := faulty.Fields[field.Name]; wrong {
			f.Fields[i].Problem = h.fieldProblem(field.Name, code)
		}
	}
	return h.show(v, "registrant.title", profilePath, f)
}

// fieldProblem is the key of the sentence for a field's code, or of one that
// fits every field.
func (h *Handler) fieldProblem(field string, code registrar.Code) string {
	for _, key := range []string{"problem." + field + "." + string(code), page.ProblemKey(code)} {
		if h.views.Has(key) {
			return key
		}
	}
	return "problem.field"
}
