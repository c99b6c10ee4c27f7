package registrar

// Extension is a row of the price list: yearly net prices in euro cents, registration
// rules, and the services that report availability.
type Extension struct {
	// TLD is the extension in lower case A-label form with its leading dot:
	// ".de", ".co.uk", ".xn--p1acf".
	TLD string

	Register Cents
	Renew    Cents
	Transfer Cents
	Restore  Cents

	// MinYears is the shortest term that the registry sells, and the term of every
	// order.
	MinYears int
	MaxYears int

	Popular bool
	// Requires names a rule that the registrant must meet, such as eu_presence. Empty
	// means none.
	Requires string
	Verify   bool // requires a verified identity of the registrant before registration

	RDAP string // the base URL of the registry's RDAP service; empty if the list has none
	// RDAPPinned means that the operator has set RDAP. A pinned URL is never replaced
	// by a newer IANA bootstrap.
	RDAPPinned bool
	WHOIS      string // the registry's WHOIS host, with a port unless it is 43

	// Sale reports whether names can be ordered here. It is not part of the price list:
	// the configuration determines it when a list is loaded.
	Sale Sale

	// Costs is what the registry charges. BelowCost allows prices below it.
	Costs     Costs
	BelowCost bool
}

// Term is the number of years of a registration.
func (e Extension) Term() int { return max(1, e.MinYears) }

// Sale reports whether names of an extension can be ordered, as opposed to looked up.
type Sale struct {
	Decided bool // false if orderability was not determined and must not be reported
	// NoRegistration and NoTransfer are the codes of why that can't be ordered; empty
	// if it can.
	NoRegistration, NoTransfer Code
}
