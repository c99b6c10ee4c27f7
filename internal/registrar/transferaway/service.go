package transferaway

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	defaultDeadline       = 60 * time.Second
	defaultRequestTimeout = 8 * time.Second
	concurrency           = 4
	minBackoff            = time.Second
	maxBackoff            = 10 * time.Minute
	// pollInterval is how often a pending transfer is queried; a message makes it due at once.
	pollInterval = time.Hour
	// lagDelay is how long to wait for a registry whose answers contradict each other.
	lagDelay = time.Minute
	// maxUnnotified is after how many attempts, about an hour, the registrant is notified
	// without what only the registry knows.
	maxUnnotified = 14

	pageSize      = 50
	maxOpenListed = 1000
	maxOfDomain   = 20
	maxStatement  = 500
)

// NamedRegistry is one registry account and the TLDs it serves.
type NamedRegistry struct {
	Name     string
	Serves   func(tld string) bool
	Registry Registry
}

// Config configures a Service. Store and Node are required.
type Config struct {
	Store      Store
	Registries []NamedRegistry
	Node       string // names this process in leases; it must be stable across restarts
	// HoldsDomain reports whether a domain belongs, or belonged, to a customer.
	HoldsDomain func(ctx context.Context, customer, domain string) (bool, error)
	// Forbids reports whether a dispute or a court order forbids that the domain leaves. nil
	// means that nothing does.
	Forbids func(ctx context.Context, domain string) (bool, error)
	// Deadline bounds the work on one transfer, 0 means a minute; RequestTimeout how long a
	// request waits for it, 0 means 8 seconds.
	Deadline, RequestTimeout time.Duration
	// Now is the business time; Clock is the real time, used for leases, delays and sign-ins.
	// nil means time.Now.
	Now, Clock func() time.Time
	// MailQueued is called after a mail was stored, OnEnded when a transfer ends.
	MailQueued func()
	OnEnded    func(state State)
	Logger     *slog.Logger
}

// Service follows outgoing transfers. It is safe for concurrent use.
type Service struct {
	cfg    Config
	worker *jobs.Worker[Transfer]
}

// New returns a Service. Run follows the transfers.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Node == "" || cfg.HoldsDomain == nil {
		return nil, errors.New("transferaway: Config.Store, Node and HoldsDomain are required")
	}
	cfg.RequestTimeout, cfg.Logger = cmp.Or(cfg.RequestTimeout, defaultRequestTimeout), cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.Clock, time.Now)
	registrar.Default(&cfg.MailQueued, func() {})
	registrar.Default(&cfg.OnEnded, func(State) {})
	registrar.Default(&cfg.Forbids, func(context.Context, string) (bool, error) { return false, nil })
	s := &Service{cfg: cfg}
	s.worker = &jobs.Worker[Transfer]{
		Name: "outgoing transfers", Logger: cfg.Logger, Clock: cfg.Clock, ClaimDue: cfg.Store.ClaimDueOutgoingTransfers,
		Key: func(t Transfer) string { return t.ID }, Attempts: func(t Transfer) int { return t.Attempts },
		Handle: func(ctx context.Context, t Transfer) (Transfer, error) {
			call, cancel := s.worker.CallContext(ctx)
			defer cancel()
			return s.execute(call, t)
		},
		Postpone: s.postpone, OnRetry: s.onRetry,
		Deadline: cmp.Or(cfg.Deadline, defaultDeadline), MinBackoff: minBackoff, MaxBackoff: maxBackoff, Concurrency: concurrency,
	}
	return s, nil
}

// Run follows open transfers until ctx ends.
func (s *Service) Run(ctx context.Context) { s.worker.Run(ctx) }

// Wake makes Run look for stored transfers. It never blocks. A nil Service ignores it.
func (s *Service) Wake() {
	if s != nil {
		s.worker.Wake()
	}
}

// registryOf returns the sponsoring account or, if the domain has none, the one that serves
// its TLD.
func (s *Service) registryOf(t Transfer) (Registry, bool) {
	for _, registry := range s.cfg.Registries {
		if t.Account != "" && registry.Name == t.Account || t.Account == "" && registry.Serves(t.TLD) {
			return registry.Registry, true
		}
	}
	return nil, false
}

// rulesOf returns what the registry lets us do; nothing if its account is gone.
func (s *Service) rulesOf(t Transfer) Rules {
	registry, served := s.registryOf(t)
	if !served {
		return Rules{}
	}
	return registry.OutgoingRules(t.TLD)
}

func (s *Service) postpone(ctx context.Context, t Transfer, due time.Time) {
	next := t
	next.DueAt, next.Node = due, ""
	s.apply(ctx, Transition{From: t, To: next}) // otherwise the lease expires by itself
}

func (s *Service) onRetry(ctx context.Context, log *slog.Logger, t Transfer, err error) {
	log = log.With("transfer", t.ID, "state", string(t.State), "extension", t.TLD, "account", t.Account)
	if registrar.KindOf(err) == registrar.KindInternal {
		log.ErrorContext(ctx, "outgoing transfer blocked, operator action required")
	} else {
		log.WarnContext(ctx, "outgoing transfer waiting for the registry")
	}
}

// apply stores a step and reports whether this node still has the lease.
func (s *Service) apply(ctx context.Context, transition Transition) (Transfer, bool) {
	storeCtx, cancel := s.worker.StoreContext(ctx)
	defer cancel()
	transition.To.UpdatedAt, transition.At = s.cfg.Now().Truncate(time.Microsecond), s.worker.Now()
	updated, err := s.cfg.Store.UpdateOutgoingTransfer(storeCtx, transition)
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "outgoing transfer not stored", "transfer", transition.From.ID, "state", string(transition.To.State), "error", err.Error())
	}
	if err != nil || !updated {
		return transition.From, false
	}
	if transition.Mail != nil {
		s.cfg.MailQueued()
	}
	return transition.To, true
}
