package ui

import (
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
		"-1000":     {"\u22121.000", "\u22121,000"},
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

func TestFormatMoney_NegativeAmountHasMinusSign(t *testing.T) {
	t.Parallel()
	if de, en := FormatMoney(German, -123456), FormatMoney(English, -123456); de != "\u22121.234,56\u00a0€" || en != "\u2212€1,234.56" {
		t.Errorf("%q, %q", de, en)
	}
	if de, en := FormatMoney(German, 690), FormatMoney(English, 690); de != "6,90\u00a0€" || en != "€6.90" {
		t.Errorf("%q, %q", de, en)
	}
}

func TestFormatPrice_SaysWhichVATIsIncluded(t *testing.T) {
	t.Parallel()
	for rate, want := range map[int][2]string{
		1900: {"6,90\u00a0€ inkl. 19\u00a0% USt.", "€6.90 incl. 19% VAT"},
		2550: {"6,90\u00a0€ inkl. 25,5\u00a0% USt.", "€6.90 incl. 25.5% VAT"},
		0:    {"6,90\u00a0€ netto", "€6.90 net"},
	} {
		if de, en := FormatPrice(German, 690, rate), FormatPrice(English, 690, rate); de != want[0] || en != want[1] {
			t.Errorf("%d: %q, %q", rate, de, en)
		}
	}
}

// Without script, a page shows an event at the same time as the mail about it.
func TestMoment_IsGermanTimeWithItsZone(t *testing.T) {
	t.Parallel()
	winter, summer := time.Date(2026, 11, 15, 23, 30, 0, 0, time.UTC), time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for language, want := range map[string][2]string{
		German:  {"16.11.2026, 00:30 MEZ", "01.07.2026, 14:00 MESZ"},
		English: {"16 Nov 2026, 00:30 CET", "1 Jul 2026, 14:00 CEST"},
	} {
		for i, at := range []time.Time{winter, summer} {
			if got := string(clockTime(language, at)); got != `<time data-clock datetime="`+at.Format(time.RFC3339)+`">`+want[i]+`</time>` {
				t.Errorf("%s: %s, not %q", language, got, want[i])
			}
		}
	}
}

// What was paid after midnight in Germany has the day that its invoice has; terms end by UTC.
func TestPages_EventsHaveTheDayInGermany(t *testing.T) {
	t.Parallel()
	page := template.Must(template.New("").Funcs((&Templates{frame: &Frame{}}).functions(German)).Parse("ended {{date .}}, happened {{eventdate .}} {{moment .}}"))
	var text strings.Builder
	if err := page.Execute(&text, time.Date(2026, time.July, 31, 22, 30, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	if got, want := text.String(), `ended 31.07.2026, happened 01.08.2026 <time data-clock datetime="2026-07-31T22:30:00Z">01.08.2026, 00:30 MESZ</time>`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
