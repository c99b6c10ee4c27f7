package admin

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Cause is why a domain is locked.
type Cause string

// Causes of locks.
const (
	Chargeback Cause = "chargeback"
	UDRP       Cause = "udrp"
	Court      Cause = "court"
	Abuse      Cause = "abuse"
)

// Causes returns all causes.
func Causes() []Cause { return []Cause{Chargeback, UDRP, Court, Abuse} }

// Restriction is what a lock forbids.
type Restriction string

// Restrictions; see the table in doc.go.
const (
	Transfer    Restriction = "transfer"
	Nameservers Restriction = "nameservers"
	Renewal     Restriction = "renewal"
	Hold        Restriction = "hold" // out of the DNS; includes Transfer
)

// Restrictions returns all restrictions.
func Restrictions() []Restriction { return []Restriction{Transfer, Nameservers, Renewal, Hold} }

// Lock restricts a domain because of a dispute, a court order or abuse.
type Lock struct {
	ID string
	// Domain is the domain's id, Name the full name in A-labels, Customer its owner then.
	Domain, Name, Customer string
	Cause                  Cause
	// Reason is shown to the customer; Reference is the other party's case number.
	Reason, Reference string
	Restrictions      []Restriction
	ReviewAt          time.Time // when an operator has to review it
	SetBy             string
	SetAt             time.Time
	LiftedBy          string
	LiftedAt          time.Time // zero while the lock is active
	// SecureStatus is set for active locks that restrict transfers. It is not stored but
	// derived from the registry changes.
	SecureStatus SecureStatus
	// HoldStatus and HoldFailure, why the registry refused the hold, are derived in the same way.
	// HoldStepAt is when the hold is next compared with the registry; zero without a hold and after
	// its end.
	HoldStatus  HoldStatus
	HoldFailure registrar.Code
	HoldStepAt  time.Time
}

// Overdue reports whether the day of its review has passed.
func (l Lock) Overdue(now time.Time) bool { return !now.Before(l.ReviewAt.AddDate(0, 0, 1)) }

// DomainRef is a domain in a customer's portfolio.
type DomainRef struct{ ID, Name, TLD, Customer string }

// Error codes. Transports have a text for each.
const (
	// KindNotFound.
	NoSuchLock registrar.Code = "no_such_lock"
	NoSuchJob  registrar.Code = "no_such_job"
	// KindInvalid.
	BadCause        registrar.Code = "bad_cause"
	BadReason       registrar.Code = "bad_reason"
	BadRestrictions registrar.Code = "bad_blocks"
	BadReviewDate   registrar.Code = "bad_deadline"
	// HoldUnsupported (KindUnsupported): the registry does not let us take a domain out of the DNS.
	HoldUnsupported registrar.Code = "hold_unsupported"
	JobClaimed      registrar.Code = "job_claimed" // KindConflict: a node holds the lease, or the job is due already
)

// Audited actions.
const (
	LockSet           registrar.Action = "domain_lock_set"
	LockLifted        registrar.Action = "domain_lock_lifted"
	AccountViewed     registrar.Action = "customer_viewed"
	ListViewed        registrar.Action = "order_list_viewed" // of all customers' orders, payments, refunds or disputes
	JobRetried        registrar.Action = "job_retried"
	PriceListReplaced registrar.Action = "price_list_replaced"
)

const (
	// A reason is one sentence: the customer's mail quotes it.
	maxReason      = 100
	maxReference   = 60
	maxReviewDelay = 2 * 365 * 24 * time.Hour // bounds how far away a review may be
	maxListed      = 100                      // bounds every list
)

// Store persists locks and lists jobs. Each change is one transaction with its audit event, and its mail,
// which is queued at the time of the wall clock.
type Store interface {
	// GetDomainRef returns the domain of a name; false if no customer holds it.
	GetDomainRef(ctx context.Context, name string) (DomainRef, bool, error)
	AddDomainLock(ctx context.Context, lock Lock, event registrar.AuditEvent, mail registrar.Mail, clock time.Time) error
	GetDomainLock(ctx context.Context, id string) (Lock, bool, error)
	// LiftDomainLock returns false if there is no active one.
	LiftDomainLock(ctx context.Context, lock Lock, event registrar.AuditEvent, mail registrar.Mail, clock time.Time) (bool, error)
	ListActiveLocksOfDomain(ctx context.Context, domain string) ([]Lock, error)
	// ListActiveDomainLocks is ordered by review date, ListLiftedDomainLocks newest first.
	ListActiveDomainLocks(ctx context.Context, limit int) ([]Lock, error)
	ListLiftedDomainLocks(ctx context.Context, limit int) ([]Lock, error)
	// ListDueLockHolds returns locks whose hold is due for a comparison, the longest overdue first.
	ListDueLockHolds(ctx context.Context, now time.Time, limit int) ([]Lock, error)
	// SetLockHoldStep stores when the next comparison is due; zero: never. It returns false if the lock has
	// changed.
	SetLockHoldStep(ctx context.Context, lock Lock, next time.Time) (bool, error)

	// ListJobs returns unfinished jobs: most attempts first, or the next ones due.
	ListJobs(ctx context.Context, kind JobKind, retrying bool, limit int) ([]Job, error)
	// RetryJobNow makes a job due now; false if it is leased or does not exist.
	RetryJobNow(ctx context.Context, kind JobKind, id string, now time.Time, event registrar.AuditEvent) (bool, error)
	// ListFailedItems returns items whose last attempt failed with a code and that wait for the
	// next one.
	ListFailedItems(ctx context.Context, code registrar.Code, now time.Time, limit int) ([]FailedItem, error)
	// PaidForItem returns what is refunded of its order if an item fails; 0 if it has none, false if
	// there is no such item.
	PaidForItem(ctx context.Context, item string) (registrar.Cents, bool, error)
	// GetJobError returns the last error of a job; false if there is none.
	GetJobError(ctx context.Context, kind JobKind, id string) (JobError, bool, error)
	// PutJobError stores it, and deletes some older than before.
	PutJobError(ctx context.Context, kind JobKind, id string, jobError JobError, before time.Time) error
	// CountFailedJobs counts unfinished jobs with an error by kind, and refunds that are due
	// since a time or wait for an operator. Each count stops at 100.
	CountFailedJobs(ctx context.Context, refundsDueSince time.Time) (map[JobKind]int, int, error)
	// ListPendingRefunds returns the longest overdue refunds.
	ListPendingRefunds(ctx context.Context, limit int) ([]Refund, error)

	// The lists of all orders, payments and refunds return the page before an id, the newest
	// first; empty starts at the top.
	ListAllOrders(ctx context.Context, filter OrderFilter, before string, limit int) ([]OrderEntry, error)
	ListAllPayments(ctx context.Context, state, before string, limit int) ([]PaymentEntry, error)
	ListAllRefunds(ctx context.Context, filter RefundFilter, before string, limit int) ([]RefundEntry, error)
	// FindOrderID returns the order of a number of an order, payment, refund or invoice.
	FindOrderID(ctx context.Context, number string) (string, bool, error)
	ListOrderJobs(ctx context.Context, customer, order string, limit int) ([]Job, error)

	RecordAuditEvent(ctx context.Context, event registrar.AuditEvent) error
}

// Config configures a Service. Store is required.
type Config struct {
	Store Store
	// Secure secures a domain at the registry for a lock that restricts transfers;
	// optional.
	Secure func(ctx context.Context, operator registrar.Actor, customer, domain, lock string) error
	// SecuredFor reports whether that was done for a lock, or is in progress; optional.
	SecuredFor func(ctx context.Context, domain, lock string) (secured, inProgress bool, err error)
	// Holds sets and ends the holds of locks; nil means that no registry offers them.
	Holds Holds
	// AbandonChange ends a domain change that can't be executed; optional.
	AbandonChange func(ctx context.Context, operator registrar.Actor, change string) error
	// GiveUpItem ends a paid item that waits for its registry, and refunds it; optional.
	GiveUpItem func(ctx context.Context, operator registrar.Actor, item string) error
	MailQueued func()           // called after a mail was stored; optional
	WakeJobs   func(JobKind)    // called after a job of a kind was made due; optional
	Now        func() time.Time // the real time, by which jobs are due; nil means time.Now
	// Business is the business time, of locks, audit events and all that operators are shown; nil
	// means Now.
	Business func() time.Time
	Logger   *slog.Logger
}

// Service serves operators. It is safe for concurrent use.
type Service struct {
	cfg   Config
	holds *jobs.Loop[Lock]
}

// New returns a Service.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("admin: Config.Store is required")
	}
	if cfg.Secure == nil {
		cfg.Secure = func(context.Context, registrar.Actor, string, string, string) error { return nil }
	}
	noJob := func(context.Context, registrar.Actor, string) error { return registrar.NotFound(NoSuchJob) }
	registrar.Default(&cfg.AbandonChange, noJob)
	registrar.Default(&cfg.GiveUpItem, noJob)
	if cfg.MailQueued == nil {
		cfg.MailQueued = func() {}
	}
	if cfg.WakeJobs == nil {
		cfg.WakeJobs = func(JobKind) {}
	}
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.Business, cfg.Now)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s := &Service{cfg: cfg}
	s.holds = s.newHoldLoop()
	return s, nil
}

// BusinessTime returns the business time at which something happens that is due at a real time.
// The zero time stays zero.
func (s *Service) BusinessTime(due time.Time) time.Time {
	if due.IsZero() {
		return due
	}
	// Rounded, because the clocks are read one after the other.
	return due.Add(s.cfg.Business().Sub(s.cfg.Now()).Round(time.Second))
}

// RecordAccountView audits that an operator views a customer's account. It must be called
// before an operator is shown customer data. object is the viewed part, such as an order;
// empty means the whole account.
func (s *Service) RecordAccountView(ctx context.Context, operator registrar.Actor, customer, object string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	return s.cfg.Store.RecordAuditEvent(ctx, registrar.AuditEvent{Actor: operator, Action: AccountViewed, Customer: customer, Object: object, At: s.cfg.Business()})
}

// LockRequest is a lock as an operator requests it. Name is in lower-case A-labels.
type LockRequest struct {
	Name              string
	Cause             Cause
	Reason, Reference string
	Restrictions      []Restriction
	ReviewAt          time.Time
}

// PreviewLock returns the lock that a request would set, or why it would be refused.
func (s *Service) PreviewLock(ctx context.Context, operator registrar.Actor, request LockRequest) (Lock, error) {
	if err := operator.RequireOperator(); err != nil {
		return Lock{}, err
	}
	now := s.cfg.Business().Truncate(time.Microsecond)
	request.Reason, request.Reference = strings.TrimSpace(request.Reason), strings.TrimSpace(request.Reference)
	if err := request.validate(now); err != nil {
		return Lock{}, err
	}
	ref, found, err := s.cfg.Store.GetDomainRef(ctx, request.Name)
	if err != nil {
		return Lock{}, err
	}
	if !found {
		return Lock{}, registrar.NotFound(registrar.NoSuchDomain)
	}
	holds := slices.Contains(request.Restrictions, Hold)
	if holds {
		if s.cfg.Holds == nil || s.cfg.Holds.LacksHold(ref.TLD) {
			return Lock{}, registrar.Unsupported(HoldUnsupported)
		}
		request.Restrictions = append(slices.Clone(request.Restrictions), Transfer)
	}
	lock := Lock{
		ID: registrar.NewID(LockIDPrefix, now), Domain: ref.ID, Name: ref.Name, Customer: ref.Customer, Cause: request.Cause,
		Reason: request.Reason, Reference: request.Reference, Restrictions: normalizeRestrictions(request.Restrictions), ReviewAt: request.ReviewAt.Truncate(time.Microsecond),
		SetBy: operator.Through, SetAt: now,
	}
	if holds {
		lock.HoldStepAt = now
	}
	return lock, nil
}

// SetLock locks a domain. notSecured is why the registry did not secure it, if the lock
// requires that; the lock is active regardless. A request that was sent twice sets one lock.
func (s *Service) SetLock(ctx context.Context, operator registrar.Actor, request LockRequest) (lock Lock, notSecured, err error) {
	if lock, err = s.PreviewLock(ctx, operator, request); err != nil {
		return Lock{}, nil, err
	}
	active, err := s.cfg.Store.ListActiveLocksOfDomain(ctx, lock.Domain)
	if err != nil {
		return Lock{}, nil, err
	}
	if same := slices.IndexFunc(active, lock.repeats); same >= 0 {
		return active[same], nil, nil
	}
	if err := s.cfg.Store.AddDomainLock(ctx, lock, s.auditEvent(operator, LockSet, lock), lockMail(lock, string(lock.Cause), lock.SetAt), s.cfg.Now()); err != nil {
		return Lock{}, nil, err
	}
	failpoint.Hit("lock_written")
	s.cfg.MailQueued()
	if lock.Has(Transfer) {
		notSecured = s.cfg.Secure(ctx, operator, lock.Customer, lock.Domain, lock.ID)
	}
	s.holds.Wake() // after that: a domain has one change at a time
	return lock, notSecured, nil
}

// repeats reports whether another lock has everything that an operator entered for this one.
func (l Lock) repeats(other Lock) bool {
	return other.Cause == l.Cause && other.Reason == l.Reason && other.Reference == l.Reference &&
		other.ReviewAt.Equal(l.ReviewAt) && slices.Equal(other.Restrictions, l.Restrictions)
}

func (w LockRequest) validate(now time.Time) error {
	switch {
	case !slices.Contains(Causes(), w.Cause):
		return registrar.Invalid(BadCause)
	case w.Reason == "" || !isPrintable(w.Reason, maxReason) || !isPrintable(w.Reference, maxReference):
		return registrar.Invalid(BadReason)
	case len(w.Restrictions) == 0 || slices.ContainsFunc(w.Restrictions, func(b Restriction) bool { return !slices.Contains(Restrictions(), b) }):
		return registrar.Invalid(BadRestrictions)
	case !w.ReviewAt.After(now) || w.ReviewAt.After(now.Add(maxReviewDelay)):
		return registrar.Invalid(BadReviewDate)
	}
	return nil
}

func isPrintable(text string, limit int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= limit &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// normalizeRestrictions returns the chosen restrictions in table order, without duplicates.
func normalizeRestrictions(chosen []Restriction) []Restriction {
	return slices.DeleteFunc(Restrictions(), func(r Restriction) bool { return !slices.Contains(chosen, r) })
}

// LiftLock ends a lock. Its hold ends, unless the domain is on hold for another reason, too. Its
// transfer lock at the registry stays; the customer may remove it.
func (s *Service) LiftLock(ctx context.Context, operator registrar.Actor, id string) (Lock, error) {
	if err := operator.RequireOperator(); err != nil {
		return Lock{}, err
	}
	lock, found, err := s.cfg.Store.GetDomainLock(ctx, id)
	if err != nil {
		return Lock{}, err
	}
	if !found {
		return Lock{}, registrar.NotFound(NoSuchLock)
	}
	lock.LiftedBy, lock.LiftedAt = operator.Through, s.cfg.Business().Truncate(time.Microsecond)
	if lock.Has(Hold) {
		lock.HoldStepAt = lock.LiftedAt
	}
	lifted, err := s.cfg.Store.LiftDomainLock(ctx, lock, s.auditEvent(operator, LockLifted, lock), lockMail(lock, "lifted", lock.LiftedAt), s.cfg.Now())
	if err != nil {
		return Lock{}, err
	}
	if !lifted {
		return Lock{}, registrar.NotFound(NoSuchLock)
	}
	failpoint.Hit("lock_ended")
	s.cfg.MailQueued()
	s.holds.Wake()
	return lock, nil
}

func (s *Service) auditEvent(operator registrar.Actor, action registrar.Action, lock Lock) registrar.AuditEvent {
	return registrar.AuditEvent{Actor: operator, Action: action, Customer: lock.Customer, Object: lock.Name, At: s.cfg.Business()}
}

func lockMail(lock Lock, change string, at time.Time) registrar.Mail {
	return registrar.Mail{Kind: registrar.MailDomainLock, Customer: lock.Customer, Data: map[string]string{
		"domain": lock.Name, "change": change, "name": lock.Reason, registrar.MailOccurredAt: at.UTC().Format(time.RFC3339),
		"suspended": strconv.FormatBool(lock.Has(Hold)), registrar.NoticeDomain: lock.Domain,
	}}
}

// ListLocks returns the active locks, ordered by review date, and the most recently lifted
// ones.
func (s *Service) ListLocks(ctx context.Context, operator registrar.Actor) (inForce, lifted []Lock, err error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, nil, err
	}
	if inForce, err = s.listActiveLocks(ctx, operator); err != nil {
		return nil, nil, err
	}
	lifted, err = s.cfg.Store.ListLiftedDomainLocks(ctx, maxListed/4)
	return inForce, lifted, err
}

// ListDueLocks returns the active locks that need an operator: due for review, not secured, or
// not on hold.
func (s *Service) ListDueLocks(ctx context.Context, operator registrar.Actor) ([]Lock, error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	now := s.cfg.Business() // by which locks are reviewed
	locks, err := s.listActiveLocks(ctx, operator)
	return slices.DeleteFunc(locks, func(l Lock) bool {
		return l.ReviewAt.After(now) && l.SecureStatus != NotSecured && l.HoldStatus != NotHeld
	}), err
}

// listActiveLocks returns the active locks with what the registry has of them.
func (s *Service) listActiveLocks(ctx context.Context, operator registrar.Actor) ([]Lock, error) {
	locks, err := s.cfg.Store.ListActiveDomainLocks(ctx, maxListed)
	for i := range locks {
		if err := s.loadSecureStatus(ctx, &locks[i]); err != nil {
			return nil, err
		}
		if err := s.loadHoldStatus(ctx, operator, &locks[i]); err != nil {
			return nil, err
		}
	}
	return locks, err
}

// Forbids reports whether a lock forbids an operation on a domain.
func (s *Service) Forbids(ctx context.Context, domain string, restriction Restriction) (bool, error) {
	locks, err := s.cfg.Store.ListActiveLocksOfDomain(ctx, domain)
	return slices.ContainsFunc(locks, func(l Lock) bool { return slices.Contains(l.Restrictions, restriction) }), err
}

// SecureStatus is whether a lock's domain is secured at the registry.
type SecureStatus string

// Secure statuses; empty for a lock that does not restrict transfers.
const (
	Secured          SecureStatus = "secured"
	SecureInProgress SecureStatus = "in_progress"
	NotSecured       SecureStatus = "not_secured"
)

// Secure asks the registry again to secure a locked domain.
func (s *Service) Secure(ctx context.Context, operator registrar.Actor, id string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	lock, found, err := s.cfg.Store.GetDomainLock(ctx, id)
	if err != nil {
		return err
	}
	if !found || !lock.LiftedAt.IsZero() || !slices.Contains(lock.Restrictions, Transfer) {
		return registrar.NotFound(NoSuchLock)
	}
	return s.cfg.Secure(ctx, operator, lock.Customer, lock.Domain, lock.ID)
}

// loadSecureStatus sets a lock's status from the registry changes. It reveals a crash
// between lock and registry as well as a refusal by the registry.
func (s *Service) loadSecureStatus(ctx context.Context, lock *Lock) error {
	if s.cfg.SecuredFor == nil || !slices.Contains(lock.Restrictions, Transfer) {
		return nil
	}
	secured, inProgress, err := s.cfg.SecuredFor(ctx, lock.Domain, lock.ID)
	switch {
	case secured:
		lock.SecureStatus = Secured
	case inProgress:
		lock.SecureStatus = SecureInProgress
	default:
		lock.SecureStatus = NotSecured
	}
	return err
}
