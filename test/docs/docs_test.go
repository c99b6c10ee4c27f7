// Package docs checks that documents name existing tests and working commands.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	testName     = regexp.MustCompile(`\bTest[A-Z][A-Za-z0-9_]+`)
	testFunction = regexp.MustCompile(`(?m)^func (Test[A-Z][A-Za-z0-9_]+)\(`)
)

// A document that names a renamed or deleted test promises more than is tested.
func TestDocs_NamedTestsExist(t *testing.T) {
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
				// "TestX…" means every test with this prefix.
				abridged := strings.HasPrefix(line[place[1]:], "…")
				named++
				if known := exists[name] || abridged && hasPrefix(exists, name); !known {
					t.Errorf("%s names %s, which does not exist", filepath.Base(document), name)
				}
			}
		}
	}
	if named < 50 {
		t.Errorf("only %d tests are named", named)
	}
}

func hasPrefix(exists map[string]bool, prefix string) bool {
	for name := range exists {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// Each row of gaps.md names its tests and their package.
func TestGaps_EveryAnswerNamesItsTest(t *testing.T) {
	t.Parallel()
	// These rows can't be tested.
	unpinned := []string{"Times in pages and mails", "Registering an account while connecting an application"}
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "gaps.md"))
	if err != nil {
		t.Fatal(err)
	}
	place := regexp.MustCompile("`((?:internal|test)/[a-z0-9/]+)`|(contract) |\\b(Test[A-Z][A-Za-z0-9_]+)")
	section, rows := "", 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "All in `") || strings.HasPrefix(line, "In `") {
			section = place.FindStringSubmatch(line)[1]
		}
		if strings.HasPrefix(line, "## ") {
			section = ""
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		question := strings.TrimSpace(cells[0])
		if !strings.HasPrefix(line, "| ") || question == "question" {
			continue
		}
		rows++
		pinned, folder := false, section
		for _, match := range place.FindAllStringSubmatch(cells[len(cells)-1], -1) {
			switch {
			case match[1] != "":
				folder = match[1]
			case match[2] != "":
				folder = "test/contract"
			}
			name := match[3]
			if name == "" {
				continue
			}
			pinned = true
			if folder == "" || !declares(t, filepath.Join(root, folder), name) {
				t.Errorf("%q: %s is not in %q", question, name, folder)
			}
		}
		if !pinned && !slices.Contains(unpinned, question) {
			t.Errorf("%q names no test", question)
		}
	}
	if rows < 80 {
		t.Errorf("only %d answers were read", rows)
	}
}

// declares reports whether a package has a test of this name.
func declares(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}

// .dockerignore excludes most documents, but the program embeds some.
func TestDockerIgnore_LetsEmbeddedDocumentsThrough(t *testing.T) {
	t.Parallel()
	ignored, err := os.ReadFile(filepath.Join("..", "..", ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join("..", "..", "docs", "docs.go"))
	if err != nil {
		t.Fatal(err)
	}
	wanted := []string{"docs.go"}
	for _, found := range regexp.MustCompile(`(?m)^\s*//go:embed (\S+)$`).FindAllStringSubmatch(string(source), -1) {
		wanted = append(wanted, found[1])
	}
	lines := strings.Split(string(ignored), "\n")
	for _, file := range wanted {
		if !slices.Contains(lines, "!docs/"+file) || slices.Contains(lines, "docs") {
			t.Errorf("the image is built without docs/%s", file)
		}
	}
	if len(wanted) < 3 {
		t.Errorf("only %v are embedded", wanted)
	}
}
