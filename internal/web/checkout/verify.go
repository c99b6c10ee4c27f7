package checkout

import (
	"net/http"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// verifyView is the data of the page behind verification_url. Fields that end in Key
// are text keys.
type verifyView struct {
	Page, SignIn string
	View         order.VerifyView
	TextKey      string
	FailureKey   string
	Correct      string // where the customer's name can be changed, if it is not the verified one
	ProblemKey   string
	Pay          string // the order's page, for its customer
}

// showVerify explains what is required and why, and later shows the result.
func (h *Handler) showVerify(req *ui.Request) error {
	req.SetFormPath(verifyPath + linkSecret(req))
	view, err := h.Orders.VerifyView(req.R.Context(), req.Actor(), linkSecret(req))
	if err != nil {
		return err
	}
	req.PreferAccountLanguage(view.Language)
	return h.renderVerify(req, view, formError{})
}

func (h *Handler) renderVerify(req *ui.Request, view order.VerifyView, t formError) error {
	here := req.FormPath()
	s := verifyView{
		Page: here, SignIn: ui.WithNext(ui.SignInPath, here), View: view, ProblemKey: t.problem,
		TextKey: "verify." + string(view.Status),
	}
	if !view.Needed && view.Status != order.IdentityVerified {
		s.TextKey = "verify.not_needed"
	}
	if view.Failure != "" {
		s.FailureKey = "verify.failure.other"
		if key := "verify.failure." + string(view.Failure); h.templates.Has(key) {
			s.FailureKey = key
		}
	}
	if view.Failure == order.NameMismatch {
		s.Correct = ui.WithNext(ui.RegistrantPath, here)
	}
	if view.IsOwner {
		var err error
		if s.Pay, err = h.payPath(view.Order); err != nil {
			return err
		}
	}
	// The button leads to the provider.
	req.AllowExternalFormAction()
	if view.IsOwner && view.Needed && view.Status == order.IdentityOpen && t.status == 0 {
		req.RefreshAfter(reloadLater)
	}
	return h.templates.Render(req, ui.View{Name: "verify", Status: t.status, Title: "verify.title", Data: s})
}

func (h *Handler) verify(req *ui.Request) error {
	req.SetFormPath(verifyPath + linkSecret(req))
	req.AllowExternalFormAction()
	redirect, err := h.Orders.StartVerification(req.R.Context(), req.Actor(), linkSecret(req))
	switch {
	case err == nil && redirect != "":
		return req.SeeOther(redirect)
	case err == nil, registrar.CodeOf(err) == order.NotOpen:
		return req.SeeOther(req.FormPath()) // shows the current state
	}
	t, ok := h.formErrorFor(err)
	if !ok {
		return err
	}
	if t.status == http.StatusServiceUnavailable {
		t.problem = "problem.identity_unreachable"
	}
	view, again := h.Orders.VerifyView(req.R.Context(), req.Actor(), linkSecret(req))
	if again != nil {
		return again
	}
	httpjson.RecordError(req.W, err)
	return h.renderVerify(req, view, t)
}
