package ui

import "strings"

// requirementHolders names who may hold a domain, by the requirement's code.
var requirementHolders = Texts{
	"requires_eu_presence":   {"Inhabern in der EU und im EWR", "holders in the EU and the EEA"},
	"requires_ch_presence":   {"Inhabern in der Schweiz", "holders in Switzerland"},
	"requires_ca_presence":   {"Inhabern in Kanada", "holders in Canada"},
	"requires_au_presence":   {"Inhabern in Australien", "holders in Australia"},
	"requires_nyc_presence":  {"Inhabern in der Stadt New York", "holders in New York City"},
	"requires_no_org_number": {"in Norwegen registrierten Organisationen", "organisations registered in Norway"},
}

// WithRequirements adds one text for each requirement of an extension to texts: the
// sentence with the permitted holders for {holders}, under prefix and the code.
func WithRequirements(texts Texts, prefix string, sentence [2]string) Texts {
	for code, holders := range requirementHolders {
		texts[prefix+code] = [2]string{
			strings.ReplaceAll(sentence[0], "{holders}", holders[0]), strings.ReplaceAll(sentence[1], "{holders}", holders[1]),
		}
	}
	return texts
}
