package agent

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

const (
	// MaxLive bounds the live agents: without a key all of them are tried.
	MaxLive = 50
	// liveSecrets is how many secrets of an agent are live at a time.
	liveSecrets = 2
	// maxName bounds an agent's name, in characters.
	maxName = 60
	// A secret that an agent brings is at least as long as one that can't be tried
	// through, and short enough for a header.
	minSecret, maxSecret = 16, 256
	maxURL               = 500
)

// What can go wrong. What is wrong with a signature has the errors of package
// signing.
const (
	// NoSuchAgent goes with KindNotFound: never known, or removed.
	NoSuchAgent registrar.Code = "no_such_agent"
	// NameTaken and TooManyAgents go with KindConflict.
	NameTaken     registrar.Code = "agent_name_taken"
	TooManyAgents registrar.Code = "too_many_agents"
	// The others go with KindInvalid.
	BadName    registrar.Code = "bad_agent_name"
	BadProfile registrar.Code = "bad_agent_profile"
	BadSecret  registrar.Code = "bad_agent_secret"
	BadWebhook registrar.Code = "bad_agent_webhook"
	// PersonsOnly and OperatorsOnly go with KindForbidden.
	PersonsOnly   registrar.Code = "persons_only"
	OperatorsOnly registrar.Code = "operators_only"
)

// What the audit tells. The object is the agent's name where a customer reads it,
// else its id.
const (
	Added     registrar.Action = "agent_added"
	Removed   registrar.Action = "agent_removed"
	Rotated   registrar.Action = "agent_secret_added"
	Rekeyed   registrar.Action = "agent_key_changed"
	HookSet   registrar.Action = "agent_webhook_changed"
	WasLinked registrar.Action = "agent_linked"
	Unlinked  registrar.Action = "agent_unlinked"
)

// Config is what a Service needs.
type Config struct {
	Store Store
	// Seal closes the agents' secrets.
	Seal *registrar.Seal
	// Loopback says that the service itself is on this machine only, so that its agents
	// may be, too. Default: no message would ever reach an address there.
	Loopback bool
	// LettersWaiting is called after a letter was stored. Default: nothing.
	LettersWaiting func()
	// Now is the true time. Default: time.Now.
	Now func() time.Time
	// Log gets what goes wrong in the background. Default: nobody.
	Log *slog.Logger
}

// Service is safe for use by many goroutines.
type Service struct {
	store    Store
	seal     *registrar.Seal
	loopback bool
	wake     func()
	now      func() time.Time
	log      *slog.Logger
}

// New returns a Service. Whoever calls it also calls Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Seal == nil {
		return nil, errors.New("agents need a store and a seal")
	}
	if cfg.LettersWaiting == nil {
		cfg.LettersWaiting = func() {}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{store: cfg.Store, seal: cfg.Seal, loopback: cfg.Loopback, wake: cfg.LettersWaiting, now: cfg.Now, log: cfg.Log}, nil
}

// Admission is an agent that an operator lets in.
type Admission struct {
	Name string
	// Profile is signing.Ours if it is empty.
	Profile signing.Profile
	// Secret is one that the agent has already; empty: a new one is made.
	Secret string
	// WebhookURL is where it hears of its orders; empty: nowhere. WebhookSecret is
	// as Secret.
	WebhookURL, WebhookSecret string
	// WebhookVersion is the protocol's version whose shape the messages have; empty:
	// the newest.
	WebhookVersion string
}

// WebhookVersions are those that messages can be written in, the newest first.
func WebhookVersions() []string { return []string{"2026-04-17", "2025-09-29"} }

// Issued is what is shown once. Empty is what was not made anew.
type Issued struct{ Key, Secret, WebhookSecret string }

// Add lets an agent in.
func (s *Service) Add(ctx context.Context, operator registrar.Actor, wanted Admission) (Agent, Issued, error) {
	if err := requireOperator(operator); err != nil {
		return Agent{}, Issued{}, err
	}
	if wanted.Profile == "" {
		wanted.Profile = signing.Ours
	}
	now := s.now()
	agent := Agent{
		ID: registrar.NewID("agt_", now), Name: strings.TrimSpace(wanted.Name), Profile: wanted.Profile,
		WebhookURL: wanted.WebhookURL, CreatedAt: now,
	}
	switch {
	case !goodName(agent.Name):
		return Agent{}, Issued{}, invalid(BadName)
	case !agent.Profile.Known():
		return Agent{}, Issued{}, invalid(BadProfile)
	}
	var issued Issued
	secret, err := s.newSecret(agent.ID, wanted.Secret, &issued)
	if err != nil {
		return Agent{}, Issued{}, err
	}
	hook, err := s.newHook(agent.ID, Webhook{wanted.WebhookURL, wanted.WebhookSecret, wanted.WebhookVersion}, &issued)
	if err != nil {
		return Agent{}, Issued{}, err
	}
	key, hash := registrar.NewSecret(registrar.AgentKey)
	issued.Key = key
	err = s.store.AddAgent(ctx, agent, hash, secret, hook, MaxLive, s.deed(operator, Added, agent.ID))
	if err != nil {
		return Agent{}, Issued{}, err
	}
	return agent, issued, nil
}

// newSecret seals the given secret, or one that it makes.
func (s *Service) newSecret(agent, given string, issued *Issued) (Secret, error) {
	now := s.now()
	secret := Secret{ID: registrar.NewID("ags_", now), Agent: agent, CreatedAt: now}
	if given == "" {
		given, _ = registrar.NewSecret(registrar.AgentSecret)
		issued.Secret = given
	}
	if !goodSecret(given) {
		return Secret{}, invalid(BadSecret)
	}
	secret.Sealed = s.seal.Close(registrar.AgentSecretPurpose(agent, secret.ID), given)
	return secret, nil
}

func (s *Service) newHook(agent string, wanted Webhook, issued *Issued) (Hook, error) {
	if wanted.URL == "" {
		if wanted.Secret != "" || wanted.Version != "" {
			return Hook{}, invalid(BadWebhook)
		}
		return Hook{}, nil
	}
	if !s.goodWebhook(wanted.URL) || wanted.Version != "" && !slices.Contains(WebhookVersions(), wanted.Version) {
		return Hook{}, invalid(BadWebhook)
	}
	if wanted.Secret == "" {
		wanted.Secret, _ = registrar.NewSecret(registrar.AgentHook)
		issued.WebhookSecret = wanted.Secret
	}
	if !goodSecret(wanted.Secret) {
		return Hook{}, invalid(BadSecret)
	}
	return Hook{URL: wanted.URL, Version: wanted.Version, Sealed: s.seal.Close(registrar.AgentHookPurpose(agent), wanted.Secret)}, nil
}

// List is for operators: all agents, the oldest first.
func (s *Service) List(ctx context.Context, operator registrar.Actor) ([]Agent, error) {
	if err := requireOperator(operator); err != nil {
		return nil, err
	}
	return s.store.Agents(ctx)
}

// Rotate gives an agent one more secret. The one before stays live until the next
// time, unless only is set: then all others end at once.
func (s *Service) Rotate(ctx context.Context, operator registrar.Actor, id, given string, only bool) (Issued, error) {
	if err := requireOperator(operator); err != nil {
		return Issued{}, err
	}
	var issued Issued
	secret, err := s.newSecret(id, given, &issued)
	if err != nil {
		return Issued{}, err
	}
	keep := liveSecrets
	if only {
		keep = 1
	}
	live, err := s.store.AddSecret(ctx, secret, keep, s.deed(operator, Rotated, id))
	return issued, noneIf(!live, err)
}

// Rekey gives an agent another key. The old one ends at once.
func (s *Service) Rekey(ctx context.Context, operator registrar.Actor, id string) (Issued, error) {
	if err := requireOperator(operator); err != nil {
		return Issued{}, err
	}
	key, hash := registrar.NewSecret(registrar.AgentKey)
	live, err := s.store.SetKey(ctx, id, hash, s.deed(operator, Rekeyed, id))
	return Issued{Key: key}, noneIf(!live, err)
}

// Webhook is where an agent hears of its orders, the secret that our messages to it
// are signed with, and the protocol's version whose shape they have.
type Webhook struct{ URL, Secret, Version string }

// SetWebhook says where an agent hears of its orders, with a secret of its own or a
// new one; an empty address means nowhere.
func (s *Service) SetWebhook(ctx context.Context, operator registrar.Actor, id string, wanted Webhook) (Issued, error) {
	if err := requireOperator(operator); err != nil {
		return Issued{}, err
	}
	var issued Issued
	hook, err := s.newHook(id, wanted, &issued)
	if err != nil {
		return Issued{}, err
	}
	live, err := s.store.SetHook(ctx, id, hook, s.deed(operator, HookSet, id))
	return issued, noneIf(!live, err)
}

// Remove ends an agent. Its next request is refused, and its links are gone.
func (s *Service) Remove(ctx context.Context, operator registrar.Actor, id string) error {
	if err := requireOperator(operator); err != nil {
		return err
	}
	live, err := s.store.RemoveAgent(ctx, id, s.deed(operator, Removed, id))
	return noneIf(!live, err)
}

// Webhook is where a live agent hears of its orders. An empty address means that it
// does not want to, or is gone.
func (s *Service) Webhook(ctx context.Context, id string) (Webhook, error) {
	hook, live, err := s.store.HookOf(ctx, id)
	if err != nil || !live || hook.URL == "" {
		return Webhook{}, err
	}
	secret, err := s.seal.Open(registrar.AgentHookPurpose(id), hook.Sealed)
	return Webhook{URL: hook.URL, Secret: secret, Version: hook.Version}, err
}

func (s *Service) deed(actor registrar.Actor, action registrar.Action, object string) registrar.Deed {
	return registrar.Deed{Actor: actor, Action: action, Object: object, At: s.now()}
}

func noneIf(gone bool, err error) error {
	if err == nil && gone {
		return &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchAgent}
	}
	return err
}

func invalid(code registrar.Code) error {
	return &registrar.Error{Kind: registrar.KindInvalid, Code: code}
}

func goodName(name string) bool {
	return name != "" && utf8.RuneCountInString(name) <= maxName && printable(name)
}

func goodSecret(secret string) bool {
	return len(secret) >= minSecret && len(secret) <= maxSecret && printable(secret) && !strings.ContainsRune(secret, ' ')
}

func printable(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(letter rune) bool { return !unicode.IsPrint(letter) }) < 0
}

// goodWebhook wants an address that a message can be sent to. Which hosts may be
// reached is looked at when one is sent: that can change. What never can is said at
// once.
func (s *Service) goodWebhook(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil || len(address) > maxURL || !printable(address) {
		return false
	}
	here := loopback(parsed.Hostname())
	return (parsed.Scheme == "https" || parsed.Scheme == "http" && here) && (s.loopback || !here) &&
		parsed.Host != "" && parsed.User == nil && parsed.Fragment == ""
}

func loopback(host string) bool { return host == "127.0.0.1" || host == "::1" || host == "localhost" }

func requireOperator(actor registrar.Actor) error {
	if actor.Kind != registrar.ActorOperator {
		return &registrar.Error{Kind: registrar.KindForbidden, Code: OperatorsOnly}
	}
	return nil
}
