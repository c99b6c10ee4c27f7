package domainchange

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
)

// ChangeKind is the kind of a change.
type ChangeKind string

// Kinds of changes.
const (
	Nameservers      ChangeKind = "nameservers" // replaces all of them
	AddDS            ChangeKind = "ds_add"      // adds one DS record
	RemoveDS         ChangeKind = "ds_remove"
	Lock             ChangeKind = "lock" // sets the transfer lock
	Unlock           ChangeKind = "unlock"
	AuthCode         ChangeKind = "auth_code" // sets a new auth code and returns it
	UpdateRegistrant ChangeKind = "holder"    // gives the domain the data of a holder, also at a registry that stores them
	// Secure is for operators: it prevents a transfer by the transfer lock, where the
	// registry has one, and by a new auth code that is disclosed to no one.
	Secure ChangeKind = "secure"
	// Hold and Release are for lost payment disputes, unconfirmed addresses and operators' locks: they set and remove clientHold, which takes
	// the domain out of the DNS.
	Hold    ChangeKind = "hold"
	Release ChangeKind = "release"

	// RemoveAllDS is the first step of a nameserver change. It is only the kind of a Task.
	RemoveAllDS ChangeKind = "ds_remove_all"
)

// CustomerChangeKinds returns the kinds that customers can request.
func CustomerChangeKinds() []ChangeKind {
	return []ChangeKind{Nameservers, AddDS, RemoveDS, Lock, Unlock, AuthCode, UpdateRegistrant}
}

// ChangeKinds returns all kinds, including those for operators.
func ChangeKinds() []ChangeKind { return append(CustomerChangeKinds(), Secure, Hold, Release) }

// ChangeStatus is the progress of a change; see the table in doc.go.
type ChangeStatus string

// Statuses of a change.
const (
	StatusOpen       ChangeStatus = "open"
	StatusRemovingDS ChangeStatus = "removing_ds"
	StatusWaiting    ChangeStatus = "waiting"
	StatusPending    ChangeStatus = "pending"
	StatusDone       ChangeStatus = "done"
	StatusRefused    ChangeStatus = "refused"
	StatusCanceled   ChangeStatus = "canceled"
)

// Final reports whether the status has no successor.
func (s ChangeStatus) Final() bool {
	return s == StatusDone || s == StatusRefused || s == StatusCanceled
}

// Nameserver is a host, with addresses if it is below the domain itself (glue).
type Nameserver struct {
	Name      string       `json:"name"`
	Addresses []netip.Addr `json:"addresses,omitempty"`
}

// String returns the input form: the name, then the addresses.
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

// String returns the record as zone files have it.
func (d DS) String() string {
	return fmt.Sprintf("%d %d %d %s", d.KeyTag, d.Algorithm, d.DigestType, d.Digest)
}

// DesiredState is the target of a change. Only the fields of its kind are set.
type DesiredState struct {
	Nameservers []Nameserver `json:"nameservers,omitempty"`
	DS          *DS          `json:"ds,omitempty"`
	Lock        string       `json:"for,omitempty"` // the operator's lock, payment dispute or contact check for which a domain is secured or held
	// Immediate changes the nameservers although the domain has DS records. Otherwise these
	// are removed first: RemovedDS has them from StatusRemovingDS on, RemovedDSAt is when the
	// registry had none of them any more.
	Immediate   bool      `json:"immediate,omitempty"`
	RemovedDS   []DS      `json:"removedDs,omitempty"`
	RemovedDSAt time.Time `json:"removedDsAt,omitzero"`
	// RefusedServers are the nameservers that the registry named when it refused the change.
	RefusedServers []string `json:"refusedServers,omitempty"`
	// Holder is the id of the new holder, Registrant its data, which are dropped when the change
	// ends, and Reason why the domain gets them.
	Holder     string                `json:"holder,omitempty"`
	Registrant *registrar.Registrant `json:"registrant,omitempty"`
	Reason     holder.Reason         `json:"reason,omitempty"`
	// ThenLock sets the transfer lock of a domain that was transferred to us afterwards.
	ThenLock bool `json:"thenLock,omitempty"`
}

// Change is a requested change of a domain.
type Change struct {
	ID       string
	Customer string
	// Domain is the domain's id, Name the full name in A-labels.
	Domain, Name, TLD string
	Account           string // the registry account that executes it
	Kind              ChangeKind
	Desired           DesiredState
	// Handle is the new contact, OldHandle the one it replaces.
	Handle, OldHandle string
	// Replaces is since when the domain has the registrant that an UpdateRegistrant replaces: it is
	// not stored if the domain has another one by then. Zero means whichever it has.
	Replaces   time.Time
	SealedCode string // the auth code until it is set

	State   ChangeStatus
	Failure registrar.Code  // why it was refused
	Actor   registrar.Actor // who requested it
	Bulk    string          // the request about many domains that it belongs to; empty if none

	// WaitUntil is the business time at which the nameservers are changed; zero unless the
	// status is StatusWaiting.
	WaitUntil time.Time
	// DueAt is when the change is processed next: the end of the lease while a node works
	// on it, zero in a final status.
	DueAt    time.Time
	Node     string
	Attempts int

	CreatedAt, UpdatedAt time.Time
}

// Domain is a domain in a customer's account.
type Domain struct {
	ID, Customer, Name, TLD string
	Status                  registrar.DomainStatus
	PaidUntil               time.Time
	RegistryExpires         time.Time // as the registry last said, also in reply to a renewal; zero if unknown
	Account, Handle         string
	// Holder is the id of its holder, empty for the customer; Registrant is zero if the domain has
	// the customer's own data.
	Holder          string
	Registrant      registrar.Registrant
	RegistrantSince time.Time
	Premium         bool // the registry charged its own fee the last time: the list price does not apply
}

// PastRegistrant is a registrant that a domain had before.
type PastRegistrant struct {
	Holder       string
	Registrant   registrar.Registrant
	Reason       holder.Reason // why it was replaced
	Since, Until time.Time
}

// Record is a domain's registry data as read at ReadAt.
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

// TransferLock is the EPP status of the transfer lock.
const TransferLock = "clientTransferProhibited"

// Locked reports whether the transfer lock is set.
func (r Record) Locked() bool { return slices.Contains(r.Statuses, TransferLock) }

// Held reports whether we have taken the domain out of the DNS.
func (r Record) Held() bool { return slices.Contains(r.Statuses, clientHold) }

// Error codes. Transports have a text for each.
const (
	ChangeInProgress registrar.Code = "change_under_way"       // KindConflict: another change of the domain is open
	TooManyChanges   registrar.Code = "too_many_changes"       // KindRateLimited
	NoSuchChange     registrar.Code = "no_such_change"         // KindNotFound
	NotCancelable    registrar.Code = "change_not_cancelable"  // KindConflict: nothing waits, or the nameservers are being changed
	NotAbandonable   registrar.Code = "change_not_abandonable" // KindConflict: it has ended, or an account can execute it
	DomainRestricted registrar.Code = "domain_barred"          // KindConflict: an operator's lock forbids it
	DomainDisputed   registrar.Code = "domain_disputed"        // KindConflict: the payment of the domain is disputed, or was returned
	BadReason        registrar.Code = "bad_reason"             // KindInvalid: of a change of the holder

	// KindConflict: the domain's status forbids it.
	IsPending        registrar.Code = "domain_is_pending"
	IsExpired        registrar.Code = "domain_is_expired"
	IsRedemption     registrar.Code = "domain_is_in_redemption"
	IsTransit        registrar.Code = "domain_is_in_transit"
	IsTransferredOut registrar.Code = "domain_is_elsewhere"

	// KindInvalid: the input is wrong.
	BadNameserver       registrar.Code = "bad_nameserver"
	SeveralNameservers  registrar.Code = "several_nameservers" // in one line
	DuplicateNameserver registrar.Code = "double_nameserver"
	TooFewNameservers   registrar.Code = "few_nameservers"
	TooManyNameservers  registrar.Code = "many_nameservers"
	GlueMissing         registrar.Code = "glue_missing"
	UnexpectedGlue      registrar.Code = "glue_unwanted"
	BadDS               registrar.Code = "bad_ds"
	WeakDS              registrar.Code = "weak_ds"

	// KindUnsupported: the registry does not offer it.
	NoTransferLock registrar.Code = "registry_has_no_lock"
	NoAuthCode     registrar.Code = "registry_has_no_code"

	// Abandoned is the failure of a change that an operator has abandoned.
	Abandoned registrar.Code = "abandoned"
)

// actions are the audited actions of completed changes.
var actions = map[ChangeKind]registrar.Action{
	Nameservers: "nameservers_changed", AddDS: "ds_added", RemoveDS: "ds_removed", Lock: "domain_locked", Unlock: "domain_unlocked",
	AuthCode: "auth_code_shown", UpdateRegistrant: "domain_holder_changed", Secure: "domain_secured",
	Hold: "domain_hold_set", Release: "domain_hold_removed",
}

// Audited actions of changes that are planned, or ended otherwise.
const (
	// ActionPlanned is about nameservers that are changed once DS records have left all caches.
	ActionPlanned   registrar.Action = "nameservers_planned"
	ActionRefused   registrar.Action = "domain_change_refused"
	ActionDisputed  registrar.Action = "domain_change_disputed" // refused by the lock of a payment dispute
	ActionAbandoned registrar.Action = "domain_change_abandoned"
	ActionCanceled  registrar.Action = "domain_change_canceled"
)

// Actions returns all audited actions of this package.
func Actions() []registrar.Action {
	all := []registrar.Action{ActionPlanned, ActionRefused, ActionDisputed, ActionAbandoned, ActionCanceled}
	for _, kind := range ChangeKinds() {
		all = append(all, actions[kind])
	}
	return all
}

// statusRefusals maps each status except active to the reason against a change.
var statusRefusals = map[registrar.DomainStatus]registrar.Code{
	registrar.DomainPending: IsPending, registrar.DomainExpired: IsExpired, registrar.DomainRedemption: IsRedemption, registrar.DomainTransit: IsTransit,
	registrar.DomainTransferredOut: IsTransferredOut,
}

// StatusRefusal returns why a domain with this status can't be changed at all; empty if it is
// active or expired.
func StatusRefusal(status registrar.DomainStatus) registrar.Code { return statusRefusal(status, Lock) }

// statusRefusal returns why the domain's status forbids a change; empty if it doesn't. An
// expired domain can still be transferred away.
func statusRefusal(status registrar.DomainStatus, kind ChangeKind) registrar.Code {
	transferRelated := kind == Lock || kind == Unlock || kind == AuthCode || kind == Secure
	if status == registrar.DomainActive || status == registrar.DomainExpired && transferRelated {
		return ""
	}
	return cmp.Or(statusRefusals[status], IsPending)
}
