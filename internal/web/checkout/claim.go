package checkout

import (
	"net/http"
	"net/url"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// claimView is what the page behind the mailed link shows. Without a link that works
// it has no order.
type claimView struct {
	Page, SignIn, Link string
	Order              order.Order
	Rows               []row
	ProblemKey         string
}

// showClaim shows what the link is for. Nothing happens before the button: programs
// that look at mails follow links, too.
func (h *Handler) showClaim(v *page.Visit) error {
	link := v.Query("link")
	v.FormOn(claimPath)
	o, err := h.orders.Claimable(v.R.Context(), link)
	if registrar.CodeOf(err) == order.NoSuchClaim {
		return h.noClaim(v, err)
	}
	if err != nil {
		return err
	}
	shown := claimView{Page: claimPath, SignIn: page.SignInPath + "?next=" + url.QueryEscape(claimPage(link)), Link: link, Order: o}
	for _, item := range o.Items {
		shown.Rows = append(shown.Rows, h.rowOf(v.Language, item))
	}
	return h.views.Render(v, page.View{Name: "claim", Title: "claim.title", Data: shown})
}

func (h *Handler) noClaim(v *page.Visit, err error) error {
	wire.Annotate(v.W, err)
	return h.views.Render(v, page.View{
		Name: "claim", Status: http.StatusNotFound, Title: "claim.title", Data: claimView{ProblemKey: "problem.no_such_claim"},
	})
}

// claimPage is where a link of a letter leads to.
func claimPage(link string) string { return claimPath + "?link=" + url.QueryEscape(link) }

// claim takes the order over into the account that is signed in.
func (h *Handler) claim(v *page.Visit) error {
	v.FormOn(claimPage(v.Field("link"))) // whoever must sign in first comes back with the link
	if !v.SignedIn {
		return v.SignInFirst(page.SignInPath)
	}
	o, err := h.orders.Claim(v.R.Context(), v.Actor(), v.Field("link"))
	switch {
	case registrar.CodeOf(err) == order.NoSuchClaim:
		return h.noClaim(v, err)
	case err != nil:
		if t, known := h.troubleOf(err); known {
			wire.Annotate(v.W, err)
			return h.views.Render(v, page.View{Name: "claim", Status: t.status, Title: "claim.title", Data: claimView{ProblemKey: t.problem}})
		}
		return err
	}
	v.Note("claimed")
	return v.SeeOther(page.OrdersPath + "/" + o.ID)
}

// askClaim has the letter sent again.
func (h *Handler) askClaim(v *page.Visit) error {
	v.FormOn(payPath(v))
	if err := h.orders.AskClaim(v.R.Context(), v.Actor(), payLink(v)); err != nil {
		return h.tell(v, err, trouble{})
	}
	v.Note("claim_asked")
	return v.SeeOther(payPath(v))
}
