package operator

import "github.com/dotkontor/dotkontor/internal/web/ui"

// refundTexts are those of refunds.
var refundTexts = ui.Texts{
	"refund.title":  {"Bestellung {1} erstatten", "Refund order {1}"},
	"refund.do":     {"Erstatten", "Refund"},
	"refund.do_one": {"{1} erstatten", "Refund {1}"},
	"refund.left":   {"Noch erstattbar", "Refundable"},
	"refund.taken_back": {
		"Die Bank hat {1} von dieser Zahlung zurückgeholt. Der Kunde hat das Geld, deshalb lässt Stripe keine Erstattung mehr zu.",
		"The bank has taken back {1} of this payment. The customer has the money, so Stripe allows no refund any more.",
	},
	"refund.disputed_notice": {
		"Gibt es zu dieser Bestellung einen Widerruf, ist hier nichts auszuzahlen, solange die Zahlung strittig ist oder die Bank sie zurückgeholt hat. Schließen Sie ihn auf seiner Seite mit einer Notiz ab, sobald der Kunde sein Geld von der Bank hat.",
		"If there is a withdrawal for this order, nothing can be paid out here while the payment is disputed or once the bank has taken it back. Close it with a note on its page as soon as the customer has the money from the bank.",
	},
	"refund.disputed_this": {
		"Für diesen Widerruf ist hier nichts auszuzahlen, solange die Zahlung strittig ist oder die Bank sie zurückgeholt hat. Schließen Sie ihn auf seiner Seite mit einer Notiz ab, sobald der Kunde sein Geld von der Bank hat:",
		"Nothing can be paid out here for this withdrawal while the payment is disputed or once the bank has taken it back. Close it with a note on its page as soon as the customer has the money from the bank:",
	},
	"refund.to_notices": {"Zu den Widerrufen und Kündigungen", "Withdrawals and terminations"},
	"refund.refunded":   {"{1} brutto erstattet", "{1} gross refunded"},
	"refund.what":       {"Was wird erstattet?", "What do you refund?"},
	"refund.whole":      {"Die ganze Bestellung", "The whole order"},
	"refund.whole_of":   {"Die ganze Bestellung, alle {1} Domains", "The whole order, all {1} domains"},
	"refund.named":      {"Betrifft", "Concerns"},
	"refund.each_alone": {
		"Der Widerruf nennt nicht alle Domains der Bestellung. Erstatten Sie die genannten einzeln, eine nach der anderen.",
		"The withdrawal does not name all domains of the order. Refund the named ones one after the other.",
	},
	"refund.amount":      {"Betrag in Euro, brutto", "Amount in euros, gross"},
	"refund.amount_hint": {"Zum Beispiel 12,90. Ohne Angabe erstatten Sie den ganzen Rest.", "For example 12.90. Leave it empty to refund all that is left."},
	"refund.reason":      {"Grund", "Reason"},
	"refund.note":        {"Interne Notiz", "Internal note"},
	"refund.note_hint":   {"Warum Sie erstatten, in höchstens {1} Zeichen. Die E-Mail an den Kunden nennt nur den Grund, nicht die Notiz; sie gehört aber zu seinem Datenexport.", "Why you refund, in at most {1} characters. The email to the customer states only the reason, not the note; but the note is part of their data export."},
	"refund.show":        {"Vorschau", "Preview"},
	"refund.preview":     {"Erstattung von {1} prüfen", "Review the refund of {1}"},
	"refund.sum":         {"Erstattet werden", "Refunded"},
	"refund.back":        {"Zurück zur Bestellung", "Back to the order"},
	"refund.of":          {"Von", "Of"},
	"refund.correction": {
		"Sobald der Zahlungsanbieter die Erstattung ausgeführt hat, entsteht genau eine Rechnungskorrektur mit diesen Zeilen, und der Kunde bekommt eine E-Mail.",
		"As soon as the payment provider has made the refund, exactly one credit note with these lines is issued, and the customer gets an email.",
	},
	"refund.domains": {"Domains", "Domains"},
	"refund.keep": {
		"Der Kunde behält seine Domains bis zum Ende ihrer Laufzeit; nach einem Widerruf schreiben wir ihm das, sobald ihr ganzer Preis erstattet ist. Löschen lässt sich hier nur eine Domain, deren Registrierung Sie ganz erstatten und die seitdem weder verlängert noch gesperrt wurde, also keine umgezogene.",
		"The customer keeps their domains until the end of their terms; after a withdrawal, the email says so once their whole price is refunded. Here you can only delete a domain whose registration you refund in full and that has been neither renewed nor locked since, so not one that was transferred to us.",
	},
	"refund.delete":      {"Diese Domains nach der Erstattung löschen", "Delete these domains after the refund"},
	"refund.delete_hint": {"Ohne Häkchen behält der Kunde sie. Eine gelöschte Domain kann jeder neu registrieren.", "Without the tick the customer keeps them. Anyone can register a deleted domain."},
	"refund.hands_over": {
		"DENIC übernimmt sie (TRANSIT), statt sie zu löschen, und schreibt dem Inhaber, wie er sie behalten kann.",
		"DENIC takes it over (TRANSIT) instead of deleting it, and writes to the holder to explain how to keep it.",
	},
	"refund.submit":    {"Jetzt erstatten", "Refund now"},
	"refund.notice":    {"Widerruf", "Withdrawal"},
	"refund.completes": {"Die Erstattung erledigt den Widerruf, sobald sie ausgeführt ist.", "The refund closes the withdrawal once it is made."},
	"refund.leaves_open": {
		"Der Widerruf bleibt offen: Diese Erstattung deckt nicht alles ab, was er nennt. Erstatten Sie auch den Rest, oder schließen Sie den Widerruf auf seiner Seite mit einer Notiz ab.",
		"The withdrawal stays open: this refund does not cover everything that it names. Refund the rest as well, or close the withdrawal with a note on its page.",
	},
	"refund.consumer": {"Verbraucher", "Consumer"},
	"refund.deletion": {"{1}: mit Löschung", "{1}: with deletion"},
	"refund.handover": {"{1}: mit Übergabe an die Registry", "{1}: with handover to the registry"},
	"refund.repeats":  {"wiederholt {1}", "repeats {1}"},
	"refund.open":     {"Zu entscheiden", "To decide"},
	"refund.assign":   {"Positionen zuordnen", "Assign to items"},
	"refund.assign_about": {
		"Diese Erstattung wurde beim Zahlungsanbieter veranlasst. Tragen Sie ein, wie viel davon auf welche Position entfällt; zusammen {1}. Die Rechnungskorrektur ist schon ausgestellt und bleibt gleich.",
		"This refund was made at the payment provider. Enter how much of it is for which item, {1} in total. The credit note has been issued and stays the same.",
	},
	"refund.part": {"{1}, höchstens {2}", "{1}, at most {2}"},
	"refund_about.returned": {
		"Die Bank hat {1} zurückgegeben, der Kunde hat das Geld nicht. Erstatten Sie noch einmal, oder überweisen Sie den Betrag und halten Sie das fest.",
		"The bank returned {1}, so the customer doesn't have the money. Refund it again, or transfer the amount and record that.",
	},
	"refund_about.refused": {
		"Der Zahlungsanbieter hat die Erstattung von {1} abgelehnt. Es ist kein Geld geflossen, und es gibt keine Rechnungskorrektur.",
		"The payment provider refused the refund of {1}. No money was moved, and there is no credit note.",
	},
	"refund_about.domains": {
		"Beim Zahlungsanbieter wurden {1} erstattet. Damit hat der Kunde alles zurück, behält aber die Domains, solange nichts anderes geschieht. Entscheiden Sie, was aus jeder wird; danach ist die Aufgabe erledigt.",
		"{1} were refunded at the payment provider. The customer has all the money back, and keeps the domains unless something is done. Decide about each of them; that closes the task.",
	},
	"refund.delete_one":   {"Bei der Registry löschen", "Delete at the registry"},
	"refund.delete_named": {"{1} bei der Registry löschen", "Delete {1} at the registry"},
	"refund.keep_one":     {"Nicht löschen", "Don't delete"},
	"refund.keep_named":   {"{1} nicht löschen", "Don't delete {1}"},
	"refund.keep_note":    {"Warum wird sie nicht gelöscht? (für die Akte)", "Why is it not deleted? (for the file)"},
	"refund.kept":         {"{1}: nicht gelöscht", "{1}: not deleted"},
	"refund.not_deletable": {
		"Hier lässt sie sich nicht löschen: Sie wurde zu uns umgezogen, seit der Bestellung verlängert, ist gesperrt oder nicht mehr aktiv.",
		"It can't be deleted here: it was transferred to us, renewed since the order, is locked, or is no longer active.",
	},
	"confirm.refund_deletion": {"Domain löschen?", "Delete the domain?"},
	"confirm_about.refund_deletion": {
		"Wir löschen die Domain bei der Registry; eine .de-Domain übergeben wir an DENIC. Sobald das geschehen ist, bekommt der Kunde eine E-Mail. Von hier aus lässt sich das nicht zurücknehmen.",
		"We delete the domain at the registry; a .de domain is handed over to DENIC. The customer gets an email once that is done. You can't undo this from here.",
	},
	"note.refund_domain_deleted": {"Die Löschung ist beauftragt.", "The deletion has been ordered."},
	"note.refund_domain_kept":    {"Gespeichert. Die Domain wird nicht gelöscht.", "Saved. The domain is not deleted."},
	"refund.repeat":              {"Noch einmal erstatten", "Refund again"},
	"confirm.refund_repeat":      {"Noch einmal erstatten?", "Refund again?"},
	"confirm_about.refund_repeat": {
		"Wir zahlen dem Kunden den Betrag noch einmal aus, auf dem Weg, auf dem er bezahlt hat, und schreiben ihm. Zurücknehmen lässt sich das nicht.",
		"We pay the amount to the customer again, to the original payment method, and write to them. This can't be undone.",
	},
	"confirm.refund_settlement": {"Anders ausgezahlt?", "Paid another way?"},
	"confirm_about.refund_settlement": {
		"Der Kunde bekommt sofort eine E-Mail: Wir haben ihm diesen Betrag heute auf anderem Weg ausgezahlt. Zurücknehmen lässt sich das nicht.",
		"The customer gets an email at once saying that we paid this amount another way today. This can't be undone.",
	},
	"refund.settle":         {"Als erledigt markieren", "Mark as handled"},
	"refund.paid_otherwise": {"anders ausgezahlt", "paid another way"},
	"refund.handled":        {"erledigt", "handled"},
	"refund.settled_by":     {"am {1} von {2}", "on {1} by {2}"},
	"refund.settle_mail":    {"Der Kunde bekommt dann eine E-Mail: Wir haben ihm heute {1} auf anderem Weg ausgezahlt.", "The customer then gets an email saying that we paid {1} another way today."},
	"refund.settle_note":    {"Was haben Sie veranlasst?", "What did you do?"},

	"refund_state.due":      {"steht aus", "outstanding"},
	"refund_state.made":     {"erstattet", "refunded"},
	"refund_state.returned": {"von der Bank zurück", "returned by the bank"},
	"refund_state.refused":  {"abgelehnt", "refused"},

	"refund_source.":         {"automatisch", "automatic"},
	"refund_source.operator": {"Betreiber", "operator"},
	"refund_source.provider": {"beim Zahlungsanbieter", "at the payment provider"},

	"refund_reason.failed_item":   {"Position fehlgeschlagen", "failed item"},
	"refund_reason.unmatched":     {"überzählige Zahlung", "unmatched payment"},
	"refund_reason.provider":      {"Grund unbekannt", "reason unknown"},
	"refund_reason.withdrawal":    {"Widerruf", "withdrawal"},
	"refund_reason.termination":   {"Kündigung aus wichtigem Grund", "termination for cause"},
	"refund_reason.goodwill":      {"Kulanz", "goodwill"},
	"refund_reason.mistake":       {"irrtümlich oder doppelt bestellt", "ordered by mistake or twice"},
	"refund_reason.service_fault": {"unser Fehler", "our fault"},
	"refund_reason.fraud":         {"Betrug", "fraud"},
	"refund_reason.other":         {"anderer Grund", "other reason"},

	"refund_task.assign":   {"Positionen zuordnen", "assign to items"},
	"refund_task.returned": {"anders auszahlen", "pay another way"},
	"refund_task.refused":  {"Ablehnung prüfen", "review the refusal"},
	"refund_task.domains":  {"Domains prüfen", "review the domains"},

	"refund_filter.open":    {"zu entscheiden", "to decide"},
	"refund_filter.pending": {"steht aus", "outstanding"},

	"refund_fee.returned": {
		"Die Registry gibt ihre Gebühr zurück, wenn sie die Löschung vor dem {1} ausführt.",
		"The registry returns its fee if it deletes the domain before {1}.",
	},
	"refund_fee.lost":    {"Die Registry gibt ihre Gebühr nicht zurück.", "The registry doesn't return its fee."},
	"refund_fee.unknown": {"Ob die Registry ihre Gebühr zurückgibt, ist nicht bekannt.", "It is not known whether the registry returns its fee."},

	"consumer.":         {"nicht bekannt", "not known"},
	"consumer.consumer": {"ja", "yes"},
	"consumer.business": {"nein, Unternehmen", "no, a business"},

	"note.refund_ordered": {
		"Die Erstattung ist gespeichert und geht jetzt an den Zahlungsanbieter.",
		"The refund is stored and is now sent to the payment provider.",
	},
	"note.refund_assigned": {"Die Erstattung ist zugeordnet.", "The refund is assigned."},
	"note.refund_settled":  {"Die Erstattung ist als erledigt markiert.", "The refund is marked as handled."},

	"problem.bad_amount":       {"Bitte schreiben Sie den Betrag wie 12,90.", "Please write the amount like 12.90."},
	"problem.refund_too_large": {"So viel ist nicht mehr zu erstatten. Es wurde nichts geändert.", "That is more than what is left to refund. Nothing was changed."},
	"problem.bad_refund": {
		"Bitte schreiben Sie, warum oder wie Sie erstatten, in höchstens 500 Zeichen.",
		"Please write why or how you refund, in at most 500 characters.",
	},
	"problem.bad_assignment": {
		"Die Beträge ergeben zusammen nicht die Erstattung. Es wurde nichts zugeordnet.",
		"The amounts don't add up to the refund. Nothing was assigned.",
	},
	"problem.nothing_to_refund": {"Hier ist schon alles erstattet, oder die Erstattung ist veranlasst.", "Everything is refunded already, or its refund has been requested."},
	"problem.order_not_paid":    {"Die Bestellung ist nicht bezahlt, es gibt nichts zu erstatten.", "The order isn't paid, so there is nothing to refund."},
	"problem.charge_disputed": {
		"Die Zahlung ist strittig: Stripe lässt keine Erstattung zu, solange die Bank nicht entschieden hat. Gewinnen wir, können Sie hier wieder erstatten.",
		"The payment is disputed: Stripe allows no refund until the bank has decided. If we win, you can refund here again.",
	},
	"problem.charge_lost": {
		"Die Bank hat die Zahlung zurückgeholt. Der Kunde hat das Geld, deshalb lässt Stripe keine Erstattung mehr zu.",
		"The bank has taken back the payment. The customer has the money, so Stripe allows no refund any more.",
	},
	"problem.order_in_progress": {
		"Die Bestellung wird noch ausgeführt. Was dabei scheitert, erstattet der Dienst selbst; alles andere können Sie danach erstatten.",
		"The order is still being processed. The service itself refunds what fails; you can refund everything else afterwards.",
	},
	"problem.refund_changed": {
		"Für die Bestellung wurde seit der Vorschau schon eine Erstattung veranlasst. Prüfen Sie, was noch offen ist.",
		"A refund of the order has been requested since the preview. Check what is left.",
	},
	"problem.refund_decided":     {"Darüber ist schon entschieden.", "This has been decided already."},
	"problem.deletion_forbidden": {"Die Domain lässt sich nicht mehr löschen. Es wurde nichts geändert.", "The domain can no longer be deleted. Nothing was changed."},
}
