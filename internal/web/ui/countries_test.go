package ui

import (
	"slices"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

func TestCountries_MatchAcceptedCodesInBothLanguages(t *testing.T) {
	t.Parallel()
	for _, language := range []string{German, English} {
		choices := Countries(language)
		var codes []string
		for _, choice := range choices {
			codes = append(codes, choice.Value)
		}
		slices.Sort(codes)
		if want := account.Countries(); !slices.Equal(codes, want) {
			t.Errorf("%s: the page offers %v, the service accepts %v", language, codes, want)
		}
		seen := make(map[string]bool)
		for _, choice := range choices {
			if len(choice.Value) != 2 || choice.Text == "" || seen[choice.Value] || seen[choice.Text] {
				t.Errorf("%s: %+v", language, choice)
			}
			seen[choice.Value], seen[choice.Text] = true, true
		}
	}
	if got := countryName(English, "DE") + " " + countryName(German, "AT"); got != "Germany Österreich" {
		t.Errorf("got %s", got)
	}
}
