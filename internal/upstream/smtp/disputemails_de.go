package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

const germanHeldNames = `{{(index .Items 0).Name}}{{with .OtherOffline}} und {{.}} weitere{{end}}`

// germanDisputeMails are the mails about disputed and returned payments in German.
var germanDisputeMails = map[registrar.MailKind]mailText{
	registrar.MailPaymentDispute: {`{{if and (eq .Change "denied") .Offline}}` + germanHeldNames + ` {{if .OtherOffline}}sind{{else}}ist{{end}} nicht mehr erreichbar: Zahlung über {{.Gross}} offen{{else if eq .Change "kept"}}` + germanHeldNames + ` {{if .OtherOffline}}kommen{{else}}kommt{{end}} wieder ins DNS, Umzüge bleiben gesperrt{{else}}{{with .Items}}{{(index . 0).Name}}{{if $.Others}} und {{$.Others}} weitere{{end}}: {{end}}{{if eq .Change "opened"}}Zahlung über {{.Gross}} reklamiert, Domains für Umzüge gesperrt{{else if eq .Change "returned"}}Zahlung über {{.Gross}} zurückgegeben, Domains für Umzüge gesperrt{{else if eq .Change "lost"}}Zahlung über {{.Gross}} nicht mehr bei uns, Sperre bleibt{{else if eq .Change "denied"}}Zahlung über {{.Gross}} offen, Umzüge abgelehnt{{else}}Sperre wegen der Zahlung aufgehoben{{end}}{{end}}`, `
{{if eq .Change "opened"}}am {{.At}} haben wir erfahren, dass eine Zahlung
bei der Bank reklamiert wurde. Bis die Bank entscheidet, ist der Umzug
der Domains gesperrt, die damit bezahlt wurden.
{{else if eq .Change "returned"}}am {{.At}} haben wir erfahren, dass Ihre Bank eine
Zahlung zurückgegeben hat. Der Umzug der Domains, die damit bezahlt
wurden, ist deshalb gesperrt.
{{else if eq .Change "lost"}}die Bank hat am {{.At}} über eine reklamierte Zahlung
entschieden: Das Geld ist nicht mehr bei uns, die Bestellung ist nicht
bezahlt. Der Umzug der Domains bleibt gesperrt.
{{else if eq .Change "denied"}}eine Bestellung ist weiterhin nicht bezahlt, weil die Zahlung
zurückging. Am {{.At}} haben wir deshalb entschieden:
{{if .Offline}}` + germanHeldNames + ` {{if .OtherOffline}}sind{{else}}ist{{end}} bis zur Klärung nicht mehr erreichbar, Website und
E-Mail funktionieren dort nicht. {{end}}Umzüge dieser Domains lehnen wir ab.
{{else if eq .Change "kept"}}am {{.At}} haben wir entschieden:
` + germanHeldNames + ` {{if .OtherOffline}}bleiben{{else}}bleibt{{end}} wegen der offenen Zahlung nicht länger aus dem
DNS. Umzüge sind weiter gesperrt, und die Bestellung ist weiterhin nicht bezahlt.
{{else if eq .Change "won"}}die Reklamation einer Zahlung ist am {{.At}}
erledigt. Die Sperre für Umzüge ist aufgehoben.
{{else}}am {{.At}} haben wir die Sperre für Umzüge
aufgehoben, die wegen einer zurückgegangenen Zahlung bestand.
{{end}}
Bestellung: {{.Order}}
Betrag:     {{.Gross}}
{{range .Items}}Domain:     {{.Name}}{{if .Offline}} ({{if eq $.State "held"}}nicht mehr im DNS{{else}}kommt wieder ins DNS{{end}}){{end}}
{{end}}{{if eq .State "released"}}
Wir nehmen {{if .OtherOffline}}sie{{else}}die Domain{{end}} wieder ins DNS, wenn nicht noch ein anderer Grund
dagegen steht. Bis Website und E-Mail überall wieder funktionieren,
kann es einige Stunden dauern.
{{end}}
{{if or (eq .Change "won") (eq .Change "lifted")}}Sie können wieder Auth-Codes anfordern und den Inhaber ändern. Wo
die Registry eine Umzugssperre hat, können Sie sie auf der Seite der
Domain aufheben.
{{else}}Gesperrt sind Umzug, Auth-Code und Inhaberwechsel.{{if ne .State "held"}} Nameserver und
DNSSEC können Sie weiter ändern.{{end}}

War das ein Versehen, oder möchten Sie den Betrag bezahlen?
Dann schreiben Sie uns bitte:

{{.Contact}}
{{end}}
Ihre Bestellungen finden Sie hier:

{{.Portal}}
`},
}
