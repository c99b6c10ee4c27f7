package portal

import (
	"net/http"
	"net/url"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Registration: an address, a mailed link, then a password or a passkey.

func registerForm() form {
	return form{
		Intro: "register.intro", Action: "/portal/register", Fields: []ui.Field{focused(emailField)}, Submit: "register.submit",
		Links: []pair{{"register.sign_in", ui.SignInPath}},
	}
}

func (h *Handler) showRegister(req *ui.Request) error {
	if req.SignedIn {
		return req.SeeOther(ui.HomePath)
	}
	if err := h.requireMail(); err != nil {
		return err
	}
	return h.show(req, "register.title", "", registerForm())
}

func (h *Handler) register(req *ui.Request) error {
	if err := h.requireMail(); err != nil {
		return err
	}
	err := h.accounts.Register(req.R.Context(), req.Actor(), req.Text("email"), req.Language)
	if err != nil {
		return h.showFormAgain(req, "register.title", "", registerForm(), err)
	}
	return req.SeeOther("/portal/register/sent")
}

func (h *Handler) registerSent(req *ui.Request) error {
	return h.showMessage(req, http.StatusOK, "register.sent.title", "register.sent.text", pair{"register.sign_in", ui.SignInPath})
}

func confirmForm(link, email string) form {
	password := hinted(newPasswordField, "confirm.hint")
	password.Optional = true
	return form{
		Intro: "confirm.intro", IntroValue: email, Username: email, Action: "/portal/confirm", Submit: "confirm.submit",
		Hidden: []pair{{"link", link}}, Fields: []ui.Field{password},
	}
}

func (h *Handler) showConfirm(req *ui.Request) error {
	link := req.Query("link")
	email, err := h.accounts.CheckLink(req.R.Context(), account.LinkConfirm, link)
	if err != nil {
		return h.linkProblem(req, err, pair{"link_invalid.register", "/portal/register"})
	}
	return h.show(req, "confirm.title", "", confirmForm(link, email))
}

func (h *Handler) confirm(req *ui.Request) error {
	link, password := req.Field("link"), req.Field("password")
	email, err := h.accounts.CheckLink(req.R.Context(), account.LinkConfirm, link)
	if err != nil {
		return h.linkProblem(req, err, pair{"link_invalid.register", "/portal/register"})
	}
	signedIn, err := h.accounts.Confirm(req.R.Context(), req.Actor(), link, password, req.BrowserName())
	if registrar.CodeOf(err) == account.LinkInvalid {
		return h.linkProblem(req, err, pair{"link_invalid.register", "/portal/register"})
	}
	if err != nil {
		return h.showFormAgain(req, "confirm.title", "", confirmForm(link, email), err)
	}
	if password == "" {
		req.Flash("confirmed_add_passkey")
		return h.startSessionAndRedirect(req, signedIn, securityPath)
	}
	req.Flash("confirmed")
	if len(req.Basket()) > 0 { // back to their basket
		return h.startSessionAndRedirect(req, signedIn, ui.BasketPathIn(req.Language))
	}
	return h.startSessionAndRedirect(req, signedIn, profilePath)
}

// Password reset.

func resetForm() form {
	return form{
		Intro: "reset.intro", Action: "/portal/reset", Fields: []ui.Field{focused(emailField)}, Submit: "reset.submit",
		Links: []pair{{"reset.sign_in", ui.SignInPath}},
	}
}

func (h *Handler) showReset(req *ui.Request) error {
	if err := h.requireMail(); err != nil {
		return err
	}
	return h.show(req, "reset.title", "", resetForm())
}

func (h *Handler) requestReset(req *ui.Request) error {
	if err := h.requireMail(); err != nil {
		return err
	}
	if err := h.accounts.RequestPasswordReset(req.R.Context(), req.Actor(), req.Text("email"), req.Language); err != nil {
		return h.showFormAgain(req, "reset.title", "", resetForm(), err)
	}
	return req.SeeOther("/portal/reset/sent")
}

func (h *Handler) resetSent(req *ui.Request) error {
	return h.showMessage(req, http.StatusOK, "reset.sent.title", "reset.sent.text", pair{"reset.sign_in", ui.SignInPath})
}

func newPasswordForm(link, email string) form {
	return form{
		Intro: "reset.new.intro", IntroValue: email, Username: email, Action: "/portal/reset/new", Submit: "reset.new.submit",
		Hidden: []pair{{"link", link}}, Fields: []ui.Field{focused(newPasswordField)},
	}
}

func (h *Handler) showNewPassword(req *ui.Request) error {
	link := req.Query("link")
	email, err := h.accounts.CheckLink(req.R.Context(), account.LinkReset, link)
	if err != nil {
		return h.linkProblem(req, err, pair{"link_invalid.reset", "/portal/reset"})
	}
	return h.show(req, "reset.new.title", "", newPasswordForm(link, email))
}

func (h *Handler) resetPassword(req *ui.Request) error {
	link := req.Field("link")
	email, err := h.accounts.CheckLink(req.R.Context(), account.LinkReset, link)
	if err != nil {
		return h.linkProblem(req, err, pair{"link_invalid.reset", "/portal/reset"})
	}
	err = h.accounts.ResetPassword(req.R.Context(), req.Actor(), link, req.Field("password"))
	if registrar.CodeOf(err) == account.LinkInvalid {
		return h.linkProblem(req, err, pair{"link_invalid.reset", "/portal/reset"})
	}
	if err != nil {
		return h.showFormAgain(req, "reset.new.title", "", newPasswordForm(link, email), err)
	}
	// The browser may be signed in to another account, or to this one with a session
	// that has just ended.
	req.ClearSession()
	req.Flash("password_reset")
	return req.SeeOther(ui.SignInPath)
}

// Change of address: the link proves that mail arrives, the session that it is the
// customer.

const confirmEmailPath = "/portal/email/confirm"

func confirmEmailForm(link, email string) form {
	return form{
		Intro: "email_confirm.intro", IntroValue: email, Action: confirmEmailPath, Submit: "email_confirm.submit",
		Hidden: []pair{{"link", link}},
	}
}

// linkPage is a page for the account of a link. A sign-in returns with the link and
// reveals nothing about it.
func (h *Handler) linkPage(path string, show ui.PageFunc) http.HandlerFunc {
	return h.frame.Page(func(req *ui.Request) error {
		link := req.Field("link")
		if link == "" {
			link = req.Query("link")
		}
		req.SetFormPath(path + "?link=" + url.QueryEscape(link))
		if !req.SignedIn {
			return req.RedirectToSignIn(ui.SignInPath)
		}
		return show(req)
	})
}

// linkError shows that a link is not valid for this account. Another account's link
// looks like an unknown one.
func (h *Handler) linkError(req *ui.Request, err error) error {
	switch registrar.CodeOf(err) {
	case account.LinkInvalid:
		return h.showMessage(req, http.StatusGone, "link_invalid.title", "link_invalid.account", pair{"link_invalid.home", ui.HomePath})
	case account.StrongSignIn:
		return h.showMessage(req, http.StatusForbidden, "strong.title", ui.ProblemKey(account.StrongSignIn),
			pair{"strong.again", withNext(ui.SignInAgainPath, req.FormPath())})
	default:
		return err
	}
}

func (h *Handler) showConfirmEmail(req *ui.Request) error {
	link := req.Query("link")
	email, err := h.accounts.CheckEmailChange(req.R.Context(), req.Actor(), link)
	if err != nil {
		return h.linkError(req, err)
	}
	return h.show(req, "email_confirm.title", "", confirmEmailForm(link, email))
}

func (h *Handler) confirmEmail(req *ui.Request) error {
	link := req.Field("link")
	email, err := h.accounts.CheckEmailChange(req.R.Context(), req.Actor(), link)
	if err == nil {
		err = h.accounts.ConfirmEmailChange(req.R.Context(), req.Actor(), link)
	}
	switch registrar.CodeOf(err) {
	case "":
		if err != nil {
			return err
		}
		req.Flash("email_changed")
		return req.SeeOther(ui.HomePath)
	case account.LinkInvalid, account.StrongSignIn:
		return h.linkError(req, err)
	default:
		return h.showFormAgain(req, "email_confirm.title", "", confirmEmailForm(link, email), err)
	}
}

// Enrolment of an operator's first factor: the link proves the trust of whoever granted
// the role.

const enrolPath = "/portal/security/enrol"

// EnrolmentURL returns the URL of an enrolment link.
func EnrolmentURL(baseURL, link string) string { return baseURL + enrolPath + "?link=" + link }

func enrolForm(link string) form {
	return form{Intro: "enrol.intro", Action: enrolPath, Submit: "enrol.submit", Hidden: []pair{{"link", link}}}
}

func (h *Handler) showEnrol(req *ui.Request) error {
	link := req.Query("link")
	if err := h.accounts.CheckEnrolment(req.R.Context(), req.Actor(), link); err != nil {
		return h.linkError(req, err)
	}
	return h.show(req, "enrol.title", securityPath, enrolForm(link))
}

func (h *Handler) enrol(req *ui.Request) error {
	signedIn, err := h.accounts.OpenEnrolment(req.R.Context(), req.Actor(), req.SessionSecret(), req.Field("link"))
	if err != nil {
		return h.linkError(req, err)
	}
	req.SetSession(signedIn.Secret)
	req.Flash("enrolment_opened")
	return req.SeeOther(securityPath)
}
