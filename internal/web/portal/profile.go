package portal

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const (
	registrantPath      = ui.RegistrantPath
	registrantCheckPath = registrantPath + "/check"
	passwordPath        = "/portal/profile/password"
	emailPath           = "/portal/profile/email"
	closePath           = "/portal/profile/close"
)

func (h *Handler) profile(req *ui.Request) error {
	registrant, known, err := h.Accounts.Registrant(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	return h.templates.Render(req, ui.View{Name: "profile", Title: "profile.title", Section: profilePath, Data: struct {
		Customer        account.Customer
		Registrant      account.Registrant
		KnownRegistrant bool
	}{req.Visitor.Customer, registrant, known}})
}

func passwordForm(c account.Customer) form {
	f := form{
		Intro: "password.intro", Username: c.Email, Action: passwordPath, Submit: "password.submit", Fields: []ui.Field{newPasswordField},
		Links: []pair{{"back.profile", profilePath}},
	}
	if c.HasPassword {
		f.Fields = []ui.Field{{
			Name: "old", Label: "field.old_password", Type: "password", Autocomplete: "current-password", Focus: true,
		}, newPasswordField}
	}
	return f
}

func (h *Handler) showPassword(req *ui.Request) error {
	return h.show(req, "password.title", profilePath, passwordForm(req.Visitor.Customer))
}

func (h *Handler) changePassword(req *ui.Request) error {
	err := h.Accounts.ChangePassword(req.R.Context(), req.Actor(), req.Field("old"), req.Field("password"))
	switch {
	case err == nil:
		return req.RedirectWithFlash("password_changed", profilePath)
	case registrar.CodeOf(err) == account.BadCredentials:
		f := passwordForm(req.Visitor.Customer)
		f.Fields[0].Problem = "problem.old_password"
		return h.show(req, "password.title", profilePath, f)
	default:
		return h.showFormAgain(req, "password.title", profilePath, passwordForm(req.Visitor.Customer), err)
	}
}

func changeEmailForm(c account.Customer) form {
	field := focused(emailField)
	field.Label, field.Autocomplete = "field.new_email", "email"
	return form{
		Intro: "email.intro", IntroValue: c.Email, Action: emailPath, Submit: "email.submit", Fields: []ui.Field{field},
		Links: []pair{{"back.profile", profilePath}},
	}
}

func (h *Handler) showEmail(req *ui.Request) error {
	return h.show(req, "email.title", profilePath, changeEmailForm(req.Visitor.Customer))
}

func (h *Handler) changeEmail(req *ui.Request) error {
	if err := h.Accounts.RequestEmailChange(req.R.Context(), req.Actor(), req.Text("email")); err != nil {
		return h.showFormAgain(req, "email.title", profilePath, changeEmailForm(req.Visitor.Customer), err)
	}
	return req.RedirectWithFlash("email_link_sent", profilePath)
}

// Registrant data.

// registrantForm leads to next afterwards; empty means the profile.
func registrantForm(language, next string, r account.Registrant) form {
	text := func(name, autocomplete, value string) ui.Field {
		return ui.Field{Name: name, Label: "field." + name, Type: "text", Autocomplete: autocomplete, Value: value, MaxLength: 200}
	}
	sometimes := func(f ui.Field, hint string) ui.Field {
		f.ServerChecked, f.Hint = true, hint
		return f
	}
	kind := ui.Field{Name: account.FieldKind, Label: "field.kind", Value: string(r.Kind), Choices: []ui.Choice{
		{Value: string(account.Person), Label: "kind.person"}, {Value: string(account.Company), Label: "kind.company"},
	}}
	country := ui.Field{
		Name: account.FieldCountry, Label: "field.country", Autocomplete: "country", Value: r.Country, Choices: ui.Countries(language),
	}
	phone := hinted(text(account.FieldPhone, "tel", account.FormatPhone(r.Phone)), "hint.phone")
	phone.Type = "tel"
	vat := hinted(text(account.FieldVATID, "off", r.VATID), "hint.vat_id")
	vat.Optional = true
	back := pair{"back.profile", profilePath}
	if next != "" { // they came from another page
		back = pair{"back.unsaved", next}
	}
	return form{
		Intro: "registrant.intro", Action: registrantPath, Check: registrantCheckPath, Submit: "registrant.submit", Hidden: []pair{{"next", next}},
		Fields: []ui.Field{
			kind,
			text(account.FieldName, "name", r.Name),
			sometimes(text(account.FieldOrganisation, "organization", r.Organisation), "hint.organisation"),
			text(account.FieldStreet, "street-address", r.Street),
			sometimes(text(account.FieldPostalCode, "postal-code", r.PostalCode), ""),
			text(account.FieldCity, "address-level2", r.City),
			sometimes(text(account.FieldState, "address-level1", r.State), "hint.state"),
			country,
			phone,
			vat,
		},
		Links: []pair{back},
	}
}

func (h *Handler) showRegistrant(req *ui.Request) error {
	registrant, known, err := h.Accounts.Registrant(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	if !known {
		registrant = account.Registrant{Kind: account.Person, Country: "DE"}
	}
	return h.show(req, "registrant.title", profilePath, registrantForm(req.Language, ui.LocalPath(req.Query("next"), ""), registrant))
}

func registrantOf(field func(name string) string) account.Registrant {
	return account.Registrant{
		Kind: account.RegistrantKind(field(account.FieldKind)), Name: field(account.FieldName),
		Organisation: field(account.FieldOrganisation), Street: field(account.FieldStreet),
		PostalCode: field(account.FieldPostalCode), City: field(account.FieldCity), State: field(account.FieldState),
		Country: field(account.FieldCountry), Phone: field(account.FieldPhone), VATID: field(account.FieldVATID),
	}
}

// checkRegistrant validates the current input for our script, with the page's messages.
// Nothing is stored.
func (h *Handler) checkRegistrant(req *ui.Request, body []byte) (any, error) {
	var typed map[string]string
	if err := json.Unmarshal(body, &typed); err != nil {
		return nil, invalidForm()
	}
	problems := make(map[string]string)
	_, _, err := account.NormaliseRegistrant(registrantOf(func(name string) string { return strings.TrimSpace(typed[name]) }), req.Visitor.Customer.Email)
	var faulty *account.FieldError
	if errors.As(err, &faulty) {
		for field, code := range faulty.Fields {
			problems[field] = h.templates.Text(req.Language, h.fieldProblem(field, code))
		}
	}
	return map[string]any{"problems": problems}, nil
}

func (h *Handler) setRegistrant(req *ui.Request) error {
	registrant := registrantOf(req.Text)
	to := ui.LocalPath(req.Field("next"), "")
	err := h.Accounts.SetRegistrant(req.R.Context(), req.Actor(), registrant)
	if err == nil {
		return req.RedirectWithFlash("registrant_saved", orProfile(to))
	}
	f := registrantForm(req.Language, to, registrant)
	var known bool
	if f.Problem, known = h.problem(req, err); !known {
		return err
	}
	var faulty *account.FieldError
	if errors.As(err, &faulty) {
		for i, field := range f.Fields {
			if code, wrong := faulty.Fields[field.Name]; wrong {
				f.Fields[i].Problem = h.fieldProblem(field.Name, code)
			}
		}
	}
	return h.show(req, "registrant.title", profilePath, f)
}

// fieldProblem returns the text key for a field's code, or a generic one.
func (h *Handler) fieldProblem(field string, code registrar.Code) string {
	for _, key := range []string{"problem." + field + "." + string(code), ui.ProblemKey(code)} {
		if h.templates.Has(key) {
			return key
		}
	}
	return "problem.field"
}

// Closing the account.

// showClose explains what is deleted and kept, and what prevents the closure.
func (h *Handler) showClose(req *ui.Request) error {
	return h.renderClose(req, "", http.StatusOK)
}

func (h *Handler) renderClose(req *ui.Request, problem string, status int) error {
	ties, err := h.Accounts.CloseBlockers(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	return h.templates.Render(req, ui.View{Name: "close", Status: status, Title: "close.title", Section: profilePath, Data: struct {
		Ties    account.CloseBlockers
		Tied    bool
		Problem string
	}{ties, ties != account.CloseBlockers{}, problem}})
}

// closeAccount closes the account. It requires the checkbox because it can't be undone.
func (h *Handler) closeAccount(req *ui.Request) error {
	if req.Field("sure") != "on" {
		return h.renderClose(req, h.templates.Text(req.Language, "close.unsure"), http.StatusUnprocessableEntity)
	}
	if err := h.Accounts.Close(req.R.Context(), req.Actor()); err != nil {
		message, known := h.problem(req, err)
		if !known {
			return err
		}
		httpjson.RecordError(req.W, err)
		return h.renderClose(req, message, http.StatusConflict)
	}
	req.ClearSession()
	req.SignedIn = false
	return h.showMessage(req, http.StatusOK, "close.done.title", "close.done.text")
}
