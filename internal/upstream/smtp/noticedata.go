package smtp

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

// noticeData is what mails quote of a withdrawal or termination notice.
type noticeData struct {
	Number, Contract, Reason string
	// Termination distinguishes the two kinds; Special means termination for cause.
	Termination, Special bool
	// End is a formatted date; empty means as soon as possible.
	End string
	// Orders are the possible orders of a withdrawal. Only the operator's mail
	// lists them.
	Orders []withdrawnOrder
}

// withdrawnOrder is an order that the notice may refer to. Paid and Consent are
// formatted times; empty without payment, or without consent to an early start.
type withdrawnOrder struct{ ID, Paid, Consent, Wording string }

// maxNoticeOrders limits the list in a mail; real notices name fewer.
const maxNoticeOrders = 20

func (l *language) noticeData(data map[string]string) noticeData {
	d := noticeData{
		Number: sanitizeValue(data["number"]), Contract: quotedLines(quoteForeign(data["contract"], withdrawal.MaxText)), Reason: quotedLines(quoteForeign(data["reason"], withdrawal.MaxReason)),
		Termination: data["declared"] == string(withdrawal.Termination), Special: data["ground"] == string(withdrawal.Extraordinary),
	}
	d.End = cmp.Or(l.formatDate(data["end"]), sanitizeValue(data["end"]))
	count, _ := strconv.Atoi(data["orders"]) // zero if it is not a number
	for n := range min(count, maxNoticeOrders) {
		of := "order" + strconv.Itoa(n+1) + "_"
		d.Orders = append(d.Orders, withdrawnOrder{
			ID: sanitizeValue(data[of+"id"]), Paid: l.formatTime(data[of+"paid_at"]),
			Consent: l.formatTime(data[of+"consent_at"]), Wording: sanitizeValue(data[of+"wording"]),
		})
	}
	return d
}

// quotedLines wraps a long text into lines marked as quoted.
func quotedLines(text string) string { return strings.Join(wrapLines(text, 66), "\n> ") }
