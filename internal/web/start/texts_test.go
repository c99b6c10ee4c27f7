package start

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var place = regexp.MustCompile(`\{[0-9]+\}`)

func TestBothLanguagesHaveTheSameTexts(t *testing.T) {
	t.Parallel()
	places := func(text string) []string { return slices.Sorted(slices.Values(place.FindAllString(text, -1))) }
	for key, text := range german {
		other, ok := english[key]
		if !ok || strings.TrimSpace(other) == "" || strings.TrimSpace(text) == "" || !slices.Equal(places(text), places(other)) {
			t.Errorf("%s: %q and %q", key, text, other)
		}
	}
	for key := range english {
		if _, ok := german[key]; !ok {
			t.Errorf("%s has no German text", key)
		}
	}
}

// byCode are the texts that are found by what a service or a list says.
var byCode = []string{"problem.", "rule.", "hit.", "category.", "sort.", "client."}

func TestEveryTextThatAPageNamesExistsAndIsNamed(t *testing.T) {
	t.Parallel()
	named := make(map[string]bool)
	for pattern, find := range map[string]*regexp.Regexp{
		"templates/*.html": regexp.MustCompile(`\bt "([a-z_.]+)"`), "*.go": regexp.MustCompile(`"([a-z_]+\.[a-z_.]+)"`),
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			if file == "german.go" || file == "english.go" || strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range find.FindAllStringSubmatch(string(text), -1) {
				named[match[1]] = true
				if _, ok := german[match[1]]; !ok && !slices.Contains(byCode, match[1]) {
					t.Errorf("%s names %s, which is no text", file, match[1])
				}
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(german)) {
		if !named[key] && !slices.ContainsFunc(byCode, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			t.Errorf("nobody says %s", key)
		}
	}
}
