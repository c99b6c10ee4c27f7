package lifecycle

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// State is the state of an unpaid term; doc.go has the transition table.
type State string

// The states of an unpaid term. They are stored.
const (
	Unpaid     State = "unpaid"
	Holding    State = "holding"
	Held       State = "held"
	Deleting   State = "deleting"
	Redemption State = "redemption"
	Releasing  State = "releasing"
	Closed     State = "closed"
	Paid       State = "paid"
)

// Final reports whether the state has no successor.
func (s State) Final() bool { return s == Closed || s == Paid }

// Term is a term that ended without being renewed.
type Term struct {
	Domain, Customer, Name, TLD string
	Account                     string // the registry account
	End                         time.Time
	State                       State
	StepAt                      time.Time // business time of the next step; zero: none
	// DueAt is the real time from which a node may work on the term: the end of a lease, or
	// of a delay. Node holds the lease.
	DueAt    time.Time
	Node     string
	Attempts int
	WaitsFor registrar.Code // why an operator is needed; empty: nothing
	// Each is zero until then.
	HeldAt, DeletedAt, EndedAt time.Time
	UpdatedAt                  time.Time
	Cause                      registrar.Code // CauseRefund; empty: the term was not paid
}

// CauseRefund is the cause of a deletion because the registration was refunded (package order).
const CauseRefund registrar.Code = "refund"

// Why a term waits for an operator. They are stored, and checked again every day.
const (
	WaitsForOperator registrar.Code = "operator" // the TLD's policy
	WaitsForConsent  registrar.Code = "consent"  // a deletion needs the customer's consent
	WaitsForNotices  registrar.Code = "notices"  // the mail server accepted no notice before the end of the term, or none after it
	WaitsForLock     registrar.Code = "locked"   // a dispute or a court order
	WaitsForRegistry registrar.Code = "refused"  // the registry refused the command
	WaitsForReview   registrar.Code = "restored" // the registry shows a deleted domain as registered
	// LeftAlone is an operator's decision to do nothing. It is not checked again.
	LeftAlone registrar.Code = "left"
)

// Action is what happens next to an unpaid domain.
type Action string

// The actions.
const (
	ActHold     Action = "hold"
	ActDelete   Action = "delete"
	ActHandOver Action = "hand_over" // to the registry (DENIC's TRANSIT)
	ActFollow   Action = "follow"    // only look at what the registry does
	ActWait     Action = "wait"      // an operator decides
	ActSuspend  Action = "suspend"   // hold, because a registrant's address is not confirmed (package contactcheck)
)

// minHold is how long a domain is at least out of the DNS before it is deleted: ICANN's
// Expired Registration Recovery Policy demands eight days.
const minHold = 8 * day

// NextAction returns what happens to an unpaid or held domain at its next step.
func (p Policy) NextAction(state State) Action {
	switch {
	case p.Unpaid == UnpaidExpire:
		return ActFollow
	case p.Unpaid == UnpaidOperator:
		return ActWait
	case p.Unpaid == UnpaidTransit:
		return ActHandOver
	case state == Unpaid && p.HoldAfter > 0:
		return ActHold
	default: // UnpaidConsent is checked by the transaction that begins the deletion
		return ActDelete
	}
}

// FirstStep returns when something happens to a domain whose term ended unpaid.
func (p Policy) FirstStep(end time.Time) time.Time {
	switch {
	case p.Unpaid == UnpaidExpire: // the registry acts, and we look
		return end
	case p.HoldAfter > 0:
		return end.AddDate(0, 0, p.HoldAfter)
	default:
		return end.AddDate(0, 0, p.DeleteAfter)
	}
}

// DeletionAt returns the earliest time at which an unpaid domain is deleted: as planned, but not
// before it was out of the DNS long enough. heldAt is zero if it is not held.
func (p Policy) DeletionAt(end, heldAt time.Time) time.Time {
	return notBefore(end.AddDate(0, 0, p.DeleteAfter), heldAt.Add(minHold))
}

// PlannedDeletion returns the earliest time at which a domain that nothing has happened to yet is deleted
// unless it is renewed.
func (p Policy) PlannedDeletion(end, now time.Time) time.Time {
	return notBefore(p.DeletionAt(end, p.plannedHold(end, now)), now)
}

// plannedHold returns the earliest time at which such a domain leaves the DNS; zero if it does not.
func (p Policy) plannedHold(end, now time.Time) time.Time {
	if p.HoldAfter == 0 {
		return time.Time{}
	}
	return notBefore(end.AddDate(0, 0, p.HoldAfter), now)
}

// Audited actions.
const (
	ActionExpired      registrar.Action = "domain_expired" // the end of a term
	ActionHeld         registrar.Action = "domain_held"
	ActionDeleted      registrar.Action = "domain_deleted"
	ActionClosed       registrar.Action = "domain_closed" // it is gone for good
	ActionHandedOver   registrar.Action = "domain_handed_over"
	ActionLeft         registrar.Action = "domain_left_alone"
	ActionDeletionSet  registrar.Action = "domain_deletion_ordered" // by an operator
	ActionAdopted      registrar.Action = "domain_term_adopted"     // an operator starts the procedure for an overdue domain
	ActionConfirmBrake registrar.Action = "brake_confirmed"
)

// Errors of operators' decisions.
const (
	// NoSuchTerm (KindNotFound): the domain has no unpaid term.
	NoSuchTerm registrar.Code = "no_such_term"
	// PaymentInProgress (KindConflict): the domain was renewed, or is being paid.
	PaymentInProgress registrar.Code = "payment_in_progress"
	// TermChanged (KindConflict): another node or operator was faster.
	TermChanged registrar.Code = "term_changed"
	// PreviewChanged (KindConflict): more would happen now than the operator has seen.
	PreviewChanged registrar.Code = "preview_changed"
	// BrakeReleased (KindConflict): the brake is not engaged.
	BrakeReleased registrar.Code = "brake_released"
)
