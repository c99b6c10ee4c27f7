package admin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Cause is why a domain is locked.
type Cause string

// The causes.
const (
	Chargeback Cause = "chargeback"
	UDRP       Cause = "udrp"
	Court      Cause = "court"
	Abuse      Cause = "abuse"
)

// Causes are all of them.
func Causes() []Cause { return []Cause{Chargeback, UDRP, Court, Abuse} }

// Restriction is what a lock forbids.
type Restriction string

// The blocks; doc.go says what each means.
const (
	Transfer    Restriction = "transfer"
	Nameservers Restriction = "nameservers"
	Renewal     Restriction = "renewal"
)

// Restrictions are all of them.
func Restrictions() []Restriction { return []Restriction{Transfer, Nameservers, Renewal} }

// Lock is what a dispute, a court or abuse forbids to do with a domain.
type Lock struct {
	ID string
	// Domain is its id, Name the whole name in A-labels, Customer who held it then.
	Domain, Name, Customer string
	Cause                  Cause
	// Reason is the operator's words, which the holder reads; Reference is the other
	// side's number.
	Reason, Reference string
	Restrictions      []Restriction
	// ReviewAt is when an operator has to look again.
	ReviewAt time.Time
	SetBy    string
	SetAt    time.Time
	LiftedBy string
	// LiftedAt is zero while it is in force.
	LiftedAt time.Time
	// SecureStatus is how far the registry keeps the domain, for a lock in force that blocks
	// transfers. It is not stored: the registry's changes know.
	SecureStatus SecureStatus
}

// DomainRef is a domain that somebody holds.
type DomainRef struct{ ID, Name, Customer string }

// What can go wrong. Transports have a sentence for each.
const (
	// NoSuchLock and NoSuchJob go with KindNotFound.
	NoSuchLock registrar.Code = "no_such_lock"
	NoSuchJob  registrar.Code = "no_such_job"
	// These go with KindInvalid.
	BadCause        registrar.Code = "bad_cause"
	BadReason       registrar.Code = "bad_reason"
	BadRestrictions registrar.Code = "bad_blocks"
	BadReviewDate   registrar.Code = "bad_deadline"
	// JobClaimed goes with KindConflict: somebody works on it at this moment, or it is
	// due already.
	JobClaimed registrar.Code = "job_in_hand"
)

// What the audit tells.
const (
	LockSet           registrar.Action = "domain_lock_set"
	LockLifted        registrar.Action = "domain_lock_lifted"
	AccountViewed     registrar.Action = "operator_looked"
	JobRetried        registrar.Action = "job_retried"
	PriceListReplaced registrar.Action = "price_list_replaced"
)

// Actions are all of them.
func Actions() []registrar.Action {
	return []registrar.Action{LockSet, LockLifted, AccountViewed, JobRetried, PriceListReplaced}
}

const (
	// A reason is one sentence: the holder's mail quotes it.
	maxReason    = 100
	maxReference = 60
	// maxReviewDelay is how far away the next look at a lock may be.
	maxReviewDelay = 2 * 365 * 24 * time.Hour
	// maxListed bounds every list.
	maxListed = 100
)

// Store keeps locks and knows the work. Each change is one transaction with its deed.
type Store interface {
	// GetDomainRef is the domain of a name; false if nobody holds it.
	GetDomainRef(ctx context.Context, name string) (DomainRef, bool, error)
	AddDomainLock(ctx context.Context, lock Lock, event registrar.AuditEvent, mail registrar.Mail) error
	GetDomainLock(ctx context.Context, id string) (Lock, bool, error)
	// LiftDomainLock is false if there is none in force.
	LiftDomainLock(ctx context.Context, lock Lock, event registrar.AuditEvent, mail registrar.Mail) (bool, error)
	// ListActiveLocksOfDomain are those in force on a domain.
	ListActiveLocksOfDomain(ctx context.Context, domain string) ([]Lock, error)
	// ListActiveDomainLocks begin with the one that is due first, LiftedLocks with the last.
	ListActiveDomainLocks(ctx context.Context, limit int) ([]Lock, error)
	ListLiftedDomainLocks(ctx context.Context, limit int) ([]Lock, error)

	// ListJobs is what is not done: what was tried most often first, or what is due next.
	ListJobs(ctx context.Context, kind JobKind, retrying bool, limit int) ([]Job, error)
	// RetryJobNow makes a job due now; false if somebody has it, or there is none.
	RetryJobNow(ctx context.Context, kind JobKind, id string, now time.Time, event registrar.AuditEvent) (bool, error)
	// GetJobError is why a job did not get on; false if nobody knows.
	GetJobError(ctx context.Context, kind JobKind, id string) (JobError, bool, error)
	// PutJobError remembers it, and forgets some that are older than before.
	PutJobError(ctx context.Context, kind JobKind, id string, jobError JobError, before time.Time) error
	// ListPendingRefunds are those that are due the longest.
	ListPendingRefunds(ctx context.Context, limit int) ([]Refund, error)

	// RecordAuditEvent writes one entry of the audit.
	RecordAuditEvent(ctx context.Context, event registrar.AuditEvent) error
}

// Config is what a Service needs.
type Config struct {
	Store Store
	// Secure has the registry keep a domain from leaving, for a lock that blocks
	// transfers; nil means that nobody can.
	Secure func(ctx context.Context, operator registrar.Actor, customer, domain, lock string) error
	// SecuredFor says whether that was done for a lock, or is under way; nil means that
	// nobody knows.
	SecuredFor func(ctx context.Context, domain, lock string) (secured, inProgress bool, err error)
	// AbandonChange ends a change of a domain that nobody can carry out; nil means that nobody can.
	AbandonChange func(ctx context.Context, operator registrar.Actor, change string) error
	// MailQueued is called after a letter was stored; nil: nobody waits.
	MailQueued func()
	// WakeJobs is told that a job of a kind is due now; nil: it is found by itself.
	WakeJobs func(JobKind)
	// Now is the true time; nil means time.Now.
	Now func() time.Time
}

// Service is safe for concurrent use.
type Service struct{ cfg Config }

// New returns a Service.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("office: a store is needed")
	}
	if cfg.Secure == nil {
		cfg.Secure = func(context.Context, registrar.Actor, string, string, string) error { return nil }
	}
	if cfg.AbandonChange == nil {
		cfg.AbandonChange = func(context.Context, registrar.Actor, string) error { return notFound(NoSuchJob) }
	}
	if cfg.MailQueued == nil {
		cfg.MailQueued = func() {}
	}
	if cfg.WakeJobs == nil {
		cfg.WakeJobs = func(JobKind) {}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg: cfg}, nil
}

func invalid(code registrar.Code) error {
	return &registrar.Error{Kind: registrar.KindInvalid, Code: code}
}

func notFound(code registrar.Code) error {
	return &registrar.Error{Kind: registrar.KindNotFound, Code: code}
}

// RecordAccountView writes into a customer's audit that an operator looks at the account. Whoever
// shows an operator anything of a customer calls it first.
// object is what of it, such as an order; empty: all.
func (s *Service) RecordAccountView(ctx context.Context, operator registrar.Actor, customer, object string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	return s.cfg.Store.RecordAuditEvent(ctx, registrar.AuditEvent{Actor: operator, Action: AccountViewed, Customer: customer, Object: object, At: s.cfg.Now()})
}

// LockRequest is a lock as an operator asks for it. Name is in A-labels, lower case.
type LockRequest struct {
	Name              string
	Cause             Cause
	Reason, Reference string
	Restrictions      []Restriction
	ReviewAt          time.Time
}

// SetLock locks a domain. notSecured is why the registry does not keep it from
// leaving, where the lock wants that: the lock stands all the same.
func (s *Service) SetLock(ctx context.Context, operator registrar.Actor, request LockRequest) (lock Lock, notSecured, err error) {
	if err := operator.RequireOperator(); err != nil {
		return Lock{}, nil, err
	}
	now := s.cfg.Now().Truncate(time.Microsecond)
	request.Reason, request.Reference = strings.TrimSpace(request.Reason), strings.TrimSpace(request.Reference)
	if err := request.validate(now); err != nil {
		return Lock{}, nil, err
	}
	ref, found, err := s.cfg.Store.GetDomainRef(ctx, request.Name)
	if err != nil {
		return Lock{}, nil, err
	}
	if !found {
		return Lock{}, nil, notFound(registrar.NoSuchDomain)
	}
	lock = Lock{
		ID: registrar.NewID("lck_", now), Domain: ref.ID, Name: ref.Name, Customer: ref.Customer, Cause: request.Cause,
		Reason: request.Reason, Reference: request.Reference, Restrictions: normalizeRestrictions(request.Restrictions), ReviewAt: request.ReviewAt.Truncate(time.Microsecond),
		SetBy: operator.Through, SetAt: now,
	}
	if err := s.cfg.Store.AddDomainLock(ctx, lock, s.auditEvent(operator, LockSet, lock), lockMail(lock, string(lock.Cause))); err != nil {
		return Lock{}, nil, err
	}
	s.cfg.MailQueued()
	if slices.Contains(lock.Restrictions, Transfer) {
		notSecured = s.cfg.Secure(ctx, operator, ref.Customer, ref.ID, lock.ID)
	}
	return lock, notSecured, nil
}

func (w LockRequest) validate(now time.Time) error {
	switch {
	case !slices.Contains(Causes(), w.Cause):
		return invalid(BadCause)
	case w.Reason == "" || !isPrintable(w.Reason, maxReason) || !isPrintable(w.Reference, maxReference):
		return invalid(BadReason)
	case len(w.Restrictions) == 0 || slices.ContainsFunc(w.Restrictions, func(b Restriction) bool { return !slices.Contains(Restrictions(), b) }):
		return invalid(BadRestrictions)
	case !w.ReviewAt.After(now) || w.ReviewAt.After(now.Add(maxReviewDelay)):
		return invalid(BadReviewDate)
	}
	return nil
}

func isPrintable(text string, limit int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= limit &&
		strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// normalizeRestrictions are the chosen blocks in the order of the table, each once.
func normalizeRestrictions(chosen []Restriction) []Restriction {
	var all []Restriction
	for _, restriction := range Restrictions() {
		if slices.Contains(chosen, restriction) {
			all = append(all, restriction)
		}
	}
	return all
}

// LiftLock ends a lock. What it set at the registry stays: the holder may take it off.
func (s *Service) LiftLock(ctx context.Context, operator registrar.Actor, id string) (Lock, error) {
	if err := operator.RequireOperator(); err != nil {
		return Lock{}, err
	}
	lock, found, err := s.cfg.Store.GetDomainLock(ctx, id)
	if err != nil {
		return Lock{}, err
	}
	if !found {
		return Lock{}, notFound(NoSuchLock)
	}
	lock.LiftedBy, lock.LiftedAt = operator.Through, s.cfg.Now().Truncate(time.Microsecond)
	lifted, err := s.cfg.Store.LiftDomainLock(ctx, lock, s.auditEvent(operator, LockLifted, lock), lockMail(lock, "lifted"))
	if err != nil {
		return Lock{}, err
	}
	if !lifted {
		return Lock{}, notFound(NoSuchLock)
	}
	s.cfg.MailQueued()
	return lock, nil
}

func (s *Service) auditEvent(operator registrar.Actor, action registrar.Action, lock Lock) registrar.AuditEvent {
	return registrar.AuditEvent{Actor: operator, Action: action, Customer: lock.Customer, Object: lock.Name, At: s.cfg.Now()}
}

func lockMail(lock Lock, change string) registrar.Mail {
	return registrar.Mail{Kind: registrar.MailDomainLock, Customer: lock.Customer, Data: map[string]string{
		"domain": lock.Name, "change": change, "name": lock.Reason,
	}}
}

// ListLocks are those in force, the one that is due first at the top, and those that
// were lifted last.
func (s *Service) ListLocks(ctx context.Context, operator registrar.Actor) (inForce, lifted []Lock, err error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, nil, err
	}
	if inForce, err = s.listActiveLocks(ctx); err != nil {
		return nil, nil, err
	}
	lifted, err = s.cfg.Store.ListLiftedDomainLocks(ctx, maxListed/4)
	return inForce, lifted, err
}

// listActiveLocks are the locks in force, with how far registries keep their domains.
func (s *Service) listActiveLocks(ctx context.Context) ([]Lock, error) {
	locks, err := s.cfg.Store.ListActiveDomainLocks(ctx, maxListed)
	for i := range locks {
		if err := s.loadSecureStatus(ctx, &locks[i]); err != nil {
			return nil, err
		}
	}
	return locks, err
}

// Forbids says whether a lock forbids something to be done with a domain.
func (s *Service) Forbids(ctx context.Context, domain string, restriction Restriction) (bool, error) {
	locks, err := s.cfg.Store.ListActiveLocksOfDomain(ctx, domain)
	return slices.ContainsFunc(locks, func(l Lock) bool { return slices.Contains(l.Restrictions, restriction) }), err
}
