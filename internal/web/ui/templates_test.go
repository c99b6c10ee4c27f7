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

func TestFormatDecimal_InTheReadersLanguage(t *testing.T) {
	t.Parallel()
	for number, want := range map[string][2]string{
		"1234567.5": {"1.234.567,5", "1,234,567.5"},
		"-1000":     {"-1.000", "-1,000"},
		"12.00":     {"12,00", "12.00"},
		"999":       {"999", "999"},
		"":          {"", ""},
		"2,5 MWh":   {"2,5 MWh", "2,5 MWh"},
	} {
		if de, en := formatDecimal(German, number), formatDecimal(English, number); de != want[0] || en != want[1] {
			t.Errorf("%q: %q and %q, want %q", number, de, en, want)
		}
	}
}
