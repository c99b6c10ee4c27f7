package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

const germanTransferFacts = `
Domain:         {{.Domain}}
Neuer Anbieter: {{if .Gaining}}{{.Gaining}} (Kennung bei der Registry){{else}}nennt die Registry nicht{{end}}{{if .Requested}}
Beantragt:      {{.Requested}}{{end}}`

// germanTransferMails are the mails about transfers to other registrars in German.
var germanTransferMails = map[registrar.MailKind]mailText{
	registrar.MailTransferAway: {"{{.Domain}}: Umzug zu einem anderen Anbieter beantragt{{with .ActsOn}}, zieht am {{.}} um{{end}}", `
ein anderer Anbieter will eine Ihrer Domains übernehmen.
` + germanTransferFacts + `{{if .Acts}}
Zieht um am:    {{.Acts}}{{end}}

Wollen Sie umziehen? Dann brauchen Sie nichts zu tun.
{{if .Stoppable}}Über den Link unten können Sie auch sofort zustimmen.

Wollen Sie das nicht? Dann stoppen Sie den Umzug{{if .Acts}} vor diesem Zeitpunkt{{end}}.
Melden Sie sich dazu hier an:

{{.Stop}}
{{else}}
Wollen Sie das nicht? Die Registry dieser Endung lässt uns den Umzug
nicht ablehnen. Bitten Sie den neuen Anbieter, {{if .NoPassword}}ihn abzubrechen, melden
Sie alle anderen Geräte ab und schreiben Sie uns
sofort.{{else}}ihn abzubrechen, ändern
Sie Ihr Passwort und schreiben Sie uns sofort.{{end}} Den Stand sehen Sie hier:

{{.Stop}}
{{end}}`},
	registrar.MailTransferAwayEnded: {`{{if eq .Change "stopped"}}{{.Domain}} bleibt bei uns: Umzug am {{.EndedOn}} gestoppt{{else if or (eq .Change "approved") (eq .Change "completed")}}{{.Domain}} ist am {{.EndedOn}} zu einem anderen Anbieter umgezogen{{else if eq .Change "stop_refused"}}{{.Domain}}: Umzug konnte nicht gestoppt werden{{else if eq .Change "approve_refused"}}{{.Domain}}: Zustimmung zum Umzug abgelehnt{{else}}{{.Domain}} bleibt bei uns: Umzug beendet{{end}}`, `
{{if eq .Change "stopped"}}der Umzug Ihrer Domain ist gestoppt. Sie bleibt bei uns.{{else if eq .Change "approved"}}Ihre Domain ist umgezogen, nachdem dem Umzug zugestimmt wurde.{{else if eq .Change "completed"}}Ihre Domain ist zu einem anderen Anbieter umgezogen.{{else if eq .Change "cancelled"}}der Umzug Ihrer Domain wurde abgebrochen. Sie bleibt bei uns.{{else if eq .Change "stop_refused"}}die Registry hat unsere Ablehnung des Umzugs nicht angenommen. Der
Umzug läuft weiter.{{else if eq .Change "approve_refused"}}die Registry hat die Zustimmung zum Umzug nicht angenommen. Der Umzug
läuft weiter.{{else}}der Umzug Ihrer Domain ist beendet. Sie ist nicht umgezogen.{{end}}
` + germanTransferFacts + `{{if .Ended}}
Beendet:        {{.Ended}}{{end}}{{if and .Acts (not .Ended)}}
Zieht um am:    {{.Acts}}{{end}}{{with .Why}}
Grund:          {{if eq . "fraud"}}Verdacht auf Betrug{{else if eq . "identity"}}Zweifel an der Identität des Inhabers{{else if eq . "dispute"}}ein Verfahren um den Namen{{else if eq . "court_order"}}eine gerichtliche Anordnung{{else if eq . "nonpayment"}}die Zahlung wurde reklamiert und ist offen{{else}}Frist nach Registrierung, Umzug oder Inhaberwechsel{{end}}{{end}}
{{if or (eq .Change "approved") (eq .Change "completed")}}
Wir verlängern die Domain nicht mehr und buchen nichts mehr für sie ab.
Ansprechpartner ist jetzt der neue Anbieter. Haben Sie den Umzug nicht
gewollt, schreiben Sie uns sofort.
{{else if eq .Change "stopped"}}
Der Auth-Code gilt weiter. Sperren Sie die Domain oder fordern Sie einen
neuen Auth-Code an, sonst kann der Umzug erneut beantragt werden.
{{else if eq .Change "stop_refused"}}
Bitten Sie den neuen Anbieter, den Umzug abzubrechen, und schreiben Sie
uns sofort.
{{end}}
Den Verlauf sehen Sie hier:

{{.Stop}}
`},
}
