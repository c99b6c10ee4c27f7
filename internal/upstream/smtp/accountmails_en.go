package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

// english holds the mails in English.
var english = language{
	code:             "en",
	timeLayout:       "2 January 2006, 15:04 UTC",
	dateLayout:       "2 January 2006",
	decimalSeparator: ".",
	greeting:         "Hello,\n",
	footer: `
--
dotkontor – {{.Portal}}
This message was sent automatically. We never ask for your password or
your codes by e-mail.
`,
	accountMails: map[registrar.MailKind]mailText{
		registrar.MailConfirm: {"Please confirm your e-mail address", `
on {{.At}} an account at dotkontor was made with this
e-mail address{{with .Address}} (from the address {{.}}){{end}}.

Please confirm that the e-mail address is yours:

{{.Link}}

The link works until {{.Until}}, and once only.

Was that not you? Then there is nothing to do: without the
confirmation nobody can sign in to the account.
`},
		registrar.MailAlreadyRegistered: {"You already have an account", `
on {{.At}} somebody wanted to make an account at
dotkontor with this e-mail address{{with .Address}} (from the address {{.}}){{end}}.
There is an account with this e-mail address already; nothing was
changed.

If that was you, please sign in:

{{.Portal}}

If you have forgotten your password, choose "Forgot your password"
there.

Was that not you? Then there is nothing to do.
`},
		registrar.MailAccountClosed: {"Your account is closed", `
on {{.At}} your account at dotkontor was closed
as you wished{{with .Address}} (from the address {{.}}){{end}}.

Nobody can sign in to it any more; access tokens and connected
applications have ended. Invoices, and what the law has us keep, stay
stored until their time is over.

Was that not you? Then please answer this message at once.
`},
		registrar.MailPasswordReset: {"Choose a new password", `
on {{.At}} a new password was asked for, for your
account at dotkontor{{with .Address}} (from the address {{.}}){{end}}.

Choose it here:

{{.Link}}

The link works until {{.Until}}, and once only. A newer
one makes it void.

Was that not you? Then there is nothing to do: your password stays as
it is. Do not pass the link on to anybody.
`},
		registrar.MailNoAccount: {"No account with this e-mail address", `
on {{.At}} a new password was asked for at dotkontor,
for this e-mail address{{with .Address}} (from the address {{.}}){{end}}. But
there is no account with it.

Perhaps you registered with another e-mail address. You can make a new
account here:

{{.Portal}}

Was that not you? Then there is nothing to do.
`},
		registrar.MailChangeEmail: {"Please confirm your new e-mail address", `
on {{.At}} this e-mail address was given as the new
one of an account at dotkontor.

Open the link and sign in with your current address. Then confirm the
new one:

{{.Link}}

The link works until {{.Until}}, and once only. Until
then your current address stays in force.

Was that not you? Then someone mistyped their address. The link does
nothing without signing in, and you don't need to do anything.
`},
		registrar.MailEmailChanging: {"Your e-mail address is about to change", `
on {{.At}} another e-mail address was given for your
account at dotkontor{{with .Address}} (from the address {{.}}){{end}}.
{{with .Email}}
New address: {{.}}
{{end}}
It takes effect once the link we sent there is opened and confirmed
while signed in to your account. After that, we no longer write to this
address.

Was that not you? Then please sign in at once, change your password and
sign out all sessions:

{{.Portal}}
`},
		registrar.MailPasswordChanged: {"Your password was changed", `
on {{.At}} the password of your account at dotkontor
was changed{{with .Address}} (from the address {{.}}){{end}}. Other sessions were
signed out.

Was that not you? Then please choose a new one at once with
"Forgot your password", and look through your access tokens and
passkeys:

{{.Portal}}
`},
		registrar.MailTokenCreated: {"A new access token for your account", `
on {{.At}} an access token for programs was made for
your account at dotkontor{{with .Address}} (from the address {{.}}){{end}}.
{{with .Name}}
Name: {{.}}
{{end}}
Whoever has the token can act in your name until you revoke it.

Was that not you? Then please revoke the token at once under
"MCP and API access", and change your password:

{{.Portal}}
`},
		registrar.MailApplicationConnected: {"An application has access to your account", `
on {{.At}} an application was approved to access your
account at dotkontor{{with .Address}} (from the address {{.}}){{end}}.
{{with .Name}}
It calls itself: {{.}}
{{end}}{{with .Host}}
The answer went to: {{.}}
{{end}}
The application chose its name itself. We have not checked it.

Was that not you? Then please disconnect the application at once under
"Applications", and change your password:

{{.Portal}}
`},
		registrar.MailApplicationReplayed: {"A connection to your account was ended", `
on {{.At}} we ended an application's connection to your
account at dotkontor. Its credentials were used
twice{{with .Address}} (last from the address {{.}}){{end}}.
{{with .Name}}
It calls itself: {{.}}
{{end}}{{with .Host}}
Connected to: {{.}}
{{end}}
Someone may have copied the credentials, or two programs ran at the same
time. The application no longer has access. To keep using it, connect it
again.

Was that not you? Then please review the activity in your account, and
check the device that the application runs on:

{{.Portal}}
`},
		registrar.MailAgentLinked: {"A checkout agent is linked to your account", `
on {{.At}} a checkout agent was linked to your account
at dotkontor{{with .Address}} (from the address {{.}}){{end}}.
{{with .Name}}
Name: {{.}}
{{end}}
It can see and pay your open orders until you end the link. It can't
change your account or your domains.

Was that not you? Then please end the link at once in your profile under
"Linked checkout agents", and change your password:

{{.Portal}}
`},
		registrar.MailSecondFactor: {"Your second factor was changed", `
on {{.At}}, for your account at dotkontor,
{{if eq .Change "on"}}sign-in with a second factor was switched
on{{else if eq .Change "off"}}sign-in with a second factor was switched
off{{else if eq .Change "renewed"}}a new list of recovery codes was
made{{else if eq .Change "used"}}a recovery code was used to sign
in{{else}}sign-in with a second factor was
changed{{end}}{{with .Address}} (from the address {{.}}){{end}}.

Was that not you? Then please sign in at once, change your password and
sign out all sessions:

{{.Portal}}
`},
		registrar.MailRegistrantChanged: {"Your registrant data were changed", `
on {{.At}} the data that your domains are registered
under were changed in your account with
dotkontor{{with .Address}} (from the address {{.}}){{end}}.

Was that not you? Then please sign in at once, change your password and
look through the data:

{{.Portal}}
`},
		registrar.MailPasskey: {"Your passkeys were changed", `
on {{.At}} a passkey of your account at dotkontor was
{{if eq .Change "added"}}added{{else if eq .Change "removed"}}removed{{else}}changed{{end}}{{with .Address}} (from the address {{.}}){{end}}.
{{with .Name}}
Name: {{.}}
{{end}}
Was that not you? Then please sign in at once, change your password and
look through your passkeys:

{{.Portal}}
`},
	},
	orderMails: englishOrderMails,
}
