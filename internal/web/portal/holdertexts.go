package portal

import "github.com/dotkontor/dotkontor/internal/web/ui"

var holderTexts = ui.WithRequirements(ui.Texts{
	"holders.title": {"Inhaber", "Holders"},
	"holders.intro": {
		"Für wen Sie Domains registrieren: Personen und Organisationen außer Ihnen selbst. An der Kasse wählen Sie für jede Domain, wem sie gehört.",
		"The people and organisations for whom you register domains. At checkout, you choose the holder of each domain.",
	},
	"holders.own":         {"Ihr Konto", "Your account"},
	"holders.name":        {"Name", "Name"},
	"holders.place":       {"Ort", "Place"},
	"holders.unconfirmed": {"nicht bestätigt, Frist {1}", "not confirmed, due {1}"},
	"holders.none":        {"Bisher gehören alle Domains Ihnen selbst.", "So far, you are the holder of all your domains."},
	"holders.new":         {"Inhaber hinzufügen", "Add a holder"},
	"holders.add":         {"Hinzufügen", "Add"},
	"holders.edit":        {"Angaben des Inhabers ändern", "Change the holder's details"},
	"holders.change":      {"Ändern", "Change"},
	"holders.edit_one":    {"{1} ändern", "Change {1}"},
	"holders.domains":     {"Domains", "Domains"},
	"holders.domains_one": {"Domains von {1}", "Domains of {1}"},
	"holders.new_intro": {
		"Diese Angaben bekommt die Registry, wenn Sie eine Domain für diesen Inhaber bestellen. Rechnungen gehen weiterhin an Sie.",
		"The registry gets these details when you order a domain for this holder. Invoices still go to you.",
	},
	"holders.edit_intro": {
		"An Domains ändert sich dadurch noch nichts. Danach wählen Sie, welche die neuen Angaben bekommen.",
		"This changes no domain yet. In the next step, you choose which domains get the new details.",
	},
	"hint.holder_email": {
		"Dorthin schreiben wir, wenn die Domain einen anderen Inhaber bekommt.",
		"We write to this address when the domain gets another holder.",
	},
	"holders.tech":         {"Technischer Kontakt", "Technical contact"},
	"holders.billing":      {"Rechnungskontakt", "Billing contact"},
	"holders.contact_none": {"Keiner", "None"},
	"hint.holder_contacts": {
		"Wen die Registry bei Fragen zur Technik oder zu Rechnungen findet. Viele Registries nehmen keine solchen Kontakte; dort stehen sie nur in Ihrem Konto.",
		"The contact that the registry lists for technical or billing questions. Many registries take no such contact; it is then shown in your account only.",
	},
	"problem.holder_contact_unknown": {
		"Diesen Kontakt gibt es in Ihrem Konto nicht. Bitte wählen Sie einen anderen.",
		"Your account has no such contact. Please choose another one.",
	},
	"holders.back":   {"Zurück zu den Inhabern", "Back to holders"},
	"holders.follow": {"Domains von {1}", "Domains of {1}"},
	"holders.follow_intro": {
		"Bei diesen Domains stehen noch andere Angaben. Wählen Sie aus, welche die aktuellen bekommen. Ändert sich die E-Mail-Adresse, benachrichtigen wir die bisherige und die neue.",
		"These domains still have other details. Choose which ones get the current details. If the email address changes, we notify both the old and the new one.",
	},
	"holders.follow_now":    {"Angaben bei der Domain", "Details of the domain"},
	"holders.follow_submit": {"Angaben übernehmen", "Apply details"},
	"holders.follow_later":  {"Nicht jetzt", "Not now"},
	"holders.follow_part":   {"Das sind die ersten {1}.", "These are the first {1}."},
	"holders.follow_more":   {"Weitere Domains mit anderen Angaben", "More domains with other details"},
	"holders.further":       {"Und {1} weitere.", "And {1} more."},
	"holders.up_to_date":    {"Domains mit den aktuellen Angaben", "Domains with the current details"},
	"holders.no_domains":    {"Diesem Inhaber gehört keine Domain.", "This holder has no domains."},
	"holders.delete":        {"Inhaber löschen", "Delete holder"},
	"holders.delete_one":    {"{1} löschen", "Delete {1}"},
	"holders.delete_intro": {
		"{1} verschwindet aus Ihrer Liste. Domains, die diesem Inhaber gehören, behalten ihre Angaben. Bestellungen, die Sie noch nicht bezahlt haben, brauchen einen anderen Inhaber.",
		"{1} disappears from your list. Domains of this holder keep their details. Orders that you haven't paid yet need another holder.",
	},
	"holders.delete_submit": {"Löschen", "Delete"},
	"note.holder_added":     {"Der Inhaber ist gespeichert.", "The holder is saved."},
	"note.holder_saved":     {"Die Angaben sind gespeichert.", "The details are saved."},
	"note.holder_deleted":   {"Der Inhaber ist gelöscht.", "The holder is deleted."},
	"profile.holders":       {"Weitere Inhaber", "Other holders"},

	"domain_page.contact_unused": {"Die Registry nimmt bei dieser Endung keinen.", "The registry takes no such contact for this extension."},

	"holder_change.title":  {"Inhaber von {1} ändern?", "Change the holder of {1}?"},
	"holder_change.before": {"Bisher", "Before"},
	"holder_change.after":  {"Danach", "After"},
	"holder_change.back":   {"Zurück, nichts ändern", "Go back without changes"},
	"holder_change.same":   {"Die Domain hat diese Angaben schon. Es ändert sich nichts.", "The domain already has these details. Nothing changes."},
	"holder_change.text": {
		"Wir schreiben dem bisherigen und dem neuen Inhaber. Ist die E-Mail-Adresse noch nicht bestätigt, bitten wir den neuen Inhaber darum.",
		"We write to the former and the new holder. If the email address is not confirmed yet, we ask the new holder to confirm it.",
	},

	"domain_page.holder_since":  {"seit {1}", "since {1}"},
	"domain_page.holder_choose": {"Neuer Inhaber", "New holder"},
	"domain_page.holder_change": {"Inhaber ändern", "Change holder"},
	"domain_page.holder_manage": {"Inhaber verwalten", "Manage holders"},
	"domain_page.holder_past":   {"Frühere Inhaber", "Former holders"},
	"holder_reason.correction":  {"Angaben aktualisiert", "details updated"},
	"holder_reason.new_holder":  {"Inhaberwechsel", "new holder"},
	"holder_reason.transfer":    {"Umzug zu uns", "transfer to us"},

	"bulk.holder":       {"Inhaber ändern", "change holder"},
	"bulk.title.holder": {"Inhaber mehrerer Domains ändern", "Change the holder of several domains"},
	"bulk.holder_hint": {
		"Die bisherigen und der neue Inhaber bekommen eine Nachricht. Was die Regeln einer Endung nicht zulassen, bleibt unverändert.",
		"The former holders and the new one are notified. Domains whose extension does not allow the new holder stay as they are.",
	},
	"holder_change.confirm": {
		"{1} ist noch nicht bestätigt. Der Inhaber bekommt dorthin eine E-Mail und muss die Adresse innerhalb von {2} Tagen bestätigen. Sonst müssen wir die Domain aus dem DNS nehmen.",
		"{1} is not confirmed yet. The holder gets an email there and has to confirm the address within {2} days. Otherwise, we have to take the domain out of the DNS.",
	},
	"holder_change.confirm_kept": {
		"{1} ist noch nicht bestätigt. Der Inhaber bekommt dorthin eine E-Mail und muss die Adresse innerhalb von {2} Tagen bestätigen.",
		"{1} is not confirmed yet. The holder gets an email there and has to confirm the address within {2} days.",
	},
	"holders.transfer_lock": {
		"Bei generischen Endungen wie .com gilt: Ändert sich Name, Organisation oder E-Mail-Adresse des Inhabers, kann ein Umzug zu einem anderen Anbieter 60 Tage lang abgelehnt werden.",
		"For generic extensions such as .com, a transfer to another provider may be refused for 60 days after a change of the holder's name, organisation or email address.",
	},
	"bulk.holder_confirm": {
		"{1} ist noch nicht bestätigt. Der Inhaber bekommt dorthin eine E-Mail und muss die Adresse innerhalb von {2} Tagen bestätigen. Sonst müssen wir die Domains aus dem DNS nehmen, wo die Registry das erlaubt.",
		"{1} is not confirmed yet. The holder gets an email there and has to confirm the address within {2} days. Otherwise, we have to take the domains out of the DNS where their registry allows it.",
	},
	"bulk.holder_refused":   {"Hier lässt sich der Inhaber nicht ändern:", "The holder can't be changed for:"},
	"holder_refused.chosen": {"Der gewählte Inhaber", "The chosen holder"},
	"holder_refused.requires_identity": {
		"Bei dieser Endung prüfen wir die Identität des Inhabers. {1} hat nicht den geprüften Namen. Der Inhaber der Domain bleibt unverändert.",
		"We verify the holder's identity for this extension. {1} doesn't have the verified name. The domain's holder stays the same.",
	},
	"bulk.holder_save":   {"Inhaber ändern (Domains: {1})", "Change holder (domains: {1})"},
	"bulk.result.holder": {"Ergebnis: Inhaber ändern", "Result: change holder"},
	"bulk.done.holder":   {"geändert", "changed"},

	"problem.no_such_holder": {
		"Diesen Inhaber gibt es in Ihrem Konto nicht mehr. Bitte wählen Sie einen anderen.",
		"This holder is no longer in your account. Please choose another one.",
	},
	"problem.too_many_holders": {
		"Mehr Inhaber kann ein Konto nicht haben. Löschen Sie einen, den Sie nicht mehr brauchen.",
		"An account can't have more holders. Delete one that you no longer need.",
	},
	"problem.bad_reason": {"Diesen Grund gibt es nicht.", "There is no such reason."},

	"action.holder_added":   {"Inhaber hinzugefügt", "Holder added"},
	"action.holder_changed": {"Angaben eines Inhabers geändert", "Details of a holder changed"},
	"action.holder_deleted": {"Inhaber gelöscht", "Holder deleted"},
}, "holder_refused.", [2]string{
	"Diese Endung ist {holders} vorbehalten. {1} hat dort keine Anschrift. Der Inhaber der Domain bleibt unverändert.",
	"This extension is reserved for {holders}. {1} has no address there. The domain's holder stays the same.",
})
