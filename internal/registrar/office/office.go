package office

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

// Block is what a lock forbids.
type Block string

// The blocks; doc.go says what each means.
const (
	Transfer    Block = "transfer"
	Nameservers Block = "nameservers"
	Renewal     Block = "renewal"
)

// Blocks are all of them.
func Blocks() []Block { return []Block{Transfer, Nameservers, Renewal} }

// Lock is what a dispute, a court or abuse forbids to do with a domain.
type Lock struct {
	ID string
	// Domain is its id, Name the whole name in A-labels, Customer who held it then.
	Domain, Name, Customer string
	Cause                  Cause
	// Reason is the operator's words, which the holder reads; Reference is the other
	// side's number.
	Reason, Reference string
	Blocks            []Block
	// ReviewAt is when an operator has to look again.
	ReviewAt time.Time
	SetBy    string
	SetAt    time.Time
	LiftedBy string
	// LiftedAt is zero while it is in force.
	LiftedAt time.Time
	// Securing is how far the registry keeps the domain, for a lock in force that blocks
	// transfers. It is not stored: the registry's changes know.
	Securing Securing
}

// Held is a domain that somebody holds.
type Held struct{ ID, Name, Customer string }

// What can go wrong. Transports have a sentence for each.
const (
	// OperatorsOnly goes with KindForbidden.
	OperatorsOnly registrar.Code = "operators_only"
	// NoSuchDomain, NoSuchLock, NoSuchJob and NoSuchCustomer go with KindNotFound.
	NoSuchDomain   registrar.Code = "no_such_domain"
	NoSuchLock     registrar.Code = "no_such_lock"
	NoSuchJob      registrar.Code = "no_such_job"
	NoSuchCustomer registrar.Code = "no_such_customer"
	// These go with KindInvalid.
	BadCause    registrar.Code = "bad_cause"
	BadReason   registrar.Code = "bad_reason"
	BadBlocks   registrar.Code = "bad_blocks"
	BadDeadline registrar.Code = "bad_deadline"
	// JobInHand goes with KindConflict: somebody works on it at this moment, or it is
	// due already.
	JobInHand registrar.Code = "job_in_hand"
)

// What the audit tells.
const (
	LockSet    registrar.Action = "domain_lock_set"
	LockLifted registrar.Action = "domain_lock_lifted"
	Looked     registrar.Action = "operator_looked"
	Retried    registrar.Action = "job_retried"
	Repriced   registrar.Action = "price_list_replaced"
)

// Actions are all of them.
func Actions() []registrar.Action {
	return []registrar.Action{LockSet, LockLifted, Looked, Retried, Repriced}
}

const (
	// A reason is one sentence: the holder's mail quotes it.
	maxReason    = 100
	maxReference = 60
	// maxAhead is how far away the next look at a lock may be.
	maxAhead = 2 * 365 * 24 * time.Hour
	// listed bounds every list.
	listed = 100
)

// Store keeps locks and knows the work. Each change is one transaction with its deed.
type Store interface {
	// HeldDomain is the domain of a name; false if nobody holds it.
	HeldDomain(ctx context.Context, name string) (Held, bool, error)
	AddLock(ctx context.Context, lock Lock, deed registrar.Deed, letter registrar.Letter) error
	LockByID(ctx context.Context, id string) (Lock, bool, error)
	// LiftLock is false if there is none in force.
	LiftLock(ctx context.Context, lock Lock, deed registrar.Deed, letter registrar.Letter) (bool, error)
	// LocksOf are those in force on a domain.
	LocksOf(ctx context.Context, domain string) ([]Lock, error)
	// LocksInForce begin with the one that is due first, LiftedLocks with the last.
	LocksInForce(ctx context.Context, limit int) ([]Lock, error)
	LiftedLocks(ctx context.Context, limit int) ([]Lock, error)

	// Work is what is not done: what was tried most often first, or what is due next.
	Work(ctx context.Context, kind JobKind, tried bool, limit int) ([]Job, error)
	// HurryJob makes a job due now; false if somebody has it, or there is none.
	HurryJob(ctx context.Context, kind JobKind, id string, now time.Time, deed registrar.Deed) (bool, error)
	// Setback is why a job did not get on; false if nobody knows.
	Setback(ctx context.Context, kind JobKind, id string) (Setback, bool, error)
	// KeepSetback remembers it, and forgets some that are older than before.
	KeepSetback(ctx context.Context, kind JobKind, id string, setback Setback, before time.Time) error
	// WaitingRefunds are those that are due the longest.
	WaitingRefunds(ctx context.Context, limit int) ([]Refund, error)

	// Note writes one entry of the audit.
	Note(ctx context.Context, deed registrar.Deed) error
}

// Config is what a Service needs.
type Config struct {
	Store Store
	// Secure has the registry keep a domain from leaving, for a lock that blocks
	// transfers; nil means that nobody can.
	Secure func(ctx context.Context, operator registrar.Actor, customer, domain, lock string) error
	// SecuredFor says whether that was done for a lock, or is under way; nil means that
	// nobody knows.
	SecuredFor func(ctx context.Context, domain, lock string) (secured, underWay bool, err error)
	// GiveUp ends a change of a domain that nobody can carry out; nil means that nobody can.
	GiveUp func(ctx context.Context, operator registrar.Actor, change string) error
	// LettersWaiting is called after a letter was stored; nil: nobody waits.
	LettersWaiting func()
	// Woken is told that a job of a kind is due now; nil: it is found by itself.
	Woken func(JobKind)
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
	if cfg.GiveUp == nil {
		cfg.GiveUp = func(context.Context, registrar.Actor, string) error { return missing(NoSuchJob) }
	}
	if cfg.LettersWaiting == nil {
		cfg.LettersWaiting = func() {}
	}
	if cfg.Woken == nil {
		cfg.Woken = func(JobKind) {}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg: cfg}, nil
}

func requireOperator(actor registrar.Actor) error {
	if actor.Kind != registrar.ActorOperator || actor.Through == "" {
		return &registrar.Error{Kind: registrar.KindForbidden, Code: OperatorsOnly}
	}
	return nil
}

func invalid(code registrar.Code) error {
	return &registrar.Error{Kind: registrar.KindInvalid, Code: code}
}

func missing(code registrar.Code) error {
	return &registrar.Error{Kind: registrar.KindNotFound, Code: code}
}

// Look writes into a customer's audit that an operator looks at the account. Whoever
// shows an operator anything of a customer calls it first.
// object is what of it, such as an order; empty: all.
func (s *Service) Look(ctx context.Context, operator registrar.Actor, customer, object string) error {
	if err := requireOperator(operator); err != nil {
		return err
	}
	return s.cfg.Store.Note(ctx, registrar.Deed{Actor: operator, Action: Looked, Customer: customer, Object: object, At: s.cfg.Now()})
}

// Wish is a lock as an operator asks for it. Name is in A-labels, lower case.
type Wish struct {
	Name              string
	Cause             Cause
	Reason, Reference string
	Blocks            []Block
	ReviewAt          time.Time
}

// SetLock locks a domain. notSecured is why the registry does not keep it from
// leaving, where the lock wants that: the lock stands all the same.
func (s *Service) SetLock(ctx context.Context, operator registrar.Actor, wish Wish) (lock Lock, notSecured, err error) {
	if err := requireOperator(operator); err != nil {
		return Lock{}, nil, err
	}
	now := s.cfg.Now().Truncate(time.Microsecond)
	wish.Reason, wish.Reference = strings.TrimSpace(wish.Reason), strings.TrimSpace(wish.Reference)
	if err := wish.check(now); err != nil {
		return Lock{}, nil, err
	}
	held, found, err := s.cfg.Store.HeldDomain(ctx, wish.Name)
	if err != nil {
		return Lock{}, nil, err
	}
	if !found {
		return Lock{}, nil, missing(NoSuchDomain)
	}
	lock = Lock{
		ID: registrar.NewID("lck_", now), Domain: held.ID, Name: held.Name, Customer: held.Customer, Cause: wish.Cause,
		Reason: wish.Reason, Reference: wish.Reference, Blocks: ordered(wish.Blocks), ReviewAt: wish.ReviewAt.Truncate(time.Microsecond),
		SetBy: operator.Through, SetAt: now,
	}
	if err := s.cfg.Store.AddLock(ctx, lock, s.deed(operator, LockSet, lock), letter(lock, string(lock.Cause))); err != nil {
		return Lock{}, nil, err
	}
	s.cfg.LettersWaiting()
	if slices.Contains(lock.Blocks, Transfer) {
		notSecured = s.cfg.Secure(ctx, operator, held.Customer, held.ID, lock.ID)
	}
	return lock, notSecured, nil
}

func (w Wish) check(now time.Time) error {
	switch {
	case !slices.Contains(Causes(), w.Cause):
		return invalid(BadCause)
	case w.Reason == "" || !readable(w.Reason, maxReason) || !readable(w.Reference, maxReference):
		return invalid(BadReason)
	case len(w.Blocks) == 0 || slices.ContainsFunc(w.Blocks, func(b Block) bool { return !slices.Contains(Blocks(), b) }):
		return invalid(BadBlocks)
	case !w.ReviewAt.After(now) || w.ReviewAt.After(now.Add(maxAhead)):
		return invalid(BadDeadline)
	}
	return nil
}

func readable(text string, most int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= most &&
		strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// ordered are the chosen blocks in the order of the table, each once.
func ordered(chosen []Block) []Block {
	var all []Block
	for _, block := range Blocks() {
		if slices.Contains(chosen, block) {
			all = append(all, block)
		}
	}
	return all
}

// LiftLock ends a lock. What it set at the registry stays: the holder may take it off.
func (s *Service) LiftLock(ctx context.Context, operator registrar.Actor, id string) (Lock, error) {
	if err := requireOperator(operator); err != nil {
		return Lock{}, err
	}
	lock, found, err := s.cfg.Store.LockByID(ctx, id)
	if err != nil {
		return Lock{}, err
	}
	if !found {
		return Lock{}, missing(NoSuchLock)
	}
	lock.LiftedBy, lock.LiftedAt = operator.Through, s.cfg.Now().Truncate(time.Microsecond)
	lifted, err := s.cfg.Store.LiftLock(ctx, lock, s.deed(operator, LockLifted, lock), letter(lock, "lifted"))
	if err != nil {
		return Lock{}, err
	}
	if !lifted {
		return Lock{}, missing(NoSuchLock)
	}
	s.cfg.LettersWaiting()
	return lock, nil
}

func (s *Service) deed(operator registrar.Actor, action registrar.Action, lock Lock) registrar.Deed {
	return registrar.Deed{Actor: operator, Action: action, Customer: lock.Customer, Object: lock.Name, At: s.cfg.Now()}
}

func letter(lock Lock, change string) registrar.Letter {
	return registrar.Letter{Kind: registrar.LetterDomainLock, Customer: lock.Customer, Facts: map[string]string{
		"domain": lock.Name, "change": change, "name": lock.Reason,
	}}
}

// Locks are those in force, the one that is due first at the top, and those that
// were lifted last.
func (s *Service) Locks(ctx context.Context, operator registrar.Actor) (inForce, lifted []Lock, err error) {
	if err := requireOperator(operator); err != nil {
		return nil, nil, err
	}
	if inForce, err = s.inForce(ctx); err != nil {
		return nil, nil, err
	}
	lifted, err = s.cfg.Store.LiftedLocks(ctx, listed/4)
	return inForce, lifted, err
}

// inForce are the locks in force, with how far registries keep their domains.
func (s *Service) inForce(ctx context.Context) ([]Lock, error) {
	locks, err := s.cfg.Store.LocksInForce(ctx, listed)
	for i := range locks {
		if err := s.lookUpSecuring(ctx, &locks[i]); err != nil {
			return nil, err
		}
	}
	return locks, err
}

// Bars says whether a lock forbids something to be done with a domain.
func (s *Service) Bars(ctx context.Context, domain string, block Block) (bool, error) {
	locks, err := s.cfg.Store.LocksOf(ctx, domain)
	return slices.ContainsFunc(locks, func(l Lock) bool { return slices.Contains(l.Blocks, block) }), err
}
