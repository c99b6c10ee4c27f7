package domainchange

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Store persists changes and registry records. Lookups return false if there is nothing.
type Store interface {
	GetCustomerDomain(ctx context.Context, customer, id string) (Domain, bool, error)
	GetRegistrantData(ctx context.Context, customer string) (registrar.Registrant, bool, error)
	// ListPastRegistrants returns the newest first.
	ListPastRegistrants(ctx context.Context, domain string, limit int) ([]PastRegistrant, error)
	// PutRegistryRecord stores a record unless a newer one is stored.
	GetRegistryRecord(ctx context.Context, domain string) (Record, bool, error)
	PutRegistryRecord(ctx context.Context, domain string, record Record) error

	// AddDomainChange stores an open change. It returns ChangeInProgress if the domain has
	// one, and NoSuchDomain if it is no longer the customer's.
	AddDomainChange(ctx context.Context, change Change) error
	// UpdateDomainChange applies one transition. It returns false, and changes nothing, if
	// the change is no longer in the state and due time of From.
	UpdateDomainChange(ctx context.Context, transition Transition) (bool, error)
	// ClaimDueDomainChanges leases open changes that are due by the clock, or whose WaitUntil
	// is reached by the business time now, the longest overdue first.
	ClaimDueDomainChanges(ctx context.Context, clock, now, lease time.Time, limit int) ([]Change, error)
	// GetDomainChange returns a change of any customer.
	GetDomainChange(ctx context.Context, id string) (Change, bool, error)
	// These return the newest first; ListSecureChanges those of kind Secure.
	ListDomainChanges(ctx context.Context, domain string, limit int) ([]Change, error)
	// AwaitsConfirmation reports whether a registrant with that address has to confirm it (package
	// contactcheck).
	AwaitsConfirmation(ctx context.Context, customer, email string) (bool, error)
	ListSecureChanges(ctx context.Context, domain string, limit int) ([]Change, error)
	// GetLastChangeFor returns the newest change of two kinds that was stored for an operator's
	// lock or a dispute.
	GetLastChangeFor(ctx context.Context, domain, reference string, kind, or ChangeKind) (Change, bool, error)
	// IsOpenedSince reports whether an unlock or an auth code was stored after a change.
	IsOpenedSince(ctx context.Context, domain, change string) (bool, error)
	ListObjectAuditEvents(ctx context.Context, customer, object string, limit int) ([]registrar.AuditEvent, error)
}

// Transition moves a change from the state and due time of From to To.
type Transition struct {
	From, To Change
	Record   *Record // the registry's record, nil if it was not read
	// Registrant is what the domain gets from an UpdateRegistrant that is done, PastRegistrant what
	// it had; a differing one is kept.
	Registrant, PastRegistrant registrar.Registrant
	Unconfirmed                bool   // the new registrant has to confirm the address
	NextLock                   string // the id of the change that locks the domain afterwards; empty if none does
	// AuditEvent and Mail are nil for steps that are not reported. Notices go to registrants who
	// are not the customer.
	AuditEvent *registrar.AuditEvent
	Mail       *registrar.Mail
	Notices    []registrar.Mail
	At         time.Time // the real time, used for mails
}

// Registry is a registry account. Errors are *registrar.Error: KindUpstream,
// KindRateLimited and KindInternal mean that nothing is decided and the call can be
// repeated; every other kind is the registry's decision.
type Registry interface {
	// Capabilities returns what customers can change for names of the TLD.
	Capabilities(tld string) Capabilities
	// FetchRecord reads a domain's registry record.
	FetchRecord(ctx context.Context, name string) (Record, error)
	// ApplyChange establishes the desired state, whatever of it exists already. A task with
	// Pending set was accepted before; only its result is queried. Nameservers that differ are
	// not changed while the domain has DS records, unless the task is Immediate.
	ApplyChange(ctx context.Context, task Task) (Result, error)
}

// Capabilities is what customers can change for names of a TLD.
type Capabilities struct {
	// MinNameservers and MaxNameservers bound their number.
	MinNameservers, MaxNameservers int
	Lock                           bool // the registry has a transfer lock
	NoHold                         bool // the registry does not let us take a domain out of the DNS
	// Code: there is an auth code. CodeLength is the length of generated codes; 0 means
	// that the registry chooses. CodeDays is how long a code is valid; 0 means forever.
	Code                 bool
	CodeLength, CodeDays int
	Contacts             bool // the registry stores registrant data
	Tech, Billing        bool // and technical and billing contacts
	MaxYears             int  // the longest renewal
}

// canSetAuthCode reports whether we can set a new auth code and thus invalidate the old one.
func (p Capabilities) canSetAuthCode() bool { return p.Code && p.CodeLength > 0 }

// lacks returns why the registry does not offer a kind of change; empty if it does.
func (p Capabilities) lacks(kind ChangeKind) registrar.Code {
	switch {
	case (kind == Lock || kind == Unlock) && !p.Lock, kind == Secure && !p.Lock && !p.canSetAuthCode():
		return NoTransferLock
	case kind == AuthCode && !p.Code:
		return NoAuthCode
	default:
		return ""
	}
}

// ServersRefused is a registry's refusal that names nameservers.
type ServersRefused struct {
	Names []string
	Err   error
}

// Error does not name them: logs must not contain the names.
func (e *ServersRefused) Error() string { return e.Err.Error() }

func (e *ServersRefused) Unwrap() error { return e.Err }

// Task is a change as sent to a registry account.
type Task struct {
	Kind        ChangeKind
	Name, TLD   string
	Nameservers []Nameserver
	DS          DS
	Code        string
	// Handle is the contact to create for Registrant, with those that it names, and OldHandle the
	// one to delete.
	Handle, OldHandle string
	Registrant        registrar.Registrant
	Transaction       string
	Pending           bool
	Immediate         bool
}

// Result is the result of a task.
type Result struct {
	Pending bool   // the registry decides later
	Signed  bool   // nothing was changed, because the domain has DS records
	Record  Record // the domain's current registry record
	Code    string // the auth code that the registry chose
}
