package smtp

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

// noticeData is what letters repeat of a declaration.
type noticeData struct {
	Number, Contract, Reason string
	// Termination says which of the two it is, Special that it has a reason.
	Termination, Special bool
	// End is a day, as people write it; empty means as soon as possible.
	End string
	// Orders are those that a withdrawal may be about. Only the operator reads of them.
	Orders []withdrawnOrder
}

// withdrawnOrder is an order that somebody may have withdrawn from. Paid and Consent are
// moments; empty where nobody has paid, or has asked for an early beginning.
type withdrawnOrder struct{ ID, Paid, Consent, Wording string }

// maxNoticeOrders bounds what a letter lists; declarations name fewer.
const maxNoticeOrders = 20

func (l *language) noticeData(data map[string]string) noticeData {
	d := noticeData{
		Number: sanitizeValue(data["number"]), Contract: quotedLines(quoteForeign(data["contract"], withdrawal.MaxText)), Reason: quotedLines(quoteForeign(data["reason"], withdrawal.MaxReason)),
		Termination: data["declared"] == string(withdrawal.Termination), Special: data["ground"] == string(withdrawal.Extraordinary),
	}
	if data["end"] != "" {
		d.End = l.formatDate(data["end"])
		if strings.TrimSpace(d.End) == "" {
			d.End = sanitizeValue(data["end"])
		}
	}
	count, _ := strconv.Atoi(data["orders"]) // none where it is no number
	for n := range min(count, maxNoticeOrders) {
		of := "order" + strconv.Itoa(n+1) + "_"
		d.Orders = append(d.Orders, withdrawnOrder{
			ID: sanitizeValue(data[of+"id"]), Paid: l.formatTime(data[of+"paid_at"]),
			Consent: l.formatTime(data[of+"consent_at"]), Wording: sanitizeValue(data[of+"wording"]),
		})
	}
	return d
}

// quotedLines breaks a long text into lines that are marked as quoted. A word that is
// longer than a line is broken, too.
func quotedLines(text string) string {
	const most = 66
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		for _, piece := range splitRunes(word, most) {
			if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(piece) > most {
				lines = append(lines, line)
				line = ""
			}
			if line != "" {
				line += " "
			}
			line += piece
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n> ")
}

// splitRunes cuts a word into parts of at most most characters.
func splitRunes(word string, most int) (parts []string) {
	letters := []rune(word)
	for len(letters) > most {
		parts, letters = append(parts, string(letters[:most])), letters[most:]
	}
	return append(parts, string(letters))
}
