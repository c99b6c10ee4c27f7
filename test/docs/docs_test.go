// Package docs keeps what our documents say about tests true.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testName     = regexp.MustCompile(`\bTest[A-Z][A-Za-z0-9_]+`)
	testFunction = regexp.MustCompile(`(?m)^func (Test[A-Z][A-Za-z0-9_]+)\(`)
)

// A promise whose test was renamed or deleted is a promise that nobody keeps.
func TestEveryTestThatADocumentNamesExists(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	exists := make(map[string]bool)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, match := range testFunction.FindAllStringSubmatch(string(text), -1) {
			exists[match[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	documents = append(documents, filepath.Join(root, "ARCHITECTURE.md"))
	named := 0
	for _, document := range documents {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			for _, place := range testName.FindAllStringIndex(line, -1) {
				name := line[place[0]:place[1]]
				// "TestAnAnswerComes…" stands for every test that begins so.
				abridged := strings.HasPrefix(line[place[1]:], "…")
				named++
				if known := exists[name] || abridged && begins(exists, name); !known {
					t.Errorf("%s names %s, which does not exist", filepath.Base(document), name)
				}
			}
		}
	}
	if named < 50 {
		t.Errorf("only %d tests are named; the documents were not read", named)
	}
}

func begins(exists map[string]bool, prefix string) bool {
	for name := range exists {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
