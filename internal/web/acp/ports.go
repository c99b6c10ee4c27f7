package acp

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/idempotency"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

// Agents authenticates agents.
type Agents interface {
	// Authenticate returns errors of KindUnauthenticated, or those of package signing,
	// for invalid credentials.
	Authenticate(ctx context.Context, who agent.Credentials) (agent.Agent, error)
}

// Orders stores sessions as orders.
type Orders interface {
	CreateSession(ctx context.Context, actor registrar.Actor, req order.SessionRequest) (order.Session, error)
	Session(ctx context.Context, actor registrar.Actor, id string) (order.Session, error)
	// BuyerContact returns what the agent has sent about the buyer. It is cheap.
	BuyerContact(ctx context.Context, actor registrar.Actor, id string) (order.Contact, error)
	UpdateSession(ctx context.Context, actor registrar.Actor, id string, change order.SessionChange) (order.Session, error)
	CompleteSession(ctx context.Context, actor registrar.Actor, id string, done order.Completion) (order.Session, error)
	CancelSession(ctx context.Context, actor registrar.Actor, id string) (order.Session, error)
}

var _ Orders = (*order.Service)(nil)

// Limiter limits the rate of an operation.
type Limiter interface {
	Allow(key ratelimit.Key) ratelimit.Decision
}

// Idempotency stores the response of a key.
type Idempotency interface {
	Begin(ctx context.Context, scope, key string, body []byte) (*idempotency.Run, *idempotency.StoredResponse, error)
	// BeginOrWait waits for the response of a request in flight.
	BeginOrWait(ctx context.Context, scope, key string, body []byte, wait idempotency.WaitOptions) (*idempotency.Run, *idempotency.StoredResponse, error)
}

var (
	_ Agents      = (*agent.Service)(nil)
	_ Idempotency = (*idempotency.Service)(nil)
	_ Limiter     = (*ratelimit.Limiter)(nil)
)
