package ui

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// countryList holds the codes of ISO 3166-1 with their names: German, and English after
// a bar if it differs.
//
//go:embed countries.txt
var countryList string

// countriesIn holds the choices for a country by language, in dictionary order.
var countriesIn = sync.OnceValue(func() map[string][]Choice {
	choices := make(map[string][]Choice)
	for line := range strings.Lines(countryList) {
		code, names, _ := strings.Cut(strings.TrimSpace(line), " ")
		german, english, differs := strings.Cut(names, "|")
		if !differs {
			english = german
		}
		choices[German] = append(choices[German], Choice{Value: code, Text: german})
		choices[English] = append(choices[English], Choice{Value: code, Text: english})
	}
	for _, list := range choices {
		slices.SortFunc(list, func(a, b Choice) int { return strings.Compare(sortKey(a.Text), sortKey(b.Text)) })
	}
	return choices
})

// Countries returns the choices for a country in dictionary order.
func Countries(language string) []Choice { return slices.Clone(countriesIn()[language]) }

// foldAccents sorts Ägypten next to Afghanistan.
var foldAccents = strings.NewReplacer("Ä", "A", "Å", "A", "Ö", "O", "ä", "a", "ö", "o", "ü", "u", "é", "e", "ã", "a", "ç", "c", "í", "i")

func sortKey(name string) string { return foldAccents.Replace(name) }

func countryName(language, code string) string {
	for _, choice := range countriesIn()[language] {
		if choice.Value == code {
			return choice.Text
		}
	}
	return code
}
