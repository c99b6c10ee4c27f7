package portal

import (
	"regexp"
	"slices"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
	"github.com/dotkontor/dotkontor/test/texts"
)

// byCode are the texts that are found by what a service says.
var byCode = []string{"problem.", "note.", "action.", "who.", "object.", "domain.", "field.", "closed.", "change.", "change_state."}

// german and english are all sentences.
func tables() (german, english map[string]string) { all := words(); return all.German, all.English }

func TestBothLanguagesHaveTheSameTexts(t *testing.T) {
	t.Parallel()
	german, english := tables()
	texts.Same(t, german, english)
}

func TestEveryTextThatAPageNamesExistsAndIsNamed(t *testing.T) {
	t.Parallel()
	german, _ := tables()
	texts.Named(t, german, byCode)
}

// What the audit can hold is said in words, not by its code.
func TestEveryDeedHasAText(t *testing.T) {
	t.Parallel()
	german, _ := tables()
	found := 0
	texts.Find(t, "../../registrar/*/*.go", regexp.MustCompile(`registrar\.Action += "([a-z_]+)"`), func(action string) {
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
	for _, action := range steward.Actions() {
		if german["action."+string(action)] == "" {
			t.Errorf("there is no text for %s", action)
		}
	}
	for _, kind := range steward.AllKinds() {
		silent := kind == steward.AuthCode || !slices.Contains(steward.Kinds(), kind)
		if german["change."+string(kind)] == "" || !silent && german["note.change_"+string(kind)] == "" {
			t.Errorf("there is no text for %s", kind)
		}
	}
	for _, status := range holding.Statuses() {
		if german["domain."+string(status)] == "" {
			t.Errorf("there is no text for %s", status)
		}
	}
}
