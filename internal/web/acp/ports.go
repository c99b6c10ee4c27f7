package acp

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/idempotency"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

// Agents says who asks.
type Agents interface {
	// Authenticate returns errors of KindUnauthenticated, or those of package
	// signing, for what a caller could not prove.
	Authenticate(ctx context.Context, who agent.Credentials) (agent.Agent, error)
}

// Orders is where sessions are kept, as orders.
type Orders interface {
	CreateSession(ctx context.Context, actor registrar.Actor, req order.SessionRequest) (order.Session, error)
	Session(ctx context.Context, actor registrar.Actor, id string) (order.Session, error)
	// BuyerContact is what the agent has said of the buyer. It is cheap.
	BuyerContact(ctx context.Context, actor registrar.Actor, id string) (order.Contact, error)
	UpdateSession(ctx context.Context, actor registrar.Actor, id string, change order.SessionChange) (order.Session, error)
	CompleteSession(ctx context.Context, actor registrar.Actor, id string, done order.Completion) (order.Session, error)
	CancelSession(ctx context.Context, actor registrar.Actor, id string) (order.Session, error)
}

var _ Orders = (*order.Service)(nil)

// Limiter bounds how often somebody may do something.
type Limiter interface {
	Allow(key ratelimit.Key) ratelimit.Decision
}

// Idempotency remembers what was answered to a key.
type Idempotency interface {
	Begin(ctx context.Context, scope, key string, body []byte) (*idempotency.Run, *idempotency.StoredResponse, error)
	// BeginOrWait waits for the answer of a request that is in flight.
	BeginOrWait(ctx context.Context, scope, key string, body []byte, wait idempotency.WaitOptions) (*idempotency.Run, *idempotency.StoredResponse, error)
}

var (
	_ Agents      = (*agent.Service)(nil)
	_ Idempotency = (*idempotency.Service)(nil)
	_ Limiter     = (*ratelimit.Limiter)(nil)
)
