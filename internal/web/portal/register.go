package portal

import (
	"net/http"
	"net/url"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// A new person: an address, a link in a mail, and then a password or a passkey.

func registerForm() form {
	return form{
		Intro: "register.intro", Action: "/portal/register", Fields: []page.Field{focused(emailField)}, Submit: "register.submit",
		Links: []pair{{"register.sign_in", page.SignInPath}},
	}
}

func (h *Handler) showRegister(v *page.Visit) error {
	if v.SignedIn {
		return v.SeeOther(page.HomePath)
	}
	if err := h.needMail(); err != nil {
		return err
	}
	return h.show(v, "register.title", "", registerForm())
}

func (h *Handler) register(v *page.Visit) error {
	if err := h.needMail(); err != nil {
		return err
	}
	err := h.customers.Register(v.R.Context(), v.Actor(), customer.Registration{Email: v.Text("email"), Language: v.Language})
	if err != nil {
		return h.again(v, "register.title", "", registerForm(), err)
	}
	return v.SeeOther("/portal/register/sent")
}

func (h *Handler) registerSent(v *page.Visit) error {
	return h.say(v, http.StatusOK, "register.sent.title", "register.sent.text", pair{"register.sign_in", page.SignInPath})
}

func confirmForm(link, email string) form {
	password := hinted(newPasswordField, "confirm.hint")
	password.Optional = true
	return form{
		Intro: "confirm.intro", IntroValue: email, Username: email, Action: "/portal/confirm", Submit: "confirm.submit",
		Hidden: []pair{{"link", link}}, Fields: []page.Field{password},
	}
}

func (h *Handler) showConfirm(v *page.Visit) error {
	link := v.Query("link")
	email, err := h.customers.PeekLink(v.R.Context(), customer.LinkConfirm, link)
	if err != nil {
		return h.linkProblem(v, err, pair{"link_invalid.register", "/portal/register"})
	}
	return h.show(v, "confirm.title", "", confirmForm(link, email))
}

func (h *Handler) confirm(v *page.Visit) error {
	link, password := v.Field("link"), v.Field("password")
	email, err := h.customers.PeekLink(v.R.Context(), customer.LinkConfirm, link)
	if err != nil {
		return h.linkProblem(v, err, pair{"link_invalid.register", "/portal/register"})
	}
	signedIn, err := h.customers.Confirm(v.R.Context(), v.Actor(), link, customer.Confirmation{Password: password, Agent: v.Agent()})
	if registrar.CodeOf(err) == customer.LinkInvalid {
		return h.linkProblem(v, err, pair{"link_invalid.register", "/portal/register"})
	}
	if err != nil {
		return h.again(v, "confirm.title", "", confirmForm(link, email), err)
	}
	if password == "" {
		v.Note("confirmed_add_passkey")
		return h.letIn(v, signedIn, securityPath)
	}
	v.Note("confirmed")
	if len(v.Basket()) > 0 { // what they came for
		return h.letIn(v, signedIn, page.BasketIn(v.Language))
	}
	return h.letIn(v, signedIn, profilePath)
}

// A forgotten password.

func resetForm() form {
	return form{
		Intro: "reset.intro", Action: "/portal/reset", Fields: []page.Field{focused(emailField)}, Submit: "reset.submit",
		Links: []pair{{"reset.sign_in", page.SignInPath}},
	}
}

func (h *Handler) showReset(v *page.Visit) error {
	if err := h.needMail(); err != nil {
		return err
	}
	return h.show(v, "reset.title", "", resetForm())
}

func (h *Handler) askReset(v *page.Visit) error {
	if err := h.needMail(); err != nil {
		return err
	}
	if err := h.customers.AskReset(v.R.Context(), v.Actor(), v.Text("email"), v.Language); err != nil {
		return h.again(v, "reset.title", "", resetForm(), err)
	}
	return v.SeeOther("/portal/reset/sent")
}

func (h *Handler) resetSent(v *page.Visit) error {
	return h.say(v, http.StatusOK, "reset.sent.title", "reset.sent.text", pair{"reset.sign_in", page.SignInPath})
}

func newPasswordForm(link, email string) form {
	return form{
		Intro: "reset.new.intro", IntroValue: email, Username: email, Action: "/portal/reset/new", Submit: "reset.new.submit",
		Hidden: []pair{{"link", link}}, Fields: []page.Field{focused(newPasswordField)},
	}
}

func (h *Handler) showNewPassword(v *page.Visit) error {
	link := v.Query("link")
	email, err := h.customers.PeekLink(v.R.Context(), customer.LinkReset, link)
	if err != nil {
		return h.linkProblem(v, err, pair{"link_invalid.reset", "/portal/reset"})
	}
	return h.show(v, "reset.new.title", "", newPasswordForm(link, email))
}

func (h *Handler) resetPassword(v *page.Visit) error {
	link := v.Field("link")
	email, err := h.customers.PeekLink(v.R.Context(), customer.LinkReset, link)
	if err != nil {
		return h.linkProblem(v, err, pair{"link_invalid.reset", "/portal/reset"})
	}
	err = h.customers.Reset(v.R.Context(), v.Actor(), link, v.Field("password"))
	if registrar.CodeOf(err) == customer.LinkInvalid {
		return h.linkProblem(v, err, pair{"link_invalid.reset", "/portal/reset"})
	}
	if err != nil {
		return h.again(v, "reset.new.title", "", newPasswordForm(link, email), err)
	}
	// Whoever sits here may be signed in to another account, or to this one with a
	// session that has just ended.
	v.ForgetSession()
	v.Note("password_reset")
	return v.SeeOther(page.SignInPath)
}

// Another address: the link shows that its mail arrives, the session that it is the
// customer's.

const confirmEmailPath = "/portal/email/confirm"

func confirmEmailForm(link, email string) form {
	return form{
		Intro: "email_confirm.intro", IntroValue: email, Action: confirmEmailPath, Submit: "email_confirm.submit",
		Hidden: []pair{{"link", link}},
	}
}

// behindLink is a page for the account that a link was made for. Whoever has to
// sign in first comes back with the link, and learns nothing about it before.
func (h *Handler) behindLink(path string, show page.Func) http.HandlerFunc {
	return h.frame.Open(func(v *page.Visit) error {
		link := v.Field("link")
		if link == "" {
			link = v.Query("link")
		}
		v.FormOn(path + "?link=" + url.QueryEscape(link))
		if !v.SignedIn {
			return v.SignInFirst(page.SignInPath)
		}
		return show(v)
	})
}

// foreignLink shows that a link does nothing for this account. A link of another
// account looks like one that never existed.
func (h *Handler) foreignLink(v *page.Visit, err error) error {
	switch registrar.CodeOf(err) {
	case customer.LinkInvalid:
		return h.say(v, http.StatusGone, "link_invalid.title", "link_invalid.account", pair{"link_invalid.home", page.HomePath})
	case customer.StrongSignIn:
		return h.say(v, http.StatusForbidden, "strong.title", page.ProblemKey(customer.StrongSignIn),
			pair{"strong.again", withNext(page.SignInAgainPath, v.Back())})
	default:
		return err
	}
}

func (h *Handler) showConfirmEmail(v *page.Visit) error {
	link := v.Query("link")
	email, err := h.customers.CheckEmailChange(v.R.Context(), v.Actor(), link)
	if err != nil {
		return h.foreignLink(v, err)
	}
	return h.show(v, "email_confirm.title", "", confirmEmailForm(link, email))
}

func (h *Handler) confirmEmail(v *page.Visit) error {
	link := v.Field("link")
	email, err := h.customers.CheckEmailChange(v.R.Context(), v.Actor(), link)
	if err == nil {
		err = h.customers.ConfirmEmail(v.R.Context(), v.Actor(), link)
	}
	switch registrar.CodeOf(err) {
	case "":
		if err != nil {
			return err
		}
		v.Note("email_changed")
		return v.SeeOther(page.HomePath)
	case customer.LinkInvalid, customer.StrongSignIn:
		return h.foreignLink(v, err)
	default:
		return h.again(v, "email_confirm.title", "", confirmEmailForm(link, email), err)
	}
}

// An operator's first factor: the link shows that whoever granted the role trusts
// who signs in.

const enrolPath = "/portal/security/enrol"

// EnrolAddress is where an enrolment link leads.
func EnrolAddress(baseURL, link string) string { return baseURL + enrolPath + "?link=" + link }

func enrolForm(link string) form {
	return form{Intro: "enrol.intro", Action: enrolPath, Submit: "enrol.submit", Hidden: []pair{{"link", link}}}
}

func (h *Handler) showEnrol(v *page.Visit) error {
	link := v.Query("link")
	if err := h.customers.CheckEnrolment(v.R.Context(), v.Actor(), link); err != nil {
		return h.foreignLink(v, err)
	}
	return h.show(v, "enrol.title", securityPath, enrolForm(link))
}

func (h *Handler) enrol(v *page.Visit) error {
	signedIn, err := h.customers.OpenEnrolment(v.R.Context(), v.Actor(), v.SessionSecret(), v.Field("link"))
	if err != nil {
		return h.foreignLink(v, err)
	}
	v.KeepSession(signedIn.Secret)
	v.Note("enrolment_opened")
	return v.SeeOther(securityPath)
}
