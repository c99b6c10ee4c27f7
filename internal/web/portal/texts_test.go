package portal

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
)

var (
	place    = regexp.MustCompile(`\{[0-9]+\}`)
	inView   = regexp.MustCompile(`\bt "([a-z_.]+)"`)
	inSource = regexp.MustCompile(`"([a-z_]+(?:\.[a-z_]+)+)"`)
)

// byCode are the texts that are found by what a service says.
var byCode = []string{"problem.", "note.", "action.", "who.", "object.", "domain.", "field.", "closed.", "change.", "change_state."}

// german and english are all sentences.
func tables() (german, english map[string]string) { all := words(); return all.German, all.English }

func TestBothLanguagesHaveTheSameTexts(t *testing.T) {
	t.Parallel()
	german, english := tables()
	for key := range german {
		if _, ok := english[key]; !ok {
			t.Errorf("%s has no English text", key)
		}
	}
	for key, text := range english {
		other, ok := german[key]
		if !ok {
			t.Errorf("%s has no German text", key)
		}
		places := func(text string) []string { return slices.Sorted(slices.Values(place.FindAllString(text, -1))) }
		if !slices.Equal(places(text), places(other)) {
			t.Errorf("%s: %q and %q have other places", key, other, text)
		}
		if strings.TrimSpace(text) == "" || strings.TrimSpace(other) == "" {
			t.Errorf("%s is empty", key)
		}
	}
}

// used are the keys that templates and sources name.
func used(t *testing.T) map[string]bool {
	t.Helper()
	keys := make(map[string]bool)
	collect := func(pattern string, find *regexp.Regexp) {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			if name := filepath.Base(file); strings.HasPrefix(name, "german") || strings.HasPrefix(name, "english") || strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range find.FindAllStringSubmatch(string(text), -1) {
				keys[match[1]] = true
			}
		}
	}
	collect("templates/*.html", inView)
	collect("*.go", inSource)
	return keys
}

func TestEveryTextThatAPageNamesExistsAndIsNamed(t *testing.T) {
	t.Parallel()
	german, _ := tables()
	named := used(t)
	for key := range named {
		if _, ok := german[key]; !ok && !strings.HasSuffix(key, ".html") && !strings.HasSuffix(key, ".txt") {
			t.Errorf("there is no text %s", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(german)) {
		found := slices.ContainsFunc(byCode, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
		if !named[key] && !found {
			t.Errorf("nobody says %s", key)
		}
	}
	source, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	note := regexp.MustCompile(`v\.Note\("([a-z_]+)"\)`)
	for _, file := range source {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range note.FindAllStringSubmatch(string(text), -1) {
			if german["note."+match[1]] == "" {
				t.Errorf("%s leaves the note %s, which has no text", file, match[1])
			}
		}
	}
}

// What the audit can hold is said in words, not by its code.
func TestEveryDeedHasAText(t *testing.T) {
	t.Parallel()
	german, _ := tables()
	files, err := filepath.Glob("../../registrar/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	action, found := regexp.MustCompile(`registrar\.Action += "([a-z_]+)"`), 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range action.FindAllStringSubmatch(string(text), -1) {
			found++
			if german["action."+match[1]] == "" {
				t.Errorf("there is no text for %s", match[1])
			}
		}
	}
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
