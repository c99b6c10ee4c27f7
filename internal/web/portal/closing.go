package portal

import (
	"net/http"

	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

const closePath = "/portal/profile/close"

// showClose says what goes and what stays, and what keeps the account open.
func (h *Handler) showClose(v *page.Visit) error {
	if !v.Recent() {
		return v.SignInFirst(page.SignInAgainPath)
	}
	return h.askClose(v, "", http.StatusOK)
}

func (h *Handler) askClose(v *page.Visit, problem string, status int) error {
	ties, err := h.customers.Ties(v.R.Context(), v.Actor())
	if err != nil {
		return err
	}
	return h.views.Render(v, page.View{Name: "close", Status: status, Title: "close.title", Section: profilePath, Data: struct {
		Ties    customer.Ties
		Tied    bool
		Problem string
	}{ties, ties != customer.Ties{}, problem}})
}

// close ends the account. The tick is asked for because nobody can undo it.
func (h *Handler) close(v *page.Visit) error {
	if v.Field("sure") != "on" {
		return h.askClose(v, h.views.Text(v.Language, "close.unsure"), http.StatusUnprocessableEntity)
	}
	if err := h.customers.Close(v.R.Context(), v.Actor()); err != nil {
		sentence, known := h.problem(v, err)
		if !known {
			return err
		}
		wire.Annotate(v.W, err)
		return h.askClose(v, sentence, http.StatusConflict)
	}
	v.ForgetSession()
	v.SignedIn = false
	return h.say(v, http.StatusOK, "close.done.title", "close.done.text")
}
