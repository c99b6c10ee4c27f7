package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

// germanRegistryExpires says what a registry does that ends terms. Mails that the previous release queued
// don't say when.
const germanRegistryExpires = `{{if and .Expired (not .HoldAt)}}Die Registry hat die Domain mit dem Ende der Laufzeit aus dem DNS
genommen: Websites und E-Mail-Adressen unter diesem Namen funktionieren nicht
mehr. {{if .Over}}Frühestens am {{.DeleteAt}} löscht sie die Domain.{{else}}Ohne Verlängerung löscht sie die Domain frühestens am {{.DeleteAt}}.{{end}}{{else}}Ohne Verlängerung nimmt die Registry die Domain {{if .HoldAt}}spätestens am {{.HoldAt}}{{else}}mit dem Ende der Laufzeit{{end}} aus
dem DNS. Websites und E-Mail-Adressen unter diesem Namen funktionieren dann
nicht mehr. {{if .DeleteAt}}Frühestens am {{.DeleteAt}} löscht sie die Domain.{{else}}Danach löscht sie die Domain.{{end}}{{end}}`

// germanRestorable says whether a domain can be restored after its deletion.
const germanRestorable = `{{if .Days}}
Danach lässt sie sich noch {{.Days}} Tage lang wiederherstellen. Das kostet
deutlich mehr als eine Verlängerung.{{else}}
Wiederherstellen können Sie sie bei uns danach nicht.{{end}}`

// germanUnpaid says what happens to a domain that is not paid.
const germanUnpaid = `{{if .Over}}Verlängern können Sie nur bis zum Ende der Laufzeit, bis {{.EndsAt}}.
Danach geht es nicht mehr.

{{end}}{{if eq .Unpaid "delete"}}Ohne Verlängerung {{if .HoldAt}}nehmen wir die Domain am {{.HoldAt}} aus
dem DNS. Websites und E-Mail-Adressen unter diesem Namen funktionieren dann
nicht mehr. Frühestens am {{.DeleteAt}} löschen wir sie.{{else}}löschen wir die Domain {{if .Over}}zu diesem Zeitpunkt{{else}}frühestens am {{.DeleteAt}}{{end}}.{{end}}` + germanRestorable + `
{{else if eq .Unpaid "transit"}}Ohne Verlängerung übergeben wir die Domain am {{.DeleteAt}} an die
Registry DENIC. Sie schreibt dem Inhaber einen Brief und fragt, wie es
weitergehen soll.
{{else if eq .Unpaid "expire"}}` + germanRegistryExpires + `
{{else if eq .Unpaid "consent"}}{{if .Expired}}Bei der Registry läuft die Domain weiter, ohne dass Sie sie bezahlt haben.
Ohne Verlängerung kann sie jederzeit ausfallen. Eine Verlängerung zählt ab
dem {{.Date}}, nicht ab dem Tag, an dem Sie bezahlen.

Möchten Sie die Domain nicht mehr? Löschen dürfen wir sie nur, wenn Sie
zustimmen: Wählen Sie dazu auf ihrer Seite „auslaufen lassen“.{{else}}Ohne Verlängerung kann die Domain nach diesem Tag ausfallen. Löschen
dürfen wir sie nur, wenn Sie zustimmen: Wählen Sie dazu auf der Seite
der Domain „auslaufen lassen“.{{end}}
{{else}}Ohne Verlängerung kann die Domain {{if .Expired}}jederzeit{{else}}nach diesem Tag{{end}} ausfallen und
gelöscht werden.{{if .Expired}} Eine Verlängerung zählt ab dem {{.Date}}, nicht ab dem Tag, an
dem Sie bezahlen.{{end}}
{{end}}`

// germanExpiry says what happens to domains that their customer lets expire. Mails that the previous
// release queued don't say which domains they are about.
const germanExpiry = `{{if eq .Unpaid "transit"}}Nach dem Ende
der Laufzeit übergeben wir die {{if .More}}Domains{{else}}Domain{{end}} an die Registry DENIC, die dem
Inhaber schreibt.{{else if or (eq .Unpaid "mixed") (not .Unpaid)}}.de-Domains
übergeben wir nach dem Ende der Laufzeit an die Registry DENIC, die dem
Inhaber schreibt. Die anderen werden aus dem DNS genommen und gelöscht;
danach kann sie jeder registrieren.{{else}}Nach dem Ende
der Laufzeit {{if .More}}werden die Domains{{else}}wird die Domain{{end}} aus dem DNS genommen und gelöscht{{if .Days}}.{{else}};
danach kann sie jeder registrieren.{{end}}{{end}}`

// germanExpiryEnd is until when the customer can still decide otherwise: "Bis …".
const germanExpiryEnd = `{{if .Over}}zum Ende der Laufzeit{{if not .More}} am {{.Date}}{{end}}{{else}}zur {{if eq .Unpaid "transit"}}Übergabe{{else if or (eq .Unpaid "mixed") (not .Unpaid)}}Übergabe oder Löschung{{else}}Löschung{{end}}{{end}}`

// germanRenewalPrice is what a renewal costs, if that is known.
const germanRenewalPrice = `{{if .Renewal}}Die Verlängerung kostet derzeit {{.Renewal}}{{with $.Tax}} {{.}}{{end}} für {{if eq .RenewalYears 1}}1 Jahr{{else}}{{.RenewalYears}} Jahre{{end}}.

{{end}}`

// germanRenewBefore asks to renew, or says that it happens automatically.
const germanRenewBefore = `{{if .ChargeAt}}
{{if .MethodExpires}}Achtung: Ihre Karte gilt nur bis {{.MethodExpires}} und ist am Tag der Abbuchung
abgelaufen. Hinterlegen Sie bitte vorher ein anderes Zahlungsmittel, sonst
wird die Domain nicht verlängert:

{{.Portal}}/payment-methods

Die Domain soll sich automatisch verlängern.{{else}}Sie müssen nichts tun: Die Domain verlängert sich automatisch.{{end}} Am
{{.ChargeAt}} buchen wir {{.Gross}}{{with $.Tax}} {{.}}{{end}} von Ihrem
Standard-Zahlungsmittel ab, wie angekündigt. Bis dahin können Sie das auf
der Seite der Domain ausschalten:

{{.Place}}

Etwa einen Monat vor dem Ende einer Laufzeit erinnern wir immer, etwa eine
Woche vorher noch einmal, wenn bis dahin nicht verlängert ist. Abgebucht wird
nur einmal.
{{else}}{{if .Cancelled}}
Sie haben den Vertrag über diese Domain am {{.Cancelled}} gekündigt. Die Domain
läuft aus, wie Sie es wollten. Möchten Sie sie doch behalten? Dann verlängern Sie sie
bitte vorher auf ihrer Seite:
{{else if .Withdrawn}}
Sie haben den Vertrag über diese Domain am {{.Withdrawn}} widerrufen.{{if .OnHold}} Die
automatische Verlängerung ist deshalb ausgesetzt: Solange wir den Widerruf
bearbeiten, beginnen wir keine Abbuchung.{{end}} Möchten Sie die Domain doch
behalten? Dann verlängern Sie sie bitte vorher auf ihrer Seite:
{{else if eq .Choice "expire"}}
Sie haben gewählt, diese Domain auslaufen zu lassen. Möchten Sie sie
doch behalten? Dann verlängern Sie sie bitte vorher auf ihrer Seite:
{{else if .NextTerm}}
Bitte verlängern Sie diese Domain dieses Mal selbst, obwohl die
automatische Verlängerung eingeschaltet ist: Sie gilt erst ab der nächsten
Laufzeit. Verlängern können Sie auf der Seite der Domain:
{{else}}
Möchten Sie die Domain behalten? Dann verlängern Sie sie bitte vorher
auf ihrer Seite:
{{end}}
{{.Place}}

` + germanRenewalPrice + germanUnpaid + `{{end}}`

// germanWhy is why a domain was held, deleted or handed over.
const germanWhy = `{{if .Cancelled}}nach Ihrer Kündigung vom {{.Cancelled}}{{else if eq .Choice "expire"}}weil Sie sie auslaufen lassen wollten{{else}}weil sie nicht verlängert wurde{{end}}{{with .Withdrawn}} (Ihren Widerruf
vom {{.}} bearbeiten wir noch){{end}}`

const (
	germanExpiringSubject     = `{{if .ChargeAt}}{{.Domain}}: Laufzeit endet am {{.Date}}, automatische Verlängerung am {{.ChargeAt}}{{else}}{{.Domain}} {{if .NextTerm}}bitte bis {{.Date}} selbst verlängern{{else}}läuft am {{.Date}} ab{{end}}{{end}}`
	germanExpiringWeekSubject = `{{if .ChargeAt}}{{.Domain}}: Laufzeit endet am {{.Date}}, automatische Verlängerung am {{.ChargeAt}}{{else}}{{if eq .DaysLeft 1}}Noch 1 Tag: {{else if .DaysLeft}}Noch {{.DaysLeft}} Tage: {{end}}{{.Domain}} {{if .NextTerm}}bitte bis {{.Date}} selbst verlängern{{else}}läuft am {{.Date}} ab{{end}}{{end}}`
)

// germanTermMails are the mails about the end of a domain's term in German.
var germanTermMails = map[registrar.MailKind]mailText{
	registrar.MailExpiringMonth: {germanExpiringSubject, `
die bezahlte Laufzeit einer Domain endet in {{if .DaysLeft}}{{if eq .DaysLeft 1}}einem Tag{{else}}{{.DaysLeft}} Tagen{{end}}{{else}}etwa einem Monat{{end}}:

Domain: {{.Domain}}
Ende:   {{.Date}}
` + germanRenewBefore},
	registrar.MailExpiringWeek: {germanExpiringWeekSubject, `
die bezahlte Laufzeit einer Domain endet in wenigen Tagen:

Domain: {{.Domain}}
Ende:   {{.Date}}
` + germanRenewBefore},
	registrar.MailExpired: {"{{.Domain}} ist {{if .Reminder}}seit {{.Date}} nicht bezahlt{{else}}am {{.Date}} abgelaufen{{end}}", `
{{if .Reminder}}eine Domain ist noch immer nicht bezahlt:{{else}}die bezahlte Laufzeit einer Domain ist zu Ende:{{end}}

Domain: {{.Domain}}
Ende:   {{.Date}}
{{if .Over}}
{{if .NextTerm}}Die automatische Verlängerung war eingeschaltet, galt aber erst ab der
nächsten Laufzeit. {{else if .Cancelled}}Sie haben den Vertrag über diese Domain am {{.Cancelled}} gekündigt.
{{else if eq .Choice "expire"}}Sie haben gewählt, diese Domain auslaufen zu lassen. {{end}}Verlängern lässt sie sich bei uns nicht mehr. {{if eq .Unpaid "expire"}}` + germanRegistryExpires + `{{else if eq .Unpaid "delete"}}Wir löschen sie{{with .DeleteAt}} frühestens am {{.}}{{end}}.` + germanRestorable + `{{end}}

Haben Sie Fragen? Antworten Sie bitte auf diese E-Mail.
{{else}}{{if .Cancelled}}
Sie haben den Vertrag über diese Domain am {{.Cancelled}} gekündigt. Wie Sie es
wollten, verlängern wir sie nicht. Möchten Sie sie doch behalten? Dann verlängern Sie sie
bitte jetzt auf ihrer Seite:
{{else if .NextTerm}}
Bitte verlängern Sie diese Domain dieses Mal selbst, obwohl die
automatische Verlängerung eingeschaltet ist: Sie gilt erst ab der nächsten
Laufzeit. Verlängern können Sie jetzt auf der Seite der Domain:
{{else if .Withdrawn}}
Sie haben den Vertrag über diese Domain am {{.Withdrawn}} widerrufen. Möchten Sie
sie doch behalten? Dann verlängern Sie sie bitte jetzt auf ihrer Seite:
{{else if eq .Choice "expire"}}
Sie haben gewählt, diese Domain auslaufen zu lassen. Möchten Sie sie
doch behalten? Dann verlängern Sie sie bitte jetzt auf ihrer Seite:
{{else}}
Möchten Sie die Domain behalten? Dann verlängern Sie sie bitte jetzt
auf ihrer Seite:
{{end}}
{{.Place}}

` + germanRenewalPrice + germanUnpaid + `{{end}}`},
	registrar.MailHolderExpiry: {`{{if eq .Change "domain_held"}}{{.Domain}} ist nicht mehr im DNS und wird frühestens am {{.DeleteAt}} gelöscht{{else if or (eq .Change "domain_deleted") (eq .Change "domain_closed")}}{{.Domain}} {{if .Restorable}}ist gelöscht und bis {{.Restorable}} wiederherstellbar{{else}}wurde am {{.Day}} gelöscht{{end}}{{else if eq .Change "expired"}}{{.Domain}} ist am {{.Date}} abgelaufen{{else if .ChargeAt}}{{.Domain}}: automatische Verlängerung am {{.ChargeAt}} vorgesehen{{else}}{{.Domain}} läuft am {{.Date}} ab{{end}}`, `
Sie sind als Inhaber dieser Domain eingetragen:

Domain: {{.Domain}}
{{if eq .Change "domain_held"}}
Sie wurde nicht verlängert. Deshalb haben wir sie am {{.Day}}
aus dem DNS genommen: Websites und E-Mail-Adressen unter diesem Namen
funktionieren nicht mehr. Ohne Verlängerung löschen wir sie frühestens am
{{.DeleteAt}}.
{{else if or (eq .Change "domain_deleted") (eq .Change "domain_closed")}}
Sie wurde nicht verlängert und am {{.Day}} gelöscht.{{if .Restorable}}
Bis zum {{.Restorable}} lässt sie sich noch wiederherstellen.{{end}}
{{else}}
{{if eq .Change "expired"}}Die bezahlte Laufzeit ist am {{.Date}} abgelaufen.{{else}}Die bezahlte Laufzeit endet am {{.Date}}.{{end}}
{{if and .Over (eq .Change "expired")}}Verlängern lässt sie sich bei uns nicht mehr.{{if eq .Unpaid "expire"}}
` + germanRegistryExpires + `{{else if .DeleteAt}} Wir löschen sie frühestens am
{{.DeleteAt}}.{{with .Days}} Danach lässt sie sich noch {{.}} Tage lang wiederherstellen.{{end}}{{end}}
{{else if .ChargeAt}}Am {{.ChargeAt}} soll sie sich automatisch verlängern. Sie müssen nichts tun.
{{else if and .Over (eq .Unpaid "expire")}}Verlängern lässt sie sich nur bis {{.EndsAt}}.
` + germanRegistryExpires + `
{{else if eq .Unpaid "expire"}}` + germanRegistryExpires + `
{{else if .HoldAt}}Ohne Verlängerung nehmen wir sie am {{.HoldAt}} aus dem DNS und löschen sie
frühestens am {{.DeleteAt}}.
{{else if eq .Unpaid "transit"}}Ohne Verlängerung übergeben wir sie am {{.DeleteAt}} an die Registry
DENIC, die Ihnen dann einen Brief schreibt.
{{else if .Over}}Verlängern lässt sie sich nur bis {{.EndsAt}}. Dann wird sie gelöscht.
{{else if .DeleteAt}}Ohne Verlängerung löschen wir sie frühestens am {{.DeleteAt}}.
{{else if eq .Unpaid "consent"}}Ohne Verlängerung kann sie danach ausfallen.
{{else}}Ohne Verlängerung kann sie danach ausfallen und gelöscht werden.
{{end}}{{end}}
Verwaltet wird die Domain von unserem Kunden{{with .Name}}:

  {{.}}

{{else}}.
{{end}}{{if or .ChargeAt (and .Over (eq .Change "expired")) (and (or (eq .Change "domain_deleted") (eq .Change "domain_closed")) (not .Restorable))}}Haben Sie Fragen? Dann wenden Sie sich bitte dorthin. Auch wir antworten
Ihnen:{{else}}Möchten Sie sie behalten? Dann wenden Sie sich bitte dorthin. Fragen
beantworten auch wir:{{end}}

{{.Contact}}
`},
	registrar.MailDomainHeld: {"{{.Domain}} ist nicht mehr im DNS und wird frühestens am {{.DeleteAt}} gelöscht", `
wir haben eine Domain aus dem DNS genommen, ` + germanWhy + `:

Domain:             {{.Domain}}
Bezahlt bis:        {{.Date}}
Nicht im DNS seit:  {{.Day}}
Löschung:           frühestens am {{.DeleteAt}}

Websites und E-Mail-Adressen unter diesem Namen funktionieren nicht mehr.
Verlängern Sie die Domain, und wir nehmen sie sofort wieder ins DNS auf. Bis
Websites und E-Mail überall wieder funktionieren, kann es einige Stunden
dauern. Verlängern können Sie bis zur Löschung zum gewohnten Preis, auf der
Seite der Domain:

{{.Place}}
`},
	registrar.MailDomainDeleted: {"{{.Domain}} {{if .Restorable}}ist gelöscht und bis {{.Restorable}} wiederherstellbar{{else}}wurde am {{.Day}} gelöscht{{end}}", `
{{if eq .Change "refunded"}}eine Domain wurde gelöscht. Den Preis ihrer Registrierung haben wir erstattet:

Domain:       {{.Domain}}
{{else}}eine Domain wurde gelöscht, ` + germanWhy + `:

Domain:       {{.Domain}}
Bezahlt bis:  {{.Date}}
{{end}}Gelöscht:     {{.Day}}
{{if .Restorable}}
Bis zum {{.Restorable}} können Sie sie noch wiederherstellen.{{if .Gross}} Das kostet
voraussichtlich {{.Gross}}, die Verlängerung eingeschlossen.{{end}} Den
genauen Preis sehen Sie vor dem Bezahlen unter „Domains“:

{{.Portal}}

Danach kann die Domain jemand anderes registrieren.
{{else}}
Bei uns lässt sie sich nicht wiederherstellen. Haben Sie Fragen?
Antworten Sie uns bitte.
{{end}}`},
	registrar.MailDomainClosed: {`{{.Domain}} ist seit {{.Day}} nicht mehr bei uns`, `
eine Domain gehört nicht mehr zu Ihrem Konto:

Domain:       {{.Domain}}
{{if or (eq .Change "refunded") (eq .Change "refunded_handed_over")}}{{else}}Bezahlt bis:  {{.Date}}
{{end}}{{if eq .Change "handed_over"}}
Am {{.Day}} haben wir sie an die Registry DENIC übergeben,
` + germanWhy + `. DENIC schreibt dem Inhaber einen Brief. Darin
steht, wie er die Domain behalten kann.{{with .Page}} Das Wichtigste finden Sie auch hier:

{{.}}{{end}}
{{else if eq .Change "refunded_handed_over"}}
Den Preis der Registrierung haben wir erstattet. Am {{.Day}} haben wir sie an
die Registry DENIC übergeben. DENIC schreibt dem Inhaber einen Brief. Darin
steht, wie er die Domain behalten kann.
{{else if eq .Change "refunded"}}
Wir haben den Preis der Registrierung erstattet und die Domain am
{{.Day}} gelöscht. Sobald die Registry sie freigibt, kann jeder sie neu
registrieren.
{{else}}
{{if .Cancelled}}Nach Ihrer Kündigung vom {{.Cancelled}} ist sie{{else if eq .Choice "expire"}}Sie haben sie auslaufen lassen; sie ist{{else}}Ihre Laufzeit war zu Ende; sie ist{{end}} seit {{.Day}} endgültig gelöscht.{{with .Withdrawn}}
Ihren Widerruf vom {{.}} bearbeiten wir noch.{{end}}
Sobald die Registry sie freigibt, kann jeder sie neu registrieren.
{{end}}`},
	registrar.MailDomainRestored: {`{{.Domain}} ist wieder da und bis {{.Date}} bezahlt`, `
{{if eq .Change "redemption"}}eine gelöschte Domain ist wiederhergestellt:{{else}}eine Domain ist verlängert und wieder im DNS:{{end}}

Domain:       {{.Domain}}
Bezahlt bis:  {{.Date}}

Bis Websites und E-Mail überall wieder funktionieren, kann es einige Stunden
dauern. Die Domain finden Sie hier:

{{.Portal}}
`},
	registrar.MailDataReminder: {"Stimmen Ihre Inhaberdaten noch? Stand {{.Day}}", `
einmal im Jahr bitten wir Sie, die Inhaberdaten Ihrer Domains zu prüfen.
Das verlangt die ICANN von jedem Registrar. In Ihrem Profil steht:

{{range .Registrant}}  {{.}}
{{end}}
{{if .Items}}{{if .Others}}Diese Domains sind noch mit anderen Angaben eingetragen{{else}}Diese Domain ist noch mit anderen Angaben eingetragen{{end}}:
` + germanCheckList + `
Prüfen Sie das hier, und übernehmen Sie die Angaben aus Ihrem Profil:

{{.Portal}}/holders/own/domains

Hat sich etwas geändert, korrigieren Sie vorher Ihr Profil:
{{else}}Stimmt alles? Dann müssen Sie nichts tun. Hat sich etwas geändert,
korrigieren Sie es bitte unter „Profil“. Danach wählen Sie aus, welche
Domains die neuen Angaben bekommen:
{{end}}
{{.Portal}}/profile
{{if .OtherHolders}}
Sie haben auch andere Inhaber angelegt. Bitte prüfen Sie deren Angaben:

{{.Portal}}/holders
{{end}}
Falsche Inhaberdaten können dazu führen, dass eine Domain gelöscht wird.
`},
}
