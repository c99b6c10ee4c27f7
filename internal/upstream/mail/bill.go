package mail

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxItems bounds what a letter lists; orders have fewer.
const maxItems = 100

// maxConsent bounds the words of a consent, in characters; they are ours.
const maxConsent = 2000

// bill is what letters about orders mention.
type bill struct {
	Order string
	Items []item
	// Net, Vat, Gross and Refund are amounts with their currency; Refund is empty
	// where nothing goes back.
	Net, Vat, Gross, Refund string
	Free                    bool   // nothing was charged
	Rate                    string // of the VAT, with its sign
	Rule, Country, Vatid    string // why that rate
	Unchecked               bool   // the VAT id could not be checked
	Unclaimed               bool   // the order belongs to no account that anybody can sign in to
	State                   string
	// Consent are the words with which a consumer has asked for an early beginning, in
	// short lines; ConsentAt is when. They are empty where nobody did.
	Consent, ConsentAt string
}

// item is one name of an order.
type item struct {
	Name, Kind string
	Years      int
	Net        string
	Failed     bool
	Why        string // taken, code, locked, denied or other
}

// reasons are why an item failed, in the few words that letters tell apart.
var reasons = map[string]string{
	"epp_exists": "taken", "name_held": "taken", "name_taken": "taken", "name_reserved": "taken",
	"epp_auth_info": "code", "auth_code_wrong": "code",
	"epp_status_prohibits": "locked", "transfer_locked": "locked",
	"registry_denied": "denied",
}

// bill reads the facts of an order.
func (l *language) bill(facts map[string]string) bill {
	b := bill{
		Order: oneLine(facts["order"]), Net: l.amount(facts["net"]), Vat: l.amount(facts["vat"]), Gross: l.amount(facts["gross"]),
		Free: zero(facts["gross"]), Rate: l.rate(facts["vat_rate"]), Rule: facts["vat_rule"], Country: oneLine(facts["vat_country"]),
		Vatid: oneLine(facts["vat_id"]), Unchecked: facts["vat_unchecked"] == "true", Unclaimed: facts["unclaimed"] == "true", State: facts["state"],
	}
	if words := facts["consent"]; words != "" {
		b.Consent, b.ConsentAt = wrapped(inLine(words, maxConsent)), l.moment(facts["consent_at"])
	}
	if !zero(facts["refund"]) {
		b.Refund = l.amount(facts["refund"])
	}
	count, _ := strconv.Atoi(facts["items"]) // no items where it is no number
	for n := range min(count, maxItems) {
		of := "item" + strconv.Itoa(n+1) + "_"
		one := item{Name: oneLine(facts[of+"name"]), Kind: facts[of+"kind"], Net: l.amount(facts[of+"net"])}
		if one.Name == "" {
			break
		}
		one.Years, _ = strconv.Atoi(facts[of+"years"])
		if failure := facts[of+"failure"]; failure != "" {
			one.Failed, one.Why = true, reasons[failure]
		}
		b.Items = append(b.Items, one)
	}
	return b
}

// amount writes an amount as people of the language do.
func (l *language) amount(fact string) string {
	if fact == "" {
		return ""
	}
	return strings.ReplaceAll(oneLine(fact), ".", l.comma) + " EUR"
}

func zero(amount string) bool { return strings.Trim(amount, "0.") == "" }

// rate writes hundredths of a percent: 1900 is 19 %.
func (l *language) rate(fact string) string {
	points, err := strconv.Atoi(fact)
	if err != nil {
		return ""
	}
	percent := strconv.FormatFloat(float64(points)/100, 'f', -1, 64)
	return strings.ReplaceAll(percent, ".", l.comma) + " %"
}

// date writes a day.
func (l *language) date(fact string) string {
	day, err := time.Parse(time.DateOnly, fact)
	if err != nil {
		return ""
	}
	return day.Format(l.days)
}

// moment writes a time; empty where there is none.
func (l *language) moment(fact string) string {
	at, err := time.Parse(time.RFC3339, fact)
	if err != nil {
		return ""
	}
	return at.UTC().Format(l.moments)
}

// wrapped breaks a text into lines as the letters have them, each a little to the right.
func wrapped(text string) string {
	const most, indent = 72, "  "
	var lines []string
	line := indent
	for _, word := range strings.Fields(text) {
		if line != indent && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > most {
			lines = append(lines, line)
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}
