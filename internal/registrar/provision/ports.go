package provision

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Store keeps lines.
type Store interface {
	// HolderOf is whom a customer's domains are registered for; false if the
	// customer has not told.
	HolderOf(ctx context.Context, customer string) (Holder, bool, error)
	// VerifiedName is the name that an identity check of the customer has confirmed;
	// empty if there was none.
	VerifiedName(ctx context.Context, customer string) (string, error)
	// AddLine stores a line with its deed. If the same payment paid for the same
	// name before, it returns that line instead. It returns NameHeld if the name
	// is held or an open line wants it, NoSuchCustomer if there is no account.
	AddLine(ctx context.Context, line Line, deed registrar.Deed) (Line, error)
	// LineByPayment is nil if this payment has not paid for this name.
	LineByPayment(ctx context.Context, payment, name string) (*Line, error)
	// LineByID is false if there is no such line.
	LineByID(ctx context.Context, id string) (Line, bool, error)
	// DueLines are open lines whose time has come, the longest overdue first.
	DueLines(ctx context.Context, now time.Time, limit int) ([]Line, error)
	// MoveLine takes one step. It is false, and changes nothing, if the line is
	// not any more where the step begins.
	MoveLine(ctx context.Context, move Move) (bool, error)
}

// Move is one step of a line: from the state and due time of Was to Line.
type Move struct {
	Was, Line Line
	// Add is the customer's domain, which appears with the first step. NameHeld is
	// returned if somebody else's stands there, and then nothing changes.
	Add *Domain
	// Activate is what the domain becomes at the end; Drop takes it away again.
	Activate *Domain
	Drop     bool
	// Renew is what a renewal changes. One that is expired becomes active again.
	Renew *Renewal
	// Deed is nil for steps that the audit does not tell.
	Deed *registrar.Deed
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
	// StoreMessage keeps a message of a registry and makes due what it is about,
	// lines and domains. It is false if it was stored before.
	StoreMessage(ctx context.Context, account string, message Message, now time.Time) (bool, error)
	// DueDomains are those whose time for a look has come.
	DueDomains(ctx context.Context, now time.Time, limit int) ([]Domain, error)
	// DomainsAfter is a page of all domains; DomainByName the one that is held
	// now, or else the last one that was.
	DomainsAfter(ctx context.Context, id string, limit int) ([]Domain, error)
	DomainByName(ctx context.Context, name string) (Domain, bool, error)
	// FollowDomain stores what the registry says. It is false if the domain has
	// changed since it was read as was. deed is nil if its status stays.
	FollowDomain(ctx context.Context, was, now Domain, deed *registrar.Deed) (bool, error)
}

// Holder is a person or company as a registry wants it told.
type Holder = registrar.Holder

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
	// DropContact deletes a contact. One that is gone is no error.
	DropContact(ctx context.Context, handle, transaction string) error
}

// Market says whether a line could be carried out, before it is paid.
type Market interface {
	// Sells says without asking the registry why no name of an extension can be had
	// in this way for so many years; nil if some can. requires is the catalogue's
	// word for a rule of the extension.
	Sells(kind Kind, tld, requires string, years int) error
	// Missing is what the holder must still tell: NeedRegistrant, NeedCode, or the
	// rule of the extension that their data do not meet. It asks nobody.
	Missing(wish Wish) []string
	// Offer asks the registry itself, and never a cache, by the wish's Purpose. No
	// error means that it can be had at the list price as soon as nothing is missing.
	// The answer does not depend on the holder.
	Offer(ctx context.Context, wish Wish) error
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
	Holder      Holder
	Transaction string
	// Asked says that the call may have been sent before, at Since or later.
	Asked bool
	Since time.Time
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
	Asked       bool
	Since       time.Time
}

// Outcome is what a registry made of a request.
type Outcome struct {
	// Pending: it will decide later.
	Pending bool
	// Expires is zero where the registry does not tell.
	Expires time.Time
}

// Wish is what somebody is about to pay for.
type Wish struct {
	Kind      Kind
	Name, TLD string
	Years     int
	// Told says that there is registrant data; Holder is empty otherwise.
	Told   bool
	Holder Holder
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
