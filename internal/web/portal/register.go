package portal

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Registration: an address, a mailed link, then a password or a passkey.

// registerSentPath is where the forms send an address, and the page that they redirect to. It
// shows the address for a few minutes.
const registerSentPath = "/portal/register/sent"

const registerPath = "/portal/register"

// mailedNext returns the page that a mailed link may lead to; empty if it is none of ours or its
// path can contain a secret, which no mail may: those of orders and of applications.
func mailedNext(text string) string {
	next := ui.LocalPath(text, "")
	if strings.ContainsRune(next, '?') || strings.HasPrefix(next, ui.CheckoutPath) || strings.HasPrefix(next, consentPrefix) {
		return ""
	}
	return next
}

func registerForm(next string) form {
	return form{
		Intro: "register.intro", Action: registerSentPath, Fields: []ui.Field{focused(emailField)}, Submit: "link_sent.submit",
		Hidden: []pair{{"next", next}}, Links: []pair{{"register.sign_in", ui.WithNext(ui.SignInPath, next)}},
	}
}

func (h *Handler) showRegister(req *ui.Request) error {
	if req.SignedIn {
		return req.SeeOther(ui.HomePath)
	}
	next := mailedNext(req.Query("next"))
	return h.withMail(func(req *ui.Request) error { return h.show(req, "register.title", "", registerForm(next)) })(req)
}

func (h *Handler) register(req *ui.Request) error {
	next, email := mailedNext(req.Field("next")), req.Text("email")
	req.SetFormPath(ui.WithNext(registerPath, next))
	if req.Field("basket") != "" && h.ApplyTerms != nil {
		if err := h.ApplyTerms(req); err != nil {
			return err
		}
	}
	err := h.Accounts.RegisterVisitor(req.R.Context(), req.Actor(), account.Registration{
		Email: email, Language: req.Language, Basket: req.BasketText(), Next: next,
	})
	switch {
	case registrar.CodeOf(err) == account.EmailInvalid && req.Field("basket") != "" && h.ShowBasketEmail != nil:
		return h.ShowBasketEmail(req, email, err)
	case err != nil:
		return h.showFormAgain(req, "register.title", "", registerForm(next), err)
	}
	req.RememberMailed(registerSentPath, ui.Mailed{Email: email, Next: next})
	return req.SeeOther(registerSentPath)
}

// registerSent is the same whether there is an account or not. Its form corrects a typo and sends
// the mail again.
func (h *Handler) registerSent(req *ui.Request) error {
	if mailed, ok := req.RememberedMailed(registerSentPath); ok {
		next := mailedNext(mailed.Next)
		return h.show(req, "link_sent.title", "", form{
			Intro: "register.sent.to", IntroValue: mailed.Email, Action: registerSentPath, Fields: []ui.Field{emailField.With(mailed.Email, "")}, Submit: "register.sent.again",
			Hidden: []pair{{"next", next}}, Links: []pair{{"register.sign_in", ui.WithNext(ui.SignInPath, next)}},
		})
	}
	return h.showMessage(req, http.StatusOK, "link_sent.title", "register.sent.text", pair{"register.sign_in", ui.SignInPath})
}

// mailedLink is a page for the account of a mailed link. again leads to a new link if
// this one is no longer valid.
func (h *Handler) mailedLink(kind account.LinkKind, again pair, page func(req *ui.Request, link, email string) error) http.HandlerFunc {
	return h.Frame.Page(func(req *ui.Request) error {
		link := linkOf(req)
		req.PreferAccountLanguage(h.Accounts.LinkLanguage(req.R.Context(), kind, link))
		email, err := h.Accounts.CheckLink(req.R.Context(), kind, link)
		if err == nil {
			err = page(req, link, email)
		}
		if registrar.CodeOf(err) == account.LinkInvalid {
			return h.showMessage(req, http.StatusGone, "link_invalid.title", "link_invalid.text", again)
		}
		return err
	})
}

// linkOf returns the secret of a mailed link: in the URL of the page, in the form after
// that.
func linkOf(req *ui.Request) string {
	if req.R.Method == http.MethodPost {
		return req.Field("link")
	}
	return req.Query("link")
}

// confirmForm asks for a password. Buyers choose one after their purchase.
func confirmForm(link, email, next string, buyer bool) form {
	if buyer && next == "" {
		return form{
			Intro: "confirm.buyer", IntroValue: email, Action: "/portal/confirm", Submit: "confirm.buyer.submit", Hidden: []pair{{"link", link}, {"later", "1"}},
		}
	}
	password := hinted(newPasswordField, "confirm.hint")
	password.Optional = true
	return form{
		Intro: "confirm.intro", IntroValue: email, Username: email, Action: "/portal/confirm", Submit: "confirm.submit",
		Hidden: []pair{{"link", link}, {"next", next}}, Fields: []ui.Field{password},
	}
}

func (h *Handler) showConfirm(req *ui.Request, link, email string) error {
	buyer, err := h.confirmsBuyer(req, link)
	if err != nil {
		return err
	}
	return h.show(req, "confirm.title", "", confirmForm(link, email, mailedNext(req.Query("next")), buyer))
}

// confirmsBuyer reports whether a confirmation leads to the checkout. The link may be opened
// in another browser than the one with the basket.
func (h *Handler) confirmsBuyer(req *ui.Request, link string) (bool, error) {
	if h.OrderBasket == nil || h.isBuyer(req, "") {
		return h.OrderBasket != nil, nil
	}
	return h.Accounts.IsBuyerLink(req.R.Context(), link)
}

func (h *Handler) confirm(req *ui.Request, link, email string) error {
	password, to := req.Field("password"), mailedNext(req.Field("next"))
	buyer, err := h.confirmsBuyer(req, link)
	if err != nil {
		return err
	}
	signedIn, err := h.Accounts.Confirm(req.R.Context(), req.Actor(), link, password, req.BrowserName())
	if err != nil {
		return h.showFormAgain(req, "confirm.title", "", confirmForm(link, email, to, buyer), err)
	}
	switch {
	case password != "" || req.Field("later") != "":
		req.Flash("confirmed")
	case to != "":
		req.Flash("confirmed_no_password")
	default:
		req.Flash("confirmed_add_passkey")
		return h.startSessionAndRedirect(req, signedIn, securityPath)
	}
	if buyer && to == "" {
		to = ui.BasketPathIn(req.Language)
	}
	return h.startSessionAndContinue(req, signedIn, to)
}

// Password reset.

const (
	resetPath     = "/portal/reset"
	resetSentPath = "/portal/reset/sent" // as registerSentPath
)

func resetForm(next string) form {
	return form{
		Intro: "reset.intro", Action: resetSentPath, Fields: []ui.Field{focused(emailField)}, Submit: "link_sent.submit",
		Hidden: []pair{{"next", next}}, Links: []pair{{"reset.sign_in", ui.WithNext(ui.SignInPath, next)}},
	}
}

func (h *Handler) showReset(req *ui.Request) error {
	return h.show(req, "reset.title", "", resetForm(ui.LocalPath(req.Query("next"), "")))
}

func (h *Handler) requestReset(req *ui.Request) error {
	next, email := ui.LocalPath(req.Field("next"), ""), req.Text("email")
	req.SetFormPath(ui.WithNext(resetPath, next))
	if err := h.Accounts.RequestPasswordReset(req.R.Context(), req.Actor(), email, req.Language); err != nil {
		return h.showFormAgain(req, "reset.title", "", resetForm(next), err)
	}
	req.RememberNext(next)
	req.RememberMailed(resetSentPath, ui.Mailed{Email: email})
	return req.SeeOther(resetSentPath)
}

// resetSent is as registerSent.
func (h *Handler) resetSent(req *ui.Request) error {
	if mailed, ok := req.RememberedMailed(resetSentPath); ok {
		next := req.RememberedNext()
		return h.show(req, "link_sent.title", "", form{
			Intro: "reset.sent.to", IntroValue: mailed.Email, Action: resetSentPath, Fields: []ui.Field{emailField.With(mailed.Email, "")}, Submit: "register.sent.again",
			Hidden: []pair{{"next", next}}, Links: []pair{{"reset.sign_in", ui.WithNext(ui.SignInPath, next)}},
		})
	}
	return h.showMessage(req, http.StatusOK, "link_sent.title", "reset.sent.text",
		pair{"register.sent.again", ui.WithNext(resetPath, req.RememberedNext())}, pair{"reset.sign_in", ui.WithNext(ui.SignInPath, req.RememberedNext())})
}

func newPasswordForm(link, email string) form {
	return form{
		Intro: "reset.new.intro", IntroValue: email, Username: email, Action: "/portal/reset/new", Submit: "password.submit",
		Hidden: []pair{{"link", link}}, Fields: []ui.Field{focused(newPasswordField)},
	}
}

func (h *Handler) showNewPassword(req *ui.Request, link, email string) error {
	return h.show(req, "reset.new.title", "", newPasswordForm(link, email))
}

func (h *Handler) resetPassword(req *ui.Request, link, email string) error {
	if err := h.Accounts.ResetPassword(req.R.Context(), req.Actor(), link, req.Field("password")); err != nil {
		return h.showFormAgain(req, "reset.new.title", "", newPasswordForm(link, email), err)
	}
	// The browser may be signed in to another account, or to this one with a session
	// that has just ended.
	req.ClearSession()
	next := req.RememberedNext()
	req.RememberNext("")
	return req.RedirectWithFlash("password_reset", ui.WithNext(ui.SignInPath, next))
}

// ownLink is a page for the account of a link, which must be signed in. A sign-in
// returns with the link and reveals nothing about it: another account's link looks like
// an unknown one.
func (h *Handler) ownLink(kind account.LinkKind, path string, page ui.PageFunc) http.HandlerFunc {
	return h.Frame.Page(func(req *ui.Request) error {
		req.SetFormPath(path + "?link=" + url.QueryEscape(cmp.Or(req.Field("link"), req.Query("link"))))
		if !req.SignedIn {
			req.PreferAccountLanguage(h.Accounts.LinkLanguage(req.R.Context(), kind, linkOf(req)))
			return req.RedirectToSignIn(ui.SignInPath)
		}
		err := page(req)
		switch registrar.CodeOf(err) {
		case account.LinkInvalid:
			return h.showMessage(req, http.StatusGone, "link_invalid.title", "link_invalid.account", pair{"link_invalid.home", ui.HomePath})
		case account.StrongSignIn:
			return h.showMessage(req, http.StatusForbidden, "strong.title", ui.ProblemKey(account.StrongSignIn),
				pair{"strong.again", ui.WithNext(ui.SignInAgainPath, req.FormPath())})
		default:
			return err
		}
	})
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

func (h *Handler) showConfirmEmail(req *ui.Request) error {
	email, err := h.Accounts.CheckEmailChange(req.R.Context(), req.Actor(), linkOf(req))
	if err != nil {
		return err
	}
	return h.show(req, "email_confirm.title", "", confirmEmailForm(linkOf(req), email))
}

func (h *Handler) confirmEmail(req *ui.Request) error {
	email, err := h.Accounts.CheckEmailChange(req.R.Context(), req.Actor(), linkOf(req))
	if err == nil {
		err = h.Accounts.ConfirmEmailChange(req.R.Context(), req.Actor(), linkOf(req))
	}
	if code := registrar.CodeOf(err); code == account.LinkInvalid || code == account.StrongSignIn {
		return err
	}
	if err != nil {
		return h.showFormAgain(req, "email_confirm.title", "", confirmEmailForm(linkOf(req), email), err)
	}
	return req.RedirectWithFlash("email_changed", ui.HomePath)
}

// Enrolment of an operator's first factor: the link proves the trust of whoever granted
// the role.

const enrolPath = "/portal/security/enrol"

// EnrolmentURL returns the URL of an enrolment link.
func EnrolmentURL(baseURL, link string) string { return baseURL + enrolPath + "?link=" + link }

func (h *Handler) showEnrol(req *ui.Request) error {
	if err := h.Accounts.CheckEnrolment(req.R.Context(), req.Actor(), linkOf(req)); err != nil {
		return err
	}
	return h.show(req, "enrol.title", securityPath, form{
		Intro: "enrol.intro", Action: enrolPath, Submit: "enrol.submit", Hidden: []pair{{"link", linkOf(req)}},
	})
}

func (h *Handler) enrol(req *ui.Request) error {
	signedIn, err := h.Accounts.OpenEnrolment(req.R.Context(), req.Actor(), req.SessionSecret(), linkOf(req))
	if err != nil {
		return err
	}
	req.SetSession(signedIn.Secret)
	return req.RedirectWithFlash("enrolment_opened", securityPath)
}
