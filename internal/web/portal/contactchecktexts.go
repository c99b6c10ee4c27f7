package portal

import "github.com/dotkontor/dotkontor/internal/web/ui"

var contactCheckTexts = ui.Texts{
	"contact_link.title": {"E-Mail-Adresse bestätigen", "Confirm your email address"},
	"contact_link.intro": {
		"Bestätigen Sie, dass die E-Mail-Adresse, an die wir Ihnen geschrieben haben, Ihnen gehört und dass Sie Inhaber dieser Domains sind:",
		"Confirm that the email address we wrote to is yours and that you are the holder of these domains:",
	},
	"contact_link.further":   {"und {1} weitere", "and {1} more"},
	"contact_link.stranger":  {"Gehören die Domains nicht Ihnen? Dann bestätigen Sie bitte nichts.", "Aren't these domains yours? Then please don't confirm anything."},
	"contact_link.submit":    {"Adresse bestätigen", "Confirm address"},
	"contact_link.confirmed": {"Adresse bestätigt", "Address confirmed"},
	"contact_link.confirmed_text": {
		"Vielen Dank. Ihre E-Mail-Adresse ist bestätigt, mehr müssen Sie nicht tun. Domains, die deshalb nicht im DNS waren, nehmen wir jetzt wieder auf.",
		"Thank you. Your email address is confirmed, and there is nothing else to do. We are now putting back any domains that we took out of the DNS for this reason.",
	},
	"contact_link.obsolete":      {"Nichts mehr zu bestätigen", "Nothing left to confirm"},
	"contact_link.obsolete_text": {"Diese Adresse muss nicht mehr bestätigt werden.", "This address no longer has to be confirmed."},
	"contact_link.invalid": {
		"Dieser Link ist abgelaufen oder unvollständig. Nehmen Sie den Link aus unserer neuesten E-Mail, oder bitten Sie die Stelle, die Ihre Domains betreut, Ihnen die E-Mail noch einmal schicken zu lassen.",
		"This link has expired or is incomplete. Use the link in our latest message, or ask whoever manages your domains to have the message sent again.",
	},
	"contact_checks.title": {"Unbestätigte Adressen", "Unconfirmed addresses"},
	"contact_checks.intro": {
		"Innerhalb von 15 Tagen muss jeder Inhaber seine E-Mail-Adresse bestätigen (ICANN, § 49 BSIG). Wir haben dazu an diese Adressen geschrieben. Ohne Bestätigung müssen wir die Domains aus dem DNS nehmen.",
		"Every holder has to confirm their email address within 15 days (ICANN, § 49 BSIG). We have written to these addresses. Without a confirmation, we have to take the domains out of the DNS.",
	},
	"contact_checks.wrong": {
		"Ist eine Adresse falsch? Dann ändern Sie den Inhaber auf der Seite der Domain.",
		"If an address is wrong, change the holder on the domain's page.",
	},
	"contact_checks.none":       {"Alle Adressen sind bestätigt.", "All addresses are confirmed."},
	"contact_checks.until":      {"Zu bestätigen bis", "To be confirmed by"},
	"contact_checks.state":      {"Stand", "Status"},
	"contact_checks.pending":    {"Wartet auf Bestätigung", "Waiting for confirmation"},
	"contact_checks.overdue":    {"Frist abgelaufen", "Deadline passed"},
	"contact_checks.suspended":  {"Domains nicht im DNS", "Domains not in the DNS"},
	"contact_checks.resend":     {"E-Mail noch einmal schicken", "Send the message again"},
	"contact_checks.resend_one": {"E-Mail noch einmal an {1} schicken", "Send the message to {1} again"},
	"note.contact_resent":       {"Die E-Mail ist unterwegs.", "The message is on its way."},
	"note.contact_resent_before": {
		"Die E-Mail wurde gerade erst verschickt. In einer Stunde können Sie sie noch einmal schicken lassen.",
		"The message was sent only a short time ago. You can have it sent again in an hour.",
	},
	"note.contact_confirmed": {"Diese Adresse muss nicht mehr bestätigt werden.", "This address no longer has to be confirmed."},
	"contact_check.pending": {
		"Der Inhaber hat seine E-Mail-Adresse {1} noch nicht bestätigt. Bestätigt er sie nicht bis zum {2}, müssen wir die Domain danach aus dem DNS nehmen.",
		"The holder has not confirmed the email address {1} yet. Without a confirmation by the end of {2}, German time, we have to take the domain out of the DNS after that day.",
	},
	"contact_check.pending_kept": {
		"Der Inhaber hat seine E-Mail-Adresse {1} noch nicht bestätigt. Bestätigt er sie nicht bis zum {2}, bleibt die Domain trotzdem im DNS, weil die Registry uns etwas anderes nicht erlaubt. Wir prüfen dann den Fall und melden uns bei Ihnen.",
		"The holder has not confirmed the email address {1} yet. Without a confirmation by the end of {2}, German time, the domain stays in the DNS all the same, as the registry doesn't let us do otherwise. We will then look into the case and contact you.",
	},
	"contact_check.overdue_kept": {
		"Der Inhaber hat seine E-Mail-Adresse {1} nicht bis zum {2} bestätigt. Die Domain bleibt im DNS, weil die Registry uns etwas anderes nicht erlaubt. Wir prüfen den Fall und melden uns bei Ihnen.",
		"The holder did not confirm the email address {1} by {2}. The domain stays in the DNS, as the registry doesn't let us do otherwise. We are looking into the case and will contact you.",
	},
	"contact_check.overdue": {
		"Der Inhaber hat seine E-Mail-Adresse {1} nicht bis zum {2} bestätigt. Wir müssen die Domain jetzt aus dem DNS nehmen; noch ist sie erreichbar.",
		"The holder did not confirm the email address {1} by {2}. We have to take the domain out of the DNS now; it is still online.",
	},
	"contact_check.suspended": {
		"Diese Domain ist nicht im DNS und nicht erreichbar, weil der Inhaber seine E-Mail-Adresse {1} nicht bestätigt hat. Nach der Bestätigung nehmen wir sie sofort wieder auf; bis sie überall erreichbar ist, kann es einige Stunden dauern.",
		"We took this domain out of the DNS because the holder has not confirmed the email address {1}. Once it is confirmed, we put the domain back at once; it can take a few hours until it works everywhere.",
	},
	"contact_checks.kept": {
		"Auch ohne Bestätigung im DNS, weil die Registry uns etwas anderes nicht erlaubt: {1}",
		"Staying in the DNS even without a confirmation, as the registry doesn't let us do otherwise: {1}",
	},
	"line.contact.pending": {
		"Der Inhaber hat seine Adresse {1} noch nicht bestätigt. Ohne Bestätigung nach dem {2} nicht mehr erreichbar.",
		"The holder has not confirmed the address {1} yet. Offline after {2} without a confirmation.",
	},
	"line.contact.pending_kept": {
		"Der Inhaber muss seine Adresse {1} bis zum {2} bestätigen.",
		"The holder must confirm the address {1} by {2}.",
	},
	"line.contact.overdue": {
		"Der Inhaber hat seine Adresse {1} nicht bis zum {2} bestätigt. Noch erreichbar, bis wir den Eintrag im DNS entfernen.",
		"The holder did not confirm the address {1} by {2}. Still online until we remove the DNS entry.",
	},
	"line.contact.overdue_kept": {
		"Der Inhaber hat seine Adresse {1} nicht bis zum {2} bestätigt. Wir prüfen den Fall und melden uns bei Ihnen.",
		"The holder did not confirm the address {1} by {2}. We are looking into the case and will contact you.",
	},
	"line.contact.suspended": {
		"Nicht im DNS und nicht erreichbar: Der Inhaber hat seine Adresse {1} nicht bis zum {2} bestätigt.",
		"Not in the DNS and offline: the holder did not confirm the address {1} by {2}.",
	},
	"do.contact": {"Ansehen", "View"},

	// An operator's lock takes a domain out of the DNS, too.
	"hold.title":            {"Wir haben diese Domain aus dem DNS genommen", "We have taken this domain out of the DNS"},
	"hold.begun":            {"Wir nehmen diese Domain aus dem DNS", "We are taking this domain out of the DNS"},
	"hold.held":             {"nicht im DNS", "not in the DNS"},
	"hold.pending":          {"wird aus dem DNS genommen", "being taken out of the DNS"},
	"hold.since":            {"Seit dem {1}, {2}", "Since {1}, {2}"},
	"hold_cause.chargeback": {"weil eine Zahlung zurückgeholt wurde", "because a payment was charged back"},
	"hold_cause.udrp":       {"wegen eines Verfahrens um den Namen (UDRP)", "because of a domain name dispute (UDRP)"},
	"hold_cause.court":      {"wegen einer gerichtlichen oder behördlichen Anordnung", "because of an order by a court or an authority"},
	"hold_cause.abuse":      {"wegen einer Meldung über Missbrauch", "because of a report of abuse"},
	"hold.effect": {
		"Website und E-Mail unter der Domain funktionieren nicht, solange die Sperre gilt. Umzug, Auth-Code und Inhaberwechsel gehen so lange nicht. Ihre Laufzeit und Verlängerungen ändern sich nicht.",
		"The domain's website and email don't work while the lock applies. Transfers, auth codes and changes of the holder are not possible. Its term and renewals don't change.",
	},
	"lock.title": {"Änderungen an dieser Domain sind gesperrt", "Changes to this domain are locked"},
	"lock.effect": {
		"Website und E-Mail sind davon nicht betroffen. Was so lange nicht geht, steht unten an seiner Stelle.",
		"Website and email are not affected. What isn't possible meanwhile is said below, where you would do it.",
	},
	"hold.what": {
		"Beheben Sie bitte den Grund und schreiben Sie uns. Schreiben Sie uns auch, wenn Sie die Sperre für einen Irrtum halten.",
		"Please resolve the reason and write to us. Also write to us if you think that the lock is a mistake.",
	},
}
