package app

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/idempotency"
	"github.com/dotkontor/dotkontor/internal/registrar/keyring"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/clientmeta"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
)

// OpenTimeout bounds opening the database, including migrations, which another node
// may be running.
const OpenTimeout = 2 * time.Minute

// Services are the domain services around customers, shared by the service and the
// operator commands.
type Services struct {
	DB          *store.DB
	keys        *keyring.Keyring
	Customers   *account.Service
	Tokens      *oauth.Service
	apps        *oauth.AuthorizationServer
	Portfolio   *portfolio.Service
	Agents      *agent.Service
	idempotency *idempotency.Service
	mail        *mailQueue
	// guestMailLimit bounds the mails to one address caused by agents' unpaid orders.
	guestMailLimit *ratelimit.Limiter
	// background functions are run by the service, but not by commands.
	background []func(context.Context)
}

// maxLimiterKeys bounds each of the sign-in limiters. They record failures only, so
// they need fewer keys than the lookup limiters.
const maxLimiterKeys = 200_000

// OpenServices opens the database and the services on it. The caller closes them.
// now is business time, which a sandbox may move; sign-ins, links and tokens use real
// time.
func OpenServices(ctx context.Context, cfg config.Config, logger *slog.Logger, now func() time.Time) (*Services, error) {
	return openServicesWith(ctx, cfg, logger, now, nil, nil)
}

// StoreOptions returns the database settings of a configuration.
func StoreOptions(cfg config.Config) store.Options {
	return store.Options{
		URL: string(cfg.Database.URL), AllowPlaintext: cfg.Database.AllowPlaintext,
		Data: cfg.Data, MaxConnections: cfg.Database.MaxConnections,
	}
}

// openServicesWith is OpenServices with a live price list and external password
// hashing. If live is nil, the stored price list is read once.
func openServicesWith(
	ctx context.Context, cfg config.Config, logger *slog.Logger, now func() time.Time, live *catalog.Live, hashes account.Deriver,
) (*Services, error) {
	openCtx, cancel := context.WithTimeout(ctx, OpenTimeout)
	defer cancel()
	options := StoreOptions(cfg)
	options.Logger = logger
	db, err := store.Open(openCtx, options)
	if err != nil {
		return nil, err
	}
	if live == nil {
		edition, err := db.PriceList(openCtx)
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}
		live = catalog.NewLive(edition.List)
	}
	a := &Services{DB: db}
	if a.keys, err = openKeyring(openCtx, cfg, db, logger); err == nil {
		db.UseSeal(a.keys.Seal())
		err = a.build(cfg, logger, now, live, hashes)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

func (a *Services) build(
	cfg config.Config, logger *slog.Logger, now func() time.Time, live *catalog.Live, hashes account.Deriver,
) error {
	var err error
	if a.mail, err = newMailQueue(cfg, a.DB, logger); err != nil {
		return err
	}
	windows := signInWindows(cfg.Limits)
	throttled := func(window ratelimit.Window) (*ratelimit.Limiter, error) {
		return a.newLimiter(min(cfg.Limits.MaxAddresses, maxLimiterKeys), window)
	}
	limits, err := account.NewLimits(windows, throttled)
	if err != nil {
		return err
	}
	if a.guestMailLimit, err = throttled(windows.Recipient); err != nil {
		return err
	}
	a.Customers, err = account.New(account.Config{
		Store: a.DB, Seal: a.keys.Seal(), Origins: account.PasskeyOrigins(cfg.BaseURL), Limits: limits, Logger: logger,
		Deriver: hashes, MailQueued: a.mail.wake, Extension: live.Extension,
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
	a.background = append(a.background, a.Tokens.Run, a.apps.Run, a.Customers.Run, a.mail.run)
	return a.buildAgents(cfg.BaseURL, logger)
}

// buildAgents builds the services of agents. They use real time.
func (a *Services) buildAgents(baseURL string, logger *slog.Logger) error {
	base, err := url.Parse(baseURL)
	if err != nil {
		return err
	}
	if a.Agents, err = agent.New(agent.Config{
		Store: a.DB, Seal: a.keys.Seal(), AllowLoopback: registrar.IsLoopbackHost(base.Hostname()), MailQueued: a.mail.wake, Log: logger,
	}); err != nil {
		return err
	}
	if a.idempotency, err = idempotency.New(idempotency.Config{Store: a.DB, Seal: a.keys.Seal(), Log: logger}); err != nil {
		return err
	}
	a.background = append(a.background, a.Agents.Run, a.idempotency.Run)
	return nil
}

// newApplications builds the OAuth authorization server.
func (a *Services) newApplications(cfg config.Config, logger *slog.Logger) (*oauth.AuthorizationServer, error) {
	refreshes, err := a.newLimiter(cfg.Limits.MaxAddresses,
		ratelimit.Window{Limit: cfg.Limits.RefreshPerMinute, Per: time.Minute}, ratelimit.Window{Limit: cfg.Limits.RefreshPerHour, Per: time.Hour})
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

// newLimiter returns a limiter that is swept in the background.
func (a *Services) newLimiter(maxKeys int, windows ...ratelimit.Window) (*ratelimit.Limiter, error) {
	limiter, err := ratelimit.New(ratelimit.Config{Windows: windows, MaxKeys: maxKeys})
	if err != nil {
		return nil, err
	}
	a.background = append(a.background, limiter.Run)
	return limiter, nil
}
