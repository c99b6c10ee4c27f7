package operator

import "github.com/dotkontor/dotkontor/internal/web/ui"

var contactCheckTexts = ui.Texts{
	"tab.contacts": {"Inhaberadressen", "Holder addresses"},
	"contacts.intro": {
		"E-Mail-Adressen von Inhabern, die noch nicht bestätigt sind (ICANN, § 49 BSIG). Nach drei Nachrichten und 15 Tagen nehmen wir ihre Domains aus dem DNS, nach der Bestätigung kommen sie sofort zurück. Domains, deren Registry kein clientHold annimmt, bleiben online.",
		"Email addresses of holders that are not confirmed yet (ICANN, § 49 BSIG). After three messages and 15 days, we take their domains out of the DNS; after a confirmation, we put them back at once. Domains whose registry accepts no clientHold stay online.",
	},
	"contacts.none":              {"Alle Adressen sind bestätigt.", "All addresses are confirmed."},
	"contacts.address":           {"Adresse", "Address"},
	"contacts.domains":           {"Domains", "Domains"},
	"contacts.cause":             {"Anlass", "Cause"},
	"contact_cause.registration": {"Registrierung", "Registration"},
	"contact_cause.transfer":     {"Umzug zu uns", "Transfer to us"},
	"contact_cause.change":       {"Neue Adresse des Inhabers", "New address of the holder"},
	"contacts.due":               {"Frist", "Deadline"},
	"contacts.notices":           {"Nachrichten", "Messages"},
	"contacts.state":             {"Stand", "Status"},
	"contact.pending":            {"Wartet auf Bestätigung", "Waiting for confirmation"},
	"contact.suspended":          {"Domains nicht im DNS", "Domains not in the DNS"},
	"contact.overdue":            {"Frist abgelaufen, Domains noch erreichbar", "Deadline passed, domains still online"},
	"contacts.not_asked":         {"Der Status der Domain lässt das nicht zu, oder kein Registry-Konto bedient die Endung", "The domain's status does not allow it, or no registry account serves the extension"},
	"contact_wait.notices":       {"Der Mailserver hat nicht alle Nachrichten angenommen", "The mail server did not accept all messages"},
	"contact_wait.refused":       {"Diese Domains ließen sich nicht aus dem DNS nehmen:", "These domains could not be taken out of the DNS:"},
	"contacts.note":              {"Wie haben Sie die Adresse geprüft?", "How did you verify the address?"},
	"contacts.confirm":           {"Als bestätigt eintragen", "Mark as confirmed"},
	"contacts.confirm_one":       {"Als bestätigt eintragen: {1}", "Mark as confirmed: {1}"},
	"contacts.suspend":           {"Domains aus dem DNS nehmen", "Take domains out of the DNS"},
	"contacts.suspend_one":       {"Domains aus dem DNS nehmen: {1}", "Take domains out of the DNS: {1}"},
	"confirm.contact":            {"Domains dieser Adresse aus dem DNS nehmen?", "Take the domains of this address out of the DNS?"},
	"confirm_about.contact": {
		"Die Domains sind dann nicht mehr erreichbar, bis die Adresse bestätigt ist oder der Inhaber eine andere bekommt. Domains, deren Registry kein clientHold annimmt, bleiben online. Der Kunde erfährt davon per E-Mail.",
		"The domains are then offline until the address is confirmed or the holder gets another one. Domains whose registry accepts no clientHold stay online. The customer gets an email about it.",
	},
	"note.contact_confirmed":        {"Die Adresse ist als bestätigt eingetragen.", "The address is marked as confirmed."},
	"note.contact_suspended":        {"Die Domains werden aus dem DNS genommen.", "The domains are being taken out of the DNS."},
	"problem.contact_note_missing":  {"Bitte schreiben Sie in höchstens 500 Zeichen auf, wie Sie die Adresse geprüft haben.", "Please write in at most 500 characters how you verified the address."},
	"problem.no_such_contact_check": {"Diese Adresse ist inzwischen bestätigt, oder ihre Domains sind aus dem DNS genommen.", "This address has been confirmed in the meantime, or its domains were taken out of the DNS."},
}
