package registry

// Canaries are words that stand in every personal field of the world's records
// and nowhere else. None of them may ever come out of the product.
var Canaries = []string{"Kanarienvogelsang", "Piepmatzhausen", "canary-7f3a", "5550177313"}

// contact is the person behind every record of the world.
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

// contacts are the same for all names: what matters is that they are personal
// and can be recognised. The umlauts are for the hosts that write ISO-8859-1.
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
