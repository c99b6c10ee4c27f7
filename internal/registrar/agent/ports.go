package agent

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

// Agent is a program that checks out for customers.
type Agent struct {
	ID         string
	Name       string // chosen by the operator and shown to customers
	Profile    signing.Profile
	WebhookURL string // receives order events; empty means none
	CreatedAt  time.Time
	RemovedAt  time.Time // zero while the agent is live
}

// Secret is a sealed signing secret.
type Secret struct {
	ID, Agent, Sealed string
	CreatedAt         time.Time
}

// AgentWithSecrets is a live agent with its live secrets.
type AgentWithSecrets struct {
	Agent
	Secrets []Secret
}

// Link is a customer's permission for an agent to see and pay the customer's orders.
type Link struct {
	Customer string
	Agent    Agent
	At       time.Time
}

// SealedWebhook is the stored form of a Webhook.
type SealedWebhook struct{ URL, Sealed, Version string }

// SeenSignature is a signature that was accepted.
type SeenSignature struct {
	Agent, MAC, Path string
	ExpiresAt        time.Time
}

// Store stores agents. Each change is one transaction that includes its audit event. A
// boolean is false on an error, too.
type Store interface {
	// AddAgent stores an agent. It returns NameTaken if a live agent has the name, and
	// TooManyAgents if limit are live.
	AddAgent(ctx context.Context, agent Agent, key registrar.SecretHash, secret Secret, webhook SealedWebhook, limit int, event registrar.AuditEvent) error
	// ListAgents returns all agents including removed ones, oldest first.
	ListAgents(ctx context.Context) ([]Agent, error)
	// AgentByID returns an agent, live or not; false if there is none.
	AgentByID(ctx context.Context, id string) (Agent, bool, error)
	// AgentByKey returns the live agent of a key; false if there is none.
	AgentByKey(ctx context.Context, key registrar.SecretHash) (AgentWithSecrets, bool, error)
	// ListLiveAgents returns at most limit live agents with the given profile.
	ListLiveAgents(ctx context.Context, profile signing.Profile, limit int) ([]AgentWithSecrets, error)
	// AddAgentSecret stores a secret and ends all but the newest keep; false if the
	// agent is not live.
	AddAgentSecret(ctx context.Context, secret Secret, keep int, event registrar.AuditEvent) (bool, error)
	// SetAgentKey and SetAgentWebhook replace the current value; false if the agent is not live.
	SetAgentKey(ctx context.Context, id string, key registrar.SecretHash, event registrar.AuditEvent) (bool, error)
	SetAgentWebhook(ctx context.Context, id string, webhook SealedWebhook, event registrar.AuditEvent) (bool, error)
	// RemoveAgent removes an agent, its secrets and its links, each link with an audit
	// event for its customer; false if the agent is not live.
	RemoveAgent(ctx context.Context, id string, event registrar.AuditEvent) (bool, error)

	// LinkAgent stores a link with its audit event and mail; false if it already
	// exists. It returns NoSuchAgent unless the agent is live and the account open.
	LinkAgent(ctx context.Context, customer, agent string, event registrar.AuditEvent, mail registrar.Mail) (bool, error)
	// UnlinkAgent ends a link; false if there is none.
	UnlinkAgent(ctx context.Context, customer, agent string, event registrar.AuditEvent) (bool, error)
	// ListAgentLinks returns a customer's links, by the agents' names.
	ListAgentLinks(ctx context.Context, customer string) ([]Link, error)

	// RecordSignature stores a signature unless it is known, and returns the path it
	// was first seen with.
	RecordSignature(ctx context.Context, seen SeenSignature) (path string, err error)
	// DeleteExpiredSignatures deletes at most limit expired signatures and returns how many.
	DeleteExpiredSignatures(ctx context.Context, now time.Time, limit int) (int, error)
}
