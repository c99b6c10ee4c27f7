package lifecycle

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
)

// Store persists notices, unpaid terms, reminders and the brake.
type Store interface {
	noticeStore
	termStore
	reminderStore
	BrakeStore
}

type noticeStore interface {
	// GetDomainRegistrant returns a domain's own copy of the registrant; zero if it has none.
	GetDomainRegistrant(ctx context.Context, customer, domain string) (registrar.Registrant, error)
	// ListEndingDomains returns active domains with this last notice whose term ends by
	// until, the first to end first, except those with an open paid item.
	ListEndingDomains(ctx context.Context, sent Notice, until time.Time, limit int) ([]Domain, error)
	// GetDeclared returns whether the customer lets a domain expire, and when they terminated the contract
	// about it or withdrew from it.
	GetDeclared(ctx context.Context, customer, domain string, termEnd time.Time) (Declared, error)
	// AnnouncedRenewal returns the charge that was announced for a term. It returns false if none was,
	// except while automatic renewal is on but begins with the next term (Charge.NextTerm). After a
	// failed charge the customer is asked to renew, like everyone else.
	AnnouncedRenewal(ctx context.Context, customer, domain string, termEnd time.Time) (Charge, bool, error)
	// StoreExpiryNotice stores the notice and queues its mail. A domain whose term is over
	// becomes expired, with the audit event and, unless the term had ended before the first
	// run, an unpaid term. It returns false and stores nothing if the domain has changed.
	StoreExpiryNotice(ctx context.Context, update NoticeUpdate) (bool, error)
}

type termStore interface {
	// ListDueTerms returns terms whose step is due by business time and that no node works
	// on by the real time. While stopped, only those whose action has begun.
	ListDueTerms(ctx context.Context, now, clock time.Time, stopped bool, limit int) ([]Term, error)
	// ListPlannedTerms returns unpaid and held terms whose step is due and that don't wait.
	ListPlannedTerms(ctx context.Context, now time.Time, limit int) ([]Term, error)
	// ListWaitingTerms returns terms that wait for an operator.
	ListWaitingTerms(ctx context.Context, limit int) ([]Term, error)
	// ListOverdueDomains returns expired domains whose term had ended before the first run.
	ListOverdueDomains(ctx context.Context, startedAt time.Time, limit int) ([]Domain, error)
	GetTerm(ctx context.Context, domain string, end time.Time) (Term, bool, error)
	GetOpenTerm(ctx context.Context, domain string) (Term, bool, error)
	// IsLocked reports whether a dispute, a court order or abuse forbids changes.
	IsLocked(ctx context.Context, domain string) (bool, error)
	// IsDomainSuspended reports whether a domain is on hold because its registrant's address is not
	// confirmed (package contactcheck), or by an operator's lock (package admin).
	IsDomainSuspended(ctx context.Context, domain string) (bool, error)
	// GetDomainHandle returns the registrant's contact at the registry; empty if there is none.
	GetDomainHandle(ctx context.Context, domain string) (string, error)
	// GetRegistrationCharge returns what the registry charged for the registration of a domain
	// that has a term here; false if that is not in the books.
	GetRegistrationCharge(ctx context.Context, domain string) (cost.Charge, bool, error)
	// UpdateTerm applies one transition. It returns false, and changes nothing, if the term
	// is no longer in the state and due time of From, or if the domain is being paid and the
	// transition may not happen then.
	UpdateTerm(ctx context.Context, transition TermTransition) (bool, error)
	// BeginAction stores the intent of a hold or deletion, if the domain still has this
	// unpaid term and nothing prevents it.
	BeginAction(ctx context.Context, begin BeginAction) (Verdict, error)
	// AdoptTerm stores an unpaid term of a domain that expired before the first run. It
	// returns false if the domain is not expired.
	AdoptTerm(ctx context.Context, domain string, stepAt, at time.Time, event registrar.AuditEvent) (bool, error)
}

type reminderStore interface {
	// ListUndatedReminders returns accounts without a date for their reminder.
	ListUndatedReminders(ctx context.Context, limit int) ([]Reminder, error)
	// ListDueReminders returns accounts whose last reminder, or its date, is before.
	ListDueReminders(ctx context.Context, before time.Time, limit int) ([]Reminder, error)
	GetRegistrantData(ctx context.Context, customer string) (registrar.Registrant, bool, error)
	// ListDomainsOfHolder and ListHolders are those of holder.Store.
	ListDomainsOfHolder(ctx context.Context, customer, id, after string, limit int) ([]holder.Domain, error)
	ListHolders(ctx context.Context, customer string, limit int) ([]holder.Holder, error)
	// StoreReminder stores the date of a reminder and queues its mail, if the account holds
	// domains. It returns false if the date has changed since. A nil mail sets the date only.
	StoreReminder(ctx context.Context, was Reminder, at time.Time, mail *registrar.Mail, clock time.Time) (bool, error)
}

// BrakeStore persists the brake.
type BrakeStore interface {
	// GetBrake returns the brake; false if nothing has run yet.
	GetBrake(ctx context.Context) (BrakeStatus, bool, error)
	// StartBrake stores the first run, unless there was one.
	StartBrake(ctx context.Context, now time.Time) error
	// SetBrakeRun stores a run; stop engages the brake by the clock rule. It returns false if
	// another node stored one since lastRun.
	SetBrakeRun(ctx context.Context, lastRun, now time.Time, stop bool) (bool, error)
	// StopBrakeByVolume engages the brake. It returns false if it was engaged already.
	StopBrakeByVolume(ctx context.Context, now time.Time) (bool, error)
	// ConfirmBrake releases a brake that was engaged at stoppedAt and allows so many actions
	// in addition to those of the day. It returns false if it is not engaged any more.
	ConfirmBrake(ctx context.Context, stoppedAt, now time.Time, planned int, event registrar.AuditEvent) (bool, error)
	// CountHeldDomains counts the domains of all customers.
	CountHeldDomains(ctx context.Context) (int, error)
}

// Charge is an announced automatic renewal.
type Charge struct {
	At    time.Time
	Gross registrar.Cents
	// MethodExpires is the last month (2029-12) of the card to charge, if that is over by then; empty
	// otherwise.
	MethodExpires string
	// NextTerm means that nothing is charged for this term: automatic renewal begins with the next one.
	NextTerm bool
}

// TermTransition moves a term from the state and due time of From to To.
type TermTransition struct {
	From, To Term
	// DomainStatus is the domain's new status; empty: unchanged. Close removes the domain
	// from its customer. UnlessPaid refuses the transition, as Close does, while the domain is
	// being paid or renewed.
	DomainStatus      registrar.DomainStatus
	Close, UnlessPaid bool
	AuditEvent        *registrar.AuditEvent
	Mail              *registrar.Mail
	HolderMail        *registrar.Mail // to the registrant; nil if they get none
	// ReturnedFee is stored once, also if a later transition has it again.
	ReturnedFee *cost.Charge
	Now, At     time.Time // business and real time
}

// BeginAction is the intent of a hold or a deletion.
type BeginAction struct {
	From, To Term
	// Consent means that the customer must have chosen to let the domain expire; Notices
	// that the mail server must have accepted its notices. Both are false if an operator
	// has decided, and so is Counted: such an action is not limited by the brake.
	Consent, Notices, Counted bool
	// Day and DayLimit are for the brake.
	Day        int64
	DayLimit   int
	AuditEvent *registrar.AuditEvent // of an operator's decision
	Now        time.Time
}

// Verdict says whether an action has begun, and why not.
type Verdict string

// The verdicts. The reasons to wait for an operator are verdicts, too.
const (
	Begun      Verdict = "begun"
	Changed    Verdict = "changed"     // another node has the term
	NotUnpaid  Verdict = "not_unpaid"  // the domain has another term, another status, or is gone
	Paying     Verdict = "paying"      // it is being paid or renewed
	MailQueued Verdict = "mail_queued" // a notice has neither been accepted nor abandoned yet
	Stopped    Verdict = "stopped"     // the brake is engaged, or the day's limit reached
)

// RegistryState is what a registry shows of a domain.
type RegistryState string

// What registries show.
const (
	Registered RegistryState = "registered"
	Deleted    RegistryState = "deleted"   // in redemption, or pending delete after it
	Gone       RegistryState = "gone"      // it does not exist
	Elsewhere  RegistryState = "elsewhere" // another registrar or the registry itself sponsors it
)

// Registry is a registry account. Errors are *registrar.Error: KindUpstream,
// KindRateLimited and KindInternal mean that nothing is decided and the call can be
// repeated; every other kind is the registry's decision. Each call queries the domain first
// and sends no command that has been executed already, so it may be repeated after a crash.
type Registry interface {
	// RegistryState queries a domain.
	RegistryState(ctx context.Context, name string) (RegistryState, error)
	// Hold takes a registered domain out of the DNS (clientHold); Unhold ends that.
	Hold(ctx context.Context, name, transaction string) (RegistryState, error)
	Unhold(ctx context.Context, name, transaction string) error
	// Delete deletes a registered domain and returns what the registry shows afterwards. The fee
	// is what the response reports, below zero if the registry returns one; zero if nothing.
	Delete(ctx context.Context, name, transaction string) (state RegistryState, fee registrar.Money, err error)
	// DeleteContact deletes an unused contact. A missing one is no error.
	DeleteContact(ctx context.Context, handle, transaction string) error
}

// NamedRegistry is one registry account and the TLDs it serves.
type NamedRegistry struct {
	Name     string
	Serves   func(tld string) bool
	Registry Registry
}
