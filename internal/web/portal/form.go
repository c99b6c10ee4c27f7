package portal

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/bulk"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// form is what most pages consist of. Its texts are keys, except Problem and
// IntroValue.
type form struct {
	Check             string // where our script validates input while typing; empty disables it
	Intro, IntroValue string
	Problem           string // a message about the whole form
	Action            string
	Hidden            []pair
	Username          string // tells a password manager whose password it is; it is not visible
	Fields            []ui.Field
	Submit            string
	Links             []pair
	Passkey           passkeyForm // offered next to the fields if it has a path
}

// pair is the name and value of a hidden field, or the label and target of a link.
type pair struct{ Name, Value string }

// passkeyForm is the data of the script for a WebAuthn ceremony. It is hidden until the
// script shows it.
type passkeyForm struct {
	Kind, Begin, Finish, Next, Submit string
	Field                             *ui.Field
}

func invalidForm() error {
	return &registrar.Error{Kind: registrar.KindInvalid, Code: ui.BadForm}
}

// show renders a form, initially or after invalid input.
func (h *Handler) show(req *ui.Request, title, section string, f form) error {
	status := http.StatusOK
	if f.hasProblem() {
		status = http.StatusUnprocessableEntity
	}
	return h.templates.Render(req, ui.View{Name: "form", Status: status, Title: title, Section: section, Data: f})
}

func (f form) hasProblem() bool {
	return f.Problem != "" || slices.ContainsFunc(f.Fields, func(field ui.Field) bool { return field.Problem != "" })
}

func (h *Handler) showMessage(req *ui.Request, status int, title, text string, links ...pair) error {
	return h.templates.Render(req, ui.View{Name: "message", Status: status, Title: title, Data: struct {
		Text  string
		Links []pair
	}{text, links}})
}

// problem returns the message for an error that the visitor can fix in the form. Rate
// limits and missing sign-ins have pages of their own.
func (h *Handler) problem(req *ui.Request, err error) (string, bool) {
	key, ok := h.problemKey(err)
	if !ok {
		return "", false
	}
	return h.errorMessage(req, key, err), true
}

// maxQuotedLine limits the quote of a wrong line, in characters.
const maxQuotedLine = 80

// errorMessage returns the text of an error, with the line of input that it is about.
func (h *Handler) errorMessage(req *ui.Request, key string, err error) string {
	message := h.codeMessage(req, key, registrar.CodeOf(err))
	if refused, ok := errors.AsType[refusedChange](err); ok {
		return h.withServers(req, message, refused.Change)
	}
	line, ok := errors.AsType[*domainchange.InputLine](err)
	if !ok {
		return message
	}
	quote := []rune(line.Text)
	if len(quote) > maxQuotedLine {
		quote = append(quote[:maxQuotedLine], '…')
	}
	return h.templates.Text(req.Language, "problem.in_line", line.Number, string(quote), message)
}

// limitByCode are the limits that the messages of codes name as {1}.
var limitByCode = map[registrar.Code]int{
	bulk.TooMany: bulk.MaxDomains, portfolio.FolderInvalid: portfolio.MaxFolderLength, portfolio.NoteInvalid: portfolio.MaxNoteLength,
	portfolio.TooManyFolders: portfolio.MaxFolders, order.BasketFull: order.MaxPortalItems, renewal.TooManyMethods: renewal.MaxMethods,
}

// codeMessage returns the text of a code.
func (h *Handler) codeMessage(req *ui.Request, key string, code registrar.Code) string {
	return h.templates.Text(req.Language, key, limitByCode[code])
}

func (h *Handler) problemKey(err error) (string, bool) {
	if registrar.KindOf(err) == registrar.KindRateLimited || registrar.KindOf(err) == registrar.KindNotFound {
		return "", false
	}
	key := ui.ProblemKey(registrar.CodeOf(err))
	return key, h.templates.Has(key)
}

// fieldByCode is the field of an error; others concern the whole form.
var fieldByCode = map[registrar.Code]string{
	account.EmailInvalid: "email", account.EmailTaken: "email", account.CodeWrong: "code",
	account.PasswordShort: "password", account.PasswordLong: "password", account.PasswordCommon: "password",
	account.PasswordIsEmail: "password", account.PasswordUnusable: "password",
}

// attachError adds an error to the form: at its field, or at the top. Errors that can't
// be shown there are returned.
func (h *Handler) attachError(req *ui.Request, f form, err error) (form, error) {
	key, ok := h.problemKey(err)
	if !ok {
		return f, err
	}
	at := slices.IndexFunc(f.Fields, func(field ui.Field) bool { return field.Name == fieldByCode[registrar.CodeOf(err)] })
	if at >= 0 {
		f.Fields[at].Problem, f.Fields[at].Focus = key, true
		return f, nil
	}
	f.Problem = h.templates.Text(req.Language, key)
	return f, nil
}

func (h *Handler) showFormAgain(req *ui.Request, title, section string, f form, err error) error {
	for i, field := range f.Fields {
		f.Fields[i] = field.With(req.Field(field.Name), field.Problem)
	}
	f, err = h.attachError(req, f, err)
	if err != nil {
		return err
	}
	return h.show(req, title, section, f)
}

// withMail is a page that needs mail; without it, a page says so.
func (h *Handler) withMail(page ui.PageFunc) ui.PageFunc {
	if h.MailEnabled {
		return page
	}
	return func(*ui.Request) error { return &registrar.Error{Kind: registrar.KindUpstream, Code: ui.MailOff} }
}

// recently is a page that requires a recent sign-in, so that its form is not filled in
// twice.
func recently(page ui.PageFunc) ui.PageFunc {
	return func(req *ui.Request) error {
		if !req.SignedInRecently() {
			return req.RedirectToSignIn(ui.SignInAgainPath)
		}
		return page(req)
	}
}

// withID is the target of a button: it calls a service with the id in the path and
// returns to the page of the button, or to the page about all agents if it was there.
func (h *Handler) withID(page, flash string, do func(ctx context.Context, actor registrar.Actor, id string) error) http.HandlerFunc {
	return h.Frame.SignedInPage(page, func(req *ui.Request) error {
		if err := do(req.R.Context(), req.Actor(), req.R.PathValue("id")); err != nil {
			return err
		}
		to := page
		if req.Field("page") == "agents" {
			to = agentsPath
		}
		return req.RedirectWithFlash(flash, to)
	})
}

// Fields that several forms share.
var (
	emailField = ui.Field{
		Name: "email", Label: "field.email", Type: "email", Autocomplete: "username", MaxLength: 254,
	}
	newPasswordField = ui.Field{
		Name: "password", Label: "field.new_password", Hint: "hint.new_password", Type: "password", Autocomplete: "new-password",
	}
	codeField = ui.Field{
		Name: "code", Label: "field.code", Type: "text", Autocomplete: "one-time-code", MaxLength: 40,
	}
)

func focused(f ui.Field) ui.Field { f.Focus = true; return f }

func hinted(f ui.Field, hint string) ui.Field { f.Hint = hint; return f }
