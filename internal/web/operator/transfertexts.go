package operator

import "github.com/dotkontor/dotkontor/internal/web/ui"

// transferTexts are those of transfers to other registrars.
var transferTexts = ui.Texts{
	"tab.transfers": {"Ausgehende Umzüge", "Outgoing transfers"},
	"away.intro": {
		"Umzüge unserer Domains zu anderen Anbietern. Der Inhaber ist benachrichtigt und kann stoppen oder zustimmen. Sie greifen nur ein, wenn ein Grund der Transfer Policy vorliegt.",
		"Transfers of our domains to other registrars. The registrant is notified and can stop or approve. Step in only for a reason in the Transfer Policy.",
	},
	"away.title":    {"Ausgehender Umzug: {1}", "Outgoing transfer: {1}"},
	"away.open":     {"Laufend", "In progress"},
	"away.none":     {"Kein Umzug läuft.", "No transfer is in progress."},
	"away.ended":    {"Beendet", "Ended"},
	"away.ended_at": {"Beendet am", "Ended on"},
	"away.gaining":  {"Neuer Registrar", "Gaining registrar"},
	"away.acts":     {"Zieht um am", "Moves on"},
	"away.overdue": {
		"Die Registry hat den Umzug noch nicht beendet, oder ihre Nachricht fehlt. Prüfen Sie ihn dort.",
		"The registry has not ended the transfer, or its message is missing. Check it there.",
	},
	"away.requested": {"Beantragt", "Requested"},
	"away.status":    {"Status bei der Registry", "Registry status"},
	"away.attempts":  {"Versuche", "Attempts"},
	"away.failure":   {"Letzte Ablehnung der Registry", "Registry's last refusal"},
	"away.decision":  {"Entscheidung", "Decision"},
	"away.by":        {"Von", "By"},
	"away.by_holder": {"Inhaber, von der IP-Adresse {1}", "Registrant, from {1}"},
	"away.statement": {"Bestätigter Satz", "Confirmed sentence"},
	"away.number":    {"Nummer", "Number"},
	"away.act":       {"Entscheiden", "Decide"},
	"away.reason":    {"Grund der Ablehnung", "Reason for the rejection"},
	"away.reason_hint": {
		"Wir teilen ihn dem Inhaber mit. Für „Widerspruch des Inhabers“ muss Ihnen der Widerspruch schriftlich vorliegen.",
		"The registrant learns the reason. For “registrant's objection” you need the objection in writing.",
	},
	"away.reject":       {"Umzug ablehnen", "Reject the transfer"},
	"away.approve":      {"Umzug bestätigen", "Approve the transfer"},
	"away.unanswerable": {"Diesen Umzug können wir nicht ablehnen oder bestätigen: Die Registry erlaubt es nicht, oder er ist entschieden.", "We can't reject or approve this transfer: the registry doesn't allow it, or it is decided."},
	"away.customer":     {"Kundenakte öffnen", "Open the customer's account"},

	"away_state.new":       {"gemeldet", "reported"},
	"away_state.pending":   {"beantragt", "requested"},
	"away_state.stopping":  {"wird abgelehnt", "being rejected"},
	"away_state.approving": {"wird bestätigt", "being approved"},
	"away_state.ending":    {"wird geprüft", "being checked"},
	"away_state.stopped":   {"abgelehnt", "rejected"},
	"away_state.approved":  {"bestätigt, umgezogen", "approved, moved"},
	"away_state.completed": {"umgezogen", "moved"},
	"away_state.cancelled": {"abgebrochen", "cancelled"},
	"away_state.kept":      {"beendet, nicht umgezogen", "ended, not moved"},

	"away_reason.objection":   {"Widerspruch des Inhabers", "Registrant's objection"},
	"away_reason.fraud":       {"Betrug", "Fraud"},
	"away_reason.identity":    {"Streit um die Identität des Inhabers", "Dispute over the registrant's identity"},
	"away_reason.dispute":     {"Verfahren um den Namen (UDRP, URS, TDRP)", "Proceedings about the name (UDRP, URS, TDRP)"},
	"away_reason.court_order": {"Gerichtliche Anordnung", "Court order"},
	"away_reason.nonpayment":  {"Nicht bezahlt (Reklamation der Zahlung)", "Non-payment (payment dispute)"},
	"away_reason.lock":        {"Frist nach Registrierung, Umzug oder Inhaberwechsel", "Too soon after registration, transfer or a change of registrant"},

	"confirm.transfer_approval":       {"Diesen Umzug bestätigen?", "Approve this transfer?"},
	"confirm_about.transfer_approval": {"Die Domain zieht sofort um. Das lässt sich nicht zurücknehmen.", "The domain moves at once. You can't undo this."},

	"confirm.transfer_rejection":       {"Diesen Umzug aus diesem Grund ablehnen?", "Reject this transfer for this reason?"},
	"confirm_about.transfer_rejection": {"Die Domain bleibt dann bei uns. Der Inhaber bekommt eine E-Mail mit dem Grund. Das lässt sich nicht zurücknehmen.", "The domain then stays with us. The registrant gets an email with the reason. You can't undo this."},

	"problem.no_such_outgoing_transfer":        {"Diesen Umzug gibt es nicht.", "There is no such transfer."},
	"problem.outgoing_transfer_decided":        {"Über diesen Umzug ist schon entschieden, oder er ist beendet.", "This transfer was already decided or has ended."},
	"problem.outgoing_transfer_not_answerable": {"Die Registry lässt uns diesen Umzug nicht entscheiden.", "The registry doesn't let us decide this transfer."},
	"problem.outgoing_transfer_not_approvable": {"Eine Sperre verbietet den Umzug. Heben Sie sie zuerst auf.", "A lock forbids the transfer. Lift it first."},
	"problem.bad_transfer_reason":              {"Bitte wählen Sie einen Grund.", "Please choose a reason."},

	"note.away_decided": {"Die Entscheidung ist gespeichert. Der Stand bei der Registry steht unten.", "The decision is stored. See below for the status at the registry."},
	"note.away_refused": {"Die Registry hat unsere Antwort nicht angenommen. Der Umzug läuft weiter.", "The registry did not accept our answer. The transfer goes on."},
}
