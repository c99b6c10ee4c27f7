package provision

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/ttlcache"
)

const (
	defaultConcurrency = 16
	automaticShare     = 4 // of the concurrency, for automatic renewals in addition
	// automaticPerSecond lets a night of 100,000 renewals take half an hour instead of all cores.
	automaticPerSecond  = 50
	defaultDeadline     = 60 * time.Second
	defaultPollInterval = time.Minute
	pollInterval        = time.Second    // for rows stored by other nodes
	syncInterval        = 24 * time.Hour // of a domain without a message
)

// NamedAccount is one registry account and the TLDs it serves.
type NamedAccount struct {
	Name         string
	Serves       func(tld string) bool // whether it executes items of a TLD
	PollInterval time.Duration         // of poll messages; 0 means every minute
	Account      Account
}

// Accounts are all registry accounts. The first one that serves a TLD executes its items.
type Accounts []NamedAccount

func (a Accounts) forTLD(tld string) (NamedAccount, bool) {
	for _, account := range a {
		if account.Serves(tld) {
			return account, true
		}
	}
	return NamedAccount{}, false
}

// CheckSupported returns why no name of an extension can be registered or transferred
// through these accounts; nil if some can. It queries no registry.
func (a Accounts) CheckSupported(kind Kind, extension registrar.Extension) error {
	account, served := a.forTLD(extension.TLD)
	if !served {
		return &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.NoRegistryAccount}
	}
	years := term(kind, extension, account.Account.Rules(extension.TLD))
	return account.Account.CheckSupported(kind, extension.TLD, extension.Requires, years)
}

// LocksTransfers reports whether a new domain of the TLD is locked against transfers.
func (a Accounts) LocksTransfers(tld string) bool {
	account, served := a.forTLD(tld)
	return served && account.Account.Rules(tld).TransferLock
}

// TransferTerms returns how many years a transfer adds to the term of a domain, and how many
// days it may take.
func (a Accounts) TransferTerms(tld string) (years, days int) {
	account, served := a.forTLD(tld)
	if !served {
		return 0, 0
	}
	rules := account.Account.Rules(tld)
	return rules.TransferYears, rules.TransferDays
}

// LongestTerm returns the most years for which a name of an extension can be registered.
func (a Accounts) LongestTerm(extension registrar.Extension) int {
	account, served := a.forTLD(extension.TLD)
	if !served {
		return extension.Term()
	}
	return longestTerm(extension, account.Account.Rules(extension.TLD))
}

// Config configures a Service. Store, Domains, Seal and Node are required.
type Config struct {
	Store       Store
	Domains     Domains
	Accounts    Accounts
	Seal        *registrar.Seal // encrypts auth codes
	Node        string          // names this process in leases; it must be stable across restarts
	Nameservers []string        // those of new domains
	Concurrency int             // items processed at a time; 0 means 16
	Deadline    time.Duration   // of one call to a registry; 0 means a minute
	// Costs prices what registries charge; nil knows what they report in euros only.
	Costs *cost.Prices
	// CacheTTL is how long pages show a registry's answer without a new query; 0 means
	// 10 s. MaxCached bounds the cached answers; 0 means 20,000.
	CacheTTL  time.Duration
	MaxCached int
	// Now is the business time, used for dates; Clock is the real time, used for leases
	// and delays. nil means time.Now.
	Now, Clock func() time.Time
	Logger     *slog.Logger
	// Metric hooks, all optional. OnMessage is called per acknowledged poll message.
	OnItemEnded func(kind Kind, state State)
	// OnLockStored is called when a domain change that locks a new domain is due; optional.
	OnLockStored func()
	OnRetry      func(code registrar.Code)
	OnDrift      func(what Drift)
	OnMessage    func(account string)
	RecordError  func(ctx context.Context, item string, code registrar.Code) // why an item was postponed
}

// Service provisions paid items. It is safe for concurrent use.
type Service struct {
	cfg   Config
	items *jobs.Worker[Item]
	// automatic works on items of automatic renewals.
	automatic *jobs.Worker[Item]
	domains   *jobs.Loop[Domain]
	// knownHosts has the accounts whose host objects exist: only the first item creates them.
	knownHosts sync.Map
	// availability caches registry answers for display.
	availability *ttlcache.Cache[availabilityKey, verdict]
}

// New returns a Service. It does nothing until Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Domains == nil || cfg.Seal == nil || cfg.Node == "" {
		return nil, errors.New("provision: Config.Store, Domains, Seal and Node are required")
	}
	cfg.Deadline, cfg.Logger = cmp.Or(cfg.Deadline, defaultDeadline), cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.Clock, time.Now)
	registrar.Default(&cfg.OnItemEnded, func(Kind, State) {})
	registrar.Default(&cfg.OnLockStored, func() {})
	registrar.Default(&cfg.OnRetry, func(registrar.Code) {})
	registrar.Default(&cfg.OnDrift, func(Drift) {})
	registrar.Default(&cfg.OnMessage, func(string) {})
	s := &Service{cfg: cfg, availability: ttlcache.New[availabilityKey, verdict](ttlcache.Config{
		TTL: cmp.Or(cfg.CacheTTL, defaultCacheTTL), StaleTTL: staleTTL, MaxEntries: cmp.Or(cfg.MaxCached, defaultMaxCached), Now: cfg.Clock,
	})}
	concurrency := cmp.Or(cfg.Concurrency, defaultConcurrency)
	s.items = s.newWorker("order items", false, concurrency)
	s.automatic = s.newWorker("automatic renewals", true, max(1, concurrency/automaticShare))
	s.automatic.Pace = jobs.NewPace(automaticPerSecond)
	s.domains = &jobs.Loop[Domain]{
		Name: "domains",
		ListDue: func(ctx context.Context, limit int) ([]Domain, error) {
			return cfg.Domains.ListDueDomains(ctx, s.items.Now(), limit)
		},
		Key: func(domain Domain) string { return domain.ID }, Do: s.syncDue,
		OnError:  jobs.ErrorLogger(cfg.Logger, "domains"),
		Interval: pollInterval, BatchSize: 16, Concurrency: 4,
	}
	return s, nil
}

func (s *Service) newWorker(name string, automatic bool, concurrency int) *jobs.Worker[Item] {
	return &jobs.Worker[Item]{
		Name: name, Logger: s.cfg.Logger, Clock: s.cfg.Clock,
		ListDue: func(ctx context.Context, now time.Time, limit int) ([]Item, error) {
			return s.cfg.Store.ListDueProvisionItems(ctx, automatic, now, limit)
		},
		Key: func(item Item) string { return item.ID }, Attempts: func(item Item) int { return item.Attempts },
		Handle: s.handleItem, Postpone: s.postpone, OnRetry: s.onRetry, RecordError: s.cfg.RecordError,
		Deadline: s.cfg.Deadline, MinBackoff: minBackoff, MaxBackoff: maxBackoff, Concurrency: concurrency,
	}
}

// Wake makes Run look for stored items. It never blocks.
func (s *Service) Wake() {
	s.items.Wake()
	s.automatic.Wake()
}

// ItemsPaid makes Run look for stored items, either of automatic renewals or of other orders.
// It never blocks.
func (s *Service) ItemsPaid(automatic bool) {
	if automatic {
		s.automatic.Wake()
	} else {
		s.items.Wake()
	}
}

// Run provisions items and synchronises with the registries until ctx ends.
func (s *Service) Run(ctx context.Context) {
	if len(s.cfg.Accounts) == 0 {
		return // no registry is configured; items stay due
	}
	var all sync.WaitGroup
	all.Go(func() { s.items.Run(ctx) })
	all.Go(func() { s.automatic.Run(ctx) })
	all.Go(func() { s.domains.Run(ctx) })
	for _, account := range s.cfg.Accounts {
		all.Go(func() {
			jobs.Supervise(ctx, jobs.ErrorLogger(s.cfg.Logger, "registry messages"), func(ctx context.Context) { s.pollMessages(ctx, account) })
		})
	}
	all.Wait()
}

// accountByName returns the named account, nil if it is no longer configured.
func (s *Service) accountByName(name string) Account {
	for _, account := range s.cfg.Accounts {
		if account.Name == name {
			return account.Account
		}
	}
	return nil
}
