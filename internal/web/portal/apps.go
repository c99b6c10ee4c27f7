package portal

import (
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

func (h *Handler) apps(req *ui.Request) error {
	apps, err := h.Applications.ListConnectedApps(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	return h.templates.Render(req, ui.View{Name: "apps", Title: "apps.title", Section: appsPath, Data: struct {
		Apps []oauth.ConnectedApp
	}{apps}})
}

func (h *Handler) linkedAgents(req *ui.Request) error {
	offers, err := h.Agents.ListLinkable(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	var linked, others []agent.LinkableAgent
	for _, offer := range offers {
		if offer.Linked.At.IsZero() {
			others = append(others, offer)
		} else {
			linked = append(linked, offer)
		}
	}
	return h.templates.Render(req, ui.View{Name: "agents", Title: "agents.title", Section: profilePath, Data: struct {
		Linked, Others []agent.LinkableAgent
		Recent         bool
		Again          string
	}{linked, others, req.SignedInRecently(), ui.WithNext(ui.SignInAgainPath, agentsPath)}})
}
