package portal

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// linkedAgents shows which agents may check out for the customer, and which could.
func (h *Handler) linkedAgents(v *page.Visit) error {
	offers, err := h.agents.Offers(v.R.Context(), v.Actor())
	if err != nil {
		return err
	}
	var linked, others []agent.Offer
	for _, offer := range offers {
		if offer.Linked.At.IsZero() {
			others = append(others, offer)
		} else {
			linked = append(linked, offer)
		}
	}
	return h.views.Render(v, page.View{Name: "agents", Title: "agents.title", Section: profilePath, Data: struct {
		Linked, Others []agent.Offer
		Recent         bool
		Again          string
	}{linked, others, v.Recent(), withNext(page.SignInAgainPath, agentsPath)}})
}

func (h *Handler) linkAgent(v *page.Visit) error {
	if err := h.agents.Link(v.R.Context(), v.Actor(), v.R.PathValue("id")); err != nil {
		return err
	}
	v.Note("agent_linked")
	return v.SeeOther(agentsPath)
}

func (h *Handler) unlinkAgent(v *page.Visit) error {
	if err := h.agents.Unlink(v.R.Context(), v.Actor(), v.R.PathValue("id")); err != nil {
		return err
	}
	v.Note("agent_unlinked")
	return v.SeeOther(agentsPath)
}

// noAgents stands for agents where none are let in.
type noAgents struct{}

func (noAgents) Offers(context.Context, registrar.Actor) ([]agent.Offer, error) { return nil, nil }

func (noAgents) Link(context.Context, registrar.Actor, string) error { return noSuchAgent() }

func (noAgents) Unlink(context.Context, registrar.Actor, string) error { return noSuchAgent() }

func noSuchAgent() error {
	return &registrar.Error{Kind: registrar.KindNotFound, Code: agent.NoSuchAgent}
}
