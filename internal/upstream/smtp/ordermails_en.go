package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

// englishOrderMails are the mails about orders and domains in English.
var englishOrderMails = map[registrar.MailKind]mailText{
	registrar.MailOrderPaid: {"Your order at dotkontor", `
thank you. Your order was {{if .Free}}confirmed{{else}}paid{{end}}
on {{.At}}.

Order: {{.Order}}
{{range .Items}}
{{.Name}}
  {{if eq .Kind "register"}}registration{{else if eq .Kind "transfer"}}transfer to us{{else if eq .Kind "restore"}}restore{{else}}renewal{{end}}{{if eq .Years 1}}, 1 year{{else if .Years}}, {{.Years}} years{{end}}: {{.Net}} net
{{end}}
{{printf "%-20s %14s" "Net" .Net}}
{{printf "%-20s %14s" (print "VAT " .Rate) .Vat}}
{{printf "%-20s %14s" "Total" .Gross}}
{{if eq .Rule "reverse_charge"}}
Reverse charge: the recipient of the service owes the VAT. Your VAT
identification number: {{.Vatid}}
{{else if eq .Rule "outside_eu"}}
The service is not subject to VAT in Germany (recipient outside of the
European Union, country {{.Country}}).
{{else if eq .Rule "eu_consumer_oss"}}
The VAT is that of your country ({{.Country}}).
{{end}}{{if .Unchecked}}
We could not check your VAT identification number, because the EU's
service (VIES) was out of reach. That is why VAT is charged.
{{end}}{{if .Consent}}
On {{.ConsentAt}} you declared:

{{.Consent}}

Please keep this message.
{{end}}
{{if .Unclaimed}}We will write to you when everything is carried out. The order belongs
to no account yet; the link with which you take it over into yours is in
a message of its own. After that you see it under "Orders":

{{.Portal}}

Have you ordered nothing? Then please reply to us.
{{else}}We will write to you when everything is carried out. You can see how it
stands at any time under "Orders":

{{.Portal}}

Was that not you? Then please sign in at once, change your password and
answer this message.
{{end}}`},
	registrar.MailOrderEnded: {"What became of your order", `
since {{.At}} your order is
{{if eq .State "completed"}}carried out{{else if eq .State "partially_completed"}}carried out in part{{else}}closed, but could not be carried out{{end}}.

Order: {{.Order}}
{{range .Items}}
{{.Name}}
  {{if .Failed}}could not be had: {{if eq .Why "taken"}}the name was taken meanwhile{{else if eq .Why "code"}}the auth code was wrong{{else if eq .Why "locked"}}the name is locked{{else if eq .Why "denied"}}the registry decided against it{{else}}the registry did not accept the order{{end}}{{else if eq .Kind "register"}}is registered{{else if eq .Kind "transfer"}}has moved to us{{else if eq .Kind "restore"}}is restored{{else}}is renewed{{end}}
{{end}}{{with .Refund}}
We give {{.}} back by the means with which you have paid. That takes
some days.
{{end}}
{{if .Unclaimed}}The order belongs to no account yet; the link with which you take it
over into yours is in a message of its own. After that all is here:
{{else}}You find your domains here:
{{end}}
{{.Portal}}
`},
	registrar.MailClaim: {"An order for you: please take it over", `
on {{.At}} an order was made at dotkontor with this
e-mail address, by a program that buys for you.

Order: {{.Order}}
{{range .Items}}
{{.Name}}
{{end}}
It belongs to no account yet. As long as that is so, nobody can manage the
domains or pay the order by hand. With this link you take it over into
your account, after you have signed in or made one:

{{.Link}}

The link works until {{.Until}}, and once only. A newer
one makes it void. Give it to nobody: whoever has it can take the order
over.

Have you ordered nothing? Then please reply to us.
`},
	registrar.MailPaymentRefunded: {"We give a payment back", `
on {{.At}} a payment arrived that we did not need any
more: the order was paid already, or it had been declined or had
expired.

Order: {{.Order}}
{{with .Refund}}
We give {{.}} back in full, by the means with which you have
paid. That takes some days.
{{end}}
You find your orders here:

{{.Portal}}
`},
	registrar.MailExpiringMonth: {"Your domain expires in about a month", `
the paid term of a domain ends soon:

Domain: {{.Domain}}
End:    {{.Date}}

Do you want to keep the domain? Then please renew it before, under
"Domains":

{{.Portal}}

If you do not want to keep it, there is nothing to do.
`},
	registrar.MailExpiringWeek: {"Your domain expires in about a week", `
the paid term of a domain ends within days:

Domain: {{.Domain}}
End:    {{.Date}}

Do you want to keep the domain? Then please renew it before, under
"Domains":

{{.Portal}}

Without a renewal, web pages and e-mail addresses under this name may
stop working then. If you do not want to keep the domain, there is
nothing to do.
`},
	registrar.MailExpired: {"Your domain has expired", `
the paid term of a domain is over:

Domain: {{.Domain}}
End:    {{.Date}}

You can still renew the domain, under "Domains":

{{.Portal}}

Without a renewal the domain may stop working and be deleted at any
time. After that anybody can register it.
`},
	registrar.MailDomainChanged: {"One of your domains was changed", `
on {{.At}} one of your domains was changed at its
registry{{with .Address}} (as asked for from the address {{.}}){{end}}.

Domain: {{.Domain}}
Changed: {{if eq .Change "nameservers"}}the nameservers
{{else if eq .Change "ds_add"}}a DS record (DNSSEC) was added
{{else if eq .Change "ds_remove"}}a DS record (DNSSEC) was removed
{{else if eq .Change "lock"}}the domain is locked against transfers now
{{else if eq .Change "unlock"}}the lock against transfers was removed
{{else if eq .Change "secure"}}transfers are locked, and earlier auth codes are not valid any more
{{else}}the holder's data
{{end}}{{if eq .Change "secure"}}
We did this because of the lock about which you get a message of its
own. You see the domain here:
{{else}}
Was that not you? Then please change your password at once, look
through the domain and contact us:
{{end}}
{{.Portal}}
`},
	registrar.MailDomainLock: {"About a lock on one of your domains", `
on {{.At}} {{if eq .Change "lifted"}}we lifted the lock on one of your
domains.{{else}}we locked one of your domains.{{end}}

Domain: {{.Domain}}
Cause:  {{if eq .Change "chargeback"}}a payment was charged back
{{else if eq .Change "udrp"}}a proceeding about the name (UDRP)
{{else if eq .Change "court"}}an order of a court or an authority
{{else if eq .Change "abuse"}}a report of abuse
{{else}}settled
{{end}}Reason: {{.Name}}

What can't be done now is on the domain's page. If you have questions
or think that this is a mistake, please contact us:

{{.Portal}}
`},
	registrar.MailAuthCode: {"The auth code of one of your domains was shown", `
on {{.At}} the auth code of one of your domains was
set anew and shown in the portal{{with .Address}} (from the
address {{.}}){{end}}.

Domain: {{.Domain}}

Whoever has the auth code can transfer the domain to another provider,
if it is not locked.

Was that not you? Then please change your password at once, lock the
domain against transfers and ask for a new auth code:

{{.Portal}}
`},
	registrar.MailWithdrawal: {"We have received your withdrawal", `
your withdrawal has reached us. We confirm its content and its time:

Number:   {{.Number}}
Received: {{.At}}

This is what was declared, as typed into the form. Characters that
would make an address clickable are in square brackets:

> I withdraw from the contract.
> Name:     {{.Name}}
> Contract: {{.Contract}}

We look into it and write to you. What is yours goes back in the way in
which you paid. Please keep this message.

Have you not withdrawn from anything? Then somebody has given your
address; please answer this message, so that nothing wrong happens.
`},
	registrar.MailTermination: {"We have received your notice of termination", `
your notice has reached us. We confirm its content and its time:

Number:   {{.Number}}
Received: {{.At}}

This is what was declared, as typed into the form. Characters that
would make an address clickable are in square brackets:

> I terminate the contract.
> Name:     {{.Name}}
> Contract: {{.Contract}}
> Kind:     {{if .Special}}for cause, with immediate effect{{else}}ordinary{{end}}
> As of:    {{with .End}}{{.}}{{else}}the earliest possible day{{end}}{{with .Reason}}
> Reason:
> {{.}}{{end}}

A contract about a domain ordinarily ends with the term that is paid;
until then the domain stays with you. We tell you the exact day once we
have found the contract. Please keep this message.

Have you not ended anything? Then somebody has given your address;
please answer this message, so that nothing wrong happens.
`},
	registrar.MailNoticeReceived: {"A declaration about a contract has come in", `
somebody has {{if .Termination}}ended a contract{{else}}withdrawn from a contract{{end}}:

Number:   {{.Number}}
Received: {{.At}}
E-mail:   {{.Email}}

> Name:     {{.Name}}
> Contract: {{.Contract}}{{if .Termination}}
> Kind:     {{if .Special}}for cause, with immediate effect{{else}}ordinary{{end}}
> As of:    {{with .End}}{{.}}{{else}}the earliest possible day{{end}}{{with .Reason}}
> Reason:
> {{.}}{{end}}{{end}}
{{if not .Termination}}{{range .Orders}}
Order {{.ID}}{{with .Paid}},
paid {{.}}{{end}}:
  {{if .Consent}}On {{.Consent}} the customer expressly asked us to
  begin at once (wording {{.Wording}}).{{else}}There is no consent to a beginning before the time to withdraw ends.{{end}}
{{else}}
These words name no order that we know.
{{end}}{{end}}
The confirmation to this address has been queued. "dotkontor notices
list" shows all of them; "dotkontor notices done" with the number
marks this one as dealt with.
`},
}
