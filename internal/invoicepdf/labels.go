package invoicepdf

import (
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
)

// label is a label of the form: German, the legally binding language, followed by English
// for customers who chose it.
type label struct{ german, english string }

func (l label) localized(language string) string {
	if language != "en" || l.english == l.german {
		return l.german
	}
	return l.german + " / " + l.english
}

// Labels of the form.
var (
	titles = map[invoice.Kind]label{
		invoice.Invoice:    {"Rechnung", "Invoice"},
		invoice.Correction: {"Rechnungskorrektur", "Credit note"},
	}
	labelNumber   = label{"Nummer", "Number"}
	labelDate     = label{"Datum", "Date"}
	labelSupplied = label{"Leistungsdatum", "Supplied on"}
	labelOrder    = label{"Bestellung", "Order"}
	labelPayment  = label{"Zahlung", "Payment"}
	labelVATID    = label{"Ihre USt-IdNr.", "VAT ID"}
	labelCorrects = label{"Zur Rechnung", "For invoice"}
	labelPosition = label{"Pos.", "Pos."}
	labelService  = label{"Leistung", "Service"}
	labelNet      = label{"Netto", "Net"}
	labelVAT      = label{"USt.", "VAT"}
	labelGross    = label{"Brutto", "Gross"}
	labelNetTotal = label{"Nettobetrag", "Net amount"}
	labelVATTotal = label{"Umsatzsteuer", "VAT"}
	labelTotals   = map[invoice.Kind]label{
		invoice.Invoice:    {"Gesamtbetrag", "Total"},
		invoice.Correction: {"Erstattungsbetrag", "Amount refunded"},
	}
	labelPage          = label{"Seite", "Page"}
	labelOurVAT        = label{"USt-IdNr.", "VAT ID"}
	labelTaxNo         = label{"Steuernummer", "Tax number"}
	labelMissingGlyphs = label{
		"Ein leeres Kästchen steht für ein Zeichen, das diese Schrift nicht hat; die beigefügte Datei factur-x.xml hat die volle Schreibweise.",
		"An empty box stands for a character that this font does not have; the attached file factur-x.xml has the full spelling.",
	}
	labelEmbedded = label{
		"Diese Datei enthält die Rechnungsdaten nach EN 16931 als factur-x.xml.",
		"This file contains the invoice data after EN 16931 as factur-x.xml.",
	}
)

// formatMoney formats an amount the German way.
func formatMoney(amount registrar.Cents) string {
	euros, cents, _ := strings.Cut(amount.String(), ".")
	sign := ""
	if rest, negative := strings.CutPrefix(euros, "-"); negative {
		sign, euros = "-", rest
	}
	for at := len(euros) - 3; at > 0; at -= 3 {
		euros = euros[:at] + "." + euros[at:]
	}
	return sign + euros + "," + cents + "\u00a0€"
}

// formatPercent formats basis points the German way.
func formatPercent(basisPoints int) string {
	text := strings.TrimSuffix(strings.TrimRight(registrar.Cents(basisPoints).String(), "0"), ".")
	return strings.Replace(text, ".", ",", 1) + "\u00a0%"
}

// formatDay formats a stored day the German way.
func formatDay(stored string) string {
	at, err := time.Parse(time.DateOnly, stored)
	if err != nil {
		return stored
	}
	return at.Format("02.01.2006")
}
