package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

// englishTransferLock is until when a domain may be kept from moving after a change of its holder.
const englishTransferLock = `{{if and .LockedUntil (not .More)}}
A transfer to another provider may be refused until {{.LockedUntil}}:
this extension allows that after a change of the holder.
{{end}}`

// englishReceipt is what was ordered and paid, with what the law requires.
const englishReceipt = `
Order: {{.Order}}
{{range .Items}}
{{.Name}}
  {{if eq .Kind "register"}}registration{{else if eq .Kind "transfer"}}transfer to us{{else if eq .Kind "restore"}}restore{{else}}renewal{{end}}{{if eq .Years 1}}, 1 year{{else if .Years}}, {{.Years}} years{{else if eq .Term "from_now"}}, 1 year from the transfer{{else if eq .Term "rest"}}, remaining term stays{{end}}: {{.Gross}}{{if ne .Gross .Net}}
  (net {{.Net}}){{end}}{{if $.Automatic}}{{with .Until}}
  new end of the term: {{.}}{{end}}{{end}}{{with .Expected}}
  expected by {{.}}{{end}}
{{end}}
{{printf "%-20s %14s" "Net" .Net}}
{{printf "%-20s %14s" (print "VAT " .Rate) .Vat}}
{{printf "%-20s %14s" "Total" .Gross}}
{{if .Rounded}}
We round VAT once for the whole order, so the gross prices may differ
from the total by a few cents, and a gross price may differ by a cent
on the invoice.
{{end}}{{if eq .Rule "reverse_charge"}}
Reverse charge: VAT is payable by the recipient. Your VAT ID: {{.Vatid}}
{{else if eq .Rule "outside_eu"}}
The service is not subject to VAT in Germany (recipient outside the
European Union, country: {{.Country}}).
{{else if eq .Rule "eu_consumer_oss"}}
The VAT is that of your country ({{.Country}}).
{{end}}{{if .Unchecked}}
We could not check your VAT ID, because the EU's service (VIES) was not
available. VAT was therefore charged.
{{end}}{{if .Consent}}
On {{.ConsentAt}} you declared:

{{.Consent}}
{{with .WithdrawUntil}}
The withdrawal period runs until the end of {{.}}, German time. The right
to withdraw ends earlier, once the service has been fully performed.
{{end}}
Please keep this email.
{{end}}{{if or .Attached .Terms}}
{{if .Attached}}Your invoice is attached.
{{end}}{{if .Terms}}The attached file {{.Terms}} contains our
terms and conditions{{if .Instructed}} and the instructions on withdrawal{{end}}.
{{end}}{{end}}{{if and .Instructed (not .Automatic)}}
To withdraw from this contract, use this page:

{{.Withdrawal}}
{{end}}
`

// englishFailure is why an item has failed.
const englishFailure = `{{if eq .Why "taken"}}the name has been taken in the meantime{{else if eq .Why "held"}}it is with us already, or another order is transferring it{{else if eq .Why "code"}}the auth code was wrong{{else if eq .Why "locked"}}the name is locked or still too new{{else if eq .Why "gone"}}the domain is not registered{{else if eq .Why "ours"}}this was our fault, not yours{{else if eq .Why "fee"}}the registry has since raised its price{{else if eq .Why "loser"}}your current provider objected to the transfer.
  Ask them for the reason, then order the transfer again.{{else if eq .Why "denied"}}the registry rejected it{{else}}the registry did not accept the order{{end}}`

// englishRefund is how and when the refund of a failed item arrives, englishRefundMade the same of
// one that is made.
const (
	englishRefund = `The money goes back to the payment method that you paid with. We
initiate this at once; depending on your bank, it usually takes 5 to 10
working days to arrive.
`
	englishRefundMade = `The money goes back to the payment method that you paid with. Depending
on your bank, it usually takes 5 to 10 working days to arrive.
`
)

// englishTerm is until when a domain is paid, and what comes after that.
const englishTerm = `{{if and (eq .Kind "restore") (not .Failed)}}
  It may take a few hours until websites and email work everywhere again.{{end}}{{if .Renewal}}
  {{with .Until}}Paid until {{.}}. {{end}}Renewal currently costs {{.Renewal}}{{if not $.Untaxed}} gross{{end}}
  for {{if eq .RenewalYears 1}}1 year{{else}}{{.RenewalYears}} years{{end}}.{{end}}{{if .NextTerm}}
  Important: the term already ends on {{.Until}}. We could no longer
  announce an automatic renewal 30 days ahead. Please renew the domain
  yourself this time.{{else}}{{with .NextCharge}}
  The next automatic renewal is charged on {{.}}.{{end}}{{end}}{{if .Locked}}
  We lock it against transfers. You can unlock it at any time.{{end}}{{if .Lifted}}
  You had chosen to let it expire. That no longer applies.{{end}}`

// englishNoticeRenewal says what a notice does to automatic renewal. Nothing has verified the address that
// gets it, so it names no domain.
const englishNoticeRenewal = `If you agreed to automatic renewal, we put it on hold or don't turn it on.
An email to the account's address names the domains concerned.

`

// englishOrderMails are the mails about orders and domains in English.
var englishOrderMails = map[registrar.MailKind]mailText{
	registrar.MailOrderPaid: {"{{if .Automatic}}{{.Domain}}{{if .More}} and {{.More}} more{{end}}: renewal paid on {{.Charge}}{{else}}{{with .Items}}{{(index . 0).Name}}{{end}}{{if .Others}} and {{.Others}} more{{end}}: your order of {{.Day}}{{end}}", `
{{if .Automatic}}As announced, we charged you for {{if .More}}your renewals{{else}}a renewal{{end}} on
{{.At}}{{with .Method}} ({{.}}){{end}}. We are now renewing:
{{else}}Thank you. Your order was {{if .Free}}confirmed{{else}}paid{{end}}
on {{.At}}.
{{end}}` + englishReceipt + `{{if .Unclaimed}}We will email you when everything is done. The order does not belong to
an account yet; we send you the link to add it to yours in a separate
email. After that, you see it under "Orders":

{{.Portal}}

If you didn't order anything, please reply to this email.
{{else if .Automatic}}We will only email you again if a registry refuses the renewal; then we
refund the amount. Progress and invoice are under "Orders":

{{.Portal}}

You can turn automatic renewal off under "Domains".
{{else}}We will email you when everything is done. You can follow the progress
at any time under "Orders":

{{.Portal}}

If this wasn't you, please reply to this email immediately. Under
{{if .NoPassword}}"Security", sign out on all other devices and review your passkeys.{{else}}"Security", sign out on all devices and change your password.{{end}}
{{end}}`},
	registrar.MailOrderCompleted: {"{{with .Items}}{{(index . 0).Name}}{{end}}{{if .Others}} and {{.Others}} more{{end}}{{if .Restored}} has been restored{{end}}: your order of {{.Day}} is completed", `
Thank you. Your order of {{.At}} has been
{{if .Free}}confirmed{{else}}paid{{end}} and completed:
{{range .Items}}
{{.Name}} {{if eq .Kind "register"}}is yours{{else if eq .Kind "transfer"}}has been transferred to us{{else if eq .Kind "restore"}}has been restored{{with .Until}} and is paid until {{.}}{{end}}{{else}}has been renewed{{with .Until}} until {{.}}{{end}}{{end}}.` + englishTerm + `
{{end}}` + englishReceipt + `{{if .Unclaimed}}The order does not belong to an account yet; we send you the link to add
it to yours in a separate email. After that, you find everything here:

{{.Portal}}

If you didn't order anything, please reply to this email.
{{else}}Manage your domains here:

{{.Portal}}

If this wasn't you, please reply to this email immediately. Under
{{if .NoPassword}}"Security", sign out on all other devices and review your passkeys.{{else}}"Security", sign out on all devices and change your password.{{end}}
{{end}}`},
	registrar.MailOrderEnded: {"{{with .Items}}{{(index . 0).Name}}{{end}}{{if .Others}} and {{.Others}} more{{end}}{{if .Restored}} has been restored{{end}}: your order is {{if eq .State `completed`}}completed{{else if eq .State `partially_completed`}}partly completed{{else}}not completed{{end}}", `
Your order of {{.Day}} {{if eq .State "completed"}}is completed{{else if eq .State "partially_completed"}}is partly completed{{else}}could not be completed{{end}}.

Order: {{.Order}}
{{range $item := .Items}}
{{.Name}}
  {{if .Failed}}failed: ` + englishFailure + `{{with .Refunded}}
  We refunded {{.}}{{with $item.RefundedOn}} on {{.}}{{end}}.{{end}}{{else if eq .Kind "register"}}registered{{else if eq .Kind "transfer"}}transferred to us{{else if eq .Kind "restore"}}restored{{with .Until}} and paid until {{.}}{{end}}{{else}}renewed{{with .Until}} until {{.}}{{end}}{{end}}` + englishTerm + `
{{end}}{{with .Refund}}
For what failed, we refund {{if $.Refunded}}another {{.}}{{else}}{{.}} in total{{end}}.
` + englishRefund + `{{else}}{{if .Refunded}}
` + englishRefundMade + `{{end}}{{end}}
{{if .Unclaimed}}The order does not belong to an account yet; we send you the link to add
it to yours in a separate email. After that, you find everything here:
{{else}}Your domains are here:
{{end}}
{{.Portal}}
`},
	registrar.MailOrderDelayed: {"{{with .Items}}{{(index . 0).Name}}{{end}}{{if .Others}} and {{.Others}} more{{end}}: your order is taking longer than usual", `
{{if .Automatic}}Your automatic renewal{{else}}Your order{{end}} of {{.Day}} is not complete yet. It is taking longer than
usual. We keep trying; there is nothing you need to do.

Order: {{.Order}}
{{range .Items}}
{{.Name}}
  {{if eq .Kind "register"}}registration{{else if eq .Kind "restore"}}restore{{else}}renewal{{end}} in progress
{{end}}
We will email you when it is done.{{if not .Free}} We have received your payment of
{{.Gross}}. Anything we can't complete is refunded in full.{{end}}
{{if .Unclaimed}}
The order does not belong to an account yet; we send you the link to add
it to yours in a separate email. After that, you find everything here:
{{else}}
You can follow the progress under "Orders":
{{end}}
{{.Portal}}
`},
	registrar.MailItemFailed: {"{{with .Items}}{{(index . 0).Name}}{{end}}{{if .Others}} and {{.Others}} more{{end}}: failed{{with .Refund}}, we are refunding {{.}}{{end}}", `
Part of your order of {{.Day}} has failed:

Order: {{.Order}}
{{range .Items}}
{{.Name}}
  {{if eq .Kind "register"}}registration{{else if eq .Kind "transfer"}}transfer{{else if eq .Kind "restore"}}restore{{else}}renewal{{end}} failed:
  ` + englishFailure + `
{{end}}{{with .Refund}}
We are refunding {{.}}.
` + englishRefund + `{{end}}
We continue with everything else in this order and will email you when
it is done.
{{if .Unclaimed}}
The order does not belong to an account yet; we send you the link to add
it to yours in a separate email. After that, you find everything here:
{{else}}
You can follow the progress under "Orders":
{{end}}
{{.Portal}}
`},
	registrar.MailClaim: {"An order for you: please add it to your account", `
An agent that shops on your behalf placed an order at dotkontor with
this email address on {{.At}}.

Order: {{.Order}}
{{range .Items}}
{{.Name}}
{{end}}
It does not belong to an account yet. Until it does, no one can manage
the domains or pay the order in a browser. Open this link and sign in, or
create an account, to add the order to your account:

{{.Link}}

The link is valid until {{.Until}} and works once.
A newer link invalidates it. Don't share it: anyone who has it can claim
the order.

If you didn't order anything, please reply to this email.
`},
	registrar.MailPaymentRefunded: {"Your payment of {{.On}}: we are refunding {{with .Refund}}{{.}}{{else}}it{{end}}", `
On {{.At}} we received a payment that was no longer
due: the order had already been paid, had been cancelled or had expired.

Order: {{.Order}}
{{with .Refund}}
We are refunding {{.}} in full. ` + englishRefundMade + `{{end}}
Your orders are here:

{{.Portal}}
`},
	registrar.MailOrderRefunded: {"{{if .Parts}}{{(index .Parts 0).Name}}{{with .OtherParts}} and {{.}} more{{end}}{{else}}{{with .Items}}{{(index . 0).Name}}{{end}}{{if .Others}} and {{.Others}} more{{end}}{{end}}: we are refunding {{.Refund}}", `
{{if .ReturnedOn}}We are paying {{.Refund}} again because your bank returned our refund on
{{.ReturnedOn}}.{{else}}We are refunding {{.Refund}}{{if eq .Reason "withdrawal"}} because you withdrew from the contract{{else if eq .Reason "termination"}} because you cancelled the contract for cause{{else if eq .Reason "goodwill"}} as a gesture of goodwill{{else if eq .Reason "mistake"}} because of an order placed by mistake or twice{{else if eq .Reason "service_fault"}} because we made a mistake{{end}}.{{if .Partial}} This is part of the price.{{else if .Last}} With this, the whole price is refunded.{{end}}{{end}}

Order: {{.Order}}
{{range .Parts}}
{{.Name}}: {{.Gross}}{{if .Last}}, the rest of {{.Of}}{{else}}{{with .Of}} of {{.}}{{end}}{{end}}{{if .HandedOver}}
  We are handing the domain over to its registry, DENIC, unless it has been
  renewed meanwhile.{{else if .Deleted}}
  We are deleting the domain, unless it has been renewed meanwhile.{{end}}
{{end}}
` + englishRefundMade + `{{if or .Deleted .ReturnedOn (eq .Reason "termination")}}{{else if ne .Reason "withdrawal"}}
This doesn't change anything about your domains.
{{else if .Partial}}{{if .Declared}}
We are still handling your withdrawal.
{{end}}{{else}}
{{if gt (len .Parts) 1}}These domains stay{{else}}The domain stays{{end}} with you until the end of the term, even after the
withdrawal.{{if .Declared}} {{if gt (len .Parts) 1}}They won't{{else}}It won't{{end}} renew automatically.{{end}}
{{end}}{{if .Unclaimed}}
The order does not belong to an account yet; the link to claim it is in a
separate email. After that, you'll find the credit note here:
{{else}}
You'll find the credit note under "Invoices":
{{end}}
{{.Portal}}
`},
	registrar.MailRefundReturned: {"{{if .Parts}}{{(index .Parts 0).Name}}{{with .OtherParts}} and {{.}} more{{end}}{{else}}{{with .Items}}{{(index . 0).Name}}{{end}}{{if .Others}} and {{.Others}} more{{end}}{{end}}: your bank returned {{.Refund}}", `
On {{.On}} your bank returned our refund of {{.Refund}}. This
happens, for example, when the card or account that you paid with no
longer exists.

Order: {{.Order}}
{{range .Parts}}
{{.Name}}: {{.Gross}}{{end}}

The money is still yours. We'll pay it again or contact you to agree on
another way. If you'd like to give us a different account right away,
just reply to this email.

{{if .Unclaimed}}The order does not belong to an account yet; the link to claim it is in a
separate email.{{else}}Your order shows where things stand:

{{.Portal}}/orders/{{.Order}}{{end}}
`},
	registrar.MailRefundSettled: {"{{if .Parts}}{{(index .Parts 0).Name}}{{with .OtherParts}} and {{.}} more{{end}}{{else}}{{with .Items}}{{(index . 0).Name}}{{end}}{{if .Others}} and {{.Others}} more{{end}}{{end}}: {{.Refund}} paid on {{.On}}", `
On {{.On}} we paid you {{.Refund}} another way. Your bank had
returned our refund on {{.ReturnedOn}}.

Order: {{.Order}}
{{range .Parts}}
{{.Name}}: {{.Gross}}{{end}}

If the money hasn't reached you after a week, just reply to this email.

{{if .Unclaimed}}The order does not belong to an account yet; the link to claim it is in a
separate email.{{else}}Your order is here:

{{.Portal}}/orders/{{.Order}}{{end}}
`},
	registrar.MailDomainChanged: {`{{.Domain}}{{if .More}} and {{.More}} more{{end}}: {{if eq .Change "nameservers"}}nameservers changed{{else if eq .Change "ds_add"}}DS record added{{else if eq .Change "ds_remove"}}DS record removed{{else if eq .Change "lock"}}transfer lock set{{else if eq .Change "unlock"}}transfer lock removed{{else if eq .Change "secure"}}transfers locked, new auth code{{else}}domain holder details changed{{end}} on {{.On}}`, `
{{if .More}}On {{.At}} we finished changing {{len .Renewals}} of your
domains{{with .Address}} (requested from IP address {{.}}){{end}}:
{{range .Renewals}}
  {{.Name}}{{with .LockedUntil}}: a transfer may be refused until {{.}}{{end}}{{end}}
{{else}}On {{.At}} {{.Domain}} was
changed{{with .Address}} (requested from IP address {{.}}){{end}}.
{{end}}
Changed: {{if eq .Change "nameservers"}}the nameservers
{{with .OldNameservers}}
Previously:{{range .}}
  {{.}}{{end}}
{{end}}{{with .Nameservers}}
Now:{{range .}}
  {{.}}{{end}}
{{end}}{{else if eq .Change "ds_add"}}a DS record (DNSSEC) was added
{{else if eq .Change "ds_remove"}}a DS record (DNSSEC) was removed
{{with .Day}}Planned: the nameservers change on {{.}}. Until then you can
cancel this in the portal.
{{end}}{{else if eq .Change "lock"}}the transfer lock was set
{{else if eq .Change "unlock"}}the transfer lock was removed
{{else if eq .Change "secure"}}the transfer lock was set, and earlier auth codes no longer work
{{else}}the domain holder details
{{if .Before}}
Previously: {{.Before}}
Now:        {{.After}}
{{end}}` + englishTransferLock + `{{if .Confirm}}
Still open: the new holder has to confirm their email address and will get
a message about it. The deadline is here:

{{.Portal}}/contact-checks
{{end}}{{end}}{{if eq .Change "secure"}}
We did this because of a lock on the domain; a separate email explains
it. The domain is here:
{{else}}
If this wasn't you, {{if .NoPassword}}please sign out on all other devices under
"Security" immediately, review your passkeys and check the{{else}}please change your password immediately and check the{{end}}
{{if .More}}domains{{else}}domain{{end}}:
{{end}}
{{.Place}}

{{if eq .Change "secure"}}If you have questions, please contact us:{{else}}Then please contact us:{{end}}

{{.Contact}}
`},
	registrar.MailNameserversRefused: {`{{.Domain}}{{if .More}} and {{.More}} more{{end}}: nameservers could not be changed`, `
The planned nameserver change failed on {{.At}}{{if .More}} for these
domains:
{{range .Renewals}}
  {{.Name}}{{end}}
{{else}} for {{.Domain}}.
{{end}}{{with .Nameservers}}
Requested nameservers:{{range .}}
  {{.}}{{end}}
{{end}}
The current nameservers remain in place, and the {{if .More}}domains stay{{else}}domain stays{{end}}
reachable. The change starts by removing the DS record, so DNSSEC may be
off. {{if .More}}The page below shows the reasons. On each domain's page you can try
again, or add the DS record of your current DNS provider back:{{else}}The domain's page shows the reason. You can try again there, or
add the DS record of your current DNS provider back:{{end}}

{{.Place}}
`},
	registrar.MailNameserversCanceled: {`{{.Domain}}{{if .More}} and {{.More}} more{{end}}: nameserver change cancelled`, `
On {{.At}} the planned nameserver change was
cancelled{{with .Address}} (requested from IP address {{.}}){{end}} for {{if .More}}these domains:
{{range .Renewals}}
  {{.Name}}{{end}}
{{else}}{{.Domain}}.
{{end}}{{with .Nameservers}}
Planned nameservers:{{range .}}
  {{.}}{{end}}
{{end}}
The current nameservers remain in place. The change had begun to remove the
DS records, so DNSSEC may be off. You can add them back on {{if .More}}each{{else}}the{{end}} domain's
page:

{{.Place}}

If this wasn't you, {{if .NoPassword}}please sign out on all other devices under
"Security" immediately and review your passkeys.{{else}}please change your password immediately.{{end}}
`},
	registrar.MailHolderNotice: {`{{.Domain}}{{if .More}} and {{.More}} more{{end}}: holder changed on {{.On}}`, `
You are getting this email because you are, or were, registered as the
holder of {{if .More}}these domains{{else}}this domain{{end}}:
{{if .More}}{{range .Renewals}}
  {{.Name}}{{with .LockedUntil}}: a transfer may be refused until {{.}}{{end}}{{end}}
{{else}}
  {{.Domain}}
{{end}}
The customer who manages {{if .More}}them{{else}}it{{end}} with us changed the holder
on {{.At}}.

Before: {{.Before}}
Now:    {{.After}}
` + englishTransferLock + `
{{if .Confirm}}You will get a second message. Please use the link in it to confirm your
email address. It says by when, and what happens otherwise. {{else}}If you agree, there is nothing you need to do. {{end}}If you know nothing about
it, please talk to whoever manages your domains, or to us.
`},
	registrar.MailDomainLock: {`{{.Domain}}: {{if eq .Change "lifted"}}lock lifted{{else}}locked{{end}} on {{.On}}`, `
On {{.At}} {{if eq .Change "lifted"}}we lifted the lock on one of your
domains.{{else}}we locked one of your domains.{{end}}

Domain: {{.Domain}}
{{if eq .Change "lifted"}}Reason for the lock: {{.Name}}
{{else}}Cause:  {{if eq .Change "chargeback"}}a payment was charged back
{{else if eq .Change "udrp"}}a domain name dispute (UDRP)
{{else if eq .Change "court"}}an order by a court or an authority
{{else}}a report of abuse
{{end}}Reason: {{.Name}}
{{end}}{{if .Suspended}}
{{if eq .Change "lifted"}}We are putting the domain back into the DNS, unless it is locked for
another reason, too. It can take a few hours until website and email work
everywhere again.
{{else}}We are taking the domain out of the DNS: its website and email then stop
working. Transfers, auth codes and changes of the holder are not possible
meanwhile. Its term and renewals don't change.

What you can do: please resolve the reason and tell us what you changed.
We will then review the lock.
{{end}}{{end}}
The domain's page shows what {{if eq .Change "lifted"}}is possible again{{else}}is restricted{{end}}:

{{.Place}}

If you have questions or think that this is a mistake, please contact us:

{{.Contact}}
`},
	registrar.MailAuthCode: {"{{.Domain}}: auth code shown on {{.On}}", `
On {{.At}} a new auth code for one of your domains was
created and shown in the portal{{with .Address}} (from IP
address {{.}}){{end}}.

Domain: {{.Domain}}

Anyone who has the auth code can transfer the domain to another
provider{{if .Lockable}} unless it is locked{{end}}.

If this wasn't you, please {{if .NoPassword}}sign out on all other devices{{else}}change your password{{end}} immediately{{if .Lockable}}, set the
transfer lock{{end}} and request a new auth code:

{{.Place}}
`},
	registrar.MailWithdrawal: {"We received your withdrawal on {{.On}}", `
We have received your withdrawal and confirm its content and time:

Number:   {{.Number}}
Received: {{.At}}

This is what was declared, as typed into the form. Characters that
would make an address clickable are in square brackets:

> I withdraw from the contract.
> Name:     {{.Name}}
> Contract: {{.Contract}}

We will review it and email you. We refund what you are due to your
original payment method{{with .RefundBy}} by {{.}} at the latest{{end}}.

` + englishNoticeRenewal + `Please keep this email.

If you didn't withdraw from a contract, someone else entered your
address. Please reply to this email so that we can stop this.
`},
	registrar.MailTermination: {"We received your cancellation on {{.On}}", `
We have received your cancellation and confirm its content and time:

Number:   {{.Number}}
Received: {{.At}}

This is what was declared, as typed into the form. Characters that
would make an address clickable are in square brackets:

> I cancel the contract.
> Name:     {{.Name}}
> Contract: {{.Contract}}
> Kind:     {{if .Special}}for cause, with immediate effect{{else}}ordinary{{end}}
> As of:    {{if .Special}}the day of receipt{{else}}{{with .End}}{{.}}{{else}}the earliest possible day{{end}}{{end}}{{with .Reason}}
> Reason:
> {{.}}{{end}}

{{if .Special}}We will shortly review the reason and reply by email.
{{else}}A contract for a domain ends with the paid term at the earliest, even if
you named an earlier day; until then you keep the domain. We will shortly
confirm the day on which the contract ends, by email to the address of
the account that has the domain.
{{end}}
` + englishNoticeRenewal + `Please keep this email.

If you didn't cancel a contract, someone else entered your address.
Please reply to this email so that we can stop this.
`},
	registrar.MailContractEnds: {"{{if .More}}Your cancellation: {{.Domain}} and {{.More}} more expire{{else}}Your cancellation: {{.Domain}} expires on {{.Date}}{{end}}", `
We have processed your cancellation of {{.Received}}.{{if .Special}} We found no cause for
which the contract ends at once.{{end}}{{if .Late}}
We are sorry that you had to wait so long for this.{{end}}

Number: {{.Number}}
{{range .Renewals}}
{{.Name}}
  Contract ends: {{.End}}{{if .Renewed}}
  Your consent to automatic renewal no longer applies.{{end}}
{{end}}
The contract ends with the paid term; you keep {{if .More}}each domain{{else}}the domain{{end}} until
then. Automatic renewal is off, and we charge nothing more. ` + englishExpiry + `
Please keep this email.

Didn't you cancel, or do you want to keep {{if .More}}a{{else}}the{{end}} domain? Until
` + englishExpiryEnd + `, you can take this back here:

{{if .More}}{{.Portal}}/domains{{else}}{{.Page}}{{end}}
`},
	registrar.MailNoticeHandled: {"{{if .Termination}}Your cancellation{{else}}Your withdrawal{{end}} of {{.On}}{{with .Domain}} for {{.}}{{with $.More}} and {{.}} more{{end}}{{end}}: {{with .End}}your contract ends on {{.}}{{else}}our reply{{end}}", `
We have handled your {{if .Termination}}cancellation{{else}}withdrawal{{end}} of {{.At}}.{{if .Late}}
We are sorry that you had to wait so long for this.{{end}}

Number: {{.Number}}{{with .End}}
Contract ends: {{.}}{{end}}

> Contract: {{.Contract}}
{{with .Reply}}
{{.}}
{{end}}{{if .Renewals}}
Your consent to automatic renewal no longer applies, and we charge nothing
more. This concerns:
{{range .Renewals}}
  {{.Name}}{{end}}
{{end}}
If you have questions, just reply to this email. Please keep it.
`},
	registrar.MailNoticeReceived: {"{{if .Termination}}Termination{{else}}Withdrawal{{end}} {{.Number}} of {{.On}}{{with .Domain}}: {{.}}{{with $.More}} and {{.}} more{{end}}{{end}}", `
Someone has {{if .Termination}}terminated a contract{{else}}withdrawn from a contract{{end}}. Review and close
the case here:

{{.Case}}

Number:   {{.Number}}
Received: {{.At}}
Email:    {{.Email}}

> Name:     {{.Name}}
> Contract: {{.Contract}}{{if .Termination}}
> Kind:     {{if .Special}}for cause, with immediate effect{{else}}ordinary{{end}}
> As of:    {{if .Special}}the day of receipt{{else}}{{with .End}}{{.}}{{else}}the earliest possible day{{end}}{{end}}{{with .Reason}}
> Reason:
> {{.}}{{end}}{{end}}
{{if not .Termination}}{{range .Orders}}
Order {{.ID}}{{with .Paid}},
paid {{.}}{{end}}:
  {{if .Consent}}On {{.Consent}} the customer expressly asked us to
  start immediately (wording {{.Wording}}).{{else}}There is no consent to start before the withdrawal period ends.{{end}}{{with .PeriodEnded}}
  The withdrawal period ended on {{.}}, before the notice arrived.{{end}}{{if .Business}}
  The customer is a business and has no right of withdrawal.{{end}}
{{else}}
The text does not refer to an order that we know.
{{end}}{{end}}
The confirmation to this address has been queued.
`},
}
