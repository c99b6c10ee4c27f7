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
	registrar.MailInquiryReceived: {"Anfrage {{.Number}}: {{.Topic}}", `
über das Kontaktformular ist eine Anfrage eingegangen:

Vorgangsnummer: {{.Number}}
Eingang:        {{.At}}
Thema:          {{.Topic}}
E-Mail:         {{.Email}}

> Name:   {{.Name}}{{with .About}}
> Betrifft: {{.}}{{end}}
>
> {{.Message}}

Die E-Mail-Adresse ist nicht geprüft. Antworten Sie an sie, nennen Sie die
Vorgangsnummer, und schließen Sie den Vorgang danach hier:

{{.Case}}
`},
}
