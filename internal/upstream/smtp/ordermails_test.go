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

func orderMailData(more map[string]string) map[string]string {
	data := map[string]string{
		"order": "ord_01jd3c4v5w6x7y8z9abcdefghj", "items": "3", "net": "112.70", "vat": "21.41", "gross": "134.11", "vat_rate": "1900",
		"vat_rule": "domestic", "vat_country": "DE", "vat_id": "", "vat_unchecked": "false", "state": "completed", "refund": "0.00",
		"item1_name": "neu.de", "item1_kind": "register", "item1_years": "1", "item1_net": "6.90", "item1_gross": "8.21", "item1_state": "active",
		"item2_name": "ki.ai", "item2_kind": "renew", "item2_years": "2", "item2_net": "99.90", "item2_gross": "118.88", "item2_state": "active",
		"item3_name": "umzug.de", "item3_kind": "transfer", "item3_years": "0", "item3_net": "5.90", "item3_gross": "7.02", "item3_term": "from_now", "item3_state": "active",
		"domain": "neu.de", "paid_until": "2026-12-15", "at": "2026-11-18",
	}
	maps.Copy(data, more)
	return data
}

func TestReceipt_NamesAttachedFiles(t *testing.T) {
	t.Parallel()
	invoice, form := mailer.Attachment{Kind: mailer.InvoiceFile, Name: "RE-1.pdf"}, "https://domains.example/widerruf\n"
	for _, kind := range []registrar.MailKind{registrar.MailOrderPaid, registrar.MailOrderCompleted} {
		for _, test := range []struct {
			files      []mailer.Attachment
			automatic  string
			wants, not []string
		}{
			{nil, "", nil, []string{"Rechnung hängt", "angehängte", form}},
			{
				[]mailer.Attachment{invoice, {Kind: mailer.TermsFile, Name: "AGB.txt"}},
				"",
				[]string{"Die Rechnung hängt an dieser E-Mail. Die angehängte Datei AGB.txt enthält unsere Geschäftsbedingungen."},
				[]string{form},
			},
			{
				[]mailer.Attachment{{Kind: mailer.ConsumerTermsFile, Name: "AGB-und-Widerrufsbelehrung.txt"}},
				"",
				[]string{"Datei AGB-und-Widerrufsbelehrung.txt enthält unsere Geschäftsbedingungen und die Widerrufsbelehrung.", "\n\n" + form},
				[]string{"Rechnung hängt"},
			},
			{[]mailer.Attachment{{Kind: mailer.ConsumerTermsFile, Name: "x.txt"}}, "true", []string{"Datei x.txt"}, []string{form}},
		} {
			body := renderMailTo(t, mailer.Message{Kind: kind, Language: "de", Data: orderMailData(map[string]string{"automatic": test.automatic}), Attachments: test.files})
			for _, want := range test.wants {
				if !hasText(body, want) {
					t.Errorf("%s lacks %q:\n%s", kind, want, body)
				}
			}
			for _, not := range test.not {
				if hasText(body, not) {
					t.Errorf("%s has %q:\n%s", kind, not, body)
				}
			}
		}
	}
}

func renderMail(t *testing.T, kind registrar.MailKind, language string, data map[string]string) string {
	t.Helper()
	return renderMailTo(t, mailer.Message{Kind: kind, Language: language, Data: data})
}

func renderMailTo(t *testing.T, message mailer.Message) string {
	t.Helper()
	message.At = time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC)
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	_, body, err := parsed.render(message, "https://domains.example/portal")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(body) {
		if utf8.RuneCountInString(line) > 79 || strings.HasSuffix(line, " \n") {
			t.Errorf("%s in %s has a bad line: %q", message.Kind, message.Language, line)
		}
	}
	if hasText(body, "\n\n\n") || hasText(body, "<no value>") {
		t.Errorf("%s in %s has gaps:\n%s", message.Kind, message.Language, body)
	}
	return body
}

func TestOrderMails_StateEachOutcome(t *testing.T) {
	t.Parallel()
	failed := map[string]string{"state": "partially_completed", "refund": "8.21", "item1_state": "failed"}
	because := func(code string) map[string]string {
		data := maps.Clone(failed)
		data["item1_failure"] = code
		return orderMailData(data)
	}
	for name, test := range map[string]struct {
		kind    registrar.MailKind
		facts   map[string]string
		de, en  []string
		deNever string
	}{
		"a receipt": {
			kind: registrar.MailOrderPaid, facts: orderMailData(nil),
			de: []string{
				"bezahlt", "ord_01jd3c4v5w6x7y8z9abcdefghj", "neu.de\n  Registrierung, 1 Jahr: 8,21 EUR\n  (netto 6,90 EUR)\n", "ki.ai\n  Verlängerung, 2 Jahre: 118,88 EUR\n",
				"umzug.de\n  Umzug zu uns, 1 Jahr ab dem Umzug: 7,02 EUR\n", "Umsatzsteuer 19 %         21,41 EUR\n", "134,11 EUR",
			},
			en:      []string{"was paid", "registration, 1 year: 8.21 EUR\n  (net 6.90 EUR)\n", "transfer to us, 1 year from the transfer: 7.02 EUR\n", "renewal, 2 years", "VAT 19%                   21.41 EUR\n", "134.11 EUR"},
			deNever: "VIES",
		},
		"a receipt of a transfer that takes days": {
			kind: registrar.MailOrderPaid, facts: orderMailData(map[string]string{"item3_expected": "2026-12-05"}),
			de: []string{"Umzug zu uns, 1 Jahr ab dem Umzug: 7,02 EUR\n  (netto 5,90 EUR)\n  voraussichtlich bis 05.12.2026\n"}, en: []string{"\n  expected by 5 December 2026\n"},
		},
		"a renewal by hand of a domain that renews automatically": {
			kind: registrar.MailOrderCompleted, facts: orderMailData(map[string]string{"item2_paid_until": "2029-02-03", "item2_next_charge": "2029-01-20"}),
			de: []string{"ki.ai ist bis 03.02.2029 verlängert.\n  Die nächste automatische Verlängerung buchen wir am 20.01.2029 ab.\n"},
			en: []string{"\n  The next automatic renewal is charged on 20 January 2029.\n"},
		},
		"a term that ends before its renewal could be announced": {
			kind: registrar.MailOrderCompleted, facts: orderMailData(map[string]string{"item2_paid_until": "2026-12-15", "item2_next_charge": "2028-12-01", "item2_next_term": "true"}),
			de: []string{"Wichtig: Die Laufzeit endet schon am 15.12.2026.", "verlängern Sie die Domain dieses Mal selbst."}, deNever: "buchen wir am",
			en: []string{"Important: the term already ends on 15 December 2026.", "Please renew the domain\n  yourself this time."},
		},
		"a receipt whose gross prices differ from the total": {
			kind: registrar.MailOrderCompleted, facts: orderMailData(map[string]string{"gross": "134.10", "vat": "21.40"}),
			de: []string{"134,10 EUR\n\nDie Umsatzsteuer runden wir einmal für die ganze Bestellung."}, en: []string{"134.10 EUR\n\nWe round VAT once for the whole order"},
		},
		"an automatic renewal with its new end": {
			kind: registrar.MailOrderPaid, facts: orderMailData(map[string]string{"automatic": "true", "item2_paid_until": "2029-02-03"}),
			de: []string{"(netto 99,90 EUR)\n  neues Ende der Laufzeit: 03.02.2029\n"}, en: []string{"(net 99.90 EUR)\n  new end of the term: 3 February 2029\n"},
		},
		"a renewal price without VAT": {
			kind:  registrar.MailOrderCompleted,
			facts: orderMailData(map[string]string{"vat": "0.00", "net": "134.11", "item1_renewal": "12.90", "item1_renewal_years": "1"}),
			de:    []string{"12,90 EUR\n  für 1 Jahr."}, en: []string{"costs 12.90 EUR\n  for 1 year."}, deNever: "brutto",
		},
		"a receipt whose gross prices add up": {
			kind: registrar.MailOrderCompleted, facts: orderMailData(nil), deNever: "runden",
		},
		"renewals with their new ends": {
			kind: registrar.MailOrderCompleted, facts: orderMailData(map[string]string{"item2_paid_until": "2029-02-03", "item3_kind": "restore", "item3_paid_until": "2028-05-06"}),
			de: []string{"ki.ai ist bis 03.02.2029 verlängert.\n", "umzug.de ist wiederhergestellt und bis 06.05.2028 bezahlt.\n  Bis Websites und E-Mail überall wieder"},
			en: []string{"ki.ai has been renewed until 3 February 2029.\n", "umzug.de has been restored and is paid until 6 May 2028.\n  It may take a few hours"},
		},
		"the outcome of renewals with their new ends": {
			kind: registrar.MailOrderEnded, facts: orderMailData(map[string]string{"item2_paid_until": "2029-02-03", "item3_kind": "restore", "item3_paid_until": "2028-05-06"}),
			de: []string{"ki.ai\n  ist bis 03.02.2029 verlängert\n", "umzug.de\n  ist wiederhergestellt und bis 06.05.2028 bezahlt\n"},
			en: []string{"ki.ai\n  renewed until 3 February 2029\n", "umzug.de\n  restored and paid until 6 May 2028\n"},
		},
		"a receipt of nothing": {
			kind: registrar.MailOrderPaid, facts: orderMailData(map[string]string{"gross": "0.00"}),
			de: []string{"bestätigt"}, en: []string{"was confirmed"}, deNever: "bezahlt",
		},
		"reverse charge": {
			kind: registrar.MailOrderPaid, facts: orderMailData(map[string]string{"vat_rule": "reverse_charge", "vat_id": "ATU12345675", "vat_rate": "0"}),
			de: []string{"Steuerschuldnerschaft des Leistungsempfängers", "ATU12345675", "Umsatzsteuer 0 %"}, en: []string{"Reverse charge", "ATU12345675"},
		},
		"outside of the EU": {
			kind: registrar.MailOrderPaid, facts: orderMailData(map[string]string{"vat_rule": "outside_eu", "vat_country": "CH"}),
			de: []string{"nicht steuerbar", "Land: Schweiz"}, en: []string{"not subject to VAT", "country: Switzerland"},
		},
		"another country's rate": {
			kind: registrar.MailOrderPaid, facts: orderMailData(map[string]string{"vat_rule": "eu_consumer_oss", "vat_country": "FI", "vat_rate": "2550"}),
			de: []string{"25,5 %", "Ihres Landes (Finnland)"}, en: []string{"25.5%", "your country (Finland)"},
		},
		"an unchecked VAT id": {
			kind: registrar.MailOrderPaid, facts: orderMailData(map[string]string{"vat_unchecked": "true"}),
			de: []string{"VIES"}, en: []string{"VIES"},
		},
		"a receipt without an account": {
			kind: registrar.MailOrderPaid, facts: orderMailData(map[string]string{"unclaimed": "true"}),
			de: []string{"gehört\nnoch zu keinem Konto", "Haben Sie nichts bestellt?"}, en: []string{"does not belong to\nan account yet", "If you didn't order anything"}, deNever: "Sicherheit",
		},
		"done without an account": {
			kind: registrar.MailOrderEnded, facts: orderMailData(map[string]string{"unclaimed": "true"}),
			de: []string{"noch zu keinem Konto"}, en: []string{"does not belong to an account yet"}, deNever: "Ihre Domains finden",
		},
		"all done": {
			kind: registrar.MailOrderEnded, facts: orderMailData(nil),
			de: []string{"Ihre Bestellung vom 18.11.2026 ist abgeschlossen.", "neu.de\n  ist registriert\n", "ki.ai\n  ist verlängert\n", "umzug.de\n  ist zu uns umgezogen\n"},
			en: []string{"Your order of 18 November 2026 is completed.", "registered", "renewed", "transferred to us"}, deNever: "geben",
		},
		"delayed": {
			kind: registrar.MailOrderDelayed, facts: orderMailData(nil),
			de: []string{"Ihre Bestellung vom 18.11.2026 ist noch nicht fertig. Das dauert\nlänger als üblich.", "neu.de\n  Registrierung noch in Arbeit\n", "ki.ai\n  Verlängerung noch in Arbeit\n", "erstatten wir\nvollständig", "Sie müssen nichts tun"},
			en: []string{"Your order of 18 November 2026 is not complete yet.", "registration in progress", "renewal in progress", "refunded in full", "nothing you need to do"}, deNever: "zu keinem Konto",
		},
		"some failed": {
			kind: registrar.MailOrderEnded, facts: because("epp_exists"),
			de: []string{"zum Teil", "neu.de\n  nicht möglich: der Name war inzwischen vergeben\n", "erstatten wir insgesamt 8,21 EUR", "5 bis 10 Werktage"}, en: []string{"partly", "taken in the meantime", "we refund 8.21 EUR in total", "5 to 10\nworking days"},
		},
		"some failed and refunded": {
			kind: registrar.MailOrderEnded,
			facts: orderMailData(map[string]string{
				"state": "partially_completed", "item1_state": "refunded", "item1_failure": "epp_exists", "item1_refunded": "8.21", "item1_refunded_on": "2026-11-20",
			}),
			de:      []string{"Ihre Bestellung vom 18.11.2026 ist zum Teil ausgeführt.", "vergeben\n  8,21 EUR haben wir am 20.11.2026 erstattet.\n", "bezahlt haben.\nBis es bei Ihnen ist"},
			en:      []string{"Your order of 18 November 2026 is partly completed.", "meantime\n  We refunded 8.21 EUR on 20 November 2026.\n", "5 to 10 working days"},
			deNever: "erstatten wir",
		},
		"one refunded, one to be refunded": {
			kind: registrar.MailOrderEnded,
			facts: orderMailData(map[string]string{
				"state": "partially_completed", "refund": "7.02", "item1_state": "refunded", "item1_failure": "epp_exists", "item1_refunded": "8.21", "item1_refunded_on": "2026-11-20",
				"item3_state": "failed", "item3_failure": "transfer_rejected",
			}),
			de: []string{"8,21 EUR haben wir am 20.11.2026 erstattet.", "erstatten wir noch 7,02 EUR.\n"}, en: []string{"We refunded 8.21 EUR on 20 November 2026.", "we refund another 7.02 EUR.\n"},
		},
		"a wrong code": {kind: registrar.MailOrderEnded, facts: because("epp_auth_info"), de: []string{"Auth-Code stimmte nicht"}, en: []string{"auth code was wrong"}},
		"the losing registrar's no": {
			kind: registrar.MailOrderEnded, facts: because("transfer_rejected"), deNever: "die Registry hat",
			de: []string{"bisheriger Anbieter hat dem Umzug\n  widersprochen"}, en: []string{"your current provider objected to the transfer.\n  Ask them"},
		},
		"another no":   {kind: registrar.MailOrderEnded, facts: because("unknown_code"), de: []string{"hat den Auftrag nicht angenommen"}, en: []string{"did not accept"}},
		"nothing done": {kind: registrar.MailOrderEnded, facts: orderMailData(map[string]string{"state": "failed"}), de: []string{"18.11.2026 konnte nicht ausgeführt werden"}, en: []string{"could not be completed"}},
		"a payment too many": {
			kind: registrar.MailPaymentRefunded, facts: orderMailData(map[string]string{"refund": "134.11"}),
			de: []string{"den ganzen Betrag von 134,11 EUR"}, en: []string{"134.11 EUR in full"},
		},
		"a refund with a deletion": {
			kind: registrar.MailOrderRefunded,
			facts: orderMailData(map[string]string{
				"refund": "8.21", "reason": "withdrawal", "parts": "1", "part1_name": "neu.de", "part1_gross": "8.21", "part1_deleted": "true", "deleted": "1",
			}),
			de:      []string{"erstatten Ihnen 8,21 EUR, weil Sie den Vertrag widerrufen haben", "neu.de: 8,21 EUR\n  Die Domain löschen wir, wenn", "Rechnungskorrektur"},
			en:      []string{"refunding 8.21 EUR because you withdrew", "neu.de: 8.21 EUR\n  We are deleting the domain, unless", "credit note"},
			deNever: "ändert sich dadurch nichts",
		},
		"a refund with a handover": {
			kind: registrar.MailOrderRefunded,
			facts: orderMailData(map[string]string{
				"refund": "8.21", "reason": "withdrawal", "parts": "1", "part1_name": "neu.de", "part1_gross": "8.21", "part1_deleted": "true", "part1_handed_over": "true", "deleted": "1",
			}),
			de:      []string{"neu.de: 8,21 EUR\n  Die Domain übergeben wir an die Registry DENIC, wenn"},
			en:      []string{"neu.de: 8.21 EUR\n  We are handing the domain over to its registry, DENIC, unless"},
			deNever: "löschen",
		},
		"a refund without one": {
			kind: registrar.MailOrderRefunded, facts: orderMailData(map[string]string{"refund": "5.00", "reason": "goodwill", "parts": "0", "deleted": "0"}),
			de: []string{"erstatten Ihnen 5,00 EUR aus Kulanz.", "meist 5 bis 10 Werktage", "An Ihren Domains ändert sich dadurch nichts"}, en: []string{"refunding 5.00 EUR as a gesture of goodwill.", "doesn't change anything"}, deNever: "widerrufen",
		},
		"a refund of a part": {
			kind:  registrar.MailOrderRefunded,
			facts: orderMailData(map[string]string{"refund": "38.00", "reason": "withdrawal", "parts": "1", "part1_name": "neu.de", "part1_gross": "38.00", "part1_of": "40.34", "deleted": "0", "notice_id": "dcl_1"}),
			de:    []string{"weil Sie den Vertrag widerrufen haben. Das ist ein Teil des Preises.", "neu.de: 38,00 EUR von 40,34 EUR", "Ihren Widerruf bearbeiten wir noch."},
			en:    []string{"withdrew from the contract. This is part of the price.", "neu.de: 38.00 EUR of 40.34 EUR", "still handling your withdrawal"}, deNever: "bleibt trotz des Widerrufs",
		},
		"the last refund of several": {
			kind: registrar.MailOrderRefunded,
			facts: orderMailData(map[string]string{
				"refund": "2.34", "reason": "withdrawal", "parts": "1", "part1_name": "neu.de", "part1_gross": "2.34", "part1_of": "40.34", "part1_last": "true", "deleted": "0", "notice_id": "dcl_1",
			}),
			de: []string{"widerrufen haben. Damit ist der ganze Preis erstattet.", "neu.de: 2,34 EUR, der Rest von 40,34 EUR", "Die Domain bleibt trotz des Widerrufs"},
			en: []string{"withdrew from the contract. With this, the whole price is refunded.", "neu.de: 2.34 EUR, the rest of 40.34 EUR", "The domain stays with you"}, deNever: "ein Teil des Preises",
		},
		"a refund after a termination for cause": {
			kind:  registrar.MailOrderRefunded,
			facts: orderMailData(map[string]string{"refund": "38.00", "reason": "termination", "parts": "1", "part1_name": "neu.de", "part1_gross": "38.00", "part1_of": "40.34", "deleted": "0"}),
			de:    []string{"weil Sie den Vertrag aus wichtigem Grund gekündigt haben."}, en: []string{"because you cancelled the contract for cause."}, deNever: "ändert sich dadurch nichts",
		},
		"a refund paid again": {
			kind: registrar.MailOrderRefunded,
			facts: orderMailData(map[string]string{
				"refund": "8.21", "reason": "failed_item", "parts": "1", "part1_name": "neu.de", "part1_gross": "8.21", "deleted": "0", "returned_on": "2026-11-20",
			}),
			de: []string{"zahlen Ihnen 8,21 EUR noch einmal aus, weil Ihre Bank unsere Erstattung am 20.11.2026 zurückgegeben hat."},
			en: []string{"paying 8.21 EUR again because your bank returned our refund on 20 November 2026."}, deNever: "ändert sich dadurch nichts",
		},
		"a refund that came back": {
			kind: registrar.MailRefundReturned, facts: orderMailData(map[string]string{"refund": "8.21", "parts": "1", "part1_name": "neu.de", "part1_gross": "8.21"}),
			de: []string{"Erstattung von 8,21 EUR", "neu.de: 8,21 EUR", "Das Geld steht Ihnen weiter zu"}, en: []string{"our refund of 8.21 EUR", "neu.de: 8.21 EUR", "The money is still yours"},
		},
		"a month":  {kind: registrar.MailExpiringMonth, facts: orderMailData(nil), de: []string{"neu.de", "15.12.2026"}, en: []string{"neu.de", "15 December 2026"}},
		"a week":   {kind: registrar.MailExpiringWeek, facts: orderMailData(nil), de: []string{"15.12.2026"}, en: []string{"15 December 2026"}},
		"too late": {kind: registrar.MailExpired, facts: orderMailData(nil), de: []string{"zu Ende", "15.12.2026", "verlängern"}, en: []string{"has ended", "15 December 2026"}},
	} {
		for language, wants := range map[string][]string{"de": test.de, "en": test.en} {
			body := renderMail(t, test.kind, language, test.facts)
			for _, want := range append(wants, "https://domains.example/portal") {
				if !hasText(body, want) {
					t.Errorf("%s in %s does not say %q:\n%s", name, language, want, body)
				}
			}
			if language == "de" && test.deNever != "" && hasText(body, test.deNever) {
				t.Errorf("%s says %q:\n%s", name, test.deNever, body)
			}
		}
	}
}

func TestOrderMail_LengthIsBounded(t *testing.T) {
	t.Parallel()
	body := renderMail(t, registrar.MailOrderEnded, "de", orderMailData(map[string]string{"items": "1000000"}))
	if len(body) > 100_000 {
		t.Errorf("the mail has %d bytes", len(body))
	}
}

func TestReceipt_QuotesConsentText(t *testing.T) {
	t.Parallel()
	words := "Ich verlange ausdrücklich, dass Sie sofort beginnen. " + strings.Repeat("Ich weiß, dass mein Widerrufsrecht erlischt. ", 6)
	data := orderMailData(map[string]string{"consent": words, "consent_at": "2026-11-29T22:01:00Z", "withdraw_until": "2026-12-14"})
	for language, want := range map[string]string{"de": "Sie haben am 29.11.2026, 23:01 Uhr MEZ erklärt:", "en": "On 29 November 2026, 23:01 CET you declared:"} {
		body := renderMail(t, registrar.MailOrderPaid, language, data)
		quoted := strings.Join(strings.Fields(body), " ")
		if !strings.Contains(quoted, want+" "+strings.TrimSpace(words)) {
			t.Errorf("in %s:\n%s", language, body)
		}
		if !hasText(body, "Ihre Widerrufsfrist endet mit Ablauf des 14.12.2026 (deutsche Zeit). Das Widerrufsrecht erlischt vorher,") && !hasText(body, "The withdrawal period runs until the end of 14 December 2026, German time. The right to withdraw ends earlier,") {
			t.Errorf("the deadline is missing in %s:\n%s", language, body)
		}
		if none := renderMail(t, registrar.MailOrderPaid, language, orderMailData(nil)); strings.Contains(none, want[:8]+" 29") || strings.Contains(none, "erklärt") || strings.Contains(none, "declared") {
			t.Errorf("a consent without one in the data, in %s:\n%s", language, none)
		}
	}
	endless := renderMail(t, registrar.MailOrderPaid, "de", orderMailData(map[string]string{"consent": strings.Repeat("ja ", 100_000)}))
	if len(endless) > 10_000 {
		t.Errorf("the mail has %d bytes", len(endless))
	}
}

func TestNoticeMail_ShowsOperatorConsentOfEachOrder(t *testing.T) {
	t.Parallel()
	withdrawn := func(more map[string]string) map[string]string {
		data := map[string]string{"number": "dcl_1", "declared": "withdrawal", "name": "Erika", "email": "e@example.de", "contract": "kaffee.de", "orders": "0"}
		maps.Copy(data, more)
		return data
	}
	two := withdrawn(map[string]string{
		"orders": "2", "order1_id": "ord_01jd3c4v5w6x7y8z9abcdefghj", "order1_paid_at": "2026-11-15T12:00:00Z", "order1_consent_at": "2026-11-15T11:58:00Z", "order1_wording": "2026-11-de",
		"order2_id": "ord_01jd3c4v5w6x7y8z9abcdefghk", "order2_paid_at": "", "order2_consent_at": "",
	})
	for name, test := range map[string]struct {
		facts  map[string]string
		de, en string
		never  string
	}{
		"with":      {facts: two, de: "am 15.11.2026, 12:58 Uhr MEZ ausdrücklich verlangt, dass wir sofort beginnen (Wortlaut 2026-11-de)", en: "(wording 2026-11-de)"},
		"without":   {facts: two, de: "Bestellung ord_01jd3c4v5w6x7y8z9abcdefghk: Eine Zustimmung zum Beginn vor Ende der Widerrufsfrist gibt es nicht.", en: "There is no consent"},
		"no order":  {facts: withdrawn(nil), de: "geht keine Bestellung hervor", en: "an order that we know"},
		"in time":   {facts: two, de: "Bestellung", en: "Order", never: "kam später"},
		"late":      {facts: withdrawn(map[string]string{"orders": "1", "order1_id": "ord_1", "order1_period_ended": "2026-12-03"}), de: "endete am 03.12.2026, der Widerruf kam später.", en: "ended on 3 December 2026, before"},
		"business":  {facts: withdrawn(map[string]string{"orders": "1", "order1_id": "ord_1", "order1_business": "true"}), de: "Unternehmen und hat kein Widerrufsrecht", en: "has no right of withdrawal", never: "kam später"},
		"an ending": {facts: withdrawn(map[string]string{"declared": "termination"}), de: "gekündigt", en: "terminated", never: "keine Bestellung hervor"},
	} {
		for language, want := range map[string]string{"de": test.de, "en": test.en} {
			body := strings.Join(strings.Fields(renderMail(t, registrar.MailNoticeReceived, language, test.facts)), " ")
			if !hasText(body, want) || test.never != "" && hasText(body, test.never) {
				t.Errorf("%s in %s: %s", name, language, body)
			}
		}
	}
}

// Pages have a text for each reason, too; package checkout tests that.
func TestOrderMails_EveryFailureReasonHasOwnText(t *testing.T) {
	t.Parallel()
	codes := map[registrar.FailureReason]string{
		registrar.FailureTaken: "name_taken", registrar.FailureHeld: "name_held", registrar.FailureCode: "epp_auth_info", registrar.FailureLocked: "epp_not_eligible", registrar.FailureGone: "epp_missing",
		registrar.FailureOurs: "epp_billing", registrar.FailureFee: "registry_fee_raised", registrar.FailureDenied: "epp_policy", registrar.FailureLoser: "transfer_rejected", registrar.FailureOther: "something_new",
	}
	for _, language := range []string{"de", "en"} {
		seen := make(map[string]registrar.FailureReason)
		for _, reason := range registrar.FailureReasons() {
			kind := "register"
			if reason == registrar.FailureHeld {
				kind = "transfer"
			}
			if registrar.FailureReasonOf(registrar.Code(codes[reason]), kind == "transfer") != reason {
				t.Errorf("%s is no code of %s", codes[reason], reason)
			}
			body := renderMail(t, registrar.MailOrderEnded, language, orderMailData(map[string]string{
				"state": "partially_completed", "refund": "8.21", "item1_kind": kind, "item1_state": "failed", "item1_failure": codes[reason],
			}))
			if other, found := seen[body]; found {
				t.Errorf("in %s, %s and %s have the same text", language, reason, other)
			}
			seen[body] = reason
		}
	}
}

// The ASCII form follows, because letters can look alike.
func TestMails_NamesAreReadable(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[registrar.MailKind]string{
		registrar.MailOrderPaid: "bücher.de (xn--bcher-kva.de)\n", registrar.MailOrderEnded: "bücher.de (xn--bcher-kva.de)\n", registrar.MailAuthCode: "Domain: bücher.de (xn--bcher-kva.de)\n",
		registrar.MailConfirm: "bücher[.]de (xn--bcher-kva[.]de)", // anyone can send it to anyone
	} {
		for _, language := range []string{"de", "en"} {
			subject, body, err := parsed.render(mailer.Message{Kind: kind, Language: language, Data: orderMailData(map[string]string{
				"item1_name": "xn--bcher-kva.de", "domain": "xn--bcher-kva.de", "state": "completed",
			})}, "https://domains.example/portal")
			if err != nil || strings.Contains(subject, "xn--") || !hasText(body, want) {
				t.Errorf("%s in %s: %v, %q\n%s", kind, language, err, subject, body)
			}
			if kind != registrar.MailConfirm && !strings.Contains(subject, "bücher.de") {
				t.Errorf("%s in %s: the subject is %q", kind, language, subject)
			}
		}
	}
}

func TestAlreadyRegisteredMail_LeadsToCheckout(t *testing.T) {
	t.Parallel()
	for language, want := range map[string][]string{
		"de": {"bestellen", "/portal/sign-in?next=%2Fwarenkorb\n", "noch kein Passwort"}, "en": {"place an order", "/portal/sign-in?next=%2Fbasket\n", "no password yet"},
	} {
		buyer := renderMailTo(t, mailer.Message{Kind: registrar.MailAlreadyRegistered, Language: language, NoPassword: true, Data: map[string]string{"basket": "true"}})
		other := renderMail(t, registrar.MailAlreadyRegistered, language, nil)
		for _, words := range want {
			if !strings.Contains(buyer, words) || strings.Contains(other, words) {
				t.Errorf("%s: %q\n%s\n%s", language, words, buyer, other)
			}
		}
	}
}

func TestItemFailedMail_NamesReasonAmountMethodAndTime(t *testing.T) {
	t.Parallel()
	one := map[string]string{"order": "ord_1", "at": "2026-11-15", "domain": "tee.de", "what": "register", "why": "name_taken", "gross": "15.36"}
	both, ok := registrar.JoinMails(one, map[string]string{"order": "ord_1", "at": "2026-11-15", "domain": "milch.de", "what": "transfer", "why": "auth_code_wrong", "gross": "15.35"})
	if !ok {
		t.Fatal("the two are not one mail")
	}
	for language, wants := range map[string][][]string{
		"de": {
			{"Bestellung vom 15.11.2026", "tee.de\n  Registrierung nicht möglich:\n  der Name war inzwischen vergeben", "Wir erstatten 15,36 EUR.", "auf das Zahlungsmittel zurück", "5 bis 10 Werktage", "bearbeiten wir weiter"},
			{"milch.de\n  Umzug nicht möglich:\n  der Auth-Code stimmte nicht", "Wir erstatten 30,71 EUR."},
		},
		"en": {
			{"order of 15 November 2026", "tee.de\n  registration failed:\n  the name has been taken", "We are refunding 15.36 EUR.", "payment method that you paid with", "5 to 10"},
			{"milch.de\n  transfer failed:\n  the auth code was wrong", "We are refunding 30.71 EUR."},
		},
	} {
		for i, data := range []map[string]string{one, both} {
			body := renderMail(t, registrar.MailItemFailed, language, data)
			for _, want := range wants[i] {
				if !hasText(body, want) {
					t.Errorf("%s lacks %q:\n%s", language, want, body)
				}
			}
			for line := range strings.Lines(body) {
				if utf8.RuneCountInString(line) > 79 || strings.HasSuffix(line, " \n") {
					t.Errorf("%s has a bad line: %q", language, line)
				}
			}
		}
	}
	one["gross"] = "0.00"
	paidAndFree, _ := registrar.JoinMails(both, one)
	if body := renderMail(t, registrar.MailItemFailed, "de", paidAndFree); strings.Count(body, "nicht möglich:") != 3 || !hasText(body, "Wir erstatten 30,71 EUR.") {
		t.Errorf("a free one is left out:\n%s", body)
	}
	if body := renderMail(t, registrar.MailItemFailed, "de", one); hasText(body, "erstatten") {
		t.Errorf("a refund of nothing:\n%s", body)
	}
}

func TestOrderMails_ListPartsAndFailuresInTheOrderOfItems(t *testing.T) {
	t.Parallel()
	failed := func(name, position string) map[string]string {
		return map[string]string{"order": "ord_1", "at": "2026-11-15", "domain": name, "what": "register", "why": "name_taken", "gross": "15.36", "position": position}
	}
	joined, ok := registrar.JoinMails(failed("apfel.de", "2"), failed("zebra.de", "0")) // as they failed
	if !ok {
		t.Fatal("the two are not one mail")
	}
	refund := orderMailData(map[string]string{
		"refund": "16.42", "reason": "goodwill", "parts": "2", "part1_name": "zebra.de", "part1_gross": "8.21", "part2_name": "apfel.de", "part2_gross": "8.21", "deleted": "0",
	})
	for kind, data := range map[registrar.MailKind]map[string]string{registrar.MailItemFailed: joined, registrar.MailOrderRefunded: refund} {
		body := renderMail(t, kind, "de", data)
		if first, second := strings.Index(body, "zebra.de"), strings.Index(body, "apfel.de"); first < 0 || second < first {
			t.Errorf("%s:\n%s", kind, body)
		}
	}
}

func TestOrderMails_NameTermAndRenewalPriceOfNewDomains(t *testing.T) {
	t.Parallel()
	data := orderMailData(map[string]string{
		"state": "completed", "item1_paid_until": "2027-11-15", "item1_renewal": "15.35", "item1_renewal_years": "1",
	})
	for kind, wants := range map[registrar.MailKind][2]string{
		registrar.MailOrderCompleted: {"neu.de gehört jetzt Ihnen.\n  Bezahlt bis 15.11.2027. Die Verlängerung kostet derzeit 15,35 EUR\n  brutto für 1 Jahr.\n", "neu.de is yours.\n  Paid until 15 November 2027. Renewal currently costs 15.35 EUR gross\n  for 1 year.\n"},
		registrar.MailOrderEnded:     {"ist registriert\n  Bezahlt bis 15.11.2027.", "registered\n  Paid until 15 November 2027."},
	} {
		for i, language := range []string{"de", "en"} {
			if body := renderMail(t, kind, language, data); !hasText(body, wants[i]) {
				t.Errorf("%s in %s lacks %q:\n%s", kind, language, wants[i], body)
			}
		}
	}
}

func TestOrderMails_NameTransferLockOfNewDomains(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{"de": "Wir sperren sie gegen Umzüge.", "en": "We lock it against transfers."} {
		for _, kind := range []registrar.MailKind{registrar.MailOrderCompleted, registrar.MailOrderEnded} {
			for locked, times := range map[string]int{"": 0, "true": 1} {
				data := orderMailData(map[string]string{"state": "completed", "item1_locked": locked})
				if body := renderMail(t, kind, language, data); strings.Count(body, want) != times {
					t.Errorf("%s in %s, locked %q:\n%s", kind, language, locked, body)
				}
			}
		}
	}
}

func TestOrderMails_RenewalByHandEndsChoiceToExpire(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{"de": "auslaufen zu lassen. Das gilt nicht mehr.", "en": "let it expire. That no longer applies."} {
		data := orderMailData(map[string]string{"state": "completed", "item1_kind": "renew", "item1_paid_until": "2027-11-15", "item1_lifted": "true"})
		if body := renderMail(t, registrar.MailOrderCompleted, language, data); strings.Count(body, want) != 1 {
			t.Errorf("%s:\n%s", language, body)
		}
		delete(data, "item1_lifted")
		if body := renderMail(t, registrar.MailOrderCompleted, language, data); hasText(body, want) {
			t.Errorf("%s, never chosen:\n%s", language, body)
		}
	}
}

func TestOrderMails_SubjectNamesFirstItem(t *testing.T) {
	t.Parallel()
	data := orderMailData(map[string]string{"items": "2", "item1_name": "quittenwerk.com", "item2_name": "ahorn.de"})
	for _, kind := range []registrar.MailKind{registrar.MailOrderPaid, registrar.MailOrderCompleted} {
		message := mailer.Message{Kind: kind, Language: "de", Data: data}
		parsed, err := parseTemplates()
		if err != nil {
			t.Fatal(err)
		}
		subject, body, err := parsed.render(message, "https://domains.example/portal")
		if err != nil || !strings.HasPrefix(subject, "quittenwerk.com und 1 weitere") || strings.Index(body, "quittenwerk.com") > strings.Index(body, "ahorn.de") {
			t.Errorf("%s: %q %v\n%s", kind, subject, err, body)
		}
	}
}

func TestMails_AccountsWithoutPasswordGetMatchingAdvice(t *testing.T) {
	t.Parallel()
	all := map[string]map[registrar.MailKind]mailText{"de": german.allMails(), "en": english.allMails()}
	advice := map[string]*regexp.Regexp{"de": regexp.MustCompile(`(?i)ändern\s+Sie\s+(bitte\s+)?(sofort\s+)?Ihr\s+Passwort`), "en": regexp.MustCompile(`(?i)change\s+your\s+password`)}
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	render := func(kind registrar.MailKind, language string, data map[string]string, noPassword bool) string {
		_, body, err := parsed.render(mailer.Message{Kind: kind, Language: language, Data: data, NoPassword: noPassword, Link: "https://domains.example/x"}, "https://domains.example/portal")
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	advised := 0
	for language, mails := range all {
		for kind := range mails {
			if kind == registrar.MailPasswordChanged || kind == registrar.MailPasswordReset {
				continue // such an account has one
			}
			data := orderMailData(map[string]string{"change": "added"})
			body, without := render(kind, language, data, false), render(kind, language, data, true)
			if advice[language].MatchString(without) {
				t.Errorf("%s in %s tells an account without a password to change it:\n%s", kind, language, without)
			}
			if advice[language].MatchString(body) {
				advised++
				if !strings.Contains(without, "Gerät") && !strings.Contains(without, "device") {
					t.Errorf("%s in %s has no other advice:\n%s", kind, language, without)
				}
			}
			for line := range strings.Lines(without) {
				if utf8.RuneCountInString(line) > 79 && !strings.Contains(line, "http") {
					t.Errorf("%s in %s has a long line: %q", kind, language, line)
				}
			}
		}
	}
	if advised < 20 {
		t.Errorf("only %d mails advise to change a password", advised)
	}
}
