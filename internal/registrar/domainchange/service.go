package domainchange

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/ttlcache"
)

const (
	defaultDeadline       = 60 * time.Second
	defaultRequestTimeout = 8 * time.Second
	// recordMaxAge is how long a registry record is shown without a new query, and
	// recordFetchTimeout how long a page waits for one.
	recordMaxAge       = time.Minute
	recordFetchTimeout = 2 * time.Second
	// recordRetryDelay is how long pages do not query a registry again after a failure;
	// maxCachedRecords bounds the domains for which that is remembered.
	recordRetryDelay = 5 * time.Second
	maxCachedRecords = 10_000

	concurrency = 8

	minBackoff     = time.Second
	maxBackoff     = 10 * time.Minute
	minPendingPoll = 3 * time.Second
	maxPendingPoll = time.Hour

	// maxChanges is how many changes of a domain are allowed within changeWindow: each is
	// a registry command, a mail and a permanent row.
	maxChanges   = 40
	changeWindow = time.Hour

	maxShownChanges, maxShownAuditEvents = 50, 50
)

// NamedRegistry is one registry account and the TLDs it serves.
type NamedRegistry struct {
	Name     string
	Serves   func(tld string) bool
	Registry Registry
}

// Config configures a Service. Store, Seal and Node are required.
type Config struct {
	Store      Store
	Registries []NamedRegistry
	Seal       *registrar.Seal // encrypts auth codes
	Node       string          // names this process in leases; it must be stable across restarts
	// RateLimit is called before a page queries a registry and returns how long to wait
	// instead; nil admits every query.
	RateLimit func(actor registrar.Actor) (wait time.Duration)
	// CheckRestrictions is called before a change is stored and before it is sent. It
	// returns the code of the dispute or court order that forbids it, empty if none does.
	// nil means no restrictions.
	CheckRestrictions func(ctx context.Context, domain Domain, kind ChangeKind) (registrar.Code, error)
	// HeldOtherwise reports whether a domain has to stay on hold although the hold for a reference
	// ends. nil means never.
	HeldOtherwise func(ctx context.Context, domain, reference string) (bool, error)
	// Holder returns the registrant data of a customer's holder; an empty id means the customer.
	// nil means that changes of the holder fail.
	Holder func(ctx context.Context, customer, id string) (registrar.Registrant, error)
	// CheckEligibility reports whether the TLD admits a registrant of the customer. It is
	// called before a registrant change is stored and again with the data that is sent.
	// nil admits everyone.
	CheckEligibility func(ctx context.Context, customer, tld string, registrant registrar.Registrant) error
	// Sync compares the domain of a name with its registry and stores the status that it finds;
	// it is called when another registrar sponsors the domain. nil does nothing.
	Sync func(ctx context.Context, name string) error
	// Deadline bounds the work on one change, 0 means a minute; RequestTimeout how long a
	// request waits for it, 0 means 8 seconds.
	Deadline, RequestTimeout time.Duration
	// Now is the business time; Clock is the real time, used for leases, delays and
	// sign-ins. nil means time.Now.
	Now, Clock func() time.Time
	// MailQueued is called after a mail was stored, OnChangeEnded when a change ends.
	MailQueued    func()
	OnChangeEnded func(kind ChangeKind, state ChangeStatus)
	RecordError   func(ctx context.Context, change string, code registrar.Code) // why a change was postponed
	Logger        *slog.Logger
}

// Service manages domain changes. It is safe for concurrent use.
type Service struct {
	cfg    Config
	worker *jobs.Worker[Change]
	// records lets pages share one query about a domain, and prevents new queries right
	// after a failure.
	records *ttlcache.Cache[string, Record]
}

// New returns a Service. Run continues changes that no request waits for.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Seal == nil || cfg.Node == "" {
		return nil, errors.New("domainchange: Config.Store, Seal and Node are required")
	}
	cfg.RequestTimeout, cfg.Logger = cmp.Or(cfg.RequestTimeout, defaultRequestTimeout), cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.Clock, time.Now)
	registrar.Default(&cfg.RateLimit, func(registrar.Actor) time.Duration { return 0 })
	registrar.Default(&cfg.CheckRestrictions, func(context.Context, Domain, ChangeKind) (registrar.Code, error) { return "", nil })
	registrar.Default(&cfg.HeldOtherwise, func(context.Context, string, string) (bool, error) { return false, nil })
	registrar.Default(&cfg.CheckEligibility, func(context.Context, string, string, registrar.Registrant) error { return nil })
	registrar.Default(&cfg.Holder, func(context.Context, string, string) (registrar.Registrant, error) {
		return registrar.Registrant{}, registrar.NotFound(holder.NoSuchHolder)
	})
	registrar.Default(&cfg.Sync, func(context.Context, string) error { return nil })
	registrar.Default(&cfg.MailQueued, func() {})
	registrar.Default(&cfg.OnChangeEnded, func(ChangeKind, ChangeStatus) {})
	s := &Service{
		cfg:     cfg,
		records: ttlcache.New[string, Record](ttlcache.Config{TTL: recordRetryDelay, MaxEntries: maxCachedRecords, Now: cfg.Clock}),
	}
	s.worker = &jobs.Worker[Change]{
		Name: "domain changes", Logger: cfg.Logger, Clock: cfg.Clock,
		ClaimDue: func(ctx context.Context, now, leaseEnd time.Time, limit int) ([]Change, error) {
			return cfg.Store.ClaimDueDomainChanges(ctx, now, cfg.Now(), leaseEnd, limit)
		},
		Key: func(change Change) string { return change.ID }, Attempts: func(change Change) int { return change.Attempts },
		Handle: s.resume, Postpone: s.postpone, OnRetry: s.onRetry, RecordError: cfg.RecordError,
		Deadline: cmp.Or(cfg.Deadline, defaultDeadline), MinBackoff: minBackoff, MaxBackoff: maxBackoff, Concurrency: concurrency,
	}
	return s, nil
}

// Run executes open changes until ctx ends. It also runs without any registry, so that
// blocked changes are reported.
func (s *Service) Run(ctx context.Context) { s.worker.Run(ctx) }

// Wake makes Run look for stored changes. It never blocks.
func (s *Service) Wake() { s.worker.Wake() }

// HasTransferLock reports whether domains of the TLD can be locked against transfers.
func (s *Service) HasTransferLock(tld string) bool {
	registry, served := s.registryFor("", tld)
	return served && registry.Registry.Capabilities(tld).Lock
}

// LacksTransferLock reports whether the registry of the TLD has no transfer lock. It is false if no
// account serves the TLD.
func (s *Service) LacksTransferLock(tld string) bool {
	registry, served := s.registryFor("", tld)
	return served && !registry.Registry.Capabilities(tld).Lock
}

// LacksHold reports whether the registry of the TLD does not let us take a domain out of the DNS. It
// is false if no account serves the TLD.
func (s *Service) LacksHold(tld string) bool {
	registry, served := s.registryFor("", tld)
	return served && registry.Registry.Capabilities(tld).NoHold
}

// registryFor returns the domain's sponsoring account or, if it has none, the one that
// serves its TLD.
func (s *Service) registryFor(account, tld string) (NamedRegistry, bool) {
	for _, registry := range s.cfg.Registries {
		if account != "" && registry.Name == account || account == "" && registry.Serves(tld) {
			return registry, true
		}
	}
	return NamedRegistry{}, false
}
