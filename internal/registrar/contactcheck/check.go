package contactcheck

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const day = 24 * time.Hour

const (
	// Term is how long an address may stay unconfirmed; its last day is a whole one.
	Term = 15 * day
	// GuestDelay is how long only the claim mail asks a guest.
	GuestDelay = day
	// LastNotice is the number of mails that are sent before a suspension.
	LastNotice = 3
	// lastWarning is the least time between the last mail and the suspension, and minGap that
	// between two mails, also after an outage.
	lastWarning, minGap = 3 * day, 2 * day
)

// noticeAfter is when the nth mail is sent, counted from the opening of a check.
var noticeAfter = [LastNotice]time.Duration{0, 5 * day, 12 * day}

// State is the progress of a check; see the table in doc.go.
type State string

// States of a check. They are stored.
const (
	Pending   State = "pending"
	Suspended State = "suspended"
	Confirmed State = "confirmed"
	Obsolete  State = "obsolete"
)

// Why a check waits for an operator. They are stored.
const (
	WaitsForNotices  registrar.Code = "notices"
	WaitsForRegistry registrar.Code = "refused"
)

// Means is how an address was confirmed.
type Means string

// How an address can be confirmed. They are stored.
const (
	ByLink     Means = "link"
	ByAccount  Means = "account" // it is the confirmed address of the account
	ByClaim    Means = "claim"   // a guest order was claimed with a link from a mail
	ByOperator Means = "operator"
)

// IDPrefix starts the id of every check.
const IDPrefix = "chk_"

// Check is an address of an account that has to be confirmed.
type Check struct {
	ID, Customer, Email string
	Language            string // of the mails to the registrant; empty: the account's
	State               State
	Notices             int // mails that were queued
	OpenedAt            time.Time
	DueAt               time.Time // when its domains are suspended: LastDay is over
	StepAt              time.Time // of the next step; zero: none
	WaitsFor            registrar.Code
	ResentAt            time.Time // when the mail was last sent again, or will be
	SuspendedAt         time.Time
	EndedAt             time.Time
	ConfirmedBy         Means
	ConfirmedFrom       string
	Note                string
	Domains             int // only in lists
	Held                int // how many of them are offline; only in lists
	// Names are domains that a suspension takes out of the DNS, Kept those whose registry does not
	// offer that (domainchange.Capabilities.NoHold). At most maxOwnDomains together; only in ListOwn.
	Names, Kept []string
	// Causes are why its domains have to be checked; only in operators' lists.
	Causes []CauseCount
	// Refused are domains that the registry has not put on hold; only in operators' lists.
	Refused []RefusedHold
}

// Cause is why the address of a domain's registrant has to be confirmed.
type Cause string

// The causes.
const (
	CauseRegistration Cause = "registration"
	CauseTransfer     Cause = "transfer" // to us
	CauseChange       Cause = "change"   // of the registrant's address
)

// Causes returns all causes.
func Causes() []Cause { return []Cause{CauseRegistration, CauseTransfer, CauseChange} }

// CauseCount is a cause and how many domains of a check have it.
type CauseCount struct {
	Cause   Cause
	Domains int
}

// Overdue is the stage of a suspended check none of whose domains is offline.
const Overdue State = "overdue"

// Stage is the state as pages show it. Held has to be set.
func (c Check) Stage() State {
	if c.State == Suspended && c.Held == 0 {
		return Overdue
	}
	return c.State
}

// RefusedHold is a domain whose suspension its registry refused. Reason is empty if the registry
// was not asked, because the domain's status forbids it or no account serves it.
type RefusedHold struct {
	Name   string
	Reason registrar.Code
}

// LastDay is the last day on which a confirmation prevents the suspension: a day in Germany, as the
// beginning of that day in UTC.
func (c Check) LastDay() time.Time {
	return registrar.LastFullDay(endOfDay(c.DueAt))
}

// endOfDay returns the next midnight in Germany, or the time itself if it is one.
func endOfDay(at time.Time) time.Time {
	year, month, day := at.Add(-1).In(registrar.Germany()).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, registrar.Germany()).UTC()
}

// Open reports whether the address is still to be confirmed.
func (c Check) Open() bool { return c.State == Pending || c.State == Suspended }

// Domain is a domain of a check.
type Domain struct {
	ID, Customer, Name, TLD string
	Email                   string    // of its registrant; empty: the account's
	Registrant              string    // as stored, for comparison
	Hold                    string    // the check that suspended it, although it may wait for another one by now
	Held                    bool      // the registry has taken it out of the DNS; only in lists of a check
	Since                   time.Time // when it got its registrant; only in lists of unchecked ones
}

// Planned is a suspension that would begin now.
type Planned struct {
	Domain  Domain
	Account string
	DueAt   time.Time
}

// Audited actions.
const (
	ActionAsked     registrar.Action = "contact_asked"
	ActionConfirmed registrar.Action = "contact_confirmed"
	ActionSuspended registrar.Action = "contact_suspended"
)

// Actions returns all audited actions of this package.
func Actions() []registrar.Action {
	return []registrar.Action{ActionAsked, ActionConfirmed, ActionSuspended}
}

// Error codes. Transports have a text for each.
const (
	NoSuchCheck registrar.Code = "no_such_contact_check" // KindNotFound: or it has ended
	Ended       registrar.Code = "contact_check_ended"   // KindConflict: there is nothing to confirm any more
	BadLink     registrar.Code = "bad_contact_link"      // KindNotFound: unknown, expired, or its account is gone
	ResentToo   registrar.Code = "contact_mail_resent"   // KindRateLimited: the mail was sent again a short time ago
	NoteMissing registrar.Code = "contact_note_missing"  // KindInvalid: an operator has to say how an address was verified
)

// newCheck returns a check whose first mail is being queued. The days count from the registration
// or the change; a mail that comes late, after an outage, moves the next ones.
func newCheck(domain Domain, now time.Time) Check {
	since := domain.Since
	if since.IsZero() || since.After(now) {
		since = now
	}
	return Check{
		ID: registrar.NewID(IDPrefix, now), Customer: domain.Customer, Email: domain.Email, State: Pending, Notices: 1,
		OpenedAt: since, DueAt: endOfDay(since.Add(Term)), StepAt: later(since.Add(noticeAfter[1]), now.Add(minGap)),
	}
}

// reminded returns the check after its next mail.
func (c Check) reminded(now time.Time) Check {
	c.Notices++
	if c.Notices < LastNotice {
		c.StepAt = later(c.OpenedAt.Add(noticeAfter[c.Notices]), now.Add(minGap))
		return c
	}
	c.DueAt = endOfDay(later(c.DueAt, now.Add(lastWarning)))
	c.StepAt = c.DueAt
	return c
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
