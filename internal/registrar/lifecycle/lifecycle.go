// Package lifecycle tells holders in time that a paid term ends.
//
// For each term there are three notices: about a month before its end, about a
// week before, and within days after it. ICANN's policy for expired registrations
// asks for just these, and holders under other registries need them no less. Each
// is sent once: which one was sent last stands with the domain, is changed by a
// compare-and-swap in the transaction that stores the letter, and begins anew when
// a renewal moves the end of the term. A notice whose time was missed, because
// nothing ran or because the domain came late, is not made up for: the one that
// fits the day is sent.
//
//	days to the end   the holder is told   and the domain
//	more than 30      nothing
//	30 to 7           month
//	7 to 0            week
//	none              over                 becomes expired
//
// While a paid line is about the domain, such as a renewal that waits for its
// registry, nothing is said and nothing expires: the holder has done their part.
//
// What happens to an expired domain at its registry is not decided here.
//
// Days go by the time of the business, which a sandbox moves.
package lifecycle

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Notice is what a holder was told last of the present term. The numbers are
// stored, and grow in the course of a term.
type Notice int

// The notices.
const (
	None  Notice = iota // nothing yet
	Month               // it ends in about a month
	Week                // it ends in about a week
	Over                // it is over
)

// notices are those that can be sent, each with how long before the end and with
// its letter.
var notices = []struct {
	notice Notice
	before time.Duration
	letter registrar.LetterKind
}{
	{Over, 0, registrar.LetterExpired},
	{Week, 7 * day, registrar.LetterExpiringWeek},
	{Month, 30 * day, registrar.LetterExpiringMonth},
}

const (
	day = 24 * time.Hour
	// lookEvery is how often domains are looked for. Three questions that hit an
	// index cost nothing, and a sandbox's clock moves by months at a time.
	lookEvery = 5 * time.Second
	batch     = 64
	atOnce    = 2
	storing   = 10 * time.Second
)

// Expired is what the audit tells when a term ends.
const Expired registrar.Action = "domain_expired"

// Domain is an active domain whose term ends.
type Domain struct {
	ID, Customer, Name string
	PaidUntil          time.Time
	// Told is the notice that was sent last.
	Told Notice
}

// Store keeps what was told.
type Store interface {
	// Ending are active domains that were told this much and whose term ends until
	// then, the first to end first. One that a paid line is about is none of them.
	Ending(ctx context.Context, told Notice, until time.Time, limit int) ([]Domain, error)
	// Tell stores what is told, with its letter. A domain whose term is over
	// becomes expired with the deed. It is false, and nothing is stored, if the
	// domain is not any more what it was.
	Tell(ctx context.Context, telling Telling) (bool, error)
}

// Telling is one notice.
type Telling struct {
	Was    Domain
	Notice Notice
	Letter registrar.Letter
	// Deed is nil but for the end of a term.
	Deed *registrar.Deed
	// Now is the time of the business; At the true one, which letters go by.
	Now, At time.Time
}

// Config is what a Service is made of. Store is required.
type Config struct {
	Store Store
	// Now is the time of the business, Clock the true one. nil means time.Now.
	Now, Clock func() time.Time
	Logger     *slog.Logger
	// LettersWaiting is called after a letter was stored, Told is told each notice;
	// nil means that nobody wants to know.
	LettersWaiting func()
	Told           func(kind registrar.LetterKind)
}

// Service sends the notices.
type Service struct {
	cfg  Config
	loop *duty.Loop[Domain]
}

// New returns a Service that does nothing until Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("lifecycle: a store is needed")
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
	if cfg.LettersWaiting == nil {
		cfg.LettersWaiting = func() {}
	}
	if cfg.Told == nil {
		cfg.Told = func(registrar.LetterKind) {}
	}
	s := &Service{cfg: cfg}
	s.loop = &duty.Loop[Domain]{
		Due: s.ending, Key: func(domain Domain) string { return domain.ID }, Do: s.tell,
		Failed: duty.Report(cfg.Logger, "expiry notices"),
		Every:  lookEvery, Batch: batch, AtOnce: atOnce,
	}
	return s, nil
}

// Run tells holders until ctx ends.
func (s *Service) Run(ctx context.Context) { s.loop.Run(ctx) }

// ending are the domains for which a notice is due: for each, the one after what
// was told last or a later one.
func (s *Service) ending(ctx context.Context, limit int) ([]Domain, error) {
	now := s.cfg.Now()
	var due []Domain
	for _, next := range notices {
		domains, err := s.cfg.Store.Ending(ctx, next.notice-1, now.Add(next.before), limit-len(due))
		if err != nil {
			return nil, err
		}
		if due = append(due, domains...); len(due) == limit {
			break
		}
	}
	return due, nil
}

// tell stores the notice that fits the day.
func (s *Service) tell(ctx context.Context, domain Domain) {
	now := s.cfg.Now()
	for _, next := range notices {
		if now.Before(domain.PaidUntil.Add(-next.before)) {
			continue
		}
		if next.notice <= domain.Told {
			return
		}
		telling := Telling{Was: domain, Notice: next.notice, Now: now, At: s.cfg.Clock(), Letter: registrar.Letter{
			Kind: next.letter, Customer: domain.Customer,
			Facts: map[string]string{"domain": domain.Name, "paid_until": domain.PaidUntil.UTC().Format(time.DateOnly)},
		}}
		if next.notice == Over {
			telling.Deed = &registrar.Deed{
				Actor: registrar.Actor{Kind: registrar.ActorSystem}, Action: Expired, Customer: domain.Customer, Object: domain.Name, At: now,
			}
		}
		s.store(ctx, telling)
		return
	}
}

func (s *Service) store(ctx context.Context, telling Telling) {
	storing, cancel := context.WithTimeout(context.WithoutCancel(ctx), storing)
	defer cancel()
	told, err := s.cfg.Store.Tell(storing, telling)
	switch {
	case err != nil:
		s.cfg.Logger.ErrorContext(ctx, "a holder can't be told that a term ends", "domain", telling.Was.ID, "error", err.Error())
	case told:
		s.cfg.Told(telling.Letter.Kind)
		s.cfg.LettersWaiting()
	}
}
