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
	"ns.prepare_one": {
		"Richten Sie die Domain zuerst bei den neuen Nameservern ein. Kennen diese sie nicht, funktionieren ihre Website und ihre E-Mail-Adressen nicht.",
		"Set up the domain at the new nameservers first. If they don't know it, its website and email stop working.",
	},
	"ns.prepare": {
		"Richten Sie die Domains zuerst bei den neuen Nameservern ein. Kennen diese eine Domain nicht, funktionieren ihre Website und ihre E-Mail-Adressen nicht.",
		"Set up the domains at the new nameservers first. If these don't know a domain, its website and email stop working.",
	},
	"ns.steps": {
		"Bei diesen Domains ist DNSSEC eingeschaltet: {1}. Die Änderung braucht dort zwei Schritte: Den DS-Eintrag entfernen wir sofort; von da an ist DNSSEC aus, auch wenn Sie die Änderung abbrechen. Die Nameserver ändern wir erst, wenn der DS-Eintrag überall abgelaufen ist.",
		"DNSSEC is on for: {1}. This takes two steps: we remove the DS record at once; DNSSEC is off from then on, even if you cancel the change. We change the nameservers once the DS record has expired everywhere.",
	},
	"ns.signed_row": {"voraussichtlich am {1}", "probably on {1}"},
	"ns.refused":    {"Hier lassen sich die Nameserver nicht ändern:", "The nameservers can't be changed for:"},
	"ns.other":      {"Andere Nameserver eingeben", "Enter other nameservers"},

	"ns.closed_until": {
		"Weitere Änderungen sind möglich, sobald die Nameserver geändert sind, voraussichtlich am {1}, oder wenn Sie die Änderung oben abbrechen.",
		"You can make further changes once the nameservers have been changed, probably on {1}, or if you cancel that change above.",
	},
	"ns.leaving_until": {
		"Sperre und Auth-Code können Sie erst wieder ändern, wenn die Nameserver geändert sind, voraussichtlich am {1}, oder wenn Sie die Änderung oben abbrechen.",
		"You can change the lock and the auth code once the nameservers have been changed, probably on {1}, or if you cancel that change above.",
	},
	"ns.unsigned": {"DNSSEC ist aus", "DNSSEC is off"},
	"ns.removed_ds": {
		"Diesen DS-Eintrag hatten wir für die Änderung der Nameserver entfernt. Fügen Sie ihn nur wieder hinzu, wenn die bisherigen Nameserver noch mit demselben Schlüssel signieren; sonst ist die Domain nicht mehr erreichbar.",
		"We removed this DS record so that the nameservers could be changed. Only add it back if the current nameservers still sign with the same key; otherwise the domain becomes unreachable.",
	},
	"ns.removed_dses": {
		"Diese DS-Einträge hatten wir für die Änderung der Nameserver entfernt. Fügen Sie sie nur wieder hinzu, wenn die bisherigen Nameserver noch mit denselben Schlüsseln signieren; sonst ist die Domain nicht mehr erreichbar.",
		"We removed these DS records so that the nameservers could be changed. Only add them back if the current nameservers still sign with the same keys; otherwise the domain becomes unreachable.",
	},
	"ns.add_again":     {"Wieder hinzufügen", "Add back"},
	"ns.add_again_one": {"DS-Eintrag {1} wieder hinzufügen", "Add DS record {1} back"},

	"problem.refused_servers": {"{1} Das betrifft: {2}", "{1} This concerns: {2}"},
}
