package ui

import (
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
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
			if len(choice.Value) != 2 || choice.Text == choice.Value || seen[choice.Value] || seen[choice.Text] {
				t.Errorf("%s: %+v", language, choice)
			}
			seen[choice.Value], seen[choice.Text] = true, true
		}
	}
	if got := registrar.CountryName(English, "DE") + " " + registrar.CountryName(German, "AT"); got != "Germany Österreich" {
		t.Errorf("got %s", got)
	}
}

func TestStyle_StateFieldIsShownForCountriesThatRequireOne(t *testing.T) {
	t.Parallel()
	style, err := assets.ReadFile("assets/style.css")
	if err != nil {
		t.Fatal(err)
	}
	for rule := range strings.Lines(string(style)) {
		if !strings.Contains(rule, ".only-state") {
			continue
		}
		for _, country := range account.Countries() {
			if shown := strings.Contains(rule, `[value="`+country+`"]`); shown != account.RequiresState(country) {
				t.Errorf("%s: shown is %v", country, shown)
			}
		}
		return
	}
	t.Error("no rule hides .only-state")
}

func TestRegistrantFields_StoredStateStaysVisible(t *testing.T) {
	t.Parallel()
	for state, only := range map[string]string{"": "state", "Bayern": ""} {
		fields := RegistrantFields(German, account.Registrant{Country: "DE", State: state})
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == account.FieldState })
		if fields[i].Only != only || fields[i-1].Name != account.FieldCountry {
			t.Errorf("%q: %+v after %s", state, fields[i], fields[i-1].Name)
		}
	}
}
