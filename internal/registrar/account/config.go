package account

import (
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Config is what a Service is made of. Store, Seal and Limits are required.
type Config struct {
	Store Store
	// Seal encrypts the secrets of authenticator apps.
	Seal *registrar.Seal
	// Origins are the addresses under which browsers see the portal, such as
	// https://example.com. Passkeys belong to one host name. PasskeyOrigins makes
	// the list from a base address. Without any there are no passkeys.
	Origins []string
	// Issuer is the name that authenticator apps and passkey prompts show; empty
	// means dotkontor.
	Issuer string
	Limits Limits
	// SessionIdle ends a session that is not used; 0 means 14 days.
	SessionIdle time.Duration
	// SessionLife ends every session; 0 means 90 days.
	SessionLife time.Duration
	// Hashes is how many passwords are hashed at a time, each in 64 MiB; 0 means
	// DefaultHashes.
	Hashes int
	// Cost is that of one hash. Where it changes, passwords are hashed anew when
	// they are next used.
	Cost Cost
	// Deriver computes the hashes of a service in another process; nil means that
	// they are computed here.
	Deriver Deriver
	// MaxWaiting is how many sign-ins may wait for that, from known browsers and from
	// others each; 0 means 2048.
	MaxWaiting int
	// Extension is the price list: what each extension demands of a registrant is
	// checked when one is changed. nil means that no extension demands anything.
	Extension func(tld string) (registrar.Extension, bool)
	// MailQueued is called after a letter was stored, to have it sent at once;
	// nil means that the sender looks for itself.
	MailQueued func()
	// Now is the clock. Codes of authenticator apps go by it too, so it should
	// show the true time.
	Now func() time.Time
	// Logger may be nil.
	Logger *slog.Logger
}

const (
	day                = 24 * time.Hour
	defaultSessionIdle = 14 * day
	defaultSessionLife = 90 * day
	defaultMaxWaiting  = 2048
	defaultIssuer      = "dotkontor"
)

func (cfg Config) withDefaults() (Config, error) {
	if cfg.Store == nil {
		return cfg, errors.New("customer: a store is needed")
	}
	if cfg.Seal == nil {
		return cfg, errors.New("customer: Config.Seal is required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Extension == nil {
		cfg.Extension = func(string) (registrar.Extension, bool) { return registrar.Extension{}, false }
	}
	if cfg.MailQueued == nil {
		cfg.MailQueued = func() {}
	}
	if cfg.SessionIdle <= 0 {
		cfg.SessionIdle = defaultSessionIdle
	}
	if cfg.SessionLife <= 0 {
		cfg.SessionLife = defaultSessionLife
	}
	if cfg.Issuer == "" {
		cfg.Issuer = defaultIssuer
	}
	if cfg.MaxWaiting <= 0 {
		cfg.MaxWaiting = defaultMaxWaiting
	}
	return cfg, cfg.Limits.check()
}
