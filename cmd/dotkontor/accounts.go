package main

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/idempotency"
	"github.com/dotkontor/dotkontor/internal/registrar/keyring"
	"github.com/dotkontor/dotkontor/internal/registrar/quota"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/clientdoc"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
)

// openTimeout bounds opening the database, migrations included. Other nodes may
// be migrating it, too.
const openTimeout = 2 * time.Minute

// accounts is everything about customers. The service and the operator's
// commands open the same.
type accounts struct {
	db        *store.DB
	keys      *keyring.Keyring
	customers *customer.Service
	access    *access.Service
	apps      *access.Applications
	holdings  *holding.Service
	// agents are those who check out for customers, and answers what they were told.
	agents  *agent.Service
	answers *idempotency.Service
	post    *post
	// strangers bounds the letters that agents can have sent to an address by orders
	// that nobody pays.
	strangers customer.Limiter
	// background is what a service runs beside its requests; a command does not.
	background []func(context.Context)
}

// maxThrottled bounds each budget of sign-ins. There are a dozen, and only what
// went wrong is remembered, so each may hold fewer than that of the lookups.
const maxThrottled = 200_000

// openAccounts opens the database and what works on it. The caller closes it.
// now is the time of the business, which a sandbox moves; sign-ins, links and
// tokens go by the true time.
func openAccounts(ctx context.Context, cfg config.Config, logger *slog.Logger, now func() time.Time) (*accounts, error) {
	return openAccountsHashing(ctx, cfg, logger, now, nil, nil)
}

// storeOptions says where the database of a configuration is.
func storeOptions(cfg config.Config) store.Options {
	return store.Options{
		URL: string(cfg.Database.URL), AllowPlaintext: cfg.Database.AllowPlaintext,
		Data: cfg.Data, MaxConnections: cfg.Database.MaxConnections,
	}
}

// openAccountsHashing is openAccounts for a service, which follows its price list and
// has its passwords hashed elsewhere. Without a catalogue the stored list is read once.
func openAccountsHashing(
	ctx context.Context, cfg config.Config, logger *slog.Logger, now func() time.Time, catalogue *catalog.Live, hashes customer.Deriver,
) (*accounts, error) {
	opening, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	options := storeOptions(cfg)
	options.Logger = logger
	db, err := store.Open(opening, options)
	if err != nil {
		return nil, err
	}
	if catalogue == nil {
		edition, err := db.PriceList(opening)
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}
		catalogue = catalog.NewLive(edition.List)
	}
	a := &accounts{db: db}
	if a.keys, err = openKeyring(opening, cfg, db, logger); err == nil {
		db.UseSeal(a.keys.Seal())
		err = a.build(cfg, logger, now, catalogue, hashes)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return a, nil
}

func (a *accounts) build(
	cfg config.Config, logger *slog.Logger, now func() time.Time, catalogue *catalog.Live, hashes customer.Deriver,
) error {
	var err error
	if a.post, err = newPost(cfg, a.db, logger); err != nil {
		return err
	}
	windows, throttled := signInWindows(cfg.Limits), a.newThrottle(min(cfg.Limits.MaxAddresses, maxThrottled))
	limits, err := customer.NewLimits(windows, throttled)
	if err != nil {
		return err
	}
	if a.strangers, err = throttled(windows.Recipient); err != nil {
		return err
	}
	a.customers, err = customer.New(customer.Config{
		Store: a.db, Seal: a.keys.Seal(), Origins: customer.PasskeyOrigins(cfg.BaseURL), Limits: limits, Logger: logger,
		Deriver: hashes, LettersWaiting: a.post.wake, Extension: catalogue.Extension,
	})
	if err != nil {
		return err
	}
	if a.apps, err = a.newApplications(cfg, logger); err != nil {
		return err
	}
	if a.access, err = access.New(access.Config{Store: a.db, Log: logger, Applications: a.apps}); err != nil {
		return err
	}
	if a.holdings, err = holding.New(holding.Config{Store: a.db, Now: now}); err != nil {
		return err
	}
	a.background = append(a.background, a.access.Run, a.apps.Run, a.customers.Run, a.post.run)
	return a.buildAgents(cfg.BaseURL, logger)
}

// buildAgents makes what agents are known by. They go by the true time.
func (a *accounts) buildAgents(baseURL string, logger *slog.Logger) error {
	base, err := url.Parse(baseURL)
	if err != nil {
		return err
	}
	if a.agents, err = agent.New(agent.Config{
		Store: a.db, Seal: a.keys.Seal(), Loopback: isLoopback(base.Hostname()), LettersWaiting: a.post.wake, Log: logger,
	}); err != nil {
		return err
	}
	if a.answers, err = idempotency.New(idempotency.Config{Store: a.db, Seal: a.keys.Seal(), Log: logger}); err != nil {
		return err
	}
	a.background = append(a.background, a.agents.Run, a.answers.Run)
	return nil
}

// newApplications is what connects applications to accounts.
func (a *accounts) newApplications(cfg config.Config, logger *slog.Logger) (*access.Applications, error) {
	refreshes, err := quota.New(quota.Config{
		Windows: []quota.Window{
			{Limit: cfg.Limits.RefreshPerMinute, Per: time.Minute}, {Limit: cfg.Limits.RefreshPerHour, Per: time.Hour},
		},
		MaxKeys: cfg.Limits.MaxAddresses,
	})
	if err != nil {
		return nil, err
	}
	a.background = append(a.background, func(ctx context.Context) { refreshes.Run(ctx, sweepLimitsEvery) })
	settings := access.ApplicationsConfig{
		Store: a.db, Resource: strings.TrimSuffix(cfg.BaseURL, "/") + mcp.Path, Leeway: time.Duration(cfg.OAuth.RefreshLeeway), Log: logger,
		Pace: func(grant string) (time.Duration, bool) {
			decision := refreshes.Allow(quota.TextKey(grant))
			return decision.RetryAfter, decision.Allowed
		},
	}
	if cfg.FetchesDocuments() {
		settings.Documents = clientdoc.New("dotkontor/" + version)
	}
	return access.NewApplications(settings)
}

func (a *accounts) close() error { return a.db.Close() }

// signInWindows are the sizes of the budgets of sign-ins; their spans are fixed.
func signInWindows(limits config.Limits) customer.Windows {
	windows := customer.DefaultWindows()
	windows.Address.Count = limits.SignInPerAddress
	windows.AccountAddress.Count = limits.SignInPerPair
	windows.Account.Count = limits.SignInPerAccount
	windows.Device.Count = limits.SignInPerDevice
	windows.Codes.Count = limits.CodesPerAccount
	windows.CodesLong.Count = limits.CodesPer10Hours
	windows.Recipient.Count = limits.LettersPerRecipient
	windows.Sender.Count = limits.LettersPerAddress
	windows.Passkeys.Count = limits.PasskeysPerAddress
	return windows
}

// throttle is a limiter whose keys are texts.
type throttle struct{ limiter *quota.Limiter }

func (t throttle) Peek(key string) time.Duration {
	return t.limiter.Peek(quota.TextKey(key)).RetryAfter
}

func (t throttle) Count(key string) time.Duration {
	return t.limiter.Allow(quota.TextKey(key)).RetryAfter
}

// newThrottle makes budgets that forget in the background.
func (a *accounts) newThrottle(maxKeys int) func(customer.Window) (customer.Limiter, error) {
	return func(window customer.Window) (customer.Limiter, error) {
		limiter, err := quota.New(quota.Config{
			Windows: []quota.Window{{Limit: window.Count, Per: window.Per}}, MaxKeys: maxKeys,
		})
		if err != nil {
			return nil, err
		}
		a.background = append(a.background, func(ctx context.Context) { limiter.Run(ctx, sweepLimitsEvery) })
		return throttle{limiter}, nil
	}
}
