package operator

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
)

// Customers reads customer records. Every access is recorded in the customer's audit
// log first.
type Customers interface {
	// Find returns the account of an email address, an id, a domain or an order.
	Find(ctx context.Context, operator registrar.Actor, text string) (id string, err error)
	Open(ctx context.Context, operator registrar.Actor, id string) (CustomerRecord, error)
	Order(ctx context.Context, operator registrar.Actor, id string) (order.Order, error)
}

// CustomerRecord is one customer.
type CustomerRecord struct {
	Account account.Customer
	// Registrant is the registrant of domains, if HasRegistrant.
	Registrant    account.Registrant
	HasRegistrant bool
	Domains       []portfolio.Domain
	Orders        []order.Order
	AuditEvents   []account.AuditEntry
}

// Prices is the price list.
type Prices interface {
	// Current returns the edition in effect on all nodes.
	Current(ctx context.Context) (catalog.Edition, error)
	// Replace puts next into effect, with an audit event. It returns
	// catalog.ErrEditionConflict if was is no longer in effect.
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
