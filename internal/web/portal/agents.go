package portal

import (
	"net/http"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/delegate"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// delegateRow is a delegate with the target of its stop button.
type delegateRow struct {
	delegate.Delegate
	MayKey, KindKey, Stop string
}

// CanPay reports whether the delegate can pay orders; those of the others were paid by the customer.
func (r delegateRow) CanPay() bool { return r.Kind == registrar.ActorAgent }

// stopPaths are where a delegate's access ends, around its id.
var stopPaths = map[registrar.ActorKind][2]string{
	registrar.ActorApplication: {appsPath + "/", "/disconnect"},
	registrar.ActorToken:       {tokensPath + "/", "/revoke"},
	registrar.ActorAgent:       {agentsPath + "/", "/unlink"},
}

func newDelegateRows(list []delegate.Delegate) []delegateRow {
	rows := make([]delegateRow, 0, len(list))
	for _, one := range list {
		path := stopPaths[one.Kind]
		row := delegateRow{Delegate: one, KindKey: "delegate." + string(one.Kind), MayKey: "delegate.may_write", Stop: path[0] + one.ID + path[1]}
		switch {
		case one.Kind == registrar.ActorAgent:
			row.MayKey = "delegate.may_pay"
		case !one.MayWrite:
			row.MayKey = "delegate.may_read"
		}
		rows = append(rows, row)
	}
	return rows
}

// agents is the page about everyone who acts for the customer.
func (h *Handler) agents(req *ui.Request) error {
	all, err := h.Delegates.List(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	offers, err := h.Agents.ListLinkable(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	var others []agent.LinkableAgent
	for _, offer := range offers {
		if offer.Linked.At.IsZero() {
			others = append(others, offer)
		}
	}
	return h.templates.Render(req, ui.View{Name: "agents", Title: "agents.title", Section: agentsPath, Data: struct {
		Tab       string
		Rows      []delegateRow
		Stoppable bool // someone has access
		Former    delegate.Orders
		Others    []agent.LinkableAgent
		Recent    bool
		Again     string
	}{agentsPath, newDelegateRows(all.List), len(withAccess(all.List)) > 0, all.Former, others, req.SignedInRecently(), ui.WithNext(ui.SignInAgainPath, agentsPath)}})
}

// showStopAll asks for confirmation and lists what would end.
func (h *Handler) showStopAll(req *ui.Request) error { return h.renderStopAll(req, http.StatusOK, "") }

func (h *Handler) renderStopAll(req *ui.Request, status int, problem string) error {
	all, err := h.Delegates.List(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	list := withAccess(all.List)
	if len(list) == 0 {
		return req.SeeOther(agentsPath)
	}
	return h.templates.Render(req, ui.View{Name: "stopall", Status: status, Title: "stop.title", Section: agentsPath, Data: struct {
		Rows    []delegateRow
		Problem string
	}{newDelegateRows(list), problem}})
}

// withAccess returns the delegates that have not expired.
func withAccess(list []delegate.Delegate) (active []delegate.Delegate) {
	for _, one := range list {
		if !one.Expired {
			active = append(active, one)
		}
	}
	return active
}

// stopAll requires the checkbox because secrets can't be restored.
func (h *Handler) stopAll(req *ui.Request) error {
	if req.Field("sure") != "on" {
		return h.renderStopAll(req, http.StatusUnprocessableEntity, h.templates.Text(req.Language, "stop.unsure"))
	}
	if _, err := h.Delegates.StopAll(req.R.Context(), req.Actor()); err != nil {
		return err
	}
	return req.RedirectWithFlash("all_stopped", agentsPath)
}
