// Package texts holds the sentences of pages against each other and against the pages:
// both languages say the same things, every text that a page names is there, and no
// text is there for nobody.
//
// Tests beside the pages use it, because only they see the tables. It reads their
// folder and knows nothing of the product.
package textcheck

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	placeholder = regexp.MustCompile(`\{[0-9]+\}`)
	templateKey = regexp.MustCompile(`\bt "([a-z_.]+)"`)
	sourceKey   = regexp.MustCompile(`"([a-z_]+(?:\.[a-z_]+)+)"`)
	noticeKey   = regexp.MustCompile(`(?:note = |note := |v\.Note\()"([a-z_]+)"[),\n]`)
)

// fileSuffixes are names that look like those of texts.
var fileSuffixes = []string{".csv", ".html", ".txt"}

// CheckTranslations wants the same keys in both languages, with the same places for what is put in.
func CheckTranslations(t testing.TB, german, english map[string]string) {
	t.Helper()
	for key, text := range german {
		other, ok := english[key]
		if !ok {
			t.Errorf("%s has no English text", key)
			continue
		}
		if !slices.Equal(placeholders(text), placeholders(other)) {
			t.Errorf("%s: %q and %q have other places", key, text, other)
		}
		if strings.TrimSpace(text) == "" || strings.TrimSpace(other) == "" {
			t.Errorf("%s is empty", key)
		}
	}
	for key := range english {
		if _, ok := german[key]; !ok {
			t.Errorf("%s has no German text", key)
		}
	}
}

func placeholders(text string) []string {
	return slices.Sorted(slices.Values(placeholder.FindAllString(text, -1)))
}

// CheckKeys wants a text for every key that the templates and sources of this folder name,
// and somebody who names every text. What begins with one of byCode is put together
// from what a service says, so nobody can be seen to name it. Notes are left by their
// names alone.
func CheckKeys(t testing.TB, german map[string]string, byCode []string) {
	t.Helper()
	named := make(map[string]bool)
	collect := func(key string) { named[key] = true }
	EachMatch(t, "templates/*.html", templateKey, collect)
	EachMatch(t, "*.go", sourceKey, collect)
	for key := range named {
		isFile := slices.ContainsFunc(fileSuffixes, func(ending string) bool { return strings.HasSuffix(key, ending) })
		if _, ok := german[key]; !ok && !isFile {
			t.Errorf("there is no text %s", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(german)) {
		if !named[key] && !slices.ContainsFunc(byCode, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			t.Errorf("nobody says %s", key)
		}
	}
	EachMatch(t, "*.go", noticeKey, func(name string) {
		if german["note."+name] == "" {
			t.Errorf("the note %s has no text", name)
		}
	})
}

// EachMatch calls each with what an expression's group finds in the files that a pattern
// names, but for tests and the tables themselves.
func EachMatch(t testing.TB, pattern string, find *regexp.Regexp, each func(match string)) {
	t.Helper()
	matched, err := filepath.Glob(pattern)
	if err != nil || len(matched) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}
	for _, file := range matched {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "german") || strings.HasPrefix(name, "english") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range find.FindAllStringSubmatch(string(text), -1) {
			each(match[1])
		}
	}
}
