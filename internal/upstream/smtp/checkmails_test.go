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
		{registrar.MailContactCheck, "de", "3", many, "Letzte Erinnerung: tee1.de und 11 weitere, nach dem 04.12.2026 nicht mehr erreichbar", "tee10.de und 2 weitere"},
		{registrar.MailContactCheck, "de", "1", nil, "Ihre Domains: bitte bestätigen Sie Ihre E-Mail-Adresse bis 04.12.2026", "ist diese Domain registriert"}, // queued by an earlier release
		{registrar.MailContactWarning, "de", "", many[:2], "tee1.de und 1 weitere: ohne Bestätigung des Inhabers nach dem 04.12.2026 nicht mehr erreichbar", "noch einmal schicken lassen"},
		{registrar.MailContactWarning, "en", "", many[:1], "tee1.de: offline after 4 December 2026 unless the holder confirms", "change the holder"},
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

// A confirmation still helps on the day that subject and body name, and only then is a domain taken
// out of the DNS.
func TestCheckMails_SubjectAndBodyNameSameLastDay(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		kind             registrar.MailKind
		language, notice string
		subject, body    string
	}{
		{registrar.MailContactCheck, "de", "1", "bis 04.12.2026", "bis zum 04.12.2026: https"},
		{registrar.MailContactCheck, "de", "3", "nach dem 04.12.2026 nicht mehr erreichbar", "bis zum 04.12.2026: https"},
		{registrar.MailContactCheck, "en", "3", "offline after 4 December 2026", "by the end of 4 December 2026, German time:"},
		{registrar.MailContactWarning, "de", "", "nach dem 04.12.2026 nicht mehr erreichbar", "nicht bis zum 04.12.2026, müssen wir die Domain danach aus dem DNS nehmen"},
		{registrar.MailContactWarning, "en", "", "offline after 4 December 2026", "by the end of 4 December 2026, German time, we have to take the domain out of the DNS after that day"},
	} {
		data := map[string]string{"email": "max@kunde.example", "notice": test.notice, "due": "2026-12-04"}
		registrar.NameDomains(data, "tee.com")
		subject, body, err := parsed.render(mailer.Message{Kind: test.kind, Language: test.language, Data: data, Link: "https://x/y"}, "https://x/portal")
		if err != nil || !strings.Contains(subject, test.subject) || !hasText(body, test.body) {
			t.Errorf("%s %s in %s: %v, %q, want %q and %q:\n%s", test.kind, test.notice, test.language, err, subject, test.subject, test.body, body)
		}
	}
}

func TestCheckMails_DomainsThatStayInTheDNSAreNotThreatened(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		kind     registrar.MailKind
		language string
		names    []string
		all      string
		subject  string
		body     string
		not      string
	}{
		{registrar.MailContactCheck, "de", []string{"tee.eu"}, "true", "Letzte Erinnerung: tee.eu, bitte bestätigen Sie Ihre E-Mail-Adresse bis 04.12.2026", "Die Domain bleibt auch dann im DNS", "müssen wir"},
		{registrar.MailContactCheck, "de", []string{"tee.com", "tee.eu"}, "", "Letzte Erinnerung: tee.com und 1 weitere, bitte bestätigen Sie Ihre E-Mail-Adresse bis 04.12.2026", "Im DNS bleibt diese Domain, weil ihre Registry uns etwas anderes nicht erlaubt. Die Bestätigung brauchen wir trotzdem: tee.eu", "prüfen wir"},
		{registrar.MailContactWarning, "de", []string{"tee.com"}, "", "tee.com: ohne Bestätigung des Inhabers nach dem 04.12.2026 nicht mehr erreichbar", "Die Bestätigung brauchen wir trotzdem: tee.eu", "Wir prüfen"},
		{registrar.MailContactWarning, "de", []string{"tee.eu"}, "true", "tee.eu: der Inhaber muss seine E-Mail-Adresse bis 04.12.2026 bestätigen", "bleibt die Domain trotzdem im DNS", "müssen wir"},
		{registrar.MailContactCheck, "en", []string{"tee.com", "tee.eu"}, "", "Last reminder: tee.com and 1 more, please confirm your email address by 4 December 2026", "This domain stays in the DNS, as its registry doesn't let us do otherwise. We need the confirmation all the same: tee.eu", "look into"},
		{registrar.MailContactWarning, "en", []string{"tee.eu"}, "true", "tee.eu: the holder must confirm the email address by 4 December 2026", "the domain stays in the DNS all the same", "have to take"},
	} {
		data := map[string]string{"email": "max@kunde.example", "notice": "3", "due": "2026-12-04", "kept": "tee.eu\n", "kept_domains": "1", "all_kept": test.all}
		registrar.NameDomains(data, test.names...)
		subject, body, err := parsed.render(mailer.Message{Kind: test.kind, Language: test.language, Data: data, Link: "https://x/y"}, "https://x/portal")
		if err != nil || subject != test.subject || !hasText(body, test.body) || hasText(body, test.not) || strings.Contains(body, "\n\n\n") {
			t.Errorf("%s in %s: %v, %q, want %q and %q:\n%s", test.kind, test.language, err, subject, test.subject, test.body, body)
		}
	}
}

func TestCheckMails_SuspensionReadsRightForOneAndSeveralDomains(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind         registrar.MailKind
		language     string
		one, several []string
	}{
		{
			registrar.MailContactSuspended, "de",
			[]string{"Wir mussten diese Domain aus dem DNS nehmen, sie ist nicht mehr erreichbar:", "So kommt sie wieder hinein", "auf der Seite der Domain"},
			[]string{"Wir mussten diese Domains aus dem DNS nehmen, sie sind nicht mehr erreichbar:", "So kommen sie wieder hinein", "auf der Seite jeder Domain"},
		},
		{
			registrar.MailContactSuspended, "en",
			[]string{"take this domain out of the DNS", "To bring it back", "until it works everywhere", "on the domain's page"},
			[]string{"take these domains out of the DNS", "To bring them back", "until they work everywhere", "on each domain's page"},
		},
		{registrar.MailContactConfirmed, "de", []string{"Die Domain, für die", "erreichbar ist, kann"}, []string{"Die Domains, für die", "erreichbar sind, kann"}},
		{registrar.MailContactConfirmed, "en", []string{"putting the domain whose", "until it works"}, []string{"putting the domains whose", "until they work"}},
	} {
		for _, of := range []struct {
			names         []string
			wants, others []string
		}{{[]string{"tee.de"}, test.one, test.several}, {[]string{"tee.de", "kaffee.de"}, test.several, test.one}} {
			data := map[string]string{"email": "max@kunde.example"}
			registrar.NameDomains(data, of.names...)
			body := renderMail(t, test.kind, test.language, data)
			for i := range of.wants {
				if !hasText(body, of.wants[i]) || hasText(body, of.others[i]) {
					t.Errorf("%s in %s about %v: want %q, not %q:\n%s", test.kind, test.language, of.names, of.wants[i], of.others[i], body)
				}
			}
		}
	}
}
