package mail

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar/declaration"
)

// declared is what letters repeat of a declaration.
type declared struct {
	Number, Contract, Reason string
	// Termination says which of the two it is, Special that it has a reason.
	Termination, Special bool
	// End is a day, as people write it; empty means as soon as possible.
	End string
	// Orders are those that a withdrawal may be about. Only the operator reads of them.
	Orders []withdrawn
}

// withdrawn is an order that somebody may have withdrawn from. Paid and Consent are
// moments; empty where nobody has paid, or has asked for an early beginning.
type withdrawn struct{ ID, Paid, Consent, Wording string }

// maxOrders bounds what a letter lists; declarations name fewer.
const maxOrders = 20

func (l *language) declared(facts map[string]string) declared {
	d := declared{
		Number: oneLine(facts["number"]), Contract: quotedLines(quoted(facts["contract"], declaration.Longest)), Reason: quotedLines(quoted(facts["reason"], declaration.LongestReason)),
		Termination: facts["declared"] == string(declaration.Termination), Special: facts["ground"] == string(declaration.Extraordinary),
	}
	if facts["end"] != "" {
		d.End = l.date(facts["end"])
		if strings.TrimSpace(d.End) == "" {
			d.End = oneLine(facts["end"])
		}
	}
	count, _ := strconv.Atoi(facts["orders"]) // none where it is no number
	for n := range min(count, maxOrders) {
		of := "order" + strconv.Itoa(n+1) + "_"
		d.Orders = append(d.Orders, withdrawn{
			ID: oneLine(facts[of+"id"]), Paid: l.moment(facts[of+"paid_at"]),
			Consent: l.moment(facts[of+"consent_at"]), Wording: oneLine(facts[of+"wording"]),
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
		for _, piece := range pieces(word, most) {
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

// pieces cuts a word into parts of at most most characters.
func pieces(word string, most int) (parts []string) {
	letters := []rune(word)
	for len(letters) > most {
		parts, letters = append(parts, string(letters[:most])), letters[most:]
	}
	return append(parts, string(letters))
}
