package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

// englishConsentMails are the mails about automatic renewal and payment methods in English.
var englishConsentMails = map[registrar.MailKind]mailText{
	registrar.MailRenewalOn: {"{{if .More}}{{.Domain}} and {{.More}} more renew automatically{{with .Earliest}}, first charge on {{.}}{{end}}{{if .Manual}}, {{.Manual}} of them not yet this time{{end}}{{else if .NextTerm}}{{.Domain}}: please renew by {{.Date}} yourself, automatic after that{{else}}{{.Domain}} renews automatically, first charge on {{.Charge}}{{end}}", `
Automatic renewal is on:
{{if .More}}{{range .Renewals}}
{{.Name}}
  {{.Gross}}{{with $.Tax}} {{.}}{{end}}{{if eq .Years 1}} for 1 year{{else if .Years}} for {{.Years}} years{{end}}, first charge on {{.Charge}}
{{if .NextTerm}}  Important: the current term ends on {{.End}}. Please renew
  this domain yourself before that.
{{else if .Announced}}  This email announces the first charge.
{{end}}{{end}}
Payment method: {{.Name}}

We announce every charge by email at least 30 days ahead.
{{else}}
Domain:         {{.Domain}}
Price:          {{.Gross}}{{with $.Tax}} {{.}}{{end}}{{if eq .Years 1}} for 1 year{{else if .Years}} for {{.Years}} years{{end}}
First charge:   {{.Charge}}
Payment method: {{.Name}}
{{if .NextTerm}}
Important: the current term ends on {{.Date}}. We could no longer
announce a charge for it 30 days ahead. Please renew it yourself this
time; from the next term on, it happens automatically.
{{else if .Announced}}
This email announces the first charge. We announce every later one at
least 30 days ahead, too.
{{else}}
We announce every charge by email at least 30 days ahead.
{{end}}{{end}}
You agreed to this{{if .More}} for each of these domains{{end}}:

{{.Consent}}

Please keep this email. You can turn automatic renewal off at any time
here:

{{if .More}}{{.Portal}}/domains{{else}}{{.Page}}{{end}}

If this wasn't you, {{if .NoPassword}}please turn it off, review your devices and passkeys
under "Security" and reply to this email.{{else}}please turn it off, change your password and reply
to this email.{{end}}
`},
	registrar.MailRenewalOff: {"{{if .More}}{{.Domain}} and {{.More}} more{{else}}{{.Domain}} {{if .Lasts}}is paid until {{.Date}}{{else}}expires on {{.Date}}{{end}}{{end}}: automatic renewal is off", `
Automatic renewal was turned off on {{.At}}{{if eq .Change "agent"}}
by a program that you gave access to your account{{else if eq .Change "terminated"}}
because the contract was cancelled (number {{.Number}}). Your consent no
longer applies{{else if eq .Change "withdrawn"}}
because you withdrew from the contract (number {{.Number}}). Your consent no
longer applies{{end}}{{with .Address}} (IP address
{{.}}){{end}}.
{{if .More}}{{range .Renewals}}
{{.Name}}
  End of term: {{.End}}
{{end}}
We won't charge anything for them. The domains are yours until the end
of their terms, and you can renew them yourself at any time. We will
remind you before they expire.
{{else}}
Domain:      {{.Domain}}
{{if .Lasts}}Paid until: {{else}}End of term:{{end}} {{.Date}}

We won't charge anything for it. The domain is yours until the end of
its term, and you can renew it yourself at any time. {{if .Lasts}}Without a
renewal it may stop working after that. We will remind you
before its term ends.{{else}}We will remind you
before it expires.{{end}}
{{end}}
If this was a mistake, turn automatic renewal on again here:

{{if .More}}{{.Portal}}/domains{{else}}{{.Page}}/auto-renew{{end}}
`},
	registrar.MailRenewalHeld: {`{{.Domain}}{{if .More}} and {{.More}} more{{end}}: automatic renewal {{if eq .Change "voided"}}not turned on{{else}}on hold{{end}}`, `
On {{.Received}}, we received {{if .Termination}}a cancellation{{else}}a withdrawal{{end}}
(number {{.Number}}) that concerns:
{{if .More}}{{range .Renewals}}
{{.Name}}
  End of term: {{.End}}
{{end}}{{else}}
Domain:      {{.Domain}}
End of term: {{.Date}}
{{end}}
{{if eq .Change "voided"}}You agreed to automatic renewal when you paid. Because of the
{{if .Termination}}cancellation{{else}}withdrawal{{end}}, this consent no longer applies. We did not turn automatic
renewal on, and we charge nothing. If you want automatic renewal after all, you can turn it
on here{{if not .Handled}} once we have processed the {{if .Termination}}cancellation{{else}}withdrawal{{end}}{{end}}:
{{else}}Automatic renewal is therefore on hold: we start no charge while we
process the {{if .Termination}}cancellation{{else}}withdrawal{{end}}. If we end the contract, automatic renewal
ends with it. If the contract stays, automatic renewal resumes, and we
then make any charge that was due in the meantime. If the term ends before that, we
don't renew automatically and will email you.

You can follow this here:
{{end}}
{{if .More}}{{.Portal}}/domains{{else}}{{.Page}}{{end}}

If you didn't send this, someone else entered your address. Please
reply to this email so that we can stop this.
`},
	registrar.MailLetExpire: {"{{.Domain}} {{if .Expired}}won't be renewed any more{{else}}expires on {{.Date}}{{end}}, as you chose", `
On {{.At}} you chose to let a domain expire{{with .Address}}
(from IP address {{.}}){{end}}.

Domain:      {{.Domain}}
End of term: {{.Date}}

We won't renew it or charge anything. ` + englishExpiry + `{{if .Expired}}
The term is over, so this may happen at any time.{{end}} Until
` + englishExpiryEnd + `, you can change your mind.{{if .Over}} After that, it can't be
renewed any more.{{end}}
{{if .Days}}
Once deleted, it can still be restored for {{.Days}} days{{with .Restorable}}, probably until
{{.}}{{end}}. This {{if .Gross}}currently costs {{.Gross}}, including the renewal.{{else}}costs much more than a renewal.{{end}} After that,
anyone can register it.
{{end}}
If you want to keep the domain after all, take this back here:

{{.Page}}
`},
	registrar.MailPaymentMethod: {"Your {{if eq .Change \"default\"}}default payment method was changed{{else}}payment method was {{if eq .Change \"removed\"}}removed{{else}}saved{{end}}{{end}}", `
On {{.At}} a payment method in your account was {{if eq .Change "removed"}}removed{{else if eq .Change "default"}}set
as the default{{else}}saved{{end}}{{with .Address}}
(from IP address {{.}}){{end}}.

Payment method: {{.Name}}
{{if eq .Change "removed"}}
We won't charge it any more. {{if .Moved}}Your new default is
{{.Default}}. We charge automatic renewals to it, including
those already announced.
{{else if .Default}}Your default is still
{{.Default}}.
{{else}}Automatic renewals are off; we will remind
you before your domains expire.
{{end}}{{else if or .Default (eq .Change "default")}}
It is your default now. The only automatic charges to it are renewals of
domains for which you turned automatic renewal on, including those already
announced.
{{else}}
We don't charge it automatically while another payment method is your
default.
{{end}}
Your payment methods are here:

{{.Portal}}/payment-methods

If this wasn't you, {{if .NoPassword}}please sign out on all other devices under
"Security" immediately, review your passkeys and reply to this email.{{else}}please change your password immediately and reply to
this email.{{end}}
`},
}
