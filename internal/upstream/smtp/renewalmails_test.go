package smtp

import (
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
)

func renewalMailData(more map[string]string) map[string]string {
	data := map[string]string{
		"domain": "neu.de", "domain_id": "dom_1", "paid_until": "2027-12-15", "charge_at": "2027-12-01", "gross": "20.34", "method": "Visa •••• 4242",
		"items": "2", "item1_name": "neu.de", "item1_years": "1", "item1_gross": "8.21", "item1_was": "7.02", "item1_charge_at": "2027-12-01", "item1_paid_until": "2027-12-15",
		"item2_name": "alt.com", "item2_years": "2", "item2_gross": "12.13", "item2_was": "0.00", "item2_charge_at": "2027-12-02", "item2_paid_until": "2027-12-16",
	}
	maps.Copy(data, more)
	return data
}

func TestRenewalMails_NamePriceDayCardAndNextStep(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind   registrar.MailKind
		facts  map[string]string
		de, en []string
	}{
		"upcoming": {
			registrar.MailRenewalUpcoming, renewalMailData(nil),
			[]string{"neu.de und 1 weitere: Verlängerung am 01.12.2027", "1 Jahr: 8,21 EUR, Abbuchung am 01.12.2027", "2 Jahre: 12,13 EUR", "Zusammen: 20,34 EUR", "Visa •••• 4242"},
			[]string{"neu.de and 1 more: renewal on 1 December 2027", "1 year: 8.21 EUR, charged on 1 December 2027", "Total: 20.34 EUR", "Visa •••• 4242"},
		},
		"one on hold": {
			registrar.MailRenewalUpcoming, renewalMailData(map[string]string{"item2_held": "withdrawal", "gross": "8.21"}),
			[]string{"neu.de: Verlängerung am 01.12.2027", "1 Jahr: 8,21 EUR, Abbuchung am 01.12.2027", "Ausgesetzt, weil", "alt.com", "Widerruf eingegangen", "2 Jahre: 12,13 EUR\n  Abbuchung frühestens am 02.12.2027", "beginnen wir keine Abbuchung"},
			[]string{"neu.de: renewal on 1 December 2027", "On hold, because", "Withdrawal received", "2 years: 12.13 EUR\n  Charged on 2 December 2027 at the earliest", "start no charge"},
		},
		"all on hold": {
			registrar.MailRenewalUpcoming, renewalMailData(map[string]string{"item1_held": "termination", "item2_held": "withdrawal", "charge_at": "", "gross": "0.00"}),
			[]string{"neu.de und 1 weitere: automatische Verlängerung ausgesetzt", "Kündigung eingegangen", "Widerruf eingegangen"},
			[]string{"neu.de and 1 more: automatic renewal on hold", "Your automatic renewal is on hold.", "Cancellation received", "Withdrawal received"},
		},
		"price rise on hold": {
			registrar.MailRenewalPriceRise, renewalMailData(map[string]string{"item1_held": "termination", "item2_held": "withdrawal", "charge_at": "", "gross": "0.00"}),
			[]string{"neuer Preis, automatische Verlängerung ausgesetzt", "der Preis ist gestiegen.", "1 Jahr: 8,21 EUR, bisher 7,02 EUR\n  Abbuchung frühestens am"},
			[]string{"new price, automatic renewal on hold", "the price has risen.", "1 year: 8.21 EUR, previously 7.02 EUR\n  Charged on"},
		},
		"held until the end": {
			registrar.MailRenewalFailed, renewalMailData(map[string]string{"failure": "too_late", "item1_held": "termination", "item2_held": "withdrawal", "item1_charge_at": "", "item2_charge_at": ""}),
			[]string{"neu.de und 1 weitere: nicht verlängert", "bis zum Ende der Laufzeit ausgesetzt", "Eingegangen: Kündigung", "Eingegangen: Widerruf", "nichts abgebucht"},
			[]string{"automatic renewal was on hold", "Received: cancellation", "Received: withdrawal", "Nothing was charged"},
		},
		"card expires first": {
			registrar.MailRenewalUpcoming, renewalMailData(map[string]string{"method_expires": "2027-10"}),
			[]string{"gilt nur bis 10/2027", "https://x.example/portal/payment-methods"},
			[]string{"only valid through 10/2027", "https://x.example/portal/payment-methods"},
		},
		"price rise": {
			registrar.MailRenewalPriceRise, renewalMailData(nil),
			[]string{"neuer Preis", "8,21 EUR, bisher 7,02 EUR"},
			[]string{"new price", "8.21 EUR, previously 7.02 EUR"},
		},
		"bank asks": {
			registrar.MailRenewalDeclined, renewalMailData(map[string]string{"failure": "authentication_required", "order": "ord_1", "payable_until": "2027-12-04T11:30:00Z"}),
			[]string{"nächster Versuch am 01.12.2027", "selbst freigeben", "Bis 04.12.2027, 12:30 Uhr MEZ können Sie selbst bezahlen", "https://x.example/portal/orders/ord_1"},
			[]string{"approve the payment yourself", "until 4 December 2027, 12:30 CET", "https://x.example/portal/orders/ord_1"},
		},
		"no card": {
			registrar.MailRenewalDeclined, renewalMailData(map[string]string{"order": "ord_1", "failure": "no_method", "method": ""}),
			[]string{"Standard-Zahlungsmittel fehlt oder gilt nicht mehr"},
			[]string{"default payment method is missing or no longer valid"},
		},
		"last": {
			registrar.MailRenewalFailed, renewalMailData(map[string]string{"failure": "expired_card", "order": "ord_1", "payable_until": "2027-12-15T11:30:00Z"}),
			[]string{"nicht verlängert, Laufzeit endet am 15.12.2027", "beim letzten Versuch", "abgelaufen", "bezahlen Sie bitte bis 15.12.2027, 12:30 Uhr MEZ selbst", "Bis zum Ende ihrer Laufzeit können Sie sie auch einzeln unter „Domains“ verlängern", "https://x.example/portal/orders/ord_1"},
			[]string{"term ends on 15 December 2027", "last attempt", "expired", "please pay by 15 December 2027, 12:30 CET"},
		},
	} {
		for language, wants := range map[string][]string{"de": test.de, "en": test.en} {
			checkRenewalMail(t, name, test.kind, language, test.facts, wants)
		}
	}
	for failure, wants := range map[string][2]string{
		"extension_not_carried": {"bieten wir nicht mehr an", "no longer sell"},
		"too_late":              {"war die Abbuchung nicht möglich", "could not be charged"},
		"name_premium":          {"mehr, als wir angekündigt", "more for these premium domains"},
		"epp_status_prohibits":  {"Registry nimmt die Verlängerungen nicht an", "registry does not accept"},
	} {
		facts := renewalMailData(map[string]string{"failure": failure})
		checkRenewalMail(t, failure, registrar.MailRenewalFailed, "de", facts, []string{wants[0], "nichts abgebucht"})
		checkRenewalMail(t, failure, registrar.MailRenewalFailed, "en", facts, []string{wants[1], "Nothing was charged"})
	}
}

func TestRenewalMails_PricesSayWhetherTheyIncludeVAT(t *testing.T) {
	t.Parallel()
	price := regexp.MustCompile(`\d EUR((?: \S+){4})`)
	former := regexp.MustCompile(` (bisher|previously) \S+ EUR`) // follows the current price
	for rate, says := range map[string]map[string]string{
		"1900": {"de": " inkl. 19 % USt.", "en": " incl. 19% VAT"},
		"0":    {"de": " netto", "en": " net"},
	} {
		for _, kind := range renewalKinds {
			facts := renewalMailData(map[string]string{"vat_rate": rate, "order": "ord_1", "failure": "card_declined", "item2_held": "termination"})
			for language, want := range says {
				text := former.ReplaceAllString(strings.Join(strings.Fields(renderMail(t, kind, language, facts)), " "), "")
				found := price.FindAllStringSubmatch(text, -1)
				if len(found) == 0 {
					t.Errorf("%s in %s has no price", kind, language)
				}
				for _, of := range found {
					if !strings.HasPrefix(of[1], want) {
						t.Errorf("%s in %s at %s: %q, want %q", kind, language, rate, of[0], want)
					}
				}
			}
		}
	}
}

func TestRenewalFailedMail_SeveralDomainsAreNotCalledOne(t *testing.T) {
	t.Parallel()
	for _, failure := range []string{"extension_not_carried", "too_late", "name_premium", "epp_status_prohibits"} {
		several := renewalMailData(map[string]string{"failure": failure})
		one := maps.Clone(several)
		one["items"] = "1"
		for language, phrases := range map[string][2]string{"de": {"eine Domain nicht", "die Domain behalten"}, "en": {"renew a domain", "keep the domain,"}} {
			if mail := renderMail(t, registrar.MailRenewalFailed, language, one); !hasText(mail, phrases[0]) || !hasText(mail, phrases[1]) {
				t.Errorf("%s in %s, one domain:\n%s", failure, language, mail)
			}
			if mail := renderMail(t, registrar.MailRenewalFailed, language, several); hasText(mail, phrases[0]) || hasText(mail, phrases[1]) {
				t.Errorf("%s in %s, two domains:\n%s", failure, language, mail)
			}
		}
	}
}

func checkRenewalMail(t *testing.T, name string, kind registrar.MailKind, language string, facts map[string]string, wants []string) {
	t.Helper()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	subject, body, err := parsed.render(mailer.Message{Kind: kind, Language: language, At: time.Date(2027, 11, 1, 8, 0, 0, 0, time.UTC), Data: facts}, "https://x.example/portal")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range wants {
		if !hasText(subject+"\n"+body, want) {
			t.Errorf("%s in %s lacks %q:\n%s\n%s", name, language, want, subject, body)
		}
	}
	for line := range strings.Lines(body) {
		if utf8.RuneCountInString(line) > 79 || strings.HasSuffix(line, " \n") {
			t.Errorf("%s in %s has a bad line: %q", name, language, line)
		}
	}
	if hasText(body, "\n\n\n") || hasText(subject+body, "<no value>") {
		t.Errorf("%s in %s has gaps:\n%s", name, language, body)
	}
}
