package portal

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/retention"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const (
	registrantPath      = ui.RegistrantPath
	registrantCheckPath = ui.RegistrantCheckPath
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
		Intro: "password.first", Username: c.Email, Action: passwordPath, Submit: "password.submit", Fields: []ui.Field{newPasswordField},
		Links: []pair{{"back.profile", profilePath}},
	}
	if c.HasPassword {
		f.Intro = "password.intro"
		f.Fields = []ui.Field{{
			Name: "old", Label: "field.old_password", Type: "password", Autocomplete: "current-password", Focus: true,
		}, newPasswordField}
	}
	return f
}

// passwordTitle distinguishes the first password from a change.
func passwordTitle(c account.Customer) string {
	if c.HasPassword {
		return "password.title"
	}
	return "password.choose"
}

func (h *Handler) showPassword(req *ui.Request) error {
	return h.show(req, passwordTitle(req.Visitor.Customer), profilePath, passwordForm(req.Visitor.Customer))
}

func (h *Handler) changePassword(req *ui.Request) error {
	err := h.Accounts.ChangePassword(req.R.Context(), req.Actor(), req.Field("old"), req.Field("password"))
	switch {
	case err == nil && !req.Visitor.Customer.HasPassword:
		return req.RedirectWithFlash("password_chosen", profilePath)
	case err == nil:
		return req.RedirectWithFlash("password_changed", profilePath)
	case registrar.CodeOf(err) == account.BadCredentials:
		f := passwordForm(req.Visitor.Customer)
		f.Fields[0].Problem = "problem.old_password"
		return h.show(req, "password.title", profilePath, f)
	default:
		return h.showFormAgain(req, passwordTitle(req.Visitor.Customer), profilePath, passwordForm(req.Visitor.Customer), err)
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
	back := pair{"back.profile", profilePath}
	if next != "" { // they came from another page
		back = pair{"back.unsaved", next}
	}
	return form{
		Intro: "registrant.intro", Action: registrantPath, Check: registrantCheckPath, Submit: "registrant.submit", Hidden: []pair{{"next", next}},
		Fields: ui.RegistrantFields(language, r),
		Links:  []pair{back},
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

// checkRegistrant validates the current input for our script, with the page's messages.
// Nothing is stored.
func (h *Handler) checkRegistrant(req *ui.Request, body []byte) (any, error) {
	var typed map[string]string
	if err := json.Unmarshal(body, &typed); err != nil {
		return nil, invalidForm()
	}
	problems := make(map[string]string)
	_, _, err := account.NormaliseRegistrant(ui.RegistrantOf(func(name string) string { return strings.TrimSpace(typed[name]) }), req.Visitor.Customer.Email)
	var faulty *account.FieldError
	if errors.As(err, &faulty) {
		for field, code := range faulty.Fields {
			problems[field] = h.templates.Text(req.Language, h.templates.FieldProblem(field, code))
		}
	}
	return map[string]any{"problems": problems}, nil
}

func (h *Handler) setRegistrant(req *ui.Request) error {
	registrant := ui.RegistrantOf(req.Text)
	to := ui.LocalPath(req.Field("next"), "")
	err := h.Accounts.SetRegistrant(req.R.Context(), req.Actor(), registrant)
	switch {
	case err == nil && to == "":
		return h.redirectToFollow(req, holder.Own, "registrant_saved", profilePath)
	case err == nil:
		return h.returnFromHolder(req, holder.Own, "registrant_saved", ui.SavedBefore, to)
	}
	f := registrantForm(req.Language, to, registrant)
	var known bool
	if f.Problem, known = h.problem(req, err); !known {
		return err
	}
	h.templates.MarkInvalid(f.Fields, err)
	return h.show(req, "registrant.title", profilePath, f)
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
	domains, err := h.Portfolio.List(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	return h.templates.Render(req, ui.View{Name: "close", Status: status, Title: "close.title", Section: profilePath, Data: struct {
		Ties    account.CloseBlockers
		Tied    bool
		LastEnd time.Time // of the terms, if all domains expire; zero if not
		Problem string
		Kept    []keptData
	}{ties, ties != account.CloseBlockers{}, lastEnd(domains), problem, keptAfter(h.Now())}})
}

// lastEnd returns when the last term ends if the customer lets all domains expire; zero if not.
func lastEnd(domains []portfolio.Domain) (last time.Time) {
	for _, domain := range domains {
		switch {
		case domain.Status == registrar.DomainTransferredOut:
		case domain.AtTermEnd != registrar.TermEndExpire:
			return time.Time{}
		case domain.PaidUntil.After(last):
			last = domain.PaidUntil
		}
	}
	return last
}

// keptData is a sort of data that stays after a closure.
type keptData struct {
	Data, Why string // text keys
	Until     time.Time
}

// keptAfter returns what stays if an account is closed at a time.
func keptAfter(closed time.Time) (kept []keptData) {
	for _, rule := range retention.RulesOfKept() {
		kept = append(kept, keptData{"retention." + rule.Data, "retention.why." + rule.Data, rule.Until(closed)})
	}
	return kept
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
	return h.templates.Render(req, ui.View{Name: "closed", Title: "close.done.title", Data: keptAfter(h.Now())})
}
