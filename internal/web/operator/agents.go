package operator

import (
	"net/http"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// agentsView is the list with secrets that are shown once.
type agentsView struct {
	Live, Removed []agent.Agent
	Issued        agent.IssuedSecrets
	// For is the name of the agent of the secrets, issuedTo its id.
	For, issuedTo string
	Fields        []ui.Field
}

func agentFields(req *ui.Request) []ui.Field {
	profiles := []ui.Choice{
		{Value: string(signing.Ours), Label: "profile.ours"},
		{Value: string(signing.Body), Label: "profile.body"},
		{Value: string(signing.Canonical), Label: "profile.canonical"},
	}
	return []ui.Field{
		ui.Field{Name: "name", Label: "agents.name", Hint: "agents.name_hint", Type: "text", MaxLength: 60, Autocomplete: "off"}.With(req.Text("name"), ""),
		ui.Field{Name: "profile", Label: "agents.profile", Choices: profiles}.With(req.Text("profile"), ""),
		ui.Field{Name: "webhook", Label: "agents.webhook", Hint: "agents.webhook_hint", Type: "url", Optional: true, MaxLength: 500, Autocomplete: "off"}.With(req.Text("webhook"), ""),
	}
}

func (h *Handler) agents(req *ui.Request, operator registrar.Actor) error {
	return h.showAgents(req, operator, agentsView{}, nil)
}

func (h *Handler) showAgents(req *ui.Request, operator registrar.Actor, view agentsView, problem error) error {
	all, err := h.Agents.List(req.R.Context(), operator)
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.ID == view.issuedTo {
			view.For = one.Name
		}
		if one.RemovedAt.IsZero() {
			view.Live = append(view.Live, one)
		} else {
			view.Removed = append(view.Removed, one)
		}
	}
	view.Fields = agentFields(req)
	status, message := http.StatusOK, ""
	if problem != nil {
		var known bool
		if message, known = h.errorText(req, problem); !known {
			return problem
		}
		status = http.StatusUnprocessableEntity
	}
	return h.render(req, ui.View{Name: "agents", Status: status, Section: agentsPath}, view, message)
}

func (h *Handler) addAgent(req *ui.Request, operator registrar.Actor) error {
	added, issued, err := h.Agents.Add(req.R.Context(), operator, agent.AddParams{
		Name: req.Text("name"), Profile: signing.Profile(req.Text("profile")), WebhookURL: req.Text("webhook"),
	})
	if err != nil {
		return h.showAgents(req, operator, agentsView{}, err)
	}
	req.R.PostForm = nil // clears the form
	return h.showAgents(req, operator, agentsView{Issued: issued, issuedTo: added.ID}, nil)
}

func (h *Handler) rotateAgent(req *ui.Request, operator registrar.Actor) error {
	issued, err := h.Agents.RotateSecret(req.R.Context(), operator, req.R.PathValue("id"), "", false)
	if err != nil {
		return err
	}
	return h.showAgents(req, operator, agentsView{Issued: issued, issuedTo: req.R.PathValue("id")}, nil)
}

func (h *Handler) rekeyAgent(req *ui.Request, operator registrar.Actor) error {
	issued, err := h.Agents.ReplaceKey(req.R.Context(), operator, req.R.PathValue("id"))
	if err != nil {
		return err
	}
	return h.showAgents(req, operator, agentsView{Issued: issued, issuedTo: req.R.PathValue("id")}, nil)
}

func (h *Handler) removeAgent(req *ui.Request, operator registrar.Actor) error {
	if err := h.Agents.Remove(req.R.Context(), operator, req.R.PathValue("id")); err != nil {
		return err
	}
	return req.RedirectWithFlash("agent_removed", agentsPath)
}
