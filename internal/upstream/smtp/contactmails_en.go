package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

var englishTopics = map[string]string{
	"domain": "domain and renewal", "transfer": "transfer", "payment": "payment and invoice", "account": "account and sign-in",
	"privacy": "privacy", "complaint": "complaint", "abuse": "abuse of a domain", "other": "other",
}

var englishContactMails = map[registrar.MailKind]mailText{
	registrar.MailInquiryConfirmed: {"We have received your message ({{.Number}})", `
A message with this email address was sent through our contact form on
{{.At}}.

Reference number: {{.Number}}

A person will read it and reply to you. Please quote the number if you
write to us again.

If you didn't write to us, someone entered your address. You don't need
to do anything.
`},
	registrar.MailDisputeReceived: {`{{if eq .Change "inquiry"}}Bank inquiry{{else if eq .Change "returned"}}Bank return{{else if eq .Change "lost"}}Dispute lost{{else}}Payment disputed{{end}}, {{.Gross}}{{with .Deadline}}, evidence due {{.}}{{end}}{{with .Domain}}: {{.}}{{with $.More}} and {{.}} more{{end}}{{end}}`, `
{{if eq .Change "inquiry"}}A bank asks about a payment. No money has been taken back yet.
{{else if eq .Change "returned"}}A bank has returned a payment. Decide what happens to the domains.
{{else if eq .Change "lost"}}A bank has decided against us. The money is gone; decide what happens
to the domains.
{{else}}A payment was disputed with the bank, and the money was taken back.
{{end}}
Amount:       {{.Gross}}{{with .Order}}
Order:        {{.}}{{end}}{{with .Deadline}}
Evidence due: {{.}}{{end}}

The case is here:

{{.Case}}
`},
	registrar.MailInquiryReceived: {"Message {{.Number}}: {{.Topic}}", `
A message was sent through the contact form:

Reference number: {{.Number}}
Received:         {{.At}}
Topic:            {{.Topic}}
Email:            {{.Email}}

> Name:  {{.Name}}{{with .About}}
> About: {{.}}{{end}}
>
> {{.Message}}

The email address is not verified. Reply to it, quote the reference number,
and then close the case here:

{{.Case}}
`},
}
