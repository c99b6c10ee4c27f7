package smtp

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
)

func TestDomainMails_NameServersAndLinkToThePlaceOfTheChange(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	single := map[string]string{
		"domain": "laden.de", "domain_id": "dom_1", "change": "nameservers", "nameservers": "ns1.neu.example\nns2.neu.example", "old_nameservers": "ns1.alt.example",
	}
	first := map[string]string{"domain": "laden.de", "domain_id": "dom_1", "change": "unlock", "bulk": "blk_1"}
	many, ok := registrar.JoinMails(first, map[string]string{"domain": "cafe.de", "domain_id": "dom_2", "change": "unlock", "bulk": "blk_1"})
	if !ok {
		t.Fatal("not joined")
	}
	code := map[string]string{"domain": "laden.de", "domain_id": "dom_1", "lockable": "false"}
	restored := orderMailData(map[string]string{"items": "1", "item1_kind": "restore", "item1_paid_until": "2027-11-15"})
	for _, test := range []struct {
		kind           registrar.MailKind
		language       string
		data           map[string]string
		subject        string
		lines, without []string
	}{
		{registrar.MailOrderCompleted, "de", restored, "neu.de ist wiederhergestellt: Ihre Bestellung vom 18.11.2026 ist abgeschlossen", []string{"neu.de ist wiederhergestellt und bis 15.11.2027 bezahlt.", "kann es einige\n  Stunden dauern."}, nil},
		{registrar.MailOrderEnded, "en", restored, "neu.de has been restored: your order is completed", []string{"neu.de\n  restored and paid until 15 November 2027\n  It may take a few hours"}, nil},
		{registrar.MailDomainChanged, "de", single, "laden.de: Nameserver geändert am 15.11.2026", []string{
			"\nBisher:\n  ns1.alt.example\n", "\nJetzt:\n  ns1.neu.example\n  ns2.neu.example\n", "https://domains.example/portal/domains/dom_1\n",
		}, nil},
		{registrar.MailDomainChanged, "en", single, "laden.de: nameservers changed on 15 November 2026", []string{
			"\nPreviously:\n  ns1.alt.example\n", "\nNow:\n  ns1.neu.example\n", "https://domains.example/portal/domains/dom_1\n",
		}, nil},
		{registrar.MailDomainChanged, "de", many, "cafe.de und 1 weitere: Umzugssperre aufgehoben am 15.11.2026", []string{
			"\n  cafe.de\n  laden.de\n", "https://domains.example/portal/domain-actions/blk_1\n",
		}, nil},
		{registrar.MailDomainChanged, "en", many, "cafe.de and 1 more: transfer lock removed on 15 November 2026", []string{
			"\n  cafe.de\n  laden.de\n", "https://domains.example/portal/domain-actions/blk_1\n",
		}, nil},
		{registrar.MailDomainChanged, "de", first, "laden.de: Umzugssperre aufgehoben am 15.11.2026", []string{"https://domains.example/portal/domains/dom_1\n"}, nil},
		{registrar.MailAuthCode, "de", code, "laden.de: Auth-Code angezeigt am 15.11.2026", []string{"https://domains.example/portal/domains/dom_1\n"}, []string{"sperren", "gesperrt"}},
		{registrar.MailAuthCode, "en", code, "laden.de: auth code shown on 15 November 2026", []string{"https://domains.example/portal/domains/dom_1\n"}, []string{"lock"}},
	} {
		subject, body, err := parsed.render(mailer.Message{
			Kind: test.kind, Language: test.language, At: time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC), Data: test.data,
		}, "https://domains.example/portal")
		if err != nil {
			t.Fatal(err)
		}
		if subject != test.subject || hasText(body, "\n\n\n") {
			t.Errorf("%s in %s: %q\n%s", test.kind, test.language, subject, body)
		}
		for _, line := range test.lines {
			if !hasText(body, line) {
				t.Errorf("%s in %s lacks %q:\n%s", test.kind, test.language, line, body)
			}
		}
		for _, word := range test.without {
			if hasText(body, word) {
				t.Errorf("%s in %s says %q:\n%s", test.kind, test.language, word, body)
			}
		}
	}
}

func TestDomainLockMail_OutOfTheDNSSaysWhatStopsAndWhatToDo(t *testing.T) {
	t.Parallel()
	for lang, texts := range map[string][3]string{
		"de": {"Wir nehmen die Domain aus dem DNS", "Das können Sie tun", "Wir nehmen die Domain wieder ins DNS"},
		"en": {"We are taking the domain out of the DNS", "What you can do", "We are putting the domain back into the DNS"},
	} {
		for _, change := range []string{"abuse", "lifted"} {
			for _, suspended := range []string{"true", "false"} {
				body := renderMail(t, registrar.MailDomainLock, lang, map[string]string{"domain": "laden.de", "change": change, "name": "Phishing", "suspended": suspended})
				set, lifted := suspended == "true" && change == "abuse", suspended == "true" && change == "lifted"
				if hasText(body, texts[0]) != set || hasText(body, texts[1]) != set || hasText(body, texts[2]) != lifted || !hasText(body, "Phishing") {
					t.Errorf("%s %s, suspended %s: %s", lang, change, suspended, body)
				}
			}
		}
	}
}
