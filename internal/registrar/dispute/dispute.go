package dispute

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
)

// Status is the provider's status of a dispute; doc.go has the table.
type Status string

// The statuses.
const (
	WarningNeedsResponse Status = "warning_needs_response"
	WarningUnderReview   Status = "warning_under_review"
	WarningClosed        Status = "warning_closed"
	Prevented            Status = "prevented"
	NeedsResponse        Status = "needs_response"
	UnderReview          Status = "under_review"
	Won                  Status = "won"
	Lost                 Status = "lost"
)

// Statuses returns all statuses.
func Statuses() []Status {
	return []Status{WarningNeedsResponse, WarningUnderReview, WarningClosed, Prevented, NeedsResponse, UnderReview, Won, Lost}
}

// Inquiry reports whether no money was taken.
func (s Status) Inquiry() bool { return strings.HasPrefix(string(s), "warning_") || s == Prevented }

// Open reports whether the bank has not decided.
func (s Status) Open() bool {
	return s == WarningNeedsResponse || s == WarningUnderReview || s == NeedsResponse || s == UnderReview
}

// follows reports whether a status may follow another one.
func (s Status) follows(was Status) bool {
	switch was {
	case Won, Lost:
		return s == Won || s == Lost
	case NeedsResponse, UnderReview:
		return !s.Inquiry() || s == WarningClosed || s == Prevented
	default:
		return slices.Contains(Statuses(), s)
	}
}

// Lock is the state of a dispute's lock; doc.go has the table.
type Lock string

// The states of a lock.
const (
	LockNone    Lock = "none"
	LockActive  Lock = "active"
	LockKept    Lock = "kept"
	LockDenying Lock = "denying"
	LockDenied  Lock = "denied"
	LockLifted  Lock = "lifted"
)

// InForce reports whether the domains are locked.
func (l Lock) InForce() bool {
	return l == LockActive || l == LockKept || l == LockDenying || l == LockDenied
}

// Report is what the provider says about a dispute.
type Report struct {
	ID, Charge, Intent string
	Status             Status
	Reason             string
	Currency           string
	Amount             registrar.Cents
	// Withdrawn is what was taken back and not returned, Fee what the provider charges for it.
	Withdrawn, Fee registrar.Cents
	// Charged and Refunded are those of the charge.
	Charged, Refunded registrar.Cents
	Debit             bool      // the charge is a direct debit
	Refundable        bool      // the charge can still be refunded
	DueBy             time.Time // until when evidence can be sent; zero if it can't
	OpenedAt          time.Time
}

// Dispute is a stored dispute.
type Dispute struct {
	Report
	// Payment and Order are empty if the charge is unknown. Customer is the order's; it is not
	// stored. CustomerEmail is the account's address, which only ListAudited returns.
	Payment, Order, Customer string
	CustomerEmail            string
	BankReturn               bool // lost from the start
	Lock                     Lock
	OpenWork                 bool // an operator has to act
	// LockedAt is when the lock was set, LiftedAt when it ended; see LockedSince.
	LockedAt, LiftedAt time.Time
	// Decision is the operator's last decision and Note its reason; reports of the provider don't change
	// them. DecidedAt is zero before the first one. See Decided.
	Decision        Decision
	Note, DecidedBy string
	DecidedAt       time.Time

	// DueAt is when a worker must process the row; zero means never.
	Version             int64
	DueAt               time.Time
	Node                string
	Attempts            int
	StoredAt, UpdatedAt time.Time
}

// Subject is the payment of a charge.
type Subject struct {
	Payment, Order, Customer string
	Captured                 bool // it paid for its order
}

// Domain is a domain that a charge paid for.
type Domain struct {
	ID, Name, TLD, Customer string
	Status                  registrar.DomainStatus
}

// Error codes. Transports have a text for each.
const (
	NoSuchDispute registrar.Code = "no_such_dispute"         // KindNotFound
	NotDecidable  registrar.Code = "dispute_not_decided"     // KindConflict: not lost, or another operator was first
	BadDecision   registrar.Code = "bad_decision"            // KindInvalid
	NoteMissing   registrar.Code = "decision_reason_missing" // KindInvalid: missing, too long or not printable
)

// Audited actions.
const (
	ActionOpened   registrar.Action = "payment_disputed"
	ActionReturned registrar.Action = "payment_returned"
	ActionWon      registrar.Action = "dispute_won"
	ActionLost     registrar.Action = "dispute_lost"
	ActionKept     registrar.Action = "dispute_lock_kept"
	ActionLifted   registrar.Action = "dispute_lock_lifted"
	ActionDenied   registrar.Action = "dispute_transfers_denied"
)

// Actions returns all audited actions.
func Actions() []registrar.Action {
	return []registrar.Action{ActionOpened, ActionReturned, ActionWon, ActionLost, ActionKept, ActionLifted, ActionDenied}
}

// Decision is what an operator decides after a loss.
type Decision string

// The decisions.
const (
	Keep Decision = "keep" // the lock stays
	Lift Decision = "lift"
	Deny Decision = "deny" // transfers are denied for non-payment
)

// Decisions returns all decisions.
func Decisions() []Decision { return []Decision{Keep, Lift, Deny} }

// Provider is the payment provider.
type Provider interface {
	FetchDispute(ctx context.Context, id string) (Report, error)
	// ListDisputeIDs returns the disputes created since a time, the newest first, at most limit.
	ListDisputeIDs(ctx context.Context, since time.Time, limit int) ([]string, error)
}

// Update is a new version of a dispute with its effects, in one transaction.
type Update struct {
	Was, Now   Dispute // Was is zero if the dispute is new
	AuditEvent *registrar.AuditEvent
	Mail       *registrar.Mail
	// OperatorMail says that an operator has to act; nil if not.
	OperatorMail *registrar.Mail
	At           time.Time // the real time, used for mails
}

// Store persists disputes.
type Store interface {
	GetDispute(ctx context.Context, id string) (Dispute, bool, error)
	// FindDisputedPayment returns the payment of a provider's payment intent.
	FindDisputedPayment(ctx context.Context, intent string) (Subject, bool, error)
	// StoreDispute inserts or updates a dispute. It returns false, and changes nothing, if the
	// version in Was is not the stored one.
	StoreDispute(ctx context.Context, update Update) (bool, error)
	// ClaimDueDisputes leases rows that are due, the longest overdue first.
	ClaimDueDisputes(ctx context.Context, now, lease time.Time, limit int) ([]Dispute, error)
	// PostponeDispute ends a lease. It changes nothing if the row was made due meanwhile.
	PostponeDispute(ctx context.Context, id string, lease, due time.Time, attempts int) error
	// ListDisputedDomains returns the domains that an order paid for and that we still have.
	ListDisputedDomains(ctx context.Context, order string) ([]Domain, error)
	// IsDomainDisputed reports whether a lock of a dispute is in force for a domain.
	IsDomainDisputed(ctx context.Context, domain string) (bool, error)
	// ListDomainDisputes returns the disputes whose locks are in force for a domain.
	ListDomainDisputes(ctx context.Context, domain string) ([]Dispute, error)
	// ListDisputes returns a page before an id, the newest first: those with open work, or the
	// others.
	ListDisputes(ctx context.Context, open bool, before string, limit int) ([]Dispute, error)
	// ListLockingDisputes returns those whose locks are in force, the newest first.
	ListLockingDisputes(ctx context.Context, limit int) ([]Dispute, error)
	// ListDisputesOfOrders returns the disputes of a page of orders.
	ListDisputesOfOrders(ctx context.Context, orders []string) ([]Dispute, error)
	CountOpenDisputes(ctx context.Context) (int, error)
	// ClaimDisputeListing leases the daily listing; false if it is not due. until is how far the
	// last one got.
	ClaimDisputeListing(ctx context.Context, provider string, now, lease time.Time) (until time.Time, claimed bool, err error)
	// FinishDisputeListing stores how far a listing got, and when the next one is due.
	FinishDisputeListing(ctx context.Context, provider string, lease, until, due time.Time) error
}

// Changes is domainchange.Service, which locks and holds domains at their registries.
type Changes interface {
	SecureFor(ctx context.Context, customer, domain, dispute string) (domainchange.Progress, error)
	HoldFor(ctx context.Context, customer, domain, dispute string) (domainchange.Progress, error)
	ReleaseFor(ctx context.Context, customer, domain, dispute string) (domainchange.Progress, error)
	// RepeatDisputed sets the holder of a transferred domain that a lock has refused.
	RepeatDisputed(ctx context.Context, customer, domain string) (domainchange.Progress, error)
}

// Transfers is transferaway.Service, which rejects transfers to other registrars.
type Transfers interface {
	// RejectUnpaid rejects the pending transfer of a domain for non-payment. It returns false
	// while the registry has not answered.
	RejectUnpaid(ctx context.Context, domain string) (done bool, err error)
}

// LockedSince is when the lock was set; zero if there was none. An inquiry may have been open for weeks by
// then. Earlier releases stored only when a dispute was opened.
func (d Dispute) LockedSince() time.Time {
	if d.Lock == LockNone || !d.LockedAt.IsZero() {
		return d.LockedAt
	}
	return d.OpenedAt
}

// Decided returns the operator's last decision; empty without one, or if the operator only noted a loss.
// Earlier releases stored the resulting lock instead.
func (d Dispute) Decided() Decision {
	switch {
	case d.DecidedAt.IsZero() || d.Decision != "":
		return d.Decision
	case d.Lock == LockKept:
		return Keep
	case d.Lock == LockDenying || d.Lock == LockDenied:
		return Deny
	case d.Lock == LockLifted && d.Status == Lost:
		return Lift
	}
	return ""
}

// WonAfterDecision is when the bank's decision lifted the lock after an operator's; zero if it did not.
func (d Dispute) WonAfterDecision() time.Time {
	if d.DecidedAt.IsZero() || d.Decision == Lift || d.Lock != LockLifted || d.Status != Won {
		return time.Time{}
	}
	return d.LiftedAt
}

// needsResponse reports whether evidence can still be submitted.
func (d Dispute) needsResponse() bool {
	return d.Status == NeedsResponse || d.Status == WarningNeedsResponse
}

// Deadline is when an operator must have acted: submitted evidence, or decided about a loss, which
// is due since the dispute was opened. It is zero if nothing has to be done by a day.
func (d Dispute) Deadline() time.Time {
	switch {
	case d.needsResponse():
		return d.DueBy
	case d.OpenWork && d.Status == Lost:
		return d.OpenedAt
	default:
		return time.Time{}
	}
}

// Late reports whether the time for evidence is over.
func (d Dispute) Late(now time.Time) bool {
	return d.needsResponse() && !d.DueBy.IsZero() && d.DueBy.Before(now)
}

// TakesMoney reports whether the bank has taken the payment back, for good or until it decides.
func (d Dispute) TakesMoney() bool {
	return d.Status == Lost || d.Status.Open() && !d.Status.Inquiry()
}

// MostSerious returns the dispute that says what a payment is worth: a lost one, otherwise one that
// the bank has not decided, an inquiry last. It returns false if all of them ended well.
func MostSerious(disputes []Dispute) (worst Dispute, found bool) {
	weight := func(d Dispute) int {
		switch {
		case d.Status == Lost:
			return 3
		case d.TakesMoney():
			return 2
		case d.Status.Open():
			return 1
		default:
			return 0
		}
	}
	for _, d := range disputes {
		if weight(d) > weight(worst) {
			worst, found = d, true
		}
	}
	return worst, found
}
