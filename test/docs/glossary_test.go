package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestGlossary_EveryTypeExists(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	terms := regexp.MustCompile("(?m)^\\| ([^|]+) \\| [^|]+ \\| `(\\w+)\\.(\\w+)` \\|$").FindAllStringSubmatch(string(text), -1)
	if rows := strings.Count(string(text), "\n| ") - 1; len(terms) != rows || rows < 40 {
		t.Fatalf("%d of %d rows name a Go type", len(terms), rows)
	}
	if !slices.IsSortedFunc(terms, func(a, b []string) int { return strings.Compare(a[1], b[1]) }) {
		t.Error("the terms are not in alphabetical order")
	}
	var sources []string
	for _, pattern := range []string{"../../internal/*/*.go", "../../internal/*/*/*.go", "../../internal/*/*/*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, found...)
	}
	declared := make(map[string]bool)
	declaration := regexp.MustCompile(`(?m)^(?:type|func|\t)\s*([A-Z]\w*)[ \[(=]`)
	packageName := regexp.MustCompile(`(?m)^package (\w+)$`)
	for _, source := range sources {
		code, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		name := packageName.FindSubmatch(code)
		if name == nil || strings.HasSuffix(source, "_test.go") {
			continue
		}
		for _, match := range declaration.FindAllSubmatch(code, -1) {
			declared[string(name[1])+"."+string(match[1])] = true
		}
	}
	for _, term := range terms {
		if !declared[term[2]+"."+term[3]] {
			t.Errorf("%s: %s.%s does not exist", term[1], term[2], term[3])
		}
	}
}
