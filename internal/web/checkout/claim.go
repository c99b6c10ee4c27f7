package checkout

import (
	"net/http"
	"net/url"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// claimView is the data of the page behind the mailed link. An invalid link has no
// order.
type claimView struct {
	Page, SignIn, Link string
	Order              order.Order
	Rows               []itemRow
	ProblemKey         string
}

// showClaim shows the order of the link. Nothing changes before the button is pressed:
// mail scanners follow links, too.
func (h *Handler) showClaim(req *ui.Request) error {
	link := req.Query("link")
	req.SetFormPath(claimPath)
	o, err := h.Orders.ClaimableOrder(req.R.Context(), link)
	if err != nil {
		return h.claimProblem(req, err, formError{})
	}
	req.PreferAccountLanguage(o.Contact.GuestLanguage())
	rows, _, err := h.itemRows(req, o)
	if err != nil {
		return err
	}
	return h.templates.Render(req, ui.View{Name: "claim", Title: "claim.title", Data: claimView{
		Page: claimPath, SignIn: ui.WithNext(ui.SignInPath, claimURL(link)), Link: link, Order: o, Rows: rows,
	}})
}

// claimProblem shows that a link is not valid, or t. Other errors are returned.
func (h *Handler) claimProblem(req *ui.Request, err error, t formError) error {
	if registrar.CodeOf(err) == order.NoSuchClaim {
		t = formError{status: http.StatusNotFound, problem: "problem.no_such_claim"}
	}
	if t.problem == "" {
		return err
	}
	httpjson.RecordError(req.W, err)
	return h.templates.Render(req, ui.View{Name: "claim", Status: t.status, Title: "claim.title", Data: claimView{ProblemKey: t.problem}})
}

// claimURL is the target of a mailed link.
func claimURL(link string) string { return claimPath + "?link=" + url.QueryEscape(link) }

func (h *Handler) claim(req *ui.Request) error {
	req.SetFormPath(claimURL(req.Field("link"))) // the sign-in returns with the link
	if !req.SignedIn {
		return req.RedirectToSignIn(ui.SignInPath)
	}
	o, err := h.Orders.Claim(req.R.Context(), req.Actor(), req.Field("link"))
	if err != nil {
		t, _ := h.formErrorFor(err)
		return h.claimProblem(req, err, t)
	}
	return req.RedirectWithFlash("claimed", ui.OrdersPath+"/"+o.ID)
}

func (h *Handler) resendClaimMail(req *ui.Request) error {
	if err := h.Orders.ResendClaimMail(req.R.Context(), req.Actor(), linkSecret(req)); err != nil {
		return h.renderFormError(req, err, formError{})
	}
	return req.RedirectWithFlash("claim_asked", currentPayPath(req))
}
