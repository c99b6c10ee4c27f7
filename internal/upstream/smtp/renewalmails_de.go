package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

// germanHeld lists the announced renewals that a notice puts on hold.
const germanHeld = `{{if .Held}}
Ausgesetzt, weil eine Kündigung oder ein Widerruf eingegangen ist:
{{range .Held}}
{{.Name}}
  {{if eq .Held "termination"}}Kündigung{{else}}Widerruf{{end}} eingegangen
  {{if eq .Years 1}}1 Jahr{{else}}{{.Years}} Jahre{{end}}: {{.Gross}}{{with $.Tax}} {{.}}{{end}}{{if $.PriceRise}}, bisher {{.Was}}{{end}}
  Abbuchung frühestens am {{.Charge}}
{{end}}
Solange wir die Kündigung oder den Widerruf bearbeiten, beginnen wir keine
Abbuchung. Beenden wir den Vertrag, buchen wir nichts ab. Besteht er weiter,
geht die automatische Verlängerung weiter, und wir buchen dann den
genannten Preis ab.
{{end}}`

// germanRenewalMails are the mails about charges of automatic renewals in German.
var germanRenewalMails = map[registrar.MailKind]mailText{
	registrar.MailRenewalUpcoming: {"{{.Domain}}{{if .More}} und {{.More}} weitere{{end}}: {{if .Charge}}Verlängerung am {{.Charge}}{{else}}automatische Verlängerung ausgesetzt{{end}}", `
{{if .Renewals}}Ihre automatische Verlängerung steht an:{{else}}Ihre automatische Verlängerung ist ausgesetzt.{{end}}
{{range .Renewals}}
{{.Name}}
  {{if eq .Years 1}}1 Jahr{{else}}{{.Years}} Jahre{{end}}: {{.Gross}}{{with $.Tax}} {{.}}{{end}}, Abbuchung am {{.Charge}}
{{end}}{{if and .Renewals .More}}
Zusammen: {{.Gross}}{{with $.Tax}} {{.}}{{end}}{{if .RoundedTotal}}
(Die Umsatzsteuer runden wir einmal für jede Abbuchung.){{end}}
{{end}}` + germanHeld + `{{with .Method}}
Zahlungsmittel: {{.}}
{{end}}{{with .MethodExpires}}
Achtung: Diese Karte gilt nur bis {{.}} und ist am Tag der Abbuchung
abgelaufen. Hinterlegen Sie bitte vorher ein anderes Zahlungsmittel,
sonst {{if $.More}}werden die Domains{{else}}wird die Domain{{end}} nicht verlängert:

{{$.Portal}}/payment-methods
{{end}}
Mehr buchen wir dafür nicht ab, auch wenn der Preis bis dahin steigt.

Möchten Sie nicht verlängern? Dann schalten Sie die automatische
Verlängerung vor dem Tag der Abbuchung aus. Auch das Zahlungsmittel
können Sie bis dahin ändern:

{{.Portal}}
`},
	registrar.MailRenewalPriceRise: {"{{.Domain}}{{if .More}} und {{.More}} weitere{{end}}: {{if .Charge}}neuer Preis ab der Verlängerung am {{.Charge}}{{else}}neuer Preis, automatische Verlängerung ausgesetzt{{end}}", `
{{if .Renewals}}Ihre automatische Verlängerung steht an, und der Preis ist gestiegen:{{else}}Ihre automatische Verlängerung ist ausgesetzt, und der Preis ist gestiegen.{{end}}
{{range .Renewals}}
{{.Name}}
  {{if eq .Years 1}}1 Jahr{{else}}{{.Years}} Jahre{{end}}: {{.Gross}}{{with $.Tax}} {{.}}{{end}}, bisher {{.Was}}
  Abbuchung am {{.Charge}}
{{end}}{{if and .Renewals .More}}
Zusammen: {{.Gross}}{{with $.Tax}} {{.}}{{end}}{{if .RoundedTotal}}
(Die Umsatzsteuer runden wir einmal für jede Abbuchung.){{end}}
{{end}}` + germanHeld + `{{with .Method}}
Zahlungsmittel: {{.}}
{{end}}{{with .MethodExpires}}
Achtung: Diese Karte gilt nur bis {{.}} und ist am Tag der Abbuchung
abgelaufen. Hinterlegen Sie bitte vorher ein anderes Zahlungsmittel,
sonst {{if $.More}}werden die Domains{{else}}wird die Domain{{end}} nicht verlängert:

{{$.Portal}}/payment-methods
{{end}}
Mehr buchen wir dafür nicht ab, auch wenn der Preis weiter steigt.

Sind Sie mit dem neuen Preis nicht einverstanden? Dann schalten Sie die
automatische Verlängerung vor dem Tag der Abbuchung aus:

{{.Portal}}
`},
	registrar.MailRenewalDeclined: {"{{.Domain}}{{if .More}} und {{.More}} weitere{{end}}: Abbuchung fehlgeschlagen, nächster Versuch am {{.Charge}}", `
wir konnten den Betrag für {{if .More}}Ihre Verlängerungen{{else}}eine Verlängerung{{end}} nicht abbuchen.
{{if eq .Trouble "authentication"}}Ihre Bank verlangt, dass Sie die Zahlung selbst freigeben.
{{else if eq .Trouble "expired"}}Ihre Karte ist abgelaufen.
{{else if eq .Trouble "funds"}}Ihr Kartenkonto ist nicht ausreichend gedeckt.
{{else if eq .Trouble "none"}}Ihr Standard-Zahlungsmittel fehlt oder gilt nicht mehr.
{{else}}Ihre Bank hat die Zahlung abgelehnt.
{{end}}{{range .Renewals}}
{{.Name}}
  Ende der Laufzeit: {{.End}}
{{end}}
Betrag: {{.Gross}}{{with $.Tax}} {{.}}{{end}}{{with .Method}}
Zahlungsmittel: {{.}}{{end}}

Bis {{.PayableBy}} können Sie selbst bezahlen, mit jeder Karte:

{{.Checkout}}

Sonst versuchen wir es am {{.Charge}} noch einmal. Möchten Sie nicht
verlängern, schalten Sie die automatische Verlängerung vorher unter
„Domains“ aus. Ein anderes Zahlungsmittel legen Sie unter
„Zahlungsmittel“ als Standard fest:

{{.Portal}}
`},
	registrar.MailRenewalFailed: {"{{.Domain}}{{if .More}} und {{.More}} weitere{{end}}: nicht verlängert, Laufzeit endet am {{.Date}}", `
{{if .Checkout}}auch beim letzten Versuch konnten wir den Betrag für {{if .More}}Ihre Verlängerungen{{else}}eine Verlängerung{{end}}
nicht abbuchen.
{{if eq .Trouble "authentication"}}Ihre Bank verlangt, dass Sie die Zahlung selbst freigeben.
{{else if eq .Trouble "expired"}}Ihre Karte ist abgelaufen.
{{else if eq .Trouble "funds"}}Ihr Kartenkonto ist nicht ausreichend gedeckt.
{{else if eq .Trouble "none"}}Ihr Standard-Zahlungsmittel fehlt oder gilt nicht mehr.
{{else}}Ihre Bank hat die Zahlung abgelehnt.
{{end}}{{else if eq .Trouble "held"}}wir haben {{if .More}}Domains{{else}}eine Domain{{end}} nicht automatisch verlängert. Eine Kündigung oder ein Widerruf
ist eingegangen. Deshalb war die automatische Verlängerung bis zum Ende der
Laufzeit ausgesetzt.
{{else}}wir können {{if .More}}diese Domains{{else}}eine Domain{{end}} nicht automatisch verlängern.
{{if eq .Trouble "unsold"}}Domains mit dieser Endung bieten wir nicht mehr an.
{{else if eq .Trouble "premium"}}Die Registry verlangt für {{if .More}}diese Premium-Domains{{else}}diese Premium-Domain{{end}} mehr, als wir angekündigt
haben, oder nennt uns {{if .More}}die Preise{{else}}ihren Preis{{end}} nicht.
{{else if eq .Trouble "late"}}Bis zum Ende der Laufzeit war die Abbuchung nicht möglich.
{{else}}Die Registry nimmt die {{if .More}}Verlängerungen{{else}}Verlängerung{{end}} nicht an.
{{end}}{{end}}{{range .Renewals}}
{{.Name}}
  Ende der Laufzeit: {{.End}}{{with .Held}}
  Eingegangen: {{if eq . "termination"}}Kündigung{{else}}Widerruf{{end}}{{end}}
{{end}}{{if .Checkout}}
Betrag: {{.Gross}}{{with $.Tax}} {{.}}{{end}}

Wir versuchen es nicht noch einmal. Möchten Sie {{if .More}}die Domains{{else}}die Domain{{end}} behalten,
bezahlen Sie bitte bis {{.PayableBy}} selbst:

{{.Checkout}}

Bis zum Ende {{if .More}}ihrer{{else}}der{{end}} Laufzeit können Sie sie auch {{if .More}}einzeln {{end}}unter „Domains“
verlängern. Sonst {{if .More}}laufen sie{{else}}läuft sie{{end}} dann ab.
{{else if eq .Trouble "held"}}
Wir haben nichts abgebucht. Die Laufzeit ist vorbei. Möchten Sie {{if .More}}eine Domain{{else}}die
Domain{{end}} doch behalten, verlängern Sie sie bitte sofort unter „Domains“.
{{else if eq .Trouble "late"}}
Wir haben nichts abgebucht. Die Laufzeit ist vorbei. Möchten Sie die
{{if .More}}Domains{{else}}Domain{{end}} behalten, verlängern Sie sie bitte sofort unter „Domains“.
{{else if eq .Trouble "premium"}}
Wir haben nichts abgebucht. Möchten Sie die {{if .More}}Domains{{else}}Domain{{end}} behalten, verlängern
Sie sie bitte vor dem Ende der Laufzeit unter „Domains“; dort sehen Sie
den Preis, bevor Sie bezahlen.
{{else if eq .Trouble "unsold"}}
Wir haben nichts abgebucht. Möchten Sie die {{if .More}}Domains{{else}}Domain{{end}} behalten, ziehen Sie
sie bitte vor dem Ende der Laufzeit zu einem anderen Anbieter um; {{if .More}}die
Auth-Codes{{else}}den
Auth-Code{{end}} finden Sie unter „Domains“.
{{else}}
Wir haben nichts abgebucht. Möchten Sie die {{if .More}}Domains{{else}}Domain{{end}} behalten, antworten
Sie bitte auf diese E-Mail. Ohne Verlängerung {{if .More}}laufen sie{{else}}läuft sie{{end}} mit dem Ende
der Laufzeit ab.
{{end}}
Ihre Domains finden Sie hier:

{{.Portal}}
`},
}
