package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

var germanTopics = map[string]string{
	"domain": "Domain und Verlängerung", "transfer": "Umzug", "payment": "Bezahlung und Rechnung", "account": "Konto und Anmeldung",
	"privacy": "Datenschutz", "complaint": "Beschwerde", "abuse": "Missbrauch einer Domain", "other": "Anderes",
}

var germanContactMails = map[registrar.MailKind]mailText{
	registrar.MailInquiryConfirmed: {"Ihre Anfrage ist eingegangen ({{.Number}})", `
am {{.At}} ist über unser Kontaktformular eine
Anfrage mit dieser E-Mail-Adresse eingegangen.

Vorgangsnummer: {{.Number}}

Ein Mensch liest sie und antwortet Ihnen. Bitte nennen Sie die Nummer,
wenn Sie uns noch einmal schreiben.

Haben Sie uns nicht geschrieben? Dann hat jemand Ihre Adresse angegeben.
Sie müssen nichts tun.
`},
	registrar.MailDisputeReceived: {`{{if eq .Change "inquiry"}}Nachfrage einer Bank{{else if eq .Change "returned"}}Rücklastschrift{{else if eq .Change "lost"}}Reklamation verloren{{else}}Zahlung reklamiert{{end}} über {{.Gross}}{{with .Deadline}}, Belege bis {{.}}{{end}}{{with .Domain}}: {{.}}{{with $.More}} und {{.}} weitere{{end}}{{end}}`, `
{{if eq .Change "inquiry"}}eine Bank fragt nach einer Zahlung. Noch ist kein Geld weg.
{{else if eq .Change "returned"}}eine Bank hat eine Zahlung zurückgegeben. Entscheiden Sie, was mit den
Domains geschieht.
{{else if eq .Change "lost"}}eine Bank hat gegen uns entschieden. Das Geld ist weg; entscheiden Sie,
was mit den Domains geschieht.
{{else}}eine Zahlung wurde bei der Bank reklamiert, und das Geld ist zurückgeholt.
{{end}}
Betrag:     {{.Gross}}{{with .Order}}
Bestellung: {{.}}{{end}}{{with .Deadline}}
Belege bis: {{.}}{{end}}

Hier finden Sie den Vorgang:

{{.Case}}
`},
	registrar.MailInquiryReceived: {"Anfrage {{.Number}}: {{.Topic}}", `
über das Kontaktformular ist eine Anfrage eingegangen:

Vorgangsnummer: {{.Number}}
Eingang:        {{.At}}
Thema:          {{.Topic}}
E-Mail:         {{.Email}}

> Name:     {{.Name}}{{with .About}}
> Betrifft: {{.}}{{end}}
>
> {{.Message}}

Die E-Mail-Adresse ist nicht geprüft. Antworten Sie an sie, nennen Sie die
Vorgangsnummer, und schließen Sie den Vorgang danach hier:

{{.Case}}
`},
}
