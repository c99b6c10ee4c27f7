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
