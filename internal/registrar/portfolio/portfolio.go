// Package portfolio lists the domains that customers hold.
//
// Customers see only their own domains: no method accepts another account's id from a
// customer. At most one account holds a name at a time, which a unique index enforces.
// A domain transferred to another registrar stays in the list with that status, and may
// return to the same account or another one.
//
// State transitions are decided in package provision, not here.
//
// Customers sort their domains into folders and write notes about them. Both stay in the portal
// and in the customer's export: no registry, agent or mail gets them.
package portfolio

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

// The codes of this package's errors.
const (
	BadStatus        registrar.Code = "bad_status"         // KindInvalid
	PaidUntilMissing registrar.Code = "paid_until_missing" // KindInvalid: only a pending domain may lack it
	FolderInvalid    registrar.Code = "folder_invalid"     // KindInvalid: too long or with control characters
	NoteInvalid      registrar.Code = "note_invalid"       // KindInvalid: the same
	TooManyFolders   registrar.Code = "too_many_folders"   // KindConflict: see MaxFolders
)

// The audit actions: a domain was added without an order, and a customer changed its folder or
// note.
const (
	DomainAdded   registrar.Action = "domain_added"
	LabelsChanged registrar.Action = "domain_labels_changed"
)

// Domain is a domain of a customer.
type Domain struct {
	ID       string
	Customer string
	// Name is the full name in lower-case A-labels, TLD its extension with the leading
	// dot.
	Name string
	TLD  string

	Status registrar.DomainStatus
	// Restriction is why an active domain is not as usable as it should be: Leaving, Suspended,
	// Held or Disputed; empty if it is. Only Page, Find, Get and Restricted set it.
	Restriction State
	// TransferBarred means that an operator's lock or a payment dispute forbids transfers, whatever
	// the registry's statuses. It is set where Restriction is.
	TransferBarred bool
	// PaidUntil is the end of the paid term; zero while nothing is registered. The
	// registry's date may be later.
	PaidUntil time.Time
	AtTermEnd registrar.TermEndChoice
	// Term is what is known about the end of the term. Only Page, Find and Get set it.
	Term Term
	// RegistryStatus are the EPP statuses as last read, empty before. Only Page, Find and Get
	// set them.
	RegistryStatus []string
	// Folder and Note are the customer's own. They never reach a registry.
	Folder, Note string
	// Premium means that the registry charged its own fee for the name the last time, so the price
	// list does not have the price of the next term.
	Premium bool

	// CreatedAt is when the domain was ordered and paid for, or an operator added it. A transfer ends
	// later.
	CreatedAt, UpdatedAt time.Time
}

// State is how lists show a domain: its status, or what restricts an active one.
type State string

// What restricts an active domain. The registry has confirmed each hold.
const (
	Leaving   State = "leaving"   // another registrar has requested it; it is lost unless that is stopped
	Suspended State = "suspended" // out of the DNS because its holder's address is not confirmed
	Held      State = "held"      // out of the DNS for another reason
	Disputed  State = "disputed"  // locked because of a payment dispute
)

// States lists all states, the most urgent for the customer first.
func States() []State {
	return []State{
		Leaving, State(registrar.DomainRedemption), Suspended, Held, State(registrar.DomainExpired), State(registrar.DomainTransit), Disputed,
		State(registrar.DomainPending), State(registrar.DomainActive), State(registrar.DomainTransferredOut),
	}
}

// isRestriction reports whether a state is that of a restricted domain.
func (s State) isRestriction() bool {
	return s == Leaving || s == Suspended || s == Held || s == Disputed
}

// status is the status of domains in a state.
func (s State) status() registrar.DomainStatus {
	if s.isRestriction() {
		return registrar.DomainActive
	}
	return registrar.DomainStatus(s)
}

// IsGone reports whether a domain was deleted and can't be restored any more: nothing is left to decide.
func (d Domain) IsGone(now time.Time) bool {
	return d.Status == registrar.DomainRedemption && lifecycle.RestoreOver(d.TLD, d.Term.DeletedAt, d.RegistryStatus, now)
}

// OutOfDNS reports whether a domain is out of the DNS although its state does not say so: it expired
// or is leaving, and we hold it, or the registry did when its status was last read.
func (d Domain) OutOfDNS() bool {
	held := func(status string) bool { return strings.HasSuffix(status, "Hold") }
	switch d.State() {
	case State(registrar.DomainExpired), Leaving:
		return !d.Term.HeldAt.IsZero() || slices.ContainsFunc(d.RegistryStatus, held)
	default:
		return false
	}
}

// State returns how lists show the domain.
func (d Domain) State() State { return cmp.Or(d.Restriction, State(d.Status)) }

// Renews reports whether the customer has agreed to automatic renewal.
func (d Domain) Renews() bool { return d.AtTermEnd == registrar.TermEndRenew }

// Term is the end of a domain's current term.
type Term struct {
	// Renewal is the state of the automatic renewal (package renewal), empty before its
	// charge is announced; the others are its announced price, the day of the next attempt
	// and the attempts so far.
	Renewal  string
	Gross    registrar.Cents
	ChargeAt time.Time
	Attempts int
	// Unpaid is the state of a domain whose term ended unpaid (package lifecycle), empty
	// if it has not; StepAt is the day of its next step. WaitsForOperator means that we
	// decide what happens next.
	Unpaid                    string
	WaitsForOperator          bool
	StepAt, HeldAt, DeletedAt time.Time
	Locked                    bool // an operator's lock forbids renewals and restores
}

// UnderWay is what is not finished about a domain.
type UnderWay struct {
	ConfirmBy time.Time // when the domain is suspended unless its holder's address is confirmed; zero if it is
	Change    string    // kind of the domain change in progress, if any
	ChangeAt  time.Time // when that change continues; zero if it does not wait
}

// Store stores domains.
type Store interface {
	// ListCustomerDomains returns the account's domains in any order.
	ListCustomerDomains(ctx context.Context, customer string) ([]Domain, error)
	// ListDomainsPage returns up to limit of the account's domains in the filter's order,
	// after the position in the filter. SortStatus is not an order of the store; SortTerm
	// leaves out pending domains and those transferred out; State is not a filter of the store.
	// CountDomainGroups counts all domains of the account by status.
	ListDomainsPage(ctx context.Context, customer string, filter Filter, limit int) ([]Domain, error)
	CountDomainGroups(ctx context.Context, customer string) ([]Group, error)
	// CountDomainFilters counts the account's domains by extension; see Service.CountFilters.
	CountDomainFilters(ctx context.Context, customer string, soon time.Time, lacking string) ([]FilterCount, error)
	// ListRestrictedDomains returns the account's restricted domains, by name and at most MaxListed.
	// Only id, name, state and what a group counts are set.
	ListRestrictedDomains(ctx context.Context, customer string) ([]Domain, error)
	// SetLabels stores the folder and, unless nil, the note of a customer's domain. It returns
	// TooManyFolders if the account has maxFolders others, and NoSuchDomain.
	SetLabels(ctx context.Context, customer, domain, folder string, note *string, maxFolders int, event registrar.AuditEvent) error
	// FindDomains is a page by name with an offset, and counts all matches. It only knows Part,
	// Status and PaidBefore.
	FindDomains(ctx context.Context, customer string, filter Filter, limit, offset int) ([]Domain, int, error)
	// ListHeldDomains returns the ids, by name, of those of at most MaxHeldNames domains that
	// the customer holds.
	ListHeldDomains(ctx context.Context, customer string, names []string) (map[string]string, error)
	// AddDomain stores a domain with its audit event. It returns NameHeld if an account
	// holds the name and NoSuchCustomer if there is no such account.
	AddDomain(ctx context.Context, domain Domain, event registrar.AuditEvent) error
	// ListFormerDomains returns the domains that the customer held until they were deleted or handed over
	// to their registry.
	ListFormerDomains(ctx context.Context, customer string, limit int) ([]Former, error)
	// GetDomain returns a customer's domain with the end of its term; false if they hold
	// none with that id.
	GetDomain(ctx context.Context, customer, domain string) (Domain, bool, error)
	// ListDomainsUnderWay returns what is not finished about some of a customer's domains, by id.
	ListDomainsUnderWay(ctx context.Context, customer string, domains []string) (map[string]UnderWay, error)
	// ListDomainNotices returns the notices about a customer's domain, the newest first.
	ListDomainNotices(ctx context.Context, customer, domain string, limit int) ([]Notice, error)
	// ListReceipts returns the receipts of those of some withdrawal notices that are the customer's,
	// the newest first.
	ListReceipts(ctx context.Context, customer string, notices []string, limit int) ([]Notice, error)
}

// Service is safe for concurrent use.
type Service struct {
	store Store
	now   func() time.Time
}

// New returns a Service.
func New(store Store, now func() time.Time) *Service { return &Service{store: store, now: now} }

// List returns the domains of the actor's account, by name.
func (s *Service) List(ctx context.Context, actor registrar.Actor) ([]Domain, error) {
	if actor.Customer == "" {
		return nil, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	domains, err := s.store.ListCustomerDomains(ctx, actor.Customer)
	if err != nil {
		return nil, err
	}
	// Sorted here, because a database's order of text depends on its collation.
	slices.SortFunc(domains, func(a, b Domain) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return domains, nil
}

// Get returns a domain of the actor's account.
func (s *Service) Get(ctx context.Context, actor registrar.Actor, domain string) (Domain, error) {
	if actor.Customer == "" {
		return Domain{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	found, ok, err := s.store.GetDomain(ctx, actor.Customer, domain)
	if err == nil && !ok {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchDomain}
	}
	return found, err
}

// UnderWay returns, by id, what is not finished about those of some domains that the actor's account
// holds. Finished ones are left out.
func (s *Service) UnderWay(ctx context.Context, actor registrar.Actor, domains []string) (map[string]UnderWay, error) {
	if actor.Customer == "" {
		return nil, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	if len(domains) == 0 {
		return nil, nil
	}
	return s.store.ListDomainsUnderWay(ctx, actor.Customer, domains)
}

// Notice is a notice about a domain that was sent to its customer, or could not be.
type Notice struct {
	Kind                     registrar.MailKind
	Recipient, Subject, Body string
	SentAt                   time.Time // when the mail server answered
	Accepted                 bool      // by the mail server
}

// Concerns reports whether a notice of an order is about a domain: those about late, failed or refunded
// items list only these, one a line. One that lists none is about the whole order.
func (n Notice) Concerns(name string) bool {
	switch n.Kind {
	case registrar.MailOrderDelayed, registrar.MailItemFailed, registrar.MailOrderRefunded, registrar.MailRefundReturned, registrar.MailRefundSettled:
	default:
		return true
	}
	listed := false
	for line := range strings.Lines(n.Body) {
		item, _, _ := strings.Cut(line, ": ") // an amount
		item, _, _ = strings.Cut(item, " (")  // the A-labels of an IDN
		if host, err := registrar.ParseHost(item); err == nil && strings.Contains(host, ".") {
			if host == name {
				return true
			}
			listed = true
		}
	}
	return !listed
}

// maxNotices bounds the notices that are listed: a term has about ten. maxReadNotices bounds those
// that are read: an order has up to a hundred domains, and notices about each.
const (
	maxNotices     = 50
	maxReadNotices = 1000
)

// Notices returns the notices that concern a domain of the actor's account, and the receipts of those
// of some withdrawal notices that are the account's; the newest first.
func (s *Service) Notices(ctx context.Context, actor registrar.Actor, domain Domain, receiptsOf ...string) ([]Notice, error) {
	if actor.Customer == "" {
		return nil, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	notices, err := s.store.ListDomainNotices(ctx, actor.Customer, domain.ID, maxReadNotices)
	if err != nil {
		return nil, err
	}
	notices = slices.DeleteFunc(notices, func(n Notice) bool { return !n.Concerns(domain.Name) })
	if len(receiptsOf) > 0 {
		receipts, err := s.store.ListReceipts(ctx, actor.Customer, receiptsOf, maxNotices)
		if err != nil {
			return nil, err
		}
		notices = append(notices, receipts...)
		slices.SortStableFunc(notices, func(a, b Notice) int { return b.SentAt.Compare(a.SentAt) })
	}
	return notices[:min(len(notices), maxNotices)], nil
}

// AddParams describes a domain that is added without an order.
type AddParams struct {
	Customer  string
	Name      registrar.Name
	Status    registrar.DomainStatus
	PaidUntil time.Time
}

// Add adds a domain to an account without contacting a registry. It is for operators
// and for seeding the sandbox.
func (s *Service) Add(ctx context.Context, operator registrar.Actor, params AddParams) (Domain, error) {
	if err := operator.RequireOperator(); err != nil {
		return Domain{}, err
	}
	if params.Name.Label() == "" {
		return Domain{}, registrar.Invalid(registrar.NameEmpty)
	}
	if !params.Status.Valid() {
		return Domain{}, registrar.Invalid(BadStatus)
	}
	if params.PaidUntil.IsZero() && params.Status != registrar.DomainPending {
		return Domain{}, registrar.Invalid(PaidUntilMissing)
	}
	now := s.now()
	domain := Domain{
		ID: registrar.NewID("dom_", now), Customer: params.Customer,
		Name: params.Name.ASCII(), TLD: params.Name.TLD(),
		Status: params.Status, PaidUntil: params.PaidUntil,
		CreatedAt: now, UpdatedAt: now,
	}
	event := registrar.AuditEvent{Actor: operator, Action: DomainAdded, Customer: params.Customer, Object: domain.Name, At: now}
	if err := s.store.AddDomain(ctx, domain, event); err != nil {
		return Domain{}, err
	}
	return domain, nil
}
