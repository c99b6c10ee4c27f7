package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

// englishCheckMails are the mails about the confirmation of registrants' addresses in English.
var englishCheckMails = map[registrar.MailKind]mailText{
	registrar.MailContactCheck: {`{{if .Suspended}}Domains offline: please confirm your email address{{else if eq .Notice "1"}}Domain holder: please confirm your email address by {{.Due}}{{else if eq .Notice "2"}}Reminder: please confirm your email address by {{.Due}}{{else}}Last reminder: your domains go offline on {{.Due}}{{end}}`, `
You are listed as the holder of domains that are registered with
dotkontor, with this email address.{{with .Name}} They were registered for you by:

  {{.}}

{{else}}
{{end}}The rules for domains (ICANN, and § 49 of Germany's BSIG) require you to
confirm the address.
{{if .Suspended}}
We received no confirmation by {{.Due}}, so the domains are offline for now.
As soon as you confirm, we bring them back:
{{else}}
Please confirm it by {{.Due}}:
{{end}}
{{.Link}}

One click on that page is enough, and you don't need an account. The link
is valid until {{.Until}}.
{{if not .Suspended}}
Without your confirmation, we have to take the domains out of the DNS after that
day. Websites and email on them then stop working.
{{end}}
Not a holder of domains? Then please don't confirm anything.
`},
	registrar.MailContactSuspended: {`Domains out of the DNS: {{.Email}} is not confirmed`, `
The email address {{.Email}}, which you entered for the holder, is still
not confirmed after three messages. We had to take these domains out of
the DNS:
{{range .Items}}
  {{.Name}}{{end}}{{if .Further}}
  and others{{end}}

To bring them back, the holder opens the link in our message and confirms.
We then lift the suspension at once; it can take a few hours until they
work everywhere again. You can have the message sent again here:

{{.Portal}}/contact-checks

If the address is wrong, change the holder on the domain's page.
`},
	registrar.MailContactConfirmed: {`{{.Email}} is confirmed: domains back in the DNS`, `
The email address {{.Email}} is confirmed. We are now putting the
domains whose holder has this address back into the DNS. It can take a few
hours until they work everywhere again.

{{.Portal}}
`},
}
