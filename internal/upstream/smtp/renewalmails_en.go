package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

// englishHeld lists the announced renewals that a notice puts on hold.
const englishHeld = `{{if .Held}}
On hold, because we received a cancellation or a withdrawal:
{{range .Held}}
{{.Name}}
  {{if eq .Held "termination"}}Cancellation{{else}}Withdrawal{{end}} received
  {{if eq .Years 1}}1 year{{else}}{{.Years}} years{{end}}: {{.Gross}}{{with $.Tax}} {{.}}{{end}}{{if $.PriceRise}}, previously {{.Was}}{{end}}
  Charged on {{.Charge}} at the earliest
{{end}}
We start no charge while we process the cancellation or withdrawal. If we
end the contract, nothing is charged. If the contract stays, automatic
renewal resumes, and we then charge the price above.
{{end}}`

// englishRenewalMails are the mails about charges of automatic renewals in English.
var englishRenewalMails = map[registrar.MailKind]mailText{
	registrar.MailRenewalUpcoming: {"{{.Domain}}{{if .More}} and {{.More}} more{{end}}: {{if .Charge}}renewal on {{.Charge}}{{else}}automatic renewal on hold{{end}}", `
{{if .Renewals}}Your automatic renewal is coming up:{{else}}Your automatic renewal is on hold.{{end}}
{{range .Renewals}}
{{.Name}}
  {{if eq .Years 1}}1 year{{else}}{{.Years}} years{{end}}: {{.Gross}}{{with $.Tax}} {{.}}{{end}}, charged on {{.Charge}}
{{end}}{{if and .Renewals .More}}
Total: {{.Gross}}{{with $.Tax}} {{.}}{{end}}{{if .RoundedTotal}}
(We round VAT once for each charge.){{end}}
{{end}}` + englishHeld + `{{with .Method}}
Payment method: {{.}}
{{end}}{{with .MethodExpires}}
Important: this card is only valid through {{.}} and will have expired
on the day of the charge. Please add another payment method before then,
or the {{if $.More}}renewals{{else}}renewal{{end}} will fail:

{{$.Portal}}/payment-methods
{{end}}
We will not charge more for it, even if the price rises before then.

If you don't want to renew, turn automatic renewal off before the day
of the charge. You can also change your payment method here:

{{.Portal}}
`},
	registrar.MailRenewalPriceRise: {"{{.Domain}}{{if .More}} and {{.More}} more{{end}}: {{if .Charge}}new price from the renewal on {{.Charge}}{{else}}new price, automatic renewal on hold{{end}}", `
{{if .Renewals}}Your automatic renewal is coming up, and the price has risen:{{else}}Your automatic renewal is on hold, and the price has risen.{{end}}
{{range .Renewals}}
{{.Name}}
  {{if eq .Years 1}}1 year{{else}}{{.Years}} years{{end}}: {{.Gross}}{{with $.Tax}} {{.}}{{end}}, previously {{.Was}}
  Charged on {{.Charge}}
{{end}}{{if and .Renewals .More}}
Total: {{.Gross}}{{with $.Tax}} {{.}}{{end}}{{if .RoundedTotal}}
(We round VAT once for each charge.){{end}}
{{end}}` + englishHeld + `{{with .Method}}
Payment method: {{.}}
{{end}}{{with .MethodExpires}}
Important: this card is only valid through {{.}} and will have expired
on the day of the charge. Please add another payment method before then,
or the {{if $.More}}renewals{{else}}renewal{{end}} will fail:

{{$.Portal}}/payment-methods
{{end}}
We will not charge more for it, even if the price rises again.

If you don't agree with the new price, turn automatic renewal off
before the day of the charge:

{{.Portal}}
`},
	registrar.MailRenewalDeclined: {"{{.Domain}}{{if .More}} and {{.More}} more{{end}}: charge failed, next attempt on {{.Charge}}", `
We could not charge you for {{if .More}}your renewals{{else}}a renewal{{end}}.
{{if eq .Trouble "authentication"}}Your bank wants you to approve the payment yourself.
{{else if eq .Trouble "expired"}}Your card has expired.
{{else if eq .Trouble "funds"}}The card has insufficient funds.
{{else if eq .Trouble "none"}}Your default payment method is missing or no longer valid.
{{else}}Your bank declined the payment.
{{end}}{{range .Renewals}}
{{.Name}}
  End of term: {{.End}}
{{end}}
Amount: {{.Gross}}{{with $.Tax}} {{.}}{{end}}{{with .Method}}
Payment method: {{.}}{{end}}

You can pay it yourself until {{.PayableBy}}, with any card:

{{.Checkout}}

Otherwise we will try again on {{.Charge}}. If you don't want to renew,
turn automatic renewal off under "Domains" first. You can set another
payment method as the default under "Payment methods":

{{.Portal}}
`},
	registrar.MailRenewalFailed: {"{{.Domain}}{{if .More}} and {{.More}} more{{end}}: not renewed, term ends on {{.Date}}", `
{{if .Checkout}}Our last attempt to charge you for {{if .More}}your renewals{{else}}a renewal{{end}} failed, too.
{{if eq .Trouble "authentication"}}Your bank wants you to approve the payment yourself.
{{else if eq .Trouble "expired"}}Your card has expired.
{{else if eq .Trouble "funds"}}The card has insufficient funds.
{{else if eq .Trouble "none"}}Your default payment method is missing or no longer valid.
{{else}}Your bank declined the payment.
{{end}}{{else if eq .Trouble "held"}}We did not renew {{if .More}}domains{{else}}a domain{{end}} automatically. We received a cancellation or a
withdrawal, and automatic renewal was on hold because of it until the end
of the term.
{{else}}We can't renew {{if .More}}these domains{{else}}a domain{{end}} automatically.
{{if eq .Trouble "unsold"}}We no longer sell domains with this extension.
{{else if eq .Trouble "premium"}}The registry charges more for {{if .More}}these premium domains{{else}}this premium domain{{end}} than we announced, or
does not tell us {{if .More}}their prices{{else}}its price{{end}}.
{{else if eq .Trouble "late"}}{{if .More}}They could not be charged before the end of their terms.{{else}}It could not be charged before the end of its term.{{end}}
{{else}}The registry does not accept the {{if .More}}renewals{{else}}renewal{{end}}.
{{end}}{{end}}{{range .Renewals}}
{{.Name}}
  End of term: {{.End}}{{with .Held}}
  Received: {{if eq . "termination"}}cancellation{{else}}withdrawal{{end}}{{end}}
{{end}}{{if .Checkout}}
Amount: {{.Gross}}{{with $.Tax}} {{.}}{{end}}

We will not try again. To keep {{if .More}}the domains{{else}}the domain{{end}}, please pay by
{{.PayableBy}}:

{{.Checkout}}

Until the end of {{if .More}}their terms{{else}}its term{{end}}, you can also renew {{if .More}}each of them{{else}}it{{end}} under
"Domains". Otherwise {{if .More}}they expire{{else}}it expires{{end}} then.
{{else if eq .Trouble "held"}}
Nothing was charged. The term is over. If you want to keep {{if .More}}a domain{{else}}the domain{{end}} after
all, please renew it at once under "Domains".
{{else if eq .Trouble "late"}}
Nothing was charged. The term is over. To keep the {{if .More}}domains, please renew
them{{else}}domain, please renew
it{{end}} at once under "Domains".
{{else if eq .Trouble "premium"}}
Nothing was charged. To keep the {{if .More}}domains, please renew them{{else}}domain, please renew it{{end}} under "Domains"
before the end of {{if .More}}their terms{{else}}its term{{end}}; you see the price before you pay.
{{else if eq .Trouble "unsold"}}
Nothing was charged. To keep the {{if .More}}domains, please transfer them{{else}}domain, please transfer it{{end}} to another
provider before the end of {{if .More}}their terms; the auth codes are{{else}}its term; the auth code is{{end}} under "Domains".
{{else}}
Nothing was charged. If you want to keep the {{if .More}}domains{{else}}domain{{end}}, please reply to
this email. Without a renewal {{if .More}}they expire at the end of their terms{{else}}it expires at the end of its term{{end}}.
{{end}}
Your domains are here:

{{.Portal}}
`},
}
