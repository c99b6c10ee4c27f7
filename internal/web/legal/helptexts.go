package legal

import "github.com/dotkontor/dotkontor/internal/web/ui"

// helpTexts are the texts of help and contact.
var helpTexts = ui.Texts{
	"help.path":         {ui.HelpPath, ui.EnglishHelpPath},
	"contact.path":      {ui.ContactPath, ui.EnglishContactPath},
	"privacy.path":      {ui.PrivacyPath, ui.EnglishPrivacyPath},
	"withdrawal.path":   {ui.WithdrawalPath, ui.EnglishWithdrawalPath},
	"cancellation.path": {ui.CancellationPath, ui.EnglishCancellationPath},

	"help.title": {"Hilfe", "Help"},
	"help.description": {
		"Antworten auf häufige Fragen: registrieren, bezahlen, verlängern, umziehen, Rechnungen, Konto und Datenschutz.",
		"Answers to common questions: registration, payment, renewal, transfer, invoices, your account and privacy.",
	},
	"help.intro": {
		"Antworten auf die häufigsten Fragen. Ist Ihre nicht dabei, schreiben Sie uns.",
		"Answers to the most common questions. If yours is missing, write to us.",
	},
	"help.questions": {"Fragen", "Questions"},
	"help.contact":   {"Kontakt aufnehmen", "Contact us"},

	"contact.title": {"Kontakt", "Contact"},
	"contact.description": {
		"Schreiben Sie uns. Sie bekommen sofort eine Vorgangsnummer.",
		"Write to us. You get a reference number at once.",
	},
	"contact.premium": {
		"Was kostet die Premium-Domain {1} bei der Registrierung und bei jeder Verlängerung?",
		"What does the premium domain {1} cost to register, and for each renewal?",
	},
	"contact.intro": {
		"Schreiben Sie uns. Sie bekommen sofort eine Vorgangsnummer, und ein Mensch antwortet Ihnen per E-Mail.",
		"Write to us. You get a reference number at once, and a person replies by email.",
	},
	"contact.help":    {"Viele Fragen beantwortet die Hilfe.", "The help page answers many questions."},
	"contact.submit":  {"Nachricht senden", "Send message"},
	"contact.privacy": {"Wir speichern Ihre Nachricht, um sie zu beantworten.", "We store your message in order to reply to it."},
	"contact.email":   {"Sie erreichen uns auch unter {1}.", "You can also reach us at {1}."},
	"contact.notices": {"Für Widerruf und Kündigung gibt es eigene Formulare:", "Withdrawals and cancellations have forms of their own:"},
	"contact.sent":    {"Ihre Nachricht ist angekommen", "We have received your message"},
	"contact.sent.text": {
		"Wir schicken eine Bestätigung an {1}.",
		"We are sending a confirmation to {1}.",
	},
	"contact.sent.next": {
		"Bitte nennen Sie diese Nummer, wenn Sie uns in dieser Sache noch einmal schreiben.",
		"Please quote this number if you write to us about this again.",
	},
	"contact.number": {"Vorgangsnummer", "Reference number"},
	"contact.home":   {"Zur Startseite", "Back to the home page"},

	"field.topic":     {"Thema", "Topic"},
	"topic.choose":    {"Bitte wählen", "Please choose"},
	"topic.domain":    {"Domain und Verlängerung", "Domain and renewal"},
	"topic.transfer":  {"Umzug", "Transfer"},
	"topic.payment":   {"Bezahlung und Rechnung", "Payment and invoice"},
	"topic.account":   {"Konto und Anmeldung", "Account and sign-in"},
	"topic.privacy":   {"Datenschutz", "Privacy"},
	"topic.complaint": {"Beschwerde", "Complaint"},
	"topic.abuse":     {"Missbrauch einer Domain melden", "Report abuse of a domain"},
	"topic.other":     {"Anderes", "Something else"},
	"hint.reply":      {"An diese Adresse antworten wir.", "We reply to this address."},
	"hint.about":      {"Wenn es um eine bestimmte Bestellung oder Domain geht.", "If it is about a particular order or domain."},
	"field.message":   {"Nachricht", "Message"},
	"hint.message": {
		"Bitte keine Passwörter, Auth-Codes oder Kartennummern.",
		"Please don't include passwords, auth codes or card numbers.",
	},
	"field.trap": {"Bitte leer lassen", "Please leave this empty"},
	"problem.trapped": {
		"Ihre Nachricht wurde noch nicht gesendet. Bitte klicken Sie noch einmal auf „Nachricht senden“.",
		"Your message has not been sent yet. Please choose “Send message” again.",
	},
	"problem.too_many_inquiries": {
		"Wir haben gerade zu viele Nachrichten erhalten. Bitte versuchen Sie es in {1} noch einmal.",
		"We have received too many messages. Please try again in {1}.",
	},
}
