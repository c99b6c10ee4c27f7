package textcheck

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// recordingTB records the errors of a check.
type recordingTB struct {
	testing.TB
	errors []string
}

func (c *recordingTB) Helper()                           {}
func (c *recordingTB) Error(args ...any)                 { c.errors = append(c.errors, fmt.Sprint(args...)) }
func (c *recordingTB) Errorf(format string, args ...any) { c.Error(fmt.Sprintf(format, args...)) }

func TestMerge_ReportsKeyInTwoTables(t *testing.T) {
	t.Parallel()
	var got recordingTB
	all := Merge(&got, map[string][2]string{"a": {}, "b": {}}, map[string][2]string{"b": {}, "c": {}})
	if said := strings.Join(got.errors, "\n"); said != "b is in two tables" || len(all) != 3 {
		t.Errorf("reported %q, returned %d texts", said, len(all))
	}
}

func TestCheckTranslations_ReportsDifferences(t *testing.T) {
	t.Parallel()
	var none recordingTB
	CheckTranslations(&none, map[string][2]string{"a": {"{0} von {1}", "{1} has {0}"}, "b": {"x", "y"}})
	if len(none.errors) > 0 {
		t.Error(none.errors)
	}
	for want, text := range map[string][2]string{
		"different placeholders": {"{0} von {1}", "{0}"},
		"a is empty":             {"x", " "},
	} {
		var got recordingTB
		if CheckTranslations(&got, map[string][2]string{"a": text}); !strings.Contains(strings.Join(got.errors, "\n"), want) {
			t.Errorf("%q is not reported: %q", want, got.errors)
		}
	}
}

func TestCheckKeys_ReportsMissingAndUnusedTexts(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("templates", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"templates/a.html": `{{t "page.title"}} {{t "page.gone"}}`,
		"a.go":             `req.Flash("saved"); req.RedirectWithFlash("lost", path); text("page.body"); open("list.csv")`,
		"texts.go":         `"only.here"`,
		"a_test.go":        `"only.there"`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got recordingTB
	CheckKeys(&got, map[string][2]string{"page.title": {}, "page.body": {}, "page.old": {}, "note.saved": {}, "problem.any": {}}, []string{"note.", "problem."})
	want := "there is no text page.gone\nthe text page.old is unused\nthe note lost has no text"
	if said := strings.Join(got.errors, "\n"); said != want {
		t.Errorf("reported:\n%s\nwant:\n%s", said, want)
	}
}
