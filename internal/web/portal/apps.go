package portal

import (
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// apps lists the connected applications.
func (h *Handler) apps(req *ui.Request) error {
	apps, err := h.applications.ListConnectedApps(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	return h.templates.Render(req, ui.View{Name: "apps", Title: "apps.title", Section: appsPath, Data: struct {
		Apps []oauth.ConnectedApp
	}{apps}})
}

func (h *Handler) disconnectApp(req *ui.Request) error {
	if err := h.applications.Disconnect(req.R.Context(), req.Actor(), req.R.PathValue("id")); err != nil {
		return err
	}
	req.Flash("app_disconnected")
	return req.SeeOther(appsPath)
}
