package agent

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// LinkableAgent is an agent as a customer sees it.
type LinkableAgent struct {
	Agent
	// Linked is the customer's link to it; zero if there is none.
	Linked Link
}

// ListLinkable are the agents that the actor can link or has linked, by name.
func (s *Service) ListLinkable(ctx context.Context, actor registrar.Actor) ([]LinkableAgent, error) {
	if err := actor.RequirePerson(); err != nil {
		return nil, err
	}
	links, err := s.store.ListAgentLinks(ctx, actor.Customer)
	if err != nil {
		return nil, err
	}
	linked := make(map[string]Link, len(links))
	for _, link := range links {
		linked[link.Agent.ID] = link
	}
	agents, err := s.store.ListAgents(ctx)
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

// Link lets an agent see and pay the orders of the actor's account. The actor is a
// person who has just signed in, or an operator who acts for the account that is
// named in Actor.Customer. Doing it again changes nothing.
func (s *Service) Link(ctx context.Context, actor registrar.Actor, id string) error {
	if err := s.checkMayLink(actor); err != nil {
		return err
	}
	agent, err := s.liveAgent(ctx, id)
	if err != nil {
		return err
	}
	event := s.auditEvent(actor, Linked, agent.Name)
	event.Customer = actor.Customer
	mail := registrar.Mail{Kind: registrar.MailAgentLinked, Customer: actor.Customer, Data: map[string]string{"name": agent.Name}}
	mail.SetAddress(actor)
	made, err := s.store.LinkAgent(ctx, actor.Customer, id, event, mail)
	if made {
		s.mailQueued()
	}
	return err
}

// Unlink ends a link. It needs no new sign-in: shutting a door is never held up.
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
	_, err = s.store.UnlinkAgent(ctx, actor.Customer, id, event)
	return err
}

func (s *Service) checkMayLink(actor registrar.Actor) error {
	if actor.IsOperatorForCustomer() {
		return nil
	}
	return actor.RequireRecentSignIn(s.now())
}

func (s *Service) liveAgent(ctx context.Context, id string) (Agent, error) {
	agent, found, err := s.store.AgentByID(ctx, id)
	return agent, notFoundIf(!found || !agent.RemovedAt.IsZero(), err)
}

// NameOf is what an agent is called, also after its end; empty if nobody knows it.
func (s *Service) NameOf(ctx context.Context, id string) (string, error) {
	agent, _, err := s.store.AgentByID(ctx, id)
	return agent.Name, err
}
