package domainchange

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Store keeps changes and what registries told.
type Store interface {
	// GetCustomerDomain is a customer's domain; false if the customer has none of that id.
	GetCustomerDomain(ctx context.Context, customer, id string) (Domain, bool, error)
	// GetRegistrantData is whom a customer's domains are registered for; false if the
	// customer has not told.
	GetRegistrantData(ctx context.Context, customer string) (registrar.Registrant, bool, error)
	// GetRegistryRecord is what the registry told last; false if it was never asked.
	// KeepRecord keeps what it told, unless something newer is kept.
	GetRegistryRecord(ctx context.Context, domain string) (Record, bool, error)
	PutRegistryRecord(ctx context.Context, domain string, record Record) error

	// AddDomainChange stores an open change. It returns UnderWay if the domain has one,
	// and NoSuchDomain if it is not the customer's any more.
	AddDomainChange(ctx context.Context, change Change) error
	// UpdateDomainChange takes one step. It is false, and changes nothing, if the change is
	// not any more where the step begins.
	UpdateDomainChange(ctx context.Context, transition Transition) (bool, error)
	// ListDueDomainChanges are open ones whose time has come, the longest overdue first.
	ListDueDomainChanges(ctx context.Context, now time.Time, limit int) ([]Change, error)
	// GetDomainChange is anybody's change; false if there is none.
	GetDomainChange(ctx context.Context, id string) (Change, bool, error)
	// ListDomainChanges are a domain's, the newest first.
	ListDomainChanges(ctx context.Context, domain string, limit int) ([]Change, error)
	// ListSecureChanges are those of the kind Secure.
	ListSecureChanges(ctx context.Context, domain string, limit int) ([]Change, error)
	// ListObjectAuditEvents is what the audit tells of an object of the customer's, the newest
	// first.
	ListObjectAuditEvents(ctx context.Context, customer, object string, limit int) ([]registrar.AuditEvent, error)
}

// Transition is one step of a change: from the state and due time of Was to Now.
type Transition struct {
	From, To Change
	// Record is what the registry told; nil if it told nothing.
	Record *Record
	// AuditEvent and Letter are nil for steps that nobody is told about.
	AuditEvent *registrar.AuditEvent
	Mail       *registrar.Mail
	// At is the true time, which letters go by.
	At time.Time
}

// Registry is what this package asks of a registry account. Errors are
// *registrar.Error: KindUpstream, KindRateLimited and KindInternal mean that
// nothing is decided and that the same call is worth repeating; every other kind is
// the registry's word.
type Registry interface {
	// Capabilities is what holders can do with names of the extension.
	Capabilities(tld string) Capabilities
	// FetchRecord is what the registry knows of a domain.
	FetchRecord(ctx context.Context, name string) (Record, error)
	// ApplyChange makes what the task wants so, whatever of it is so already. A task whose
	// Pending is set was accepted before, and is only asked about.
	ApplyChange(ctx context.Context, task Task) (Result, error)
}

// Capabilities is what holders can do with names of an extension.
type Capabilities struct {
	// MinNameservers and MaxNameservers bound them.
	MinNameservers, MaxNameservers int
	// Lock: a registrar can keep a domain from leaving.
	Lock bool
	// Code: there is an auth code. CodeLength is how long the one is that we choose;
	// 0 means that the registry chooses. CodeDays is how long it is good; 0: for ever.
	Code                 bool
	CodeLength, CodeDays int
	// Contacts: the registry keeps the holder's data.
	Contacts bool
	// AtExpiry is what the registry does at the end of a term by itself: auto_renew,
	// delete or transit.
	AtExpiry string
}

// canSetAuthCode says that a new auth code can be set, and the old one made worthless by it.
func (p Capabilities) canSetAuthCode() bool { return p.Code && p.CodeLength > 0 }

// Task is a change as a registry account needs to know it.
type Task struct {
	Kind        ChangeKind
	Name, TLD   string
	Nameservers []Nameserver
	DS          DS
	Code        string
	// Handle is the contact to be made for Holder, and OldHandle the one that goes.
	Handle, OldHandle string
	Registrant        registrar.Registrant
	Transaction       string
	// RequestedAt is when the intent was written.
	RequestedAt time.Time
	Pending     bool
}

// Result is what became of a task.
type Result struct {
	// Pending: the registry will decide later.
	Pending bool
	// Record is the domain as it is now.
	Record Record
	// Code is the auth code that the registry chose.
	Code string
}
