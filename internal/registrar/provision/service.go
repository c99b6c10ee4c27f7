package provision

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/ttlcache"
)

const (
	defaultConcurrency  = 16
	defaultDeadline     = 60 * time.Second
	defaultPollInterval = time.Minute

	// pollInterval is how often lines are looked for that others stored or left.
	pollInterval = time.Second
	// storeTimeout bounds what follows a call, also while the service stops.
	storeTimeout = 10 * time.Second

	minBackoff = time.Second
	maxBackoff = 10 * time.Minute
	// A pending request is asked about more and more rarely; a message of the
	// registry makes it due at once.
	minPendingPoll = 3 * time.Second
	maxPendingPoll = time.Hour
	// syncInterval is how often a domain is looked at though no message came.
	syncInterval = 24 * time.Hour
)

// NamedAccount is one registry account and what it serves.
type NamedAccount struct {
	Name string
	// Serves says whether it carries out lines of an extension.
	Serves func(tld string) bool
	// PollInterval is how often its messages are fetched; 0 means every minute.
	PollInterval time.Duration
	Account      Account
}

// Accounts are all registry accounts. The first one that serves an extension carries
// out its lines.
type Accounts []NamedAccount

func (a Accounts) forTLD(tld string) (NamedAccount, bool) {
	for _, account := range a {
		if account.Serves(tld) {
			return account, true
		}
	}
	return NamedAccount{}, false
}

// CheckSupported says why names of an extension can't be registered or transferred through
// these accounts, whatever the name; nil if they can. No registry is asked.
func (a Accounts) CheckSupported(kind Kind, extension registrar.Extension) error {
	account, served := a.forTLD(extension.TLD)
	if !served {
		return &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.NoRegistryAccount}
	}
	years := term(kind, extension, account.Account.Rules(extension.TLD))
	return account.Account.CheckSupported(kind, extension.TLD, extension.Requires, years)
}

// Config is what a Service is made of. Store, Domains, Seal and Node are required.
type Config struct {
	Store    Store
	Domains  Domains
	Accounts Accounts
	// Seal closes auth codes.
	Seal *registrar.Seal
	// Node names this process in leases; it is the same after a restart.
	Node string
	// Nameservers are those of new domains.
	Nameservers []string
	// Concurrency bounds the lines that are worked on at a time; 0 means 16.
	Concurrency int
	// Deadline bounds one call to a registry; 0 means a minute.
	Deadline time.Duration
	// CacheTTL is how long pages show what a registry has answered without asking it
	// again; 0 means 10 s. MaxReused bounds those answers; 0 means 20,000.
	CacheTTL  time.Duration
	MaxCached int
	// Now is the time of the business, which dates go by; Clock is the true one,
	// which leases and pauses go by. nil means time.Now.
	Now, Clock func() time.Time
	Logger     *slog.Logger
	// OnItemEnded is told how a line ended, Waiting why one has to wait, Drifted what
	// differs between us and a registry, Heard that a message was taken; nil means
	// that nobody counts.
	OnItemEnded func(kind Kind, state State)
	OnRetry     func(code registrar.Code)
	OnDrift     func(what Drift)
	OnMessage   func(account string)
	// RecordError is told which line has to wait, and why; nil means that nobody asks.
	RecordError func(ctx context.Context, item string, code registrar.Code)
}

// Service takes orders of paid lines and carries them out. It is safe for
// concurrent use.
type Service struct {
	cfg        Config
	itemLoop   *jobs.Loop[Item]
	domainLoop *jobs.Loop[Domain]
	// knownHosts remembers which nameserver objects exist at which account, so that
	// only the first line asks for them.
	knownHosts sync.Map
	// availability is what registries answered lately, for pages.
	availability *ttlcache.Cache[availabilityKey, error]
}

// New returns a Service. It does nothing by itself until Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Domains == nil || cfg.Seal == nil || cfg.Node == "" {
		return nil, errors.New("provision: a store, a seal and the node's name are needed")
	}
	if cfg.Concurrency == 0 {
		cfg.Concurrency = defaultConcurrency
	}
	if cfg.Deadline == 0 {
		cfg.Deadline = defaultDeadline
	}
	if cfg.CacheTTL == 0 {
		cfg.CacheTTL = defaultCacheTTL
	}
	if cfg.MaxCached == 0 {
		cfg.MaxCached = defaultMaxCached
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.OnItemEnded == nil {
		cfg.OnItemEnded = func(Kind, State) {}
	}
	if cfg.OnRetry == nil {
		cfg.OnRetry = func(registrar.Code) {}
	}
	if cfg.RecordError == nil {
		cfg.RecordError = func(context.Context, string, registrar.Code) {}
	}
	if cfg.OnDrift == nil {
		cfg.OnDrift = func(Drift) {}
	}
	if cfg.OnMessage == nil {
		cfg.OnMessage = func(string) {}
	}
	s := &Service{cfg: cfg, availability: ttlcache.New[availabilityKey, error](ttlcache.Config{
		TTL: cfg.CacheTTL, StaleTTL: staleTTL, MaxEntries: cfg.MaxCached, Now: cfg.Clock,
	})}
	s.itemLoop = &jobs.Loop[Item]{
		ListDue: func(ctx context.Context, limit int) ([]Item, error) {
			return cfg.Store.ListDueProvisionItems(ctx, s.clock(), limit)
		},
		Key: func(item Item) string { return item.ID }, Do: s.process,
		OnError:  jobs.ErrorLogger(cfg.Logger, "paid lines"),
		Interval: pollInterval, BatchSize: 4 * cfg.Concurrency, Concurrency: cfg.Concurrency,
	}
	s.domainLoop = &jobs.Loop[Domain]{
		ListDue: func(ctx context.Context, limit int) ([]Domain, error) {
			return cfg.Domains.ListDueDomains(ctx, s.clock(), limit)
		},
		Key: func(domain Domain) string { return domain.ID }, Do: s.syncDue,
		OnError:  jobs.ErrorLogger(cfg.Logger, "domains"),
		Interval: pollInterval, BatchSize: 16, Concurrency: 4,
	}
	return s, nil
}

// clock is the true time in the precision in which it is stored, so that it can
// be compared with what comes back.
func (s *Service) clock() time.Time { return s.cfg.Clock().Truncate(time.Microsecond) }

// Wake says that lines were stored. It never waits.
func (s *Service) Wake() { s.itemLoop.Wake() }

// Run carries out what is paid for and follows the registries until ctx ends.
func (s *Service) Run(ctx context.Context) {
	if len(s.cfg.Accounts) == 0 {
		return // there is nobody to talk to, and the lines wait
	}
	var all sync.WaitGroup
	all.Go(func() { s.itemLoop.Run(ctx) })
	all.Go(func() { s.domainLoop.Run(ctx) })
	for _, account := range s.cfg.Accounts {
		all.Go(func() {
			jobs.Supervise(ctx, jobs.ErrorLogger(s.cfg.Logger, "registry messages"), func(ctx context.Context) { s.pollMessages(ctx, account) })
		})
	}
	all.Wait()
}

// accountForTLD is the account that carries out an extension's lines.
func (s *Service) accountForTLD(tld string) (NamedAccount, bool) { return s.cfg.Accounts.forTLD(tld) }

// accountByName is the account of a name, nil if it is not configured any more.
func (s *Service) accountByName(name string) Account {
	for _, account := range s.cfg.Accounts {
		if account.Name == name {
			return account.Account
		}
	}
	return nil
}
