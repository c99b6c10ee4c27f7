package contactcheck

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

const (
	pollInterval = 5 * time.Second
	batch        = 64
	concurrency  = 2
	storeTimeout = 10 * time.Second
	// recheckInterval is how often a check that waits for an operator is tried again, and
	// minRecheck and maxRecheck bound it while holds are in progress; business time.
	recheckInterval        = day
	minRecheck, maxRecheck = 5 * time.Second, time.Hour
	// resendInterval is how often a customer can have the mail sent again.
	resendInterval = time.Hour

	maxListed     = 1000
	maxOwnDomains = 200     // of a check that its customer sees
	maxPlanned    = 100_000 // rows that a preview reads
	maxNoteLength = 500
)

// Config configures a Service. Store is required; without Brake and Changes it can't Run.
type Config struct {
	Store   Store
	Brake   *lifecycle.Brake
	Changes Changes
	// LacksHold reports whether the registry of a TLD takes no domain out of the DNS; nil asks Changes.
	LacksHold func(tld string) bool
	// Now is the business time, Clock the real time, used for mails and links. nil means time.Now.
	Now, Clock func() time.Time
	Logger     *slog.Logger
	MailQueued func() // called after a mail was stored
	// GatherFor is how long the first mail waits for further domains of its address, as those of
	// an action for many domains; real time.
	GatherFor time.Duration
	// OnState is called for each new state of a check.
	OnState func(state State)
}

// Service asks for confirmations and suspends domains. It is safe for concurrent use.
type Service struct {
	cfg      Config
	opening  *jobs.Loop[Domain]
	steps    *jobs.Loop[Check]
	releases *jobs.Loop[Domain]
}

// New returns a Service that does nothing until Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("contactcheck: Config.Store is required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.Clock, time.Now)
	registrar.Default(&cfg.MailQueued, func() {})
	registrar.Default(&cfg.OnState, func(State) {})
	if cfg.Changes != nil {
		registrar.Default(&cfg.LacksHold, cfg.Changes.LacksHold)
	}
	registrar.Default(&cfg.LacksHold, func(string) bool { return false })
	s := &Service{cfg: cfg}
	domainID := func(domain Domain) string { return domain.ID }
	s.opening = &jobs.Loop[Domain]{
		Name: "contact checks", ListDue: s.unlessStopped((&pager{list: s.listUnchecked}).next), Key: domainID, Do: s.open,
		OnError: jobs.ErrorLogger(cfg.Logger, "contact checks"), Interval: pollInterval, BatchSize: batch, Concurrency: concurrency,
	}
	s.steps = &jobs.Loop[Check]{
		Name: "contact check steps", ListDue: s.listDue, Key: func(check Check) string { return check.ID }, Do: s.step,
		OnError: jobs.ErrorLogger(cfg.Logger, "contact check steps"), Interval: pollInterval, BatchSize: batch, Concurrency: concurrency,
	}
	s.releases = &jobs.Loop[Domain]{
		Name: "contact check releases", ListDue: (&pager{list: cfg.Store.ListDomainsToRelease}).next, Key: domainID, Do: s.release,
		OnError: jobs.ErrorLogger(cfg.Logger, "contact check releases"), Interval: pollInterval, BatchSize: batch, Concurrency: concurrency,
	}
	return s, nil
}

// Run works until ctx ends.
func (s *Service) Run(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { s.opening.Run(ctx) })
	all.Go(func() { s.steps.Run(ctx) })
	all.Go(func() { s.releases.Run(ctx) })
	all.Wait()
}

// Wake makes Run look for due work. It never blocks.
func (s *Service) Wake() {
	s.opening.Wake()
	s.steps.Wake()
	s.releases.Wake()
}

// pager lists rows by id, a page at a time, and starts again after the last: a row that can't be
// processed must not hide those behind it.
type pager struct {
	list  func(ctx context.Context, after string, limit int) ([]Domain, error)
	after string // used by one loop
}

func (p *pager) next(ctx context.Context, limit int) ([]Domain, error) {
	domains, err := p.list(ctx, p.after, limit)
	p.after = ""
	if err == nil && len(domains) == limit {
		p.after = domains[limit-1].ID
	}
	return domains, err
}

// unlessStopped lists nothing while the clock rule of the brake has stopped mails.
func (s *Service) unlessStopped(list func(context.Context, int) ([]Domain, error)) func(context.Context, int) ([]Domain, error) {
	return func(ctx context.Context, limit int) ([]Domain, error) {
		if stopped, err := s.cfg.Brake.StoppedByClock(ctx, s.cfg.Now()); err != nil || stopped {
			return nil, err
		}
		return list(ctx, limit)
	}
}

func (s *Service) listUnchecked(ctx context.Context, after string, limit int) ([]Domain, error) {
	return s.cfg.Store.ListUncheckedDomains(ctx, s.cfg.Now().Add(-GuestDelay), after, limit)
}

func storeContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
}

func (s *Service) auditEvent(action registrar.Action, check Check) registrar.AuditEvent {
	return registrar.AuditEvent{Actor: registrar.Actor{Kind: registrar.ActorSystem}, Action: action, Customer: check.Customer, Object: check.Email, At: s.cfg.Now()}
}

// open opens the check of a domain.
func (s *Service) open(ctx context.Context, domain Domain) {
	storeCtx, cancel := storeContext(ctx)
	defer cancel()
	if domain.Hold != "" && !s.isHoldDecided(storeCtx, domain) {
		return // listed again
	}
	check := newCheck(domain, s.cfg.Now())
	opened := false
	name, err := s.customerName(storeCtx, check)
	mail := s.mailAbout(check, name, []Domain{domain})
	mail.ID, mail.Delay = FirstMailID(check.ID), s.cfg.GatherFor
	if err == nil {
		opened, err = s.cfg.Store.OpenContactCheck(storeCtx, domain, Opening{
			Check: check, Mail: mail, Event: s.auditEvent(ActionAsked, check), At: s.cfg.Clock(),
			Again: func(joined Check, domains []Domain) (Check, registrar.Mail) { return s.again(joined, name, domains) },
		})
	}
	switch {
	case err != nil:
		s.cfg.Logger.ErrorContext(ctx, "contact check not opened", "domain", domain.ID, "error", err.Error())
	case opened:
		s.cfg.OnState(Pending)
		s.cfg.MailQueued()
	}
}

// isHoldDecided reports whether a suspended domain whose holder has changed is on hold, or its
// registry has refused that: the check that began the suspension may have ended before the hold.
func (s *Service) isHoldDecided(ctx context.Context, domain Domain) bool {
	progress, err := s.cfg.Changes.HoldFor(ctx, domain.Customer, domain.ID, domain.Hold)
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "suspended domain not held, will retry", "domain", domain.ID, "error", err.Error())
	}
	return err == nil && progress != domainchange.InProgress
}

// listDue returns the checks whose step is due. If more would be suspended today than the limit
// allows, it engages the brake before anything has begun.
func (s *Service) listDue(ctx context.Context, limit int) ([]Check, error) {
	now := s.cfg.Now()
	status, remaining, _, err := s.cfg.Brake.Budget(ctx, now)
	if err != nil || status.StoppedByClock() {
		return nil, err
	}
	stopped := status.Engaged()
	due, err := s.cfg.Store.ListDueChecks(ctx, now, stopped, limit)
	if err != nil || stopped || len(due) == 0 {
		return due, err
	}
	planned, err := s.cfg.Store.ListPlannedSuspensions(ctx, now, max(remaining, 0)+1)
	if err != nil || len(planned) == 0 || len(planned) <= remaining {
		return due, err
	}
	going, _, err := s.ListPlanned(ctx, now)
	if err != nil || len(going) == 0 || len(going) <= remaining {
		return due, err
	}
	if err := s.cfg.Brake.StopByVolume(ctx, now); err != nil {
		return nil, err
	}
	return s.cfg.Store.ListDueChecks(ctx, now, true, limit)
}

// ListPlanned returns the suspensions that would begin at a business time, and apart those that have no
// effect, because the registry takes no domain out of the DNS.
func (s *Service) ListPlanned(ctx context.Context, now time.Time) (going, kept []lifecycle.PlannedAction, err error) {
	planned, err := s.cfg.Store.ListPlannedSuspensions(ctx, now, maxPlanned)
	for _, p := range planned {
		action := lifecycle.PlannedAction{Action: lifecycle.ActSuspend, Term: lifecycle.Term{
			Domain: p.Domain.ID, Customer: p.Domain.Customer, Name: p.Domain.Name, TLD: p.Domain.TLD, Account: p.Account, StepAt: p.DueAt,
		}}
		if s.cfg.LacksHold(p.Domain.TLD) {
			kept = append(kept, action)
		} else {
			going = append(going, action)
		}
	}
	return going, kept, err
}

// step does what is due for a check.
func (s *Service) step(ctx context.Context, check Check) {
	storeCtx, cancel := storeContext(ctx)
	defer cancel()
	if err := s.next(storeCtx, check); err != nil {
		s.cfg.Logger.ErrorContext(ctx, "step of a contact check failed, will retry", "check", check.ID, "state", string(check.State), "error", err.Error())
	}
}

func (s *Service) next(ctx context.Context, check Check) error {
	domains, err := s.cfg.Store.CountDomainsOfCheck(ctx, check.ID)
	if err != nil {
		return err
	}
	if domains == 0 {
		ended := check
		ended.State, ended.StepAt, ended.WaitsFor, ended.EndedAt = Obsolete, time.Time{}, "", s.cfg.Now()
		return s.update(ctx, Transition{From: check, To: ended})
	}
	confirmed, err := s.cfg.Store.IsConfirmedAddress(ctx, check.Customer, check.Email)
	switch {
	case err != nil:
		return err
	case confirmed: // the account has changed its address, or has claimed the order of a guest
		_, err := s.confirm(ctx, check.Customer, check.Email, ByAccount, registrar.Actor{Kind: registrar.ActorSystem}, "")
		return err
	case check.State == Suspended:
		return s.holdDomains(ctx, check)
	case check.Notices < LastNotice:
		next := check.reminded(s.cfg.Now())
		mails, err := s.reminderMails(ctx, next)
		if err != nil {
			return err
		}
		return s.update(ctx, Transition{From: check, To: next, Mails: mails})
	default:
		return s.suspend(ctx, check)
	}
}

// update stores a transition. If the check has changed, its next step is done by its new row.
func (s *Service) update(ctx context.Context, transition Transition) error {
	transition.At = s.cfg.Clock()
	updated, err := s.cfg.Store.UpdateContactCheck(ctx, transition)
	if err != nil || !updated {
		return err
	}
	if transition.To.State != transition.From.State {
		s.cfg.OnState(transition.To.State)
	}
	if len(transition.Mails) > 0 {
		s.cfg.MailQueued()
	}
	return nil
}
