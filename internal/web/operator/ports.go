package operator

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// Office is what operators do by hand.
type Office interface {
	Needs(ctx context.Context, operator registrar.Actor) (office.Needs, error)
	Work(ctx context.Context, operator registrar.Actor, kind office.JobKind, tried bool) ([]office.Job, error)
	Retry(ctx context.Context, operator registrar.Actor, kind office.JobKind, id string) error
	GiveUp(ctx context.Context, operator registrar.Actor, kind office.JobKind, id string) error
	SetLock(ctx context.Context, operator registrar.Actor, wish office.Wish) (lock office.Lock, notSecured, err error)
	LiftLock(ctx context.Context, operator registrar.Actor, id string) (office.Lock, error)
	Secure(ctx context.Context, operator registrar.Actor, id string) error
	Locks(ctx context.Context, operator registrar.Actor) (inForce, lifted []office.Lock, err error)
}

// Files are what is known of customers. Whoever opens one is written into it first.
type Files interface {
	// Find is the account that an address, an id, a domain or an order names.
	Find(ctx context.Context, operator registrar.Actor, text string) (id string, err error)
	Open(ctx context.Context, operator registrar.Actor, id string) (File, error)
	Order(ctx context.Context, operator registrar.Actor, id string) (order.Order, error)
}

// File is one customer.
type File struct {
	Account customer.Customer
	// Registrant is whom domains are registered for, if Told.
	Registrant customer.Registrant
	Told       bool
	Domains    []holding.Domain
	Orders     []order.Order
	Deeds      []customer.Entry
}

// Agents are those who check out for customers.
type Agents interface {
	List(ctx context.Context, operator registrar.Actor) ([]agent.Agent, error)
	Add(ctx context.Context, operator registrar.Actor, wanted agent.Admission) (agent.Agent, agent.Issued, error)
	Rotate(ctx context.Context, operator registrar.Actor, id, given string, only bool) (agent.Issued, error)
	Rekey(ctx context.Context, operator registrar.Actor, id string) (agent.Issued, error)
	Remove(ctx context.Context, operator registrar.Actor, id string) error
}

// Prices is the price list.
type Prices interface {
	// Current is the edition in force on all nodes.
	Current(ctx context.Context) (catalog.Edition, error)
	// Replace puts next in force, with an audit event. It returns
	// catalog.ErrEditionConflict if was is no longer in force.
	Replace(ctx context.Context, by registrar.Actor, was catalog.Edition, next *catalog.Catalog) error
}

// Peer is somebody outside, and how it does.
type Peer struct {
	// Group is registry, account, payments, vat or mail; Name the host or account.
	Group, Name string
	// State is well, resting, paused or unknown; Until when it is asked again.
	State string
	Until time.Time
	// Calls and Faults are those of the last half minute, or since the start for those
	// who are rarely called; Busy is what waits or is under way.
	Calls, Faults, Busy int
	// Open and Most are connections, where there are some.
	Open, Most int
	// GoodAt and BadAt are when it last answered well and last did not, Why the reason.
	GoodAt, BadAt time.Time
	Why           registrar.Code
}

var (
	_ Office = (*office.Service)(nil)
	_ Agents = (*agent.Service)(nil)
)
