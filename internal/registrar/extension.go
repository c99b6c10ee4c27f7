package registrar

// Extension is one row of the price list: what a domain below it costs a year
// in net euro cents, under which conditions, and who can say whether a name in
// it is taken.
type Extension struct {
	// TLD is the extension in lower case A-label form with its leading dot:
	// ".de", ".co.uk", ".xn--p1acf".
	TLD string

	Register Cents
	Renew    Cents
	Transfer Cents
	Restore  Cents

	// MinYears is the shortest term that the registry sells, and the term of
	// every order.
	MinYears int
	MaxYears int

	Popular bool
	// Requires names a rule of the registry that the holder must meet, such as
	// eu_presence. Empty means none.
	Requires string
	// Verify says that the holder's identity is checked before registration.
	Verify bool

	// RDAP is the base address of the registry's RDAP service, empty if the
	// list names none.
	RDAP string
	// RDAPPinned says that RDAP was set by the operator and not by the list
	// that ships with the program. A pinned address is never replaced by a
	// newer IANA bootstrap.
	RDAPPinned bool
	// WHOIS is the registry's WHOIS host, with a port if it is not 43.
	WHOIS string

	// Sale says whether names below it can be ordered here. It is not part of the
	// price list: the configuration decides it when a list comes into force.
	Sale Sale
}

// Term is how many years a registration is for, and what is charged first.
func (e Extension) Term() int { return max(1, e.MinYears) }

// Sale says whether names of an extension can be ordered, as opposed to looked up.
type Sale struct {
	// Decided is false for a list on which no decision was taken; then nothing may be
	// said about orders.
	Decided bool
	// NoRegistration and NoTransfer are why that can't be ordered; empty if it can.
	NoRegistration, NoTransfer Code
}
