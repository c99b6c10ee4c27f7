package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

// englishCheckNames and englishCheckList are as their German counterparts.
const englishCheckNames = `{{with .Items}}{{(index . 0).Name}}{{else}}Your domains{{end}}{{if .Others}} and {{.Others}} more{{end}}`

const englishCheckList = `{{range .Items}}
  {{.Name}}{{end}}{{if .Unlisted}}
  and {{.Unlisted}} more{{end}}
`

const englishKeptList = `{{if and .Kept (not .AllKept)}}
{{if eq .KeptDomains 1}}This domain stays in the DNS, as its registry doesn't let us do otherwise.{{else}}These domains stay in the DNS, as their registry doesn't let us do otherwise.{{end}}
We need the confirmation all the same:
{{range .Kept}}
  {{.}}{{end}}{{if .UnlistedKept}}
  and {{.UnlistedKept}} more{{end}}
{{end}}`

// englishCheckMails are the mails about the confirmation of registrants' addresses in English.
var englishCheckMails = map[registrar.MailKind]mailText{
	registrar.MailContactCheck: {`{{if .Suspended}}` + englishCheckNames + ` offline: please confirm your email address{{else if eq .Notice "1"}}` + englishCheckNames + `: please confirm your email address by {{.Due}}{{else if eq .Notice "2"}}Reminder: ` + englishCheckNames + `, please confirm your email address by {{.Due}}{{else}}Last reminder: ` + englishCheckNames + `, {{if .Kept}}please confirm your email address by {{.Due}}{{else}}offline after {{.Due}}{{end}}{{end}}`, `
{{if .Others}}These domains are registered{{else}}This domain is registered{{end}} with dotkontor, and you are listed as the
holder, with this email address:
` + englishCheckList + `{{with .Name}}
Registered for you by:

  {{.}}
{{end}}
The rules for domains (ICANN, and § 49 of Germany's BSIG) require you to
confirm the address.
{{if .Suspended}}
We received no confirmation by {{.Due}}, so {{if .Others}}the domains are{{else}}the domain is{{end}} offline for now.
As soon as you confirm, we put everything back into the DNS:
{{else}}
Please confirm it by the end of {{.Due}}, German time:
{{end}}
{{.Link}}

One click on that page is enough, and you don't need an account. The link
is valid until {{.Until}}.
{{if .AllKept}}
{{if .Others}}The domains stay{{else}}The domain stays{{end}} in the DNS even then, as the registry doesn't let us do
otherwise. If your confirmation is still missing after {{.Due}}, we will look into
the case and contact you.
{{else if not .Suspended}}
Without your confirmation, we have to take {{if .Others}}the domains{{else}}the domain{{end}} out of the DNS after that
day. Websites and email addresses under {{if .Others}}these names{{else}}this name{{end}} then stop working.
{{end}}` + englishKeptList + `
{{if .Others}}Aren't these domains yours?{{else}}Isn't this domain yours?{{end}} Then please don't confirm anything.
`},
	registrar.MailContactWarning: {englishCheckNames + `: {{if .AllKept}}the holder must confirm the email address by {{.Due}}{{else}}offline after {{.Due}} unless the holder confirms{{end}}`, `
The holder of {{if .Others}}these domains{{else}}this domain{{end}} has not confirmed the email address
{{.Email}} yet:
` + englishCheckList + `
The rules for domains (ICANN, and § 49 of Germany's BSIG) require that.
{{if .AllKept}}Without a confirmation by the end of {{.Due}}, German time, {{if .Others}}the domains stay{{else}}the domain stays{{end}} in the DNS
all the same, as the registry doesn't let us do otherwise. We will then look into the
case and contact you.
{{else}}Without a confirmation by the end of {{.Due}}, German time, we have to take
{{if .Others}}the domains{{else}}the domain{{end}} out of the DNS after that day. Websites and email addresses
under {{if .Others}}these names{{else}}this name{{end}} then stop working.
{{end}}` + englishKeptList + `
Today we wrote to the holder for the last time. Ask them to open the link
in that message and to confirm. You can have it sent to them again here:

{{.Portal}}/contact-checks

If the address is wrong, change the holder on {{if .Others}}each{{else}}the{{end}} domain's page.
`},
	registrar.MailContactSuspended: {englishCheckNames + ` out of the DNS: {{.Email}} is not confirmed`, `
The email address {{.Email}}, which you entered for the holder, is still
not confirmed after three messages. We had to take {{if .Others}}these domains{{else}}this domain{{end}}
out of the DNS:
` + englishCheckList + `
{{if .Others}}To bring them back, the holder opens the link in our message and confirms.
We then put them back into the DNS at once; it can take a few hours until
they work everywhere again.{{else}}To bring it back, the holder opens the link in our message and confirms.
We then put it back into the DNS at once; it can take a few hours until
it works everywhere again.{{end}} You can have the message sent again here:

{{.Portal}}/contact-checks

If the address is wrong, change the holder on {{if .Others}}each{{else}}the{{end}} domain's page.
`},
	registrar.MailContactConfirmed: {`{{.Email}} is confirmed: ` + englishCheckNames + ` back in the DNS`, `
The email address {{.Email}} is confirmed. We are now putting the
{{if .Others}}domains{{else}}domain{{end}} whose holder has this address back into the DNS:
` + englishCheckList + `
It can take a few hours until {{if .Others}}they work{{else}}it works{{end}} everywhere again.

{{.Portal}}
`},
}
