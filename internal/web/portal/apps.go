package portal

import (
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

func (h *Handler) apps(req *ui.Request) error {
	apps, err := h.Applications.ListConnectedApps(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	return h.templates.Render(req, ui.View{Name: "apps", Title: "apps.title", Section: agentsPath, Data: struct {
		Tab  string
		Apps []oauth.ConnectedApp
	}{appsPath, apps}})
}
