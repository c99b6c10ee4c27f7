package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

// germanCheckMails are the mails about the confirmation of registrants' addresses in German. The
// first goes to an address that may be a stranger's, so it names no domains, and of the customer
// only the name: without it, the mail looks like phishing.
var germanCheckMails = map[registrar.MailKind]mailText{
	registrar.MailContactCheck: {`{{if .Suspended}}Domains nicht erreichbar: bitte E-Mail-Adresse bestätigen{{else if eq .Notice "1"}}Domaininhaber: bitte bestätigen Sie Ihre E-Mail-Adresse bis {{.Due}}{{else if eq .Notice "2"}}Erinnerung: bitte bestätigen Sie Ihre E-Mail-Adresse bis {{.Due}}{{else}}Letzte Erinnerung: Ihre Domains gehen am {{.Due}} offline{{end}}`, `
bei dotkontor sind Domains registriert, als deren Inhaber Sie mit dieser
E-Mail-Adresse eingetragen sind.{{with .Name}} Registriert hat sie für Sie:

  {{.}}

{{else}}
{{end}}Die Regeln für Domains (ICANN, § 49 BSIG) verlangen, dass Sie die
Adresse bestätigen.
{{if .Suspended}}
Bis zum {{.Due}} haben wir keine Bestätigung bekommen. Deshalb sind die
Domains zurzeit nicht im DNS. Sobald Sie bestätigen, nehmen wir sie
wieder auf:
{{else}}
Bitte bestätigen Sie sie bis zum {{.Due}}:
{{end}}
{{.Link}}

Auf der Seite genügt ein Klick. Ein Konto brauchen Sie dafür nicht. Der
Link ist gültig bis {{.Until}}.
{{if not .Suspended}}
Ohne Ihre Bestätigung müssen wir die Domains danach aus dem DNS nehmen:
Websites und E-Mail-Adressen unter diesen Namen funktionieren dann nicht
mehr.
{{end}}
Ihnen gehören keine Domains? Dann bestätigen Sie bitte nichts.
`},
	registrar.MailContactSuspended: {`Domains aus dem DNS genommen: {{.Email}} ist nicht bestätigt`, `
die E-Mail-Adresse {{.Email}}, die Sie als Adresse des Inhabers
angegeben haben, ist nach drei Nachrichten nicht bestätigt. Wir mussten
diese Domains aus dem DNS nehmen, sie sind nicht mehr erreichbar:
{{range .Items}}
  {{.Name}}{{end}}{{if .Further}}
  und weitere{{end}}

So kommen sie wieder hinein: Der Inhaber öffnet den Link aus unserer
E-Mail und bestätigt. Wir nehmen sie dann sofort wieder ins DNS auf. Bis
Websites und E-Mails überall wieder funktionieren, kann es einige Stunden
dauern. Die E-Mail können Sie hier noch einmal schicken lassen:

{{.Portal}}/contact-checks

Ist die Adresse falsch? Dann ändern Sie den Inhaber auf der Seite der
Domain.
`},
	registrar.MailContactConfirmed: {`{{.Email}} ist bestätigt: Sperre aufgehoben`, `
die E-Mail-Adresse {{.Email}} ist bestätigt. Die Sperre der Domains, für
die sie als Adresse des Inhabers eingetragen ist, heben wir jetzt auf. Bis
sie überall wieder erreichbar sind, kann es einige Stunden dauern.

{{.Portal}}
`},
}
