package ui

import (
	"slices"
	"strings"
	"sync"

	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

// countriesIn holds the choices for a country by language, in dictionary order.
var countriesIn = sync.OnceValue(func() map[string][]Choice {
	choices := make(map[string][]Choice)
	for _, language := range []string{German, English} {
		for _, code := range account.Countries() {
			choices[language] = append(choices[language], Choice{Value: code, Text: account.CountryName(language, code)})
		}
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
