package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestArchitecture_NamedPathsExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "## Where does the next line go?")
	if !found {
		t.Fatal("the table is missing")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	path := regexp.MustCompile("`((?:internal|cmd|test)/[\\w/.-]+)`")
	paths := path.FindAllStringSubmatch(table, -1)
	if len(paths) < 40 {
		t.Errorf("only %d paths found", len(paths))
	}
	for _, match := range paths {
		if _, err := os.Stat(filepath.Join("..", "..", match[1])); err != nil {
			t.Errorf("%s does not exist", match[1])
		}
	}
	// A file name without a folder is in the folder of the path before it in its row.
	for row := range strings.Lines(table) {
		folder := ""
		for _, match := range regexp.MustCompile("`([\\w/.-]+)`").FindAllStringSubmatch(row, -1) {
			switch name := match[1]; {
			case path.MatchString(match[0]):
				if folder = name; strings.Contains(filepath.Base(name), ".") {
					folder = filepath.Dir(name)
				}
			case folder != "" && (strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".json")):
				if _, err := os.Stat(filepath.Join("..", "..", folder, name)); err != nil {
					t.Errorf("%s: %s is not in %s", strings.TrimSpace(row[:min(60, len(row))]), name, folder)
				}
			}
		}
	}
}
