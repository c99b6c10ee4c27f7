package ui

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Pages are parsed when they are first rendered, so only this test finds a broken one
// before a visitor does.
func TestTemplates_EveryPageOfEveryFolderParses(t *testing.T) {
	folders, err := filepath.Glob("../*/templates")
	if err != nil {
		t.Fatal(err)
	}
	functions := (&Templates{frame: &Frame{}}).functions(German)
	parsed := 0
	for _, folder := range folders {
		files := os.DirFS(filepath.Dir(folder))
		names, err := fs.Glob(files, "templates/*.html")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if _, err := parsePage(files, name, functions); err != nil {
				t.Errorf("%s: %v", filepath.Dir(folder), err)
			}
			parsed++
		}
	}
	if parsed < 40 {
		t.Errorf("only %d templates found: is the folder still ../*/templates?", parsed)
	}
	if _, err := parsePage(os.DirFS("testdata/broken"), "templates/broken.html", functions); err == nil {
		t.Error("a page with an unknown function parsed")
	}
}
