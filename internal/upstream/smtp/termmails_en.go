package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

// englishRegistryExpires says what a registry does that ends terms. Mails that the previous release queued
// don't say when.
const englishRegistryExpires = `{{if and .Expired (not .HoldAt)}}The registry took the domain out of the DNS at the end of its term.
Websites and email addresses under this name no longer work. {{if .Over}}The registry
deletes the domain on {{.DeleteAt}} at the earliest.{{else}}Without a renewal, it deletes the domain on {{.DeleteAt}} at the earliest.{{end}}{{else}}Without a renewal, the registry takes the domain out of the DNS {{if .HoldAt}}on {{.HoldAt}} at the
latest{{else}}at the end of its term{{end}}. Websites and email addresses under this name then stop
working. {{if .DeleteAt}}The registry deletes the domain on {{.DeleteAt}} at the earliest.{{else}}After that, it deletes the domain.{{end}}{{end}}`

// englishRestorable says whether a domain can be restored after its deletion.
const englishRestorable = `{{if .Days}}
After that it can be restored for another {{.Days}} days, which costs much
more than a renewal.{{else}}
After that, it can't be restored through us.{{end}}`

// englishUnpaid says what happens to a domain that is not paid.
const englishUnpaid = `{{if .Over}}You can renew it only before its term ends, which is on
{{.EndsAt}}.

{{end}}{{if eq .Unpaid "delete"}}Without a renewal {{if .HoldAt}}we take the domain out of the DNS on
{{.HoldAt}}. Websites and email addresses under this name then stop working. We
delete it on {{.DeleteAt}} at the earliest.{{else}}we delete the domain {{if .Over}}at that time{{else}}on {{.DeleteAt}}
at the earliest{{end}}.{{end}}` + englishRestorable + `
{{else if eq .Unpaid "transit"}}Without a renewal we hand the domain over to its registry, DENIC, on
{{.DeleteAt}}. DENIC then writes to the holder and asks how to
proceed.
{{else if eq .Unpaid "expire"}}` + englishRegistryExpires + `
{{else if eq .Unpaid "consent"}}{{if .Expired}}The domain continues at the registry although you have not paid for it.
Without a renewal it may stop working at any time. A renewal counts from
{{.Date}}, not from the day on which you pay.

If you don't want the domain any more: we may delete it only if you agree.
Choose "let it expire" on its page.{{else}}Without a renewal the domain may stop working after that date. We may
delete it only if you agree: choose "let it expire" on the domain's
page.{{end}}
{{else}}Without a renewal the domain may stop working {{if .Expired}}at any time{{else}}after that date{{end}} and may
be deleted.{{if .Expired}} A renewal counts from {{.Date}}, not from the day on which you pay.{{end}}
{{end}}`

// englishExpiry says what happens to domains that their customer lets expire. Mails that the previous
// release queued don't say which domains they are about.
const englishExpiry = `{{if eq .Unpaid "transit"}}After the end of
the term we hand the {{if .More}}domains{{else}}domain{{end}} over to the registry DENIC, which writes to
the holder.{{else if or (eq .Unpaid "mixed") (not .Unpaid)}}After the
end of the term we hand .de domains over to the registry DENIC, which
writes to the holder. The others are taken out of the DNS and deleted;
after that, anyone can register them.{{else}}After the end of
the term, the {{if .More}}domains are{{else}}domain is{{end}} taken out of the DNS and deleted{{if .Days}}.{{else}}; after that,
anyone can register {{if .More}}them{{else}}it{{end}}.{{end}}{{end}}`

// englishExpiryEnd is until when the customer can still decide otherwise: "Until …".
const englishExpiryEnd = `{{if .Over}}the end of {{if .More}}its{{else}}the{{end}} term{{if not .More}} on {{.Date}}{{end}}{{else}}{{if eq .Unpaid "transit"}}we hand {{if .More}}them{{else}}it{{end}} over{{else}}{{if .More}}they are{{else}}it is{{end}} {{if or (eq .Unpaid "mixed") (not .Unpaid)}}handed over or {{end}}deleted{{end}}{{end}}`

// englishRenewalPrice is what a renewal costs, if that is known.
const englishRenewalPrice = `{{if .Renewal}}Renewal currently costs {{.Renewal}}{{with $.Tax}} {{.}}{{end}} for {{if eq .RenewalYears 1}}1 year{{else}}{{.RenewalYears}} years{{end}}.

{{end}}`

// englishRenewBefore asks to renew, or says that it happens automatically.
const englishRenewBefore = `{{if .ChargeAt}}
{{if .MethodExpires}}Important: your card is only valid through {{.MethodExpires}} and will have expired on
the day of the charge. Please add another payment method before then, or
the domain won't be renewed:

{{.Portal}}/payment-methods

The domain is set to renew automatically.{{else}}You don't need to do anything: the domain renews automatically.{{end}} On
{{.ChargeAt}} we charge {{.Gross}}{{with $.Tax}} {{.}}{{end}} to your default payment
method, as announced. Until then you can turn this off on the domain's
page:

{{.Place}}

We always remind you about a month before a term ends, and again about a
week before if it hasn't been renewed by then. You are charged only once.
{{else}}{{if .Cancelled}}
You cancelled the contract for this domain on {{.Cancelled}}, and it ends as
you asked. If you want to keep it after all, please renew it before then,
on its page:
{{else if .Withdrawn}}
You withdrew from the contract for this domain on {{.Withdrawn}}.{{if .OnHold}} Automatic
renewal is therefore on hold: we start no charge while we process the
withdrawal.{{end}} If you want to keep the domain after all, please renew it
before then, on its page:
{{else if eq .Choice "expire"}}
You chose to let this domain expire. If you want to keep it after all,
please renew it before then, on its page:
{{else if .NextTerm}}
Please renew this domain yourself this time, although automatic renewal is
on: it only applies from the next term. You can renew on the domain's page:
{{else}}
If you want to keep the domain, please renew it before then, on its
page:
{{end}}
{{.Place}}

` + englishRenewalPrice + englishUnpaid + `{{end}}`

// englishWhy is why a domain was held, deleted or handed over.
const englishWhy = `{{if .Cancelled}}after your cancellation of {{.Cancelled}}{{else if eq .Choice "expire"}}because you let it expire{{else}}because it was not renewed{{end}}{{with .Withdrawn}} (we are still
handling your withdrawal of {{.}}){{end}}`

const (
	englishExpiringSubject     = `{{if .ChargeAt}}{{.Domain}}: term ends on {{.Date}}, automatic renewal on {{.ChargeAt}}{{else}}{{.Domain}}{{if .NextTerm}}: please renew it yourself by {{.Date}}{{else}} expires on {{.Date}}{{end}}{{end}}`
	englishExpiringWeekSubject = `{{if .ChargeAt}}{{.Domain}}: term ends on {{.Date}}, automatic renewal on {{.ChargeAt}}{{else}}{{if eq .DaysLeft 1}}1 day left: {{else if .DaysLeft}}{{.DaysLeft}} days left: {{end}}{{.Domain}}{{if .NextTerm}}: please renew it yourself by {{.Date}}{{else}} expires on {{.Date}}{{end}}{{end}}`
)

// englishTermMails are the mails about the end of a domain's term in English.
var englishTermMails = map[registrar.MailKind]mailText{
	registrar.MailExpiringMonth: {englishExpiringSubject, `
The paid term of a domain ends in {{if .DaysLeft}}{{.DaysLeft}} day{{if ne .DaysLeft 1}}s{{end}}{{else}}about a month{{end}}:

Domain: {{.Domain}}
End:    {{.Date}}
` + englishRenewBefore},
	registrar.MailExpiringWeek: {englishExpiringWeekSubject, `
The paid term of a domain ends within days:

Domain: {{.Domain}}
End:    {{.Date}}
` + englishRenewBefore},
	registrar.MailExpired: {"{{.Domain}} {{if .Reminder}}has not been paid for since {{.Date}}{{else}}expired on {{.Date}}{{end}}", `
{{if .Reminder}}A domain has still not been paid for:{{else}}The paid term of a domain has ended:{{end}}

Domain: {{.Domain}}
End:    {{.Date}}
{{if .Over}}
{{if .NextTerm}}Automatic renewal was on, but would have applied only from the next term.
{{else if .Cancelled}}You cancelled the contract for this domain on {{.Cancelled}}.
{{else if eq .Choice "expire"}}You chose to let this domain expire. {{end}}It can no longer be renewed through us. {{if eq .Unpaid "expire"}}` + englishRegistryExpires + `{{else if eq .Unpaid "delete"}}We delete it{{with .DeleteAt}} on {{.}} at the earliest{{end}}.` + englishRestorable + `{{end}}

If you have questions, please reply to this email.
{{else}}{{if .Cancelled}}
You cancelled the contract for this domain on {{.Cancelled}}, and it ends as
you asked. If you want to keep it after all, please renew it now,
on its page:
{{else if .NextTerm}}
Please renew this domain yourself this time, although automatic renewal is
on: it only applies from the next term. You can renew now on the domain's
page:
{{else if .Withdrawn}}
You withdrew from the contract for this domain on {{.Withdrawn}}. If you want
to keep it after all, please renew it now, on its page:
{{else if eq .Choice "expire"}}
You chose to let this domain expire. If you want to keep it after all,
please renew it now, on its page:
{{else}}
If you want to keep the domain, please renew it now, on its page:
{{end}}
{{.Place}}

` + englishRenewalPrice + englishUnpaid + `{{end}}`},
	registrar.MailHolderExpiry: {`{{if eq .Change "domain_held"}}{{.Domain}} is out of the DNS and will be deleted on {{.DeleteAt}} at the earliest{{else if or (eq .Change "domain_deleted") (eq .Change "domain_closed")}}{{.Domain}} {{if .Restorable}}was deleted and can be restored until {{.Restorable}}{{else}}was deleted on {{.Day}}{{end}}{{else if eq .Change "expired"}}{{.Domain}} expired on {{.Date}}{{else if .ChargeAt}}{{.Domain}}: automatic renewal planned for {{.ChargeAt}}{{else}}{{.Domain}} expires on {{.Date}}{{end}}`, `
You are the registered holder of this domain:

Domain: {{.Domain}}
{{if eq .Change "domain_held"}}
It was not renewed, so we took it out of the DNS on {{.Day}}.
Websites and email addresses under this name no longer work. Without a
renewal we delete it on {{.DeleteAt}} at the earliest.
{{else if or (eq .Change "domain_deleted") (eq .Change "domain_closed")}}
It was not renewed and was deleted on {{.Day}}.{{if .Restorable}}
It can be restored until {{.Restorable}}.{{end}}
{{else}}
{{if eq .Change "expired"}}Its paid term ended on {{.Date}}.{{else}}Its paid term ends on {{.Date}}.{{end}}
{{if and .Over (eq .Change "expired")}}It can no longer be renewed through us.{{if eq .Unpaid "expire"}}
` + englishRegistryExpires + `{{else if .DeleteAt}} We delete it on {{.DeleteAt}} at the
earliest.{{with .Days}} After that it can be restored for another {{.}} days.{{end}}{{end}}
{{else if .ChargeAt}}It is set to renew automatically on {{.ChargeAt}}. You don't need to do
anything.
{{else if and .Over (eq .Unpaid "expire")}}It can be renewed only until {{.EndsAt}}.
` + englishRegistryExpires + `
{{else if eq .Unpaid "expire"}}` + englishRegistryExpires + `
{{else if .HoldAt}}Without a renewal we take it out of the DNS on {{.HoldAt}} and delete it on
{{.DeleteAt}} at the earliest.
{{else if eq .Unpaid "transit"}}Without a renewal we hand it over to its registry, DENIC, on
{{.DeleteAt}}. DENIC then writes to you.
{{else if .Over}}It can be renewed only until {{.EndsAt}}. It is then deleted.
{{else if .DeleteAt}}Without a renewal we delete it on {{.DeleteAt}} at the earliest.
{{else if eq .Unpaid "consent"}}Without a renewal it may stop working after that date.
{{else}}Without a renewal it may stop working after that date and may be deleted.
{{end}}{{end}}
The domain is managed by our customer{{with .Name}}:

  {{.}}

{{else}}.
{{end}}{{if or .ChargeAt (and .Over (eq .Change "expired")) (and (or (eq .Change "domain_deleted") (eq .Change "domain_closed")) (not .Restorable))}}If you have questions, please contact them. We answer them, too:{{else}}If you want to keep it, please contact them. We also answer questions:{{end}}

{{.Contact}}
`},
	registrar.MailDomainHeld: {"{{.Domain}} is out of the DNS and will be deleted on {{.DeleteAt}} at the earliest", `
We have taken a domain out of the DNS ` + englishWhy + `:

Domain:         {{.Domain}}
Paid until:     {{.Date}}
Out of the DNS: {{.Day}}
Deletion:       {{.DeleteAt}} at the earliest

Websites and email addresses under this name no longer work. Renew the
domain and we put it back into the DNS at once. It may take a few hours
until websites and email work everywhere again. Until it is deleted, you
can renew it at the usual price, on the domain's page:

{{.Place}}
`},
	registrar.MailDomainDeleted: {"{{.Domain}} {{if .Restorable}}was deleted and can be restored until {{.Restorable}}{{else}}was deleted on {{.Day}}{{end}}", `
{{if eq .Change "refunded"}}A domain was deleted. We refunded the price of its registration:

Domain:     {{.Domain}}
{{else}}A domain was deleted ` + englishWhy + `:

Domain:     {{.Domain}}
Paid until: {{.Date}}
{{end}}Deleted:    {{.Day}}
{{if .Restorable}}
You can restore it until {{.Restorable}}.{{if .Gross}} This will probably cost
{{.Gross}}, including the renewal.{{end}} You see the exact price before you
pay, under "Domains":

{{.Portal}}

After that, anyone can register the domain.
{{else}}
It can't be restored through us. If you have questions, please reply to
this email.
{{end}}`},
	registrar.MailDomainClosed: {`{{.Domain}} left your account on {{.Day}}`, `
A domain no longer belongs to your account:

Domain:     {{.Domain}}
{{if or (eq .Change "refunded") (eq .Change "refunded_handed_over")}}{{else}}Paid until: {{.Date}}
{{end}}{{if eq .Change "handed_over"}}
On {{.Day}} we handed it over to its registry, DENIC,
` + englishWhy + `. DENIC sends the holder a
letter that explains how to keep the domain.{{with .Page}} The essentials are here, too:

{{.}}{{end}}
{{else if eq .Change "refunded_handed_over"}}
We refunded the price of its registration. On {{.Day}} we handed it over to
its registry, DENIC. DENIC sends the holder a letter that explains how to
keep the domain.
{{else if eq .Change "refunded"}}
We refunded the price of its registration and deleted it on {{.Day}}.
Once the registry releases it, anyone can register it.
{{else}}
{{if .Cancelled}}After your cancellation of {{.Cancelled}}, it was{{else if eq .Choice "expire"}}You let it expire, and it was{{else}}Its term had ended, and it was{{end}} deleted for good on {{.Day}}.{{with .Withdrawn}}
We are still handling your withdrawal of {{.}}.{{end}}
Once the registry releases it, anyone can register it.
{{end}}`},
	registrar.MailDomainRestored: {`{{.Domain}} is back and paid until {{.Date}}`, `
{{if eq .Change "redemption"}}A deleted domain has been restored:{{else}}A domain has been renewed and is in the DNS again:{{end}}

Domain:     {{.Domain}}
Paid until: {{.Date}}

It may take a few hours until websites and email work everywhere again.
You can find the domain here:

{{.Portal}}
`},
	registrar.MailDataReminder: {"Are your domain holder details still correct? As of {{.Day}}", `
Once a year we ask you to check the holder details of your domains.
ICANN requires this of every registrar. Your profile has:

{{range .Registrant}}  {{.}}
{{end}}
{{if .Items}}{{if .Others}}These domains are still registered with other details{{else}}This domain is still registered with other details{{end}}:
` + englishCheckList + `
Check them here and apply the details of your profile:

{{.Portal}}/holders/own/domains

If something has changed, correct your profile first:
{{else}}If everything is correct, you don't need to do anything. If something
has changed, please correct it under "Profile". Then choose which domains get
the new details:
{{end}}
{{.Portal}}/profile
{{if .OtherHolders}}
You have added other holders, too. Please check their details:

{{.Portal}}/holders
{{end}}
Incorrect holder details can lead to the deletion of a domain.
`},
}
