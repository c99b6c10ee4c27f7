package lookup

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Availability is the answer to "can I register it?".
type Availability uint8

const (
	// Unknown: it can't be determined.
	Unknown Availability = iota
	// Available: positive evidence says that the name can be registered.
	Available
	// Taken: registered, reserved or otherwise not to be had.
	Taken
)

// Source names who decided.
type Source string

// The sources, in the order of the ladder.
const (
	SourceEPP   Source = "epp"
	SourceRDAP  Source = "rdap"
	SourceWHOIS Source = "whois"
	SourceDNS   Source = "dns"
)

// Reason says why a name is not simply free.
type Reason string

// The reasons. A name that is free at the list price has none.
const (
	ReasonRegistered Reason = "registered"
	ReasonReserved   Reason = "reserved"
	ReasonPremium    Reason = "premium"
	ReasonUnknown    Reason = "unknown"
)

// Prices are net yearly prices (the transfer price is paid once).
type Prices struct {
	Register registrar.Cents
	Renew    registrar.Cents
	Transfer registrar.Cents
}

// Answer is what we say about one name.
type Answer struct {
	Domain       string
	TLD          string
	Availability Availability
	// Prices is nil where the price of this name is not known.
	Prices    *Prices
	Source    Source
	Reason    Reason
	Premium   bool
	CheckedAt time.Time
}
