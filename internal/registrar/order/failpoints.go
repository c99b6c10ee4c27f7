package order

// The failpoints of doc.go.
const (
	failpointPaymentWritten = "payment_written"
	failpointPageMade       = "page_made"
	failpointPageKnown      = "page_known"
	failpointMoneySeen      = "money_seen"
	failpointPaidWritten    = "paid_written"
	failpointCloseWritten   = "close_written"
	failpointPageClosed     = "page_closed"
	failpointRefundWritten  = "refund_written"
	failpointRefundMade     = "refund_made"
	failpointRefundKnown    = "refund_known"
	failpointSettled        = "settled"
	failpointChargeWritten  = "charge_written"
	failpointIntentKnown    = "intent_known"
	failpointChargeMade     = "charge_made"
)

// Failpoints returns all failpoints in the order of doc.go. A build with the tag faults
// can be killed at each of them.
func Failpoints() []string {
	return []string{
		failpointPaymentWritten, failpointPageMade, failpointPageKnown, failpointMoneySeen, failpointPaidWritten, failpointCloseWritten, failpointPageClosed,
		failpointRefundWritten, failpointRefundMade, failpointRefundKnown, failpointSettled,
		failpointChargeWritten, failpointIntentKnown, failpointChargeMade,
	}
}
