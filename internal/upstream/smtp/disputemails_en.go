package smtp

import "github.com/dotkontor/dotkontor/internal/registrar"

const englishHeldNames = `{{(index .Items 0).Name}}{{with .OtherOffline}} and {{.}} more{{end}}`

// englishDisputeMails are the mails about disputed and returned payments in English.
var englishDisputeMails = map[registrar.MailKind]mailText{
	registrar.MailPaymentDispute: {`{{if and (eq .Change "denied") .Offline}}` + englishHeldNames + ` {{if .OtherOffline}}are{{else}}is{{end}} offline: payment of {{.Gross}} outstanding{{else if eq .Change "kept"}}` + englishHeldNames + ` {{if .OtherOffline}}are{{else}}is{{end}} going back into the DNS, transfers stay locked{{else}}{{with .Items}}{{(index . 0).Name}}{{if $.Others}} and {{$.Others}} more{{end}}: {{end}}{{if eq .Change "opened"}}Payment of {{.Gross}} disputed, domain transfers locked{{else if eq .Change "returned"}}Payment of {{.Gross}} returned, domain transfers locked{{else if eq .Change "lost"}}Payment of {{.Gross}} taken back, the lock stays{{else if eq .Change "denied"}}Payment of {{.Gross}} outstanding, transfers denied{{else}}Lock because of the payment lifted{{end}}{{end}}`, `
{{if eq .Change "opened"}}On {{.At}}, we learned that a payment was disputed
with the bank. Until the bank decides, the domains that it paid for
can't be transferred away.
{{else if eq .Change "returned"}}On {{.At}}, we learned that your bank returned a
payment. The domains that it paid for can't be transferred away.
{{else if eq .Change "lost"}}On {{.At}}, the bank decided about a disputed payment.
We no longer have the money, so the order is unpaid. Transfers of the
domains stay locked.
{{else if eq .Change "denied"}}An order is still unpaid, because the payment was taken back. On
{{.At}}, we therefore decided to deny transfers of these
domains.{{if .Offline}} ` + englishHeldNames + ` {{if .OtherOffline}}are{{else}}is{{end}} offline until this is settled:
website and email don't work.{{end}}
{{else if eq .Change "kept"}}On {{.At}}, we decided that ` + englishHeldNames + ` {{if .OtherOffline}}no longer stay{{else}}no longer stays{{end}}
out of the DNS because of the outstanding payment. Transfers are still
locked, and the order is still unpaid.
{{else if eq .Change "won"}}The dispute about a payment was settled on {{.At}}.
The transfer lock has been lifted.
{{else}}On {{.At}}, we lifted the transfer lock that was set
because of a payment that was taken back.
{{end}}
Order:  {{.Order}}
Amount: {{.Gross}}
{{range .Items}}Domain: {{.Name}}{{if .Offline}} ({{if eq $.State "held"}}out of the DNS{{else}}going back into the DNS{{end}}){{end}}
{{end}}{{if eq .State "released"}}
We are putting {{if .OtherOffline}}them{{else}}the domain{{end}} back into the DNS, unless there is another reason
not to. It can take a few hours until website and email work everywhere
again.
{{end}}
{{if or (eq .Change "won") (eq .Change "lifted")}}You can request auth codes and change the holder again. Where
the registry has a transfer lock, you can turn it off on the domain's
page.
{{else}}Transfers, auth codes and changes of the holder are locked.{{if ne .State "held"}} You can
still change nameservers and DNSSEC.{{end}}

Was this a mistake, or would you like to pay the amount? Please
write to us:

{{.Contact}}
{{end}}
Your orders are here:

{{.Portal}}
`},
}
