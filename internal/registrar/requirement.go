package registrar

import "slices"

// Requirement is what a rule of the catalogue's column "requires" means for a
// registration.
type Requirement struct {
	// Countries are those in which the holder must live or reside; empty means
	// that the country does not matter.
	Countries []string
	// Gateway: the rule needs data that EPP itself has no field for (a tax id, a
	// register number), so a name can be ordered only where the account has an
	// epp.ProtocolExtension that carries it.
	Gateway bool
}

// union are the members of the European Union, and area the three more of the
// European Economic Area.
var (
	euCountries = []string{
		"AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU",
		"IE", "IT", "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK",
	}
	eeaCountries = append(slices.Clone(euCountries), "IS", "LI", "NO")
)

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

// RequirementOf is what a rule of the catalogue asks for. An unknown rule can't be
// met without a gateway.
func RequirementOf(rule string) Requirement {
	r, known := requirements[rule]
	if !known {
		return Requirement{Gateway: true}
	}
	r.Countries = slices.Clone(r.Countries)
	return r
}

// Admits says whether a holder from this country meets the rule.
func (r *Requirement) Admits(country string) bool {
	return len(r.Countries) == 0 || slices.Contains(r.Countries, country)
}

// Registrant is the registrant of a domain as a registry is told.
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
}

// IdentityRequired goes with KindConflict: the extension registers names only for
// holders whose identity was verified, and the registrant's name was not.
const IdentityRequired Code = "requires_identity"

// RequiresCode goes with KindConflict: the registrant does not meet a rule of the
// catalogue's column "requires". Each rule has its own code, so that a transport
// can say what the extension demands.
func RequiresCode(rule string) Code { return Code("requires_" + rule) }

// CheckRegistrant returns an error if the extension does not admit this registrant.
// verified is the name that an identity check has confirmed; empty if there was none.
// Rules about data that only a gateway can carry are not checked here: without the
// gateway such names can't be ordered at all.
func (e Extension) CheckRegistrant(registrant Registrant, verified string) error {
	if err := e.CheckCountry(registrant.Country); err != nil {
		return err
	}
	return e.CheckIdentity(registrant.Name, verified)
}

// CheckCountry is the part of CheckHolder about the registrant's country.
func (e Extension) CheckCountry(country string) error {
	requirement := RequirementOf(e.Requires)
	if !requirement.Admits(country) {
		return &Error{Kind: KindConflict, Code: RequiresCode(e.Requires), Detail: e.TLD}
	}
	return nil
}

// CheckIdentity is the part of CheckHolder about the registrant's identity.
func (e Extension) CheckIdentity(name, verified string) error {
	if e.Verify && !SameName(verified, name) {
		return &Error{Kind: KindConflict, Code: IdentityRequired, Detail: e.TLD}
	}
	return nil
}

// CheckRegistrant applies Extension.CheckHolder to every extension that is named.
func CheckRegistrant(find func(tld string) (Extension, bool), tlds []string, registrant Registrant, verified string) error {
	return CheckExtensions(find, tlds, func(extension Extension) error { return extension.CheckRegistrant(registrant, verified) })
}

// CheckExtensions applies check to every extension that is named, up to the first
// error. find is the catalogue; an extension that it no longer lists demands nothing.
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
