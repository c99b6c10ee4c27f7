package inbox

import (
	"slices"
	"time"
)

// Kind is what a message is about.
type Kind string

// The kinds. They are stored.
const (
	KindTransfer      Kind = "transfer"
	KindPendingAction Kind = "pending_action" // the outcome of a command that the registry accepted as pending
	KindRedemption    Kind = "redemption"     // RFC 3915: a deleted domain, or a grace period
	KindUpdate        Kind = "update"         // an object as it is now, without a reason
	KindChange        Kind = "change"         // RFC 8590: changed by the registry or a court
	KindBalance       Kind = "balance"
	KindMaintenance   Kind = "maintenance" // RFC 9167
	KindText          Kind = "text"
	KindUnparsed      Kind = "unparsed"
)

// Kinds returns all kinds, the most urgent first.
func Kinds() []Kind {
	return []Kind{
		KindTransfer, KindChange, KindRedemption, KindPendingAction, KindBalance, KindMaintenance, KindUnparsed, KindText, KindUpdate,
	}
}

// Valid reports whether k is one of Kinds.
func (k Kind) Valid() bool { return slices.Contains(Kinds(), k) }

// Limits of what is stored of a message.
const (
	MaxRaw  = 64 << 10 // bytes
	MaxText = 4000     // characters
	MaxList = 50       // entries of each list in Details
)

// Message is a poll message of a registry.
type Message struct {
	ID      string
	Name    string // the domain it concerns; empty if it is about something else
	Text    string
	Queued  time.Time
	Waiting int // the length of the queue, this message included
	Kind    Kind
	Details Details
	// Raw is the frame if parts of it were not understood; empty otherwise.
	Raw string
}

// Details is what a message says, by kind.
type Details struct {
	Object      Object        `json:"object,omitempty"`
	ObjectID    string        `json:"objectId,omitempty"` // of a contact or a host
	Transfer    *Transfer     `json:"transfer,omitempty"`
	Pending     *Pending      `json:"pending,omitempty"`
	Grace       []string      `json:"grace,omitempty"` // RGP statuses
	State       *State        `json:"state,omitempty"`
	Change      *Change       `json:"change,omitempty"`
	Balance     *Balance      `json:"balance,omitempty"`
	Maintenance []Maintenance `json:"maintenance,omitempty"`
}

// Object is the type of the object that a message is about.
type Object string

// The types.
const (
	ObjectDomain  Object = "domain"
	ObjectContact Object = "contact"
	ObjectHost    Object = "host"
)

// Transfer is a transfer request and its outcome (RFC 5731, 3.1.3).
type Transfer struct {
	Status      string    `json:"status"` // pending, clientApproved, …
	RequestedBy string    `json:"requestedBy"`
	RequestedAt time.Time `json:"requestedAt,omitzero"`
	DecidedBy   string    `json:"decidedBy"`          // who decided or has to
	DecidedAt   time.Time `json:"decidedAt,omitzero"` // the deadline while it is pending
	Expires     time.Time `json:"expires,omitzero"`
	Ours        bool      `json:"ours,omitempty"` // we requested it
}

// Pending reports whether the transfer is undecided.
func (t Transfer) Pending() bool { return t.Status == "pending" }

// Pending is the outcome of a pending command (RFC 5731, 3.3).
type Pending struct {
	Performed bool      `json:"performed"`
	ClTRID    string    `json:"clTrid,omitempty"`
	SvTRID    string    `json:"svTrid,omitempty"`
	At        time.Time `json:"at,omitzero"`
}

// State is an object as the registry has it.
type State struct {
	Statuses []string  `json:"statuses,omitempty"`
	Sponsor  string    `json:"sponsor,omitempty"`
	Updated  time.Time `json:"updated,omitzero"`
	Expires  time.Time `json:"expires,omitzero"`
}

// Change is an operation that we did not request (RFC 8590).
type Change struct {
	Before    bool      `json:"before,omitempty"` // State is the one before the operation
	Operation string    `json:"operation"`        // create, update, autoRenew, …
	Custom    string    `json:"custom,omitempty"` // the registry's name of the operation
	At        time.Time `json:"at,omitzero"`
	SvTRID    string    `json:"svTrid,omitempty"`
	Who       string    `json:"who,omitempty"`
	CaseType  string    `json:"caseType,omitempty"` // udrp, urs or custom
	CaseName  string    `json:"caseName,omitempty"`
	Case      string    `json:"case,omitempty"`
	Reason    string    `json:"reason,omitempty"`
}

// Balance is the credit of a registry account. Amounts are decimal numbers as the registry
// sends them.
type Balance struct {
	Registrar     string `json:"registrar,omitempty"`
	Limit         string `json:"limit,omitempty"`
	Threshold     string `json:"threshold,omitempty"`
	ThresholdType string `json:"thresholdType,omitempty"` // FIXED or PERCENT
	Available     string `json:"available"`
	Currency      string `json:"currency,omitempty"`
	Zone          string `json:"zone,omitempty"`
}

// Maintenance is a maintenance window of a registry (RFC 9167).
type Maintenance struct {
	ID          string    `json:"id"`
	Name        string    `json:"name,omitempty"`
	Notice      string    `json:"notice,omitempty"` // create, update, delete, courtesy or end
	Systems     []System  `json:"systems,omitempty"`
	Environment string    `json:"environment,omitempty"` // production, ote, staging, dev or custom
	Start       time.Time `json:"start,omitzero"`
	End         time.Time `json:"end,omitzero"`
	Reason      string    `json:"reason,omitempty"` // planned or emergency
	Detail      string    `json:"detail,omitempty"` // an address with more
	Description string    `json:"description,omitempty"`
	TLDs        []string  `json:"tlds,omitempty"`
}

// System is a system that is under maintenance.
type System struct {
	Name   string `json:"name"`
	Host   string `json:"host,omitempty"`
	Impact string `json:"impact,omitempty"` // full, partial or none
}

// Subject is what we know about the domain of a message when it is stored.
type Subject struct {
	Domain    string // the id of the domain that we hold or last held
	Held      bool   // it is ours now
	Known     bool   // we hold it, have held it or have an order for it
	Transfers bool   // an order to transfer it to us is open
	Restores  bool   // an order to restore it is open
	Deleted   bool   // we have deleted it, or are deleting it
}

// deletionPhases are the RGP statuses of a deleted domain; the others are grace periods.
var deletionPhases = []string{"redemptionPeriod", "pendingRestore", "pendingDelete"}

// NeedsOperator reports whether a message is stored as unread. The package comment has the
// table.
func NeedsOperator(m Message, about Subject) bool {
	if m.Details.Object == ObjectDomain && !about.Known {
		return true
	}
	ofDomain := m.Details.Object == ObjectDomain
	switch m.Kind {
	case KindTransfer:
		transfer := m.Details.Transfer
		return !ofDomain || transfer == nil || transfer.Pending() && !transfer.Ours && !about.Transfers && !about.Held
	case KindPendingAction:
		return m.Details.Pending == nil || !m.Details.Pending.Performed
	case KindRedemption:
		deleted := slices.ContainsFunc(m.Details.Grace, func(status string) bool { return slices.Contains(deletionPhases, status) })
		return deleted && !about.Deleted && !about.Restores
	case KindUpdate:
		return !ofDomain || !about.Held
	default:
		return true
	}
}
