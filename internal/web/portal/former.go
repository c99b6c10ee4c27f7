package portal

import (
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// maxFormer limits the former domains below the list.
const maxFormer = 200

// formerView is the page of a domain that its customer no longer holds. The mails about its end link
// to it.
type formerView struct {
	portfolio.Former
	Notices []portfolio.Notice
	Contact string // the contact form
}

func (h *Handler) showFormer(req *ui.Request) error {
	former, err := h.Portfolio.GetFormer(req.R.Context(), req.Actor(), req.R.PathValue("id"))
	if err != nil {
		return err
	}
	view := formerView{Former: former, Contact: ui.InLanguage(req.Language, ui.ContactPath, ui.EnglishContactPath)}
	if view.Notices, err = h.Portfolio.Notices(req.R.Context(), req.Actor(), portfolio.Domain{ID: former.ID, Name: former.Name}); err != nil {
		return err
	}
	return h.templates.Render(req, ui.View{Name: "former", Title: "former.title", TitleValue: title(former.Name), Section: domainsPath, Data: view})
}

// addFormer adds the former domains to the list.
func (h *Handler) addFormer(req *ui.Request, view *domainsView) (err error) {
	view.Former, err = h.Portfolio.Former(req.R.Context(), req.Actor())
	if len(view.Former) > maxFormer {
		view.Former = view.Former[:maxFormer]
	}
	return err
}
