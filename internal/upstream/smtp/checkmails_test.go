package smtp

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
)

func TestCheckMails_NameDomainsInSubjectAndBody(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	var many []string
	for i := range 12 {
		many = append(many, "tee"+strconv.Itoa(i+1)+".de")
	}
	for _, test := range []struct {
		kind             registrar.MailKind
		language, notice string
		names            []string
		subject, body    string
	}{
		{registrar.MailContactCheck, "de", "1", many[:1], "tee1.de: bitte bestätigen Sie Ihre E-Mail-Adresse bis 04.12.2026", "ist diese Domain registriert"},
		{registrar.MailContactCheck, "en", "2", many[:3], "Reminder: tee1.de and 2 more, please confirm your email address by 4 December 2026", "tee3.de"},
		{registrar.MailContactCheck, "de", "3", many, "Letzte Erinnerung: tee1.de und 11 weitere, am 04.12.2026 nicht mehr erreichbar", "tee10.de und 2 weitere"},
		{registrar.MailContactCheck, "de", "1", nil, "Ihre Domains: bitte bestätigen Sie Ihre E-Mail-Adresse bis 04.12.2026", "ist diese Domain registriert"}, // queued by an earlier release
		{registrar.MailContactWarning, "de", "", many[:2], "tee1.de und 1 weitere: ohne Bestätigung des Inhabers ab 04.12.2026 nicht mehr erreichbar", "noch einmal schicken lassen"},
		{registrar.MailContactWarning, "en", "", many[:1], "tee1.de: offline from 4 December 2026 unless the holder confirms", "change the holder"},
		{registrar.MailContactSuspended, "de", "", many[:1], "tee1.de aus dem DNS genommen: max@kunde.example ist nicht bestätigt", "tee1.de"},
		{registrar.MailContactConfirmed, "en", "", many, "max@kunde.example is confirmed: tee1.de and 11 more back in the DNS", "and 2 more"},
	} {
		data := map[string]string{"email": "max@kunde.example", "notice": test.notice, "due": "2026-12-04", "name": "Ada"}
		registrar.NameDomains(data, test.names...)
		subject, body, err := parsed.render(mailer.Message{
			Kind: test.kind, Language: test.language, Data: data, Link: "https://x/portal/contact-check?link=y", LinkExpiresAt: time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC),
		}, "https://x/portal")
		if err != nil || subject != test.subject || !hasText(body, test.body) || strings.Contains(body, "tee11.de") || len(test.names) > 0 && strings.Contains(body, "\n\n\n") {
			t.Errorf("%s in %s: %v, %q, want %q and %q:\n%s", test.kind, test.language, err, subject, test.subject, test.body, body)
		}
	}
}
