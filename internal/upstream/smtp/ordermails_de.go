package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

// germanTransferLock is until when a domain may be kept from moving after a change of its holder.
const germanTransferLock = `{{if and .LockedUntil (not .More)}}
Bis {{.LockedUntil}} kann ein Umzug zu einem anderen Anbieter abgelehnt werden:
Nach einem Inhaberwechsel gilt bei dieser Endung eine Frist.
{{end}}`

// germanReceipt is what was ordered and paid, with what the law requires.
const germanReceipt = `
Bestellung: {{.Order}}
{{range .Items}}
{{.Name}}
  {{if eq .Kind "register"}}Registrierung{{else if eq .Kind "transfer"}}Umzug zu uns{{else if eq .Kind "restore"}}Wiederherstellung{{else}}Verlängerung{{end}}{{if eq .Years 1}}, 1 Jahr{{else if .Years}}, {{.Years}} Jahre{{else if eq .Term "from_now"}}, 1 Jahr ab dem Umzug{{else if eq .Term "rest"}}, Restlaufzeit bleibt{{end}}: {{.Gross}}{{if ne .Gross .Net}}
  (netto {{.Net}}){{end}}{{if $.Automatic}}{{with .Until}}
  neues Ende der Laufzeit: {{.}}{{end}}{{end}}{{with .Expected}}
  voraussichtlich bis {{.}}{{end}}
{{end}}
{{printf "%-20s %14s" "Netto" .Net}}
{{printf "%-20s %14s" (print "Umsatzsteuer " .Rate) .Vat}}
{{printf "%-20s %14s" "Gesamt" .Gross}}
{{if .Rounded}}
Die Umsatzsteuer runden wir einmal für die ganze Bestellung. Deshalb
kann die Summe der Bruttopreise um wenige Cent vom Gesamtbetrag
abweichen und ein Bruttopreis um einen Cent von dem auf der Rechnung.
{{end}}{{if eq .Rule "reverse_charge"}}
Steuerschuldnerschaft des Leistungsempfängers (Reverse-Charge). Ihre
Umsatzsteuer-ID: {{.Vatid}}
{{else if eq .Rule "outside_eu"}}
Die Leistung ist in Deutschland nicht steuerbar (Empfänger außerhalb der
Europäischen Union, Land: {{.Country}}).
{{else if eq .Rule "eu_consumer_oss"}}
Berechnet ist die Umsatzsteuer Ihres Landes ({{.Country}}).
{{end}}{{if .Unchecked}}
Ihre Umsatzsteuer-ID konnten wir nicht prüfen, weil das europäische
Verzeichnis (VIES) nicht erreichbar war. Deshalb haben wir Umsatzsteuer
berechnet.
{{end}}{{if .Consent}}
Sie haben am {{.ConsentAt}} erklärt:

{{.Consent}}
{{with .WithdrawUntil}}
Ihre Widerrufsfrist endet mit Ablauf des {{.}} (deutsche Zeit). Das
Widerrufsrecht erlischt vorher, wenn wir die Leistung vollständig erbracht haben.
{{end}}
Bitte heben Sie diese Nachricht auf.
{{end}}{{if or .Attached .Terms}}
{{if .Attached}}Die Rechnung hängt an dieser E-Mail.
{{end}}{{if .Terms}}Die angehängte Datei {{.Terms}} enthält unsere
Geschäftsbedingungen{{if .Instructed}} und die Widerrufsbelehrung{{end}}.
{{end}}{{end}}{{if and .Instructed (not .Automatic)}}
Einen Widerruf erklären Sie hier:

{{.Withdrawal}}
{{end}}
`

// germanFailure is why an item has failed.
const germanFailure = `{{if eq .Why "taken"}}der Name war inzwischen vergeben{{else if eq .Why "held"}}die Domain ist schon bei uns oder wird schon umgezogen{{else if eq .Why "code"}}der Auth-Code stimmte nicht{{else if eq .Why "locked"}}der Name ist gesperrt oder noch zu neu{{else if eq .Why "gone"}}die Registry führt den Namen nicht{{else if eq .Why "ours"}}das lag an uns, nicht an Ihnen{{else if eq .Why "fee"}}die Registry hat ihren Preis inzwischen erhöht{{else if eq .Why "loser"}}Ihr bisheriger Anbieter hat dem Umzug
  widersprochen. Fragen Sie dort nach dem Grund, und bestellen Sie den
  Umzug dann neu.{{else if eq .Why "denied"}}die Registry hat es abgelehnt{{else}}die Registry hat den Auftrag nicht angenommen{{end}}`

// germanRefund is how and when the refund of a failed item arrives, germanRefundMade the same of
// one that is made.
const (
	germanRefund = `Das Geld geht auf das Zahlungsmittel zurück, mit dem Sie bezahlt haben.
Wir veranlassen das sofort; bis es bei Ihnen ist, vergehen je nach Bank
meist 5 bis 10 Werktage.
`
	germanRefundMade = `Das Geld geht auf das Zahlungsmittel zurück, mit dem Sie bezahlt haben.
Bis es bei Ihnen ist, vergehen je nach Bank meist 5 bis 10 Werktage.
`
)

// germanTerm is until when a domain is paid, and what comes after that.
const germanTerm = `{{if and (eq .Kind "restore") (not .Failed)}}
  Bis Websites und E-Mail überall wieder funktionieren, kann es einige
  Stunden dauern.{{end}}{{if .Renewal}}
  {{with .Until}}Bezahlt bis {{.}}. {{end}}Die Verlängerung kostet derzeit {{.Renewal}}
  {{if not $.Untaxed}}brutto {{end}}für {{if eq .RenewalYears 1}}1 Jahr{{else}}{{.RenewalYears}} Jahre{{end}}.{{end}}{{if .NextTerm}}
  Wichtig: Die Laufzeit endet schon am {{.Until}}. Eine automatische
  Verlängerung könnten wir nicht mehr 30 Tage vorher ankündigen. Bitte
  verlängern Sie die Domain dieses Mal selbst.{{else}}{{with .NextCharge}}
  Die nächste automatische Verlängerung buchen wir am {{.}} ab.{{end}}{{end}}{{if .Locked}}
  Wir sperren sie gegen Umzüge. Die Sperre können Sie jederzeit selbst
  aufheben.{{end}}{{if .Lifted}}
  Sie hatten gewählt, sie auslaufen zu lassen. Das gilt nicht mehr.{{end}}`

// germanNoticeRenewal says what a notice does to automatic renewal. Nothing has verified the address that
// gets it, so it names no domain.
const germanNoticeRenewal = `Haben Sie der automatischen Verlängerung zugestimmt, setzen wir sie aus
oder schalten sie gar nicht erst ein. Welche Domains das betrifft,
schreiben wir an die Adresse des Kontos.

`

// germanOrderMails are the mails about orders and domains in German.
var germanOrderMails = map[registrar.MailKind]mailText{
	registrar.MailOrderPaid: {"{{if .Automatic}}{{.Domain}}{{if .More}} und {{.More}} weitere{{end}}: Verlängerung am {{.Charge}} bezahlt{{else}}{{with .Items}}{{(index . 0).Name}}{{end}}{{if .Others}} und {{.Others}} weitere{{end}}: Ihre Bestellung vom {{.Day}}{{end}}", `
{{if .Automatic}}wie angekündigt haben wir am {{.At}}
den Betrag für {{if .More}}Ihre Verlängerungen{{else}}eine Verlängerung{{end}} abgebucht{{with .Method}} ({{.}}){{end}}. Jetzt verlängern wir:
{{else}}vielen Dank. Ihre Bestellung wurde am
{{.At}} {{if .Free}}bestätigt{{else}}bezahlt{{end}}.
{{end}}` + germanReceipt + `{{if .Unclaimed}}Wir schreiben Ihnen, sobald alles erledigt ist. Die Bestellung gehört
noch zu keinem Konto; der Link, mit dem Sie sie in Ihres übernehmen,
steht in einer eigenen E-Mail. Danach sehen Sie sie unter „Bestellungen“:

{{.Portal}}

Haben Sie nichts bestellt? Dann antworten Sie uns bitte.
{{else if .Automatic}}Sie hören nur dann noch einmal von uns, wenn eine Registry die
Verlängerung ablehnt; in diesem Fall erstatten wir den Betrag. Stand
und Rechnung sehen Sie unter „Bestellungen“:

{{.Portal}}

Die automatische Verlängerung schalten Sie unter „Domains“ aus.
{{else}}Wir schreiben Ihnen, sobald alles erledigt ist. Den Stand sehen Sie
jederzeit unter „Bestellungen“:

{{.Portal}}

Waren Sie das nicht? Dann antworten Sie uns bitte sofort. Melden Sie
{{if .NoPassword}}unter „Sicherheit“ alle anderen Geräte ab, und sehen Sie Ihre Passkeys
durch.{{else}}unter „Sicherheit“ alle Geräte ab, und ändern Sie Ihr Passwort.{{end}}
{{end}}`},
	registrar.MailOrderCompleted: {"{{with .Items}}{{(index . 0).Name}}{{end}}{{if .Others}} und {{.Others}} weitere{{end}}{{if .Restored}} ist wiederhergestellt{{end}}: Ihre Bestellung vom {{.Day}} ist abgeschlossen", `
vielen Dank. Ihre Bestellung vom {{.At}}
ist {{if .Free}}bestätigt{{else}}bezahlt{{end}} und abgeschlossen:
{{range .Items}}
{{.Name}} {{if eq .Kind "register"}}gehört jetzt Ihnen{{else if eq .Kind "transfer"}}ist zu uns umgezogen{{else if eq .Kind "restore"}}ist wiederhergestellt{{with .Until}} und bis {{.}} bezahlt{{end}}{{else}}ist {{with .Until}}bis {{.}} {{end}}verlängert{{end}}.` + germanTerm + `
{{end}}` + germanReceipt + `{{if .Unclaimed}}Die Bestellung gehört noch zu keinem Konto; der Link, mit dem Sie sie in
Ihres übernehmen, steht in einer eigenen E-Mail. Danach ist alles hier:

{{.Portal}}

Haben Sie nichts bestellt? Dann antworten Sie uns bitte.
{{else}}Ihre Domains verwalten Sie hier:

{{.Portal}}

Waren Sie das nicht? Dann antworten Sie uns bitte sofort. Melden Sie
{{if .NoPassword}}unter „Sicherheit“ alle anderen Geräte ab, und sehen Sie Ihre Passkeys
durch.{{else}}unter „Sicherheit“ alle Geräte ab, und ändern Sie Ihr Passwort.{{end}}
{{end}}`},
	registrar.MailOrderEnded: {"{{with .Items}}{{(index . 0).Name}}{{end}}{{if .Others}} und {{.Others}} weitere{{end}}{{if .Restored}} ist wiederhergestellt{{end}}: Ihre Bestellung ist {{if eq .State `completed`}}abgeschlossen{{else if eq .State `partially_completed`}}zum Teil ausgeführt{{else}}nicht ausgeführt{{end}}", `
Ihre Bestellung vom {{.Day}} {{if eq .State "completed"}}ist abgeschlossen{{else if eq .State "partially_completed"}}ist zum Teil ausgeführt{{else}}konnte nicht ausgeführt werden{{end}}.

Bestellung: {{.Order}}
{{range $item := .Items}}
{{.Name}}
  {{if .Failed}}nicht möglich: ` + germanFailure + `{{with .Refunded}}
  {{.}} haben wir{{with $item.RefundedOn}} am {{.}}{{end}} erstattet.{{end}}{{else if eq .Kind "register"}}ist registriert{{else if eq .Kind "transfer"}}ist zu uns umgezogen{{else if eq .Kind "restore"}}ist wiederhergestellt{{with .Until}} und bis {{.}} bezahlt{{end}}{{else}}ist {{with .Until}}bis {{.}} {{end}}verlängert{{end}}` + germanTerm + `
{{end}}{{with .Refund}}
Für das, was nicht geklappt hat, erstatten wir {{if $.Refunded}}noch{{else}}insgesamt{{end}} {{.}}.
` + germanRefund + `{{else}}{{if .Refunded}}
` + germanRefundMade + `{{end}}{{end}}
{{if .Unclaimed}}Die Bestellung gehört noch zu keinem Konto; der Link, mit dem Sie sie in
Ihres übernehmen, steht in einer eigenen E-Mail. Danach ist alles hier:
{{else}}Ihre Domains finden Sie hier:
{{end}}
{{.Portal}}
`},
	registrar.MailOrderDelayed: {"{{with .Items}}{{(index . 0).Name}}{{end}}{{if .Others}} und {{.Others}} weitere{{end}}: Ihre Bestellung dauert länger als üblich", `
{{if .Automatic}}Ihre automatische Verlängerung{{else}}Ihre Bestellung{{end}} vom {{.Day}} ist noch nicht fertig. Das dauert
länger als üblich. Wir versuchen es weiter; Sie müssen nichts tun.

Bestellung: {{.Order}}
{{range .Items}}
{{.Name}}
  {{if eq .Kind "register"}}Registrierung{{else if eq .Kind "restore"}}Wiederherstellung{{else}}Verlängerung{{end}} noch in Arbeit
{{end}}
Wir schreiben Ihnen, sobald es erledigt ist.{{if not .Free}} Ihre Zahlung von {{.Gross}}
haben wir erhalten. Was wir nicht ausführen können, erstatten wir
vollständig.{{end}}
{{if .Unclaimed}}
Die Bestellung gehört noch zu keinem Konto; der Link, mit dem Sie sie in
Ihres übernehmen, steht in einer eigenen E-Mail. Danach ist alles hier:
{{else}}
Den Stand sehen Sie unter „Bestellungen“:
{{end}}
{{.Portal}}
`},
	registrar.MailItemFailed: {"{{with .Items}}{{(index . 0).Name}}{{end}}{{if .Others}} und {{.Others}} weitere{{end}}: nicht möglich{{with .Refund}}, wir erstatten {{.}}{{end}}", `
in Ihrer Bestellung vom {{.Day}} hat etwas nicht geklappt:

Bestellung: {{.Order}}
{{range .Items}}
{{.Name}}
  {{if eq .Kind "register"}}Registrierung{{else if eq .Kind "transfer"}}Umzug{{else if eq .Kind "restore"}}Wiederherstellung{{else}}Verlängerung{{end}} nicht möglich:
  ` + germanFailure + `
{{end}}{{with .Refund}}
Wir erstatten {{.}}.
` + germanRefund + `{{end}}
Alles andere in dieser Bestellung bearbeiten wir weiter und schreiben
Ihnen, wenn es fertig ist.
{{if .Unclaimed}}
Die Bestellung gehört noch zu keinem Konto; der Link, mit dem Sie sie in
Ihres übernehmen, steht in einer eigenen E-Mail. Danach ist alles hier:
{{else}}
Den Stand sehen Sie unter „Bestellungen“:
{{end}}
{{.Portal}}
`},
	registrar.MailClaim: {"Eine Bestellung für Sie: bitte übernehmen", `
am {{.At}} hat ein Agent, der für Sie einkauft, bei
dotkontor mit dieser E-Mail-Adresse bestellt.

Bestellung: {{.Order}}
{{range .Items}}
{{.Name}}
{{end}}
Sie gehört noch zu keinem Konto. Solange das so ist, kann niemand die
Domains verwalten oder die Bestellung von Hand bezahlen. Mit diesem Link
übernehmen Sie sie in Ihr Konto, nachdem Sie sich angemeldet oder
eines angelegt haben:

{{.Link}}

Der Link gilt bis {{.Until}} und nur einmal. Ein neuerer
macht ihn ungültig. Geben Sie ihn niemandem: Wer ihn hat, kann die
Bestellung übernehmen.

Haben Sie nichts bestellt? Dann antworten Sie uns bitte.
`},
	registrar.MailPaymentRefunded: {"Ihre Zahlung vom {{.On}}: Wir erstatten {{with .Refund}}{{.}}{{else}}sie{{end}}", `
am {{.At}} kam eine Zahlung an, die wir nicht mehr
brauchten: Die Bestellung war schon bezahlt, oder sie war inzwischen
storniert oder abgelaufen.

Bestellung: {{.Order}}
{{with .Refund}}
Wir erstatten Ihnen den ganzen Betrag von {{.}}.
` + germanRefundMade + `{{end}}
Ihre Bestellungen finden Sie hier:

{{.Portal}}
`},
	registrar.MailOrderRefunded: {"{{if .Parts}}{{(index .Parts 0).Name}}{{with .OtherParts}} und {{.}} weitere{{end}}{{else}}{{with .Items}}{{(index . 0).Name}}{{end}}{{if .Others}} und {{.Others}} weitere{{end}}{{end}}: Wir erstatten {{.Refund}}", `
{{if .ReturnedOn}}wir zahlen Ihnen {{.Refund}} noch einmal aus, weil Ihre Bank unsere
Erstattung am {{.ReturnedOn}} zurückgegeben hat.{{else}}wir erstatten Ihnen {{.Refund}}{{if eq .Reason "withdrawal"}}, weil Sie den Vertrag widerrufen haben{{else if eq .Reason "termination"}}, weil Sie den Vertrag aus wichtigem Grund gekündigt haben{{else if eq .Reason "goodwill"}} aus Kulanz{{else if eq .Reason "mistake"}}, weil irrtümlich oder doppelt bestellt wurde{{else if eq .Reason "service_fault"}}, weil uns ein Fehler unterlaufen ist{{end}}.{{if .Partial}} Das ist ein Teil des Preises.{{else if .Last}} Damit ist der ganze Preis erstattet.{{end}}{{end}}

Bestellung: {{.Order}}
{{range .Parts}}
{{.Name}}: {{.Gross}}{{if .Last}}, der Rest von {{.Of}}{{else}}{{with .Of}} von {{.}}{{end}}{{end}}{{if .HandedOver}}
  Die Domain übergeben wir an die Registry DENIC, wenn sie nicht inzwischen
  verlängert wurde.{{else if .Deleted}}
  Die Domain löschen wir, wenn sie nicht inzwischen verlängert wurde.{{end}}
{{end}}
` + germanRefundMade + `{{if or .Deleted .ReturnedOn (eq .Reason "termination")}}{{else if ne .Reason "withdrawal"}}
An Ihren Domains ändert sich dadurch nichts.
{{else if .Partial}}{{if .Declared}}
Ihren Widerruf bearbeiten wir noch.
{{end}}{{else}}
{{if gt (len .Parts) 1}}Diese Domains bleiben{{else}}Die Domain bleibt{{end}} trotz des Widerrufs bis zum Ende der Laufzeit bei
Ihnen.{{if .Declared}} Automatisch verlängert {{if gt (len .Parts) 1}}werden sie{{else}}wird sie{{end}} nicht.{{end}}
{{end}}{{if .Unclaimed}}
Die Bestellung gehört noch zu keinem Konto; der Link, mit dem Sie sie in
Ihres übernehmen, steht in einer eigenen E-Mail. Danach finden Sie hier
die Rechnungskorrektur:
{{else}}
Die Rechnungskorrektur finden Sie unter „Rechnungen“:
{{end}}
{{.Portal}}
`},
	registrar.MailRefundReturned: {"{{if .Parts}}{{(index .Parts 0).Name}}{{with .OtherParts}} und {{.}} weitere{{end}}{{else}}{{with .Items}}{{(index . 0).Name}}{{end}}{{if .Others}} und {{.Others}} weitere{{end}}{{end}}: Ihre Bank hat {{.Refund}} zurückgegeben", `
Ihre Bank hat unsere Erstattung von {{.Refund}} am {{.On}}
zurückgegeben. Das passiert zum Beispiel, wenn es die Karte oder das
Konto nicht mehr gibt, von dem Sie bezahlt haben.

Bestellung: {{.Order}}
{{range .Parts}}
{{.Name}}: {{.Gross}}{{end}}

Das Geld steht Ihnen weiter zu. Wir zahlen es noch einmal aus oder melden
uns bei Ihnen, um einen anderen Weg zu vereinbaren. Möchten Sie uns gleich
ein anderes Konto nennen, antworten Sie einfach auf diese E-Mail.

{{if .Unclaimed}}Die Bestellung gehört noch zu keinem Konto; der Link, mit dem Sie sie in
Ihres übernehmen, steht in einer eigenen E-Mail.{{else}}Den Stand sehen Sie bei Ihrer Bestellung:

{{.Portal}}/orders/{{.Order}}{{end}}
`},
	registrar.MailRefundSettled: {"{{if .Parts}}{{(index .Parts 0).Name}}{{with .OtherParts}} und {{.}} weitere{{end}}{{else}}{{with .Items}}{{(index . 0).Name}}{{end}}{{if .Others}} und {{.Others}} weitere{{end}}{{end}}: {{.Refund}} am {{.On}} ausgezahlt", `
wir haben Ihnen am {{.On}} {{.Refund}} auf anderem Weg ausgezahlt.
Ihre Bank hatte unsere Erstattung am {{.ReturnedOn}} zurückgegeben.

Bestellung: {{.Order}}
{{range .Parts}}
{{.Name}}: {{.Gross}}{{end}}

Ist das Geld nach einer Woche nicht bei Ihnen, antworten Sie einfach auf
diese E-Mail.

{{if .Unclaimed}}Die Bestellung gehört noch zu keinem Konto; der Link, mit dem Sie sie in
Ihres übernehmen, steht in einer eigenen E-Mail.{{else}}Alles zu Ihrer Bestellung finden Sie hier:

{{.Portal}}/orders/{{.Order}}{{end}}
`},
	registrar.MailDomainChanged: {`{{.Domain}}{{if .More}} und {{.More}} weitere{{end}}: {{if eq .Change "nameservers"}}Nameserver geändert{{else if eq .Change "ds_add"}}DS-Eintrag hinzugefügt{{else if eq .Change "ds_remove"}}DS-Eintrag entfernt{{else if eq .Change "lock"}}Umzugssperre gesetzt{{else if eq .Change "unlock"}}Umzugssperre aufgehoben{{else if eq .Change "secure"}}Umzüge gesperrt, neuer Auth-Code{{else}}Inhaberdaten geändert{{end}} am {{.On}}`, `
{{if .More}}bis {{.At}} haben wir {{len .Renewals}} Ihrer Domains
geändert{{with .Address}} (veranlasst von der IP-Adresse {{.}}){{end}}:
{{range .Renewals}}
  {{.Name}}{{with .LockedUntil}}: Umzug kann bis {{.}} abgelehnt werden{{end}}{{end}}
{{else}}am {{.At}} wurde {{.Domain}}
geändert{{with .Address}} (veranlasst von der IP-Adresse {{.}}){{end}}.
{{end}}
Geändert: {{if eq .Change "nameservers"}}die Nameserver
{{with .OldNameservers}}
Bisher:{{range .}}
  {{.}}{{end}}
{{end}}{{with .Nameservers}}
Jetzt:{{range .}}
  {{.}}{{end}}
{{end}}{{else if eq .Change "ds_add"}}ein DS-Eintrag (DNSSEC) wurde hinzugefügt
{{else if eq .Change "ds_remove"}}ein DS-Eintrag (DNSSEC) wurde entfernt
{{with .Day}}Geplant: Die Nameserver ändern wir am {{.}}. Bis dahin
können Sie das im Portal abbrechen.
{{end}}{{else if eq .Change "lock"}}die Domain ist jetzt für Umzüge gesperrt
{{else if eq .Change "unlock"}}die Sperre für Umzüge ist aufgehoben
{{else if eq .Change "secure"}}Umzüge sind gesperrt, und Auth-Codes von früher gelten nicht mehr
{{else}}die Angaben zum Inhaber
{{if .Before}}
Bisher: {{.Before}}
Jetzt:  {{.After}}
{{end}}` + germanTransferLock + `{{if .Confirm}}
Noch offen: Der neue Inhaber muss seine E-Mail-Adresse bestätigen. Er
bekommt dazu eine Nachricht. Die Frist sehen Sie hier:

{{.Portal}}/contact-checks
{{end}}{{end}}{{if eq .Change "secure"}}
Das haben wir wegen der Sperre veranlasst, über die Sie eine eigene
Nachricht bekommen. Die Domain sehen Sie hier:
{{else}}
Waren Sie das nicht? {{if .NoPassword}}Dann melden Sie bitte sofort unter „Sicherheit“
alle anderen Geräte ab, und prüfen Sie Ihre Passkeys und
die {{if .More}}Domains{{else}}Domain{{end}}:{{else}}Dann ändern Sie bitte sofort Ihr Passwort, und sehen
Sie die {{if .More}}Domains{{else}}Domain{{end}} durch:{{end}}
{{end}}
{{.Place}}

{{if eq .Change "secure"}}Haben Sie Fragen? Wenden Sie sich an uns:{{else}}Wenden Sie sich dann auch an uns:{{end}}

{{.Contact}}
`},
	registrar.MailNameserversRefused: {`{{.Domain}}{{if .More}} und {{.More}} weitere{{end}}: Nameserver konnten nicht geändert werden`, `
die geplante Änderung der Nameserver ist am {{.At}}
gescheitert{{if .More}}. Betroffen sind:
{{range .Renewals}}
  {{.Name}}{{end}}
{{else}}. Betroffen ist {{.Domain}}.
{{end}}{{with .Nameservers}}
Gewünscht waren:{{range .}}
  {{.}}{{end}}
{{end}}
Die bisherigen Nameserver bleiben, und die {{if .More}}Domains bleiben{{else}}Domain bleibt{{end}} erreichbar.
Für die Änderung wird zuerst der DS-Eintrag entfernt; DNSSEC kann
deshalb aus sein. {{if .More}}Die Gründe sehen Sie auf der Seite unten. Auf der Seite
jeder Domain können Sie es noch einmal versuchen oder den DS-Eintrag
Ihres bisherigen DNS-Anbieters wieder hinzufügen:{{else}}Den Grund sehen Sie auf der Seite der Domain. Dort
können Sie es noch einmal versuchen oder den DS-Eintrag Ihres bisherigen
DNS-Anbieters wieder hinzufügen:{{end}}

{{.Place}}
`},
	registrar.MailNameserversCanceled: {`{{.Domain}}{{if .More}} und {{.More}} weitere{{end}}: Änderung der Nameserver abgebrochen`, `
am {{.At}} wurde die geplante Änderung der Nameserver
abgebrochen{{with .Address}} (veranlasst von der IP-Adresse {{.}}){{end}}{{if .More}}. Betroffen sind:
{{range .Renewals}}
  {{.Name}}{{end}}
{{else}}. Betroffen ist {{.Domain}}.
{{end}}{{with .Nameservers}}
Geplant waren:{{range .}}
  {{.}}{{end}}
{{end}}
Die bisherigen Nameserver bleiben. Für die Änderung haben wir schon
begonnen, die DS-Einträge zu entfernen; DNSSEC kann deshalb aus sein. Auf
der Seite {{if .More}}jeder{{else}}der{{end}} Domain können Sie die DS-Einträge wieder hinzufügen:

{{.Place}}

Waren Sie das nicht? {{if .NoPassword}}Dann melden Sie bitte sofort unter „Sicherheit“
alle anderen Geräte ab, und prüfen Sie Ihre Passkeys.{{else}}Dann ändern Sie bitte sofort Ihr Passwort.{{end}}
`},
	registrar.MailHolderNotice: {`{{.Domain}}{{if .More}} und {{.More}} weitere{{end}}: Inhaber geändert am {{.On}}`, `
Sie bekommen diese Nachricht, weil Sie als Inhaber {{if .More}}dieser Domains{{else}}dieser Domain{{end}}
eingetragen sind oder waren:
{{if .More}}{{range .Renewals}}
  {{.Name}}{{with .LockedUntil}}: Umzug kann bis {{.}} abgelehnt werden{{end}}{{end}}
{{else}}
  {{.Domain}}
{{end}}
Der Kunde, der {{if .More}}die Domains{{else}}die Domain{{end}} bei uns verwaltet, hat den Inhaber
am {{.At}} geändert.

Bisher: {{.Before}}
Jetzt:  {{.After}}
` + germanTransferLock + `
{{if .Confirm}}Sie bekommen noch eine zweite Nachricht. Bitte bestätigen Sie mit dem Link
darin Ihre E-Mail-Adresse. Bis wann das nötig ist und was sonst geschieht,
steht dort. {{else}}Wenn das in Ordnung ist, müssen Sie nichts tun. {{end}}Wenn Sie davon nichts
wissen, fragen Sie bitte bei der Stelle nach, die Ihre Domains betreut,
oder bei uns.
`},
	registrar.MailDomainLock: {`{{.Domain}}: {{if eq .Change "lifted"}}Sperre aufgehoben{{else}}gesperrt{{end}} am {{.On}}`, `
am {{.At}} {{if eq .Change "lifted"}}haben wir die Sperre auf einer Ihrer Domains
aufgehoben.{{else}}haben wir eine Ihrer Domains gesperrt.{{end}}

Domain: {{.Domain}}
{{if eq .Change "lifted"}}Grund der Sperre: {{.Name}}
{{else}}Anlass: {{if eq .Change "chargeback"}}eine Zahlung wurde zurückgeholt
{{else if eq .Change "udrp"}}ein Verfahren um den Namen (UDRP)
{{else if eq .Change "court"}}eine gerichtliche oder behördliche Anordnung
{{else}}eine Meldung wegen Missbrauchs
{{end}}Grund:  {{.Name}}
{{end}}{{if .Suspended}}
{{if eq .Change "lifted"}}Wir nehmen die Domain wieder ins DNS, wenn sie nicht noch aus einem
anderen Grund gesperrt ist. Bis Website und E-Mail überall wieder
funktionieren, kann es einige Stunden dauern.
{{else}}Wir nehmen die Domain aus dem DNS: Website und E-Mail funktionieren dann
nicht mehr. Umzug, Auth-Code und Inhaberwechsel gehen so lange nicht. Ihre
Laufzeit und Verlängerungen ändern sich nicht.

Das können Sie tun: Beheben Sie bitte den Grund und schreiben Sie uns,
was Sie geändert haben. Dann prüfen wir die Sperre.
{{end}}{{end}}
Was jetzt {{if eq .Change "lifted"}}wieder{{else}}nicht{{end}} geht, steht auf der Seite der Domain:

{{.Place}}

Wenn Sie Fragen haben oder das für einen Irrtum halten, wenden Sie sich
bitte an uns:

{{.Contact}}
`},
	registrar.MailAuthCode: {"{{.Domain}}: Auth-Code angezeigt am {{.On}}", `
am {{.At}} wurde der Auth-Code einer Ihrer Domains
neu gesetzt und im Portal angezeigt{{with .Address}} (von der
IP-Adresse {{.}}){{end}}.

Domain: {{.Domain}}

Wer den Auth-Code hat, kann die Domain zu einem anderen Anbieter
umziehen{{if .Lockable}}, wenn sie nicht gesperrt ist{{end}}.

Waren Sie das nicht? Dann {{if .NoPassword}}melden Sie bitte sofort alle anderen Geräte
ab{{else}}ändern Sie bitte sofort Ihr Passwort{{end}}{{if .Lockable}}, sperren
Sie die Domain für Umzüge{{end}} und fordern Sie einen neuen Auth-Code an:

{{.Place}}
`},
	registrar.MailWithdrawal: {"Eingangsbestätigung Ihres Widerrufs vom {{.On}}", `
Ihr Widerruf ist bei uns eingegangen. Wir bestätigen Ihnen Inhalt und
Zeitpunkt:

Nummer:  {{.Number}}
Eingang: {{.At}}

Das wurde erklärt, im Wortlaut des Formulars. Zeichen, die eine Adresse
anklickbar machen, stehen in eckigen Klammern:

> Ich widerrufe den Vertrag.
> Name:    {{.Name}}
> Vertrag: {{.Contract}}

Wir prüfen den Widerruf und melden uns bei Ihnen. Was Ihnen zusteht,
zahlen wir{{with .RefundBy}} spätestens am {{.}}{{end}} auf dem Weg
zurück, auf dem Sie bezahlt haben.

` + germanNoticeRenewal + `Bitte heben Sie diese Nachricht auf.

Haben Sie nichts widerrufen? Dann hat jemand Ihre Adresse angegeben;
antworten Sie uns bitte, damit nichts Falsches geschieht.
`},
	registrar.MailTermination: {"Eingangsbestätigung Ihrer Kündigung vom {{.On}}", `
Ihre Kündigung ist bei uns eingegangen. Wir bestätigen Ihnen Inhalt und
Zeitpunkt:

Nummer:  {{.Number}}
Eingang: {{.At}}

Das wurde erklärt, im Wortlaut des Formulars. Zeichen, die eine Adresse
anklickbar machen, stehen in eckigen Klammern:

> Ich kündige den Vertrag.
> Name:    {{.Name}}
> Vertrag: {{.Contract}}
> Art:     {{if .Special}}außerordentlich, aus wichtigem Grund{{else}}ordentlich, zum Ende der Laufzeit{{end}}
> Zum:     {{if .Special}}Tag des Eingangs{{else}}{{with .End}}{{.}}{{else}}nächstmöglichen Zeitpunkt{{end}}{{end}}{{with .Reason}}
> Grund:
> {{.}}{{end}}

{{if .Special}}Wir prüfen den Grund und antworten Ihnen in Kürze per E-Mail.
{{else}}Ein Vertrag über eine Domain endet frühestens mit der Laufzeit, die
bezahlt ist, auch wenn Sie einen früheren Tag genannt haben; bis dahin
bleibt die Domain bei Ihnen. Den Tag, an dem der Vertrag endet,
bestätigen wir in Kürze per E-Mail an die Adresse des Kontos,
in dem die Domain ist.
{{end}}
` + germanNoticeRenewal + `Bitte heben Sie diese Nachricht auf.

Haben Sie nichts gekündigt? Dann hat jemand Ihre Adresse angegeben;
antworten Sie uns bitte, damit nichts Falsches geschieht.
`},
	registrar.MailContractEnds: {"{{if .More}}Ihre Kündigung: {{.Domain}} und {{.More}} weitere enden{{else}}Ihre Kündigung: {{.Domain}} endet am {{.Date}}{{end}}", `
Ihre Kündigung vom {{.Received}} ist ausgeführt.{{if .Special}} Einen wichtigen Grund, aus
dem der Vertrag sofort endet, haben wir nicht festgestellt.{{end}}{{if .Late}}
Bitte entschuldigen Sie, dass Sie darauf so lange warten mussten.{{end}}

Nummer: {{.Number}}
{{range .Renewals}}
{{.Name}}
  Ende des Vertrags: {{.End}}{{if .Renewed}}
  Ihre Zustimmung zur automatischen Verlängerung gilt nicht mehr.{{end}}
{{end}}
Der Vertrag endet mit der Laufzeit, die bezahlt ist; bis dahin bleibt
{{if .More}}jede Domain{{else}}die Domain{{end}} bei Ihnen. Die automatische Verlängerung ist
ausgeschaltet, wir buchen nichts mehr ab. ` + germanExpiry + ` Bitte heben
Sie diese Nachricht auf.

Haben Sie nicht gekündigt, oder möchten Sie {{if .More}}eine{{else}}die{{end}} Domain behalten? Bis
` + germanExpiryEnd + ` können Sie die Entscheidung hier zurücknehmen:

{{if .More}}{{.Portal}}/domains{{else}}{{.Page}}{{end}}
`},
	registrar.MailNoticeHandled: {"{{if .Termination}}Ihre Kündigung{{else}}Ihr Widerruf{{end}} vom {{.On}}{{with .Domain}} für {{.}}{{with $.More}} und {{.}} weitere{{end}}{{end}}: {{with .End}}Ihr Vertrag endet am {{.}}{{else}}unsere Antwort{{end}}", `
{{if .Termination}}Ihre Kündigung{{else}}Ihr Widerruf{{end}} vom {{.At}} ist bearbeitet.{{if .Late}}
Bitte entschuldigen Sie, dass Sie darauf so lange warten mussten.{{end}}

Nummer: {{.Number}}{{with .End}}
Ende des Vertrags: {{.}}{{end}}

> Vertrag: {{.Contract}}
{{with .Reply}}
{{.}}
{{end}}{{if .Renewals}}
Ihre Zustimmung zur automatischen Verlängerung gilt nicht mehr, wir buchen
nichts mehr ab. Das betrifft:
{{range .Renewals}}
  {{.Name}}{{end}}
{{end}}
Haben Sie Fragen? Antworten Sie einfach auf diese E-Mail. Bitte heben Sie
sie auf.
`},
	registrar.MailNoticeReceived: {"{{if .Termination}}Kündigung{{else}}Widerruf{{end}} {{.Number}} vom {{.On}}{{with .Domain}}: {{.}}{{with $.More}} und {{.}} weitere{{end}}{{end}}", `
jemand hat {{if .Termination}}einen Vertrag gekündigt{{else}}einen Vertrag widerrufen{{end}}. Prüfen und
erledigen Sie den Vorgang hier:

{{.Case}}

Nummer:  {{.Number}}
Eingang: {{.At}}
E-Mail:  {{.Email}}

> Name:    {{.Name}}
> Vertrag: {{.Contract}}{{if .Termination}}
> Art:     {{if .Special}}außerordentlich, aus wichtigem Grund{{else}}ordentlich, zum Ende der Laufzeit{{end}}
> Zum:     {{if .Special}}Tag des Eingangs{{else}}{{with .End}}{{.}}{{else}}nächstmöglichen Zeitpunkt{{end}}{{end}}{{with .Reason}}
> Grund:
> {{.}}{{end}}{{end}}
{{if not .Termination}}{{range .Orders}}
Bestellung {{.ID}}{{with .Paid}},
bezahlt {{.}}{{end}}:
  {{if .Consent}}Der Kunde hat am {{.Consent}} ausdrücklich
  verlangt, dass wir sofort beginnen (Wortlaut {{.Wording}}).{{else}}Eine Zustimmung zum Beginn vor Ende der Widerrufsfrist gibt es nicht.{{end}}{{with .PeriodEnded}}
  Die Widerrufsfrist endete am {{.}}, der Widerruf kam später.{{end}}{{if .Business}}
  Der Kunde ist ein Unternehmen und hat kein Widerrufsrecht.{{end}}
{{else}}
Aus diesen Angaben geht keine Bestellung hervor.
{{end}}{{end}}
Die Bestätigung an diese Adresse ist unterwegs.
`},
}
