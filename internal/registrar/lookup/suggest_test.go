package lookup

import (
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestSuggest_HyphensAffixesAndPlurals(t *testing.T) {
	t.Parallel()
	for label, want := range map[string][]string{
		"kaffeehaus":    {"kaffee-haus", "kaffeehause", "meinkaffeehaus", "mein-kaffeehaus", "getkaffeehaus", "mykaffeehaus", "thekaffeehaus", "kaffeehaus-online", "kaffeehaus24"},
		"kaffee-haus":   {"kaffeehaus", "meinkaffee-haus"},
		"blume":         {"blumen", "blumes"},
		"blumen":        {"blume", "blum", "blumens"},
		"city":          {"cities", "citys"},
		"garten":        {"garte", "gart"},
		"tier":          {"tiers", "tiere", "tieren"},
		"bücherei":      {"buecherei", "meinbücherei"},
		"xn--bcher-kva": {"buecher", "bücher24"},
		"Kaffeehaus.":   {"kaffee-haus"},
	} {
		got := Suggest(label)
		for _, suggestion := range want {
			if !slices.Contains(got, suggestion) {
				t.Errorf("%s: %s is missing in %v", label, suggestion, got)
			}
		}
	}
}

func TestSuggest_ResultsAreValidDistinctAndBounded(t *testing.T) {
	t.Parallel()
	labels := []string{"kaffeehaus", "a", "haus", "x-y-z", "ä", "24", strings.Repeat("a", 63), strings.Repeat("a", 60), "xn--bcher-kva", "ab-c"}
	for _, label := range labels {
		own, err := registrar.ParseHost(label)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{own: true}
		got := Suggest(label)
		if len(got) > maxSuggestions {
			t.Errorf("%s has %d suggestions", label, len(got))
		}
		for _, suggestion := range got {
			ascii, err := registrar.ParseHost(suggestion)
			if err != nil || strings.Contains(ascii, ".") || seen[ascii] {
				t.Errorf("%s: %s is malformed or repeated (%v)", label, suggestion, err)
			}
			seen[ascii] = true
		}
	}
	if got := Suggest(strings.Repeat("a", 63)); len(got) != 0 {
		t.Errorf("63-character label: got %v", got)
	}
}

func TestSuggest_InvalidLabelHasNone(t *testing.T) {
	t.Parallel()
	for _, label := range []string{"", ".", "kaffee.haus", "-x", "a_b", "xn--", "a b", "☃"} {
		if got := Suggest(label); got != nil {
			t.Errorf("%q: got %v", label, got)
		}
	}
}
