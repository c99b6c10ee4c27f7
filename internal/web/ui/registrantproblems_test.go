package ui

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestRegistrantProblems_EachWordHasBothTexts(t *testing.T) {
	t.Parallel()
	words := provision.RegistrantProblems()
	for _, word := range words {
		if text := registrantProblems[word]; text[0] == "" || text[1] == "" || text[0] == text[1] || RegistrantProblem(word) != text[1] {
			t.Errorf("%s: %q", word, text)
		}
	}
	if len(registrantProblems) != len(words) {
		t.Errorf("%d texts for %d words", len(registrantProblems), len(words))
	}
	if RegistrantProblem("eu_presence") != "" {
		t.Error("a rule of an extension has a text about a field")
	}
}
