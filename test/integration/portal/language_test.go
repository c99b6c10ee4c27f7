package portal

import (
	"net/url"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// wantLanguage checks the language of a page.
func (b *browser) wantLanguage(path, language string) {
	b.t.Helper()
	if got := b.get(path); !strings.Contains(got.body, `<html lang="`+language+`">`) {
		b.t.Errorf("%s (%d) is not in %q", path, got.status, language)
	}
}

func TestLanguage_AccountsWinsOverBrowsersUntilAChoice(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org") // German
	b := s.newBrowser()
	b.language = "en"
	signIn := url.Values{"email": {"erika@example.org"}, "password": {password}}
	b.wantLanguage("/portal/sign-in", "en")
	b.post("/portal/sign-in", signIn)
	b.wantLanguage("/portal/profile", "de")
	// The session ends, and the language stays.
	b.post("/portal/sign-out", nil)
	b.wantLanguage("/portal/sign-in", "de")
	// A choice wins over the account, once: elsewhere the account's language changes later.
	b.post("/portal/language", url.Values{"language": {"en"}})
	b.post("/portal/sign-in", signIn)
	b.wantLanguage("/portal/profile", "en")
	b.post("/portal/sign-out", nil)
	elsewhere := s.signedInBrowser("erika@example.org")
	elsewhere.wantLanguage("/portal/profile", "en")
	elsewhere.post("/portal/language", url.Values{"language": {"de"}})
	b.post("/portal/sign-in", signIn)
	b.wantLanguage("/portal/profile", "de")
}

func TestLanguage_PageBehindMailedLinkHasThatOfTheMail(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	english := s.newBrowser()
	english.language = "en"
	for _, language := range []string{"de", "en"} { // the second mail is in the language of the second form
		english.post("/portal/language", url.Values{"language": {language}})
		english.post("/portal/register", url.Values{"email": {"neu@example.org"}})
		mail := s.waitForMail(registrar.MailConfirm)
		if mail.Language != language {
			t.Fatalf("the mail is in %q", mail.Language)
		}
		other := s.newBrowser()
		other.language = map[string]string{"de": "en", "en": "de"}[language]
		other.wantLanguage(strings.TrimPrefix(mail.Link, s.base), language)
		other.wantLanguage("/portal/sign-in", language)
		chosen := s.newBrowser()
		chosen.post("/portal/language", url.Values{"language": {other.language}})
		chosen.wantLanguage(strings.TrimPrefix(mail.Link, s.base), other.language)
	}
}
