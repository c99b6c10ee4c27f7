package provision

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

// Store persists provision items.
type Store interface {
	GetRegistrant(ctx context.Context, customer string) (registrar.Registrant, bool, error)
	// VerifiedName is the name confirmed by an identity check; empty if there was none.
	VerifiedName(ctx context.Context, customer string) (string, error)
	// AddProvisionItem stores an item with its audit event. If the payment already covers
	// the name, it returns the stored item instead. It returns NameHeld if the name is held
	// or another open item is for it, NoSuchCustomer if there is no account.
	AddProvisionItem(ctx context.Context, item Item, event registrar.AuditEvent) (Item, error)
	// ProvisionItemByPayment returns nil if the payment does not cover the name.
	ProvisionItemByPayment(ctx context.Context, payment, name string) (*Item, error)
	ProvisionItemByID(ctx context.Context, id string) (Item, bool, error)
	// ListDueProvisionItems returns open items that are due, automatic renewals or the others,
	// the longest overdue first.
	ListDueProvisionItems(ctx context.Context, automatic bool, now time.Time, limit int) ([]Item, error)
	// UpdateProvisionItem applies one transition. It returns false, and changes nothing, if
	// the item is no longer in the state and due time of From.
	UpdateProvisionItem(ctx context.Context, next Transition) (bool, error)
}

// Transition moves an item from the state and due time of From to To.
type Transition struct {
	From, To Item
	// At is the real time of the transition, at which jobs that follow from it are due.
	At time.Time
	// AddDomain is added by the first step. UpdateProvisionItem returns NameHeld and
	// changes nothing if the name is held already.
	AddDomain *Domain
	// ActivateDomain updates the domain at the end; DropDomain removes it.
	ActivateDomain *Domain
	DropDomain     bool
	// Change is the id of the domain change that follows the activation; empty for none. It
	// replaces the contacts of a transferred domain by Contact, unless that is empty, and then
	// locks the domain if Lock is set.
	Change, Contact string
	Lock            bool
	// Renewal is what a renewal or restore changes. An expired or deleted domain becomes active
	// again.
	Renewal *Renewal
	// Charge is what the registry charges for the item; set when it becomes active.
	Charge     *cost.Charge
	AuditEvent *registrar.AuditEvent // of the item's current customer; nil for steps that are not audited
}

// PaidUntil returns the end of the term that the transition starts or adds; zero without one.
func (t Transition) PaidUntil() time.Time {
	switch {
	case t.ActivateDomain != nil:
		return t.ActivateDomain.PaidUntil
	case t.Renewal != nil:
		return t.Renewal.Until
	}
	return time.Time{}
}

// Renewal is a term added to a domain. From and Until are the ends of the paid terms before
// and after.
type Renewal struct {
	Domain                                    string
	From, Until, RegistryExpires, SyncDue, At time.Time
	// Restored is set if an expired or deleted domain is active again: no redemption period is stored any
	// more. Released is set if it is in the DNS again: no hold is stored any more, either.
	Restored, Released bool
}

// Domains persists registry data of domains.
type Domains interface {
	// StoreRegistryMessage stores a poll message and makes due the items and domains it
	// concerns. at is the business time, now the real one. It returns false if the message was
	// already stored.
	StoreRegistryMessage(ctx context.Context, account string, message inbox.Message, at, now time.Time) (bool, error)
	// ClaimRegistryPoller takes or renews a node's lease on polling an account. It returns
	// false if another node holds one. ReleaseRegistryPoller ends it.
	ClaimRegistryPoller(ctx context.Context, account, node string, now, until time.Time) (bool, error)
	ReleaseRegistryPoller(ctx context.Context, account, node string, now time.Time) error
	// QueriedBalance returns the balance that was last queried; StoreQueriedBalance replaces it.
	// at is the business time of the query, now that of the answer. NewestBalance is that or a newer
	// one in a message.
	QueriedBalance(ctx context.Context, account string) (inbox.Stored, bool, error)
	NewestBalance(ctx context.Context, account string) (inbox.Stored, bool, error)
	StoreQueriedBalance(ctx context.Context, account string, balance inbox.Balance, at, now time.Time) error
	ListDueDomains(ctx context.Context, now time.Time, limit int) ([]Domain, error)
	// ListDomainsAfter returns a page of all domains; DomainByName the one that is held
	// now, or else the most recent one.
	ListDomainsAfter(ctx context.Context, id string, limit int) ([]Domain, error)
	DomainByName(ctx context.Context, name string) (Domain, bool, error)
	// UpdateDomainFromRegistry stores registry data. It returns false if the domain has
	// changed since it was read as was. event is nil if the status stays the same.
	UpdateDomainFromRegistry(ctx context.Context, was, now Domain, event *registrar.AuditEvent) (bool, error)
}

// Account is a registry account. Errors are *registrar.Error: KindUpstream,
// KindRateLimited and KindInternal mean that nothing is decided and the call can be
// repeated; every other kind is the registry's decision. Calls with an effect may be
// repeated after a crash with the same values, and then find the effect of the earlier one.
type Account interface {
	// Rules returns the registry's requirements for a TLD.
	Rules(tld string) Rules
	// EnsureContact creates a contact, and those that its registrant names, and returns its actual
	// handle; EnsureHosts creates the host objects that do not exist yet. DeleteContact deletes all
	// of them; a missing one is no error.
	EnsureContact(ctx context.Context, contact Contact) (handle string, err error)
	EnsureHosts(ctx context.Context, names []string) error
	DeleteContact(ctx context.Context, handle, transaction string) error
	// Request registers, transfers, renews or restores. Outcome queries the result of a request that
	// the registry accepted as pending; Denied is a refusal.
	Request(ctx context.Context, request Request) (Outcome, error)
	Outcome(ctx context.Context, request Request) (Outcome, error)
	// Unhold removes clientHold if we had set it.
	Unhold(ctx context.Context, name, transaction string) error

	// CheckSupported returns, without querying the registry, why no name of a TLD can be
	// ordered this way for so many years; nil if some can. requires is the catalog's code
	// for a rule of the TLD.
	CheckSupported(kind Kind, tld, requires string, years int) error
	// Missing returns what the customer must still provide: NeedRegistrant, NeedCode, a
	// RegistrantProblem, or the TLD rule that their data do not meet. It queries no registry.
	Missing(query AvailabilityQuery) []string
	// CheckAvailability queries the registry, never a cache. A nil error means that the name is
	// available once nothing is missing: at the list price if fees.Term is zero, otherwise for
	// that fee. If a name may be premium and the registry does not state its fee, the error is
	// registrar.NamePremium. The answer does not depend on the registrant.
	CheckAvailability(ctx context.Context, query AvailabilityQuery) (fees PremiumFees, err error)

	// Record returns a domain's registry data; Gone or Elsewhere if there is none for us.
	Record(ctx context.Context, name string) (Record, error)
	// NextMessage returns the oldest queued message; nil if the queue is empty.
	NextMessage(ctx context.Context) (*inbox.Message, error)
	Acknowledge(ctx context.Context, id string) error
	// Balance returns what is left of the account's credit; KindUnsupported if the registry
	// does not offer to ask.
	Balance(ctx context.Context) (inbox.Balance, error)
}

// Rules is what the registry of a TLD requires and offers.
type Rules struct {
	Contacts, HostObjects bool
	CodeLength            int // of generated auth codes; 0 means that a registration carries none
	TransferYears         int // what a transfer adds to the term
	TransferDays          int // how long a transfer may take; 0 means that it is done at once
	MaxYears              int // the longest registration or renewal; 0 means the term on sale only
	// NoRenew means that the registry has no renew command: it adds each year itself, until
	// the domain is deleted.
	NoRenew bool
	// TransferLock means that a new domain is locked against transfers.
	TransferLock bool
}

// Contact is a contact to be created.
type Contact struct {
	Handle      string
	TLD         string // of the domain that it is for
	Registrant  registrar.Registrant
	Transaction string
	MaybeSent   bool // the call may have been sent before
}

// Request is a registration, a transfer, a renewal or a restore.
type Request struct {
	Kind        Kind
	Name, TLD   string
	Years       int
	Handle      string
	Registrant  registrar.Registrant // its contacts have roles
	Code        string
	Nameservers []string
	From        time.Time // the registry's expiry before a renewal or restore
	Transaction string
	// MaybeSent means that the call may have been sent before, at Since or later.
	MaybeSent bool
	Since     time.Time
	// Fee is what the registry has reported for it so far.
	Fee registrar.Money
	// PremiumFee is the most that the registry may charge for it, as CheckAvailability returned
	// it; zero for a name at the list price. If the registry charges more, it refuses with
	// FeeRaised.
	PremiumFee registrar.Money
}

// Outcome is the result of a request.
type Outcome struct {
	Pending bool      // the registry decides later
	Expires time.Time // zero if the registry does not publish it
	// Fee is what the registry charges for all commands of the request; zero if it reports
	// none, or if a response was lost.
	Fee registrar.Money
}

// AvailabilityQuery describes an order before payment.
type AvailabilityQuery struct {
	Kind          Kind
	Name, TLD     string
	Years         int
	HasRegistrant bool // registrant data exist; Registrant is zero otherwise
	Registrant    registrar.Registrant
	Code          string // of a transfer, empty if not provided yet
	Requires      string // the catalog's code for a rule of the TLD
	Nameservers   []string
	Purpose       registrar.QueryPurpose
}

// Record is a domain as the registry has it. Nameservers and Handle are for operators to
// compare.
type Record struct {
	Name, Sponsor    string
	Statuses         []string
	Redemption       bool // it was deleted and can still be restored
	Created, Expires time.Time
	Nameservers      []string
	Handle           string
	Full             domainchange.Record // what customers and RDAP see
}
