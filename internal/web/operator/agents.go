package operator

import (
	"net/http"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// agentsView is the list, with what is shown once.
type agentsView struct {
	Live, Removed []agent.Agent
	Issued        agent.Issued
	// For is the agent that it was made for.
	For    string
	Fields []page.Field
}

func agentFields(v *page.Visit) []page.Field {
	profiles := []page.Choice{
		{Value: string(signing.Ours), Label: "profile.ours"},
		{Value: string(signing.Body), Label: "profile.body"},
		{Value: string(signing.Canonical), Label: "profile.canonical"},
	}
	return []page.Field{
		page.Field{Name: "name", Label: "agents.name", Hint: "agents.name_hint", Type: "text", MaxLength: 60, Autocomplete: "off"}.With(v.Text("name"), ""),
		page.Field{Name: "profile", Label: "agents.profile", Choices: profiles}.With(v.Text("profile"), ""),
		page.Field{Name: "webhook", Label: "agents.webhook", Hint: "agents.webhook_hint", Type: "url", Optional: true, MaxLength: 500, Autocomplete: "off"}.With(v.Text("webhook"), ""),
	}
}

func (h *Handler) agents(v *page.Visit, operator registrar.Actor) error {
	return h.showAgents(v, operator, agentsView{}, nil)
}

func (h *Handler) showAgents(v *page.Visit, operator registrar.Actor, view agentsView, problem error) error {
	all, err := h.Agents.List(v.R.Context(), operator)
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.RemovedAt.IsZero() {
			view.Live = append(view.Live, one)
		} else {
			view.Removed = append(view.Removed, one)
		}
	}
	view.Fields = agentFields(v)
	status, sentence := http.StatusOK, ""
	if problem != nil {
		var known bool
		if sentence, known = h.sentence(v, problem); !known {
			return problem
		}
		status = http.StatusUnprocessableEntity
	}
	return h.renderWith(v, page.View{Name: "agents", Status: status, Title: "agents.title", Section: agentsPath}, view, sentence)
}

func (h *Handler) addAgent(v *page.Visit, operator registrar.Actor) error {
	if err := recent(v); err != nil {
		return err
	}
	added, issued, err := h.Agents.Add(v.R.Context(), operator, agent.Admission{
		Name: v.Text("name"), Profile: signing.Profile(v.Text("profile")), WebhookURL: v.Text("webhook"),
	})
	if err != nil {
		return h.showAgents(v, operator, agentsView{}, err)
	}
	v.R.PostForm = nil // the form is empty again
	return h.showAgents(v, operator, agentsView{Issued: issued, For: added.Name}, nil)
}

func (h *Handler) rotateAgent(v *page.Visit, operator registrar.Actor) error {
	if err := recent(v); err != nil {
		return err
	}
	issued, err := h.Agents.Rotate(v.R.Context(), operator, v.R.PathValue("id"), "", false)
	return h.issued(v, operator, issued, err)
}

func (h *Handler) rekeyAgent(v *page.Visit, operator registrar.Actor) error {
	if err := recent(v); err != nil {
		return err
	}
	issued, err := h.Agents.Rekey(v.R.Context(), operator, v.R.PathValue("id"))
	return h.issued(v, operator, issued, err)
}

// issued shows what was made for an agent, once.
func (h *Handler) issued(v *page.Visit, operator registrar.Actor, issued agent.Issued, err error) error {
	if err != nil {
		return err
	}
	all, err := h.Agents.List(v.R.Context(), operator)
	if err != nil {
		return err
	}
	view := agentsView{Issued: issued}
	for _, one := range all {
		if one.ID == v.R.PathValue("id") {
			view.For = one.Name
		}
	}
	return h.showAgents(v, operator, view, nil)
}

func (h *Handler) removeAgent(v *page.Visit, operator registrar.Actor) error {
	if err := recent(v); err != nil {
		return err
	}
	if err := h.Agents.Remove(v.R.Context(), operator, v.R.PathValue("id")); err != nil {
		return err
	}
	v.Note("agent_removed")
	return v.SeeOther(agentsPath)
}
