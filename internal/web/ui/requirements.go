package ui

import (
	"maps"
	"strings"
)

// requirementHolders names who may hold a domain, by the requirement's code.
var requirementHolders = map[string]map[string]string{
	German: {
		"requires_eu_presence":   "Inhabern in der EU und im EWR",
		"requires_ch_presence":   "Inhabern in der Schweiz",
		"requires_ca_presence":   "Inhabern in Kanada",
		"requires_au_presence":   "Inhabern in Australien",
		"requires_nyc_presence":  "Inhabern in der Stadt New York",
		"requires_no_org_number": "in Norwegen registrierten Organisationen",
	},
	English: {
		"requires_eu_presence":   "holders in the EU and the EEA",
		"requires_ch_presence":   "holders in Switzerland",
		"requires_ca_presence":   "holders in Canada",
		"requires_au_presence":   "holders in Australia",
		"requires_nyc_presence":  "holders in New York City",
		"requires_no_org_number": "organisations registered in Norway",
	},
}

// WithRequirements adds one text for each requirement of an extension to texts: the
// sentence with the permitted holders for {holders}, under prefix and the code.
func WithRequirements(texts map[string]string, language, prefix, sentence string) map[string]string {
	all := maps.Clone(texts)
	for code, holders := range requirementHolders[language] {
		all[prefix+code] = strings.ReplaceAll(sentence, "{holders}", holders)
	}
	return all
}
