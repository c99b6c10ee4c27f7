package invoice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// All texts of a document are here because they become part of it: changing the wording
// does not change issued documents. German is the legally binding language; English is
// added for customers who chose it.

// Bilingual is a text in both languages.
type Bilingual struct{ German, English string }

// Text returns the German text, followed by the English one if the customer chose English.
func (b Bilingual) Text(language string, args ...any) string {
	german := fmt.Sprintf(b.German, args...)
	if language != "en" || b.English == b.German {
		return german
	}
	return german + " / " + fmt.Sprintf(b.English, args...)
}

var kindTexts = map[order.Kind]Bilingual{
	order.Register: {"Registrierung", "registration"},
	order.Transfer: {"Umzug zu uns", "transfer to us"},
	order.Renew:    {"Verlängerung", "renewal"},
	order.Restore:  {"Wiederherstellung", "restore"},
}

// Domain returns the name at the beginning of the line's text.
func (l Line) Domain() string {
	name, _, _ := strings.Cut(l.Text, ": ")
	return name
}

// lineText describes an item: name, kind and term, and from when to when the term is, if that is
// known when the document is issued.
func lineText(item order.Item, paidAt time.Time, language string) string {
	what, known := kindTexts[item.Kind]
	if !known {
		what = Bilingual{string(item.Kind), string(item.Kind)}
	}
	switch term := termText(item, paidAt); item.Years {
	case 0:
	case 1:
		what = Bilingual{what.German + ", 1 Jahr" + term, what.English + ", 1 year" + term}
	default:
		what = Bilingual{fmt.Sprintf("%s, %d Jahre%s", what.German, item.Years, term), fmt.Sprintf("%s, %d years%s", what.English, item.Years, term)}
	}
	return displayName(item.Name) + ": " + what.Text(language)
}

// termText returns the days of a term in brackets; empty if only the registry knows them. They are
// the registry's days (UTC), as on all pages and in mails; the other days of a document are Germany's.
func termText(item order.Item, paidAt time.Time) string {
	begins := item.TermEnd
	switch {
	case item.Kind == order.Register && !item.PaidUntil.IsZero(): // it is registered already
		begins = item.PaidUntil.UTC().AddDate(-item.Years, 0, 0)
	case item.Kind == order.Register:
		begins = paidAt
	}
	if begins.IsZero() || item.Kind == order.Transfer {
		return ""
	}
	begins = begins.UTC()
	return fmt.Sprintf(" (%s – %s)", begins.Format(dayLayout), begins.AddDate(item.Years, 0, 0).Format(dayLayout))
}

// displayName is the Unicode form of a name, followed by a different A-label form.
func displayName(name string) string {
	if written, err := idna.Punycode.ToUnicode(name); err == nil && written != name {
		return written + " (" + name + ")"
	}
	return name
}

// reasons say why no VAT is charged, in both languages whatever the customer chose: the
// recipient who owes the tax is abroad.
var reasons = map[Category]string{
	ReverseCharge: "Steuerschuldnerschaft des Leistungsempfängers (Art. 196 MwStSystRL) / Reverse charge: the recipient of the service owes the VAT",
	OutOfScope:    "Nicht im Inland steuerbare Leistung (§ 3a UStG) / Not subject to German VAT: the place of supply is outside the EU",
}

var (
	paidNote = Bilingual{
		"Der Betrag ist am %s vollständig bezahlt worden. Bitte überweisen Sie nichts.",
		"The amount was paid in full on %s. There is nothing left to pay.",
	}
	refundNote = Bilingual{
		"Wir haben den Betrag am %s auf demselben Weg erstattet, auf dem er bezahlt wurde.",
		"We refunded the amount on %s to the original payment method.",
	}
	correctsNote = Bilingual{
		"Diese Rechnungskorrektur gehört zur Rechnung %s vom %s: Die Leistung konnte nicht erbracht werden.",
		"This credit note corrects invoice %s of %s: the service could not be provided.",
	}
	withdrawnNote = Bilingual{
		"Diese Rechnungskorrektur gehört zur Rechnung %s vom %s: Der Vertrag wurde widerrufen.",
		"This credit note corrects invoice %s of %s: the customer withdrew from the contract.",
	}
	reducedNote = Bilingual{
		"Diese Rechnungskorrektur gehört zur Rechnung %s vom %s: Wir haben den Preis ganz oder zum Teil erstattet.",
		"This credit note corrects invoice %s of %s: we have refunded the price in full or in part.",
	}
	// partText is a line about no item in particular, partialText is added to that of an item.
	partText    = Bilingual{"Teilbetrag der Rechnung %s", "part of invoice %s"}
	partialText = Bilingual{" (Teilbetrag)", " (part of the price)"}

	roundedNote = Bilingual{
		"Die Umsatzsteuer ist einmal für die ganze Rechnung gerundet und auf die Positionen verteilt. Deshalb kann der Bruttobetrag einer Position um einen Cent von ihrem Preis in der Bestellung abweichen.",
		"VAT is rounded once for the whole invoice and distributed across the items, so the gross amount of an item may differ by a cent from its price in the order.",
	}
	ossNote = Bilingual{
		"Die Umsatzsteuer ist die des Landes %s; wir führen sie über den One-Stop-Shop der EU ab.",
		"The VAT is that of the country %s; we pay it through the EU's One-Stop-Shop.",
	}
)

// correctionNote says why a refund by an operator, or at the provider, corrects the invoice.
func correctionNote(d Document, refund order.Refund) string {
	note := reducedNote
	if refund.Reason == order.ReasonWithdrawal {
		note = withdrawnNote
	}
	return note.Text(d.Language, d.Corrects.Number, FormatDay(d.Corrects.Day))
}

// notes returns the texts below the totals. country is the one whose VAT is charged.
func notes(d Document, country string) []string {
	var all []string
	if d.Corrects != nil {
		all = append(all, correctsNote.Text(d.Language, d.Corrects.Number, FormatDay(d.Corrects.Day)))
	}
	if d.Reason != "" {
		all = append(all, d.Reason+".")
	}
	if d.Rule == "eu_consumer_oss" && country != "" {
		all = append(all, ossNote.Text(d.Language, country))
	}
	if d.Kind == Invoice && slices.ContainsFunc(d.Lines, func(line Line) bool { return line.Gross != billing.Gross(line.Net, d.RateBasisPoints) }) {
		all = append(all, roundedNote.Text(d.Language))
	}
	paid := paidNote
	if d.Kind == Correction {
		paid = refundNote
	}
	return append(all, paid.Text(d.Language, FormatDay(d.PaidOn)))
}

// dayLayout is how documents write days, in both languages.
const dayLayout = "02.01.2006"

// FormatDay formats a stored day the German way.
func FormatDay(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return at.Format(dayLayout)
}
