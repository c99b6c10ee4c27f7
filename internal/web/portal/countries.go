package portal

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/web/page"
)

// countryLines are the codes of ISO 3166-1 with their names: German, and English
// behind a bar where it differs.
//
//go:embed countries.txt
var countryLines string

// countries are the choices for a country, in the order of a dictionary.
func countries(language string) []page.Choice {
	var choices []page.Choice
	for line := range strings.Lines(countryLines) {
		code, names, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, english, differs := strings.Cut(names, "|")
		if language == page.English && differs {
			name = english
		}
		choices = append(choices, page.Choice{Value: code, Text: name})
	}
	slices.SortFunc(choices, func(a, b page.Choice) int { return strings.Compare(sorted(a.Text), sorted(b.Text)) })
	return choices
}

// A dictionary puts Ägypten beside Afghanistan.
var letters = strings.NewReplacer("Ä", "A", "Å", "A", "Ö", "O", "ä", "a", "ö", "o", "ü", "u", "é", "e", "ã", "a", "ç", "c", "í", "i")

func sorted(name string) string { return letters.Replace(name) }

// countryName is the name of a code, or the code itself.
func countryName(language, code string) string {
	for _, choice := range countries(language) {
		if choice.Value == code {
			return choice.Text
		}
	}
	return code
}
