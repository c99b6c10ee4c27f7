package provision

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Store keeps lines.
type Store interface {
	// GetRegistrant is whom a customer's domains are registered for; false if the
	// customer has not told.
	GetRegistrant(ctx context.Context, customer string) (registrar.Registrant, bool, error)
	// VerifiedName is the name that an identity check of the customer has confirmed;
	// empty if there was none.
	VerifiedName(ctx context.Context, customer string) (string, error)
	// AddProvisionItem stores a line with its deed. If the same payment paid for the same
	// name before, it returns that line instead. It returns NameHeld if the name
	// is held or an open line wants it, NoSuchCustomer if there is no account.
	AddProvisionItem(ctx context.Context, item Item, event registrar.AuditEvent) (Item, error)
	// ProvisionItemByPayment is nil if this payment has not paid for this name.
	ProvisionItemByPayment(ctx context.Context, payment, name string) (*Item, error)
	// ProvisionItemByID is false if there is no such line.
	ProvisionItemByID(ctx context.Context, id string) (Item, bool, error)
	// ListDueProvisionItems are open lines whose time has come, the longest overdue first.
	ListDueProvisionItems(ctx context.Context, now time.Time, limit int) ([]Item, error)
	// UpdateProvisionItem takes one step. It is false, and changes nothing, if the line is
	// not any more where the step begins.
	UpdateProvisionItem(ctx context.Context, next Transition) (bool, error)
}

// Transition is one step of a line: from the state and due time of Was to Line.
type Transition struct {
	From, To Item
	// AddDomain is the customer's domain, which appears with the first step. NameHeld is
	// returned if somebody else's stands there, and then nothing changes.
	AddDomain *Domain
	// ActivateDomain is what the domain becomes at the end; Drop takes it away again.
	ActivateDomain *Domain
	DropDomain     bool
	// Renewal is what a renewal changes. One that is expired becomes active again.
	Renewal *Renewal
	// AuditEvent is nil for steps that the audit does not tell.
	AuditEvent *registrar.AuditEvent
}

// Renewal is a term that was added to a domain.
type Renewal struct {
	Domain string
	// From and Until are the ends of the paid terms before and after.
	From, Until     time.Time
	RegistryExpires time.Time
	SyncDue         time.Time
	At              time.Time
}

// Domains keeps what the registry says of domains.
type Domains interface {
	// StoreRegistryMessage keeps a message of a registry and makes due what it is about,
	// lines and domains. It is false if it was stored before.
	StoreRegistryMessage(ctx context.Context, account string, message Message, now time.Time) (bool, error)
	// ListDueDomains are those whose time for a look has come.
	ListDueDomains(ctx context.Context, now time.Time, limit int) ([]Domain, error)
	// ListDomainsAfter is a page of all domains; DomainByName the one that is held
	// now, or else the last one that was.
	ListDomainsAfter(ctx context.Context, id string, limit int) ([]Domain, error)
	DomainByName(ctx context.Context, name string) (Domain, bool, error)
	// UpdateDomainFromRegistry stores what the registry says. It is false if the domain has
	// changed since it was read as was. deed is nil if its status stays.
	UpdateDomainFromRegistry(ctx context.Context, was, now Domain, event *registrar.AuditEvent) (bool, error)
}

// Account is what this package asks of a registry. Errors are *registrar.Error:
// KindUpstream, KindRateLimited and KindInternal mean that nothing is decided and
// that the same call is worth repeating; every other kind is the registry's word.
type Account interface {
	Registry
	Market
	Records
}

// Registry carries a line out. Each method may be called again after a crash with
// the same values, and then finds what the call before has done.
type Registry interface {
	// Rules is what the extension wants.
	Rules(tld string) Rules
	// EnsureContact makes a contact and returns the handle that it really has.
	EnsureContact(ctx context.Context, contact Contact) (handle string, err error)
	// EnsureHosts makes the nameserver objects that do not exist yet.
	EnsureHosts(ctx context.Context, names []string) error
	// Request registers, transfers or renews, and Outcome asks what became of a
	// request that the registry accepted as pending. Denied is its clear no.
	Request(ctx context.Context, request Request) (Outcome, error)
	Outcome(ctx context.Context, request Request) (Outcome, error)
	// Unhold puts a domain back into the zone if we had taken it out.
	Unhold(ctx context.Context, name, transaction string) error
	// DeleteContact deletes a contact. One that is gone is no error.
	DeleteContact(ctx context.Context, handle, transaction string) error
}

// Market says whether a line could be carried out, before it is paid.
type Market interface {
	// CheckSupported says without asking the registry why no name of an extension can be had
	// in this way for so many years; nil if some can. requires is the catalogue's
	// word for a rule of the extension.
	CheckSupported(kind Kind, tld, requires string, years int) error
	// Missing is what the holder must still tell: NeedRegistrant, NeedCode, or the
	// rule of the extension that their data do not meet. It asks nobody.
	Missing(query AvailabilityQuery) []string
	// CheckAvailability asks the registry itself, and never a cache, by the wish's Purpose. No
	// error means that it can be had at the list price as soon as nothing is missing.
	// The answer does not depend on the holder.
	CheckAvailability(ctx context.Context, query AvailabilityQuery) error
}

// Records is what a registry tells of domains by itself or when asked.
type Records interface {
	// Record is what it knows of a domain: Gone or Elsewhere if that is nothing.
	Record(ctx context.Context, name string) (Record, error)
	// NextMessage is the oldest one that waits; nil if none does.
	NextMessage(ctx context.Context) (*Message, error)
	Acknowledge(ctx context.Context, id string) error
}

// Rules is what an extension wants of a registration.
type Rules struct {
	Contacts    bool
	HostObjects bool
	// CodeLength is how long the auth code is that we choose; 0 means that a
	// registration carries none.
	CodeLength int
	// TransferYears is what a transfer adds to the term; 0 where it adds nothing.
	TransferYears int
}

// Contact is a contact to be made.
type Contact struct {
	Handle      string
	Registrant  registrar.Registrant
	Transaction string
	// MaybeSent says that the call may have been sent before, at Since or later.
	MaybeSent bool
	Since     time.Time
}

// Request is a registration, a transfer or a renewal.
type Request struct {
	Kind        Kind
	Name, TLD   string
	Years       int
	Handle      string
	Code        string
	Nameservers []string
	// From is the registry's expiry at which a renewal begins.
	From        time.Time
	Transaction string
	MaybeSent   bool
	Since       time.Time
}

// Outcome is what a registry made of a request.
type Outcome struct {
	// Pending: it will decide later.
	Pending bool
	// Expires is zero where the registry does not tell.
	Expires time.Time
}

// AvailabilityQuery is what somebody is about to pay for.
type AvailabilityQuery struct {
	Kind      Kind
	Name, TLD string
	Years     int
	// HasRegistrant says that there is registrant data; Holder is empty otherwise.
	HasRegistrant bool
	Registrant    registrar.Registrant
	// Code is empty while the holder of a transfer has not told it.
	Code string
	// Requires is the catalogue's word for a rule of the extension.
	Requires    string
	Nameservers []string
	// Purpose is what the registry is asked for.
	Purpose registrar.Purpose
}

// Record is a domain as the registry knows it.
type Record struct {
	Name     string
	Statuses []string
	// Redemption says that it was deleted and can still be had back.
	Redemption bool
	Sponsor    string
	Created    time.Time
	Expires    time.Time
	// Nameservers and Handle are for people who compare.
	Nameservers []string
	Handle      string
}

// Message is one of a registry's messages.
type Message struct {
	ID string
	// Name is the domain that it is about; empty if it is about something else.
	Name   string
	Text   string
	Queued time.Time
	// Waiting is how many there are, this one included.
	Waiting int
}
