package account

import (
	_ "embed"
	"strings"
	"sync"
)

// countryNamesText holds the codes of ISO 3166-1 with their names: German, and English after
// a bar if it differs.
//
//go:embed countrynames.txt
var countryNamesText string

// countryNames are the names by code, in German and English.
var countryNames = sync.OnceValue(func() map[string][2]string {
	names := make(map[string][2]string, 249)
	for line := range strings.Lines(countryNamesText) {
		code, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		german, english, differs := strings.Cut(text, "|")
		if !differs {
			english = german
		}
		names[code] = [2]string{german, english}
	}
	return names
})

// CountryName returns the name of a country, in English for the language en and otherwise in
// German. An unknown code is returned as it is.
func CountryName(language, code string) string {
	name, known := countryNames()[code]
	switch {
	case !known:
		return code
	case language == "en":
		return name[1]
	default:
		return name[0]
	}
}
