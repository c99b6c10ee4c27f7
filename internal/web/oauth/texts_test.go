package oauth

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/test/testkit/textcheck"
)

func TestTexts_SamePlaceholdersInBothLanguages(t *testing.T) {
	t.Parallel()
	textcheck.CheckTranslations(t, texts)
}

// Every code of registrar/oauth needs an error response, a redirect error or a page.
func TestCodes_EveryCodeHasAnError(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join("..", "..", "registrar", "oauth", "server.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`registrar\.Code += "([a-z_]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(found) < 20 {
		t.Fatalf("only %d codes were found", len(found))
	}
	for _, match := range found {
		code := registrar.Code(match[1])
		_, direct := endpointErrors[code]
		_, through := redirectErrors[code]
		_, page := texts["refused."+match[1]]
		if !direct && !through && !page && code != "no_such_application" { // used by the portal
			t.Errorf("%s has no text", code)
		}
	}
}

// RFC 6749, 5.2 allows no quotes, backslashes or letters beyond ASCII.
func TestErrorDescriptions_ArePlainASCII(t *testing.T) {
	t.Parallel()
	for _, table := range []map[registrar.Code]oauthError{endpointErrors, redirectErrors} {
		for code, p := range table {
			if p.code == "" || p.description == "" || strings.ContainsAny(p.description, `"\`) || strings.ContainsFunc(p.description, func(c rune) bool { return c < ' ' || c > '~' }) {
				t.Errorf("%s: %+v", code, p)
			}
		}
	}
	for code, p := range endpointErrors {
		if http.StatusText(p.status) == "" || p.status < 400 {
			t.Errorf("%s has the status %d", code, p.status)
		}
	}
}
