package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Notice is the last notice sent for the current term. The numbers are stored, and grow
// in the course of a term.
type Notice int

// Notices of a term.
const (
	NoticeNone    Notice = iota // none sent yet
	NoticeMonth                 // it ends in about a month
	NoticeWeek                  // it ends in about a week
	NoticeExpired               // it has ended
)

// notices are the notices to send, each with its lead time and mail.
var notices = []struct {
	notice Notice
	before time.Duration
	mail   registrar.MailKind
}{
	{NoticeExpired, 0, registrar.MailExpired},
	{NoticeWeek, 7 * day, registrar.MailExpiringWeek},
	{NoticeMonth, 30 * day, registrar.MailExpiringMonth},
}

const (
	day = 24 * time.Hour
	// pollInterval is short because the queries are indexed and a sandbox's clock moves by
	// months at a time.
	pollInterval = 5 * time.Second
	batch        = 64
	concurrency  = 2
	storeTimeout = 10 * time.Second
)

// ActionExpired is the audited end of a term.
const ActionExpired registrar.Action = "domain_expired"

// Domain is an active domain whose term ends.
type Domain struct {
	ID, Customer, Name string
	PaidUntil          time.Time
	LastNotice         Notice // the notice that was sent last
}

// Store persists notices.
type Store interface {
	// ListEndingDomains returns active domains with this last notice whose term ends by
	// until, the first to end first, except those with an open paid item.
	ListEndingDomains(ctx context.Context, sent Notice, until time.Time, limit int) ([]Domain, error)
	// StoreExpiryNotice stores the notice and queues its mail. A domain whose term is over
	// becomes expired, with the audit event. It returns false and stores nothing if the
	// domain has changed.
	StoreExpiryNotice(ctx context.Context, update NoticeUpdate) (bool, error)
}

// NoticeUpdate is one notice.
type NoticeUpdate struct {
	Domain     Domain
	Notice     Notice
	Mail       registrar.Mail
	AuditEvent *registrar.AuditEvent // nil except at the end of a term
	// Now is the business time; At the real time, used for mails.
	Now, At time.Time
}

// Config configures a Service. Store is required.
type Config struct {
	Store Store
	// Now is the business time, Clock the real time. nil means time.Now.
	Now, Clock func() time.Time
	Logger     *slog.Logger
	// MailQueued is called after a mail was stored, OnNotice for each notice.
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
		return nil, errors.New("lifecycle: Config.Store is required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.Clock, time.Now)
	registrar.Default(&cfg.MailQueued, func() {})
	registrar.Default(&cfg.OnNotice, func(registrar.MailKind) {})
	s := &Service{cfg: cfg}
	s.loop = &jobs.Loop[Domain]{
		ListDue: s.listDue, Key: func(domain Domain) string { return domain.ID }, Do: s.sendNotice,
		OnError:  jobs.ErrorLogger(cfg.Logger, "expiry notices"),
		Interval: pollInterval, BatchSize: batch, Concurrency: concurrency,
	}
	return s, nil
}

// Run sends notices until ctx ends.
func (s *Service) Run(ctx context.Context) { s.loop.Run(ctx) }

// Wake announces that notices may be due. It never blocks.
func (s *Service) Wake() { s.loop.Wake() }

// listDue returns the domains whose next notice, or a later one, is due.
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
			Kind: next.mail, Customer: domain.Customer,
			Data: map[string]string{"domain": domain.Name, "paid_until": domain.PaidUntil.UTC().Format(time.DateOnly)},
		}}
		if next.notice == NoticeExpired {
			update.AuditEvent = &registrar.AuditEvent{
				Actor: registrar.Actor{Kind: registrar.ActorSystem}, Action: ActionExpired, Customer: domain.Customer, Object: domain.Name, At: now,
			}
		}
		storeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
		sent, err := s.cfg.Store.StoreExpiryNotice(storeCtx, update)
		cancel()
		switch {
		case err != nil:
			s.cfg.Logger.ErrorContext(ctx, "expiry notice not stored", "domain", domain.ID, "error", err.Error())
		case sent:
			s.cfg.OnNotice(next.mail)
			s.cfg.MailQueued()
		}
		return
	}
}
