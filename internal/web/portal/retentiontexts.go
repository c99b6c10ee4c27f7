package portal

import "github.com/dotkontor/dotkontor/internal/web/ui"

// retentionTexts say what is kept after the closure of an account, and why; package retention has
// the periods.
var retentionTexts = ui.Texts{
	"retention.title": {"Das bewahren wir auf", "What we keep"},
	"retention.intro": {
		"Diese Daten dürfen oder müssen wir noch behalten. Wir verwenden sie für nichts anderes.",
		"We may or must keep these data. We don't use them for anything else.",
	},
	"retention.data":  {"Daten", "Data"},
	"retention.why":   {"Grund", "Reason"},
	"retention.until": {"längstens bis", "kept at most until"},

	"retention.bookings":     {"Bestellungen, Zahlungen und Rechnungen", "Orders, payments and invoices"},
	"retention.why.bookings": {"Buchungsbelege: § 257 HGB, § 147 AO (8 Jahre)", "Accounting records: § 257 HGB, § 147 AO (8 years)"},
	"retention.tax":          {"Prüfungen Ihrer Umsatzsteuer-ID", "Checks of your VAT ID"},
	"retention.why.tax":      {"Unterlagen für die Besteuerung: § 147 AO (6 Jahre)", "Tax documents: § 147 AO (6 years)"},
	"retention.letters":      {"E-Mails zu Bestellungen, Domains und Fristen, Widerrufe und Kündigungen", "Emails about orders, domains and deadlines, withdrawals and cancellations"},
	"retention.why.letters":  {"Handelsbriefe: § 257 HGB, § 147 AO (6 Jahre)", "Business correspondence: § 257 HGB, § 147 AO (6 years)"},
	"retention.registrations": {
		"Ihre früheren Domains mit ihren Inhabern und Änderungen", "Your former domains with their holders and changes",
	},
	"retention.why.registrations": {
		"Pflicht aus unserem Vertrag mit ICANN (2 Jahre), Art. 17 Abs. 3 Buchst. e DSGVO", "Required by our agreement with ICANN (2 years), Art. 17(3)(e) GDPR",
	},
	"retention.evidence": {
		"Verlauf des Kontos, Zustimmungen zur Verlängerung, Sperren und Zugangstoken", "Account activity, consents to renewal, locks and access tokens",
	},
	"retention.why.evidence": {
		"Nachweis bei Ansprüchen: Art. 17 Abs. 3 Buchst. e DSGVO, §§ 195, 199 BGB (3 Jahre)", "Evidence for claims: Art. 17(3)(e) GDPR, §§ 195, 199 BGB (3 years)",
	},
}
