package portal

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// nextPath returns where a sign-in leads: one of our pages or the default. On the way
// to a consent the page relaxes its headers like the consent page.
func nextPath(req *ui.Request, text string) string {
	to := ui.LocalPath(text, "")
	if leadsToConsent(to) {
		req.AllowOAuthRedirect()
	}
	return to
}

// leadsToConsent also follows the return path of another sign-in page, as after a
// change of language.
func leadsToConsent(to string) bool {
	if strings.HasPrefix(to, consentPrefix) {
		return true
	}
	through, err := url.Parse(to)
	return err == nil && strings.HasPrefix(ui.LocalPath(through.Query().Get("next"), ""), consentPrefix)
}

// consentPrefix is where applications redirect customers.
const consentPrefix = "/oauth/"

func (h *Handler) signInForm(next string) form {
	email, password := focused(emailField), ui.Field{
		Name: "password", Label: "field.password", Type: "password", Autocomplete: "current-password",
	}
	intro := ""
	if h.MailEnabled && strings.HasPrefix(next, ui.CheckoutPath) { // buyers choose a password after their purchase
		intro = "sign_in.no_password"
	}
	return form{
		Intro: intro, Action: ui.SignInPath, Submit: "sign_in.title", Hidden: []pair{{"next", next}}, Fields: []ui.Field{email, password},
		Links: []pair{{"sign_in.forgot", ui.WithNext(resetPath, next)}, {"sign_in.register", ui.WithNext(registerPath, mailedNext(next))}},
		Passkey: passkeyForm{
			Kind: "get", Begin: beginSignIn, Finish: finishSignIn, Next: next, Submit: "sign_in.passkey",
		},
	}
}

func (h *Handler) showSignIn(req *ui.Request) error {
	to := nextPath(req, req.Query("next"))
	if req.SignedIn {
		return req.SeeOther(cmp.Or(to, ui.HomePath))
	}
	return h.show(req, "sign_in.title", "", h.signInForm(to))
}

// isBuyer reports whether a sign-in that leads to a page, or to none in particular, is on
// the way to the checkout.
func (h *Handler) isBuyer(req *ui.Request, to string) bool {
	return h.OrderBasket != nil && (to == ui.BasketPath || to == ui.EnglishBasketPath || to == "" && len(req.Basket()) > 0)
}

// pageAfterSignIn is the page that was asked for, the checkout of a buyer who came from there, or the
// overview: a basket alone may be an old one.
func (h *Handler) pageAfterSignIn(req *ui.Request, signedIn account.SignInResult, to string) string {
	buyer := to != "" && h.isBuyer(req, to)
	h.keepBasket(req, signedIn)
	if !buyer {
		return cmp.Or(to, ui.HomePath)
	}
	return h.OrderBasket(req)
}

func (h *Handler) signIn(req *ui.Request) error {
	to := nextPath(req, req.Field("next"))
	signedIn, err := h.Accounts.SignIn(req.R.Context(), req.Actor(), account.Credentials{
		Email: req.Text("email"), Password: req.Field("password"), Device: req.Device(), UserAgent: req.BrowserName(),
	})
	if err != nil {
		f := h.signInForm(to)
		if req.Text("email") != "" { // the address is kept, the password is not
			f.Fields[0].Focus, f.Fields[1].Focus = false, true
		}
		return h.showFormAgain(req, "sign_in.title", "", f, err)
	}
	if signedIn.NeedsCode {
		return h.startSessionAndRedirect(req, signedIn, ui.WithNext(codePath, to))
	}
	return h.startSessionAndContinue(req, signedIn, to)
}

func (h *Handler) startSessionAndRedirect(req *ui.Request, signedIn account.SignInResult, to string) error {
	if err := h.startSession(req, signedIn); err != nil {
		return err
	}
	if !signedIn.NeedsCode {
		h.keepBasket(req, signedIn)
	}
	return req.SeeOther(to)
}

// keepBasket makes the browser's basket the account's. Left in the cookie, it would come back after
// the account has ordered it in another browser.
func (h *Handler) keepBasket(req *ui.Request, signedIn account.SignInResult) {
	if err := req.KeepBasket(signedIn.Visitor); err != nil { // it stays in the cookie
		httpjson.RecordError(req.W, err)
	}
}

func (h *Handler) startSessionAndContinue(req *ui.Request, signedIn account.SignInResult, to string) error {
	if err := h.startSession(req, signedIn); err != nil {
		return err
	}
	return req.SeeOther(h.pageAfterSignIn(req, signedIn, to))
}

// startSession sets a new session, which may wait for a code. The previous one is
// ended, because it could not be signed out any more.
func (h *Handler) startSession(req *ui.Request, signedIn account.SignInResult) error {
	if req.SignedIn {
		if err := h.Accounts.SignOut(req.R.Context(), req.Actor(), req.SessionSecret()); err != nil {
			return err
		}
	}
	req.SetDevice(signedIn.Device)
	if signedIn.NeedsCode {
		req.SetPendingSession(signedIn.Secret)
	} else {
		req.SetSession(signedIn.Secret)
		h.keepLanguage(req, signedIn.Visitor)
	}
	return nil
}

// keepLanguage stores the language that a visitor chose before the sign-in in their account.
// Without a choice, the account's is used.
func (h *Handler) keepLanguage(req *ui.Request, visitor account.Visitor) {
	language := visitor.Customer.Language
	if chosen := req.ChosenLanguage(); chosen != "" && chosen != language {
		if err := h.Accounts.SetLanguage(req.R.Context(), visitor.Actor(req.Actor().Address), chosen); err != nil {
			httpjson.RecordError(req.W, err) // the sign-in has succeeded, and the choice stays in the cookie
			return
		}
		language = chosen
	}
	req.SetAccountLanguage(language)
}

// Second factor.

func enterCodeForm(to string) form {
	return form{
		Intro: "code.intro", Action: codePath, Submit: "code.submit", Hidden: []pair{{"next", to}},
		Fields: []ui.Field{focused(hinted(codeField, "code.hint"))}, Links: []pair{{"code.again", ui.SignInPath}},
	}
}

func (h *Handler) showCode(req *ui.Request) error {
	to := nextPath(req, req.Query("next"))
	if req.SignedIn {
		return req.SeeOther(cmp.Or(to, ui.HomePath))
	}
	if req.SessionSecret() == "" {
		return req.SeeOther(ui.WithNext(ui.SignInPath, to))
	}
	return h.show(req, "code.title", "", enterCodeForm(to))
}

func (h *Handler) enterCode(req *ui.Request) error {
	to := nextPath(req, req.Field("next"))
	signedIn, err := h.Accounts.EnterCode(req.R.Context(), req.Actor(), req.SessionSecret(), req.Text("code"))
	switch {
	case err == nil:
		return h.startSessionAndContinue(req, signedIn, to)
	case registrar.CodeOf(err) == registrar.SignInFirst:
		req.ClearSession()
		return req.RedirectWithFlash("code_over", ui.WithNext(ui.SignInPath, to))
	default:
		return h.showFormAgain(req, "code.title", "", enterCodeForm(to), err)
	}
}

// Signing in again for sensitive changes.

func (h *Handler) signInAgainForm(req *ui.Request, to string) form {
	f := form{
		Intro: "again.intro", IntroValue: req.Visitor.Customer.Email, Username: req.Visitor.Customer.Email,
		Passkey: passkeyForm{Kind: "get", Begin: beginSignIn, Finish: finishAgain, Next: to, Submit: "sign_in.passkey"},
		Links:   []pair{{"again.back", ui.HomePath}},
	}
	if !req.Visitor.Customer.HasPassword {
		f.Intro = "again.passkey_only"
		if h.MailEnabled {
			f.Intro, f.Action, f.Submit, f.Hidden = "again.link", signInLinkPath+"/request", "again.link.submit", []pair{{"next", to}}
		}
		return f
	}
	f.Action, f.Submit, f.Hidden = ui.SignInAgainPath, "again.submit", []pair{{"next", to}}
	f.Fields = []ui.Field{{
		Name: "password", Label: "field.password", Type: "password", Autocomplete: "current-password", Focus: true,
	}}
	if req.Visitor.Customer.HasSecondFactor {
		f.Fields = append(f.Fields, hinted(codeField, "code.hint"))
	}
	return f
}

func (h *Handler) showSignInAgain(req *ui.Request) error {
	return h.show(req, "again.title", "", h.signInAgainForm(req, nextPath(req, req.Query("next"))))
}

func (h *Handler) signInAgain(req *ui.Request) error {
	to := nextPath(req, req.Field("next"))
	signedIn, err := h.Accounts.SignInAgain(req.R.Context(), req.Actor(), req.SessionSecret(), account.ReauthCredentials{
		Password: req.Field("password"), Code: req.Text("code"), Device: req.Device(),
	})
	if registrar.CodeOf(err) == account.BadCredentials && req.Visitor.Customer.HasPassword {
		f := h.signInAgainForm(req, to)
		f.Fields[0].Problem = "problem.wrong_password"
		return h.show(req, "again.title", "", f)
	}
	if err != nil {
		return h.showFormAgain(req, "again.title", "", h.signInAgainForm(req, to), err)
	}
	req.SetDevice(signedIn.Device)
	req.SetSession(signedIn.Secret)
	return req.SeeOther(cmp.Or(to, ui.HomePath))
}

// A customer without a password may have no passkey either, and signs in again by a mailed link.

const signInLinkPath = "/portal/sign-in/link"

func (h *Handler) requestSignInLink(req *ui.Request) error {
	to := mailedNext(req.Field("next"))
	req.SetFormPath(ui.WithNext(ui.SignInAgainPath, to))
	if err := h.Accounts.RequestSignInLink(req.R.Context(), req.Actor(), to); err != nil {
		return err
	}
	return req.SeeOther(signInLinkPath + "/request")
}

func (h *Handler) signInLinkSent(req *ui.Request) error {
	return h.showMessage(req, http.StatusOK, "link_sent.title", "reset.sent.text", pair{"again.back", ui.HomePath})
}

func signInLinkForm(link, email, next string) form {
	return form{
		Intro: "sign_in_link.intro", IntroValue: email, Action: signInLinkPath, Submit: "sign_in.title", Hidden: []pair{{"link", link}, {"next", next}},
	}
}

func (h *Handler) showSignInLink(req *ui.Request, link, email string) error {
	return h.show(req, "sign_in.title", "", signInLinkForm(link, email, mailedNext(req.Query("next"))))
}

func (h *Handler) signInWithLink(req *ui.Request, link, _ string) error {
	to := mailedNext(req.Field("next"))
	signedIn, err := h.Accounts.SignInWithLink(req.R.Context(), req.Actor(), link, req.BrowserName())
	if err != nil {
		return err
	}
	if signedIn.NeedsCode {
		return h.startSessionAndRedirect(req, signedIn, ui.WithNext(codePath, to))
	}
	return h.startSessionAndContinue(req, signedIn, to)
}

// signOut also deletes the cookie of an ended session.
func (h *Handler) signOut(req *ui.Request) error {
	if err := h.Accounts.SignOut(req.R.Context(), req.Actor(), req.SessionSecret()); err != nil {
		return err
	}
	req.ClearSession()
	return req.RedirectWithFlash("signed_out", ui.WithNext(ui.SignInPath, nextPath(req, req.Field("next"))))
}

func (h *Handler) signOutEverywhere(req *ui.Request) error {
	if err := h.Accounts.SignOutEverywhere(req.R.Context(), req.Actor()); err != nil {
		return err
	}
	req.ClearSession()
	return req.RedirectWithFlash("signed_out_everywhere", ui.SignInPath)
}
