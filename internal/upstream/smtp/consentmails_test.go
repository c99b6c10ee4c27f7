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

func TestConsentMails_LastingDomainIsPaidUntil(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	for language, want := range map[string][]string{
		"de": {"laden.de ist bis 15.11.2027 bezahlt: ", "Bezahlt bis:       15.11.2027", "endet"},
		"en": {"laden.de is paid until 15 November 2027: ", "Paid until:  15 November 2027", "expires"},
	} {
		subject, body, err := parsed.render(mailer.Message{
			Kind: registrar.MailRenewalOff, Language: language, At: time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC),
			Data: map[string]string{"domain": "laden.de", "domain_id": "dom_1", "paid_until": "2027-11-15", "lasts": "true"},
		}, "https://domains.example/portal")
		if err != nil || !strings.HasPrefix(subject, want[0]) || !strings.Contains(body, want[1]) || strings.Contains(subject+body, want[2]) {
			t.Errorf("%s: %q %v\n%s", language, subject, err, body)
		}
	}
}

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
		registrar.MailRenewalOn:   {"laden.de verlängert sich automatisch, erste Abbuchung am 01.11.2027", "laden.de renews automatically, first charge on 1 November 2027", page},
		registrar.MailRenewalOff:  {"laden.de endet am 15.11.2027: automatische Verlängerung ausgeschaltet", "laden.de expires on 15 November 2027: automatic renewal is off", page + "/auto-renew"},
		registrar.MailRenewalHeld: {"laden.de: automatische Verlängerung ausgesetzt", "laden.de: automatic renewal on hold", page},
		registrar.MailLetExpire:   {"laden.de läuft am 15.11.2027 ab, wie gewünscht", "laden.de expires on 15 November 2027, as you chose", page},
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
				if subject != title || !hasText(body, want.link+"\n") || hasText(body, "\n\n\n") || hasText(body, "<no value>") {
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

func TestRenewalHeldMail_SaysWhatHappensToTheRenewal(t *testing.T) {
	t.Parallel()
	data := map[string]string{
		"domain": "laden.de", "domain_id": "dom_1", "paid_until": "2027-11-15", "number": "dcl_1", "declared": "withdrawal", "received_at": "2026-11-15T09:00:00Z",
	}
	for _, test := range []struct {
		language, change string
		want             []string
	}{
		{"en", "voided", []string{"you can turn it on here once we have processed the withdrawal:"}},
		{"de", "", []string{"ein Widerruf bei uns eingegangen (Nummer dcl_1)", "Ende der Laufzeit: 15.11.2027", "Solange wir den Widerruf bearbeiten, beginnen wir keine Abbuchung."}},
		{"de", "voided", []string{"Domain: laden.de", "Wegen des Widerrufs gilt diese Zustimmung nicht mehr. Wir haben die automatische Verlängerung nicht eingeschaltet"}},
		{"en", "", []string{"we received a withdrawal (number dcl_1)", "we start no charge while we process the withdrawal"}},
		{"en", "voided", []string{"Domain: laden.de", "Because of the withdrawal, this consent no longer applies. We did not turn automatic renewal on"}},
	} {
		data["change"] = test.change
		body := renderMail(t, registrar.MailRenewalHeld, test.language, data)
		for _, want := range test.want {
			if !hasText(body, want) {
				t.Errorf("%s %q has no %q:\n%s", test.language, test.change, want, body)
			}
		}
	}
	data["change"], data["handled"] = "voided", "true"
	for language, want := range map[string]string{"de": "schalten Sie sie hier ein: https", "en": "you can turn it on here: https"} {
		if body := renderMail(t, registrar.MailRenewalHeld, language, data); !hasText(body, want) {
			t.Errorf("handled, %s: no %q:\n%s", language, want, body)
		}
	}
}

func TestNoticeMails_SayWhichConsentsTheyEnd(t *testing.T) {
	t.Parallel()
	handled := map[string]string{"number": "dcl_1", "declared": "termination", "contract": "laden.de, cafe.de", "end": "2026-12-01", "domain": "laden.de", "items": "2"}
	ends := map[string]string{
		"number": "dcl_1", "received_at": "2026-11-15T09:05:00Z", "domain": "cafe.de", "items": "2", "item1_name": "cafe.de", "item1_paid_until": "2027-03-01",
		"item2_name": "laden.de", "item2_paid_until": "2027-03-01", "item2_renewed": "true",
	}
	for language, want := range map[string][2]string{
		"de": {"Ihre Zustimmung zur automatischen Verlängerung gilt nicht mehr", "Welche Domains das betrifft, schreiben wir an die Adresse des Kontos."},
		"en": {"Your consent to automatic renewal no longer applies", "An email to the account's address names the domains concerned."},
	} {
		delete(handled, "item1_name")
		if body := renderMail(t, registrar.MailNoticeHandled, language, handled); hasText(body, want[0]) {
			t.Errorf("none renewed: %s", body)
		}
		handled["item1_name"] = "cafe.de"
		if body := renderMail(t, registrar.MailNoticeHandled, language, handled); !hasText(body, want[0]) || !strings.Contains(body, ":\n\n  cafe.de\n") || strings.Contains(body, "\n\n\n") {
			t.Errorf("one renewed: %s", body)
		}
		body := renderMail(t, registrar.MailContractEnds, language, ends)
		if before, after, found := strings.Cut(body, want[0]); !found || strings.LastIndex(before, "laden.de") < strings.LastIndex(before, "cafe.de") || hasText(after, want[0]) {
			t.Errorf("%s: %s", language, body)
		}
		off := map[string]string{"change": "terminated", "number": "dcl_1", "domain": "cafe.de", "domain_id": "dom_1", "paid_until": "2027-03-01"}
		if body := renderMail(t, registrar.MailRenewalOff, language, off); !hasText(body, "dcl_1). ") || !hasText(body, "cafe.de") {
			t.Errorf("%s: %s", language, body)
		}
		for _, kind := range []registrar.MailKind{registrar.MailWithdrawal, registrar.MailTermination} {
			if body := renderMail(t, kind, language, map[string]string{"number": "dcl_1", "name": "Ada", "contract": "laden.de"}); !hasText(body, want[1]) {
				t.Errorf("%s in %s: %s", kind, language, body)
			}
		}
	}
}

func TestConsentMails_BatchListsEveryDomain(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	data := map[string]string{"name": "Visa •••• 4242", "consent": strings.Repeat("Ich bin einverstanden. ", 12), "vat_rate": "1900"}
	for i, one := range []map[string]string{
		{"domain": "laden.de", "domain_id": "dom_1", "gross": "14.28", "years": "1", "charge_at": "2027-11-01", "paid_until": "2027-11-15"},
		{"domain": "cafe.de", "domain_id": "dom_2", "gross": "17.85", "years": "2", "charge_at": "2026-12-20", "paid_until": "2026-12-30", "announced": "true"},
		{"domain": "kino.de", "domain_id": "dom_3", "gross": "19.99", "charge_at": "2027-11-08", "paid_until": "2026-11-20", "next_term": "true"},
	} {
		one["name"], one["consent"], one["vat_rate"] = data["name"], data["consent"], data["vat_rate"]
		if i == 0 {
			data = one
			continue
		}
		joined, ok := registrar.JoinMails(data, one)
		if !ok {
			t.Fatal("not joined")
		}
		data = joined
	}
	for _, test := range []struct {
		kind            registrar.MailKind
		language, title string
		lines           []string
	}{
		{registrar.MailRenewalOn, "de", "cafe.de und 2 weitere verlängern sich automatisch, erste Abbuchung am 20.12.2026, 1 davon dieses Mal noch nicht", []string{
			"laden.de\n  14,28 EUR inkl. 19 % USt. für 1 Jahr, erste Abbuchung am 01.11.2027\n\n",
			"cafe.de\n  17,85 EUR inkl. 19 % USt. für 2 Jahre, erste Abbuchung am 20.12.2026\n  Diese E-Mail kündigt die erste Abbuchung an.\n",
			"kino.de\n  19,99 EUR inkl. 19 % USt., erste Abbuchung am 08.11.2027\n  Wichtig: Die laufende Laufzeit endet am 20.11.2026.",
			"Zahlungsmittel: Visa •••• 4242\n", "Ich bin einverstanden.", "https://domains.example/portal/domains\n",
		}},
		{registrar.MailRenewalOn, "en", "cafe.de and 2 more renew automatically, first charge on 20 December 2026, 1 of them not yet this time", []string{
			"laden.de\n  14.28 EUR incl. 19% VAT for 1 year, first charge on 1 November 2027\n\n", "  This email announces the first charge.\n",
			"  Important: the current term ends on 20 November 2026.", "https://domains.example/portal/domains\n",
		}},
		{registrar.MailRenewalOff, "de", "cafe.de und 2 weitere: automatische Verlängerung ausgeschaltet", []string{
			"laden.de\n  Ende der Laufzeit: 15.11.2027\n\n", "https://domains.example/portal/domains\n",
		}},
		{registrar.MailRenewalOff, "en", "cafe.de and 2 more: automatic renewal is off", []string{
			"laden.de\n  End of term: 15 November 2027\n\n", "https://domains.example/portal/domains\n",
		}},
	} {
		subject, body, err := parsed.render(mailer.Message{
			Kind: test.kind, Language: test.language, At: time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC), Data: data,
		}, "https://domains.example/portal")
		if err != nil {
			t.Fatal(err)
		}
		if subject != test.title || hasText(body, "\n\n\n") || hasText(body, "<no value>") {
			t.Errorf("%s in %s: %q\n%s", test.kind, test.language, subject, body)
		}
		for _, line := range test.lines {
			if !hasText(body, line) {
				t.Errorf("%s in %s lacks %q:\n%s", test.kind, test.language, line, body)
			}
		}
	}
}

func TestRenewalOnMail_SubjectNamesDomainOfFirstCharge(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	data := map[string]string{
		"items": "2", "item1_name": "alpha.io", "item1_charge_at": "2027-11-05", "item1_gross": "59.00", "item2_name": "delta.nl", "item2_charge_at": "2027-03-10", "item2_gross": "9.00",
	}
	for language, want := range map[string]string{
		"de": "delta.nl und 1 weitere verlängern sich automatisch, erste Abbuchung am 10.03.2027", "en": "delta.nl and 1 more renew automatically, first charge on 10 March 2027",
	} {
		if subject, _, err := parsed.render(mailer.Message{Kind: registrar.MailRenewalOn, Language: language, Data: data}, "https://x/portal"); err != nil || subject != want {
			t.Errorf("%s: %q, want %q, %v", language, subject, want, err)
		}
	}
}

func TestRenewalOnMail_NamesPeriodOfPrice(t *testing.T) {
	t.Parallel()
	for years, want := range map[string][2]string{"1": {"7,02 EUR inkl. 19 % USt. für 1 Jahr\n", "7.02 EUR incl. 19% VAT for 1 year\n"}, "2": {"7,02 EUR inkl. 19 % USt. für 2 Jahre\n", "7.02 EUR incl. 19% VAT for 2 years\n"}} {
		for i, language := range []string{"de", "en"} {
			body := renderMail(t, registrar.MailRenewalOn, language, map[string]string{
				"domain": "laden.de", "domain_id": "dom_1", "gross": "7.02", "years": years, "vat_rate": "1900", "charge_at": "2027-11-01", "name": "Visa •••• 4242", "consent": "x",
			})
			if !strings.Contains(body, want[i]) {
				t.Errorf("no %q:\n%s", want[i], body)
			}
		}
	}
}

// The mail about a payment method names what renewals charge from now on.
func TestPaymentMethodMail_NamesDefault(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		data             map[string]string
		subjects, bodies [2]string
	}{
		"first or default": {
			map[string]string{"change": "saved", "default": "Visa •••• 4242"},
			[2]string{"Ihr Zahlungsmittel wurde gespeichert", "Your payment method was saved"},
			[2]string{"Das ist jetzt Ihr Standard.", "It is your default now."},
		},
		"further": {
			map[string]string{"change": "saved"},
			[2]string{"Ihr Zahlungsmittel wurde gespeichert", "Your payment method was saved"},
			[2]string{"Von selbst buchen wir davon nichts ab", "We don't charge it automatically"},
		},
		"new default": {
			map[string]string{"change": "default"},
			[2]string{"Ihr Standard-Zahlungsmittel wurde geändert", "Your default payment method was changed"},
			[2]string{"auch bereits angekündigte", "including those already\nannounced"},
		},
		"further removed": {
			map[string]string{"change": "removed", "default": "Mastercard •••• 4444"},
			[2]string{"Ihr Zahlungsmittel wurde entfernt", "Your payment method was removed"},
			[2]string{"Ihr Standard bleibt\nMastercard •••• 4444.", "Your default is still\nMastercard •••• 4444."},
		},
		"default removed": {
			map[string]string{"change": "removed", "default": "Mastercard •••• 4444", "moved": "true"},
			[2]string{"Ihr Zahlungsmittel wurde entfernt", "Your payment method was removed"},
			[2]string{"neuer Standard ist jetzt\nMastercard •••• 4444.", "new default is\nMastercard •••• 4444."},
		},
		"last removed": {
			map[string]string{"change": "removed"},
			[2]string{"Ihr Zahlungsmittel wurde entfernt", "Your payment method was removed"},
			[2]string{"ausgeschaltet; vor dem Ablauf", "Automatic renewals are off"},
		},
	} {
		for i, language := range []string{"de", "en"} {
			test.data["name"], test.data["address"] = "Visa •••• 4242", "2001:db8:1111:2222:3333:4444:5555:6666"
			subject, body, err := parsed.render(mailer.Message{
				Kind: registrar.MailPaymentMethod, Language: language, At: time.Date(2026, 9, 15, 9, 0, 0, 0, time.UTC), Data: test.data,
			}, "https://domains.example/portal")
			if err != nil || subject != test.subjects[i] || !hasText(body, test.bodies[i]) || hasText(body, "\n\n\n") {
				t.Errorf("%s in %s: %q, %v\n%s", name, language, subject, err, body)
			}
			for line := range strings.Lines(body) {
				if utf8.RuneCountInString(line) > 79 || strings.HasSuffix(line, " \n") {
					t.Errorf("%s in %s has a bad line: %q", name, language, line)
				}
			}
		}
	}
}
