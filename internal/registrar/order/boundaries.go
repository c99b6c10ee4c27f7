package order

import "github.com/dotkontor/dotkontor/internal/faults"

// The boundaries of doc.go.
const (
	atPaymentWritten = "payment_written"
	atPageMade       = "page_made"
	atPageKnown      = "page_known"
	atMoneySeen      = "money_seen"
	atPaidWritten    = "paid_written"
	atCloseWritten   = "close_written"
	atPageClosed     = "page_closed"
	atRefundWritten  = "refund_written"
	atRefundMade     = "refund_made"
	atRefundKnown    = "refund_known"
	atSettled        = "settled"
	atChargeWritten  = "charge_written"
	atIntentKnown    = "intent_known"
	atChargeMade     = "charge_made"
)

// Boundaries are all places between intent and effect, in the order of doc.go. A
// build with the tag faults can be killed at each of them.
func Boundaries() []string {
	return []string{
		atPaymentWritten, atPageMade, atPageKnown, atMoneySeen, atPaidWritten, atCloseWritten, atPageClosed,
		atRefundWritten, atRefundMade, atRefundKnown, atSettled,
		atChargeWritten, atIntentKnown, atChargeMade,
	}
}

// boundary marks one of them.
func boundary(name string) { faults.Boundary(name) }
