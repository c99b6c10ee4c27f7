package portal

import "github.com/dotkontor/dotkontor/internal/web/ui"

// nameserverTexts are about DNSSEC and the confirmation of new nameservers, and what is possible until
// they apply.
var nameserverTexts = ui.Texts{
	"domain_page.ds_none":       {"Ausgeschaltet: Bei der Registry liegt kein DS-Eintrag.", "Off: the registry has no DS record."},
	"domain_page.ds_on":         {"Eingeschaltet mit diesen DS-Einträgen:", "On, with these DS records:"},
	"domain_page.ds_remove":     {"Entfernen", "Remove"},
	"domain_page.ds_remove_one": {"DS-Eintrag {1} entfernen", "Remove DS record {1}"},
	"domain_page.ds_edit":       {"DS-Eintrag hinzufügen", "Add DS record"},
	"domain_page.ds_label":      {"DS-Eintrag", "DS record"},
	"domain_page.ds_hint": {
		"Wie von Ihrem DNS-Anbieter angegeben, zum Beispiel: 2371 13 2 1F987CC6… Passt er nicht zu Ihrem DNS, ist die Domain nicht mehr erreichbar.",
		"As given by your DNS provider, for example: 2371 13 2 1F987CC6… If it doesn't match your DNS, the domain becomes unreachable.",
	},
	"ns.prepare": {
		"Richten Sie Domains zuerst bei den neuen Nameservern ein. Kennen diese eine Domain nicht, sind Website und E-Mail darunter nicht erreichbar.",
		"Set domains up at the new nameservers first. If those don't know a domain, its website and email can't be reached.",
	},
	"ns.steps": {
		"Hier ist DNSSEC an: {1}. Das geht in zwei Schritten: Den DS-Eintrag entfernen wir sofort; ab dann ist DNSSEC aus, auch wenn Sie die Änderung abbrechen. Die Nameserver ändern wir erst, wenn der DS-Eintrag überall abgelaufen ist.",
		"DNSSEC is on for: {1}. This takes two steps: we remove the DS record at once; DNSSEC is off from then on, even if you cancel the change. We change the nameservers once the DS record has expired everywhere.",
	},
	"ns.signed_row": {"voraussichtlich am {1}", "around {1}"},
	"ns.refused":    {"Hier lassen sich die Nameserver nicht ändern:", "The nameservers can't be changed for:"},
	"ns.other":      {"Andere Nameserver eingeben", "Enter other nameservers"},

	"ns.closed_until": {
		"Weitere Änderungen sind möglich, sobald die Nameserver geändert sind, voraussichtlich am {1}, oder wenn Sie das oben abbrechen.",
		"You can make further changes once the nameservers have changed, around {1}, or if you cancel that above.",
	},
	"ns.leaving_until": {
		"Sperre und Auth-Code können Sie erst wieder ändern, wenn die Nameserver geändert sind, voraussichtlich am {1}, oder wenn Sie das oben abbrechen.",
		"You can change the lock and the auth code once the nameservers have changed, around {1}, or if you cancel that above.",
	},
	"ns.unsigned": {"DNSSEC ist aus", "DNSSEC is off"},
	"ns.removed_ds": {
		"Diesen DS-Eintrag hatten wir für die Änderung der Nameserver entfernt. Fügen Sie ihn nur wieder hinzu, wenn die bisherigen Nameserver noch mit demselben Schlüssel signieren; sonst ist die Domain nicht mehr erreichbar.",
		"We had removed this DS record to change the nameservers. Only add it back if the current nameservers still sign with the same key; otherwise the domain becomes unreachable.",
	},
	"ns.removed_dses": {
		"Diese DS-Einträge hatten wir für die Änderung der Nameserver entfernt. Fügen Sie sie nur wieder hinzu, wenn die bisherigen Nameserver noch mit denselben Schlüsseln signieren; sonst ist die Domain nicht mehr erreichbar.",
		"We had removed these DS records to change the nameservers. Only add them back if the current nameservers still sign with the same keys; otherwise the domain becomes unreachable.",
	},
	"ns.add_again":     {"Wieder hinzufügen", "Add back"},
	"ns.add_again_one": {"DS-Eintrag {1} wieder hinzufügen", "Add DS record {1} back"},

	"problem.refused_servers": {"{1} Gemeint: {2}", "{1} It means: {2}"},
}
