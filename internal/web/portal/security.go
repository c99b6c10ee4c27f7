package portal

import (
	"bytes"
	"encoding/base64"
	"html/template"
	"image/png"
	"net/http"
	"slices"
	"strings"

	"github.com/pquerna/otp"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const factorPath = "/portal/security/second-factor"

type securityView struct {
	Customer account.Customer
	Recent   bool
	// Locked means that this session may not change factors; NoFactor that the account
	// has none.
	Locked, NoFactor bool
	Again            string
	Problem          string
	CodesLeft        int
	Passkeys         []account.Passkey
	AddPasskey       passkeyForm
	Sessions         []account.Session
	ThisSession      string
}

func (h *Handler) security(req *ui.Request) error { return h.showSecurity(req, http.StatusOK, "") }

func (h *Handler) showSecurity(req *ui.Request, status int, problem string) error {
	ctx, actor := req.R.Context(), req.Actor()
	view := securityView{
		Customer: req.Visitor.Customer, Recent: req.SignedInRecently(), Again: ui.WithNext(ui.SignInAgainPath, securityPath), Problem: problem,
		ThisSession: req.Visitor.Session.ID,
		AddPasskey: passkeyForm{Kind: "create", Begin: beginAdd, Finish: finishAdd, Submit: "passkeys.add", Field: &ui.Field{
			ID: "passkey-name", Name: "name", Label: "field.passkey_name", Hint: "hint.passkey_name", Type: "text", Autocomplete: "off", MaxLength: 60,
		}},
	}
	var err error
	if view.Passkeys, err = h.Accounts.Passkeys(ctx, actor); err != nil {
		return err
	}
	view.Locked = req.Visitor.FactorsLocked(len(view.Passkeys) > 0)
	view.NoFactor = !view.Customer.HasSecondFactor && len(view.Passkeys) == 0
	if view.Sessions, err = h.Accounts.Sessions(ctx, actor); err != nil {
		return err
	}
	if view.Customer.HasSecondFactor {
		if view.CodesLeft, err = h.Accounts.RecoveryCodesLeft(ctx, actor); err != nil {
			return err
		}
	}
	return h.templates.Render(req, ui.View{Name: "security", Status: status, Title: "security.title", Section: securityPath, Data: view})
}

func (h *Handler) securityProblem(req *ui.Request, err error) error {
	problem, ok := h.problem(req, err)
	if !ok {
		return err
	}
	status := http.StatusConflict
	if registrar.KindOf(err) == registrar.KindForbidden {
		status = http.StatusForbidden
	}
	return h.showSecurity(req, status, problem)
}

type factorView struct {
	form
	Secret  string
	Picture template.URL // the QR code as a data URL
}

func (h *Handler) showSecondFactor(req *ui.Request) error { return h.setUpFactor(req, nil) }

// setUpFactor shows the secret, which stays the same until it is confirmed.
func (h *Handler) setUpFactor(req *ui.Request, problem error) error {
	secret, uri, err := h.Accounts.BeginSecondFactor(req.R.Context(), req.Actor())
	if registrar.CodeOf(err) == account.SecondFactorOn {
		return req.SeeOther(securityPath)
	}
	if registrar.CodeOf(err) == account.StrongSignIn {
		return h.securityProblem(req, err)
	}
	if err != nil {
		return err
	}
	picture, err := qrCodeURL(uri)
	if err != nil {
		return &registrar.Error{Kind: registrar.KindInternal, Code: "qr_code", Err: err}
	}
	view := factorView{Secret: groupByFour(secret), Picture: picture, form: form{
		Action: factorPath, Submit: "factor.submit", Fields: []ui.Field{hinted(codeField, "factor.hint")},
		Links: []pair{{"back.security", securityPath}},
	}}
	status := http.StatusOK
	if problem != nil {
		if view.form, err = h.attachError(req, view.form, problem); err != nil {
			return err
		}
		status = http.StatusUnprocessableEntity
	}
	return h.templates.Render(req, ui.View{Name: "factor", Status: status, Title: "factor.title", Section: securityPath, Data: view})
}

func groupByFour(secret string) string {
	var groups []string
	for group := range slices.Chunk([]byte(secret), 4) {
		groups = append(groups, string(group))
	}
	return strings.Join(groups, " ")
}

// qrCodeURL returns the secret as a QR code in a data URL, so that the secret is in no
// requested URL.
func qrCodeURL(uri string) (template.URL, error) {
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
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(encoded.Bytes())), nil //nolint:gosec  // generated here
}

func (h *Handler) finishSecondFactor(req *ui.Request) error {
	codes, err := h.Accounts.FinishSecondFactor(req.R.Context(), req.Actor(), req.Text("code"))
	if err != nil {
		if registrar.CodeOf(err) == account.CodeWrong {
			return h.setUpFactor(req, err)
		}
		return h.securityProblem(req, err)
	}
	return h.showCodes(req, codes, "codes.intro_new")
}

func (h *Handler) newRecoveryCodes(req *ui.Request) error {
	codes, err := h.Accounts.ReplaceRecoveryCodes(req.R.Context(), req.Actor())
	if err != nil {
		return h.securityProblem(req, err)
	}
	return h.showCodes(req, codes, "codes.intro_again")
}

// showCodes shows recovery codes, once.
func (h *Handler) showCodes(req *ui.Request, codes []string, intro string) error {
	// A session that was opened with a password alone does not open the operators' pages.
	again := ""
	if req.Visitor.Customer.Operator && !req.Visitor.Session.Strong() {
		again = ui.WithNext(ui.SignInAgainPath, ui.OperatorPath)
	}
	return h.templates.Render(req, ui.View{Name: "codes", Title: "codes.title", Section: securityPath, Data: struct {
		Intro         string
		Codes         []string
		OperatorAgain string
	}{intro, codes, again}})
}

func (h *Handler) dropSecondFactor(req *ui.Request) error {
	if err := h.Accounts.DisableSecondFactor(req.R.Context(), req.Actor()); err != nil {
		return h.securityProblem(req, err)
	}
	return req.RedirectWithFlash("factor_dropped", securityPath)
}
