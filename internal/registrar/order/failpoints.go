package order

// Failpoints returns the failpoints of this package in the order of doc.go. A build with the
// tag failpoint can be killed at each of them.
func Failpoints() []string {
	return []string{
		"payment_written", "page_made", "page_known", "money_seen", "paid_written", "close_written", "page_closed",
		"refund_written", "refund_made", "refund_known", "settled", "charge_written", "intent_known",
		"charge_made",
	}
}
