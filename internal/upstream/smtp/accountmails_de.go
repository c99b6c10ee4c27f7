package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

// german are the mails in German.
var german = language{
	code:             "de",
	timeLayout:       "02.01.2006, 15:04 Uhr MST",
	dateLayout:       "02.01.2006",
	decimalSeparator: ",",
	withVAT:          "inkl. %s USt.",
	net:              "netto",
	greeting:         "Guten Tag,\n",
	footer: `
--
dotkontor – {{.Portal}}
Diese Nachricht wurde automatisch verschickt. Wir fragen nie per E-Mail
nach Ihrem Passwort oder Ihren Codes.
`,
	represented: "Vertreten durch: ",
	vatID:       "USt-IdNr. ",
	contact:     "/kontakt",
	basket:      "/warenkorb",
	withdrawal:  "/widerruf",
	help: `
Brauchen Sie Hilfe? Schreiben Sie uns:

{{.Contact}}
`,
	accountMails: map[registrar.MailKind]mailText{
		registrar.MailConfirm: {"Bitte bestätigen Sie Ihre E-Mail-Adresse", `
am {{.At}} wollten Sie, oder jemand mit Ihrer E-Mail-Adresse,
{{if .Items}}bei dotkontor bestellen{{else}}ein Konto bei dotkontor anlegen{{end}}{{with .Address}} (von der IP-Adresse {{.}}){{end}}.
{{if .Items}}
Im Warenkorb liegt (die Punkte stehen in eckigen Klammern, damit in dieser
E-Mail nichts anklickbar ist, was jemand anderes eingetippt hat):
{{range .Items}}
  {{.Name}}{{end}}

Bitte bestätigen Sie, dass die E-Mail-Adresse Ihnen gehört. Danach geht
es weiter zur Kasse; bestellt ist noch nichts:
{{else}}
Bitte bestätigen Sie, dass die E-Mail-Adresse Ihnen gehört:
{{end}}
{{.Link}}

Der Link gilt bis {{.Until}} und nur einmal.

Waren Sie das nicht? Dann müssen Sie nichts tun: Ohne Bestätigung
kann sich mit dem Konto niemand anmelden.
`},
		registrar.MailAlreadyRegistered: {"Sie haben schon ein Konto", `
am {{.At}} wollte jemand mit dieser E-Mail-Adresse
{{if .Buyer}}bei dotkontor bestellen{{else}}ein Konto bei dotkontor anlegen{{end}}{{with .Address}} (von der IP-Adresse {{.}}){{end}}.
Zu dieser E-Mail-Adresse gibt es schon ein Konto; es wurde nichts
verändert.

Wenn Sie das waren, melden Sie sich bitte an{{if .Buyer}}. Danach geht es zur Kasse{{end}}:

{{.SignIn}}

{{if .NoPassword}}Ihr Konto hat noch kein Passwort. Wenn Sie auch keinen Passkey haben,
wählen Sie dort „Passwort vergessen?“. Wir schicken Ihnen dann einen Link,
mit dem Sie ein Passwort festlegen.{{else}}Falls Sie Ihr Passwort vergessen haben, wählen Sie dort
„Passwort vergessen?“.{{end}}

Waren Sie das nicht? Dann müssen Sie nichts tun.
`},
		registrar.MailAccountClosed: {"Ihr Konto ist geschlossen", `
am {{.At}} wurde Ihr Konto bei dotkontor auf Ihren
Wunsch geschlossen{{with .Address}} (von der IP-Adresse {{.}}){{end}}.

Anmelden kann sich damit niemand mehr; Zugangstoken und verbundene
Anwendungen gelten nicht mehr. Ihre Angaben sind gelöscht. Nur das
bewahren wir noch auf (Art. 17 Abs. 3 DSGVO):

- Bestellungen, Zahlungen, Rechnungen: 8 Jahre zum Jahresende (HGB, AO)
- Prüfungen der Umsatzsteuer-ID: 6 Jahre zum Jahresende (AO)
- E-Mails zu Verträgen, Erklärungen: 6 Jahre zum Jahresende (HGB, AO)
- frühere Domains mit Inhabern: 2 Jahre (Vertrag mit ICANN)
- Verlauf und Zustimmungen: 3 Jahre zum Jahresende (BGB)

Waren Sie das nicht? Dann antworten Sie bitte sofort auf diese
Nachricht.
`},
		registrar.MailPasswordReset: {"{{if .NoPassword}}Passwort festlegen{{else}}Neues Passwort wählen{{end}}", `
am {{.At}} wurde für Ihr Konto bei dotkontor ein
{{if .NoPassword}}Link zum Festlegen eines Passworts{{else}}neues Passwort{{end}} angefordert{{with .Address}} (von der IP-Adresse {{.}}){{end}}.

Hier {{if .NoPassword}}legen Sie es fest{{else}}wählen Sie es{{end}}:

{{.Link}}

Der Link gilt bis {{.Until}} und nur einmal. Ein neuerer
macht ihn ungültig.

Waren Sie das nicht? Dann müssen Sie nichts tun: {{if .NoPassword}}Ihr Konto{{else}}Ihr Passwort{{end}}
bleibt, wie es ist. Geben Sie den Link an niemanden weiter.
`},
		registrar.MailSignIn: {"Ihr Link zum Anmelden", `
am {{.At}} wurde für Ihr Konto bei dotkontor ein
Link zum Anmelden angefordert{{with .Address}} (von der IP-Adresse {{.}}){{end}}.

Hier melden Sie sich an:

{{.Link}}

Der Link gilt bis {{.Until}} und nur einmal. Ein neuerer
macht ihn ungültig.

Waren Sie das nicht? Dann öffnen Sie den Link nicht: In Ihrem Konto
ist jemand anders angemeldet. Geben Sie den Link an niemanden weiter.
`},
		registrar.MailNoAccount: {"Kein Konto mit dieser E-Mail-Adresse", `
am {{.At}} wurde bei dotkontor für diese
E-Mail-Adresse ein neues Passwort angefordert{{with .Address}} (von der
IP-Adresse {{.}}){{end}}. Zu ihr gibt es aber kein Konto.

Vielleicht haben Sie Ihr Konto mit einer anderen E-Mail-Adresse
angelegt. Ein neues Konto können Sie hier anlegen:

{{.Portal}}

Waren Sie das nicht? Dann müssen Sie nichts tun.
`},
		registrar.MailChangeEmail: {"Bitte bestätigen Sie Ihre neue E-Mail-Adresse", `
am {{.At}} wurde diese E-Mail-Adresse als neue
Adresse eines Kontos bei dotkontor angegeben.

Öffnen Sie den Link, und melden Sie sich mit der bisherigen Adresse an.
Danach bestätigen Sie die neue:

{{.Link}}

Der Link gilt bis {{.Until}} und nur einmal. Bis dahin
gilt die bisherige E-Mail-Adresse weiter.

Waren Sie das nicht? Dann hat sich jemand vertippt. Ohne Anmeldung
bewirkt der Link nichts, und Sie müssen nichts tun.
`},
		registrar.MailEmailChanging: {"Ihre E-Mail-Adresse soll geändert werden", `
am {{.At}} wurde für Ihr Konto bei dotkontor eine
andere E-Mail-Adresse angegeben{{with .Address}} (von der IP-Adresse {{.}}){{end}}.
{{with .Email}}
Neue Adresse: {{.}}
{{end}}
Sie gilt, sobald jemand den Link öffnet, den wir dorthin geschickt
haben, und sich mit Ihrem Konto anmeldet. Danach schreiben wir an diese
Adresse nicht mehr.

Waren Sie das nicht? Dann melden Sie sich bitte sofort {{if .NoPassword}}an, melden Sie
alle anderen Geräte ab und sehen Sie Ihre Passkeys durch:{{else}}an, ändern Sie
Ihr Passwort und melden Sie alle Geräte ab:{{end}}

{{.Portal}}
`},
		registrar.MailPasswordChanged: {`{{if eq .Change "set"}}Ihr Konto hat jetzt ein Passwort{{else}}Ihr Passwort wurde geändert{{end}}`, `
am {{.At}} wurde {{if eq .Change "set"}}für Ihr Konto bei
dotkontor erstmals ein Passwort festgelegt{{else}}das Passwort Ihres Kontos bei
dotkontor geändert{{end}}{{with .Address}} (von der IP-Adresse {{.}}){{end}}. Alle
anderen Geräte sind abgemeldet.

Waren Sie das nicht? Dann wählen Sie bitte sofort mit
„Passwort vergessen?“ ein neues und sehen Sie Ihre Zugangstoken und
Passkeys durch:

{{.Portal}}
`},
		registrar.MailTokenCreated: {"Ein neues Zugangstoken für Ihr Konto", `
am {{.At}} wurde für Ihr Konto bei dotkontor ein
Zugangstoken für Programme angelegt{{with .Address}} (von der
IP-Adresse {{.}}){{end}}.
{{with .Name}}
Name: {{.}}
{{end}}{{with .Expires}}Gültig bis: {{.}}
{{end}}
{{if .NeverExpires}}Das Token läuft nicht ab. Wer es hat, kann in Ihrem Namen handeln,
bis Sie es widerrufen.{{else}}Wer das Token hat, kann in Ihrem Namen handeln, bis es abläuft oder Sie
es widerrufen.{{end}} Bezahlen kann er damit nicht.

Waren Sie das nicht? {{if .NoPassword}}Dann stoppen Sie das Token bitte sofort unter
„Agenten“ und sehen Sie unter „Sicherheit“ Geräte und Passkeys durch:{{else}}Dann stoppen Sie das Token bitte sofort unter
„Agenten“ und ändern Sie Ihr Passwort:{{end}}

{{.Portal}}
`},
		registrar.MailApplicationConnected: {"Eine Anwendung hat Zugang zu Ihrem Konto", `
am {{.At}} wurde bei dotkontor zugestimmt, dass eine
Anwendung auf Ihr Konto zugreift{{with .Address}} (von der
IP-Adresse {{.}}){{end}}.
{{with .Name}}
So nennt sie sich: {{.}}
{{end}}{{with .Host}}
Die Antwort ging an: {{.}}
{{end}}
Den Namen hat die Anwendung selbst gewählt, wir haben ihn nicht geprüft.

Waren Sie das nicht? {{if .NoPassword}}Dann stoppen Sie die Anwendung bitte sofort unter
„Agenten“ und sehen Sie unter „Sicherheit“ Geräte und Passkeys durch:{{else}}Dann stoppen Sie die Anwendung bitte sofort unter
„Agenten“ und ändern Sie Ihr Passwort:{{end}}

{{.Portal}}
`},
		registrar.MailApplicationReplayed: {"Eine Verbindung zu Ihrem Konto wurde beendet", `
am {{.At}} haben wir die Verbindung einer Anwendung zu
Ihrem Konto bei dotkontor beendet. Die Zugangsdaten der Anwendung wurden
zweimal benutzt{{with .Address}} (zuletzt von der IP-Adresse {{.}}){{end}}.
{{with .Name}}
So nennt sie sich: {{.}}
{{end}}{{with .Host}}
Verbunden mit: {{.}}
{{end}}
Vielleicht hat jemand die Zugangsdaten kopiert, vielleicht liefen nur zwei
Programme zugleich. Die Anwendung hat keinen Zugang mehr. Wenn Sie sie
weiter nutzen möchten, verbinden Sie sie neu.

Waren Sie das nicht? Dann sehen Sie bitte nach, was in Ihrem Konto
geschehen ist, und prüfen Sie das Gerät, auf dem die Anwendung läuft:

{{.Portal}}
`},
		registrar.MailAgentLinked: {"Ein Checkout-Agent ist mit Ihrem Konto verbunden", `
am {{.At}} wurde bei dotkontor ein Checkout-Agent mit
Ihrem Konto verbunden{{with .Address}} (von der IP-Adresse {{.}}){{end}}.
{{with .Name}}
Name: {{.}}
{{end}}
Er kann Ihre Bestellungen von Registrierungen und Umzügen sehen, bezahlen
und stornieren, bis Sie die Verbindung beenden. Ihr Konto und Ihre Domains
kann er nicht ändern.

Waren Sie das nicht? Dann stoppen Sie ihn bitte sofort {{if .NoPassword}}unter „Agenten“ und
sehen Sie unter „Sicherheit“ Geräte und Passkeys durch:{{else}}unter „Agenten“ und
ändern Sie Ihr Passwort:{{end}}

{{.Portal}}
`},
		registrar.MailSecondFactor: {`{{if eq .Change "used"}}Ein Wiederherstellungscode wurde benutzt{{else}}Ihr zweiter Faktor wurde geändert{{end}}`, `
am {{.At}} wurde für Ihr Konto bei dotkontor
{{if eq .Change "on"}}die Anmeldung mit zweitem Faktor
eingeschaltet{{else if eq .Change "off"}}die Anmeldung mit zweitem Faktor
ausgeschaltet{{else if eq .Change "renewed"}}eine neue Liste von
Wiederherstellungscodes erzeugt{{else if eq .Change "used"}}ein
Wiederherstellungscode zur Anmeldung benutzt{{else}}die Anmeldung mit
zweitem Faktor geändert{{end}}{{with .Address}} (von der IP-Adresse
{{.}}){{end}}.
{{with .Left}}
{{if eq . "0"}}Es war Ihr letzter. Erzeugen Sie bitte unter „Sicherheit“ neue.{{else if eq . "1"}}Sie haben noch einen Code. Neue erzeugen Sie unter „Sicherheit“.{{else}}Sie haben noch {{.}} Codes. Neue erzeugen Sie unter „Sicherheit“.{{end}}
{{end}}
Waren Sie das nicht? Dann melden Sie sich bitte sofort {{if .NoPassword}}an, melden Sie
alle anderen Geräte ab und sehen Sie Ihre Passkeys durch:{{else}}an, ändern Sie
Ihr Passwort und melden Sie alle Geräte ab:{{end}}

{{.Portal}}
`},
		registrar.MailRegistrantChanged: {"Ihre Inhaberdaten wurden geändert", `
am {{.At}} wurden in Ihrem Konto bei dotkontor die
Angaben geändert, mit denen Sie neue Domains
registrieren{{with .Address}} (von der IP-Adresse {{.}}){{end}}.

Domains, die schon registriert sind, behalten ihre bisherigen Angaben,
bis Sie die neuen übernehmen:

{{.Portal}}/holders/own/domains

Waren Sie das nicht? Dann melden Sie sich bitte sofort {{if .NoPassword}}an, sehen Sie
die Daten durch, melden Sie alle anderen Geräte ab und prüfen Sie Ihre
Passkeys:{{else}}an, ändern Sie
Ihr Passwort und sehen Sie die Daten durch:{{end}}

{{.Portal}}
`},
		registrar.MailPasskey: {"Ihre Passkeys wurden geändert", `
am {{.At}} wurde für Ihr Konto bei dotkontor ein
Passkey {{if eq .Change "added"}}hinzugefügt{{else if eq .Change "removed"}}entfernt{{else}}geändert{{end}}{{with .Address}} (von der IP-Adresse {{.}}){{end}}.
{{with .Name}}
Name: {{.}}
{{end}}
Waren Sie das nicht? Dann melden Sie sich bitte sofort {{if .NoPassword}}an, sehen Sie
Ihre Passkeys durch und melden Sie alle anderen Geräte ab:{{else}}an, ändern Sie
Ihr Passwort und sehen Sie Ihre Passkeys durch:{{end}}

{{.Portal}}
`},
	},
	orderMails: germanOrderMails, consentMails: germanConsentMails, renewalMails: germanRenewalMails, termMails: germanTermMails, contactMails: germanContactMails,
	transferMails: germanTransferMails,
	disputeMails:  germanDisputeMails,
	checkMails:    germanCheckMails,
	topics:        germanTopics,
}
