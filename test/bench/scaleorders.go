package main

// ofOrders are the columns of orders and of what belongs to them that must be unique
// or hold one of a few words. Every order here is paid for and waits for its line.
var ofOrders = map[string]formula{
	"orders.items_key":   anywhere(),
	"orders.pay_link":    anywhere(),
	"orders.verify_link": anywhere(),
	"orders.state":       constant("provisioning"),
	"orders.node":        inOrder("node_", ""),
	"orders.paid_at":     microsFrom(firstDay),
	// The sum of a rule's sales grows with them, so each row has a rule of its own.
	"orders.vat_rule":        inOrder("rule_", ""),
	"orders.vat_id":          constant(""),
	"orders.auto_renew":      number64(1),
	"domains.auto_renew":     number64(1),
	"orders.open_order":      number64(1),
	"order_items.name":       inOrder("zeile-", ".de"),
	"order_items.place":      microsFrom(0),
	"refunds.item_id":        anywhere(),
	"order_items.state":      constant("provisioning"),
	"payments.session":       anywhere(),
	"payments.intent":        anywhere(),
	"payments.card":          anywhere(),
	"payments.state":         constant("kept"),
	"refunds.provider":       constant(""),
	"identities.session":     anywhere(),
	"identities.verified_at": microsFrom(firstDay),
	"payment_methods.method": anywhere(),
	"vat_checks.vat_id":      inOrder("DE", ""),
	"invoices.refund_id":     anywhere(),
	"invoices_due.refund_id": anywhere(),
	"invoices.number":        microsFrom(0),
	"invoices.label":         anywhere(),
	"invoice_series.series":  inOrder("RE-", ""),
}
