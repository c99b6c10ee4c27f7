package operator

import "github.com/dotkontor/dotkontor/internal/web/ui"

// marginTexts are those of the margin page.
var marginTexts = ui.Texts{
	"tab.margin": {"Marge", "Margin"},
	"margin.intro": {
		"Netto-Erlöse abgeschlossener Bestellpositionen und was die Registries dafür berechnen. Rechnungskorrekturen mindern den Erlös in dem Monat, in dem sie ausgestellt werden; erstattete Registry-Gebühren mindern die Kosten. Was Banken zurückholen und was der Zahlungsanbieter berechnet, ist nicht abgezogen.",
		"Net revenue of completed order items, and what registries charge for them. Credit notes reduce the revenue of the month they are issued in; fees that a registry returns reduce the cost. Amounts that banks take back and the payment provider's fees are not deducted.",
	},
	// The header of the file, in the order of its columns.
	"margin.columns": {
		"monat endung positionen erloes_eur kosten_eur marge_eur positionen_ohne_bekannte_kosten erloes_ohne_bekannte_kosten_eur",
		"month tld items revenue_eur cost_eur margin_eur items_of_unknown_cost revenue_of_unknown_cost_eur",
	},
	"margin.none":       {"Für {1} hat noch keine Registry etwas berechnet.", "No registry has charged anything for {1} yet."},
	"margin.chart":      {"Erlös {1} nach Monaten", "Revenue by month, {1}"},
	"margin.chart_text": {"Alle Werte stehen auch in der Tabelle, Verluste nur dort.", "The table has all the values; losses appear only there."},
	"margin.months":     {"Nach Monaten, {1}", "By month, {1}"},
	"margin.extensions": {"Nach Endungen, {1}", "By extension, {1}"},
	"margin.items":      {"Positionen", "Items"},
	"margin.revenue":    {"Erlös", "Revenue"},
	"margin.cost":       {"Kosten", "Cost"},
	"margin.margin":     {"Marge", "Margin"},
	"margin.unknown":    {"Erlös ohne bekannte Kosten", "Revenue without known cost"},
	"margin.unknown_note_one": {
		"Bei einer Position sind die Kosten unbekannt. Sie zählt weder zu den Kosten noch zur Marge. Tragen Sie die Kosten in die Spalten cost_currency, cost_register, cost_renew, cost_transfer und cost_restore der Preisliste ein, damit sie künftig bekannt sind.",
		"The cost of one item is unknown. It is part of neither cost nor margin. To know it in the future, fill in the columns cost_currency, cost_register, cost_renew, cost_transfer and cost_restore of the price list.",
	},
	"margin.unknown_note": {
		"Bei {1} Positionen sind die Kosten unbekannt. Sie zählen weder zu den Kosten noch zur Marge. Tragen Sie die Kosten in die Spalten cost_currency, cost_register, cost_renew, cost_transfer und cost_restore der Preisliste ein, damit sie künftig bekannt sind.",
		"The cost of {1} items is unknown. They are part of neither cost nor margin. To know them in the future, fill in the columns cost_currency, cost_register, cost_renew, cost_transfer and cost_restore of the price list.",
	},
	"prices.below": {"Unter den Kosten", "Below cost"},
	"prices.below_text": {
		"Diese Preise liegen unter dem, was die Registry berechnet. Registrierungen und Umzüge bieten wir dazu nicht an; Verlängerung und Wiederherstellung bleiben möglich, damit Kunden ihre Domains behalten. Mit yes in der Spalte below_cost erlauben Sie den Verkauf.",
		"These prices are lower than what the registry charges. Registrations and transfers are not for sale at them; renewals and restores stay possible, so that customers keep their domains. To allow the sale, put yes in the column below_cost.",
	},
	"prices.below_by": {"{1} unter den Kosten", "{1} below cost"},
	"margin.hidden":   {"Weitere Endungen in der Datei: {1}.", "More extensions in the file: {1}."},
	"margin.file":     {"Als CSV herunterladen", "Download as CSV"},
}
