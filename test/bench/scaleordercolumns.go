package main

// orderColumns are the columns of orders and their records that must be unique or have
// one of a few values. Every order is paid and in provisioning.
var orderColumns = map[string]columnFormula{
	"orders.items_key":   scatteredText(),
	"orders.pay_link":    scatteredText(),
	"orders.verify_link": scatteredText(),
	"orders.state":       constantText("provisioning"),
	"orders.node":        sequentialText("node_", ""),
	"orders.paid_at":     microsFrom(firstDay),
	// The sum of a rule's sales grows with them, so each row has its own rule.
	"orders.vat_rule":            sequentialText("rule_", ""),
	"orders.vat_id":              constantText(""),
	"orders.auto_renew":          constantInt(1),
	"domains.auto_renew":         constantInt(1),
	"orders.open_order":          constantInt(1),
	"order_items.name":           sequentialText("zeile-", ".de"),
	"order_items.position":       microsFrom(0),
	"refunds.item_id":            scatteredText(),
	"order_items.state":          constantText("provisioning"),
	"payments.session":           scatteredText(),
	"payments.intent":            scatteredText(),
	"payments.card":              scatteredText(),
	"payments.state":             constantText("captured"),
	"refunds.provider":           constantText(""),
	"identities.session":         scatteredText(),
	"identities.verified_at":     microsFrom(firstDay),
	"payment_methods.method":     scatteredText(),
	"vat_checks.vat_id":          sequentialText("DE", ""),
	"invoices.refund_id":         scatteredText(),
	"pending_invoices.refund_id": scatteredText(),
	"invoices.number":            microsFrom(0),
	"invoices.label":             scatteredText(),
	"invoice_series.series":      sequentialText("RE-", ""),
}
