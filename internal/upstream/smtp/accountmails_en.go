package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

// english holds the mails in English.
var english = language{
	code:             "en",
	timeLayout:       "2 January 2006, 15:04 MST",
	dateLayout:       "2 January 2006",
	decimalSeparator: ".",
	withVAT:          "incl. %s VAT",
	net:              "net",
	greeting:         "Hello,\n",
	footer: `
--
dotkontor – {{.Portal}}
This email was sent automatically. We never ask for your password or
your codes by email.
`,
	country:     ", Germany",
	represented: "Represented by: ",
	vatID:       "VAT ID ",
	contact:     "/contact",
	basket:      "/basket",
	withdrawal:  "/withdrawal",
	help: `
Need help? Write to us:

{{.Contact}}
`,
	accountMails: map[registrar.MailKind]mailText{
		registrar.MailConfirm: {"Please confirm your email address", `
You, or someone using your email address, asked to {{if .Items}}order from{{else}}create an account at{{end}} dotkontor
on {{.At}}{{with .Address}} (from IP address {{.}}){{end}}.
{{if .Items}}
In the basket (dots are in square brackets so that nothing that someone
else has typed is clickable in this email):
{{range .Items}}
  {{.Name}}{{end}}

Please confirm that the email address is yours. You then continue to
checkout; nothing is ordered yet:
{{else}}
Please confirm that the email address is yours:
{{end}}
{{.Link}}

The link is valid until {{.Until}} and works once.

If this wasn't you, you don't need to do anything: without the
confirmation, no one can sign in to the account.
`},
		registrar.MailAlreadyRegistered: {"You already have an account", `
Someone tried to {{if .Buyer}}place an order{{else}}create an account{{end}} at dotkontor with this email address
on {{.At}}{{with .Address}} (from IP address {{.}}){{end}}.
You already have an account with this address. Nothing was changed.

If this was you, please sign in{{if .Buyer}}. Checkout comes next{{end}}:

{{.SignIn}}

{{if .NoPassword}}Your account has no password yet. If you have no passkey either, choose
"Forgot your password?" there: we then send you a link to set one.{{else}}If you have forgotten your password, choose "Forgot your password?"
there.{{end}}

If this wasn't you, you don't need to do anything.
`},
		registrar.MailAccountClosed: {"Your account is closed", `
Your account at dotkontor was closed at your request on
{{.At}}{{with .Address}} (from IP address {{.}}){{end}}.

No one can sign in to it any more, and access tokens and connected
applications no longer work. Your details are deleted. We only keep the
following (Art. 17(3) GDPR):

- orders, payments, invoices: 8 years from the end of the year (HGB, AO)
- checks of your VAT ID: 6 years from the end of the year (AO)
- emails about contracts, notices: 6 years from the end of the year (HGB, AO)
- former domains with their holders: 2 years (agreement with ICANN)
- activity and consents: 3 years from the end of the year (BGB)

If this wasn't you, please reply to this email immediately.
`},
		registrar.MailPasswordReset: {"{{if .NoPassword}}Set a password{{else}}Choose a new password{{end}}", `
A {{if .NoPassword}}link to set a password{{else}}new password{{end}} for your account at dotkontor was requested on
{{.At}}{{with .Address}} (from IP address {{.}}){{end}}.

{{if .NoPassword}}Set{{else}}Choose{{end}} it here:

{{.Link}}

The link is valid until {{.Until}} and works once.
Requesting another link invalidates it.

If this wasn't you, you don't need to do anything: your {{if .NoPassword}}account{{else}}password{{end}} stays
the same. Don't share the link with anyone.
`},
		registrar.MailSignIn: {"Your sign-in link", `
A sign-in link for your account at dotkontor was requested on
{{.At}}{{with .Address}} (from IP address {{.}}){{end}}.

Sign in here:

{{.Link}}

The link is valid until {{.Until}} and works once.
Requesting another link invalidates it.

If this wasn't you, don't open the link: someone else is signed in to
your account. Don't share the link with anyone.
`},
		registrar.MailNoAccount: {"No account with this email address", `
A new dotkontor password was requested for this email address on
{{.At}}{{with .Address}} (from IP address {{.}}){{end}}.
However, there is no account with this address.

You may have registered with a different email address. You can create
a new account here:

{{.Portal}}

If this wasn't you, you don't need to do anything.
`},
		registrar.MailChangeEmail: {"Please confirm your new email address", `
This email address was entered as the new address of an account at
dotkontor on {{.At}}.

Open the link and sign in with your current address. Then confirm the
new one:

{{.Link}}

The link is valid until {{.Until}} and works once.
Until you confirm, your current address stays in use.

If this wasn't you, someone mistyped their address. The link does
nothing without signing in, and you don't need to do anything.
`},
		registrar.MailEmailChanging: {"Your email address is about to change", `
A new email address was entered for your account at dotkontor on
{{.At}}{{with .Address}} (from IP address {{.}}){{end}}.
{{with .Email}}
New address: {{.}}
{{end}}
It takes effect once the link we sent there is opened and confirmed
while signed in to your account. After that, we no longer write to this
address.

If this wasn't you, please sign in immediately, {{if .NoPassword}}sign out on all
other devices and review your passkeys:{{else}}change your password and
sign out on all devices:{{end}}

{{.Portal}}
`},
		registrar.MailPasswordChanged: {`{{if eq .Change "set"}}Your account now has a password{{else}}Your password was changed{{end}}`, `
{{if eq .Change "set"}}A first password was set for your account at dotkontor on{{else}}The password of your account at dotkontor was changed on{{end}}
{{.At}}{{with .Address}} (from IP address {{.}}){{end}}.
You were signed out on all other devices.

If this wasn't you, please choose a new password immediately with
"Forgot your password?", and review your access tokens and passkeys:

{{.Portal}}
`},
		registrar.MailTokenCreated: {"A new access token for your account", `
An access token for programs was created for your account at dotkontor
on {{.At}}{{with .Address}} (from IP address {{.}}){{end}}.
{{with .Name}}
Name: {{.}}
{{end}}{{with .Expires}}Valid until: {{.}}
{{end}}
{{if .NeverExpires}}The token does not expire. Anyone who has it can act on your behalf
until you revoke it.{{else}}Anyone who has the token can act on your behalf until it expires or you
revoke it.{{end}} They can't pay with it.

If this wasn't you, please stop the token {{if .NoPassword}}immediately under "Agents", and
review devices and passkeys under "Security":{{else}}immediately under "Agents", and
change your password:{{end}}

{{.Portal}}
`},
		registrar.MailApplicationConnected: {"An application has access to your account", `
An application was given access to your account at dotkontor on
{{.At}}{{with .Address}} (from IP address {{.}}){{end}}.
{{with .Name}}
It calls itself: {{.}}
{{end}}{{with .Host}}
Response sent to: {{.}}
{{end}}
The application chose this name itself. We have not checked it.

If this wasn't you, please stop the application immediately under
{{if .NoPassword}}"Agents", and review devices and passkeys under "Security":{{else}}"Agents", and change your password:{{end}}

{{.Portal}}
`},
		registrar.MailApplicationReplayed: {"A connection to your account was ended", `
We ended an application's connection to your account at dotkontor on
{{.At}}. Its credentials were used
twice{{with .Address}} (last from IP address {{.}}){{end}}.
{{with .Name}}
It calls itself: {{.}}
{{end}}{{with .Host}}
Connected to: {{.}}
{{end}}
Someone may have copied the credentials, or two programs ran at the same
time. The application no longer has access. To keep using it, connect it
again.

If this wasn't you, please review the activity in your account, and
check the device that the application runs on:

{{.Portal}}
`},
		registrar.MailAgentLinked: {"A checkout agent is linked to your account", `
A checkout agent was linked to your account at dotkontor on
{{.At}}{{with .Address}} (from IP address {{.}}){{end}}.
{{with .Name}}
Name: {{.}}
{{end}}
It can see, pay for and cancel your orders for registrations and transfers
until you unlink it. It can't change your account or your domains.

If this wasn't you, please stop the agent {{if .NoPassword}}immediately under "Agents", and
review devices and passkeys under "Security":{{else}}immediately under "Agents", and
change your password:{{end}}

{{.Portal}}
`},
		registrar.MailSecondFactor: {`{{if eq .Change "used"}}A recovery code was used{{else}}Your second factor was changed{{end}}`, `
On {{.At}}, for your account at dotkontor,
{{if eq .Change "on"}}the second factor was turned
on{{else if eq .Change "off"}}the second factor was turned
off{{else if eq .Change "renewed"}}new recovery codes were
created{{else if eq .Change "used"}}a recovery code was used to sign
in{{else}}the second factor was
changed{{end}}{{with .Address}} (from IP address {{.}}){{end}}.
{{with .Left}}
{{if eq . "0"}}It was your last one. Please create new ones under "Security".{{else if eq . "1"}}You have one code left. You can create new ones under "Security".{{else}}You have {{.}} codes left. You can create new ones under "Security".{{end}}
{{end}}
If this wasn't you, please sign in immediately, {{if .NoPassword}}sign out on all
other devices and review your passkeys:{{else}}change your password and
sign out on all devices:{{end}}

{{.Portal}}
`},
		registrar.MailRegistrantChanged: {"Your domain holder details were changed", `
The details that you register new domains with were changed in your
account at dotkontor on
{{.At}}{{with .Address}} (from IP address {{.}}){{end}}.

Domains that are registered already keep their former details until you
apply the new ones:

{{.Portal}}/holders/own/domains

If this wasn't you, please sign in immediately, {{if .NoPassword}}review the details,
sign out on all other devices and check your passkeys:{{else}}change your password and
review the details:{{end}}

{{.Portal}}
`},
		registrar.MailPasskey: {"Your passkeys were changed", `
A passkey of your account at dotkontor was
{{if eq .Change "added"}}added{{else if eq .Change "removed"}}removed{{else}}changed{{end}} on {{.At}}{{with .Address}}
(from IP address {{.}}){{end}}.
{{with .Name}}
Name: {{.}}
{{end}}
If this wasn't you, please sign in immediately, {{if .NoPassword}}review your
passkeys and sign out on all other devices:{{else}}change your password and
review your passkeys:{{end}}

{{.Portal}}
`},
	},
	orderMails: englishOrderMails, consentMails: englishConsentMails, renewalMails: englishRenewalMails, termMails: englishTermMails, contactMails: englishContactMails,
	transferMails: englishTransferMails,
	disputeMails:  englishDisputeMails,
	checkMails:    englishCheckMails,
	topics:        englishTopics,
}
