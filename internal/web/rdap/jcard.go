package rdap

// jCard is a vCard in JSON (RFC 7095): the word vcard and a list of properties.
type jCard []any

type property []any

type parameters map[string]string

// newJCard returns a card with the properties that every card has.
func newJCard(name string) jCard {
	return jCard{"vcard", []property{
		{"version", parameters{}, "text", "4.0"},
		{"fn", parameters{}, "text", name},
	}}
}

func (c jCard) add(p property) jCard {
	properties, _ := c[1].([]property) // by construction
	c[1] = append(properties, p)
	return c
}

// address adds an address. ICANN's profile wants the country's code as a parameter and no name
// of the country.
func (c jCard) address(country, street, city, state, postalCode string) jCard {
	with := parameters{}
	if country != "" {
		with["cc"] = country
	}
	return c.add(property{"adr", with, "text", []string{"", "", street, city, state, postalCode, ""}})
}

// voice adds a phone number of + and digits, unless it is empty.
func (c jCard) voice(number string) jCard {
	if number == "" {
		return c
	}
	return c.add(property{"tel", parameters{"type": "voice"}, "uri", "tel:" + number})
}

// email adds an email address, unless it is empty.
func (c jCard) email(address string) jCard {
	if address == "" {
		return c
	}
	return c.add(property{"email", parameters{}, "text", address})
}

// contactURI adds the address of a form that replaces an email address (RFC 8605).
func (c jCard) contactURI(address string) jCard {
	return c.add(property{"contact-uri", parameters{}, "uri", address})
}
