package provision

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/recent"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	defaultAtOnce    = 16
	defaultDeadline  = 60 * time.Second
	defaultPollEvery = time.Minute

	// lookEvery is how often lines are looked for that others stored or left.
	lookEvery = time.Second
	// storing bounds what follows a call, also while the service stops.
	storing = 10 * time.Second
	// grace is how long a call under way may take when the service stops. What it
	// leaves unknown is asked at the next start.
	grace = 5 * time.Second

	firstPause = time.Second
	longPause  = 10 * time.Minute
	// A pending request is asked about more and more rarely; a message of the
	// registry makes it due at once.
	firstLook = 3 * time.Second
	longLook  = time.Hour
	// followEvery is how often a domain is looked at though no message came.
	followEvery = 24 * time.Hour
)

// NamedAccount is one registry account and what it serves.
type NamedAccount struct {
	Name string
	// Serves says whether it carries out lines of an extension.
	Serves func(tld string) bool
	// PollEvery is how often its messages are fetched; 0 means every minute.
	PollEvery time.Duration
	Account   Account
}

// Accounts are all registry accounts. The first one that serves an extension carries
// out its lines.
type Accounts []NamedAccount

func (a Accounts) serving(tld string) (NamedAccount, bool) {
	for _, account := range a {
		if account.Serves(tld) {
			return account, true
		}
	}
	return NamedAccount{}, false
}

// Sells says why names of an extension can't be registered or transferred through
// these accounts, whatever the name; nil if they can. No registry is asked.
func (a Accounts) Sells(kind Kind, extension registrar.Extension) error {
	account, served := a.serving(extension.TLD)
	if !served {
		return &registrar.Error{Kind: registrar.KindUnsupported, Code: NoAccount}
	}
	years := term(kind, extension, account.Account.Rules(extension.TLD))
	return account.Account.Sells(kind, extension.TLD, extension.Requires, years)
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
	// AtOnce bounds the lines that are worked on at a time; 0 means 16.
	AtOnce int
	// Deadline bounds one call to a registry; 0 means a minute.
	Deadline time.Duration
	// ReuseFor is how long pages show what a registry has answered without asking it
	// again; 0 means 10 s. MaxReused bounds those answers; 0 means 20,000.
	ReuseFor  time.Duration
	MaxReused int
	// Now is the time of the business, which dates go by; Clock is the true one,
	// which leases and pauses go by. nil means time.Now.
	Now, Clock func() time.Time
	Logger     *slog.Logger
	// Ended is told how a line ended, Waiting why one has to wait, Drifted what
	// differs between us and a registry, Heard that a message was taken; nil means
	// that nobody counts.
	Ended   func(kind Kind, state State)
	Waiting func(code registrar.Code)
	Drifted func(what Drift)
	Heard   func(account string)
	// SetBack is told which line has to wait, and why; nil means that nobody asks.
	SetBack func(ctx context.Context, line string, code registrar.Code)
}

// Service takes orders of paid lines and carries them out. It is safe for
// concurrent use.
type Service struct {
	cfg     Config
	lines   *duty.Loop[Line]
	domains *duty.Loop[Domain]
	// hosts remembers which nameserver objects exist at which account, so that
	// only the first line asks for them.
	hosts sync.Map
	// offers is what registries answered lately, for pages.
	offers *recent.Answers[offerKey, error]
}

// New returns a Service. It does nothing by itself until Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || cfg.Domains == nil || cfg.Seal == nil || cfg.Node == "" {
		return nil, errors.New("provision: a store, a seal and the node's name are needed")
	}
	if cfg.AtOnce == 0 {
		cfg.AtOnce = defaultAtOnce
	}
	if cfg.Deadline == 0 {
		cfg.Deadline = defaultDeadline
	}
	if cfg.ReuseFor == 0 {
		cfg.ReuseFor = defaultReuse
	}
	if cfg.MaxReused == 0 {
		cfg.MaxReused = defaultMaxReused
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
	if cfg.Ended == nil {
		cfg.Ended = func(Kind, State) {}
	}
	if cfg.Waiting == nil {
		cfg.Waiting = func(registrar.Code) {}
	}
	if cfg.SetBack == nil {
		cfg.SetBack = func(context.Context, string, registrar.Code) {}
	}
	if cfg.Drifted == nil {
		cfg.Drifted = func(Drift) {}
	}
	if cfg.Heard == nil {
		cfg.Heard = func(string) {}
	}
	s := &Service{cfg: cfg, offers: recent.New[offerKey, error](recent.Config{
		Fresh: cfg.ReuseFor, Keep: lastKnownFor, Max: cfg.MaxReused, Now: cfg.Clock,
	})}
	s.lines = &duty.Loop[Line]{
		Due: func(ctx context.Context, limit int) ([]Line, error) {
			return cfg.Store.DueLines(ctx, s.clock(), limit)
		},
		Key: func(line Line) string { return line.ID }, Do: s.work,
		Failed: duty.Report(cfg.Logger, "paid lines"),
		Every:  lookEvery, Batch: 4 * cfg.AtOnce, AtOnce: cfg.AtOnce,
	}
	s.domains = &duty.Loop[Domain]{
		Due: func(ctx context.Context, limit int) ([]Domain, error) {
			return cfg.Domains.DueDomains(ctx, s.clock(), limit)
		},
		Key: func(domain Domain) string { return domain.ID }, Do: s.followDue,
		Failed: duty.Report(cfg.Logger, "domains"),
		Every:  lookEvery, Batch: 16, AtOnce: 4,
	}
	return s, nil
}

// clock is the true time in the precision in which it is stored, so that it can
// be compared with what comes back.
func (s *Service) clock() time.Time { return s.cfg.Clock().Truncate(time.Microsecond) }

// Wake says that lines were stored. It never waits.
func (s *Service) Wake() { s.lines.Wake() }

// Run carries out what is paid for and follows the registries until ctx ends.
func (s *Service) Run(ctx context.Context) {
	if len(s.cfg.Accounts) == 0 {
		return // there is nobody to talk to, and the lines wait
	}
	var all sync.WaitGroup
	all.Go(func() { s.lines.Run(ctx) })
	all.Go(func() { s.domains.Run(ctx) })
	for _, account := range s.cfg.Accounts {
		all.Go(func() {
			duty.Supervise(ctx, duty.Report(s.cfg.Logger, "registry messages"), func(ctx context.Context) { s.listen(ctx, account) })
		})
	}
	all.Wait()
}

// serving is the account that carries out an extension's lines.
func (s *Service) serving(tld string) (NamedAccount, bool) { return s.cfg.Accounts.serving(tld) }

// named is the account of a name, nil if it is not configured any more.
func (s *Service) named(name string) Account {
	for _, account := range s.cfg.Accounts {
		if account.Name == name {
			return account.Account
		}
	}
	return nil
}
