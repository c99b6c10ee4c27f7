package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

// germanConsentMails are the mails about automatic renewal and payment methods in German.
var germanConsentMails = map[registrar.MailKind]mailText{
	registrar.MailRenewalOn: {"{{if .More}}{{.Domain}} und {{.More}} weitere verlängern sich automatisch{{with .Earliest}}, erste Abbuchung am {{.}}{{end}}{{if .Manual}}, {{.Manual}} davon dieses Mal noch nicht{{end}}{{else if .NextTerm}}{{.Domain}}: bitte bis {{.Date}} noch selbst verlängern, danach automatisch{{else}}{{.Domain}} verlängert sich automatisch, erste Abbuchung am {{.Charge}}{{end}}", `
die automatische Verlängerung ist eingeschaltet:
{{if .More}}{{range .Renewals}}
{{.Name}}
  {{.Gross}}{{with $.Tax}} {{.}}{{end}}{{if eq .Years 1}} für 1 Jahr{{else if .Years}} für {{.Years}} Jahre{{end}}, erste Abbuchung am {{.Charge}}
{{if .NextTerm}}  Wichtig: Die laufende Laufzeit endet am {{.End}}. Bitte
  verlängern Sie diese Domain vorher noch selbst.
{{else if .Announced}}  Diese E-Mail kündigt die erste Abbuchung an.
{{end}}{{end}}
Zahlungsmittel: {{.Name}}

Jede Abbuchung kündigen wir mindestens 30 Tage vorher per E-Mail an.
{{else}}
Domain:          {{.Domain}}
Preis:           {{.Gross}}{{with $.Tax}} {{.}}{{end}}{{if eq .Years 1}} für 1 Jahr{{else if .Years}} für {{.Years}} Jahre{{end}}
Erste Abbuchung: {{.Charge}}
Zahlungsmittel:  {{.Name}}
{{if .NextTerm}}
Wichtig: Die laufende Laufzeit endet am {{.Date}}. Eine Abbuchung
dafür könnten wir nicht mehr 30 Tage vorher ankündigen. Bitte
verlängern Sie dieses Mal selbst; ab der nächsten Laufzeit geschieht
es automatisch.
{{else if .Announced}}
Diese E-Mail kündigt die erste Abbuchung an. Jede weitere kündigen wir
ebenfalls mindestens 30 Tage vorher an.
{{else}}
Jede Abbuchung kündigen wir mindestens 30 Tage vorher per E-Mail an.
{{end}}{{end}}
Sie haben {{if .More}}für jede dieser Domains {{end}}erklärt:

{{.Consent}}

Bitte bewahren Sie diese E-Mail auf. Ausschalten können Sie die
automatische Verlängerung jederzeit hier:

{{if .More}}{{.Portal}}/domains{{else}}{{.Page}}{{end}}

Waren Sie das nicht? Dann schalten Sie sie bitte {{if .NoPassword}}aus, sehen Sie unter
„Sicherheit“ Ihre Geräte und Passkeys durch und antworten Sie auf diese
E-Mail.{{else}}aus, ändern Sie Ihr
Passwort und antworten Sie auf diese E-Mail.{{end}}
`},
	registrar.MailRenewalOff: {"{{if .More}}{{.Domain}} und {{.More}} weitere{{else}}{{.Domain}} {{if .Lasts}}ist bis {{.Date}} bezahlt{{else}}endet am {{.Date}}{{end}}{{end}}: automatische Verlängerung ausgeschaltet", `
die automatische Verlängerung wurde am {{.At}}
ausgeschaltet{{if eq .Change "agent"}}, von einem Programm, dem Sie Zugang zu Ihrem Konto
gegeben haben{{else if eq .Change "terminated"}}, weil der Vertrag gekündigt ist (Nummer {{.Number}}). Ihre
Zustimmung gilt nicht mehr{{else if eq .Change "withdrawn"}}, weil der Vertrag widerrufen ist (Nummer {{.Number}}). Ihre
Zustimmung gilt nicht mehr{{end}}{{with .Address}} (IP-Adresse {{.}}){{end}}.
{{if .More}}{{range .Renewals}}
{{.Name}}
  Ende der Laufzeit: {{.End}}
{{end}}
Wir buchen dafür nichts mehr ab. Bis zum Ende der Laufzeit gehören die
Domains Ihnen, und Sie können sie jederzeit selbst verlängern. Vor dem
Ablauf erinnern wir Sie.
{{else}}
Domain:            {{.Domain}}
{{if .Lasts}}Bezahlt bis:      {{else}}Ende der Laufzeit:{{end}} {{.Date}}

Wir buchen dafür nichts mehr ab. Bis zum Ende der Laufzeit gehört die
Domain Ihnen, und Sie können sie jederzeit selbst verlängern. {{if .Lasts}}Ohne
Verlängerung kann sie danach ausfallen. {{end}}Vor dem
Ablauf erinnern wir Sie.
{{end}}
War das ein Versehen? Hier schalten Sie die automatische Verlängerung
wieder ein:

{{if .More}}{{.Portal}}/domains{{else}}{{.Page}}/auto-renew{{end}}
`},
	registrar.MailRenewalHeld: {`{{.Domain}}{{if .More}} und {{.More}} weitere{{end}}: automatische Verlängerung {{if eq .Change "voided"}}nicht eingeschaltet{{else}}ausgesetzt{{end}}`, `
am {{.Received}} ist {{if .Termination}}eine Kündigung{{else}}ein Widerruf{{end}} bei uns
eingegangen (Nummer {{.Number}}). {{if .More}}Betroffen sind:
{{range .Renewals}}
{{.Name}}
  Ende der Laufzeit: {{.End}}
{{end}}{{else}}Betroffen ist:

Domain:            {{.Domain}}
Ende der Laufzeit: {{.Date}}
{{end}}
{{if eq .Change "voided"}}Der automatischen Verlängerung hatten Sie beim Bezahlen zugestimmt.
{{if .Termination}}Wegen der Kündigung{{else}}Wegen des Widerrufs{{end}} gilt diese Zustimmung nicht mehr. Wir haben die
automatische Verlängerung nicht eingeschaltet und buchen nichts ab. Möchten Sie die automatische Verlängerung doch,
schalten Sie sie hier ein{{if not .Handled}}, sobald wir {{if .Termination}}die Kündigung{{else}}den Widerruf{{end}} bearbeitet haben{{end}}:
{{else}}Die automatische Verlängerung ist deshalb ausgesetzt: Solange wir
{{if .Termination}}die Kündigung{{else}}den Widerruf{{end}} bearbeiten, beginnen wir keine Abbuchung. Beenden wir den
Vertrag, endet auch die automatische Verlängerung. Besteht er weiter,
geht sie weiter, und wir holen eine fällige Abbuchung nach. Endet vorher
die Laufzeit, verlängern wir nicht automatisch und schreiben Ihnen.

Den Stand sehen Sie hier:
{{end}}
{{if .More}}{{.Portal}}/domains{{else}}{{.Page}}{{end}}

Haben Sie das nicht erklärt? Dann hat jemand Ihre Adresse angegeben;
antworten Sie uns bitte, damit nichts Falsches geschieht.
`},
	registrar.MailLetExpire: {"{{.Domain}} {{if .Expired}}wird nicht mehr verlängert{{else}}läuft am {{.Date}} ab{{end}}, wie gewünscht", `
Sie haben am {{.At}} entschieden, dass Sie eine Domain
auslaufen lassen{{with .Address}} (IP-Adresse {{.}}){{end}}.

Domain:            {{.Domain}}
Ende der Laufzeit: {{.Date}}

Wir verlängern sie nicht und buchen nichts ab. ` + germanExpiry + `{{if .Expired}}
Die Laufzeit ist vorbei; das kann also jederzeit geschehen.{{end}} Bis
` + germanExpiryEnd + ` können Sie es sich anders überlegen.{{if .Over}} Danach lässt sie
sich nicht mehr verlängern.{{end}}
{{if .Days}}
Nach der Löschung lässt sie sich noch {{.Days}} Tage lang wiederherstellen{{with .Restorable}},
voraussichtlich bis {{.}}{{end}}. Das kostet {{if .Gross}}derzeit {{.Gross}}, die
Verlängerung eingeschlossen.{{else}}deutlich mehr als eine Verlängerung.{{end}} Danach kann sie jeder registrieren.
{{end}}
Möchten Sie die Domain doch behalten? Dann nehmen Sie die Entscheidung
hier zurück:

{{.Page}}
`},
	registrar.MailPaymentMethod: {"{{if eq .Change \"default\"}}Ihr Standard-Zahlungsmittel wurde geändert{{else}}Ihr Zahlungsmittel wurde {{if eq .Change \"removed\"}}entfernt{{else}}gespeichert{{end}}{{end}}", `
am {{.At}} wurde in Ihrem Konto ein Zahlungsmittel
{{if eq .Change "removed"}}entfernt{{else if eq .Change "default"}}als Standard festgelegt{{else}}gespeichert{{end}}{{with .Address}} (IP-Adresse {{.}}){{end}}.

Zahlungsmittel: {{.Name}}
{{if eq .Change "removed"}}
Wir buchen davon nichts mehr ab. {{if .Moved}}Ihr neuer Standard ist jetzt
{{.Default}}. Davon buchen wir automatische Verlängerungen ab,
auch bereits angekündigte.
{{else if .Default}}Ihr Standard bleibt
{{.Default}}.
{{else}}Automatische Verlängerungen sind damit
ausgeschaltet; vor dem Ablauf Ihrer Domains erinnern wir Sie.
{{end}}{{else if or .Default (eq .Change "default")}}
Das ist jetzt Ihr Standard. Von selbst buchen wir davon nur Verlängerungen
von Domains ab, für die Sie die automatische Verlängerung eingeschaltet
haben, auch bereits angekündigte.
{{else}}
Von selbst buchen wir davon nichts ab, solange ein anderes Zahlungsmittel
Ihr Standard ist.
{{end}}
Ihre Zahlungsmittel finden Sie hier:

{{.Portal}}/payment-methods

Waren Sie das nicht? {{if .NoPassword}}Dann melden Sie bitte sofort unter „Sicherheit“
alle anderen Geräte ab, sehen Sie Ihre Passkeys durch und antworten Sie
auf diese E-Mail.{{else}}Dann ändern Sie bitte sofort Ihr Passwort und
antworten Sie auf diese E-Mail.{{end}}
`},
}
