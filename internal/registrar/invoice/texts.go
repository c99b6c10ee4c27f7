package invoice

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/net/idna"
)

// All texts of a document are here because they become part of it: changing the wording
// does not change issued documents. German is the legally binding language; English is
// added for customers who chose it.

const english = "en"

// bilingual is a text in both languages.
type bilingual struct{ german, english string }

// text returns the German text, followed by English if the customer chose it.
func (w bilingual) text(language string, args ...any) string {
	german := fmt.Sprintf(w.german, args...)
	if language != english {
		return german
	}
	return german + " / " + fmt.Sprintf(w.english, args...)
}

// bothLanguages returns both texts whatever the customer chose: the recipient who owes the
// tax is abroad.
func (w bilingual) bothLanguages() string { return w.german + " / " + w.english }

var kindTexts = map[string]bilingual{
	"register": {"Registrierung", "registration"},
	"transfer": {"Transfer zu uns", "transfer to us"},
	"renew":    {"Verlängerung", "renewal"},
}

// lineText describes an item: name, kind and term.
func lineText(item Item, language string) string {
	what, known := kindTexts[item.Kind]
	if !known {
		what = bilingual{item.Kind, item.Kind}
	}
	switch item.Years {
	case 0:
	case 1:
		what.german, what.english = what.german+", 1 Jahr", what.english+", 1 year"
	default:
		what.german = fmt.Sprintf("%s, %d Jahre", what.german, item.Years)
		what.english = fmt.Sprintf("%s, %d years", what.english, item.Years)
	}
	return displayName(item.Name) + ": " + what.text(language)
}

// displayName returns the Unicode form of a name, followed by the A-label form if it
// differs.
func displayName(name string) string {
	if written, err := idna.Punycode.ToUnicode(name); err == nil && written != name {
		return written + " (" + name + ")"
	}
	return name
}

var reasonTexts = map[Category]bilingual{
	ReverseCharge: {
		"Steuerschuldnerschaft des Leistungsempfängers (§ 13b UStG)",
		"Reverse charge: the recipient of the service owes the VAT",
	},
	OutOfScope: {
		"Nicht im Inland steuerbare Leistung (§ 3a UStG)",
		"Not subject to German VAT: the place of supply is outside the EU",
	},
}

// reason returns why no VAT is charged; empty if it is.
func reason(category Category) string {
	if why, free := reasonTexts[category]; free {
		return why.bothLanguages()
	}
	return ""
}

var (
	paidNote = bilingual{
		"Der Betrag ist am %s vollständig bezahlt worden. Bitte überweisen Sie nichts.",
		"The amount was paid in full on %s. There is nothing left to pay.",
	}
	refundNote = bilingual{
		"Den Betrag haben wir am %s auf dem Weg zurückgegeben, auf dem er bezahlt wurde.",
		"We gave the amount back on %s, in the way in which it was paid.",
	}
	correctsNote = bilingual{
		"Diese Rechnungskorrektur gehört zur Rechnung %s vom %s: Die Leistung konnte nicht erbracht werden.",
		"This credit note belongs to invoice %s of %s: the service could not be provided.",
	}
	ossNote = bilingual{
		"Die Umsatzsteuer ist die des Landes %s; wir führen sie über den One-Stop-Shop der EU ab.",
		"The VAT is that of the country %s; we pay it through the EU's One-Stop-Shop.",
	}
)

// notes returns the texts below the totals. country is the one whose VAT is charged.
func notes(d Document, country string) []string {
	var all []string
	if d.Corrects != nil {
		all = append(all, correctsNote.text(d.Language, d.Corrects.Number, germanDay(d.Corrects.Day)))
	}
	if d.Reason != "" {
		all = append(all, d.Reason+".")
	}
	if d.Rule == "eu_consumer_oss" && country != "" {
		all = append(all, ossNote.text(d.Language, country))
	}
	paid := paidNote
	if d.Kind == Correction {
		paid = refundNote
	}
	return append(all, paid.text(d.Language, germanDay(d.PaidOn)))
}

// germanDay formats a stored day the German way.
func germanDay(day string) string {
	at, err := time.Parse(dayFormat, day)
	if err != nil {
		return strings.TrimSpace(day)
	}
	return at.Format("02.01.2006")
}
