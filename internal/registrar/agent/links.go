package agent

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// LinkableAgent is an agent with the customer's link to it.
type LinkableAgent struct {
	Agent
	Linked Link // zero if the customer has not linked the agent
}

// ListLinkable returns the live agents, by name, with the actor's links.
func (s *Service) ListLinkable(ctx context.Context, actor registrar.Actor) ([]LinkableAgent, error) {
	if err := actor.RequirePerson(); err != nil {
		return nil, err
	}
	links, err := s.cfg.Store.ListAgentLinks(ctx, actor.Customer)
	if err != nil {
		return nil, err
	}
	linked := make(map[string]Link, len(links))
	for _, link := range links {
		linked[link.Agent.ID] = link
	}
	agents, err := s.cfg.Store.ListAgents(ctx)
	if err != nil {
		return nil, err
	}
	var offers []LinkableAgent
	for _, agent := range agents {
		if agent.RemovedAt.IsZero() {
			offers = append(offers, LinkableAgent{Agent: agent, Linked: linked[agent.ID]})
		}
	}
	return offers, nil
}

// Link allows an agent to see and pay the orders of the actor's account. The actor is a person with
// a recent sign-in, or an operator who acts for the account.
func (s *Service) Link(ctx context.Context, actor registrar.Actor, id string) error {
	if !actor.IsOperatorForCustomer() {
		if err := actor.RequireRecentSignIn(s.cfg.Now()); err != nil {
			return err
		}
	}
	agent, err := s.liveAgent(ctx, id)
	if err != nil {
		return err
	}
	event := s.auditEvent(actor, Linked, agent.Name)
	event.Customer = actor.Customer
	mail := registrar.Mail{Kind: registrar.MailAgentLinked, Customer: actor.Customer, Data: map[string]string{"name": agent.Name}}
	mail.SetAddress(actor)
	made, err := s.cfg.Store.LinkAgent(ctx, actor.Customer, id, event, mail)
	if made {
		s.cfg.MailQueued()
	}
	return err
}

// Unlink ends a link. Revoking access requires no recent sign-in.
func (s *Service) Unlink(ctx context.Context, actor registrar.Actor, id string) error {
	if !actor.IsOperatorForCustomer() {
		if err := actor.RequirePerson(); err != nil {
			return err
		}
	}
	agent, err := s.liveAgent(ctx, id)
	if err != nil {
		return err
	}
	event := s.auditEvent(actor, Unlinked, agent.Name)
	event.Customer = actor.Customer
	_, err = s.cfg.Store.UnlinkAgent(ctx, actor.Customer, id, event)
	return err
}

func (s *Service) liveAgent(ctx context.Context, id string) (Agent, error) {
	agent, found, err := s.cfg.Store.AgentByID(ctx, id)
	return agent, changed(found && agent.RemovedAt.IsZero(), err)
}

// NameOf returns an agent's name, even if it is removed; empty if it is unknown.
func (s *Service) NameOf(ctx context.Context, id string) (string, error) {
	agent, _, err := s.cfg.Store.AgentByID(ctx, id)
	return agent.Name, err
}
