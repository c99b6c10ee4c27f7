package operator

import "github.com/dotkontor/dotkontor/internal/web/ui"

// inquiryTexts are those of messages from the contact form.
var inquiryTexts = ui.Texts{
	"tab.inquiries":       {"Anfragen", "Inquiries"},
	"home.inquiries":      {"Offene Anfragen", "Open inquiries"},
	"home.more_inquiries": {"Weitere Anfragen: {1}", "More open inquiries: {1}"},
	"inquiries.intro": {
		"Nachrichten aus dem Kontaktformular, die dringendste zuerst. Der Absender hat eine Eingangsbestätigung mit der Vorgangsnummer bekommen. Antworten Sie ihm per E-Mail, und schließen Sie den Vorgang mit einer Notiz.",
		"Messages from the contact form, the most urgent first. The sender has an acknowledgement with the reference number. Reply by email, then close the case with a note.",
	},
	"inquiries.none":    {"Keine Anfrage ist offen.", "No inquiries are open."},
	"inquiry.title":     {"Anfrage", "Inquiry"},
	"inquiry.page":      {"Anfrage {1}", "Inquiry {1}"},
	"inquiry.sender":    {"Absender", "Sender"},
	"inquiry.about":     {"Betrifft", "About"},
	"inquiry.domain":    {"Inhaber der Domain suchen", "Find the domain's holder"},
	"inquiry.message":   {"Nachricht", "Message"},
	"inquiry.language":  {"Sprache", "Language"},
	"inquiry.reply_by":  {"Antwort bis", "Reply by"},
	"inquiry.reply":     {"Per E-Mail antworten", "Reply by email"},
	"inquiry.subject":   {"Ihre Anfrage {1}", "Your message {1}"},
	"inquiry.account":   {"Konto des Absenders öffnen", "Open the sender's account"},
	"inquiry.signed_in": {"War angemeldet.", "Was signed in."},
	"inquiry.unverified": {
		"War nicht angemeldet. Ob die Adresse stimmt, ist nicht geprüft: Geben Sie keine Kundendaten heraus, bevor Sie das geklärt haben.",
		"Was not signed in. The address is not verified: don't disclose customer data before you have checked it.",
	},
	"inquiry.language.de": {"Deutsch", "German"},
	"inquiry.language.en": {"Englisch", "English"},
	"inquiry.note_hint": {
		"Ein bis drei Sätze, höchstens {1} Zeichen. Der Vorgang wird ein Jahr danach gelöscht.",
		"One to three sentences, at most {1} characters. The case is deleted a year later.",
	},
	"topic.domain":    {"Domain und Verlängerung", "Domain and renewal"},
	"topic.transfer":  {"Umzug", "Transfer"},
	"topic.payment":   {"Bezahlung und Rechnung", "Payment and invoice"},
	"topic.account":   {"Konto und Anmeldung", "Account and sign-in"},
	"topic.privacy":   {"Datenschutz", "Privacy"},
	"topic.complaint": {"Beschwerde", "Complaint"},
	"topic.abuse":     {"Missbrauch einer Domain", "Abuse of a domain"},
	"topic.other":     {"Anderes", "Other"},
	"problem.inquiry_handled": {
		"Der Vorgang ist schon erledigt. Ihre Notiz wurde nicht gespeichert.",
		"The case has already been handled. Your note was not saved.",
	},
	"mail.inquiry_confirmed": {"Eingangsbestätigung einer Anfrage", "Acknowledgement of an inquiry"},
	"mail.inquiry_received":  {"Anfrage an den Betreiber", "Inquiry, to the operator"},
}
