package portal

import (
	"regexp"
	"slices"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/test/testkit/textcheck"
)

// dynamicKeys are the prefixes of texts that are chosen by a service's codes.
var dynamicKeys = []string{"problem.", "note.", "action.", "who.", "object.", "domain.", "field.", "closed.", "change.", "change_state."}

// allTexts returns all texts.
func allTexts() (german, english map[string]string) {
	all := mergeTexts()
	return all.German, all.English
}

func TestTexts_SameKeysInBothLanguages(t *testing.T) {
	t.Parallel()
	german, english := allTexts()
	textcheck.CheckTranslations(t, german, english)
}

func TestTexts_EveryReferencedKeyExists(t *testing.T) {
	t.Parallel()
	german, _ := allTexts()
	textcheck.CheckKeys(t, german, dynamicKeys)
}

// Every audit action has a text.
func TestTexts_EveryAuditActionHasText(t *testing.T) {
	t.Parallel()
	german, _ := allTexts()
	found := 0
	textcheck.EachMatch(t, "../../registrar/*/*.go", regexp.MustCompile(`registrar\.Action += "([a-z_]+)"`), func(action string) {
		found++
		if german["action."+action] == "" {
			t.Errorf("there is no text for %s", action)
		}
	})
	if found < 30 {
		t.Errorf("only %d actions were found", found)
	}
	for _, kind := range []registrar.ActorKind{
		registrar.ActorPerson, registrar.ActorToken, registrar.ActorApplication, registrar.ActorOperator, registrar.ActorSystem,
	} {
		if german["who."+string(kind)] == "" {
			t.Errorf("there is no text for %s", kind)
		}
	}
	for _, action := range domainchange.Actions() {
		if german["action."+string(action)] == "" {
			t.Errorf("there is no text for %s", action)
		}
	}
	for _, kind := range domainchange.ChangeKinds() {
		silent := kind == domainchange.AuthCode || !slices.Contains(domainchange.CustomerChangeKinds(), kind)
		if german["change."+string(kind)] == "" || !silent && german["note.change_"+string(kind)] == "" {
			t.Errorf("there is no text for %s", kind)
		}
	}
	for _, status := range registrar.DomainStatuses() {
		if german["domain."+string(status)] == "" {
			t.Errorf("there is no text for %s", status)
		}
	}
}
