package site

import (
	"net/http"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// whoisCard is the public, non-personal part of a record: lookup.Record has no personal
// fields.
type whoisCard struct {
	Domain, Problem string
	Answer          lookup.WhoisAnswer
}

// whois shows a name's record, as a page or, for our script, as a part of one.
func (h *Handler) whois(req *ui.Request) error {
	req.PreferLanguage(req.Field("language"))
	card, status := h.lookUpWhois(req)
	if req.Field("part") == "" {
		return h.templates.Render(req, ui.View{Name: "whois", Status: status, Title: "whois.title", Data: card})
	}
	part, err := h.templates.RenderPart(req.Language, "whois", "card", card)
	if err != nil {
		return err
	}
	httpjson.WriteBytes(req.W, status, typeHTML, []byte(part))
	return nil
}

var typeHTML = []string{"text/html; charset=utf-8"}

func (h *Handler) lookUpWhois(req *ui.Request) (whoisCard, int) {
	name, err := registrar.ParseName(req.Field("domain"), h.carries)
	card := whoisCard{Domain: ui.UnicodeName(name.ASCII())}
	if err == nil {
		err = h.spend(req, h.WhoisBudget)
	}
	if err == nil {
		card.Answer, err = h.Lookups.Whois(req.R.Context(), name.ASCII())
	}
	if err != nil {
		httpjson.RecordError(req.W, err)
		var status int
		card.Problem, status = h.problem(req, err)
		return card, status
	}
	return card, http.StatusOK
}
