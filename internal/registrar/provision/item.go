package provision

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Kind is what was paid for.
type Kind string

// The kinds.
const (
	Register Kind = "register"
	Transfer Kind = "transfer"
	Renew    Kind = "renew"
)

// State is how far a line has come; doc.go has the table.
type State string

// The states.
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

// Final says that nothing more will happen.
func (s State) Final() bool { return s == StateActive || s == StateFailed }

// Item is one paid item: a name to be registered, transferred or renewed.
type Item struct {
	ID       string
	Customer string
	// Name is the whole name in lower case A-label form, TLD its extension.
	Name, TLD string
	Kind      Kind
	Years     int
	// Payment is what paid for it: manual: and an operator's reference, or order:
	// and the order's id. The same payment pays for the same name once.
	Payment string

	State State
	// Failure is why the registry refused; RefundDue says that the money goes
	// back. Both are set from undoing on.
	Failure   registrar.Code
	RefundDue bool

	// Account is the name of the registry account that carries it out.
	Account string
	// Domain is the id of the customer's domain: from the first step on, and from
	// the beginning for a renewal.
	Domain string
	// Handle is the contact's id at the registry; empty where there is none.
	Handle string
	// SealedCode is the domain's auth code: ours at a registration, the holder's
	// at a transfer.
	SealedCode string
	// Registrant is the one whom the rules of the extension admitted when the line was
	// paid for; zero for a renewal, and once the line has ended.
	Registrant registrar.Registrant
	// RenewFrom is the registry's expiry at which a renewal begins; zero before
	// the first step, and for other kinds.
	RenewFrom time.Time
	// RequestedAt is when the intent of the present state was written; for a pending
	// request, that of asking for it.
	RequestedAt time.Time

	// DueAt is when somebody has to look at it: while a node works on it, the end
	// of the lease; zero at the end.
	DueAt time.Time
	// Node is who works on it; empty if nobody does.
	Node     string
	Attempts int

	CreatedAt, UpdatedAt time.Time
}

// Domain is what the registry's side of a customer's domain is kept for.
type Domain struct {
	ID, Customer, Name, TLD string
	// Status is the state that the customer sees.
	Status    registrar.DomainStatus
	PaidUntil time.Time
	AutoRenew bool
	// Account is where it is registered; empty where no line of ours did it.
	Account string
	Handle  string

	// RegistryStatus and RegistryExpires are the registry's own words.
	RegistryStatus  []string
	RegistryExpires time.Time
	SyncedAt        time.Time
	// SyncDue is when it is looked at again; zero means only on request.
	SyncDue   time.Time
	UpdatedAt time.Time
}

// What the audit tells.
const (
	ActionOrdered    registrar.Action = "domain_ordered"
	ActionRegistered registrar.Action = "domain_registered"
	ActionRenewed    registrar.Action = "domain_renewed"
	ActionFailed     registrar.Action = "domain_order_failed"
	ActionSynced     registrar.Action = "domain_followed"
)

// What can go wrong before anything is written.
const (
	// NoRegistrant goes with KindConflict: the customer has told no registrant data.
	NoRegistrant registrar.Code = "registrant_missing"
	// NameTaken goes with KindConflict: the registry says that it can't be had.
	NameTaken registrar.Code = "name_taken"
	// Undecided goes with KindConflict: the registry answered, but did not say whether
	// the name can be had. The same question may be decided later.
	Undecided registrar.Code = "availability_unknown"
	// NotEligible goes with KindConflict: the holder does not meet a rule of the
	// extension; with KindUnsupported: we can't meet it, so its names can only be
	// looked up.
	NotEligible registrar.Code = "not_eligible"
	// NoInboundTransfer goes with KindUnsupported: the losing registrar has to send the
	// name, and the gaining one can't ask for it.
	NoInboundTransfer registrar.Code = "transfer_not_offered"
	// NotRegistered goes with KindConflict: there is nothing to transfer.
	NotRegistered registrar.Code = "not_registered"
	// Locked goes with KindConflict: it can't be transferred now. Its registrar has
	// locked it, or something else is under way.
	Locked registrar.Code = "transfer_locked"
	// WrongCode goes with KindInvalid: it is not the name's auth code.
	WrongCode registrar.Code = "auth_code_wrong"
	// NotYours goes with KindConflict: only who holds a name can renew it.
	NotYours registrar.Code = "not_your_domain"
	// NotRenewable goes with KindConflict: the registry does not renew it now.
	NotRenewable registrar.Code = "not_renewable"
	// BadTerm goes with KindInvalid: the registry does not sell so many years.
	BadTerm registrar.Code = "bad_term"
	// TermNotSold goes with KindInvalid: only one term is sold, and it is not the one
	// that was asked for.
	TermNotSold registrar.Code = "years_not_sold"
	// CodeMissing goes with KindInvalid: a transfer needs the auth code.
	CodeMissing registrar.Code = "auth_code_missing"
	// BadPayment goes with KindInvalid: nothing says what paid for it.
	BadPayment registrar.Code = "bad_payment"
	// PaymentUsed goes with KindConflict: it has paid for this name already, for
	// another customer or another term.
	PaymentUsed registrar.Code = "payment_used"
	// NoSuchItem goes with KindNotFound.
	NoSuchItem registrar.Code = "no_such_line"
)

// What a holder may still have to tell.
const (
	// NeedRegistrant: registrant data, or what is missing in them.
	NeedRegistrant = "registrant"
	// NeedCode: the auth code of a transfer.
	NeedCode = "auth_code"
)

// What a registry can answer beyond the codes of its connector.
const (
	// Billing goes with KindUpstream: our account has no money. The line waits.
	Billing registrar.Code = "registry_billing"
)
