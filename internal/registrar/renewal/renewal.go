package renewal

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Choice is what a customer wants at the end of a domain's term.
type Choice = registrar.TermEndChoice

// The choices.
const (
	Undecided = registrar.TermEndUndecided
	Renew     = registrar.TermEndRenew
	Expire    = registrar.TermEndExpire
)

// State is the state of a renewal; doc.go has the transition table.
type State string

// The states of a renewal.
const (
	Announced State = "announced"
	Charging  State = "charging"
	Renewed   State = "renewed"
	Failed    State = "failed"
	Stopped   State = "stopped"
)

// Renewal is the automatic renewal of one domain for one term.
type Renewal struct {
	Domain, Customer, Name, TLD string
	TermEnd                     time.Time
	State                       State
	Years                       int
	Gross                       registrar.Cents // announced; the maximum for this term
	AnnouncedAt                 time.Time
	ChargeAt                    time.Time // the next attempt, or the next look at its order; zero: none
	Attempts                    int
	Order                       string
	Failure                     registrar.Code
	UpdatedAt                   time.Time
}

// Offer is what a customer agrees to when they turn automatic renewal on. The page shows
// all of it, with the current consent text in its language.
type Offer struct {
	Domain, Name string
	Years        int
	Gross        registrar.Cents
	// RateBasisPoints is the VAT rate of Gross.
	RateBasisPoints int
	TermEnd         time.Time // of the term that the first charge renews
	ChargeAt        time.Time // the day of the first charge
	Method          string    // the label of the saved payment method; empty if there is none yet
	// NextTerm means that the current term ends too soon to announce its charge 30 days
	// ahead: the first charge is for the term after it, which the customer starts by hand.
	NextTerm bool
	On       bool // automatic renewal is on already
}

// Agreement is what the customer confirmed: the values of the offer that they saw.
type Agreement struct {
	Wording  string
	Gross    registrar.Cents
	ChargeAt time.Time // only its day counts
	Method   string
}

// The codes of this package's errors.
const (
	// NoPaymentMethod (KindConflict): automatic renewal requires a saved payment method.
	NoPaymentMethod registrar.Code = "no_method"
	// OfferChanged (KindConflict): price, day, payment method or wording are no longer those
	// that were shown.
	OfferChanged registrar.Code = "offer_changed"
	// NotRenewable (KindConflict): the extension is not sold, or the domain is not active.
	NotRenewable registrar.Code = "not_renewable"
	// RenewalOver (KindConflict): the term has ended and can't be renewed any more, so there is nothing to choose.
	RenewalOver registrar.Code = "renewal_over"
	// InProgress (KindConflict): the charge for this term is in flight.
	InProgress registrar.Code = "renewal_in_progress"
)
