package portal

import "github.com/dotkontor/dotkontor/internal/web/ui"

// transferTexts are about transfers to other registrars.
var transferTexts = ui.Texts{
	"away.title":                  {"Umzug von {1}", "Transfer of {1}"},
	"away.none":                   {"Für diese Domain ist kein Umzug zu einem anderen Anbieter bekannt.", "There is no known transfer of this domain to another provider."},
	"away.back":                   {"Zur Domain", "Back to the domain"},
	"domain_page.leaving_history": {"Umzüge zu anderen Anbietern", "Transfers to other providers"},
	"away.steps":                  {"Schritte", "Steps"},
	"away.timeline":               {"Verlauf", "Timeline"},
	"away.view":                   {"Umzug ansehen", "View the transfer"},
	"away.alert": {
		"Ein anderer Anbieter will diese Domain übernehmen. Am {1} zieht sie um, wenn der Umzug nicht vorher endet.",
		"Another provider wants to take over this domain. It moves on {1} unless the transfer ends before then.",
	},
	"away.alert_undated": {"Ein anderer Anbieter will diese Domain übernehmen.", "Another provider wants to take over this domain."},
	"away.gaining":       {"Neuer Anbieter", "New provider"},
	"away.gaining_hint":  {"Kennung bei der Registry", "ID at the registry"},
	"away.unknown":       {"nennt die Registry nicht", "not named by the registry"},
	"away.requested":     {"Beantragt", "Requested"},
	"away.acts":          {"Zieht um am", "Moves on"},
	"away.state":         {"Stand", "Status"},
	"away.nothing": {
		"Wollen Sie umziehen? Dann brauchen Sie nichts zu tun.",
		"If you want this transfer, you don't need to do anything.",
	},
	"away.stop_title":     {"Umzug stoppen", "Stop the transfer"},
	"away.stop_text":      {"Wollen Sie nicht umziehen? Dann widersprechen Sie hier. Wir lehnen den Umzug bei der Registry ab und bewahren Ihren Widerspruch auf.", "If you don't want to move, object here. We reject the transfer at the registry and keep your objection on record."},
	"away.stop_statement": {"Ich widerspreche dem Umzug von {1} zu einem anderen Anbieter.", "I object to the transfer of {1} to another provider."},
	"away.stop":           {"Umzug stoppen", "Stop the transfer"},
	"away.approve_title":  {"Sofort umziehen", "Move now"},
	"away.approve_text": {
		"Mit Ihrer Zustimmung zieht die Domain sofort um. Das lässt sich nicht zurücknehmen.",
		"If you approve, the domain moves at once. You can't undo this.",
	},
	"away.approve_statement": {"Ich stimme dem Umzug von {1} zu einem anderen Anbieter zu.", "I approve the transfer of {1} to another provider."},
	"away.approve":           {"Dem Umzug zustimmen", "Approve the transfer"},
	"away.forbidden": {
		"Wegen einer Sperre können Sie dem Umzug nicht zustimmen.",
		"Because of a lock, you can't approve the transfer.",
	},
	"away.unanswerable": {
		"Die Registry dieser Endung lässt uns den Umzug weder ablehnen noch bestätigen. Wollen Sie nicht umziehen? Bitten Sie den neuen Anbieter, den Umzug abzubrechen, ändern Sie Ihr Passwort und schreiben Sie uns sofort.",
		"The registry of this extension lets us neither refuse nor approve the transfer. If you don't want it, ask the new provider to cancel it, change your password and contact us at once.",
	},
	"away.again": {
		"Einen Umzug stoppen oder bestätigen Sie nur kurz nach einer Anmeldung. Bitte bestätigen Sie, dass Sie es sind.",
		"To stop or approve a transfer, you must have signed in recently. Please confirm it's you.",
	},
	"away.refused": {
		"Die Registry hat unsere letzte Antwort nicht angenommen. Der Umzug läuft weiter. Versuchen Sie es noch einmal oder schreiben Sie uns.",
		"The registry did not accept our last answer. The transfer goes on. Try again or contact us.",
	},
	"away.lock": {
		"Bis {1} kann ein Umzug abgelehnt werden: {2} gilt bei dieser Endung eine Frist von {3} Tagen.",
		"A transfer may be refused until {1}: this extension allows that for {3} days {2}.",
	},
	"lock_event.registration":      {"Nach der Registrierung", "after registration"},
	"lock_event.transfer":          {"Nach einem Umzug", "after a transfer"},
	"lock_event.registrant_change": {"Nach einem Inhaberwechsel", "after a change of holder"},

	"away_state.new":       {"beantragt", "requested"},
	"away_state.pending":   {"beantragt", "requested"},
	"away_state.stopping":  {"wird gestoppt", "being stopped"},
	"away_state.approving": {"Zustimmung unterwegs", "approval on its way"},
	"away_state.ending":    {"wird geprüft", "being checked"},
	"away_state.stopped":   {"gestoppt", "stopped"},
	"away_state.approved":  {"umgezogen", "moved"},
	"away_state.completed": {"umgezogen", "moved"},
	"away_state.cancelled": {"abgebrochen", "cancelled"},
	"away_state.kept":      {"beendet, nicht umgezogen", "ended, not moved"},

	"away_event.requested": {"Beantragt", "Requested"},
	"away_event.objection": {"Widerspruch des Inhabers", "Holder's objection"},
	"away_event.rejection": {"Von uns abgelehnt", "Rejected by us"},
	"away_event.approval":  {"Zustimmung", "Approval"},
	"away_event.acts":      {"Zieht um am", "Moves on"},
	"away_event.stopped":   {"Gestoppt, Domain bleibt", "Stopped, domain stays"},
	"away_event.approved":  {"Umgezogen nach Zustimmung", "Moved after approval"},
	"away_event.completed": {"Umgezogen", "Moved"},
	"away_event.cancelled": {"Abgebrochen, Domain bleibt", "Cancelled, domain stays"},
	"away_event.kept":      {"Beendet, nicht umgezogen", "Ended, not moved"},

	"problem.transfer_statement_missing": {"Bitte setzen Sie das Häkchen vor den Satz.", "Please tick the box next to the sentence."},
	"problem.outgoing_transfer_decided": {
		"Über diesen Umzug ist schon entschieden, oder er ist beendet. Den Stand sehen Sie unten.",
		"This transfer was already decided or has ended. See its status below.",
	},
	"problem.outgoing_transfer_not_answerable": {
		"Die Registry dieser Endung lässt uns diesen Umzug weder ablehnen noch bestätigen.",
		"The registry of this extension lets us neither refuse nor approve this transfer.",
	},
	"problem.outgoing_transfer_not_approvable": {
		"Wegen einer Sperre können Sie dem Umzug nicht zustimmen.",
		"Because of a lock, you can't approve the transfer.",
	},

	"note.away_stopped": {
		"Der Umzug ist gestoppt. Die Domain bleibt bei uns. Der Auth-Code gilt weiter: Sperren Sie die Domain oder fordern Sie einen neuen Code an, sonst kann der Umzug erneut beantragt werden.",
		"The transfer is stopped. The domain stays with us. Its auth code still works: lock the domain or request a new code, or the transfer can be requested again.",
	},
	"note.away_stopping": {
		"Ihr Widerspruch ist gespeichert. Die Registry hat noch nicht geantwortet; wir versuchen es weiter und schreiben Ihnen, wie es ausgeht.",
		"Your objection is stored. The registry has not answered yet; we keep trying and email you the result.",
	},
	"note.away_approving": {
		"Ihre Zustimmung ist gespeichert. Die Registry hat noch nicht geantwortet; wir versuchen es weiter und schreiben Ihnen, wie es ausgeht.",
		"Your approval is stored. The registry has not answered yet; we keep trying and email you the result.",
	},
	"note.away_left": {"Die Domain ist umgezogen.", "The domain has moved."},
	"problem.transfer_stopped_too_late": {
		"Zu spät: Die Domain war schon umgezogen, bevor die Registry Ihren Widerspruch bekam. Bitte schreiben Sie uns.",
		"Too late: the domain had already moved when your objection reached the registry. Please contact us.",
	},
	"note.away_over": {
		"Der Umzug war schon beendet. Die Domain ist nicht umgezogen.",
		"The transfer was already over. The domain has not moved.",
	},
}
