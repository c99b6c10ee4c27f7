package portal

import (
	"bytes"
	"encoding/base64"
	"html/template"
	"image/png"
	"net/http"

	"github.com/pquerna/otp"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

const factorPath = "/portal/security/second-factor"

// securityView is the page on which everything stands that opens the account.
type securityView struct {
	Customer customer.Customer
	Recent   bool
	// Locked says that this session may not change factors; NoFactor that the account
	// has none.
	Locked, NoFactor bool
	Again            string
	Problem          string
	CodesLeft        int
	Passkeys         []customer.Passkey
	AddPasskey       passkeyForm
	Sessions         []customer.Session
	ThisSession      string
}

func (h *Handler) security(v *page.Visit) error { return h.showSecurity(v, http.StatusOK, "") }

func (h *Handler) showSecurity(v *page.Visit, status int, problem string) error {
	ctx, actor := v.R.Context(), v.Actor()
	view := securityView{
		Customer: v.Visitor.Customer, Recent: v.Recent(), Again: withNext(page.SignInAgainPath, securityPath), Problem: problem,
		ThisSession: v.Visitor.Session.ID,
		AddPasskey: passkeyForm{Kind: "create", Begin: beginAdd, Finish: finishAdd, Submit: "passkeys.add", Field: &page.Field{
			ID: "passkey-name", Name: "name", Label: "field.passkey_name", Hint: "hint.passkey_name", Type: "text", Autocomplete: "off", MaxLength: 60,
		}},
	}
	var err error
	if view.Passkeys, err = h.customers.Passkeys(ctx, actor); err != nil {
		return err
	}
	view.Locked = v.Visitor.FactorsLocked(len(view.Passkeys) > 0)
	view.NoFactor = !view.Customer.HasSecondFactor && len(view.Passkeys) == 0
	if view.Sessions, err = h.customers.Sessions(ctx, actor); err != nil {
		return err
	}
	if view.Customer.HasSecondFactor {
		if view.CodesLeft, err = h.customers.RecoveryCodesLeft(ctx, actor); err != nil {
			return err
		}
	}
	return h.views.Render(v, page.View{Name: "security", Status: status, Title: "security.title", Section: securityPath, Data: view})
}

// securityProblem shows what could not be done, above the page.
func (h *Handler) securityProblem(v *page.Visit, err error) error {
	problem, ok := h.problem(v, err)
	if !ok {
		return err
	}
	status := http.StatusConflict
	if registrar.KindOf(err) == registrar.KindForbidden {
		status = http.StatusForbidden
	}
	return h.showSecurity(v, status, problem)
}

func (h *Handler) endSession(v *page.Visit) error {
	if err := h.customers.EndSession(v.R.Context(), v.Actor(), v.R.PathValue("id")); err != nil {
		return err
	}
	v.Note("session_ended")
	return v.SeeOther(securityPath)
}

// factorView is the page on which an authenticator app is set up.
type factorView struct {
	form
	Secret string
	// Picture is the same as an image in the address of a picture.
	Picture template.URL
}

func (h *Handler) showSecondFactor(v *page.Visit) error { return h.setUpFactor(v, nil) }

// setUpFactor shows the secret, which stays the same until it is confirmed.
func (h *Handler) setUpFactor(v *page.Visit, problem error) error {
	secret, uri, err := h.customers.BeginSecondFactor(v.R.Context(), v.Actor())
	if registrar.CodeOf(err) == customer.SecondFactorOn {
		return v.SeeOther(securityPath)
	}
	if registrar.CodeOf(err) == customer.StrongSignIn {
		return h.securityProblem(v, err)
	}
	if err != nil {
		return err
	}
	picture, err := drawCode(uri)
	if err != nil {
		return &registrar.Error{Kind: registrar.KindInternal, Code: "qr_code", Err: err}
	}
	view := factorView{Secret: grouped(secret), Picture: picture, form: form{
		Action: factorPath, Submit: "factor.submit", Fields: []page.Field{hinted(codeField, "factor.hint")},
		Links: []pair{{"back.security", securityPath}},
	}}
	status := http.StatusOK
	if problem != nil {
		if view.form, err = h.blame(v, view.form, problem); err != nil {
			return err
		}
		status = http.StatusUnprocessableEntity
	}
	return h.views.Render(v, page.View{Name: "factor", Status: status, Title: "factor.title", Section: securityPath, Data: view})
}

// grouped puts a space after every four characters, for people who type.
func grouped(secret string) string {
	var out []byte
	for i := range len(secret) {
		if i > 0 && i%4 == 0 {
			out = append(out, ' ')
		}
		out = append(out, secret[i])
	}
	return string(out)
}

// drawCode is the address of an authenticator app's secret as a picture that
// stands in the page itself: the secret is in no address that is asked for.
func drawCode(uri string) (template.URL, error) {
	key, err := otp.NewKeyFromURL(uri)
	if err != nil {
		return "", err
	}
	picture, err := key.Image(400, 400)
	if err != nil {
		return "", err
	}
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, picture); err != nil {
		return "", err
	}
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(encoded.Bytes())), nil //nolint:gosec // our own
}

func (h *Handler) finishSecondFactor(v *page.Visit) error {
	codes, err := h.customers.FinishSecondFactor(v.R.Context(), v.Actor(), v.Text("code"))
	if err != nil {
		if registrar.CodeOf(err) == customer.CodeWrong {
			return h.setUpFactor(v, err)
		}
		return h.securityProblem(v, err)
	}
	return h.showCodes(v, codes, "codes.intro_new")
}

func (h *Handler) newRecoveryCodes(v *page.Visit) error {
	codes, err := h.customers.NewRecoveryCodes(v.R.Context(), v.Actor())
	if err != nil {
		return h.securityProblem(v, err)
	}
	return h.showCodes(v, codes, "codes.intro_again")
}

// showCodes is the one time that recovery codes are seen.
func (h *Handler) showCodes(v *page.Visit, codes []string, intro string) error {
	return h.views.Render(v, page.View{Name: "codes", Title: "codes.title", Section: securityPath, Data: struct {
		Intro string
		Codes []string
	}{intro, codes}})
}

func (h *Handler) dropSecondFactor(v *page.Visit) error {
	if err := h.customers.DropSecondFactor(v.R.Context(), v.Actor()); err != nil {
		return h.securityProblem(v, err)
	}
	v.Note("factor_dropped")
	return v.SeeOther(securityPath)
}
