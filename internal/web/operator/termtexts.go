package operator

import "github.com/dotkontor/dotkontor/internal/web/ui"

// termTexts are those of unpaid terms and the safety brake.
var termTexts = ui.Texts{
	"terms.intro": {
		"Was mit Domains geschieht, deren Laufzeit ohne Zahlung endet: Wir nehmen sie aus dem DNS und löschen sie dann. Manches davon braucht eine Entscheidung.",
		"What happens to domains whose term ends unpaid: we take them out of the DNS, then delete them. Some of this needs a decision.",
	},
	"terms.brake":   {"Notbremse", "Safety brake"},
	"terms.running": {"gelöst", "released"},
	"terms.stopped": {"gezogen", "engaged"},
	"terms.limit": {
		"Bis zu {1} Domains am Tag werden ohne Bestätigung aus dem DNS genommen oder gelöscht.",
		"Up to {1} domains a day are taken out of the DNS or deleted without a confirmation.",
	},
	"terms.why_volume": {
		"An diesem Tag würden zu viele Domains aus dem DNS genommen oder gelöscht. Bis zur Bestätigung geschieht beides nicht.",
		"Too many domains would be taken out of the DNS or deleted today. Neither happens until you confirm.",
	},
	"terms.why_clock": {
		"Die Uhr ist seit dem letzten Lauf um mehr als einen Tag gesprungen. Bis zur Bestätigung gibt es keine Hinweise und Abbuchungen, und keine Domain wird aus dem DNS genommen oder gelöscht.",
		"The clock has jumped by more than a day since the last run. Until you confirm, there are no notices or charges, and no domain is taken out of the DNS or deleted.",
	},
	"terms.preview": {
		"Domains, die wir nach der Bestätigung sofort aus dem DNS nehmen, löschen oder übergeben: {1}. Nach einem Uhrsprung beginnen auch fällige Hinweise und Abbuchungen, die hier nicht stehen. Gezeigt werden höchstens 200.",
		"Domains taken out of the DNS, deleted or handed over right after the confirmation: {1}. After a clock jump, due notices and charges also start, which are not listed here. At most 200 are shown.",
	},
	"terms.online": {
		"Diese Domains bleiben online und zählen nicht mit: Die Adresse des Inhabers ist nicht bestätigt, aber ihre Registry nimmt kein clientHold an ({1}, gezeigt werden höchstens 200).",
		"These domains stay online and don't count: the holder's address is not confirmed, but their registry accepts no clientHold ({1}, at most 200 are shown).",
	},
	"terms.confirm":       {"Liste gelesen, weitermachen", "I have read the list, continue"},
	"terms.paid_until":    {"Bezahlt bis", "Paid until"},
	"terms.action":        {"Nächster Schritt", "Next step"},
	"terms.reason":        {"Grund", "Reason"},
	"terms.waiting":       {"Wartet auf eine Entscheidung", "Waiting for a decision"},
	"terms.none":          {"Keine Domain wartet auf eine Entscheidung.", "No domain is waiting for a decision."},
	"terms.delete":        {"Löschen", "Delete"},
	"terms.delete_one":    {"Löschen: {1}", "Delete: {1}"},
	"terms.hand_over":     {"An DENIC übergeben", "Hand over to DENIC"},
	"terms.hand_over_one": {"An DENIC übergeben: {1}", "Hand over to DENIC: {1}"},
	"terms.leave":         {"Belassen", "Leave"},
	"terms.leave_one":     {"Belassen: {1}", "Leave: {1}"},
	"terms.start":         {"Ablauf beginnen", "Start the procedure"},
	"terms.start_one":     {"Ablauf beginnen: {1}", "Start the procedure: {1}"},
	"terms.back":          {"Zurück, nichts ändern", "Back without changes"},
	"confirm.term_leave":  {"Diese Domain belassen?", "Leave this domain as it is?"},
	"confirm_about.term_leave": {
		"Die Domain bleibt unbezahlt bestehen, bis der Kunde sie verlängert oder Sie sie doch löschen. Verlängert die Registry sie von selbst, berechnet sie uns jede weitere Laufzeit.",
		"The domain stays unpaid until the customer renews it or you delete it after all. If the registry renews it by itself, it charges us for every further term.",
	},
	"term_confirm.start": {"Ablauf für diese Domain beginnen?", "Start the procedure for this domain?"},
	"term_about.start": {
		"Die Laufzeit gilt dann als heute beendet. Nach den Regeln ihrer Endung wird die unbezahlte Domain aus dem DNS genommen, bei manchen Endungen sofort. Der Kunde erfährt davon per E-Mail, auch den Tag, an dem die Löschung vorgesehen ist. Gelöscht wird sie aber erst, wenn Sie auch das entscheiden. Verlängert der Kunde vorher, endet der Ablauf.",
		"The term then counts as ended today. The unpaid domain is taken out of the DNS under the rules of its extension, in some cases immediately. The customer gets an email that names the day of the planned deletion. Even so, it is deleted only once you decide that, too. The procedure ends if the customer renews before that.",
	},
	"term_confirm.delete": {"Diese Domain löschen?", "Delete this domain?"},
	"term_about.delete": {
		"Die Registry löscht die Domain. Rückgängig machen lässt sich das nur während der Rückholfrist, falls die Endung eine hat. Eine laufende Verlängerung geht vor.",
		"The registry deletes the domain. This can be undone only during the redemption period, if the extension has one. A renewal in progress comes first.",
	},
	"term_confirm.hand_over": {"Diese Domain an DENIC übergeben?", "Hand this domain over to DENIC?"},
	"term_about.hand_over": {
		"DENIC schreibt dem Inhaber und verwaltet die Domain weiter. Hier ist sie danach nicht mehr. Eine laufende Verlängerung geht vor.",
		"DENIC contacts the registrant and manages the domain from then on. It is no longer here afterwards. A renewal in progress comes first.",
	},
	"terms.left":    {"Belassen: {1}", "Left alone: {1}"},
	"terms.overdue": {"Schon vor der Inbetriebnahme überfällig", "Already overdue when this service was set up"},
	"terms.overdue_why": {
		"Diese Laufzeiten endeten, bevor der Dienst sich um unbezahlte Domains kümmerte. Er fasst sie nicht von selbst an.",
		"These terms ended before the service handled unpaid domains. It does nothing about them by itself.",
	},
	"term_action.hold":      {"Aus dem DNS nehmen", "Take out of the DNS"},
	"term_action.suspend":   {"Aus dem DNS nehmen: Adresse des Inhabers nicht bestätigt", "Take out of the DNS: holder's address not confirmed"},
	"term_action.delete":    {"Löschen", "Delete"},
	"term_action.hand_over": {"An die Registry übergeben", "Hand over to the registry"},
	"waits_for.operator":    {"Für diese Endung gibt es keine feste Regel", "No fixed rule for this extension"},
	"waits_for.consent":     {"Löschen braucht die Zustimmung des Kunden", "Deletion needs the customer's consent"},
	"waits_for.notices": {
		"Es fehlt ein Hinweis: Der Mailserver muss einen vor und einen nach dem Ende der Laufzeit annehmen",
		"A notice is missing: the mail server has to accept one before and one after the end of the term",
	},
	"waits_for.locked":   {"Von einem Betreiber gesperrt", "Locked by an operator"},
	"waits_for.refused":  {"Die Registry hat den Befehl abgelehnt", "The registry refused the command"},
	"waits_for.restored": {"Die Registry zeigt die gelöschte Domain als registriert", "The registry shows the deleted domain as registered"},
}
