package ledger

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Personality is the kind of registry that a zone imitates in what it refuses about
// contacts. doc.go has the table of zones, docs/sandbox-registries.md one of rejections for
// each; TestPersonality_… of package registry has a frame for each row.
type Personality string

// The personalities.
const (
	Lenient     Personality = ""             // what RFC 5733 and common sense require
	MinimumData Personality = "minimum-data" // Verisign, Google: no contacts
	EURid       Personality = "eurid"
	NicAT       Personality = "nic.at"
	Thick       Personality = "thick" // a gTLD with all four contacts
	Gateway     Personality = "gateway"
)

// ContactType is what a registry's own extension says about a contact.
type ContactType struct {
	Registry Personality `json:"registry"` // EURid or NicAT
	// Type is registrant, tech, billing, onsite or reseller at EURid; privateperson,
	// organisation or role at nic.at.
	Type string `json:"type"`
	// Of EURid only.
	Lang        string `json:"lang,omitempty"`
	Person      bool   `json:"person,omitempty"`
	Citizenship string `json:"citizenship,omitempty"`
}

const (
	euLanguages = "bg cs da de el en es et fi fr ga hr hu it lt lv mt nl pl pt ro sk sl sv"
	eea         = "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK"
)

func isOneOf(value, list string) bool { return slices.Contains(strings.Fields(list), value) }

// checkType applies the rules of the registry whose extension the contact has. They hold
// from its creation on.
func (c *Contact) checkType() *Refusal {
	switch {
	case c.Typed == nil:
		return nil
	case c.Typed.Registry == EURid:
		return c.checkEURid()
	default:
		return c.checkNicAT()
	}
}

func (c *Contact) checkEURid() *Refusal {
	of, postal := c.Typed, c.firstPostal()
	switch {
	case !isOneOf(of.Type, "registrant tech billing onsite reseller"):
		return refuse(ValueSyntax, "contact-ext:type", of.Type, "This is not a type of contacts.")
	case of.Lang == "":
		return refuse(Missing, "contact-ext:lang", "", "A contact needs a language.")
	case !isOneOf(of.Lang, euLanguages):
		return refuse(ValueSyntax, "contact-ext:lang", of.Lang, "This is not a language of the European Union.")
	case len(c.Postal) > 1 || postal.Type != "loc":
		return refuse(PolicyForbids, "contact:postalInfo", "int", "Addresses are in local form.")
	case c.Voice.Number == "":
		return refuse(Missing, "contact:voice", "", "A contact needs a telephone number.")
	case utf8.RuneCountInString(postal.Name) > 50:
		return refuse(OutOfRange, "contact:name", "", "A name has at most 50 characters.")
	case utf8.RuneCountInString(postal.Org) > 100:
		return refuse(OutOfRange, "contact:org", "", "An organisation has at most 100 characters.")
	case c.Disclosure != nil:
		return refuse(PolicyForbids, "contact:disclose", "", "There is no choice of disclosure.")
	case (of.Type != "registrant" || !of.Person) && postal.Org == "":
		return refuse(Missing, "contact:org", "", "This contact needs an organisation.")
	case of.Type != "registrant":
		return nil
	case of.Person && postal.Org != "":
		return refuse(PolicyForbids, "contact:org", postal.Org, "A natural person has no organisation.")
	case !isOneOf(postal.Country, eea) && (!of.Person || !isOneOf(of.Citizenship, eea)):
		return refuse(PolicyForbids, "contact:cc", postal.Country, "The registrant is neither in the European Economic Area nor one of its citizens.")
	}
	return nil
}

func (c *Contact) checkNicAT() *Refusal {
	of, postal := c.Typed, c.firstPostal()
	switch {
	case !isOneOf(of.Type, "privateperson organisation role"):
		return refuse(ValueSyntax, "at-ext-contact:type", of.Type, "This is not a type of contacts.")
	case len(c.Postal) > 1 || postal.Type != "int":
		return refuse(PolicyForbids, "contact:postalInfo", "loc", "Addresses are in international form.")
	case of.Type == "organisation" && postal.Org == "":
		return refuse(Missing, "contact:org", "", "An organisation has a name.")
	case of.Type == "privateperson" && postal.Org != "":
		return refuse(PolicyForbids, "contact:org", postal.Org, "A person has no organisation.")
	case c.Disclosure != nil && of.Type == "privateperson":
		return refuse(PolicyForbids, "contact:disclose", "", "Persons are never published.")
	case c.Disclosure != nil && slices.ContainsFunc(c.Disclosure.Fields, func(field string) bool { return !isOneOf(field, "voice fax email") }):
		return refuse(PolicyForbids, "contact:disclose", "", "Only voice, fax and email can be hidden.")
	}
	return nil
}

// firstPostal is the address that the rules of personalities are about.
func (c *Contact) firstPostal() Postal {
	if len(c.Postal) == 0 {
		return Postal{}
	}
	return c.Postal[0]
}

// checkRoles refuses roles that the zone does not have.
func (p Policy) checkRoles(zone string, roles []Role) *Refusal {
	count := map[string]int{}
	for _, role := range roles {
		count[role.Type]++
	}
	switch {
	case p.Personality == EURid && count["admin"] > 0, p.Personality == NicAT && count["admin"]+count["billing"] > 0:
		return refuse(PolicyForbids, "domain:contact", "", "Domains of "+zone+" have no contact of this type.")
	case p.Personality == EURid && (count["tech"] > 9 || count["billing"] > 1), p.Personality == NicAT && count["tech"] > 2:
		return refuse(PolicyForbids, "domain:contact", "", "These are too many contacts of one type.")
	}
	return nil
}

// fits refuses a contact that the zone's registry would not have created. role is registrant
// or a type of domain:contact.
func (c *Contact) fits(place NameEntry, domain, role string) *Refusal {
	element := "domain:contact"
	if role == "registrant" {
		element = "domain:registrant"
	}
	unfit := func(reason string) *Refusal { return refuse(PolicyForbids, element, c.ID, reason) }
	postal := c.firstPostal()
	typed := func(registry Personality) bool { return c.Typed != nil && c.Typed.Registry == registry }
	switch place.Policy.Personality {
	case EURid:
		switch {
		case !typed(EURid):
			return unfit("The contact was created without its type and language.")
		case c.Typed.Type != role:
			return unfit("The contact is of the type " + c.Typed.Type + ".")
		case role == "registrant" && (strings.HasSuffix(c.Email, "@"+domain) || strings.HasSuffix(c.Email, "."+domain)):
			return unfit("The registrant's email address is below the domain.")
		}
	case NicAT:
		switch {
		case !typed(NicAT):
			return unfit("The contact was created without its type.")
		case role == "registrant" && c.Typed.Type == "role":
			return unfit("A role can't be the registrant.")
		}
	case Thick:
		switch {
		case c.Voice.Number == "":
			return unfit("The contact has no telephone number.")
		case strings.Join(postal.Street, "") == "":
			return unfit("The contact has no street.")
		case c.Typed != nil:
			return unfit("The contact is one of another registry.")
		}
	case Gateway:
		switch {
		case postal.Code == "":
			return unfit("The contact has no postal code.")
		case strings.Join(postal.Street, "") == "":
			return unfit("The contact has no street.")
		}
	}
	return nil
}

// checkHosts applies a personality's rules for nameservers.
func (p Policy) checkHosts(domain string, servers []Nameserver) *Refusal {
	switch {
	case p.Personality == NicAT && (len(servers) < 2 || len(servers) > 8):
		return refuse(OutOfRange, "domain:ns", "", "A domain has two to eight name servers.")
	case p.Personality == Gateway && len(servers) == 1:
		return refuse(OutOfRange, "domain:ns", "", "A domain has none or at least two name servers.")
	}
	for _, server := range servers {
		below := server.Host == domain || strings.HasSuffix(server.Host, "."+domain)
		switch {
		case p.attributesOnly() && !server.Attribute:
			return refuse(PolicyForbids, "domain:hostObj", server.Host, "Name servers are attributes here.")
		case server.Attribute && below && len(server.Addresses) == 0:
			return refuse(Missing, "domain:hostAddr", server.Host, "A name server below the domain needs an address.")
		}
	}
	return nil
}

// attributesOnly means that there are no host objects.
func (p Policy) attributesOnly() bool { return p.Personality == EURid || p.Personality == NicAT }

// makesAuth means that the registry makes the authInfo of a domain created without one.
func (p Policy) makesAuth() bool { return p.Personality == EURid || p.Personality == NicAT }
