package registry

// Canaries occur in every personal field of the sandbox's records and nowhere else.
// The product must never output any of them.
var Canaries = []string{"Kanarienvogelsang", "Piepmatzhausen", "canary-7f3a", "5550177313"}

// contact is a contact of every record.
type contact struct {
	role    string // as RDAP names it (RFC 9083, 10.2.4)
	handle  string
	person  string
	company string
	street  string
	postal  string
	city    string
	phone   string
	email   string
}

// contacts are the same for all names: they only have to be personal and
// recognisable. The umlauts are for the hosts that use ISO-8859-1.
var contacts = [...]contact{
	{
		role: "registrant", handle: "canary-7f3a-1", person: "Jürgen Kanarienvogelsang",
		company: "Kanarienvogelsang & Söhne KG", street: "Kanarienvogelsangstraße 17", postal: "canary-7f3a",
		city: "Piepmatzhausen", phone: "+49.5550177313", email: "juergen.canary-7f3a@voliere.example",
	},
	{
		role: "administrative", handle: "canary-7f3a-2", person: "Änne Kanarienvogelsang",
		company: "Voliere Kanarienvogelsang", street: "Am Piepmatzhausener Tor 3", postal: "canary-7f3a",
		city: "Piepmatzhausen", phone: "+49.5550177313.2", email: "aenne.canary-7f3a@voliere.example",
	},
	{
		role: "technical", handle: "canary-7f3a-3", person: "Björn Kanarienvogelsang",
		company: "Technik Kanarienvogelsang", street: "Piepmatzhausener Weg 8", postal: "canary-7f3a",
		city: "Piepmatzhausen", phone: "+49.5550177313.3", email: "bjoern.canary-7f3a@voliere.example",
	},
}
