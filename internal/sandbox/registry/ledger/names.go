package ledger

import (
	"strings"
	"time"

	"golang.org/x/net/idna"
)

// NameState is the initial state of a name in the table.
type NameState uint8

// Initial states.
const (
	Free     NameState = iota
	Taken              // registered; see InitialDomain
	Apex               // the registry's own, such as co.uk; immutable
	Reserved           // can't be registered
)

// ContactRule is which contacts a zone requires.
type ContactRule uint8

// Contact rules.
const (
	AllContacts    ContactRule = iota // registrant, admin and tech; billing is optional
	RegistrantOnly                    // registrant; the others are optional
	RegistrantTech                    // registrant and tech
	FourContacts                      // registrant, admin, tech and billing
	NoContacts                        // none; naming one is refused
)

// Policy holds the special rules of a zone. The zero value is a generic one.
type Policy struct {
	Personality Personality
	Contacts    ContactRule
	// Gateway presents .de as a gateway does: see doc.go.
	Gateway bool
	NoRenew bool // there is no renew command; every domain renews itself
	// DropDays is how long a domain exists after its expiry if the zone does not renew by
	// itself; 0 means that it does. RenewDays is how long it can be renewed in that time.
	DropDays, RenewDays int
	// RestoreDays is how long a deleted domain can be restored; 0 means 30.
	RestoreDays int
	// TransferKeepsTerm means that a transfer adds no time.
	TransferKeepsTerm bool
	// MinYears and MaxYears limit a create; 0 means 1 and 10.
	MinYears, MaxYears int
}

// PolicyOf returns the policy of a zone, written with its leading dot.
func PolicyOf(zone string) Policy {
	switch zone {
	case ".com", ".net", ".dev":
		return Policy{Personality: MinimumData, Contacts: NoContacts}
	case ".org", ".info":
		return Policy{Personality: Thick, Contacts: FourContacts}
	case ".de":
		return Policy{Personality: Gateway, Contacts: RegistrantOnly, Gateway: true}
	case ".be":
		return Policy{NoRenew: true, RestoreDays: 40}
	case ".it":
		return Policy{NoRenew: true}
	case ".at", ".co.at", ".or.at":
		return Policy{Personality: NicAT, Contacts: RegistrantTech, NoRenew: true, TransferKeepsTerm: true, RestoreDays: 60}
	case ".ch", ".li", ".nl":
		return Policy{NoRenew: true, TransferKeepsTerm: true, RestoreDays: 40}
	case ".eu":
		return Policy{Personality: EURid, Contacts: RegistrantTech, DropDays: 40}
	case ".se", ".nu":
		return Policy{DropDays: 77, RenewDays: 70, TransferKeepsTerm: true}
	case ".uk", ".co.uk", ".org.uk", ".me.uk":
		return Policy{DropDays: 95, RenewDays: 90, TransferKeepsTerm: true}
	case ".cz":
		return Policy{DropDays: 60, RenewDays: 60, TransferKeepsTerm: true}
	case ".pl":
		return Policy{DropDays: 30, TransferKeepsTerm: true}
	case ".fi":
		return Policy{DropDays: 26, RenewDays: 26, TransferKeepsTerm: true}
	default:
		return Policy{}
	}
}

// redemption is how long a deleted domain can be restored.
func (p Policy) redemption() time.Duration {
	if p.RestoreDays > 0 {
		return time.Duration(p.RestoreDays) * day
	}
	return redemptionPeriod
}

// NameEntry is the zone and initial state of a name.
type NameEntry struct {
	Zone   string // ".de"
	Label  string
	State  NameState
	Policy Policy
	Fees   FeeSchedule
}

// Table is the initial state of the registry.
type Table interface {
	// Lookup finds a well-formed name; found is false outside of all zones. A
	// zone's own name is not found.
	Lookup(name string) (place NameEntry, found bool)
	// InitialDomain returns the domain of a taken name.
	InitialDomain(name string, now time.Time) *Domain
}

// WellFormed reports whether a name consists of lower case letter-digit-hyphen
// labels.
func WellFormed(name string) bool {
	if len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			c := label[i]
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
				return false
			}
		}
	}
	return true
}

// lookUp returns the entry of a domain name in a command.
func (l *Ledger) lookUp(name string) (NameEntry, *Refusal) {
	if !WellFormed(name) || !strings.Contains(name, ".") {
		return NameEntry{}, refuse(ValueSyntax, "domain:name", name, "This is not a domain name in A-labels.")
	}
	place, found := l.table.Lookup(name)
	if !found {
		return NameEntry{}, refuse(NoSuchService, "domain:name", name, "This registry does not serve the TLD.")
	}
	return place, nil
}

// labelProblem returns why a label can't be registered.
func (p NameEntry) labelProblem() string {
	switch {
	case strings.Contains(p.Label, "."):
		return "Names are registered directly below the TLD only."
	case strings.HasPrefix(p.Label, "xn--"):
		if _, err := idna.Registration.ToUnicode(p.Label); err != nil {
			return "The label is not a valid internationalised name."
		}
	case p.Policy.Personality == EURid && len(p.Label) < 2:
		return "Labels have at least two characters."
	case len(p.Label) > 3 && p.Label[2:4] == "--":
		return "Labels with hyphens in the third and fourth place are reserved."
	}
	return ""
}
