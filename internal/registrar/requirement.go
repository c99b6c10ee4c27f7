package registrar

import "slices"

// Requirement is the meaning of a rule in the catalog's column "requires".
type Requirement struct {
	// Countries are the allowed countries of the registrant; empty allows all.
	Countries []string
	// Gateway: the rule needs data that EPP has no field for (a tax id, a register
	// number), so a name can be ordered only through an account with a
	// ProtocolExtension that submits it.
	Gateway bool
}

// euCountries are the members of the European Union; eeaCountries adds the other three
// of the European Economic Area.
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

// RequirementOf returns the meaning of a rule. An unknown rule requires a gateway.
func RequirementOf(rule string) Requirement {
	r, known := requirements[rule]
	if !known {
		return Requirement{Gateway: true}
	}
	r.Countries = slices.Clone(r.Countries)
	return r
}

// Admits reports whether a registrant from this country meets the rule.
func (r *Requirement) Admits(country string) bool {
	return len(r.Countries) == 0 || slices.Contains(r.Countries, country)
}
