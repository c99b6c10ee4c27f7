package ui

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
)

func TestDomainStateTexts_EveryStateHasTextAndColour(t *testing.T) {
	t.Parallel()
	states := portfolio.States()
	for _, status := range registrar.DomainStatuses() {
		states = append(states, portfolio.State(status))
	}
	for _, state := range states {
		key := "domain." + string(state)
		if domainStateTexts[key][0] == "" || domainStateTexts[key][1] == "" || tone(key) == "" {
			t.Errorf("%s has no text or no colour", key)
		}
	}
}
