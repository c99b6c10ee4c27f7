package portal

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// linkedAgents shows the linked agents and those that can be linked.
func (h *Handler) linkedAgents(req *ui.Request) error {
	offers, err := h.agents.ListLinkable(req.R.Context(), req.Actor())
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
	}{linked, others, req.SignedInRecently(), withNext(ui.SignInAgainPath, agentsPath)}})
}

func (h *Handler) linkAgent(req *ui.Request) error {
	if err := h.agents.Link(req.R.Context(), req.Actor(), req.R.PathValue("id")); err != nil {
		return err
	}
	req.Flash("agent_linked")
	return req.SeeOther(agentsPath)
}

func (h *Handler) unlinkAgent(req *ui.Request) error {
	if err := h.agents.Unlink(req.R.Context(), req.Actor(), req.R.PathValue("id")); err != nil {
		return err
	}
	req.Flash("agent_unlinked")
	return req.SeeOther(agentsPath)
}

// noAgents is used if there are no agents.
type noAgents struct{}

func (noAgents) ListLinkable(context.Context, registrar.Actor) ([]agent.LinkableAgent, error) {
	return nil, nil
}

func (noAgents) Link(context.Context, registrar.Actor, string) error { return noSuchAgent() }

func (noAgents) Unlink(context.Context, registrar.Actor, string) error { return noSuchAgent() }

func noSuchAgent() error {
	return &registrar.Error{Kind: registrar.KindNotFound, Code: agent.NoSuchAgent}
}
