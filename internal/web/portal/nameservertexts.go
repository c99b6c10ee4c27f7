package portal

import "github.com/dotkontor/dotkontor/internal/web/ui"

// nameserverTexts are about the confirmation of new nameservers, and what is possible until they apply.
var nameserverTexts = ui.Texts{
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

	"problem.refused_servers": {"{1} Gemeint: {2}", "{1} It means: {2}"},
}
