package agent

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Offer is an agent as a customer sees it.
type Offer struct {
	Agent
	// Linked is the customer's link to it; zero if there is none.
	Linked Link
}

// Offers are the agents that the actor can link or has linked, by name.
func (s *Service) Offers(ctx context.Context, actor registrar.Actor) ([]Offer, error) {
	if actor.Kind != registrar.ActorPerson || actor.Customer == "" {
		return nil, &registrar.Error{Kind: registrar.KindForbidden, Code: PersonsOnly}
	}
	links, err := s.store.LinksOf(ctx, actor.Customer)
	if err != nil {
		return nil, err
	}
	linked := make(map[string]Link, len(links))
	for _, link := range links {
		linked[link.Agent.ID] = link
	}
	agents, err := s.store.Agents(ctx)
	if err != nil {
		return nil, err
	}
	var offers []Offer
	for _, agent := range agents {
		if agent.RemovedAt.IsZero() {
			offers = append(offers, Offer{Agent: agent, Linked: linked[agent.ID]})
		}
	}
	return offers, nil
}

// Link lets an agent see and pay the orders of the actor's account. The actor is a
// person who has just signed in, or an operator who acts for the account that is
// named in Actor.Customer. Doing it again changes nothing.
func (s *Service) Link(ctx context.Context, actor registrar.Actor, id string) error {
	if err := s.mayLink(actor); err != nil {
		return err
	}
	agent, err := s.live(ctx, id)
	if err != nil {
		return err
	}
	deed := s.deed(actor, WasLinked, agent.Name)
	deed.Customer = actor.Customer
	letter := registrar.Letter{Kind: registrar.LetterAgent, Customer: actor.Customer, Facts: map[string]string{"name": agent.Name}}
	if actor.Address.IsValid() {
		letter.Facts["address"] = actor.Address.String()
	}
	made, err := s.store.LinkAgent(ctx, actor.Customer, id, deed, letter)
	if made {
		s.wake()
	}
	return err
}

// Unlink ends a link. It needs no new sign-in: shutting a door is never held up.
func (s *Service) Unlink(ctx context.Context, actor registrar.Actor, id string) error {
	if actor.Customer == "" || actor.Kind != registrar.ActorPerson && actor.Kind != registrar.ActorOperator {
		return &registrar.Error{Kind: registrar.KindForbidden, Code: PersonsOnly}
	}
	agent, err := s.live(ctx, id)
	if err != nil {
		return err
	}
	deed := s.deed(actor, Unlinked, agent.Name)
	deed.Customer = actor.Customer
	_, err = s.store.UnlinkAgent(ctx, actor.Customer, id, deed)
	return err
}

func (s *Service) mayLink(actor registrar.Actor) error {
	if actor.Kind == registrar.ActorOperator && actor.Customer != "" {
		return nil
	}
	return actor.RequireRecentSignIn(s.now())
}

func (s *Service) live(ctx context.Context, id string) (Agent, error) {
	agent, found, err := s.store.AgentByID(ctx, id)
	return agent, noneIf(!found || !agent.RemovedAt.IsZero(), err)
}

// NameOf is what an agent is called, also after its end; empty if nobody knows it.
func (s *Service) NameOf(ctx context.Context, id string) (string, error) {
	agent, _, err := s.store.AgentByID(ctx, id)
	return agent.Name, err
}
