package lifecycle

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
)

const (
	day = 24 * time.Hour
	// pollInterval is short because the queries are indexed and a sandbox's clock moves by
	// hours at a time.
	pollInterval    = 5 * time.Second
	batch           = 64
	concurrency     = 2
	storeTimeout    = 10 * time.Second
	defaultDeadline = 60 * time.Second

	termConcurrency = 8
	minBackoff      = time.Second
	maxBackoff      = 10 * time.Minute
)

// Config configures a Service. Store, Brake and Node are required.
type Config struct {
	Store      Store
	Brake      *Brake
	Registries []NamedRegistry
	Node       string        // names this process in leases; it must be stable across restarts
	Deadline   time.Duration // of one call to a registry; 0 means a minute
	// RestorePrice returns the gross price of restoring the domain of a term; 0 if only the
	// registry knows it, false if it can't be restored here. nil: never.
	RestorePrice func(ctx context.Context, term Term, now time.Time) (gross registrar.Cents, restorable bool)
	// RenewalPrice returns what a domain's next term costs; Gross is 0 if that is unknown. nil: it
	// always is.
	RenewalPrice func(ctx context.Context, domain Domain, now time.Time) RenewalPrice
	// Suspensions returns what else would be taken out of the DNS at a business time and counts for
	// the brake, and what would stay there (Preview.Online). nil: nothing.
	Suspensions func(ctx context.Context, now time.Time) (planned, online []PlannedAction, err error)
	Costs       *cost.Prices // converts returned fees; nil knows euros only
	// Now is the business time, Clock the real time. nil means time.Now.
	Now, Clock func() time.Time
	Logger     *slog.Logger
	// MailQueued is called after a mail was stored, OnNotice for each notice, OnTransition
	// for each new state of an unpaid term.
	MailQueued   func()
	OnNotice     func(kind registrar.MailKind)
	OnTransition func(state State)
}

// Service sends the notices and acts on unpaid terms.
type Service struct {
	cfg       Config
	notices   *jobs.Loop[Domain]
	terms     *jobs.Worker[Term]
	reminders *jobs.Loop[Reminder]
}

// New returns a Service that does nothing until Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Brake == nil || cfg.Node == "" {
		return nil, errors.New("lifecycle: Config.Store, Brake and Node are required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.Clock, time.Now)
	registrar.Default(&cfg.RestorePrice, func(context.Context, Term, time.Time) (registrar.Cents, bool) { return 0, false })
	registrar.Default(&cfg.RenewalPrice, func(context.Context, Domain, time.Time) RenewalPrice { return RenewalPrice{} })
	registrar.Default(&cfg.Suspensions, func(context.Context, time.Time) (planned, online []PlannedAction, err error) { return nil, nil, nil })
	registrar.Default(&cfg.MailQueued, func() {})
	registrar.Default(&cfg.OnNotice, func(registrar.MailKind) {})
	registrar.Default(&cfg.OnTransition, func(State) {})
	s := &Service{cfg: cfg}
	s.notices = &jobs.Loop[Domain]{
		Name: "expiry notices", ListDue: s.listDueNotices, Key: func(domain Domain) string { return domain.ID }, Do: s.sendNotice,
		OnError:  jobs.ErrorLogger(cfg.Logger, "expiry notices"),
		Interval: pollInterval, BatchSize: batch, Concurrency: concurrency,
	}
	s.terms = &jobs.Worker[Term]{
		Name: "unpaid terms", Logger: cfg.Logger, Clock: cfg.Clock, ListDue: s.listDueTerms,
		Key: func(term Term) string { return term.Domain }, Attempts: func(term Term) int { return term.Attempts },
		Claim: s.claim, Handle: s.handle, Postpone: s.postpone, OnRetry: s.onRetry,
		Deadline: cmp.Or(cfg.Deadline, defaultDeadline), MinBackoff: minBackoff, MaxBackoff: maxBackoff,
		Concurrency: termConcurrency,
	}
	s.reminders = &jobs.Loop[Reminder]{
		Name: "data reminders", ListDue: s.listDueReminders, Key: func(reminder Reminder) string { return reminder.Customer }, Do: s.remind,
		OnError:  jobs.ErrorLogger(cfg.Logger, "data reminders"),
		Interval: pollInterval, BatchSize: batch, Concurrency: concurrency,
	}
	return s, nil
}

// Run works until ctx ends.
func (s *Service) Run(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { s.notices.Run(ctx) })
	all.Go(func() { s.terms.Run(ctx) })
	all.Go(func() { s.reminders.Run(ctx) })
	all.Wait()
}

// Wake makes Run look for due work, for example after the business time was moved. It never
// blocks.
func (s *Service) Wake() {
	s.cfg.Brake.forget()
	s.notices.Wake()
	s.terms.Wake()
	s.reminders.Wake()
}

func (s *Service) registryFor(account, tld string) (Registry, bool) {
	for _, registry := range s.cfg.Registries {
		if account != "" && registry.Name == account || account == "" && registry.Serves(tld) {
			return registry.Registry, true
		}
	}
	return nil, false
}
