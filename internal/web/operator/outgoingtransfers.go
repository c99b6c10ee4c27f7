package operator

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// transferRow is a transfer with whether the registry should have ended it.
type transferRow struct {
	transferaway.Transfer
	IsOverdue bool
}

func (h *Handler) newTransferRows(transfers []transferaway.Transfer) []transferRow {
	rows := make([]transferRow, 0, len(transfers))
	for _, one := range transfers {
		rows = append(rows, transferRow{one, one.Overdue(h.Now())})
	}
	return rows
}

// outgoingTransfers lists the transfers to other registrars.
func (h *Handler) outgoingTransfers(req *ui.Request, operator registrar.Actor) error {
	ctx := req.R.Context()
	open, olderOpen, err := h.TransfersAway.List(ctx, operator, false, req.Query("open_after"))
	if err != nil {
		return err
	}
	ended, older, err := h.TransfersAway.List(ctx, operator, true, req.Query("before"))
	if err != nil {
		return err
	}
	next, first := "", ""
	if olderOpen != "" {
		next = transfersPath + "?open_after=" + url.QueryEscape(olderOpen)
	}
	if req.Query("open_after") != "" {
		first = transfersPath
	}
	return h.render(req, ui.View{Name: "outgoingtransfers", Section: transfersPath}, struct {
		Open, Ended []transferRow
		Next, First string // lead through the open ones
		pageLinks
	}{h.newTransferRows(open), h.newTransferRows(ended), next, first, newPageLinks(req, transfersPath, nil, older)}, "")
}

func (h *Handler) outgoingTransfer(req *ui.Request, operator registrar.Actor) error {
	return h.showOutgoingTransfer(req, operator, nil)
}

// showOutgoingTransfer shows one transfer. problem is why a decision was not taken.
func (h *Handler) showOutgoingTransfer(req *ui.Request, operator registrar.Actor, problem error) error {
	t, err := h.TransfersAway.Get(req.R.Context(), operator, req.R.PathValue("id"))
	if err != nil {
		return err
	}
	names, err := h.operatorNames(req, operator)
	if err != nil {
		return err
	}
	by := ""
	if t.Actor.Kind == registrar.ActorOperator {
		if by = names[t.Actor.Through]; by == "" {
			by = t.Actor.Through
		}
	}
	status, message := http.StatusOK, ""
	if problem != nil {
		var known bool
		if message, known = h.errorText(req, problem); !known {
			return problem
		}
		status = http.StatusConflict
	}
	reasons := []ui.Choice{{Label: "locks.choose"}}
	for _, reason := range transferaway.Reasons() {
		reasons = append(reasons, ui.Choice{Value: string(reason), Label: "away_reason." + string(reason)})
	}
	field := ui.Field{Name: "reason", Label: "away.reason", Hint: "away.reason_hint", Choices: reasons}
	return h.render(req, ui.View{Name: "outgoingtransfer", Status: status, Title: "away.title", TitleValue: ui.UnicodeName(t.Name), Section: transfersPath}, struct {
		transferRow
		By         string // the operator who decided
		Answerable bool
		Reasons    ui.Field
	}{h.newTransferRows([]transferaway.Transfer{t})[0], by, h.TransfersAway.Answerable(t), field.With(req.Text("reason"), "")}, message)
}

// rejectTransfer rejects a transfer for a policy reason, of which the registrant learns, so the page
// asks first.
func (h *Handler) rejectTransfer(req *ui.Request, operator registrar.Actor) error {
	id, reason := req.R.PathValue("id"), transferaway.Reason(req.Text("reason"))
	if slices.Contains(transferaway.Reasons(), reason) && req.Field("confirmed") != "yes" {
		return h.confirm(req, confirmView{
			Decision: "transfer_rejection", Button: "away.reject", Detail: "away_reason." + string(reason), Back: transfersPath + "/" + url.PathEscape(id),
			Sent: []ui.Field{{Name: "reason", Value: string(reason)}},
		})
	}
	after, err := h.TransfersAway.Reject(req.R.Context(), operator, id, reason)
	return h.afterTransferDecision(req, operator, after, err)
}

func (h *Handler) approveTransfer(req *ui.Request, operator registrar.Actor) error {
	after, err := h.TransfersAway.ApproveAsOperator(req.R.Context(), operator, req.R.PathValue("id"))
	return h.afterTransferDecision(req, operator, after, err)
}

func (h *Handler) afterTransferDecision(req *ui.Request, operator registrar.Actor, after transferaway.Transfer, err error) error {
	page := transfersPath + "/" + url.PathEscape(req.R.PathValue("id"))
	req.SetFormPath(page)
	switch {
	case registrar.KindOf(err) == registrar.KindNotFound && err != nil:
		return err
	case err != nil:
		return h.showOutgoingTransfer(req, operator, err)
	case after.State == transferaway.StatePending:
		return req.RedirectWithFlash("away_refused", page)
	}
	return req.RedirectWithFlash("away_decided", page)
}
