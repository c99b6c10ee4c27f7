package start

import (
	"net/http"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// whoisCard is what a registry says in public about one name and not about a
// person: lookup.Record has no field for one.
type whoisCard struct {
	Domain, Problem string
	Answer          lookup.WhoisAnswer
}

// whois shows a name's record, as a page or, for our script, as a part of one.
func (h *Handler) whois(v *page.Visit) error {
	card, status := h.whoisOf(v)
	if v.Field("part") == "" {
		return h.views.Render(v, page.View{Name: "whois", Status: status, Title: "whois.title", Data: card})
	}
	part, err := h.views.Part(v.Language, "whois", "card", card)
	if err != nil {
		return err
	}
	wire.WriteBytes(v.W, status, typeHTML, []byte(part))
	return nil
}

var typeHTML = []string{"text/html; charset=utf-8"}

func (h *Handler) whoisOf(v *page.Visit) (whoisCard, int) {
	name, err := registrar.ParseName(v.Field("domain"), h.carries)
	card := whoisCard{Domain: readable(name.ASCII())}
	if err == nil {
		err = h.spend(v, h.WhoisBudget)
	}
	if err == nil {
		card.Answer, err = h.Lookups.Whois(v.R.Context(), name.ASCII())
	}
	if err != nil {
		wire.Annotate(v.W, err)
		var status int
		card.Problem, status = h.problem(v, err)
		return card, status
	}
	return card, http.StatusOK
}
