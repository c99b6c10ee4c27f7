package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

// germanCheckNames names the domains of a check in a subject. Mails that the previous release queued
// have none.
const germanCheckNames = `{{with .Items}}{{(index . 0).Name}}{{else}}Ihre Domains{{end}}{{if .Others}} und {{.Others}} weitere{{end}}`

// germanCheckList lists them.
const germanCheckList = `{{range .Items}}
  {{.Name}}{{end}}{{if .Unlisted}}
  und {{.Unlisted}} weitere{{end}}
`

// germanKeptList names the domains of a check that stay in the DNS, after those that don't.
const germanKeptList = `{{if and .Kept (not .AllKept)}}
Im DNS {{if eq .KeptDomains 1}}bleibt diese Domain{{else}}bleiben diese Domains{{end}}, weil ihre Registry uns etwas anderes
nicht erlaubt. Die Bestätigung brauchen wir trotzdem:
{{range .Kept}}
  {{.}}{{end}}{{if .UnlistedKept}}
  und {{.UnlistedKept}} weitere{{end}}
{{end}}`

// germanCheckMails are the mails about the confirmation of registrants' addresses in German. The
// first goes to an address that may be a stranger's, so of the customer it has only the name; without
// that and the domains, the mail looks like phishing.
var germanCheckMails = map[registrar.MailKind]mailText{
	registrar.MailContactCheck: {`{{if .Suspended}}` + germanCheckNames + ` nicht erreichbar: bitte E-Mail-Adresse bestätigen{{else if eq .Notice "1"}}` + germanCheckNames + `: bitte bestätigen Sie Ihre E-Mail-Adresse bis {{.Due}}{{else if eq .Notice "2"}}Erinnerung: ` + germanCheckNames + `, bitte bestätigen Sie Ihre E-Mail-Adresse bis {{.Due}}{{else}}Letzte Erinnerung: ` + germanCheckNames + `, {{if .Kept}}bitte bestätigen Sie Ihre E-Mail-Adresse bis {{.Due}}{{else}}nach dem {{.Due}} nicht mehr erreichbar{{end}}{{end}}`, `
{{if .Others}}bei dotkontor sind diese Domains registriert{{else}}bei dotkontor ist diese Domain registriert{{end}}, und Sie sind mit dieser
E-Mail-Adresse als Inhaber eingetragen:
` + germanCheckList + `{{with .Name}}
Registriert hat sie für Sie:

  {{.}}
{{end}}
Die Regeln für Domains (ICANN, § 49 BSIG) verlangen, dass Sie die
Adresse bestätigen.
{{if .Suspended}}
Bis zum {{.Due}} haben wir keine Bestätigung bekommen. Deshalb {{if .Others}}sind die
Domains{{else}}ist die Domain{{end}} zurzeit nicht im DNS. Sobald Sie bestätigen, nehmen wir sie
wieder auf:
{{else}}
Bitte bestätigen Sie sie bis zum {{.Due}}:
{{end}}
{{.Link}}

Auf der Seite genügt ein Klick. Ein Konto brauchen Sie dafür nicht. Der
Link ist gültig bis {{.Until}}.
{{if .AllKept}}
{{if .Others}}Die Domains bleiben{{else}}Die Domain bleibt{{end}} auch dann im DNS, weil die Registry uns etwas anderes nicht
erlaubt. Fehlt Ihre Bestätigung nach dem {{.Due}} noch, prüfen wir den Fall
und melden uns.
{{else if not .Suspended}}
Ohne Ihre Bestätigung müssen wir {{if .Others}}die Domains{{else}}die Domain{{end}} danach aus dem DNS nehmen. Websites und
E-Mail-Adressen unter {{if .Others}}diesen Namen{{else}}diesem Namen{{end}} funktionieren dann nicht mehr.
{{end}}` + germanKeptList + `
{{if .Others}}Gehören die Domains nicht Ihnen?{{else}}Gehört die Domain nicht Ihnen?{{end}} Dann bestätigen Sie bitte nichts.
`},
	registrar.MailContactWarning: {germanCheckNames + `: {{if .AllKept}}der Inhaber muss seine E-Mail-Adresse bis {{.Due}} bestätigen{{else}}ohne Bestätigung des Inhabers nach dem {{.Due}} nicht mehr erreichbar{{end}}`, `
der Inhaber {{if .Others}}dieser Domains{{else}}dieser Domain{{end}} hat seine E-Mail-Adresse {{.Email}}
noch nicht bestätigt:
` + germanCheckList + `
Die Regeln für Domains (ICANN, § 49 BSIG) verlangen das. {{if .AllKept}}Bestätigt er sie
nicht bis zum {{.Due}}, {{if .Others}}bleiben die Domains{{else}}bleibt die Domain{{end}} trotzdem im DNS, weil die
Registry uns etwas anderes nicht erlaubt. Wir prüfen dann den Fall und
melden uns bei Ihnen.
{{else}}Bestätigt er sie
nicht bis zum {{.Due}}, müssen wir {{if .Others}}die Domains{{else}}die Domain{{end}} danach aus dem DNS nehmen.
Websites und E-Mail-Adressen unter {{if .Others}}diesen Namen{{else}}diesem Namen{{end}} funktionieren dann nicht
mehr.
{{end}}` + germanKeptList + `
Heute haben wir dem Inhaber zum letzten Mal geschrieben. Bitten Sie ihn,
den Link in dieser E-Mail zu öffnen und zu bestätigen. Sie können sie ihm
hier noch einmal schicken lassen:

{{.Portal}}/contact-checks

Ist die Adresse falsch? Dann ändern Sie den Inhaber auf der Seite {{if .Others}}jeder{{else}}der{{end}}
Domain.
`},
	registrar.MailContactSuspended: {germanCheckNames + ` aus dem DNS genommen: {{.Email}} ist nicht bestätigt`, `
die E-Mail-Adresse {{.Email}}, die Sie als Adresse des Inhabers
angegeben haben, ist nach drei Nachrichten nicht bestätigt. Wir mussten
{{if .Others}}diese Domains aus dem DNS nehmen, sie sind{{else}}diese Domain aus dem DNS nehmen, sie ist{{end}} nicht mehr erreichbar:
` + germanCheckList + `
So {{if .Others}}kommen{{else}}kommt{{end}} sie wieder hinein: Der Inhaber öffnet den Link aus unserer
E-Mail und bestätigt. Wir nehmen sie dann sofort wieder ins DNS auf. Bis
Websites und E-Mails überall wieder funktionieren, kann es einige Stunden
dauern. Die E-Mail können Sie hier noch einmal schicken lassen:

{{.Portal}}/contact-checks

Ist die Adresse falsch? Dann ändern Sie den Inhaber auf der Seite {{if .Others}}jeder{{else}}der{{end}}
Domain.
`},
	registrar.MailContactConfirmed: {`{{.Email}} ist bestätigt: ` + germanCheckNames + ` wieder im DNS`, `
die E-Mail-Adresse {{.Email}} ist bestätigt. {{if .Others}}Die Domains{{else}}Die Domain{{end}}, für die sie als
Adresse des Inhabers eingetragen ist, nehmen wir jetzt wieder ins DNS auf:
` + germanCheckList + `
Bis sie überall wieder erreichbar {{if .Others}}sind{{else}}ist{{end}}, kann es einige Stunden dauern.

{{.Portal}}
`},
}
