package legal

import "github.com/dotkontor/dotkontor/internal/web/ui"

// texts are the texts of these pages except the long ones.
var texts = ui.Texts{
	"legal.description": {
		"Angaben des Anbieters, Bedingungen, Datenschutz, Widerruf und Kündigung.",
		"Legal notice, terms, privacy, withdrawal and cancellation.",
	},
	"legal.unset": {
		"Der Betreiber dieses Dienstes hat seine Angaben noch nicht veröffentlicht.",
		"The operator of this service has not published their details yet.",
	},
	"imprint.title":    {"Impressum", "Legal notice"},
	"terms.title":      {"Allgemeine Geschäftsbedingungen", "Terms and conditions"},
	"privacy.title":    {"Datenschutz", "Privacy"},
	"withdrawal.title": {"Vertrag widerrufen", "Withdraw from a contract"},
	"withdrawal.intro": {
		"Sie brauchen kein Konto und keinen Grund. Wir bestätigen den Eingang sofort per E-Mail.",
		"You need neither an account nor a reason. We confirm receipt by email immediately.",
	},
	"withdrawal.submit":  {"Widerruf bestätigen", "Confirm withdrawal"},
	"cancellation.title": {"Verträge hier kündigen", "Cancel contracts here"},
	"cancellation.intro": {
		"Sie brauchen kein Konto. Wir bestätigen den Eingang sofort per E-Mail.",
		"You don't need an account. We confirm receipt by email immediately.",
	},
	"cancellation.submit": {"Jetzt kündigen", "Cancel now"},
	"field.name":          {"Name", "Name"},
	"field.contract":      {"Bestellnummer oder Domain", "Order number or domain"},
	"hint.contract": {
		"Daran erkennen wir den Vertrag, zum Beispiel meine-firma.de.",
		"How we identify the contract, for example my-company.com.",
	},
	"field.email":          {"E-Mail-Adresse", "Email address"},
	"hint.email":           {"An diese Adresse schicken wir die Bestätigung.", "We send the confirmation to this address."},
	"field.ground":         {"Art der Kündigung", "Type of cancellation"},
	"ground.ordinary":      {"ordentlich, zum Ende der Laufzeit", "ordinary, at the end of the term"},
	"ground.extraordinary": {"außerordentlich, aus wichtigem Grund", "for cause, with immediate effect"},
	"field.reason":         {"Grund", "Reason"},
	"hint.reason":          {"Nur nötig, wenn Sie außerordentlich kündigen.", "Required only for cancellation for cause."},
	"field.end":            {"Kündigen zum", "Cancel as of"},
	"hint.end": {
		"Ohne Angabe: zum nächstmöglichen Zeitpunkt. Eine außerordentliche Kündigung wirkt mit ihrem Eingang; ein angegebener Tag gilt dann nicht.",
		"If empty: the earliest possible date. A cancellation for cause takes effect when we receive it, and no date is used.",
	},
	"problem.fields": {
		"Bitte prüfen Sie die markierten Angaben. Abgeschickt wurde noch nichts.",
		"Please check the marked fields. Nothing has been sent yet.",
	},
	"problem.field_missing":  {"Diese Angabe fehlt.", "This field is required."},
	"problem.field_too_long": {"Das ist zu lang.", "This is too long."},
	"problem.field_form":     {"Diese Angabe hat nicht das richtige Format.", "This isn't in the right format."},
	"problem.field_past":     {"Dieser Tag liegt in der Vergangenheit.", "This date is in the past."},
	"problem.email": {
		"Bitte geben Sie eine E-Mail-Adresse an, zum Beispiel erika@example.de.",
		"Please enter an email address, for example erika@example.com.",
	},
	"problem.end": {"Bitte geben Sie einen Tag an.", "Please enter a date."},
	"problem.receipt_expired": {
		"Die Adresse dieser Bestätigung gilt nicht mehr. Denselben Inhalt hat die E-Mail, die wir Ihnen geschickt haben.",
		"The address of this confirmation is no longer valid. The email we sent you has the same content.",
	},
	"problem.too_many_declarations": {
		"Von Ihrem Anschluss kamen zu viele Erklärungen. Bitte versuchen Sie es in {1} noch einmal, oder schreiben Sie an {2}.",
		"Too many notices were sent from here. Please try again in {1}, or write to {2}.",
	},
	"problem.too_many_declarations.imprint": {
		"Von Ihrem Anschluss kamen zu viele Erklärungen. Bitte versuchen Sie es in {1} noch einmal, oder schicken Sie Ihre Erklärung an die Anschrift im Impressum.",
		"Too many notices were sent from here. Please try again in {1}, or send your notice to the address in the legal notice.",
	},
	"notice.at_once":           {"mit Eingang", "on receipt"},
	"notice.title.withdrawal":  {"Ihr Widerruf ist eingegangen", "We received your withdrawal"},
	"notice.title.termination": {"Ihre Kündigung ist eingegangen", "We received your cancellation"},
	"notice.text": {
		"Wir schicken eine Bestätigung mit diesem Inhalt an {1}.",
		"We are sending a confirmation with this content to {1}.",
	},
	"notice.content":     {"Ihre Erklärung", "Your notice"},
	"notice.at":          {"Eingegangen", "Received"},
	"notice.number":      {"Nummer", "Number"},
	"notice.kind":        {"Erklärung", "Notice"},
	"notice.withdrawal":  {"Widerruf", "withdrawal"},
	"notice.termination": {"Kündigung", "cancellation"},
	"notice.soonest":     {"nächstmöglichen Zeitpunkt", "the earliest possible date"},
	"notice.renewal": {
		"Ist es Ihr Konto und steht die Domain oder Bestellnummer oben, beginnen wir dafür keine automatische Abbuchung, solange wir die Kündigung bearbeiten. Ist die automatische Verlängerung eingeschaltet, bestätigen wir das beim ersten Mal an die E-Mail-Adresse des Kontos.",
		"If it is your account and the domain or order number is listed above, we start no automatic charge for it while we process the cancellation. If automatic renewal is on, we confirm this once to the account's email address.",
	},
	"notice.keep": {"Sie können diese Seite drucken oder speichern.", "You can print or save this page."},
}
