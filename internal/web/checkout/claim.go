package checkout

import (
	"net/http"
	"net/url"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// claimView is what the page behind the mailed link shows. Without a link that works
// it has no order.
type claimView struct {
	Page, SignIn, Link string
	Order              order.Order
	Rows               []itemRow
	ProblemKey         string
}

// showClaim shows what the link is for. Nothing happens before the button: programs
// that look at mails follow links, too.
func (h *Handler) showClaim(req *ui.Request) error {
	link := req.Query("link")
	req.SetFormPath(claimPath)
	o, err := h.orders.ClaimableOrder(req.R.Context(), link)
	if registrar.CodeOf(err) == order.NoSuchClaim {
		return h.renderNoClaim(req, err)
	}
	if err != nil {
		return err
	}
	shown := claimView{Page: claimPath, SignIn: ui.SignInPath + "?next=" + url.QueryEscape(claimURL(link)), Link: link, Order: o}
	for _, item := range o.Items {
		shown.Rows = append(shown.Rows, h.newItemRow(req.Language, item))
	}
	return h.templates.Render(req, ui.View{Name: "claim", Title: "claim.title", Data: shown})
}

func (h *Handler) renderNoClaim(req *ui.Request, err error) error {
	httpjson.RecordError(req.W, err)
	return h.templates.Render(req, ui.View{
		Name: "claim", Status: http.StatusNotFound, Title: "claim.title", Data: claimView{ProblemKey: "problem.no_such_claim"},
	})
}

// claimURL is where a link of a letter leads to.
func claimURL(link string) string { return claimPath + "?link=" + url.QueryEscape(link) }

// claim takes the order over into the account that is signed in.
func (h *Handler) claim(req *ui.Request) error {
	req.SetFormPath(claimURL(req.Field("link"))) // whoever must sign in first comes back with the link
	if !req.SignedIn {
		return req.RedirectToSignIn(ui.SignInPath)
	}
	o, err := h.orders.Claim(req.R.Context(), req.Actor(), req.Field("link"))
	switch {
	case registrar.CodeOf(err) == order.NoSuchClaim:
		return h.renderNoClaim(req, err)
	case err != nil:
		if t, known := h.formErrorFor(err); known {
			httpjson.RecordError(req.W, err)
			return h.templates.Render(req, ui.View{Name: "claim", Status: t.status, Title: "claim.title", Data: claimView{ProblemKey: t.problem}})
		}
		return err
	}
	req.Flash("claimed")
	return req.SeeOther(ui.OrdersPath + "/" + o.ID)
}

// resendClaimMail has the letter sent again.
func (h *Handler) resendClaimMail(req *ui.Request) error {
	req.SetFormPath(currentPayPath(req))
	if err := h.orders.ResendClaimMail(req.R.Context(), req.Actor(), linkSecret(req)); err != nil {
		return h.renderFormError(req, err, formError{})
	}
	req.Flash("claim_asked")
	return req.SeeOther(currentPayPath(req))
}
