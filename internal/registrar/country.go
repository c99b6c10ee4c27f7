package registrar

import (
	_ "embed"
	"strings"
	"sync"
)

// countryList holds the codes of ISO 3166-1 with their names: German, and English after
// a bar if it differs.
//
//go:embed countries.txt
var countryList string

// Country is a country with its names.
type Country struct{ Code, German, English string }

// Countries returns all countries of ISO 3166-1, by code.
var Countries = sync.OnceValue(func() (countries []Country) {
	for line := range strings.Lines(countryList) {
		code, names, _ := strings.Cut(strings.TrimSpace(line), " ")
		german, english, differs := strings.Cut(names, "|")
		if !differs {
			english = german
		}
		countries = append(countries, Country{code, german, english})
	}
	return countries
})

// CountryName returns the name of a country in a language, German or English; its code if there is no
// such country.
func CountryName(language, code string) string {
	for _, country := range Countries() {
		switch {
		case country.Code != code:
		case language == "de":
			return country.German
		default:
			return country.English
		}
	}
	return code
}

// FormatPlace returns the postal code, the city and the state of an address as they are written in its
// country, in one line.
func FormatPlace(postalCode, city, state, country string) string {
	switch country {
	case "AU", "CA", "IN", "US": // Austin, TX 78701
		return joinPlace(", ", city, joinPlace(" ", state, postalCode))
	case "BR", "GB", "IE": // Dublin, D07 X2P5
		return joinPlace(", ", city, state, postalCode)
	default:
		return joinPlace(", ", joinPlace(" ", postalCode, city), state)
	}
}

func joinPlace(separator string, parts ...string) string {
	var present []string
	for _, part := range parts {
		if part != "" {
			present = append(present, part)
		}
	}
	return strings.Join(present, separator)
}
