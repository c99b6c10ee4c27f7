package delegate

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
)

// Delegate is a token, an application or an agent that acts for a customer.
type Delegate struct {
	Kind registrar.ActorKind // token, application or agent
	ID   string              // suffices to revoke, disconnect or unlink it
	// Name is chosen by the customer, the application or the operator, in this order of
	// kinds; an application's may be empty.
	Name     string
	Hosts    []string // of an application
	Purpose  string   // of a token
	MayWrite bool     // false for an application that may only look up
	Expired  bool
	// LastUsedAt is zero if it was never used; an agent uses its access by ordering. ExpiresAt
	// is zero if the access does not expire.
	Since, LastUsedAt, ExpiresAt time.Time
	Orders                       Orders
}

// Orders are what was ordered through a delegate.
type Orders struct {
	Prepared, Paid int
	Spent          registrar.Cents
}

func (o *Orders) add(other Orders) {
	o.Prepared += other.Prepared
	o.Paid += other.Paid
	o.Spent += other.Spent
}

// Through are the orders created by one token, grant or agent, or paid by an agent. Creator
// is who created those that an agent paid.
type Through struct {
	Kind        registrar.ActorKind
	ID          string
	CreatorKind registrar.ActorKind
	CreatorID   string
	LastAt      time.Time
	Orders      Orders
}

// Delegates are all who act for a customer, and the orders of those who no longer can: each
// order once, even if one of them prepared it and another one paid it.
type Delegates struct {
	List   []Delegate
	Former Orders
}

// Store stores delegates.
type Store interface {
	// ListOrdersThrough returns the customer's orders by delegate; ListOrdersCompleted those
	// that agents paid although others had created them, by agent and creator.
	ListOrdersThrough(ctx context.Context, customer string) ([]Through, error)
	ListOrdersCompleted(ctx context.Context, customer string) ([]Through, error)
	// RevokeDelegates ends the access of all tokens, applications and agents at the time of
	// the event; expired tokens have none. It records one event like the given one for each,
	// with its own action and object, and returns how many there were.
	RevokeDelegates(ctx context.Context, customer string, event registrar.AuditEvent) (int, error)
}

// Config holds the dependencies of a Service. All are required.
type Config struct {
	Store        Store
	Tokens       *oauth.Service
	Applications *oauth.AuthorizationServer
	Agents       *agent.Service
	Now          func() time.Time // the wall clock
}

// Service is safe for concurrent use.
type Service struct{ cfg Config }

// New returns a Service.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Tokens == nil || cfg.Applications == nil || cfg.Agents == nil || cfg.Now == nil {
		return nil, errors.New("delegate: all fields of Config are required")
	}
	return &Service{cfg}, nil
}

// List returns the delegates of the actor's account: applications, tokens, agents.
func (s *Service) List(ctx context.Context, actor registrar.Actor) (Delegates, error) {
	if err := actor.RequirePerson(); err != nil {
		return Delegates{}, err
	}
	through, err := s.cfg.Store.ListOrdersThrough(ctx, actor.Customer)
	if err != nil {
		return Delegates{}, err
	}
	completed, err := s.cfg.Store.ListOrdersCompleted(ctx, actor.Customer)
	if err != nil {
		return Delegates{}, err
	}
	list, current, err := s.list(ctx, actor, slices.Concat(through, completed))
	if err != nil {
		return Delegates{}, err
	}
	all := Delegates{List: list}
	former := make(map[source]bool)
	for _, one := range through {
		if by := (source{one.Kind, one.ID}); !current[by] {
			former[by] = true
			all.Former.add(one.Orders)
		}
	}
	for _, one := range completed {
		if !current[source{one.Kind, one.ID}] && !former[source{one.CreatorKind, one.CreatorID}] {
			all.Former.add(one.Orders)
		}
	}
	return all, nil
}

// source is who created or paid an order: a token, a grant or an agent.
type source struct {
	kind registrar.ActorKind
	id   string
}

// list returns the delegates with their orders, and the sources that belong to them.
func (s *Service) list(ctx context.Context, actor registrar.Actor, through []Through) ([]Delegate, map[source]bool, error) {
	var list []Delegate
	current := make(map[source]bool)
	add := func(d Delegate, ids ...string) {
		for _, id := range ids {
			current[source{d.Kind, id}] = true
		}
		for _, one := range through {
			if one.Kind != d.Kind || !slices.Contains(ids, one.ID) {
				continue
			}
			d.Orders.add(one.Orders)
			if one.LastAt.After(d.LastUsedAt) { // last uses are written with a delay, an agent's not at all
				d.LastUsedAt = one.LastAt
			}
		}
		list = append(list, d)
	}
	apps, err := s.cfg.Applications.ListConnectedApps(ctx, actor)
	if err != nil {
		return nil, nil, err
	}
	for _, app := range apps {
		add(Delegate{
			Kind: registrar.ActorApplication, ID: app.ID, Name: app.Name, Hosts: app.Hosts, MayWrite: app.MayWrite,
			Since: app.ConnectedAt, LastUsedAt: app.LastUsedAt, ExpiresAt: app.ExpiresAt,
		}, app.GrantIDs...)
	}
	tokens, err := s.cfg.Tokens.List(ctx, actor)
	if err != nil {
		return nil, nil, err
	}
	now := s.cfg.Now()
	for _, token := range tokens {
		add(Delegate{
			Kind: registrar.ActorToken, ID: token.ID, Name: token.Name, Purpose: token.Purpose, MayWrite: true, Expired: token.Expired(now),
			Since: token.CreatedAt, LastUsedAt: token.LastUsedAt, ExpiresAt: token.ExpiresAt,
		}, token.ID)
	}
	agents, err := s.cfg.Agents.ListLinkable(ctx, actor)
	if err != nil {
		return nil, nil, err
	}
	for _, one := range agents {
		if !one.Linked.At.IsZero() {
			add(Delegate{Kind: registrar.ActorAgent, ID: one.ID, Name: one.Name, MayWrite: true, Since: one.Linked.At}, one.ID)
		}
	}
	return list, current, nil
}

// StopAll ends the access of everyone who acts for the actor's account and returns how many
// there were. Repeating it is no error.
func (s *Service) StopAll(ctx context.Context, actor registrar.Actor) (int, error) {
	if err := actor.RequirePerson(); err != nil {
		return 0, err
	}
	return s.cfg.Store.RevokeDelegates(ctx, actor.Customer, registrar.AuditEvent{Actor: actor, Customer: actor.Customer, At: s.cfg.Now()})
}
