package portal

import (
	"net/url"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// next is where a sign-in leads: a page of ours, or nowhere in particular. On the
// way to a consent the page gives way as the consent itself does.
func next(v *page.Visit, text string) string {
	to := page.LocalPath(text, "")
	if leadsToConsent(to) {
		v.LeadToApplication()
	}
	return to
}

// leadsToConsent also knows the way through another sign-in page, which is where
// one comes back to after choosing a language there.
func leadsToConsent(to string) bool {
	if strings.HasPrefix(to, consentPrefix) {
		return true
	}
	through, err := url.Parse(to)
	return err == nil && strings.HasPrefix(page.LocalPath(through.Query().Get("next"), ""), consentPrefix)
}

// consentPrefix is where applications send people to.
const consentPrefix = "/oauth/"

func withNext(path, next string) string {
	if next == "" {
		return path
	}
	return path + "?next=" + url.QueryEscape(next)
}

func signInForm(next string) form {
	email, password := focused(emailField), page.Field{
		Name: "password", Label: "field.password", Type: "password", Autocomplete: "current-password",
	}
	return form{
		Action: page.SignInPath, Submit: "sign_in.submit", Hidden: []pair{{"next", next}}, Fields: []page.Field{email, password},
		Links: []pair{{"sign_in.forgot", "/portal/reset"}, {"sign_in.register", "/portal/register"}},
		Passkey: passkeyForm{
			Kind: "get", Begin: beginSignIn, Finish: finishSignIn, Next: next, Submit: "sign_in.passkey",
		},
	}
}

func (h *Handler) showSignIn(v *page.Visit) error {
	to := next(v, v.Query("next"))
	if v.SignedIn {
		return v.SeeOther(orHome(to))
	}
	return h.show(v, "sign_in.title", "", signInForm(to))
}

func orHome(to string) string {
	if to == "" {
		return profilePath
	}
	return to
}

func (h *Handler) signIn(v *page.Visit) error {
	to := next(v, v.Field("next"))
	signedIn, err := h.customers.SignIn(v.R.Context(), v.Actor(), customer.Credentials{
		Email: v.Text("email"), Password: v.Field("password"), Device: v.Device(), Agent: v.Agent(),
	})
	if err != nil {
		f := signInForm(to)
		if v.Text("email") != "" { // it stays; the password is typed again
			f.Fields[0].Focus, f.Fields[1].Focus = false, true
		}
		return h.again(v, "sign_in.title", "", f, err)
	}
	if signedIn.NeedsCode {
		return h.letIn(v, signedIn, withNext(codePath, to))
	}
	return h.letIn(v, signedIn, orHome(to))
}

// letIn hands the new session to the browser and leads on.
func (h *Handler) letIn(v *page.Visit, signedIn customer.SignedIn, to string) error {
	if err := h.handOver(v, signedIn); err != nil {
		return err
	}
	return v.SeeOther(to)
}

// handOver gives the browser a new session, also one that waits for a code. The
// one that it held before is ended, because nobody could sign it out any more.
func (h *Handler) handOver(v *page.Visit, signedIn customer.SignedIn) error {
	if v.SignedIn {
		if err := h.customers.SignOut(v.R.Context(), v.Actor(), v.SessionSecret()); err != nil {
			return err
		}
	}
	v.KeepDevice(signedIn.Device)
	if signedIn.NeedsCode {
		v.KeepPending(signedIn.Secret)
	} else {
		v.KeepSession(signedIn.Secret)
	}
	return nil
}

// The second factor.

func enterCodeForm(to string) form {
	return form{
		Intro: "code.intro", Action: codePath, Submit: "code.submit", Hidden: []pair{{"next", to}},
		Fields: []page.Field{focused(hinted(codeField, "code.hint"))}, Links: []pair{{"code.again", page.SignInPath}},
	}
}

func (h *Handler) showCode(v *page.Visit) error {
	to := next(v, v.Query("next"))
	if v.SignedIn {
		return v.SeeOther(orHome(to))
	}
	if v.SessionSecret() == "" {
		return v.SeeOther(withNext(page.SignInPath, to))
	}
	return h.show(v, "code.title", "", enterCodeForm(to))
}

func (h *Handler) enterCode(v *page.Visit) error {
	to := next(v, v.Field("next"))
	signedIn, err := h.customers.EnterCode(v.R.Context(), v.Actor(), v.SessionSecret(), v.Text("code"))
	switch {
	case err == nil:
		return h.letIn(v, signedIn, orHome(to))
	case registrar.CodeOf(err) == customer.SignInFirst:
		v.ForgetSession()
		v.Note("code_over")
		return v.SeeOther(withNext(page.SignInPath, to))
	default:
		return h.again(v, "code.title", "", enterCodeForm(to), err)
	}
}

// Signing in again, for what matters.

func (h *Handler) signInAgainForm(v *page.Visit, to string) form {
	f := form{
		Intro: "again.intro", IntroValue: v.Visitor.Customer.Email, Username: v.Visitor.Customer.Email,
		Passkey: passkeyForm{Kind: "get", Begin: beginSignIn, Finish: finishAgain, Next: to, Submit: "sign_in.passkey"},
		Links:   []pair{{"again.back", page.HomePath}},
	}
	if !v.Visitor.Customer.HasPassword {
		f.Intro = "again.passkey_only"
		return f
	}
	f.Action, f.Submit, f.Hidden = page.SignInAgainPath, "again.submit", []pair{{"next", to}}
	f.Fields = []page.Field{{
		Name: "password", Label: "field.password", Type: "password", Autocomplete: "current-password", Focus: true,
	}}
	if v.Visitor.Customer.HasSecondFactor {
		f.Fields = append(f.Fields, hinted(codeField, "code.hint"))
	}
	return f
}

func (h *Handler) showSignInAgain(v *page.Visit) error {
	return h.show(v, "again.title", "", h.signInAgainForm(v, next(v, v.Query("next"))))
}

func (h *Handler) signInAgain(v *page.Visit) error {
	to := next(v, v.Field("next"))
	signedIn, err := h.customers.SignInAgain(v.R.Context(), v.Actor(), v.SessionSecret(), customer.Proof{
		Password: v.Field("password"), Code: v.Text("code"), Device: v.Device(),
	})
	if registrar.CodeOf(err) == customer.BadCredentials && v.Visitor.Customer.HasPassword {
		f := h.signInAgainForm(v, to)
		f.Fields[0].Problem = "problem.wrong_password"
		return h.show(v, "again.title", "", f)
	}
	if err != nil {
		return h.again(v, "again.title", "", h.signInAgainForm(v, to), err)
	}
	v.KeepDevice(signedIn.Device)
	v.KeepSession(signedIn.Secret)
	return v.SeeOther(orHome(to))
}

// signOut also takes a cookie that opens nothing any more.
func (h *Handler) signOut(v *page.Visit) error {
	if err := h.customers.SignOut(v.R.Context(), v.Actor(), v.SessionSecret()); err != nil {
		return err
	}
	v.ForgetSession()
	v.Note("signed_out")
	return v.SeeOther(withNext(page.SignInPath, next(v, v.Field("next"))))
}

func (h *Handler) signOutEverywhere(v *page.Visit) error {
	if err := h.customers.SignOutEverywhere(v.R.Context(), v.Actor()); err != nil {
		return err
	}
	v.ForgetSession()
	v.Note("signed_out_everywhere")
	return v.SeeOther(page.SignInPath)
}
