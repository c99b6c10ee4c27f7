package ledger

import (
	"strings"
	"time"

	"golang.org/x/net/idna"
)

// NameState is how a name stands in the table before anybody changed it.
type NameState uint8

// The standings.
const (
	Free     NameState = iota
	Taken              // somebody's; Origin knows whose
	Apex               // the registry's own, such as co.uk; nobody can change it
	Reserved           // nobody can have it
)

// ContactRule is what a zone wants to know about a domain's people.
type ContactRule uint8

// The rules.
const (
	AllContacts    ContactRule = iota // registrant, admin, tech; billing if you like
	RegistrantOnly                    // registrant; the others if you like
	NoContacts                        // none, and naming one is refused
)

// Policy is what is special about a zone. The zero value is a generic one.
type Policy struct {
	Contacts ContactRule
	// Gateway is how .de looks through a gateway: see doc.go.
	Gateway bool
	// MinYears and MaxYears bound a create; 0 means 1 and 10.
	MinYears, MaxYears int
}

// PolicyOf is the policy of a zone, written with its leading dot.
func PolicyOf(zone string) Policy {
	switch zone {
	case ".com", ".net", ".dev":
		return Policy{Contacts: NoContacts}
	case ".de":
		return Policy{Contacts: RegistrantOnly, Gateway: true}
	default:
		return Policy{}
	}
}

// NameEntry is where a name lies and how it stands there.
type NameEntry struct {
	Zone   string // ".de"
	Label  string
	State  NameState
	Policy Policy
	Fees   FeeSchedule
}

// Table is the registry as it was before anybody changed it.
type Table interface {
	// Lookup finds a well-formed name; found is false outside of all zones. A
	// zone's own name is no place.
	Lookup(name string) (place NameEntry, found bool)
	// InitialDomain is the domain of a name that is taken.
	InitialDomain(name string, now time.Time) *Domain
}

// WellFormed says whether a name consists of lower case letter-digit-hyphen
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

// lookUp finds where a domain name of a command belongs.
func (l *Ledger) lookUp(name string) (NameEntry, *Refusal) {
	if !WellFormed(name) || !strings.Contains(name, ".") {
		return NameEntry{}, refuse(ValueSyntax, "domain:name", name, "This is not a domain name in A-labels.")
	}
	place, found := l.table.Lookup(name)
	if !found {
		return NameEntry{}, refuse(NoSuchService, "domain:name", name, "This registry does not serve the extension.")
	}
	return place, nil
}

// labelProblem says what speaks against a label as such.
func (p NameEntry) labelProblem() string {
	switch {
	case strings.Contains(p.Label, "."):
		return "Names are registered directly below the extension only."
	case strings.HasPrefix(p.Label, "xn--"):
		if _, err := idna.Registration.ToUnicode(p.Label); err != nil {
			return "The label is not a valid internationalised name."
		}
	case len(p.Label) > 3 && p.Label[2:4] == "--":
		return "Labels with hyphens in the third and fourth place are reserved."
	}
	return ""
}
