package contactcheck

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
)

// Store persists checks.
type Store interface {
	// ListUncheckedDomains returns domains whose check is not opened yet, by id; those of guests
	// only if they were registered by guestsSince.
	ListUncheckedDomains(ctx context.Context, guestsSince time.Time, after string, limit int) ([]Domain, error)
	// OpenContactCheck gives a domain the check of its address: an open one that was opened before
	// its first reminder, the given one, which is stored with its mail and event, or none if the
	// address is confirmed. It returns false if the domain has changed or if it needs no mail.
	OpenContactCheck(ctx context.Context, domain Domain, opening Opening) (bool, error)
	// ListDueChecks returns checks whose step is due. While stopped, none that would be suspended.
	ListDueChecks(ctx context.Context, now time.Time, stopped bool, limit int) ([]Check, error)
	// ListPlannedSuspensions returns the domains whose suspension is due, also where their registry does
	// not offer it.
	ListPlannedSuspensions(ctx context.Context, now time.Time, limit int) ([]Planned, error)
	GetContactCheck(ctx context.Context, id string) (Check, bool, error)
	// GetRegistrantData returns the registrant of an account.
	GetRegistrantData(ctx context.Context, customer string) (registrar.Registrant, bool, error)
	// IsConfirmedAddress reports whether an address is the confirmed one of an account.
	IsConfirmedAddress(ctx context.Context, customer, email string) (bool, error)
	// ListDomainsOfCheck returns domains of a check, by id.
	ListDomainsOfCheck(ctx context.Context, check, after string, limit int) ([]Domain, error)
	CountDomainsOfCheck(ctx context.Context, check string) (int, error)
	// UpdateContactCheck stores a transition, and returns false if the check has changed since From.
	UpdateContactCheck(ctx context.Context, transition Transition) (bool, error)
	// BeginSuspension stores the intent to suspend the domains of a check.
	BeginSuspension(ctx context.Context, suspension Suspension) (Verdict, error)
	// ConfirmAddress confirms all open checks of an address. It returns how many there were, and
	// queues the mail if domains are offline.
	ConfirmAddress(ctx context.Context, confirmation Confirmation) (int, error)
	// LinkedAddress returns the account and the address of a link that has not expired.
	LinkedAddress(ctx context.Context, hash registrar.SecretHash, now time.Time) (customer, email string, found bool, err error)
	// ListChecksOfAddress returns the checks of an address, the newest first.
	ListChecksOfAddress(ctx context.Context, customer, email string, limit int) ([]Check, error)
	// ListDomainsToRelease returns suspended domains that wait for no check, by id.
	ListDomainsToRelease(ctx context.Context, after string, limit int) ([]Domain, error)
	// ClearContactHold stores that a domain is not suspended any more.
	ClearContactHold(ctx context.Context, domain, check string) error
	// GetContactCheckOfDomain returns the open check of a customer's domain.
	GetContactCheckOfDomain(ctx context.Context, customer, domain string) (Check, bool, error)
	// ListCustomerContactChecks and ListOpenContactChecks return open checks, the first that are due first.
	ListCustomerContactChecks(ctx context.Context, customer string, limit int) ([]Check, error)
	ListOpenContactChecks(ctx context.Context, limit int) ([]Check, error)
}

// Changes puts domains on hold and ends that, and says why it was refused; *domainchange.Service
// does.
type Changes interface {
	HoldFor(ctx context.Context, customer, id, reference string) (domainchange.Progress, error)
	ReleaseFor(ctx context.Context, customer, id, reference string) (domainchange.Progress, error)
	LacksHold(tld string) bool
	LastChangeFor(ctx context.Context, operator registrar.Actor, domain, reference string, kind, or domainchange.ChangeKind) (domainchange.Change, bool, error)
}

var _ Changes = (*domainchange.Service)(nil)

// Opening is a check to be opened, with its first mail, whose ID is FirstMailID. If the domain joins
// another check, AddToMail names it in that check's first mail or in the one that AgainMailID names. If
// both are sent already, Again returns the next one about all domains, and what the check becomes with it.
type Opening struct {
	Check Check
	Mail  registrar.Mail
	Again func(check Check, domains []Domain) (Check, registrar.Mail)
	Event registrar.AuditEvent
	At    time.Time // real time, for mails
}

// Transition moves a check from one row to another.
type Transition struct {
	From, To Check
	Mails    []registrar.Mail
	Event    *registrar.AuditEvent
	At       time.Time
}

// Suspension is the intent to suspend the domains of a check. It counts for the brake.
type Suspension struct {
	Transition
	Domains  int // that it takes out of the DNS
	Day      int64
	DayLimit int
	// Notices is the number of accepted mails that it needs; 0 if an operator decided, which is
	// not counted by the brake either.
	Notices int
}

// Verdict says whether a suspension has begun, and why not.
type Verdict string

// The verdicts.
const (
	Begun      Verdict = "begun"
	Changed    Verdict = "changed"     // another node works on it, or it was confirmed
	Unaccepted Verdict = "unaccepted"  // the mail server did not accept all mails
	MailQueued Verdict = "mail_queued" // a mail is neither accepted nor abandoned yet
	Stopped    Verdict = "stopped"     // the brake is engaged, or the day's limit reached
)

// Confirmation is the confirmation of an address for an account. The store names the domains that
// are offline in the mail with registrar.NameDomains.
type Confirmation struct {
	Customer, Email string
	By              Means
	From, Note      string
	Event           registrar.AuditEvent
	Mail            registrar.Mail
	Now, At         time.Time // business and real time
}
