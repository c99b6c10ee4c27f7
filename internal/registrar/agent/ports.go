package agent

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

// Agent is a program that checks out for customers.
type Agent struct {
	ID string
	// Name is what the operator calls it, and what customers read.
	Name    string
	Profile signing.Profile
	// WebhookURL is where it hears of its orders; empty: it does not want to.
	WebhookURL string
	CreatedAt  time.Time
	// RemovedAt is zero while it is live.
	RemovedAt time.Time
}

// Secret is one that an agent signs with, sealed.
type Secret struct {
	ID, Agent, Sealed string
	CreatedAt         time.Time
}

// AgentWithSecrets is a live agent with its live secrets.
type AgentWithSecrets struct {
	Agent
	Secrets []Secret
}

// Link is a customer's leave for an agent to see and pay the customer's orders.
type Link struct {
	Customer string
	Agent    Agent
	At       time.Time
}

// SealedWebhook is a Webhook as it is stored: the secret is sealed.
type SealedWebhook struct{ URL, Sealed, Version string }

// SeenSignature is the signature of a completion.
type SeenSignature struct {
	Agent, MAC, Path string
	ExpiresAt        time.Time
}

// Store keeps agents. Each change is one transaction, in which its deed is stored
// as well.
type Store interface {
	Registry
	Links
	// RecordSignature remembers a signature and returns the path with which it came
	// first.
	RecordSignature(ctx context.Context, seen SeenSignature) (path string, err error)
	// DeleteExpiredSignatures removes at most limit whose time is over, and says how many.
	DeleteExpiredSignatures(ctx context.Context, now time.Time, limit int) (int, error)
}

// Registry keeps who the agents are.
type Registry interface {
	// AddAgent stores an agent. It is a conflict, NameTaken, if a live one has its
	// name, and TooManyAgents if limit are live.
	AddAgent(ctx context.Context, agent Agent, key registrar.SecretHash, secret Secret, webhook SealedWebhook, limit int, event registrar.AuditEvent) error
	// ListAgents are all, also removed ones, the oldest first.
	ListAgents(ctx context.Context) ([]Agent, error)
	// AgentByID returns one, live or not; false if there is none.
	AgentByID(ctx context.Context, id string) (Agent, bool, error)
	// AgentByKey returns the live agent of a key; false if there is none.
	AgentByKey(ctx context.Context, key registrar.SecretHash) (AgentWithSecrets, bool, error)
	// ListLiveAgents are those that sign in a profile, at most limit.
	ListLiveAgents(ctx context.Context, profile signing.Profile, limit int) ([]AgentWithSecrets, error)
	// GetAgentWebhook is where a live agent hears of its orders; false if there is none.
	GetAgentWebhook(ctx context.Context, id string) (SealedWebhook, bool, error)
	// AddAgentSecret stores one more secret, after which the newest keep are live; false
	// if the agent is not.
	AddAgentSecret(ctx context.Context, secret Secret, keep int, event registrar.AuditEvent) (bool, error)
	// SetAgentKey and SetHook replace what was there; false if the agent is not live.
	SetAgentKey(ctx context.Context, id string, key registrar.SecretHash, event registrar.AuditEvent) (bool, error)
	SetAgentWebhook(ctx context.Context, id string, webhook SealedWebhook, event registrar.AuditEvent) (bool, error)
	// RemoveAgent ends an agent, its secrets and its links, each with a deed for its
	// customer; false if it is not live.
	RemoveAgent(ctx context.Context, id string, event registrar.AuditEvent) (bool, error)
}

// Links keeps what customers let agents do.
type Links interface {
	// LinkAgent stores a link with its deed and letter; false if it is there
	// already. The agent must be live and the account open: else NoSuchAgent.
	LinkAgent(ctx context.Context, customer, agent string, event registrar.AuditEvent, letter registrar.Mail) (bool, error)
	// UnlinkAgent ends one; false if there is none.
	UnlinkAgent(ctx context.Context, customer, agent string, event registrar.AuditEvent) (bool, error)
	// ListAgentLinks are a customer's, by the agents' names.
	ListAgentLinks(ctx context.Context, customer string) ([]Link, error)
}
