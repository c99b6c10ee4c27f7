package domainchange

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/ttlcache"
)

const (
	defaultDeadline = 60 * time.Second
	// defaultRequestTimeout is how long whoever asks for a change waits for the registry;
	// afterwards the loop goes on with it.
	defaultRequestTimeout = 8 * time.Second
	// recordMaxAge is how long what a registry told is shown without asking again, and
	// lookFor how long a page waits for it.
	recordMaxAge       = time.Minute
	recordFetchTimeout = 2 * time.Second
	// recordRetryDelay is how long pages do not ask a registry again that has failed, and
	// maxLooks bounds the domains for which that is remembered.
	recordRetryDelay = 5 * time.Second
	maxCachedRecords = 10_000

	pollInterval = time.Second
	storeTimeout = 10 * time.Second

	minBackoff     = time.Second
	maxBackoff     = 10 * time.Minute
	minPendingPoll = 3 * time.Second
	maxPendingPoll = time.Hour

	// maxChanges is how many changes of a domain may be asked for within changesWithin:
	// each is a command at the registry, a letter and a row for ever.
	maxChanges   = 40
	changeWindow = time.Hour

	// maxShownChanges and shownDeeds bound a domain's history.
	maxShownChanges, maxShownAuditEvents = 50, 50
)

// NamedRegistry is one registry account and what it serves.
type NamedRegistry struct {
	Name     string
	Serves   func(tld string) bool
	Registry Registry
}

// Config is what a Service is made of. Store, Seal and Node are required.
type Config struct {
	Store      Store
	Registries []NamedRegistry
	// Seal closes auth codes.
	Seal *registrar.Seal
	// Node names this process in leases; it is the same after a restart.
	Node string
	// RateLimit is called before a page asks a registry about a domain, and says how long
	// to wait instead; nil admits every one.
	RateLimit func(actor registrar.Actor) (wait time.Duration)
	// CheckRestrictions is asked before a change is written and before it is sent: its code is why a dispute or a
	// court forbids it, empty if nothing does. nil means that nothing ever does.
	CheckRestrictions func(ctx context.Context, domain Domain, kind ChangeKind) (registrar.Code, error)
	// CheckEligibility is asked whether the extension admits a registrant of the customer, before
	// a change of the holder is written and again with the very data that are sent. nil
	// means that every extension admits everybody.
	CheckEligibility func(ctx context.Context, customer, tld string, registrant registrar.Registrant) error
	// Deadline bounds the work on one change, 0 means a minute; Patience how long
	// whoever asks waits for it, 0 means 8 seconds.
	Deadline, RequestTimeout time.Duration
	// Now is the time of the business; Clock is the true one, which leases, pauses
	// and sign-ins go by. nil means time.Now.
	Now, Clock func() time.Time
	// MailQueued is told that a letter was stored, Ended how a change ended.
	MailQueued    func()
	OnChangeEnded func(kind ChangeKind, state ChangeStatus)
	// RecordError is told which change has to wait, and why; nil means that nobody asks.
	RecordError func(ctx context.Context, change string, code registrar.Code)
	Logger      *slog.Logger
}

// Service is safe for concurrent use.
type Service struct {
	cfg  Config
	loop *jobs.Loop[Change]
	// records has pages share one question about a domain, and keeps them from asking
	// a registry again that has just failed.
	records *ttlcache.Cache[string, Record]
}

// New returns a Service. Changes that nobody waits for are carried out by Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Seal == nil || cfg.Node == "" {
		return nil, errors.New("steward: a store, a seal and the node's name are needed")
	}
	if cfg.Deadline == 0 {
		cfg.Deadline = defaultDeadline
	}
	if cfg.RequestTimeout == 0 {
		cfg.RequestTimeout = defaultRequestTimeout
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.RateLimit == nil {
		cfg.RateLimit = func(registrar.Actor) time.Duration { return 0 }
	}
	if cfg.CheckRestrictions == nil {
		cfg.CheckRestrictions = func(context.Context, Domain, ChangeKind) (registrar.Code, error) { return "", nil }
	}
	if cfg.CheckEligibility == nil {
		cfg.CheckEligibility = func(context.Context, string, string, registrar.Registrant) error { return nil }
	}
	if cfg.MailQueued == nil {
		cfg.MailQueued = func() {}
	}
	if cfg.OnChangeEnded == nil {
		cfg.OnChangeEnded = func(ChangeKind, ChangeStatus) {}
	}
	if cfg.RecordError == nil {
		cfg.RecordError = func(context.Context, string, registrar.Code) {}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Service{cfg: cfg, records: ttlcache.New[string, Record](ttlcache.Config{TTL: recordRetryDelay, MaxEntries: maxCachedRecords, Now: cfg.Clock})}
	s.loop = &jobs.Loop[Change]{
		ListDue: func(ctx context.Context, limit int) ([]Change, error) {
			return cfg.Store.ListDueDomainChanges(ctx, s.realTime(), limit)
		},
		Key: func(change Change) string { return change.ID }, Do: s.resumeChange,
		OnError:  jobs.ErrorLogger(cfg.Logger, "domain changes"),
		Interval: pollInterval, BatchSize: 32, Concurrency: 8,
	}
	return s, nil
}

// realTime is the true time in the precision in which it is stored.
func (s *Service) realTime() time.Time { return s.cfg.Clock().Truncate(time.Microsecond) }

// Run carries out what is left open until ctx ends. It also runs where no registry is
// left: somebody has to find out that changes wait for one.
func (s *Service) Run(ctx context.Context) { s.loop.Run(ctx) }

// registryFor is the account that has a domain: the one that registered it, or, where
// nobody knows, the one that serves its extension.
func (s *Service) registryFor(account, tld string) (NamedRegistry, bool) {
	for _, registry := range s.cfg.Registries {
		if account != "" && registry.Name == account || account == "" && registry.Serves(tld) {
			return registry, true
		}
	}
	return NamedRegistry{}, false
}
