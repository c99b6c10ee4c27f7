package steward

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/recent"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	defaultDeadline = 60 * time.Second
	// defaultPatience is how long whoever asks for a change waits for the registry;
	// afterwards the loop goes on with it.
	defaultPatience = 8 * time.Second
	// freshFor is how long what a registry told is shown without asking again, and
	// lookFor how long a page waits for it.
	freshFor = time.Minute
	lookFor  = 2 * time.Second
	// lookAgain is how long pages do not ask a registry again that has failed, and
	// maxLooks bounds the domains for which that is remembered.
	lookAgain = 5 * time.Second
	maxLooks  = 10_000

	lookEvery = time.Second
	storing   = 10 * time.Second

	firstPause = time.Second
	longPause  = 10 * time.Minute
	firstLook  = 3 * time.Second
	longLook   = time.Hour

	// mostChanges is how many changes of a domain may be asked for within changesWithin:
	// each is a command at the registry, a letter and a row for ever.
	mostChanges   = 40
	changesWithin = time.Hour

	// shownChanges and shownDeeds bound a domain's history.
	shownChanges, shownDeeds = 50, 50
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
	// Admit is called before a page asks a registry about a domain, and says how long
	// to wait instead; nil admits every one.
	Admit func(actor registrar.Actor) (wait time.Duration)
	// Barred is asked before a change is written and before it is sent: its code is why a dispute or a
	// court forbids it, empty if nothing does. nil means that nothing ever does.
	Barred func(ctx context.Context, domain Domain, kind Kind) (registrar.Code, error)
	// Admits is asked whether the extension admits a registrant of the customer, before
	// a change of the holder is written and again with the very data that are sent. nil
	// means that every extension admits everybody.
	Admits func(ctx context.Context, customer, tld string, holder Holder) error
	// Deadline bounds the work on one change, 0 means a minute; Patience how long
	// whoever asks waits for it, 0 means 8 seconds.
	Deadline, Patience time.Duration
	// Now is the time of the business; Clock is the true one, which leases, pauses
	// and sign-ins go by. nil means time.Now.
	Now, Clock func() time.Time
	// LettersWaiting is told that a letter was stored, Ended how a change ended.
	LettersWaiting func()
	Ended          func(kind Kind, state State)
	// SetBack is told which change has to wait, and why; nil means that nobody asks.
	SetBack func(ctx context.Context, change string, code registrar.Code)
	Logger  *slog.Logger
}

// Service is safe for concurrent use.
type Service struct {
	cfg  Config
	loop *duty.Loop[Change]
	// looks has pages share one question about a domain, and keeps them from asking
	// a registry again that has just failed.
	looks *recent.Answers[string, Record]
}

// New returns a Service. Changes that nobody waits for are carried out by Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Seal == nil || cfg.Node == "" {
		return nil, errors.New("steward: a store, a seal and the node's name are needed")
	}
	if cfg.Deadline == 0 {
		cfg.Deadline = defaultDeadline
	}
	if cfg.Patience == 0 {
		cfg.Patience = defaultPatience
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Admit == nil {
		cfg.Admit = func(registrar.Actor) time.Duration { return 0 }
	}
	if cfg.Barred == nil {
		cfg.Barred = func(context.Context, Domain, Kind) (registrar.Code, error) { return "", nil }
	}
	if cfg.Admits == nil {
		cfg.Admits = func(context.Context, string, string, Holder) error { return nil }
	}
	if cfg.LettersWaiting == nil {
		cfg.LettersWaiting = func() {}
	}
	if cfg.Ended == nil {
		cfg.Ended = func(Kind, State) {}
	}
	if cfg.SetBack == nil {
		cfg.SetBack = func(context.Context, string, registrar.Code) {}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Service{cfg: cfg, looks: recent.New[string, Record](recent.Config{Fresh: lookAgain, Max: maxLooks, Now: cfg.Clock})}
	s.loop = &duty.Loop[Change]{
		Due: func(ctx context.Context, limit int) ([]Change, error) {
			return cfg.Store.DueChanges(ctx, s.clock(), limit)
		},
		Key: func(change Change) string { return change.ID }, Do: s.takeUp,
		Failed: duty.Report(cfg.Logger, "domain changes"),
		Every:  lookEvery, Batch: 32, AtOnce: 8,
	}
	return s, nil
}

// clock is the true time in the precision in which it is stored.
func (s *Service) clock() time.Time { return s.cfg.Clock().Truncate(time.Microsecond) }

// Run carries out what is left open until ctx ends. It also runs where no registry is
// left: somebody has to find out that changes wait for one.
func (s *Service) Run(ctx context.Context) { s.loop.Run(ctx) }

// serving is the account that has a domain: the one that registered it, or, where
// nobody knows, the one that serves its extension.
func (s *Service) serving(account, tld string) (NamedRegistry, bool) {
	for _, registry := range s.cfg.Registries {
		if account != "" && registry.Name == account || account == "" && registry.Serves(tld) {
			return registry, true
		}
	}
	return NamedRegistry{}, false
}
