package checkout

import (
	"net/http"
	"net/url"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// verifyView is what the page behind verification_url shows. Fields that end in
// Key are keys of texts.
type verifyView struct {
	Page, SignIn string
	View         order.VerifyView
	TextKey      string
	FailureKey   string
	ProblemKey   string
	// Pay is the order's own page, for its customer.
	Pay string
}

// showVerify explains what is asked for and why, and afterwards how it went.
func (h *Handler) showVerify(v *page.Visit) error {
	view, err := h.orders.VerifyVisit(v.R.Context(), v.Actor(), payLink(v))
	if err != nil {
		return err
	}
	return h.renderVerify(v, view, trouble{})
}

func (h *Handler) renderVerify(v *page.Visit, view order.VerifyView, t trouble) error {
	here := verifyPath + payLink(v)
	v.FormOn(here)
	s := verifyView{
		Page: here, SignIn: page.SignInPath + "?next=" + url.QueryEscape(here), View: view, ProblemKey: t.problem,
		TextKey: "verify." + string(view.Standing),
	}
	if !view.Needed && view.Standing != order.IdentityVerified {
		s.TextKey = "verify.not_needed"
	}
	if view.Failure != "" {
		s.FailureKey = "verify.failure.other"
		if key := "verify.failure." + string(view.Failure); h.views.Has(key) {
			s.FailureKey = key
		}
	}
	if view.Yours {
		address, err := h.orders.PayURL(view.Order)
		if err != nil {
			return err
		}
		s.Pay = h.pathOf(address)
	}
	// The button leads to the provider.
	v.LeadElsewhere()
	if view.Yours && view.Needed && view.Standing == order.IdentityOpen && t.status == 0 {
		v.ReloadIn(later)
	}
	return h.views.Render(v, page.View{Name: "verify", Status: t.status, Title: "verify.title", Data: s})
}

// verify leads to the provider.
func (h *Handler) verify(v *page.Visit) error {
	v.FormOn(verifyPath + payLink(v))
	v.LeadElsewhere()
	redirect, err := h.orders.Verify(v.R.Context(), v.Actor(), payLink(v))
	switch {
	case err == nil && redirect != "":
		return v.SeeOther(redirect)
	case err == nil, registrar.CodeOf(err) == order.NotOpen:
		return v.SeeOther(verifyPath + payLink(v)) // which says how it stands
	}
	t, ok := h.troubleOf(err)
	if !ok {
		return err
	}
	if t.status == http.StatusServiceUnavailable {
		t.problem = "problem.identity_unreachable"
	}
	view, again := h.orders.VerifyVisit(v.R.Context(), v.Actor(), payLink(v))
	if again != nil {
		return again
	}
	wire.Annotate(v.W, err)
	return h.renderVerify(v, view, t)
}
