package texts

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// complaints is a test that collects what is said about it.
type complaints struct {
	testing.TB
	said []string
}

func (c *complaints) Helper()                           {}
func (c *complaints) Error(args ...any)                 { c.said = append(c.said, fmt.Sprint(args...)) }
func (c *complaints) Errorf(format string, args ...any) { c.Error(fmt.Sprintf(format, args...)) }

func TestLanguagesThatDifferAreNoticed(t *testing.T) {
	t.Parallel()
	german := map[string]string{"a": "{0} von {1}", "b": "x"}
	var none complaints
	Same(&none, german, map[string]string{"a": "{1} has {0}", "b": "y"})
	if len(none.said) > 0 {
		t.Error(none.said)
	}
	for want, english := range map[string]map[string]string{
		"b has no English text": {"a": "{0} {1}"},
		"c has no German text":  {"a": "{0} {1}", "b": "y", "c": "z"},
		"have other places":     {"a": "{0}", "b": "y"},
		"b is empty":            {"a": "{0} {1}", "b": " "},
	} {
		var got complaints
		if Same(&got, german, english); !strings.Contains(strings.Join(got.said, "\n"), want) {
			t.Errorf("%q is not said: %q", want, got.said)
		}
	}
}

func TestTextsThatAreMissingOrForNobodyAreNoticed(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("templates", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"templates/a.html": `{{t "page.title"}} {{t "page.gone"}}`,
		"a.go":             `v.Note("saved"); v.Note("lost"); text("page.body"); open("list.csv")`,
		"german.go":        `"only.here"`,
		"a_test.go":        `"only.there"`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got complaints
	Named(&got, map[string]string{"page.title": "x", "page.body": "x", "page.old": "x", "note.saved": "x", "problem.any": "x"}, []string{"note.", "problem."})
	want := "there is no text page.gone\nnobody says page.old\nthe note lost has no text"
	if said := strings.Join(got.said, "\n"); said != want {
		t.Errorf("said:\n%s\nwant:\n%s", said, want)
	}
}
