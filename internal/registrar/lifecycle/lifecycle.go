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

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Notice is what a holder was told last of the present term. The numbers are
// stored, and grow in the course of a term.
type Notice int

// The notices.
const (
	NoticeNone    Notice = iota // nothing yet
	NoticeMonth                 // it ends in about a month
	NoticeWeek                  // it ends in about a week
	NoticeExpired               // it is over
)

// notices are those that can be sent, each with how long before the end and with
// its letter.
var notices = []struct {
	notice Notice
	before time.Duration
	letter registrar.MailKind
}{
	{NoticeExpired, 0, registrar.MailExpired},
	{NoticeWeek, 7 * day, registrar.MailExpiringWeek},
	{NoticeMonth, 30 * day, registrar.MailExpiringMonth},
}

const (
	day = 24 * time.Hour
	// pollInterval is how often domains are looked for. Three questions that hit an
	// index cost nothing, and a sandbox's clock moves by months at a time.
	pollInterval = 5 * time.Second
	batch        = 64
	concurrency  = 2
	storeTimeout = 10 * time.Second
)

// ActionExpired is what the audit tells when a term ends.
const ActionExpired registrar.Action = "domain_expired"

// Domain is an active domain whose term ends.
type Domain struct {
	ID, Customer, Name string
	PaidUntil          time.Time
	// LastNotice is the notice that was sent last.
	LastNotice Notice
}

// Store keeps what was told.
type Store interface {
	// ListEndingDomains are active domains that were told this much and whose term ends until
	// then, the first to end first. One that a paid line is about is none of them.
	ListEndingDomains(ctx context.Context, sent Notice, until time.Time, limit int) ([]Domain, error)
	// StoreExpiryNotice stores what is told, with its letter. A domain whose term is over
	// becomes expired with the deed. It is false, and nothing is stored, if the
	// domain is not any more what it was.
	StoreExpiryNotice(ctx context.Context, update NoticeUpdate) (bool, error)
}

// NoticeUpdate is one notice.
type NoticeUpdate struct {
	Domain Domain
	Notice Notice
	Mail   registrar.Mail
	// AuditEvent is nil but for the end of a term.
	AuditEvent *registrar.AuditEvent
	// Now is the time of the business; At the true one, which letters go by.
	Now, At time.Time
}

// Config is what a Service is made of. Store is required.
type Config struct {
	Store Store
	// Now is the time of the business, Clock the true one. nil means time.Now.
	Now, Clock func() time.Time
	Logger     *slog.Logger
	// MailQueued is called after a letter was stored, Told is told each notice;
	// nil means that nobody wants to know.
	MailQueued func()
	OnNotice   func(kind registrar.MailKind)
}

// Service sends the notices.
type Service struct {
	cfg  Config
	loop *jobs.Loop[Domain]
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
	if cfg.MailQueued == nil {
		cfg.MailQueued = func() {}
	}
	if cfg.OnNotice == nil {
		cfg.OnNotice = func(registrar.MailKind) {}
	}
	s := &Service{cfg: cfg}
	s.loop = &jobs.Loop[Domain]{
		ListDue: s.listDue, Key: func(domain Domain) string { return domain.ID }, Do: s.sendNotice,
		OnError:  jobs.ErrorLogger(cfg.Logger, "expiry notices"),
		Interval: pollInterval, BatchSize: batch, Concurrency: concurrency,
	}
	return s, nil
}

// Run tells holders until ctx ends.
func (s *Service) Run(ctx context.Context) { s.loop.Run(ctx) }

// listDue are the domains for which a notice is due: for each, the one after what
// was told last or a later one.
func (s *Service) listDue(ctx context.Context, limit int) ([]Domain, error) {
	now := s.cfg.Now()
	var due []Domain
	for _, next := range notices {
		domains, err := s.cfg.Store.ListEndingDomains(ctx, next.notice-1, now.Add(next.before), limit-len(due))
		if err != nil {
			return nil, err
		}
		if due = append(due, domains...); len(due) == limit {
			break
		}
	}
	return due, nil
}

// sendNotice stores the notice that fits the day.
func (s *Service) sendNotice(ctx context.Context, domain Domain) {
	now := s.cfg.Now()
	for _, next := range notices {
		if now.Before(domain.PaidUntil.Add(-next.before)) {
			continue
		}
		if next.notice <= domain.LastNotice {
			return
		}
		update := NoticeUpdate{Domain: domain, Notice: next.notice, Now: now, At: s.cfg.Clock(), Mail: registrar.Mail{
			Kind: next.letter, Customer: domain.Customer,
			Data: map[string]string{"domain": domain.Name, "paid_until": domain.PaidUntil.UTC().Format(time.DateOnly)},
		}}
		if next.notice == NoticeExpired {
			update.AuditEvent = &registrar.AuditEvent{
				Actor: registrar.Actor{Kind: registrar.ActorSystem}, Action: ActionExpired, Customer: domain.Customer, Object: domain.Name, At: now,
			}
		}
		s.storeNotice(ctx, update)
		return
	}
}

func (s *Service) storeNotice(ctx context.Context, update NoticeUpdate) {
	storeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	sent, err := s.cfg.Store.StoreExpiryNotice(storeCtx, update)
	switch {
	case err != nil:
		s.cfg.Logger.ErrorContext(ctx, "a holder can't be told that a term ends", "domain", update.Domain.ID, "error", err.Error())
	case sent:
		s.cfg.OnNotice(update.Mail.Kind)
		s.cfg.MailQueued()
	}
}
