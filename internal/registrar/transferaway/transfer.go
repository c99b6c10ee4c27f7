package transferaway

import (
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// State is the progress of a transfer; see the table in doc.go.
type State string

// The states. They are stored.
const (
	StateNew       State = "new"
	StatePending   State = "pending"
	StateStopping  State = "stopping"
	StateApproving State = "approving"
	StateEnding    State = "ending"
	StateStopped   State = "stopped"
	StateApproved  State = "approved"
	StateCompleted State = "completed"
	StateCancelled State = "cancelled"
	StateKept      State = "kept"
)

// States returns all states.
func States() []State {
	return []State{
		StateNew, StatePending, StateStopping, StateApproving, StateEnding,
		StateStopped, StateApproved, StateCompleted, StateCancelled, StateKept,
	}
}

// Final reports whether the state has no successor.
func (s State) Final() bool {
	return slices.Contains([]State{StateStopped, StateApproved, StateCompleted, StateCancelled, StateKept}, s)
}

// Left reports whether the domain has left.
func (s State) Left() bool { return s == StateApproved || s == StateCompleted }

// Reason is why a transfer is stopped.
type Reason string

// The reasons: ICANN Transfer Policy, I.A.3.7 and I.A.3.8. They are stored.
const (
	ReasonObjection  Reason = "objection" // the registrant's
	ReasonFraud      Reason = "fraud"
	ReasonIdentity   Reason = "identity" // it is contested who the registrant is
	ReasonDispute    Reason = "dispute"  // a proceeding about the name: UDRP, URS or TDRP
	ReasonCourtOrder Reason = "court_order"
	ReasonLock       Reason = "lock" // soon after registration, transfer or a change of the holder
	// ReasonNonPayment is not in Reasons: it follows an operator's decision about a payment dispute.
	ReasonNonPayment Reason = "nonpayment"
)

// Reasons returns all reasons for which operators can reject.
func Reasons() []Reason {
	return []Reason{ReasonObjection, ReasonFraud, ReasonIdentity, ReasonDispute, ReasonCourtOrder, ReasonLock}
}

// Registry statuses of a transfer (RFC 5730, 2.9.3.4).
const (
	statusPending         = "pending"
	statusClientApproved  = "clientApproved"
	statusServerApproved  = "serverApproved"
	statusClientRejected  = "clientRejected"
	statusClientCancelled = "clientCancelled"
	statusServerCancelled = "serverCancelled"
)

// Transfer is a transfer of one of our domains to another registrar.
type Transfer struct {
	ID, Customer string
	// Domain is the domain's id, Name the full name in A-labels.
	Domain, Name, TLD string
	Account           string // the registry account
	// Gaining is the other registrar's id at the registry; empty if unknown. RequestedAt and
	// ActsAt, when the registry approves by itself, are zero if unknown.
	Gaining             string
	RequestedAt, ActsAt time.Time
	State               State
	RegistryStatus      string         // as last reported; empty if unknown
	Failure             registrar.Code // why the registry refused the last answer

	// Who stopped or approved it, when, why, and the sentence that they confirmed. Zero if
	// there was no decision.
	Actor     registrar.Actor
	DecidedAt time.Time
	Reason    Reason
	Statement string

	// DueAt is when the row is processed next: the end of the lease while a node works on it,
	// zero after the end.
	DueAt    time.Time
	Node     string
	Attempts int

	CreatedAt, UpdatedAt, EndedAt time.Time
}

// Overdue reports whether the registry should have ended the transfer by now.
func (t Transfer) Overdue(now time.Time) bool {
	return t.EndedAt.IsZero() && !t.ActsAt.IsZero() && t.ActsAt.Add(overdueAfter).Before(now)
}

// overdueAfter is how long we may take to learn that the registry has ended a transfer.
const overdueAfter = time.Hour

// TimeTolerance is how much the time of a request may differ between the registry's message and
// its response to a query: some round it.
const TimeTolerance = time.Second

// IsSameTime reports whether two times are those of the same request.
func IsSameTime(a, b time.Time) bool { return a.Sub(b).Abs() <= TimeTolerance }

// isRequest reports whether the registry's transfer is this one.
func (t Transfer) isRequest(found RegistryTransfer) bool {
	sameTime := t.RequestedAt.IsZero() || found.RequestedAt.IsZero() || IsSameTime(t.RequestedAt, found.RequestedAt)
	sameRegistrar := t.Gaining == "" || found.Gaining == "" || strings.EqualFold(t.Gaining, found.Gaining)
	return sameTime && sameRegistrar
}

// Error codes. Transports have a text for each.
const (
	NoSuchTransfer registrar.Code = "no_such_outgoing_transfer"        // KindNotFound
	AlreadyDecided registrar.Code = "outgoing_transfer_decided"        // KindConflict: it was stopped or approved, or it has ended
	NotAnswerable  registrar.Code = "outgoing_transfer_not_answerable" // KindUnsupported: the registry lets the losing registrar decide nothing
	NotApprovable  registrar.Code = "outgoing_transfer_not_approvable" // KindConflict: an operator's lock or a payment dispute forbids it
	BadReason      registrar.Code = "bad_transfer_reason"              // KindInvalid
)

// Audited actions.
const (
	ActionOpened    registrar.Action = "transfer_away_requested"
	ActionStop      registrar.Action = "transfer_away_stop"    // the objection
	ActionApprove   registrar.Action = "transfer_away_approve" // the approval
	ActionStopped   registrar.Action = "transfer_away_stopped"
	ActionRefused   registrar.Action = "transfer_away_refused" // the registry refused our answer
	ActionLeft      registrar.Action = "transfer_away_left"
	ActionCancelled registrar.Action = "transfer_away_cancelled"
)

// Actions returns all audited actions of this package.
func Actions() []registrar.Action {
	return []registrar.Action{ActionOpened, ActionStop, ActionApprove, ActionStopped, ActionRefused, ActionLeft, ActionCancelled}
}

// endActions are the actions by the end of a transfer.
var endActions = map[State]registrar.Action{
	StateStopped: ActionStopped, StateApproved: ActionLeft, StateCompleted: ActionLeft, StateCancelled: ActionCancelled, StateKept: ActionCancelled,
}
