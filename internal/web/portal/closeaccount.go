package portal

import (
	"net/http"

	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const closePath = "/portal/profile/close"

// showClose explains what is deleted and kept, and what prevents the closure.
func (h *Handler) showClose(req *ui.Request) error {
	return h.renderClose(req, "", http.StatusOK)
}

func (h *Handler) renderClose(req *ui.Request, problem string, status int) error {
	ties, err := h.Accounts.CloseBlockers(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	return h.templates.Render(req, ui.View{Name: "close", Status: status, Title: "close.title", Section: profilePath, Data: struct {
		Ties    account.CloseBlockers
		Tied    bool
		Problem string
	}{ties, ties != account.CloseBlockers{}, problem}})
}

// closeAccount closes the account. It requires the checkbox because it can't be undone.
func (h *Handler) closeAccount(req *ui.Request) error {
	if req.Field("sure") != "on" {
		return h.renderClose(req, h.templates.Text(req.Language, "close.unsure"), http.StatusUnprocessableEntity)
	}
	if err := h.Accounts.Close(req.R.Context(), req.Actor()); err != nil {
		message, known := h.problem(req, err)
		if !known {
			return err
		}
		httpjson.RecordError(req.W, err)
		return h.renderClose(req, message, http.StatusConflict)
	}
	req.ClearSession()
	req.SignedIn = false
	return h.showMessage(req, http.StatusOK, "close.done.title", "close.done.text")
}
