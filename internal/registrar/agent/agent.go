package agent

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

const (
	MaxLiveAgents  = 50 // limits the live agents: without a key all of them are tried
	maxLiveSecrets = 2  // the number of live secrets per agent
	maxName        = 60 // the maximum length of an agent's name in characters
	// A secret brought by an agent must be too long to brute-force and short enough for a header.
	minSecret, maxSecret = 16, 256
	maxURL               = 500
)

// The codes of this package's errors. Signature errors are those of package signing.
const (
	NoSuchAgent registrar.Code = "no_such_agent" // goes with KindNotFound: unknown or removed
	// NameTaken and TooManyAgents go with KindConflict.
	NameTaken     registrar.Code = "agent_name_taken"
	TooManyAgents registrar.Code = "too_many_agents"
	// The others go with KindInvalid.
	BadName    registrar.Code = "bad_agent_name"
	BadProfile registrar.Code = "bad_agent_profile"
	BadSecret  registrar.Code = "bad_agent_secret"
	BadWebhook registrar.Code = "bad_agent_webhook"
)

// The audit actions. The object is the agent's name in a customer's events, otherwise its id.
const (
	Added          registrar.Action = "agent_added"
	Removed        registrar.Action = "agent_removed"
	SecretAdded    registrar.Action = "agent_secret_added"
	KeyChanged     registrar.Action = "agent_key_changed"
	WebhookChanged registrar.Action = "agent_webhook_changed"
	Linked         registrar.Action = "agent_linked"
	Unlinked       registrar.Action = "agent_unlinked"
)

// Config configures a Service.
type Config struct {
	Store Store
	Seal  *registrar.Seal // encrypts the agents' secrets
	// AllowLoopback allows webhook URLs on loopback, for a service that runs on this machine only.
	AllowLoopback bool
	MailQueued    func()           // called after a mail was stored; default: nothing
	Now           func() time.Time // the real time; default: time.Now
	Log           *slog.Logger     // receives background errors; default: discarded
}

// Service is safe for concurrent use.
type Service struct{ cfg Config }

// New returns a Service. The caller must also call Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Seal == nil {
		return nil, errors.New("agent: Config.Store and Config.Seal are required")
	}
	if cfg.MailQueued == nil {
		cfg.MailQueued = func() {}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	return &Service{cfg}, nil
}

// AddParams describes a new agent.
type AddParams struct {
	Name    string
	Profile signing.Profile // defaults to signing.Ours
	Secret  string          // one that the agent already has; empty generates one
	// WebhookURL receives order events; empty means none. WebhookSecret is handled like Secret.
	WebhookURL, WebhookSecret string
	WebhookVersion            string // the protocol version of the events; empty means the newest
}

// WebhookVersions lists the supported protocol versions of webhooks, newest first.
func WebhookVersions() []string { return []string{"2026-04-17", "2025-09-29"} }

// IssuedSecrets are shown once. A secret that was not generated is empty.
type IssuedSecrets struct{ Key, Secret, WebhookSecret string }

// Add admits an agent.
func (s *Service) Add(ctx context.Context, operator registrar.Actor, params AddParams) (_ Agent, issued IssuedSecrets, err error) {
	if err := operator.RequireOperator(); err != nil {
		return Agent{}, IssuedSecrets{}, err
	}
	now := s.cfg.Now()
	agent := Agent{
		ID: registrar.NewID("agt_", now), Name: strings.TrimSpace(params.Name), Profile: cmp.Or(params.Profile, signing.Ours),
		WebhookURL: params.WebhookURL, CreatedAt: now,
	}
	switch {
	case agent.Name == "" || !registrar.IsPrintable(agent.Name, maxName):
		return Agent{}, IssuedSecrets{}, registrar.Invalid(BadName)
	case !agent.Profile.Known():
		return Agent{}, IssuedSecrets{}, registrar.Invalid(BadProfile)
	}
	secret, err := s.sealSecret(agent.ID, params.Secret, &issued)
	if err != nil {
		return Agent{}, IssuedSecrets{}, err
	}
	webhook, err := s.sealWebhook(agent.ID, Webhook{params.WebhookURL, params.WebhookSecret, params.WebhookVersion}, &issued)
	if err != nil {
		return Agent{}, IssuedSecrets{}, err
	}
	key, hash := registrar.NewSecret(registrar.AgentKey)
	issued.Key = key
	return agent, issued, s.cfg.Store.AddAgent(ctx, agent, hash, secret, webhook, MaxLiveAgents, s.auditEvent(operator, Added, agent.ID))
}

// sealSecret seals the given secret, or a generated one.
func (s *Service) sealSecret(agent, given string, issued *IssuedSecrets) (Secret, error) {
	now := s.cfg.Now()
	secret := Secret{ID: registrar.NewID("ags_", now), Agent: agent, CreatedAt: now}
	if given == "" {
		given, _ = registrar.NewSecret(registrar.AgentSecret)
		issued.Secret = given
	}
	if !validSecret(given) {
		return Secret{}, registrar.Invalid(BadSecret)
	}
	secret.Sealed = s.cfg.Seal.Seal(registrar.AgentSecretPurpose(agent, secret.ID), given)
	return secret, nil
}

func (s *Service) sealWebhook(agent string, config Webhook, issued *IssuedSecrets) (SealedWebhook, error) {
	if config.URL == "" {
		if config.Secret != "" || config.Version != "" {
			return SealedWebhook{}, registrar.Invalid(BadWebhook)
		}
		return SealedWebhook{}, nil
	}
	if !s.validWebhookURL(config.URL) || config.Version != "" && !slices.Contains(WebhookVersions(), config.Version) {
		return SealedWebhook{}, registrar.Invalid(BadWebhook)
	}
	if config.Secret == "" {
		config.Secret, _ = registrar.NewSecret(registrar.AgentWebhookSecret)
		issued.WebhookSecret = config.Secret
	}
	if !validSecret(config.Secret) {
		return SealedWebhook{}, registrar.Invalid(BadSecret)
	}
	return SealedWebhook{URL: config.URL, Version: config.Version, Sealed: s.cfg.Seal.Seal(registrar.AgentWebhookPurpose(agent), config.Secret)}, nil
}

// List returns all agents, oldest first, for operators.
func (s *Service) List(ctx context.Context, operator registrar.Actor) ([]Agent, error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	return s.cfg.Store.ListAgents(ctx)
}

// RotateSecret adds a secret. The previous one stays live until the next rotation,
// unless replaceAll is set, which ends all others at once.
func (s *Service) RotateSecret(ctx context.Context, operator registrar.Actor, id, given string, replaceAll bool) (issued IssuedSecrets, err error) {
	if err := operator.RequireOperator(); err != nil {
		return IssuedSecrets{}, err
	}
	secret, err := s.sealSecret(id, given, &issued)
	if err != nil {
		return IssuedSecrets{}, err
	}
	keep := maxLiveSecrets
	if replaceAll {
		keep = 1
	}
	return issued, changed(s.cfg.Store.AddAgentSecret(ctx, secret, keep, s.auditEvent(operator, SecretAdded, id)))
}

// ReplaceKey replaces an agent's key. The old one ends at once.
func (s *Service) ReplaceKey(ctx context.Context, operator registrar.Actor, id string) (IssuedSecrets, error) {
	if err := operator.RequireOperator(); err != nil {
		return IssuedSecrets{}, err
	}
	key, hash := registrar.NewSecret(registrar.AgentKey)
	return IssuedSecrets{Key: key}, changed(s.cfg.Store.SetAgentKey(ctx, id, hash, s.auditEvent(operator, KeyChanged, id)))
}

// Webhook is where an agent receives order events, what signs them and their protocol version.
type Webhook struct{ URL, Secret, Version string }

// SetWebhook sets a webhook, with the given secret or a generated one. An empty URL disables it.
func (s *Service) SetWebhook(ctx context.Context, operator registrar.Actor, id string, config Webhook) (issued IssuedSecrets, err error) {
	if err := operator.RequireOperator(); err != nil {
		return IssuedSecrets{}, err
	}
	webhook, err := s.sealWebhook(id, config, &issued)
	if err != nil {
		return IssuedSecrets{}, err
	}
	return issued, changed(s.cfg.Store.SetAgentWebhook(ctx, id, webhook, s.auditEvent(operator, WebhookChanged, id)))
}

// Remove removes an agent and its links. Its next request is refused.
func (s *Service) Remove(ctx context.Context, operator registrar.Actor, id string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	return changed(s.cfg.Store.RemoveAgent(ctx, id, s.auditEvent(operator, Removed, id)))
}

// OpenWebhook unseals the secret of an agent's webhook.
func (s *Service) OpenWebhook(id string, webhook SealedWebhook) (Webhook, error) {
	secret, err := s.cfg.Seal.Open(registrar.AgentWebhookPurpose(id), webhook.Sealed)
	return Webhook{URL: webhook.URL, Secret: secret, Version: webhook.Version}, err
}

func (s *Service) auditEvent(actor registrar.Actor, action registrar.Action, object string) registrar.AuditEvent {
	return registrar.AuditEvent{Actor: actor, Action: action, Object: object, At: s.cfg.Now()}
}

// changed returns NoSuchAgent if the agent of a change is not live.
func changed(live bool, err error) error {
	if !live {
		err = cmp.Or(err, registrar.NotFound(NoSuchAgent))
	}
	return err
}

func validSecret(secret string) bool {
	return len(secret) >= minSecret && len(secret) <= maxSecret && registrar.IsPrintable(secret, maxSecret) && !strings.ContainsRune(secret, ' ')
}

// validWebhookURL checks the form of a URL and rejects hosts that can never be reached.
// Other hosts are checked on delivery, because DNS can change.
func (s *Service) validWebhookURL(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil || len(address) > maxURL || !registrar.IsPrintable(address, maxURL) {
		return false
	}
	host := parsed.Hostname()
	onLoopback := host == "127.0.0.1" || host == "::1" || host == "localhost"
	return (parsed.Scheme == "https" || parsed.Scheme == "http" && onLoopback) && (s.cfg.AllowLoopback || !onLoopback) &&
		parsed.Host != "" && parsed.User == nil && parsed.Fragment == ""
}
