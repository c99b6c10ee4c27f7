package renewal

import "cmp"

// currentWordings are shown now, by language.
var currentWordings = map[string]string{"de": "2026-11b-de", "en": "2026-11c-en"}

// consentTexts are all texts ever shown. The page, the mail and the operator pages quote
// the same text. Changing a text requires a new version, so that stored consents keep
// theirs. Price, day and payment method are shown next to it and stored with it.
var consentTexts = map[string]string{
	"2026-11b-de": "Ich bin einverstanden, dass Sie jede hier genannte Domain vor dem Ende jeder Laufzeit automatisch verlängern und den dann geltenden Preis von dem " +
		"Zahlungsmittel abbuchen, das dann in meinem Konto als Standard gespeichert ist. " +
		"Preis und Tag kündigen Sie mir mindestens 30 Tage vorher per E-Mail an; mehr als den angekündigten Preis buchen Sie nicht ab. " +
		"Schlägt die Abbuchung fehl, dürfen Sie sie bis zu zweimal wiederholen und teilen mir den Tag vorher mit. " +
		"Ich kann die automatische Verlängerung bis zur Abbuchung jederzeit ausschalten.",
	"2026-11c-en": "I agree that you will renew each domain named here automatically before the end of each term, and charge the price then in force to the payment method " +
		"saved as the default in my account at that time. " +
		"You will email me the price and the date of the charge at least 30 days in advance, and never charge more than you announced. " +
		"If a charge fails, you may try it up to two more times, and will tell me the date beforehand. " +
		"I can turn off automatic renewal at any time before the charge.",
	"2026-11b-en": "I agree that you renew each domain named here automatically before the end of each term and charge the price valid at that time to the payment method " +
		"that is then saved as the default in my account. " +
		"You announce price and day by email at least 30 days ahead and never charge more than announced. " +
		"If the charge fails, you may repeat it up to twice and tell me the day beforehand. " +
		"I can turn automatic renewal off at any time until the charge.",
	"2026-11-de": "Ich bin einverstanden, dass Sie jede hier genannte Domain vor dem Ende jeder Laufzeit automatisch verlängern und den dann geltenden Preis von meinem " +
		"gespeicherten Zahlungsmittel abbuchen. Preis und Tag kündigen Sie mir mindestens 30 Tage vorher per E-Mail an; mehr als den angekündigten Preis buchen Sie nicht ab. " +
		"Schlägt die Abbuchung fehl, dürfen Sie sie bis zu zweimal wiederholen und teilen mir den Tag vorher mit. " +
		"Ich kann die automatische Verlängerung bis zur Abbuchung jederzeit ausschalten.",
	"2026-11-en": "I agree that you renew each domain named here automatically before the end of each term and charge the price valid at that time to my saved payment method. " +
		"You announce price and day by email at least 30 days ahead and never charge more than announced. " +
		"If the charge fails, you may repeat it up to twice and tell me the day beforehand. " +
		"I can turn automatic renewal off at any time until the charge.",
}

// ConsentWording identifies the text currently shown in a language.
func ConsentWording(language string) string {
	return cmp.Or(currentWordings[language], currentWordings["de"])
}

// ConsentText returns the text of a wording; empty if it is unknown.
func ConsentText(wording string) string { return consentTexts[wording] }

// IsCurrentWording reports whether a wording is shown now, in either language. A page
// opened before the text changed does not count; its customer sees the new text first.
func IsCurrentWording(wording string) bool {
	return wording == ConsentWording("de") || wording == ConsentWording("en")
}
