package ui

import "strings"

var frameTexts = Texts{
	"note.holder_saved_before": {
		"Die Angaben des Inhabers sind gespeichert. Domains, die schon registriert sind, behalten ihre bisherigen Angaben, bis Sie die neuen übernehmen.",
		"The holder's details are saved. Domains that are registered already keep their former details until you apply the new ones.",
	},
	"note.holder_saved_before.link": {"Inhaber verwalten", "Manage holders"},
	"note.registrant_saved_before": {
		"Die Angaben sind gespeichert. Domains, die schon registriert sind, behalten ihre bisherigen Angaben, bis Sie die neuen übernehmen.",
		"Your details are saved. Domains that are registered already keep their former details until you apply the new ones.",
	},
	"note.registrant_saved_before.link": {"Domains mit anderen Angaben", "Domains with other details"},
	"frame.skip":                        {"Zum Inhalt", "Skip to content"},
	"frame.menu":                        {"Bereiche", "Sections"},
	"frame.menu_button":                 {"Menü", "Menu"},
	"frame.basket":                      {"Warenkorb", "Basket"},
	"frame.sign_in":                     {"Anmelden", "Sign in"},
	"frame.sign_out":                    {"Abmelden", "Sign out"},
	"frame.foot":                        {"dotkontor · Domains ohne Preisüberraschung", "dotkontor · domains without price surprises"},

	"declared_renewal.termination": {
		"Für {1} liegt eine Kündigung vor, die wir noch bearbeiten. Bezahlen Sie nur, wenn Sie die Domain doch behalten möchten.",
		"You have cancelled the contract for {1}, and we are still handling that. Pay only if you want to keep the domain after all.",
	},
	"declared_renewal.withdrawal": {
		"Für {1} liegt ein Widerruf vor, den wir noch bearbeiten. Bezahlen Sie nur, wenn Sie die Domain doch behalten möchten.",
		"You have withdrawn from the contract for {1}, and we are still handling that. Pay only if you want to keep the domain after all.",
	},

	"foot.label":        {"Rechtliches", "Legal"},
	"foot.contact":      {"Kontakt", "Contact"},
	"foot.imprint":      {"Impressum", "Legal notice"},
	"foot.terms":        {"AGB", "Terms"},
	"foot.privacy":      {"Datenschutz", "Privacy"},
	"foot.withdrawal":   {"Vertrag widerrufen", "Withdraw from a contract"},
	"foot.cancellation": {"Verträge hier kündigen", "Cancel contracts here"},

	"menu.search":    {"Suche", "Search"},
	"menu.prices":    {"Preise", "Prices"},
	"menu.transfer":  {"Umzug", "Transfer"},
	"menu.help":      {"Hilfe", "Help"},
	"menu.assistant": {"Assistent", "Assistant"},

	"month.0":  {"Januar", "January"},
	"month.1":  {"Februar", "February"},
	"month.2":  {"März", "March"},
	"month.3":  {"April", "April"},
	"month.4":  {"Mai", "May"},
	"month.5":  {"Juni", "June"},
	"month.6":  {"Juli", "July"},
	"month.7":  {"August", "August"},
	"month.8":  {"September", "September"},
	"month.9":  {"Oktober", "October"},
	"month.10": {"November", "November"},
	"month.11": {"Dezember", "December"},

	"menu.overview":        {"Übersicht", "Overview"},
	"menu.domains":         {"Domains", "Domains"},
	"menu.orders":          {"Bestellungen", "Orders"},
	"menu.invoices":        {"Rechnungen", "Invoices"},
	"menu.payment_methods": {"Zahlungsmittel", "Payment methods"},
	"menu.profile":         {"Profil", "Profile"},
	"menu.security":        {"Sicherheit", "Security"},
	"menu.agents":          {"Agenten", "Agents"},
	"menu.operator":        {"Betrieb", "Operations"},
	"menu.activity":        {"Verlauf", "Activity"},

	"field.optional": {"(freiwillig)", "(optional)"},

	"wait.soon":    {"einem Moment", "a moment"},
	"wait.second":  {"einer Sekunde", "one second"},
	"wait.seconds": {"{1} Sekunden", "{1} seconds"},
	"wait.minutes": {"{1} Minuten", "{1} minutes"},

	"failure.home": {"Zum Portal", "Go to the portal"},
	"failure.id": {
		"Wenn Sie sich an uns wenden, nennen Sie bitte diese Anfrage-ID: {1}",
		"If you contact us, please quote this request ID: {1}",
	},
	"failure.start":           {"Zur Suche", "Go to search"},
	"failure.not_found.title": {"Nicht gefunden", "Not found"},
	"failure.not_found": {
		"Diese Seite gibt es nicht, oder sie gehört nicht zu Ihrem Konto.",
		"This page doesn't exist, or it doesn't belong to your account.",
	},
	"failure.invalid.title": {"Das hat nicht geklappt", "That didn't work"},
	"failure.invalid": {
		"Die Anfrage war unvollständig. Bitte gehen Sie zurück und versuchen Sie es noch einmal.",
		"The request was incomplete. Please go back and try again.",
	},
	"failure.too_large":        {"Die Anfrage war zu groß.", "The request was too large."},
	"failure.no_such_method":   {"Diese Adresse unterstützt diese Anfrage nicht.", "This address doesn't support this request."},
	"failure.cross_site.title": {"Anfrage abgelehnt", "Request refused"},
	"failure.cross_site": {
		"Die Anfrage kam von einer anderen Website. Zu Ihrem Schutz wurde nichts geändert.",
		"The request came from another website. For your protection, nothing was changed.",
	},
	"failure.forbidden.title": {"Nicht erlaubt", "Not allowed"},
	"failure.forbidden":       {"Dazu fehlt Ihnen die Berechtigung.", "You don't have permission to do this."},
	"failure.conflict.title":  {"Das geht gerade nicht", "Not possible right now"},
	"failure.conflict": {
		"Das hat sich inzwischen geändert. Bitte laden Sie die Seite neu.",
		"This has changed in the meantime. Please reload the page.",
	},
	"failure.rate_limited.title": {"Bitte warten Sie einen Moment", "Please wait a moment"},
	"failure.rate_limited": {
		"Zu viele Versuche. Bitte versuchen Sie es in {1} wieder.",
		"Too many attempts. Please try again in {1}.",
	},
	"failure.unauthenticated.title": {"Bitte melden Sie sich an", "Please sign in"},
	"failure.unauthenticated":       {"Das hat nicht geklappt. Bitte melden Sie sich an.", "That didn't work. Please sign in."},
	"failure.upstream.title":        {"Gerade nicht erreichbar", "Temporarily unavailable"},
	"failure.upstream": {
		"Ein Teil des Dienstes antwortet nicht. Bitte versuchen Sie es in {1} wieder.",
		"Part of the service isn't responding. Please try again in {1}.",
	},
	"failure.database.title": {"Gerade nicht möglich", "Not possible right now"},
	"failure.database": {
		"Unsere Datenbank ist gestört. Es wurde nichts geändert. Bitte versuchen Sie es in einigen Minuten wieder.",
		"Our database isn't working properly. Nothing was changed. Please try again in a few minutes.",
	},
	"failure.database_unsure": {
		"Unsere Datenbank ist gestört. Bitte warten Sie einige Minuten und sehen Sie dann nach, ob Ihre Änderung angekommen ist, bevor Sie sie wiederholen.",
		"Our database isn't working properly. Please wait a few minutes, then check whether your change went through before you repeat it.",
	},
	"failure.internal.title": {"Ein Fehler bei uns", "An error on our side"},
	"failure.internal": {
		"Bei uns ist ein Fehler aufgetreten. Bitte versuchen Sie es in {1} wieder.",
		"Something went wrong on our side. Please try again in {1}.",
	},
	"failure.mail_off.title": {"E-Mail-Versand nicht verfügbar", "Email is not available"},
	"failure.mail_off": {
		"Dafür müssten wir Ihnen eine E-Mail schicken. Der Versand ist hier nicht eingerichtet. Bitte wenden Sie sich an den Betreiber.",
		"This requires an email from us, but sending email is not set up here. Please contact the operator.",
	},
}

// requirementHolders names who may hold a domain, by the requirement's code.
var requirementHolders = Texts{
	"requires_eu_presence":   {"Inhabern in der EU und im EWR", "holders in the EU and the EEA"},
	"requires_ch_presence":   {"Inhabern in der Schweiz", "holders in Switzerland"},
	"requires_ca_presence":   {"Inhabern in Kanada", "holders in Canada"},
	"requires_au_presence":   {"Inhabern in Australien", "holders in Australia"},
	"requires_nyc_presence":  {"Inhabern in der Stadt New York", "holders in New York City"},
	"requires_no_org_number": {"in Norwegen registrierten Organisationen", "organisations registered in Norway"},
}

// WithRequirements adds one text for each requirement of an extension to texts: the
// sentence with the permitted holders for {holders}, under prefix and the code.
func WithRequirements(texts Texts, prefix string, sentence [2]string) Texts {
	for code, holders := range requirementHolders {
		texts[prefix+code] = [2]string{
			strings.ReplaceAll(sentence[0], "{holders}", holders[0]), strings.ReplaceAll(sentence[1], "{holders}", holders[1]),
		}
	}
	return texts
}
