package operator

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
)

// Admin is what operators do by hand.
type Admin interface {
	ListOpenIssues(ctx context.Context, operator registrar.Actor) (admin.OpenIssues, error)
	ListJobs(ctx context.Context, operator registrar.Actor, kind admin.JobKind, tried bool) ([]admin.Job, error)
	Retry(ctx context.Context, operator registrar.Actor, kind admin.JobKind, id string) error
	AbandonJob(ctx context.Context, operator registrar.Actor, kind admin.JobKind, id string) error
	SetLock(ctx context.Context, operator registrar.Actor, request admin.LockRequest) (lock admin.Lock, notSecured, err error)
	LiftLock(ctx context.Context, operator registrar.Actor, id string) (admin.Lock, error)
	Secure(ctx context.Context, operator registrar.Actor, id string) error
	ListLocks(ctx context.Context, operator registrar.Actor) (inForce, lifted []admin.Lock, err error)
}

// Customers are what is known of customers. Whoever opens one is written into it first.
type Customers interface {
	// Find is the account that an address, an id, a domain or an order names.
	Find(ctx context.Context, operator registrar.Actor, text string) (id string, err error)
	Open(ctx context.Context, operator registrar.Actor, id string) (CustomerRecord, error)
	Order(ctx context.Context, operator registrar.Actor, id string) (order.Order, error)
}

// CustomerRecord is one customer.
type CustomerRecord struct {
	Account account.Customer
	// Registrant is whom domains are registered for, if Told.
	Registrant    account.Registrant
	HasRegistrant bool
	Domains       []portfolio.Domain
	Orders        []order.Order
	AuditEvents   []account.AuditEntry
}

// Agents are those who check out for customers.
type Agents interface {
	List(ctx context.Context, operator registrar.Actor) ([]agent.Agent, error)
	Add(ctx context.Context, operator registrar.Actor, wanted agent.AddParams) (agent.Agent, agent.IssuedSecrets, error)
	RotateSecret(ctx context.Context, operator registrar.Actor, id, given string, only bool) (agent.IssuedSecrets, error)
	ReplaceKey(ctx context.Context, operator registrar.Actor, id string) (agent.IssuedSecrets, error)
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

// UpstreamState is how an upstream does; its value is part of a text key.
type UpstreamState string

// The states of an upstream.
const (
	UpstreamHealthy UpstreamState = "well"
	UpstreamFailing UpstreamState = "resting"
	UpstreamPaused  UpstreamState = "paused"
	UpstreamUnknown UpstreamState = "unknown"
)

// Upstream is a system outside and its health.
type Upstream struct {
	// Group is registry, account, payments, vat or mail; Name the host or account.
	Group, Name string
	// Until is when a failing or paused upstream is called again.
	State UpstreamState
	Until time.Time
	// Calls and Faults count the last half minute, or since the start for upstreams
	// that are rarely called; Busy counts calls that wait or are in flight.
	Calls, Faults, Busy int
	// Open and Most count connections of a pool, if there is one.
	Open, Most int
	// GoodAt and BadAt are the times of the last success and the last failure,
	// LastError the reason of the latter.
	GoodAt, BadAt time.Time
	LastError     registrar.Code
}

var (
	_ Admin  = (*admin.Service)(nil)
	_ Agents = (*agent.Service)(nil)
)
