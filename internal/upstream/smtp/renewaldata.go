package smtp

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// renewalData is the template data of mails about automatic renewals.
type renewalData struct {
	Renewals []renewalLine
	Held     []renewalLine // announced, but on hold because of a notice; not among Renewals
	More     int           // further renewals, beyond the first one; of Held only if all are on hold
	Earliest string        // the day of the first charge of all renewals
	First    string        // the domain that it is for
	Years    int           // the length of the next term, if a mail is about one domain; 0 if unknown
	Manual   int           // renewals that the customer has to pay by hand for this term
	Method   string        // the label of the saved payment method; empty if there is none
	// MethodExpires is the last month of that card (12/2029), if it is over before a charge; empty
	// otherwise.
	MethodExpires string
	Trouble       string // why a renewal failed: authentication, expired, funds, declined, none, unsold, late, held or refused
	// Checkout is the page in the portal where the customer can pay by hand, until PayableBy, a moment
	// and in mails that the previous release queued a day; both are empty if there is nothing to pay.
	// It contains no secret, so that the text can be stored as evidence.
	Checkout, PayableBy string
	PriceRise           bool // the mail is about risen prices
	RoundedTotal        bool // the prices don't add up to the total
}

type renewalLine struct {
	Name   string
	Years  int
	Gross  string
	Was    string // the price before, if it was another
	Charge string
	End    string // of the term
	Held   string // the kind of the open notice that puts it on hold; empty if there is none
	// NextTerm and Announced are those of templateData; Renewed means that the domain renewed automatically
	// until its contract was terminated.
	NextTerm, Announced, Renewed bool
	LockedUntil                  string // as that of templateData
	chargeAt                     string // the day of Charge, sortable
}

// renewalTroubles maps the failures of renewals to the reasons that mails distinguish; any
// other is a registry's refusal.
var renewalTroubles = map[string]string{
	"authentication_required": "authentication", "expired_card": "expired", "insufficient_funds": "funds", "card_declined": "declined",
	"no_method": "none", "extension_not_carried": "unsold", "no_price": "unsold",
	"too_late": "late", "name_premium": "premium",
}

func (l *language) renewalData(data map[string]string, portal string) renewalData {
	d := renewalData{Method: sanitizeValue(data["method"]), PayableBy: cmp.Or(l.formatTime(data["payable_until"]), l.formatDate(data["payable_until"]))}
	if month, err := time.Parse("2006-01", data["method_expires"]); err == nil {
		d.MethodExpires = month.Format("01/2006")
	}
	d.Years, _ = strconv.Atoi(data["years"])
	if id := sanitizeValue(data["order"]); id != "" {
		d.Checkout = portal + "/orders/" + url.PathEscape(id)
	}
	if failure := data["failure"]; failure != "" {
		if d.Trouble = renewalTroubles[failure]; d.Trouble == "" {
			d.Trouble = "refused"
		}
	}
	count, _ := strconv.Atoi(data["items"]) // no renewals if it is not a number
	d.More = max(count-1, 0)
	var sum registrar.Cents
	for n := range min(count, maxItems) {
		of := "item" + strconv.Itoa(n+1) + "_"
		line := renewalLine{
			Name: sanitizeValue(data[of+"name"]), Gross: l.formatAmount(data[of+"gross"]), Was: l.formatAmount(data[of+"was"]),
			Charge: l.formatDate(data[of+"charge_at"]), chargeAt: data[of+"charge_at"], End: l.formatDate(data[of+"paid_until"]),
			Held: data[of+"held"], NextTerm: data[of+"next_term"] == "true", Announced: data[of+"announced"] == "true", Renewed: data[of+"renewed"] == "true",
			LockedUntil: l.formatDate(data[of+"locked_until"]),
		}
		if line.Name == "" {
			break
		}
		line.Years, _ = strconv.Atoi(data[of+"years"])
		if line.NextTerm {
			d.Manual++
		}
		if line.Held != "" && line.Charge != "" {
			d.Held = append(d.Held, line)
			continue
		}
		gross, _ := registrar.ParseCents(data[of+"gross"]) // zero if it is no amount
		sum += gross
		d.Renewals = append(d.Renewals, line)
	}
	if len(d.Renewals) > 0 {
		d.More = max(count-len(d.Held)-1, 0)
		if d.Trouble == "late" && d.Renewals[0].Held != "" {
			d.Trouble = "held"
		}
	}
	total, err := registrar.ParseCents(data["gross"])
	d.RoundedTotal = err == nil && len(d.Renewals)+len(d.Held) == count && sum != total
	for _, lines := range [][]renewalLine{d.Renewals, d.Held} {
		slices.SortStableFunc(lines, func(a, b renewalLine) int { return compareNames(a.Name, b.Name) })
	}
	earliest := ""
	for _, line := range d.Renewals {
		if line.Charge != "" && (earliest == "" || line.chargeAt < earliest) {
			earliest, d.Earliest, d.First = line.chargeAt, line.Charge, line.Name
		}
	}
	return d
}
