package operator

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

func TestListProblem_EveryProblemOfAPriceListHasAGermanText(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../registrar/catalog/csv.go")
	if err != nil {
		t.Fatal(err)
	}
	formats := regexp.MustCompile(`(?:Format: |p\.check\([^\n]*?, (?:"[a-z_]+"|column|costColumns\[i\+1\]), |row\.check\(!again, "tld", )"((?:[^"\\]|\\.)*)"`).FindAllStringSubmatch(string(source), -1)
	if len(formats) < len(germanListProblems) {
		t.Errorf("%d problems in the source, %d texts", len(formats), len(germanListProblems))
	}
	verbs := func(format string) []string { return regexp.MustCompile(`%[a-z]`).FindAllString(format, -1) }
	for _, match := range formats {
		english := match[1]
		german, known := germanListProblems[english]
		if !known || !slices.Equal(verbs(german), verbs(english)) {
			t.Errorf("%q is %q in German", english, german)
		}
	}
}

func TestListProblem_IsInTheVisitorsLanguage(t *testing.T) {
	t.Parallel()
	_, err := catalog.Parse(strings.NewReader("tld,register,renew,transfer,restore,min_years,max_years,popular,requires,verify,rdap,whois\n.com,12,12.90,12.90,49.90,1,10,,,,,\n.net,x\n"))
	var problems catalog.Problems
	if !errors.As(err, &problems) || len(problems) != 2 {
		t.Fatal(err)
	}
	for i, want := range [][2]string{
		{`Zeile 2, register: "12" ist kein Preis wie 12.90, oder er ist zu hoch`, `line 2, register: "12" is not a price like 12.90, or is too high`},
		{`Zeile 3: Eine Zeile hat 12 Felder, getrennt durch Kommas`, `line 3: a row has 12 fields, separated by commas`},
	} {
		for j, language := range []string{ui.German, ui.English} {
			if got := listProblem(language, problems[i]); got != want[j] {
				t.Errorf("got %q, want %q", got, want[j])
			}
		}
	}
}
