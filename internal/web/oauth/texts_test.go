package oauth

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/test/texts"
)

func TestBothLanguagesHaveTheSameTexts(t *testing.T) {
	t.Parallel()
	texts.Same(t, german, english)
}

// Every code that registrar/access names must be told in one of the three ways:
// to an application, through the browser, or on a page; or it is not ours.
func TestEveryCodeHasASentence(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join("..", "..", "registrar", "access", "applications.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`registrar\.Code += "([a-z_]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(found) < 20 {
		t.Fatalf("only %d codes were found", len(found))
	}
	for _, match := range found {
		code := registrar.Code(match[1])
		_, direct := problems[code]
		_, through := redirected[code]
		_, page := german["refused."+match[1]]
		if !direct && !through && !page && code != "no_such_application" { // that one is the portal's
			t.Errorf("%s has no sentence", code)
		}
	}
}

// RFC 6749, 5.2 allows no quotes, backslashes or letters beyond ASCII.
func TestSentencesForApplicationsArePlainASCII(t *testing.T) {
	t.Parallel()
	for _, table := range []map[registrar.Code]problem{problems, redirected} {
		for code, p := range table {
			if p.name == "" || p.sentence == "" || strings.ContainsAny(p.sentence, `"\`) || strings.ContainsFunc(p.sentence, func(c rune) bool { return c < ' ' || c > '~' }) {
				t.Errorf("%s: %+v", code, p)
			}
		}
	}
	for code, p := range problems {
		if http.StatusText(p.status) == "" || p.status < 400 {
			t.Errorf("%s has the status %d", code, p.status)
		}
	}
}
