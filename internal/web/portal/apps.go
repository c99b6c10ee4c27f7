package portal

import (
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// apps is what the customer has connected.
func (h *Handler) apps(v *page.Visit) error {
	apps, err := h.applications.Apps(v.R.Context(), v.Actor())
	if err != nil {
		return err
	}
	return h.views.Render(v, page.View{Name: "apps", Title: "apps.title", Section: appsPath, Data: struct {
		Apps []access.App
	}{apps}})
}

func (h *Handler) disconnectApp(v *page.Visit) error {
	if err := h.applications.Disconnect(v.R.Context(), v.Actor(), v.R.PathValue("id")); err != nil {
		return err
	}
	v.Note("app_disconnected")
	return v.SeeOther(appsPath)
}
