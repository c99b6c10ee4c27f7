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

// Known is a live agent with its live secrets.
type Known struct {
	Agent
	Secrets []Secret
}

// Link is a customer's leave for an agent to see and pay the customer's orders.
type Link struct {
	Customer string
	Agent    Agent
	At       time.Time
}

// Hook is a Webhook as it is stored: the secret is sealed.
type Hook struct{ URL, Sealed, Version string }

// Seen is the signature of a completion.
type Seen struct {
	Agent, MAC, Path string
	EndsAt           time.Time
}

// Store keeps agents. Each change is one transaction, in which its deed is stored
// as well.
type Store interface {
	Registry
	Links
	// SeeSignature remembers a signature and returns the path with which it came
	// first.
	SeeSignature(ctx context.Context, seen Seen) (path string, err error)
	// ForgetSignatures removes at most limit whose time is over, and says how many.
	ForgetSignatures(ctx context.Context, now time.Time, limit int) (int, error)
}

// Registry keeps who the agents are.
type Registry interface {
	// AddAgent stores an agent. It is a conflict, NameTaken, if a live one has its
	// name, and TooManyAgents if limit are live.
	AddAgent(ctx context.Context, agent Agent, key registrar.SecretHash, secret Secret, hook Hook, limit int, deed registrar.Deed) error
	// Agents are all, also removed ones, the oldest first.
	Agents(ctx context.Context) ([]Agent, error)
	// AgentByID returns one, live or not; false if there is none.
	AgentByID(ctx context.Context, id string) (Agent, bool, error)
	// AgentByKey returns the live agent of a key; false if there is none.
	AgentByKey(ctx context.Context, key registrar.SecretHash) (Known, bool, error)
	// LiveAgents are those that sign in a profile, at most limit.
	LiveAgents(ctx context.Context, profile signing.Profile, limit int) ([]Known, error)
	// HookOf is where a live agent hears of its orders; false if there is none.
	HookOf(ctx context.Context, id string) (Hook, bool, error)
	// AddSecret stores one more secret, after which the newest keep are live; false
	// if the agent is not.
	AddSecret(ctx context.Context, secret Secret, keep int, deed registrar.Deed) (bool, error)
	// SetKey and SetHook replace what was there; false if the agent is not live.
	SetKey(ctx context.Context, id string, key registrar.SecretHash, deed registrar.Deed) (bool, error)
	SetHook(ctx context.Context, id string, hook Hook, deed registrar.Deed) (bool, error)
	// RemoveAgent ends an agent, its secrets and its links, each with a deed for its
	// customer; false if it is not live.
	RemoveAgent(ctx context.Context, id string, deed registrar.Deed) (bool, error)
}

// Links keeps what customers let agents do.
type Links interface {
	// LinkAgent stores a link with its deed and letter; false if it is there
	// already. The agent must be live and the account open: else NoSuchAgent.
	LinkAgent(ctx context.Context, customer, agent string, deed registrar.Deed, letter registrar.Letter) (bool, error)
	// UnlinkAgent ends one; false if there is none.
	UnlinkAgent(ctx context.Context, customer, agent string, deed registrar.Deed) (bool, error)
	// LinksOf are a customer's, by the agents' names.
	LinksOf(ctx context.Context, customer string) ([]Link, error)
}
