package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

const englishTransferFacts = `
Domain:       {{.Domain}}
New provider: {{if .Gaining}}{{.Gaining}} (its ID at the registry){{else}}not named by the registry{{end}}{{if .Requested}}
Requested:    {{.Requested}}{{end}}`

// englishTransferMails are the mails about transfers to other registrars in English.
var englishTransferMails = map[registrar.MailKind]mailText{
	registrar.MailTransferAway: {"{{.Domain}}: transfer to another provider requested{{with .ActsOn}}, moves on {{.}}{{end}}", `
Another provider has requested to take over one of your domains.
` + englishTransferFacts + `{{if .Acts}}
Moves on:     {{.Acts}}{{end}}

If you want this transfer, you don't need to do anything.
{{if .Stoppable}}You can also approve it right away on the page below.

If you don't want it, stop the transfer{{if .Acts}} before that time{{end}}. Sign in here
to do so:

{{.Stop}}
{{else}}
If you don't want it: the registry of this extension doesn't let us
refuse the transfer. Ask the new provider to {{if .NoPassword}}cancel it, sign out on
all other devices and contact us at once.{{else}}cancel it, change your
password and contact us at once.{{end}} You can follow the transfer here:

{{.Stop}}
{{end}}`},
	registrar.MailTransferAwayEnded: {`{{if eq .Change "stopped"}}{{.Domain}} stays with us: transfer stopped on {{.EndedOn}}{{else if or (eq .Change "approved") (eq .Change "completed")}}{{.Domain}} moved to another provider on {{.EndedOn}}{{else if eq .Change "stop_refused"}}{{.Domain}}: the transfer could not be stopped{{else if eq .Change "approve_refused"}}{{.Domain}}: approval of the transfer refused{{else}}{{.Domain}} stays with us: transfer ended{{end}}`, `
{{if eq .Change "stopped"}}The transfer of your domain has been stopped. It stays with us.{{else if eq .Change "approved"}}The transfer was approved, and your domain has moved.{{else if eq .Change "completed"}}Your domain has moved to another provider.{{else if eq .Change "cancelled"}}The transfer of your domain was cancelled. It stays with us.{{else if eq .Change "stop_refused"}}The registry did not accept our rejection of the transfer. The transfer
goes on.{{else if eq .Change "approve_refused"}}The registry did not accept the approval of the transfer. The transfer
goes on.{{else}}The transfer of your domain has ended. The domain has not moved.{{end}}
` + englishTransferFacts + `{{if .Ended}}
Ended:        {{.Ended}}{{end}}{{if and .Acts (not .Ended)}}
Moves on:     {{.Acts}}{{end}}{{with .Why}}
Reason:       {{if eq . "fraud"}}suspected fraud{{else if eq . "identity"}}doubts about the identity of the holder{{else if eq . "dispute"}}proceedings about the name{{else if eq . "court_order"}}a court order{{else if eq . "nonpayment"}}its payment was disputed and is still unsettled{{else}}too soon after registration, transfer or a change of holder{{end}}{{end}}
{{if or (eq .Change "approved") (eq .Change "completed")}}
We no longer renew the domain or charge you for it. From now on the new
provider is in charge of it. If you didn't want the domain to move,
contact us at once.
{{else if eq .Change "stopped"}}
Its auth code still works. Lock the domain or request a new auth code,
or the transfer can be requested again.
{{else if eq .Change "stop_refused"}}
Ask the new provider to cancel the transfer, and contact us at once.
{{end}}
You can find its history here:

{{.Stop}}
`},
}
