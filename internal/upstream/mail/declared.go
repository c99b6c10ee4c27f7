package mail

import (
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/declaration"
)

// declared is what letters repeat of a declaration.
type declared struct {
	Number, Contract, Reason string
	// Termination says which of the two it is, Special that it has a reason.
	Termination, Special bool
	// End is a day, as people write it; empty means as soon as possible.
	End string
}

func (l *language) declared(facts map[string]string) declared {
	d := declared{
		Number: oneLine(facts["number"]), Contract: oneLine(facts["contract"]), Reason: inLine(facts["reason"], declaration.LongestReason),
		Termination: facts["declared"] == string(declaration.Termination), Special: facts["ground"] == string(declaration.Extraordinary),
	}
	if facts["end"] != "" {
		d.End = l.date(facts["end"])
		if strings.TrimSpace(d.End) == "" {
			d.End = oneLine(facts["end"])
		}
	}
	return d
}
