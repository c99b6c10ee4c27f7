package smtp

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
)

func TestConsentMails_NameDomainDateAndLink(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	if de, en := slices.Sorted(maps.Keys(german.consentMails)), slices.Sorted(maps.Keys(english.consentMails)); !slices.Equal(de, en) {
		t.Errorf("German has %v, English %v", de, en)
	}
	page := "https://domains.example/portal/domains/dom_1"
	for kind, want := range map[registrar.MailKind]struct{ de, en, link string }{
		registrar.MailRenewalOn:  {"laden.de verlängert sich automatisch, erste Abbuchung am 01.11.2027", "laden.de renews automatically, first charge on 1 November 2027", page},
		registrar.MailRenewalOff: {"laden.de endet am 15.11.2027: automatische Verlängerung ausgeschaltet", "laden.de ends on 15 November 2027: automatic renewal is off", page + "/auto-renew"},
		registrar.MailLetExpire:  {"laden.de läuft am 15.11.2027 ab, wie Sie es wünschen", "laden.de expires on 15 November 2027, as you chose", page},
		registrar.MailPaymentMethod: {
			"Ihr Zahlungsmittel wurde gespeichert", "Your payment method was saved", "https://domains.example/portal/payment-methods",
		},
	} {
		for language, usual := range map[string]string{"de": want.de, "en": want.en} {
			for _, flag := range []string{"", "next_term", "announced"} {
				data := map[string]string{
					"domain": "laden.de", "domain_id": "dom_1", "gross": "14.28", "charge_at": "2027-11-01", "paid_until": "2027-11-15",
					"name": "Visa •••• 4242", "consent": strings.Repeat("Ich bin einverstanden. ", 12), "address": "192.0.2.1",
				}
				if flag != "" {
					data[flag] = "true"
				}
				subject, body, err := parsed.render(mailer.Message{
					Kind: kind, Language: language, At: time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC), Data: data,
				}, "https://domains.example/portal")
				if err != nil {
					t.Fatal(err)
				}
				title := usual
				if kind == registrar.MailRenewalOn && flag == "next_term" { // the customer has to act first
					title = map[string]string{
						"de": "laden.de: bitte bis 15.11.2027 noch selbst verlängern, danach automatisch",
						"en": "laden.de: please renew by 15 November 2027 yourself, automatic after that",
					}[language]
				}
				if subject != title || !strings.Contains(body, want.link+"\n") || strings.Contains(body, "\n\n\n") || strings.Contains(body, "<no value>") {
					t.Errorf("%s in %s: %q\n%s", kind, language, subject, body)
				}
				for line := range strings.Lines(body) {
					if utf8.RuneCountInString(line) > 79 {
						t.Errorf("%s in %s has a long line: %q", kind, language, line)
					}
				}
			}
		}
	}
}
