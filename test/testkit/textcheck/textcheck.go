// Package textcheck checks the texts of pages: both languages have a text with the same
// placeholders, every key that a page uses exists, and every key is used.
//
// Tests in the packages of the pages call it, because the tables are not exported. It
// reads files of the current folder and does not import the product.
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
	noticeKey   = regexp.MustCompile(`(?:flash := |note := |note = |Flash\()"([a-z_]+)"[),\n]`)
)

// fileSuffixes are endings of file names that look like keys.
var fileSuffixes = []string{".csv", ".html", ".txt"}

// Merge returns the texts of all tables and reports keys that occur in two of them.
func Merge[Texts ~map[string][2]string](t testing.TB, tables ...Texts) Texts {
	t.Helper()
	all := make(Texts)
	for _, table := range tables {
		for key, text := range table {
			if _, ok := all[key]; ok {
				t.Errorf("%s is in two tables", key)
			}
			all[key] = text
		}
	}
	return all
}

// CheckTranslations checks that every text is in German and English, with the same
// placeholders.
func CheckTranslations(t testing.TB, texts map[string][2]string) {
	t.Helper()
	for key, text := range texts {
		if !slices.Equal(placeholders(text[0]), placeholders(text[1])) {
			t.Errorf("%s: %q and %q have different placeholders", key, text[0], text[1])
		}
		if strings.TrimSpace(text[0]) == "" || strings.TrimSpace(text[1]) == "" {
			t.Errorf("%s is empty", key)
		}
	}
}

func placeholders(text string) []string {
	return slices.Sorted(slices.Values(placeholder.FindAllString(text, -1)))
}

// CheckKeys checks that every key in the templates and sources of this folder has a
// text, and that every text is used. Keys that begin with one of byCode are composed at
// run time, so their use can't be checked. Notes are referred to by name, without prefix.
func CheckKeys(t testing.TB, texts map[string][2]string, byCode []string) {
	t.Helper()
	named := make(map[string]bool)
	collect := func(key string) { named[key] = true }
	EachMatch(t, "templates/*.html", templateKey, collect)
	EachMatch(t, "*.go", sourceKey, collect)
	for key := range named {
		isFile := slices.ContainsFunc(fileSuffixes, func(ending string) bool { return strings.HasSuffix(key, ending) })
		if _, ok := texts[key]; !ok && !isFile {
			t.Errorf("there is no text %s", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		if !named[key] && !slices.ContainsFunc(byCode, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			t.Errorf("the text %s is unused", key)
		}
	}
	EachMatch(t, "*.go", noticeKey, func(name string) {
		if _, ok := texts["note."+name]; !ok {
			t.Errorf("the note %s has no text", name)
		}
	})
}

// EachMatch calls each with the first group of every match in the files that match a
// pattern, except tests and the tables themselves.
func EachMatch(t testing.TB, pattern string, find *regexp.Regexp, each func(match string)) {
	t.Helper()
	matched, err := filepath.Glob(pattern)
	if err != nil || len(matched) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}
	for _, file := range matched {
		name := filepath.Base(file)
		if strings.HasSuffix(name, "texts.go") || strings.HasSuffix(name, "_test.go") {
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
