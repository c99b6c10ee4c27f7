package smtp

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
)

// termMailData are the values of a .com domain whose term ends unpaid.
func termMailData(more map[string]string) map[string]string {
	data := map[string]string{
		"domain": "teeladen.com", "paid_until": "2026-12-15", "unpaid": "delete", "hold_at": "2026-12-25", "delete_at": "2027-01-19", "redemption_days": "30",
		"at": "2026-12-25",
	}
	maps.Copy(data, more)
	return data
}

func TestTermMails_SayWhatHappensAndWhen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind   registrar.MailKind
		facts  map[string]string
		de, en []string
		never  string // in German
	}{
		"unpaid .com": {
			kind: registrar.MailExpiringMonth, de: []string{"nehmen wir die Domain am 25.12.2026 aus", "Frühestens am\n19.01.2027 löschen wir sie", "noch 30 Tage"}, never: "EUR",
			en: []string{"take the domain out of the DNS on 25 December 2026", "delete it on 19 January 2027 at the earliest", "another 30 days"},
		},
		"with a price": {
			kind: registrar.MailExpiringWeek, facts: map[string]string{"domain_id": "dom_1", "renewal": "15.35", "renewal_years": "1", "vat_rate": "1900"},
			de: []string{"auf ihrer Seite:\n\nhttps://domains.example/portal/domains/dom_1\n\nDie Verlängerung kostet derzeit 15,35 EUR inkl. 19 % USt. für 1 Jahr.\n\nOhne"},
			en: []string{"page:\n\nhttps://domains.example/portal/domains/dom_1\n\nRenewal currently costs 15.35 EUR incl. 19% VAT for 1 year.\n\nWithout"},
		},
		"with a price without VAT": {
			kind: registrar.MailExpiringWeek, facts: map[string]string{"renewal": "5.90", "renewal_years": "1", "vat_rate": "0"},
			de: []string{"kostet derzeit 5,90 EUR netto für 1 Jahr.\n"}, en: []string{"costs 5.90 EUR net for 1 year.\n"},
		},
		"expired, with a price": {
			kind: registrar.MailExpired, facts: map[string]string{"renewal": "30.70", "renewal_years": "2", "vat_rate": "1900"},
			de: []string{"30,70 EUR inkl. 19 % USt. für 2 Jahre"}, en: []string{"30.70 EUR incl. 19% VAT for 2 years"},
		},
		"renews automatically": {
			kind: registrar.MailExpiringWeek, facts: map[string]string{"charge_at": "2026-12-01", "gross": "14.28", "vat_rate": "1900"},
			de: []string{"verlängert sich automatisch", "01.12.2026 buchen wir 14,28 EUR inkl. 19 % USt. von"}, en: []string{"1 December 2026 we charge 14.28 EUR incl. 19% VAT to"}, never: "löschen",
		},
		"renews with a card that expires first": {
			kind: registrar.MailExpiringMonth, facts: map[string]string{"charge_at": "2026-12-01", "gross": "14.28", "method_expires": "2026-11"},
			de: []string{"Karte gilt nur bis 11/2026", "/payment-methods"}, en: []string{"only valid through 11/2026", "/payment-methods"}, never: "Sie müssen nichts tun",
		},
		"cancelled": {
			kind: registrar.MailExpiringWeek, facts: map[string]string{"cancelled_at": "2026-11-20", "choice": "expire"}, de: []string{"am 20.11.2026 gekündigt. Die Domain läuft aus, wie Sie es wollten", "vorher auf ihrer Seite"},
			en: []string{"cancelled the contract for this domain on 20 November 2026", "renew it before then"}, never: "Sie haben gewählt",
		},
		"cancelled, expired":     {kind: registrar.MailExpired, facts: map[string]string{"cancelled_at": "2026-11-20"}, de: []string{"am 20.11.2026 gekündigt. Wie Sie es wollten, verlängern wir sie nicht", "jetzt auf ihrer Seite"}, en: []string{"renew it now"}},
		"cancelled, held":        {kind: registrar.MailDomainHeld, facts: map[string]string{"cancelled_at": "2026-11-20"}, de: []string{"nach Ihrer Kündigung vom 20.11.2026"}, en: []string{"after your cancellation of 20 November 2026"}, never: "weil"},
		"cancelled, deleted":     {kind: registrar.MailDomainDeleted, facts: map[string]string{"cancelled_at": "2026-11-20"}, de: []string{"nach Ihrer Kündigung vom 20.11.2026"}, en: []string{"after your cancellation of 20 November 2026"}, never: "weil"},
		"cancelled, handed over": {kind: registrar.MailDomainClosed, facts: map[string]string{"change": "handed_over", "cancelled_at": "2026-11-20"}, de: []string{"nach Ihrer Kündigung vom 20.11.2026"}, en: []string{"after your cancellation of 20 November 2026"}, never: "weil"},
		"withdrawn": {
			kind: registrar.MailExpiringMonth, facts: map[string]string{"withdrawn_at": "2026-11-20", "on_hold": "true"}, de: []string{"am 20.11.2026 widerrufen", "automatische Verlängerung ist deshalb ausgesetzt", "vorher auf ihrer Seite"},
			en: []string{"withdrew from the contract for this domain on 20 November 2026", "Automatic renewal is therefore on hold", "renew it before then"}, never: "verlängert sich automatisch",
		},
		"withdrawn, expired": {kind: registrar.MailExpired, facts: map[string]string{"withdrawn_at": "2026-11-20"}, de: []string{"am 20.11.2026 widerrufen", "jetzt auf ihrer Seite"}, en: []string{"renew it now"}},
		"withdrawn, held":    {kind: registrar.MailDomainHeld, facts: map[string]string{"withdrawn_at": "2026-11-20"}, de: []string{"weil sie nicht verlängert wurde (Ihren Widerruf\nvom 20.11.2026 bearbeiten wir noch)"}, en: []string{"because it was not renewed (we are still\nhandling your withdrawal of 20 November 2026)"}, never: "nach Ihrem Widerruf"},
		"withdrawn, deleted": {kind: registrar.MailDomainDeleted, facts: map[string]string{"withdrawn_at": "2026-11-20"}, de: []string{"gelöscht, weil sie nicht verlängert wurde (Ihren Widerruf\nvom 20.11.2026 bearbeiten wir noch)"}, en: []string{"handling your withdrawal of 20 November 2026)"}, never: "nach Ihrem Widerruf"},
		"withdrawn, gone":    {kind: registrar.MailDomainClosed, facts: map[string]string{"withdrawn_at": "2026-11-20"}, de: []string{"endgültig gelöscht.\nIhren Widerruf vom 20.11.2026 bearbeiten wir noch."}, en: []string{"We are still handling your withdrawal of 20 November 2026."}, never: "Nach Ihrem Widerruf"},
		"cancelled, gone":    {kind: registrar.MailDomainClosed, facts: map[string]string{"cancelled_at": "2026-11-20"}, de: []string{"Nach Ihrer Kündigung vom 20.11.2026 ist sie seit"}, en: []string{"After your cancellation of 20 November 2026, it was deleted"}, never: "nicht verlängert"},
		"let it expire": {
			kind: registrar.MailExpired, facts: map[string]string{"choice": "expire"}, de: []string{"auslaufen zu lassen", "19.01.2027"}, en: []string{"let this domain expire"},
		},
		"transit": {
			kind: registrar.MailExpired, facts: map[string]string{"unpaid": "transit", "delete_at": "2026-12-29"}, de: []string{"am 29.12.2026 an die", "DENIC"}, en: []string{"29 December 2026"},
			never: "wiederherstellen",
		},
		"consent": {kind: registrar.MailExpiringMonth, facts: map[string]string{"unpaid": "consent"}, de: []string{"nur, wenn Sie zustimmen"}, en: []string{"only if you agree"}, never: "19.01.2027"},
		"the registry's": {
			kind: registrar.MailExpiringMonth, facts: map[string]string{"unpaid": "expire"}, de: []string{"nimmt die Registry die Domain spätestens am 25.12.2026 aus\ndem DNS", "Frühestens am 19.01.2027 löscht sie"},
			en: []string{"the registry takes the domain out of the DNS on 25 December 2026 at the\nlatest", "deletes the domain on 19 January 2027 at the earliest"}, never: "löschen wir",
		},
		"the registry's, expired": {
			kind: registrar.MailExpired, facts: map[string]string{"unpaid": "expire", "over": "true", "hold_at": "", "delete_at": "2027-01-24", "expired": "true"},
			de: []string{"hat die Domain mit dem Ende der Laufzeit aus dem DNS\ngenommen", "funktionieren nicht\nmehr", "Frühestens am 24.01.2027 löscht sie"}, en: []string{"took the domain out of the DNS at the end of its term", "on 24 January 2027 at the earliest"}, never: "Ohne Verlängerung",
		},
		"the registry's, expired and renewable": {
			kind: registrar.MailExpired, facts: map[string]string{"unpaid": "expire", "hold_at": "", "delete_at": "2027-01-10", "expired": "true"}, de: []string{"aus dem DNS\ngenommen", "Ohne Verlängerung löscht sie die Domain frühestens am 10.01.2027"}, en: []string{"Without a renewal, it deletes"}, never: "löschen wir",
		},
		"the registry's, expired, to the holder": {
			kind: registrar.MailHolderExpiry, facts: map[string]string{"change": "expired", "unpaid": "expire", "over": "true", "hold_at": "", "delete_at": "2027-01-24", "expired": "true"},
			de: []string{"hat die Domain mit dem Ende der Laufzeit aus dem DNS\ngenommen", "Frühestens am 24.01.2027 löscht sie"}, en: []string{"took the domain out of the DNS"}, never: "löschen wir",
		},
		"runs on unpaid": {
			kind: registrar.MailExpired, facts: map[string]string{"unpaid": "consent", "expired": "true", "reminder": "true"}, de: []string{"noch immer nicht bezahlt", "läuft die Domain weiter", "zählt ab\ndem 15.12.2026", "nur, wenn Sie\nzustimmen"},
			en: []string{"still not been paid for", "continues at the registry", "counts from\n15 December 2026"}, never: "nach diesem Tag",
		},
		"let expire, held":        {kind: registrar.MailDomainHeld, facts: map[string]string{"choice": "expire"}, de: []string{"weil Sie sie auslaufen lassen wollten"}, en: []string{"because you let it expire"}, never: "nicht verlängert wurde"},
		"let expire, deleted":     {kind: registrar.MailDomainDeleted, facts: map[string]string{"choice": "expire"}, de: []string{"weil Sie sie auslaufen lassen wollten"}, en: []string{"because you let it expire"}, never: "nicht verlängert wurde"},
		"let expire, handed over": {kind: registrar.MailDomainClosed, facts: map[string]string{"choice": "expire", "change": "handed_over"}, de: []string{"weil Sie sie auslaufen lassen wollten"}, en: []string{"because you let it expire"}, never: "nicht verlängert wurde"},
		"let expire, gone":        {kind: registrar.MailDomainClosed, facts: map[string]string{"choice": "expire"}, de: []string{"Sie haben sie auslaufen lassen"}, en: []string{"You let it expire"}, never: "Laufzeit war zu Ende"},
		"renews, to the holder": {
			kind: registrar.MailHolderExpiry, facts: map[string]string{"change": "expiring_week", "charge_at": "2026-12-01"}, de: []string{"Am 01.12.2026 soll sie sich automatisch verlängern", "Sie müssen nichts tun", "Haben Sie Fragen?"},
			en: []string{"set to renew automatically on 1 December 2026", "If you have questions"}, never: "behalten",
		},
		"gone, to the holder": {
			kind: registrar.MailHolderExpiry, facts: map[string]string{"change": "domain_deleted"}, de: []string{"gelöscht.", "Haben Sie Fragen?"}, en: []string{"If you have questions"}, never: "behalten",
		},
		"restorable, to the holder": {
			kind: registrar.MailHolderExpiry, facts: map[string]string{"change": "domain_deleted", "until": "2027-01-18"}, de: []string{"behalten"}, en: []string{"If you want to keep it"}, never: "Haben Sie Fragen?",
		},
		"only during the term": {
			kind: registrar.MailExpiringMonth, facts: map[string]string{"unpaid": "expire", "over": "true", "term_end": "2026-12-15T17:55:00Z"}, de: []string{"nur bis zum Ende der Laufzeit, bis 15.12.2026, 18:55 Uhr MEZ. Danach", "nimmt die Registry"},
			en: []string{"only before its term ends, which is on 15 December 2026, 18:55 CET"},
		},
		"deleted when the term ends": {
			kind: registrar.MailExpiringWeek, facts: map[string]string{"over": "true", "term_end": "2026-12-15T17:55:00Z", "hold_at": "", "delete_at": "2026-12-15", "redemption_days": ""}, de: []string{"bis 15.12.2026, 18:55 Uhr MEZ", "löschen wir die Domain zu diesem Zeitpunkt."},
			en: []string{"we delete the domain at that time."}, never: "nach diesem Tag",
		},
		"let expire, deleted with the end of its term": {
			kind: registrar.MailExpired, facts: map[string]string{"choice": "expire", "over": "true", "expired": "true", "hold_at": "", "delete_at": "2026-12-15", "redemption_days": "60", "renewal": "30.70", "renewal_years": "1"},
			de: []string{"gewählt, diese Domain auslaufen zu lassen. Verlängern lässt sie sich bei uns nicht mehr. Wir löschen sie frühestens am 15.12.2026. Danach lässt sie sich noch 60 Tage lang wiederherstellen"},
			en: []string{"You chose to let this domain expire. It can no longer be renewed through us. We delete it on 15 December 2026 at the earliest. After that it can be restored for another 60 days"}, never: "behalten",
		},
		"let expire, deleted with the end of its term, to the holder": {
			kind: registrar.MailHolderExpiry, facts: map[string]string{"change": "expired", "over": "true", "expired": "true", "hold_at": "", "delete_at": "2026-12-15", "redemption_days": "60"},
			de: []string{"nicht mehr. Wir löschen sie frühestens am 15.12.2026. Danach lässt sie sich noch 60 Tage lang wiederherstellen."}, en: []string{"We delete it on 15 December 2026 at the earliest. After that it can be restored for another 60 days."}, never: "behalten",
		},
		"only during the term, to the holder": {
			kind: registrar.MailHolderExpiry, facts: map[string]string{"change": "expiring_week", "over": "true", "hold_at": "", "delete_at": "", "term_end": "2026-12-15T17:55:00Z"}, de: []string{"nur bis 15.12.2026, 18:55 Uhr MEZ. Dann wird sie gelöscht"}, en: []string{"only until 15 December 2026, 18:55 CET"}, never: "nicht mehr.",
		},
		"over, to the holder": {
			kind: registrar.MailHolderExpiry, facts: map[string]string{"change": "expired", "over": "true"}, de: []string{"lässt sie sich bei uns nicht mehr"}, en: []string{"can no longer be renewed"}, never: "nur bis dahin",
		},
		"renews from the next term": {
			kind: registrar.MailExpiringMonth, facts: map[string]string{"next_term": "true"}, de: []string{"dieses Mal selbst, obwohl die automatische Verlängerung eingeschaltet ist: Sie gilt erst ab der nächsten Laufzeit"},
			en: []string{"yourself this time, although automatic renewal is on: it only applies from the next term"}, never: "Sie müssen nichts tun",
		},
		"renews from the next term, expired": {
			kind: registrar.MailExpired, facts: map[string]string{"next_term": "true", "over": "true", "expired": "true"}, de: []string{"war eingeschaltet, galt aber erst ab der nächsten Laufzeit"}, en: []string{"would have applied only from the next term"},
		},
		"new holder, to confirm": {
			kind: registrar.MailHolderNotice, facts: map[string]string{"before": "A", "after": "B", "confirm": "true"}, de: []string{"noch eine zweite Nachricht", "Bitte bestätigen Sie mit dem Link darin"}, en: []string{"You will get a second message"}, never: "müssen Sie nichts tun",
		},
		"new holder, confirmed": {
			kind: registrar.MailHolderNotice, facts: map[string]string{"before": "A", "after": "B"}, de: []string{"müssen Sie nichts tun"}, en: []string{"nothing you need to do"}, never: "abgelehnt",
		},
		"new holder, transfers may be refused": {
			kind: registrar.MailHolderNotice, facts: map[string]string{"before": "A", "after": "B", "locked_until": "2027-01-18"}, de: []string{"Bis 18.01.2027 kann ein Umzug zu einem anderen Anbieter abgelehnt werden"}, en: []string{"may be refused until 18 January 2027"}, never: "zweite Nachricht",
		},
		"holder changed, transfers may be refused": {
			kind: registrar.MailDomainChanged, facts: map[string]string{"change": "holder", "before": "A", "after": "B", "locked_until": "2027-01-18"}, de: []string{"Jetzt:  B\n\nBis 18.01.2027 kann ein Umzug zu einem anderen Anbieter abgelehnt werden"}, en: []string{"may be refused until 18 January 2027"},
		},
		"holders changed, transfers may be refused": {
			kind: registrar.MailDomainChanged, facts: map[string]string{"change": "holder", "locked_until": "2027-01-18", "items": "2", "item1_name": "tee.com", "item1_locked_until": "2027-01-18", "item2_name": "tee.de"},
			de: []string{"tee.com: Umzug kann bis 18.01.2027 abgelehnt werden\n  tee.de\n"}, en: []string{"tee.com: a transfer may be refused until 18 January 2027\n  tee.de\n"}, never: "bei dieser Endung",
		},
		"holder changed, to confirm": {
			kind: registrar.MailDomainChanged, facts: map[string]string{"change": "holder", "before": "A", "after": "B", "confirm": "true"}, de: []string{"Der neue Inhaber muss seine E-Mail-Adresse bestätigen", "/contact-checks"}, en: []string{"the new holder has to confirm", "/contact-checks"},
		},
		"let expire, only during the term": {
			kind: registrar.MailLetExpire, facts: map[string]string{"over": "true", "domain_id": "dom_1", "redemption_days": ""}, de: []string{"Bis\nzum Ende der Laufzeit am 15.12.2026 können Sie es sich anders überlegen. Danach lässt sie\nsich nicht mehr verlängern."},
			en: []string{"Until\nthe end of the term on 15 December 2026, you can change your mind. After that, it can't be\nrenewed"}, never: "Löschung",
		},
		"let expire, restorable": {
			kind: registrar.MailLetExpire, facts: map[string]string{"domain_id": "dom_1", "until": "2027-02-17", "gross": "95.20"},
			de: []string{"aus dem DNS genommen und gelöscht. Bis zur Löschung können", "noch 30 Tage lang wiederherstellen, voraussichtlich bis 17.02.2027. Das kostet derzeit 95,20 EUR, die Verlängerung eingeschlossen. Danach kann sie jeder registrieren."},
			en: []string{"restored for 30 days, probably until 17 February 2027. This currently costs 95.20 EUR, including the renewal."}, never: "deutlich mehr",
		},
		"let expire, not restorable": {
			kind: registrar.MailLetExpire, facts: map[string]string{"redemption_days": "", "domain_id": "dom_1"}, de: []string{"gelöscht; danach kann sie jeder registrieren. Bis zur Löschung"}, en: []string{"deleted; after that, anyone can register it"}, never: "wiederherstellen",
		},
		"let expire after the term": {
			kind: registrar.MailLetExpire, facts: map[string]string{"expired": "true", "domain_id": "dom_1"}, de: []string{"Die Laufzeit ist vorbei; das kann also jederzeit geschehen."},
			en: []string{"The term is over, so this may happen at any time."}, never: "läuft am",
		},
		"terminated, only during the term": {
			kind: registrar.MailContractEnds, facts: map[string]string{"over": "true", "number": "dcl_1", "domain_id": "dom_1", "received_at": "2026-11-15T09:05:00Z", "items": "1", "item1_name": "tee.eu", "item1_paid_until": "2026-12-15"}, de: []string{"Bis zum\nEnde der Laufzeit am 15.12.2026 können Sie die Entscheidung"}, en: []string{"Until\nthe end of the term on 15 December 2026, you can take"},
		},
		"no redemption": {
			kind: registrar.MailExpiringMonth, facts: map[string]string{"hold_at": "", "redemption_days": ""}, de: []string{"löschen wir die Domain frühestens am 19.01.2027", "Wiederherstellen können Sie sie bei uns danach nicht"},
			en: []string{"can't be restored through us"}, never: "Tage lang",
		},
		"held": {kind: registrar.MailDomainHeld, de: []string{"Nicht im DNS seit:  25.12.2026", "Löschung:           frühestens am 19.01.2027", "einige Stunden dauern"}, en: []string{"Deletion:       19 January 2027 at the earliest", "may take a few hours"}},
		"to the holder": {
			kind: registrar.MailHolderExpiry, facts: map[string]string{"change": "expiring_week", "name": "Agentur Nord"}, de: []string{"endet am 15.12.2026", "Agentur Nord", "/kontakt"}, en: []string{"ends on 15 December 2026", "managed by our customer"},
			never: "EUR",
		},
		"held, to the holder": {kind: registrar.MailHolderExpiry, facts: map[string]string{"change": "domain_held"}, de: []string{"am 25.12.2026\naus dem DNS genommen", "19.01.2027"}, en: []string{"took it out of the DNS on 25 December 2026"}, never: "EUR"},
		"deleted": {
			kind: registrar.MailDomainDeleted, facts: map[string]string{"until": "2027-02-18", "gross": "95.20"}, de: []string{"Bis zum 18.02.2027", "95,20 EUR"}, en: []string{"until 18 February 2027", "95.20 EUR"},
		},
		"deleted, premium": {
			kind: registrar.MailDomainDeleted, facts: map[string]string{"until": "2027-02-18"}, de: []string{"Bis zum 18.02.2027", "genauen Preis"}, en: []string{"until 18 February 2027", "exact price"}, never: "EUR",
		},
		"deleted, not restorable": {kind: registrar.MailDomainDeleted, de: []string{"nicht wiederherstellen"}, en: []string{"can't be restored"}, never: "EUR"},
		"deleted, refunded": {
			kind: registrar.MailDomainDeleted, facts: map[string]string{"change": "refunded", "until": "2027-02-18"}, de: []string{"erstattet", "Bis zum 18.02.2027"},
			en: []string{"We refunded the price"}, never: "Bezahlt bis",
		},
		"gone, refunded": {kind: registrar.MailDomainClosed, facts: map[string]string{"change": "refunded"}, de: []string{"erstattet"}, en: []string{"We refunded the price"}, never: "Bezahlt bis"},
		"gone":           {kind: registrar.MailDomainClosed, de: []string{"endgültig gelöscht"}, en: []string{"deleted for good"}, never: "DENIC"},
		"handed over, refunded": {
			kind: registrar.MailDomainClosed, facts: map[string]string{"change": "refunded_handed_over"}, de: []string{"erstattet", "DENIC übergeben"}, en: []string{"We refunded the price", "handed it over"}, never: "Bezahlt bis",
		},
		"handed over":          {kind: registrar.MailDomainClosed, facts: map[string]string{"change": "handed_over"}, de: []string{"DENIC übergeben"}, en: []string{"handed it over"}, never: "endgültig"},
		"renewed after a hold": {kind: registrar.MailDomainRestored, facts: map[string]string{"change": "hold"}, de: []string{"wieder im DNS"}, en: []string{"in the DNS again"}},
		"restored":             {kind: registrar.MailDomainRestored, facts: map[string]string{"change": "redemption"}, de: []string{"wiederhergestellt"}, en: []string{"has been restored"}},
		"data reminder": {
			kind: registrar.MailDataReminder, facts: map[string]string{"registrant_name": "Ada Größe", "registrant_street": "Hauptstr. 1", "registrant_city": "10115 Berlin\r\nBcc: x"},
			de: []string{"  Ada Größe\n  Hauptstr. 1\n  10115 Berlin Bcc: x\n", "Dann müssen Sie nichts tun", "gelöscht wird"}, en: []string{"ICANN requires"}, never: "/holders",
		},
		"data reminder with domains that have other data": {
			kind: registrar.MailDataReminder,
			facts: map[string]string{
				"registrant_name": "Ada", "registrant_country": "GB", "registrant_phone": "+49.30123456", "other_holders": "true",
				"items": "2", "item1_name": "alt.de", "item2_name": "uralt.de", "domains": "5",
			},
			de:    []string{"  Vereinigtes Königreich\n  +49 30 123456\n", "andere", "  alt.de\n  uralt.de\n  und 3 weitere", "/portal/holders/own/domains\n", "/portal/holders\n"},
			en:    []string{"  United Kingdom\n", "and 3 more", "still registered with other details"},
			never: "nichts tun",
		},
	} {
		facts := termMailData(test.facts)
		de, en := renderMail(t, test.kind, "de", facts), renderMail(t, test.kind, "en", facts)
		for _, want := range test.de {
			if !hasText(de, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, de)
			}
		}
		for _, want := range test.en {
			if !hasText(en, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, en)
			}
		}
		if test.never != "" && hasText(de, test.never) {
			t.Errorf("%s says %q:\n%s", name, test.never, de)
		}
	}
}

func TestTermMails_SubjectNamesDomainAndDate(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range termKinds {
		for _, language := range []string{"de", "en"} {
			subject, _, err := parsed.render(mailer.Message{Kind: kind, Language: language, At: time.Now(), Data: termMailData(nil)}, "https://x/")
			if err != nil {
				t.Fatal(err)
			}
			if named := strings.Contains(subject, "teeladen.com"); !named && kind != registrar.MailDataReminder || !strings.Contains(subject, "202") || strings.ContainsAny(subject, "\r\n") {
				t.Errorf("%s in %s: %q", kind, language, subject)
			}
		}
	}
}

func TestTermMails_SubjectSaysWhatIsStillPossible(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		kind   registrar.MailKind
		facts  map[string]string
		de, en string
	}{
		"deleted, restorable":            {registrar.MailDomainDeleted, map[string]string{"until": "2027-02-18"}, "teeladen.com ist gelöscht und bis 18.02.2027 wiederherstellbar", "teeladen.com was deleted and can be restored until 18 February 2027"},
		"deleted":                        {registrar.MailDomainDeleted, nil, "teeladen.com wurde am 25.12.2026 gelöscht", "teeladen.com was deleted on 25 December 2026"},
		"deleted, restorable, to holder": {registrar.MailHolderExpiry, map[string]string{"change": "domain_deleted", "until": "2027-02-18"}, "teeladen.com ist gelöscht und bis 18.02.2027 wiederherstellbar", "teeladen.com was deleted and can be restored until 18 February 2027"},
		"runs on unpaid":                 {registrar.MailExpired, map[string]string{"reminder": "true"}, "teeladen.com ist seit 15.12.2026 nicht bezahlt", "teeladen.com has not been paid for since 15 December 2026"},
		"let expire after the term":      {registrar.MailLetExpire, map[string]string{"expired": "true"}, "teeladen.com wird nicht mehr verlängert, wie gewünscht", "teeladen.com won't be renewed any more, as you chose"},
		"renews, to the holder":          {registrar.MailHolderExpiry, map[string]string{"change": "expiring_month", "charge_at": "2026-12-01"}, "teeladen.com: automatische Verlängerung am 01.12.2026 vorgesehen", "teeladen.com: automatic renewal planned for 1 December 2026"},
	} {
		for language, want := range map[string]string{"de": test.de, "en": test.en} {
			subject, _, err := parsed.render(mailer.Message{Kind: test.kind, Language: language, At: time.Now(), Data: termMailData(test.facts)}, "https://x/")
			if err != nil || subject != want {
				t.Errorf("%s in %s: %q %v", name, language, subject, err)
			}
		}
	}
}

func TestExpiringMail_SubjectNamesDaysLeft(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	month := func(language string) (body string) {
		_, body, err := parsed.render(mailer.Message{Kind: registrar.MailExpiringMonth, Language: language, At: time.Now(), Data: map[string]string{"domain": "laden.de", "paid_until": "2026-12-15", "days_left": "9"}}, "https://x/")
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	if de, en := month("de"), month("en"); !strings.Contains(de, "Domain endet in 9 Tagen:") || !strings.Contains(en, "domain ends in 9 days:") {
		t.Errorf("a short term: %s%s", de, en)
	}
	for days, want := range map[string][2]string{
		"7":    {"Noch 7 Tage: laden.de läuft am 15.12.2026 ab", "7 days left: laden.de expires on 15 December 2026"},
		"next": {"Noch 7 Tage: laden.de bitte bis 15.12.2026 selbst verlängern", "7 days left: laden.de: please renew it yourself by 15 December 2026"},
		"1":    {"Noch 1 Tag: laden.de läuft am 15.12.2026 ab", "1 day left: laden.de expires on 15 December 2026"},
		"":     {"laden.de läuft am 15.12.2026 ab", "laden.de expires on 15 December 2026"},
	} {
		for i, language := range []string{"de", "en"} {
			data := map[string]string{"domain": "laden.de", "paid_until": "2026-12-15", "days_left": days}
			if days == "next" {
				data["days_left"], data["next_term"] = "7", "true"
			}
			subject, _, err := parsed.render(mailer.Message{Kind: registrar.MailExpiringWeek, Language: language, Data: data}, "https://domains.example/portal")
			if err != nil || subject != want[i] {
				t.Errorf("%q days: %q %v", days, subject, err)
			}
		}
	}
}
