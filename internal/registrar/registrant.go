package registrar

import (
	"cmp"
	"crypto/rand"
	"slices"
	"strings"
)

// Registrant is the registrant of a domain as submitted to a registry, with the contacts that it
// has named.
type Registrant struct {
	Name         string `json:"name"`
	Organisation string `json:"organisation,omitempty"`
	Street       string `json:"street"`
	PostalCode   string `json:"postal_code,omitempty"`
	City         string `json:"city"`
	State        string `json:"state,omitempty"`
	Country      string `json:"country"`
	Phone        string `json:"phone"`
	Email        string `json:"email"`

	// Tech and Billing are the technical and the billing contact; zero means that the registrant
	// names none. A registry may take neither.
	Tech    Contact `json:"tech,omitzero"`
	Billing Contact `json:"billing,omitzero"`
}

// SameHolder reports whether two registrants differ at most in what is no change of the registrant:
// ICANN's Transfer Policy (II.A.1.3) counts name, organization and email address.
func (r Registrant) SameHolder(other Registrant) bool {
	return r.Name == other.Name && r.Organisation == other.Organisation && strings.EqualFold(r.Email, other.Email)
}

// Contact is a contact of a registrant.
type Contact struct {
	Name         string `json:"name"`
	Organisation string `json:"organisation,omitempty"`
	Street       string `json:"street"`
	PostalCode   string `json:"postal_code,omitempty"`
	City         string `json:"city"`
	State        string `json:"state,omitempty"`
	Country      string `json:"country"`
	Phone        string `json:"phone"`
	Email        string `json:"email"`
}

// Contact returns the registrant's own data.
func (r Registrant) Contact() Contact {
	return Contact{
		Name: r.Name, Organisation: r.Organisation, Street: r.Street, PostalCode: r.PostalCode, City: r.City, State: r.State,
		Country: r.Country, Phone: r.Phone, Email: r.Email,
	}
}

// Registrant returns the contact as a registrant without contacts, the form in which registries
// get both.
func (c Contact) Registrant() Registrant {
	return Registrant{
		Name: c.Name, Organisation: c.Organisation, Street: c.Street, PostalCode: c.PostalCode, City: c.City, State: c.State,
		Country: c.Country, Phone: c.Phone, Email: c.Email,
	}
}

// DisplayName returns the organisation, or the name of a person.
func (c Contact) DisplayName() string { return cmp.Or(c.Organisation, c.Name) }

// Prefixes of contacts at a registry: of a registrant, of one with contacts, and of those.
const (
	handlePrefix        = "DK"
	linkedHandlePrefix  = "DR"
	techHandlePrefix    = "DT"
	billingHandlePrefix = "DB"
	handleLength        = 16
)

// NewContactHandle returns the id of a new contact at a registry. The ids of the contacts that the
// registrant names follow from it (ContactHandles).
func NewContactHandle(registrant Registrant) string {
	prefix := handlePrefix
	if registrant.Tech != (Contact{}) || registrant.Billing != (Contact{}) {
		prefix = linkedHandlePrefix
	}
	return prefix + rand.Text()[:handleLength-len(prefix)]
}

// ContactHandles returns the ids of the contacts of a registrant with a handle. They are empty if
// there are none, also if a gateway has chosen the handle.
func ContactHandles(handle string) (tech, billing string) {
	rest, linked := strings.CutPrefix(handle, linkedHandlePrefix)
	if !linked || len(handle) != handleLength {
		return "", ""
	}
	return techHandlePrefix + rest, billingHandlePrefix + rest
}

// DisplayName returns the organisation, or the name of a person.
func (r Registrant) DisplayName() string { return cmp.Or(r.Organisation, r.Name) }

// IdentityRequired goes with KindConflict: the extension requires a verified
// identity, and the registrant's name is not verified.
const IdentityRequired Code = "requires_identity"

// RequiresCode goes with KindConflict: the registrant does not meet a rule of the
// catalog's column "requires". Each rule has its own code, so that a transport can
// explain it.
func RequiresCode(rule string) Code { return Code("requires_" + rule) }

// CheckRegistrant returns an error if the extension does not admit this registrant.
// verified is the name that an identity check has confirmed; empty if there was none.
// Rules about data that only a gateway can submit are not checked here: without the
// gateway such names can't be ordered.
func (e Extension) CheckRegistrant(registrant Registrant, verified string) error {
	if err := e.CheckCountry(registrant.Country); err != nil {
		return err
	}
	return e.CheckIdentity(registrant.Name, verified)
}

// CheckCountry is the part of CheckRegistrant about the country.
func (e Extension) CheckCountry(country string) error {
	requirement := RequirementOf(e.Requires)
	if !requirement.Admits(country) {
		return &Error{Kind: KindConflict, Code: RequiresCode(e.Requires), Detail: e.TLD}
	}
	return nil
}

// CheckIdentity is the part of CheckRegistrant about the identity.
func (e Extension) CheckIdentity(name, verified string) error {
	if e.Verify && !SameName(verified, name) {
		return &Error{Kind: KindConflict, Code: IdentityRequired, Detail: e.TLD}
	}
	return nil
}

// CheckRegistrant applies Extension.CheckRegistrant to each of tlds.
func CheckRegistrant(find func(tld string) (Extension, bool), tlds []string, registrant Registrant, verified string) error {
	return CheckExtensions(find, tlds, func(extension Extension) error { return extension.CheckRegistrant(registrant, verified) })
}

// CheckExtensions applies check to each of tlds and returns the first error. find
// looks extensions up in the catalog; those it no longer lists are skipped.
func CheckExtensions(find func(tld string) (Extension, bool), tlds []string, check func(Extension) error) error {
	for _, tld := range tlds {
		extension, listed := find(tld)
		if !listed {
			continue
		}
		if err := check(extension); err != nil {
			return err
		}
	}
	return nil
}

// Requirement is the meaning of a rule in the catalog's column "requires".
type Requirement struct {
	// Countries are the allowed countries of the registrant; empty allows all.
	Countries []string
	// Gateway: the rule needs data that EPP has no field for (a tax id, a register
	// number), so a name can be ordered only through an account with a
	// ProtocolExtension that submits it.
	Gateway bool
}

// eeaCountries are the members of the European Economic Area: those of the European
// Union, and three more.
var eeaCountries = []string{
	"AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU",
	"IE", "IT", "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK", "IS", "LI", "NO",
}

var requirements = map[string]Requirement{
	"":                {},
	"eu_presence":     {Countries: eeaCountries},
	"ch_presence":     {Countries: []string{"CH"}, Gateway: true}, // and a register number
	"us_nexus":        {Gateway: true},
	"ca_presence":     {Countries: []string{"CA"}, Gateway: true},
	"au_presence":     {Countries: []string{"AU"}, Gateway: true},
	"nyc_presence":    {Countries: []string{"US"}, Gateway: true},
	"ie_connection":   {Gateway: true},
	"id_number":       {Gateway: true},
	"es_id_number":    {Gateway: true},
	"it_tax_id":       {Gateway: true},
	"no_org_number":   {Countries: []string{"NO"}, Gateway: true},
	"register_number": {Gateway: true},
	"profession":      {Gateway: true},
}

// RequirementOf returns the meaning of a rule. An unknown rule requires a gateway.
func RequirementOf(rule string) Requirement {
	if r, known := requirements[rule]; known {
		return r
	}
	return Requirement{Gateway: true}
}

// Admits reports whether a registrant from this country meets the rule.
func (r *Requirement) Admits(country string) bool {
	return len(r.Countries) == 0 || slices.Contains(r.Countries, country)
}
