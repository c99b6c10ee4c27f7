package provision

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
)

// Kind is the kind of order item.
type Kind string

// Kinds of order items.
const (
	Register Kind = "register"
	Transfer Kind = "transfer"
	Renew    Kind = "renew"
	Restore  Kind = "restore" // of a deleted domain, while its redemption period lasts
)

// ForHeldDomain reports whether the kind is about a domain that the customer already has.
func (k Kind) ForHeldDomain() bool { return k == Renew || k == Restore }

// State is the progress of an item; see the table in doc.go.
type State string

// States of an item.
const (
	StatePaid      State = "paid"
	StateContacts  State = "contacts"
	StateHosts     State = "hosts"
	StateRequested State = "requested"
	StatePending   State = "pending"
	StateUndoing   State = "undoing"
	StateActive    State = "active"
	StateFailed    State = "failed"
)

// Final reports whether the state has no successor.
func (s State) Final() bool { return s == StateActive || s == StateFailed }

// Item is one paid order item: a name to be registered, transferred, renewed or restored.
type Item struct {
	ID       string
	Customer string
	// Name is the full name in lower-case A-label form.
	Name, TLD string
	Kind      Kind
	Years     int
	// Payment is "manual:" and an operator's reference, or "order:" and the order id. A
	// payment covers a name once.
	Payment string
	// Automatic is set for automatic renewals. They have their own worker, so that those of a
	// night don't delay customers who wait for a domain.
	Automatic bool

	State     State
	Failure   registrar.Code // why the registry refused; both are set from StateUndoing on
	RefundDue bool

	Account string // the name of the registry account that executes the item
	// Domain is set by the first transition; a renewal or restore has it from the start.
	Domain     string
	Handle     string // the contact id at the registry, empty if the TLD has no contacts
	SealedCode string // the auth code: generated for a registration, the customer's for a transfer
	// Registrant is the registrant that the TLD's rules accepted at payment; zero for a
	// renewal, and once the item has ended. Holder is the id of its holder; empty means the
	// customer.
	Registrant registrar.Registrant
	Holder     string
	// Fee is what the registry reported for a request that it decides later; zero if nothing.
	Fee registrar.Money
	// PremiumFee is the registry's fee for the whole term that the customer's price is based on;
	// zero for a name at the list price.
	PremiumFee registrar.Money
	RenewFrom  time.Time // the registry's expiry before a renewal or restore; zero before the first step
	// RequestedAt is when the intent of the current state was stored; a pending request
	// keeps the time of StateRequested. Like CreatedAt and UpdatedAt it is business time.
	RequestedAt time.Time

	// DueAt is the real time at which the item is processed next: the end of the lease while a
	// node works on it, zero in a final state.
	DueAt    time.Time
	Node     string // holds the lease; empty if none does
	Attempts int

	CreatedAt, UpdatedAt time.Time
}

// TransferredBy returns when a transfer that the registry has accepted is expected to be complete,
// given how many days it may take (see Accounts.TransferTerms); zero before.
func (i Item) TransferredBy(days int) time.Time {
	if i.State != StatePending {
		return time.Time{}
	}
	return i.RequestedAt.AddDate(0, 0, days)
}

// Domain is a customer's domain as this package synchronises it with the registry.
type Domain struct {
	ID, Customer, Name, TLD string
	Status                  registrar.DomainStatus // the status that the customer sees
	PaidUntil               time.Time
	Account                 string // the sponsoring registry account; empty if no item of ours registered it
	Handle                  string
	Suspended               bool // for an unconfirmed address (package contactcheck), or by an operator's lock; the latter only if read by name

	// RegistryStatus and RegistryExpires are the registry's values.
	RegistryStatus  []string
	RegistryExpires time.Time
	SyncedAt        time.Time
	SyncDue         time.Time // when it is next compared with the registry; zero means only on request
	UpdatedAt       time.Time
	// DeletedAt is when the registry deleted a domain whose term is over, to be stored with an update
	// unless a row of package lifecycle has it; zero otherwise, and never returned by a store.
	DeletedAt time.Time
	// Record is the registry's whole record, to be stored with an update; nil if it was not
	// read, and never returned by a store.
	Record *domainchange.Record
}

// Audited actions.
const (
	ActionOrdered    registrar.Action = "domain_ordered"
	ActionRegistered registrar.Action = "domain_registered"
	ActionReceived   registrar.Action = "domain_received" // by a transfer to us
	ActionRenewed    registrar.Action = "domain_renewed"
	ActionRestored   registrar.Action = "domain_restored"
	ActionFailed     registrar.Action = "domain_order_failed"
	ActionGivenUp    registrar.Action = "domain_order_given_up" // by an operator
	ActionSynced     registrar.Action = "domain_synced"
)

// Refusals before anything is stored.
const (
	NoRegistrant      registrar.Code = "registrant_missing"   // KindConflict: the customer has no registrant data
	NameTaken         registrar.Code = "name_taken"           // KindConflict
	Undecided         registrar.Code = "availability_unknown" // KindConflict: a later query may be conclusive
	NoInboundTransfer registrar.Code = "transfer_not_offered" // KindUnsupported: the losing registrar has to push the name
	NotRegistered     registrar.Code = "not_registered"       // KindConflict: there is nothing to transfer
	Locked            registrar.Code = "transfer_locked"      // KindConflict: or another operation is in progress
	WrongCode         registrar.Code = "auth_code_wrong"      // KindInvalid
	NotYours          registrar.Code = "not_your_domain"      // KindConflict: only the customer who holds a name can renew it
	NotRenewable      registrar.Code = "not_renewable"        // KindConflict: the registry does not renew it now
	NotRestorable     registrar.Code = "not_restorable"       // KindConflict: it was not deleted, or can't be restored any more; KindUnsupported: the registry offers no restore
	BadTerm           registrar.Code = "bad_term"             // KindInvalid: the registry does not offer this many years
	TermNotSold       registrar.Code = "years_not_sold"       // KindInvalid: the requested term of a registration or transfer is not on sale
	CodeMissing       registrar.Code = "auth_code_missing"    // KindInvalid: a transfer needs the auth code
	BadPayment        registrar.Code = "bad_payment"          // KindInvalid: the reference is missing or too long
	PaymentUsed       registrar.Code = "payment_used"         // KindConflict: by another customer or for another term
	NoSuchItem        registrar.Code = "no_such_item"         // KindNotFound
	// NotEligible (KindConflict): the registrant does not meet a rule of the TLD;
	// (KindUnsupported): we can't meet the rule, so names of the TLD can only be looked up.
	NotEligible registrar.Code = "not_eligible"
)

// What a customer may still have to provide.
const (
	NeedRegistrant = "registrant" // complete registrant data
	NeedCode       = "auth_code"  // of a transfer
)

// FeeRaised (KindConflict): the registry charges more for a premium name than when it was paid.
const FeeRaised registrar.Code = "registry_fee_raised"

// Billing (KindUpstream): our registry account has no funds. The item is retried.
const Billing registrar.Code = "registry_billing"
