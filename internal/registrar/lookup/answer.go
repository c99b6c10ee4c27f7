package lookup

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Availability is the answer to "can I register it?".
type Availability uint8

// The answers.
const (
	Unknown   Availability = iota // the sources do not decide
	Available                     // positive evidence shows that the name can be registered
	Taken                         // registered, reserved or otherwise unavailable
)

// Source is the source that decided.
type Source string

// Sources in query order.
const (
	SourceEPP   Source = "epp"
	SourceRDAP  Source = "rdap"
	SourceWHOIS Source = "whois"
	SourceDNS   Source = "dns"
)

// Reason is why a name is not simply free.
type Reason string

// Reasons. A name that is free at the list price has none.
const (
	ReasonRegistered Reason = "registered"
	ReasonReserved   Reason = "reserved"
	ReasonPremium    Reason = "premium"
	ReasonUnknown    Reason = "unknown"
)

// Prices are net yearly prices (transfer and restore are paid once).
type Prices struct{ Register, Renew, Transfer, Restore registrar.Cents }

// Orderability is whether the name can be ordered here: registered, or transferred if it is
// already registered. It is independent of availability.
type Orderability struct {
	Decided bool           // false if the catalog has no decision for the extension
	Refusal registrar.Code // why it can't be ordered; empty if it can
}

func orderabilityOf(sale registrar.Sale, found verdict, priced bool) Orderability {
	if !sale.Decided {
		return Orderability{}
	}
	refusal := sale.NoRegistration
	if found.availability == Taken {
		refusal = sale.NoTransfer
	}
	switch {
	case found.reason == ReasonReserved:
		refusal = registrar.NameReserved
	case refusal == "" && !priced:
		refusal = registrar.NamePremium
	}
	return Orderability{Decided: true, Refusal: refusal}
}

// Answer is the result for one name.
type Answer struct {
	Domain, TLD  string
	Availability Availability
	Prices       *Prices // nil if the price of this name is not known
	// MinYears is the term of a registration: the first charge is that many times the
	// yearly price. Requires is the catalog's code for a rule of the registry.
	MinYears  int
	Requires  string
	Order     Orderability
	Source    Source
	Reason    Reason
	Premium   bool
	CheckedAt time.Time
}
