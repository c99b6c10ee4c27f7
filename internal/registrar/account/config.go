package account

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Config configures a Service. Store, Seal and Limits are required.
type Config struct {
	Store Store
	// Seal encrypts the secrets of authenticator apps.
	Seal *registrar.Seal
	// Origins are the origins at which browsers reach the portal, such as
	// https://example.com. A passkey belongs to one host name. PasskeyOrigins derives
	// the list from a base URL. Without origins, passkeys are disabled.
	Origins []string
	Limits  Limits
	// Hashes is the number of concurrent password hashes, each using 64 MiB; 0 means DefaultHashes.
	Hashes int
	// Cost is the cost of one hash. After a change, a password is rehashed when it is next used.
	Cost Cost
	// Deriver computes hashes in another process; nil computes them here.
	Deriver Deriver
	// MaxWaiting limits the sign-ins that wait for a hash, for known browsers and for
	// others separately; 0 means 2048.
	MaxWaiting int
	// Extension looks up the price list. Its registrant requirements are checked when a
	// registrant changes; nil checks none.
	Extension func(tld string) (registrar.Extension, bool)
	// MailQueued is called after a mail was stored; nil leaves it to the mailer to poll.
	MailQueued func()
	// Now is the clock. Authenticator codes are checked against it, so it must show the true time.
	Now func() time.Time
	// Logger may be nil.
	Logger *slog.Logger
}

const (
	day = 24 * time.Hour
	// sessionIdle and sessionLife are the idle and the absolute timeout of a session.
	sessionIdle = 14 * day
	sessionLife = 90 * day
	// issuer is the name shown by authenticator apps and passkey prompts.
	issuer = "dotkontor"
)

func (cfg Config) withDefaults() (Config, error) {
	switch {
	case cfg.Store == nil:
		return cfg, errors.New("account: Config.Store is required")
	case cfg.Seal == nil:
		return cfg, errors.New("account: Config.Seal is required")
	case cfg.Limits == (Limits{}):
		return cfg, errors.New("account: Config.Limits is required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Extension == nil {
		cfg.Extension = func(string) (registrar.Extension, bool) { return registrar.Extension{}, false }
	}
	if cfg.MailQueued == nil {
		cfg.MailQueued = func() {}
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.MaxWaiting = cmp.Or(cfg.MaxWaiting, 2048)
	return cfg, nil
}
