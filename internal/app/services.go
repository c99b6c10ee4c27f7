package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/pwhash"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/idempotency"
	"github.com/dotkontor/dotkontor/internal/registrar/keyring"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
	"github.com/dotkontor/dotkontor/internal/upstream/clientmeta"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
)

// OpenTimeout bounds opening the database, including migrations, which another node
// may be running.
const OpenTimeout = 2 * time.Minute

// Services are the domain services around customers, shared by the service and the operator commands.
type Services struct {
	DB          *store.DB
	keys        *keyring.Keyring
	Customers   *account.Service
	Tokens      *oauth.Service
	apps        *oauth.AuthorizationServer
	Portfolio   *portfolio.Service
	Holders     *holder.Service
	Agents      *agent.Service
	idempotency *idempotency.Service
	mail        *jobs.Worker[mailer.QueuedMail] // nil without a mail server
	// guestMailLimit bounds the mails to one address caused by agents' unpaid orders.
	guestMailLimit *ratelimit.Limiter
	// shared makes all limits count the requests of all nodes; nil: this node's only.
	shared     *ratelimit.Shared
	background // run by the service, but not by commands
}

// maxLimiterKeys bounds each of the sign-in limiters. They record failures only, so
// they need fewer keys than the lookup limiters.
const maxLimiterKeys = 200_000

// OpenServices opens the database and the services on it. The caller closes them.
// now is business time, which a sandbox may move; sign-ins, links and tokens use real time.
func OpenServices(ctx context.Context, cfg config.Config, logger *slog.Logger, now func() time.Time) (*Services, error) {
	services, err := openServicesWith(ctx, cfg, logger, now, serviceHooks{})
	return services, WithDamageHint(err) // the service logs it
}

// WithDamageHint adds what an operator does if err says that the database is damaged.
func WithDamageHint(err error) error {
	if action := sqldb.ActionIfDamaged(err); action != "" {
		return fmt.Errorf("%w; %s", err, action)
	}
	return err
}

// StoreOptions returns the database settings of a configuration.
func StoreOptions(cfg config.Config) store.Options {
	return store.Options{
		URL: string(cfg.Database.URL), AllowPlaintext: cfg.Database.AllowPlaintext,
		Data: cfg.Data, MaxConnections: cfg.Database.MaxConnections,
	}
}

// Migrate brings the schema of the database up to date, as the service does when it starts.
func Migrate(ctx context.Context, options store.Options) error {
	if err := CheckLostDatabase(options); err != nil {
		return err
	}
	db, err := store.Open(ctx, options)
	if err != nil {
		return err
	}
	return db.Close()
}

// CheckLostDatabase keeps a service or a command from creating an empty database in a folder
// that had one: it would sell names again that customers own.
func CheckLostDatabase(options store.Options) error {
	if sqldb.Exists(options) {
		return nil
	}
	if _, err := os.Stat(filepath.Join(options.Data, nodeFile)); err != nil {
		return nil //nolint:nilerr // a new folder
	}
	return fmt.Errorf("the database is missing, but %s was in use before: restore the last backup with 'dotkontor restore', or delete %s there to start with an empty database", options.Data, nodeFile)
}

// serviceHooks are what the service adds for itself; commands have none.
type serviceHooks struct {
	live            *catalog.Live // nil means that the stored price list is read once
	hashes          account.Deriver
	newShared       func(ctx context.Context, db *store.DB, seal *registrar.Seal) (*ratelimit.Shared, error) // nil: not shared
	onMail          func(registrar.MailKind, mailer.Outcome)
	recordMailError func(ctx context.Context, mail string, code registrar.Code)
}

func openServicesWith(
	ctx context.Context, cfg config.Config, logger *slog.Logger, now func() time.Time, hooks serviceHooks,
) (*Services, error) {
	openCtx, cancel := context.WithTimeout(ctx, OpenTimeout)
	defer cancel()
	options := StoreOptions(cfg)
	options.Logger = logger
	if err := CheckLostDatabase(options); err != nil {
		return nil, err
	}
	db, err := store.Open(openCtx, options)
	if err != nil {
		return nil, err
	}
	if hooks.live == nil {
		edition, err := db.PriceList(openCtx)
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}
		hooks.live = catalog.NewLive(edition.List)
	}
	a := &Services{DB: db}
	if a.keys, err = openKeyring(openCtx, cfg, db, logger); err == nil {
		db.UseSeal(a.keys.Seal())
		if hooks.newShared != nil {
			a.shared, err = hooks.newShared(openCtx, db, a.keys.Seal())
		}
	}
	if err == nil {
		err = a.build(cfg, logger, now, hooks)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

func (a *Services) build(cfg config.Config, logger *slog.Logger, now func() time.Time, hooks serviceHooks) (err error) {
	if a.mail, err = newMailer(cfg, a.DB, logger, now, hooks); err != nil {
		return err
	}
	if a.mail != nil {
		a.inBackground(a.mail.Run)
	}
	newLimiter := func(name string, window ratelimit.Window) (*ratelimit.Limiter, error) {
		return a.newLimiter(name, min(cfg.Limits.MaxAddresses, maxLimiterKeys), window)
	}
	windows := signInWindows(cfg.Limits)
	limits, err := account.NewLimits(windows, newLimiter)
	if err != nil {
		return err
	}
	if a.guestMailLimit, err = newLimiter("mail recipient of unpaid orders", windows.Recipient); err != nil {
		return err
	}
	a.Customers, err = account.New(account.Config{
		Store: a.DB, Seal: a.keys.Seal(), Origins: account.PasskeyOrigins(cfg.BaseURL), Limits: limits, Logger: logger,
		Deriver: hooks.hashes, MailQueued: a.mail.Wake, Extension: hooks.live.Extension, BusinessNow: now,
	})
	if err != nil {
		return err
	}
	if a.apps, err = a.newApplications(cfg, logger); err != nil {
		return err
	}
	if a.Tokens, err = oauth.New(oauth.Config{Store: a.DB, Log: logger, AuthorizationServer: a.apps}); err != nil {
		return err
	}
	a.Portfolio = portfolio.New(a.DB, now)
	if a.Holders, err = holder.New(a.DB, now, nil); err != nil {
		return err
	}
	a.inBackground(a.Tokens.Run, a.apps.Run, a.Customers.Run)
	return a.buildAgents(cfg.BaseURL, logger)
}

// buildAgents builds the services of agents. They use real time.
func (a *Services) buildAgents(baseURL string, logger *slog.Logger) error {
	base, err := url.Parse(baseURL)
	if err != nil {
		return err
	}
	if a.Agents, err = agent.New(agent.Config{
		Store: a.DB, Seal: a.keys.Seal(), AllowLoopback: registrar.IsLoopbackHost(base.Hostname()), MailQueued: a.mail.Wake, Log: logger,
	}); err != nil {
		return err
	}
	if a.idempotency, err = idempotency.New(idempotency.Config{Store: a.DB, Seal: a.keys.Seal(), Log: logger}); err != nil {
		return err
	}
	a.inBackground(a.Agents.Run, a.idempotency.Run)
	return nil
}

func (a *Services) newApplications(cfg config.Config, logger *slog.Logger) (*oauth.AuthorizationServer, error) {
	refreshes, err := a.newLimiter("refreshes", cfg.Limits.MaxAddresses, perMinuteAndHour(cfg.Limits.RefreshPerMinute, cfg.Limits.RefreshPerHour)...)
	if err != nil {
		return nil, err
	}
	settings := oauth.AuthorizationServerConfig{
		Store: a.DB, Resource: strings.TrimSuffix(cfg.BaseURL, "/") + mcp.Path, Leeway: time.Duration(cfg.OAuth.RefreshLeeway), Log: logger,
		AllowRefresh: refreshes.AllowText,
	}
	if cfg.FetchesClientMetadata() {
		settings.Metadata = clientmeta.New("dotkontor/" + Version)
	}
	return oauth.NewAuthorizationServer(settings)
}

// newLimiter returns a limiter whose expired keys are swept in the background. The name tells
// it apart from the others, on all nodes.
func (a *Services) newLimiter(name string, maxKeys int, windows ...ratelimit.Window) (*ratelimit.Limiter, error) {
	limiter, err := ratelimit.New(ratelimit.Config{Name: name, Windows: windows, MaxKeys: maxKeys, Shared: a.shared})
	a.inBackground(limiter.Run)
	return limiter, err
}

func (a *Services) Close() error { return a.DB.Close() }

// signInWindows returns the configured limits of sign-ins; their periods are fixed.
func signInWindows(limits config.Limits) account.Windows {
	windows := account.DefaultWindows()
	windows.Address.Limit = limits.SignInPerAddress
	windows.AccountAddress.Limit = limits.SignInPerPair
	windows.Account.Limit = limits.SignInPerAccount
	windows.Device.Limit = limits.SignInPerDevice
	windows.Codes.Limit = limits.CodesPerAccount
	windows.CodesLong.Limit = limits.CodesPer10Hours
	windows.Recipient.Limit = limits.MailsPerRecipient
	windows.Sender.Limit = limits.MailsPerAddress
	windows.Passkeys.Limit = limits.PasskeysPerAddress
	return windows
}

// newHashWorkers starts child processes that hash passwords at a low priority.
func (p *App) newHashWorkers() account.Deriver {
	self, err := pwhash.ExecutablePath()
	if err != nil {
		p.logger.Warn("passwords are hashed in the service process: executable not found", "err", err)
		return nil
	}
	workers := pwhash.New(pwhash.Config{
		Command: []string{self, "hash-worker"}, Processes: account.DefaultHashes(), Logger: p.logger,
	})
	p.closers = append(p.closers, workers.Close)
	return workers
}
