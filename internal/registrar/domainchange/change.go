package domainchange

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// ChangeKind is what a change is about.
type ChangeKind string

// The kinds.
const (
	// Nameservers replaces all of them.
	Nameservers ChangeKind = "nameservers"
	// AddDS and RemoveDS are about one DS record.
	AddDS    ChangeKind = "ds_add"
	RemoveDS ChangeKind = "ds_remove"
	// Lock and Unlock are about transfers to other registrars.
	Lock   ChangeKind = "lock"
	Unlock ChangeKind = "unlock"
	// AuthCode sets a new one and tells it.
	AuthCode ChangeKind = "auth_code"
	// UpdateRegistrant puts the account's present data into the domain's contact.
	UpdateRegistrant ChangeKind = "holder"
	// Secure is an operator's: it keeps a domain from leaving, by the transfer lock where
	// the registry has one, and by a new auth code that nobody is told.
	Secure ChangeKind = "secure"
)

// CustomerChangeKinds are all that holders can ask for.
func CustomerChangeKinds() []ChangeKind {
	return []ChangeKind{Nameservers, AddDS, RemoveDS, Lock, Unlock, AuthCode, UpdateRegistrant}
}

// ChangeKinds are also those that operators ask for.
func ChangeKinds() []ChangeKind { return append(CustomerChangeKinds(), Secure) }

// ChangeStatus is how far a change has come; doc.go has the table.
type ChangeStatus string

// The states.
const (
	StatusOpen    ChangeStatus = "open"
	StatusPending ChangeStatus = "pending"
	StatusDone    ChangeStatus = "done"
	StatusRefused ChangeStatus = "refused"
)

// Final says that nothing more will happen.
func (s ChangeStatus) Final() bool { return s == StatusDone || s == StatusRefused }

// Nameserver is a host, with addresses if it lies below the domain itself (glue).
type Nameserver struct {
	Name      string       `json:"name"`
	Addresses []netip.Addr `json:"addresses,omitempty"`
}

// String is the nameserver as it is typed: its name, then its addresses.
func (n Nameserver) String() string {
	parts := []string{n.Name}
	for _, address := range n.Addresses {
		parts = append(parts, address.String())
	}
	return strings.Join(parts, " ")
}

// DS is a delegation signer record. Digest is in upper case hexadecimal.
type DS struct {
	KeyTag     uint16 `json:"keyTag"`
	Algorithm  uint8  `json:"algorithm"`
	DigestType uint8  `json:"digestType"`
	Digest     string `json:"digest"`
}

// DesiredState is what shall be so. Only the field of the kind is set.
type DesiredState struct {
	Nameservers []Nameserver `json:"nameservers,omitempty"`
	DS          *DS          `json:"ds,omitempty"`
	// Lock is the operator's lock that a domain is secured for.
	Lock string `json:"for,omitempty"`
}

// Change is what somebody wants of a domain.
type Change struct {
	ID       string
	Customer string
	// Domain is its id, Name the whole name in A-labels, TLD its extension.
	Domain, Name, TLD string
	// Account is the registry account that carries it out.
	Account string
	Kind    ChangeKind
	Desired DesiredState
	// Handle is the new contact, OldHandle the one that it replaces.
	Handle, OldHandle string
	// SealedCode is the auth code until it is set.
	SealedCode string

	State ChangeStatus
	// Failure is why it was refused.
	Failure registrar.Code
	// Actor is who asked for it.
	Actor registrar.Actor

	// DueAt is when somebody has to look at it: while a node works on it, the end
	// of the lease; zero at the end.
	DueAt    time.Time
	Node     string
	Attempts int

	CreatedAt, UpdatedAt time.Time
}

// Domain is a domain as its holder's account knows it.
type Domain struct {
	ID, Customer, Name, TLD string
	// Status is the state that the customer sees.
	Status          registrar.DomainStatus
	PaidUntil       time.Time
	AutoRenew       bool
	Account, Handle string
}

// Record is a domain as the registry told it at ReadAt.
type Record struct {
	Statuses    []string     `json:"statuses,omitempty"`
	Nameservers []Nameserver `json:"nameservers,omitempty"`
	DS          []DS         `json:"ds,omitempty"`
	Created     time.Time    `json:"created"`
	Updated     time.Time    `json:"updated"`
	Expires     time.Time    `json:"expires"`
	Handle      string       `json:"handle,omitempty"`
	ReadAt      time.Time    `json:"-"`
}

// transferLock is the status by which a registrar keeps a domain from leaving.
const transferLock = "clientTransferProhibited"

// Locked says whether its registrar keeps it from being transferred away.
func (r Record) Locked() bool { return slices.Contains(r.Statuses, transferLock) }

// What can go wrong. Transports have a sentence for each.
const (
	// ChangeInProgress goes with KindConflict: another change of the domain is open.
	ChangeInProgress registrar.Code = "change_under_way"
	// TooManyChanges goes with KindRateLimited: the domain was changed very often lately.
	TooManyChanges registrar.Code = "too_many_changes"
	// NoSuchChange goes with KindNotFound; Hopeful with KindConflict: it is at its end, or somebody
	// can carry it out, so it is not given up.
	NoSuchChange   registrar.Code = "no_such_change"
	NotAbandonable registrar.Code = "change_is_hopeful"
	// DomainRestricted goes with KindConflict: a dispute or a court forbids it.
	DomainRestricted registrar.Code = "domain_barred"

	// These go with KindConflict: the domain's state forbids it.
	IsPending        registrar.Code = "domain_is_pending"
	IsExpired        registrar.Code = "domain_is_expired"
	IsRedemption     registrar.Code = "domain_is_in_redemption"
	IsTransit        registrar.Code = "domain_is_in_transit"
	IsTransferredOut registrar.Code = "domain_is_elsewhere"

	// These go with KindInvalid: the input is wrong.
	BadNameserver       registrar.Code = "bad_nameserver"
	DuplicateNameserver registrar.Code = "double_nameserver"
	TooFewNameservers   registrar.Code = "few_nameservers"
	TooManyNameservers  registrar.Code = "many_nameservers"
	GlueMissing         registrar.Code = "glue_missing"
	UnexpectedGlue      registrar.Code = "glue_unwanted"
	BadDS               registrar.Code = "bad_ds"
	WeakDS              registrar.Code = "weak_ds"

	// These go with KindUnsupported: the registry has no such thing.
	NoTransferLock registrar.Code = "registry_has_no_lock"
	NoAuthCode     registrar.Code = "registry_has_no_code"
	NoContacts     registrar.Code = "registry_has_no_contacts"
	// RegistrantMissing goes with KindConflict: the account has no registrant data.
	RegistrantMissing registrar.Code = "holder_missing"
)

// Abandoned is the failure of a change that an operator has given up.
const Abandoned registrar.Code = "given_up"

// actions are what the audit tells of changes that are done.
var actions = map[ChangeKind]registrar.Action{
	Nameservers: "nameservers_changed", AddDS: "ds_added", RemoveDS: "ds_removed", Lock: "domain_locked", Unlock: "domain_unlocked",
	AuthCode: "auth_code_shown", UpdateRegistrant: "domain_holder_changed", Secure: "domain_secured",
}

// What the audit tells of a change that the registry refused, and of one that an operator gave up.
const (
	ActionRefused   registrar.Action = "domain_change_refused"
	ActionAbandoned registrar.Action = "domain_change_given_up"
)

// Actions are all that the audit tells of changes.
func Actions() []registrar.Action {
	all := []registrar.Action{ActionRefused, ActionAbandoned}
	for _, kind := range ChangeKinds() {
		all = append(all, actions[kind])
	}
	return all
}

// statusRefusals say for each but an active domain why it can't be changed.
var statusRefusals = map[registrar.DomainStatus]registrar.Code{
	registrar.DomainPending: IsPending, registrar.DomainExpired: IsExpired, registrar.DomainRedemption: IsRedemption, registrar.DomainTransit: IsTransit,
	registrar.DomainTransferredOut: IsTransferredOut,
}

// statusRefusal is why a change can't be made in the domain's state; empty if it can.
// Whoever did not renew may still take the domain elsewhere.
func statusRefusal(status registrar.DomainStatus, kind ChangeKind) registrar.Code {
	transferRelated := kind == Lock || kind == Unlock || kind == AuthCode || kind == Secure
	if status == registrar.DomainActive || status == registrar.DomainExpired && transferRelated {
		return ""
	}
	if code, known := statusRefusals[status]; known {
		return code
	}
	return IsPending
}
