package smtp

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

// maxItems limits the list in a mail; real orders have fewer.
const maxItems = 100

// maxConsentLength limits the consent text, in characters; the text is ours.
const maxConsentLength = 2000

// orderData is the template data of mails about orders.
type orderData struct {
	Order  string
	Items  []item
	Others int // items after the first
	// Net, Vat, Gross and Refund have their currency. Refund may be empty.
	Net, Vat, Gross, Refund string
	Rounded                 bool   // the gross prices of the items don't add up to Gross
	Refunded                bool   // some of it is refunded already; the items say how much
	Free                    bool   // nothing was charged
	Untaxed                 bool   // no VAT was charged, so no price is called gross
	Rate                    string // VAT rate with percent sign
	Tax                     string // follows a price that stands alone: whether it includes VAT; empty if unknown
	Rule, Country, Vatid    string // reason for the rate
	Unchecked               bool   // the VAT ID could not be checked
	Unclaimed               bool   // the order belongs to no account with a sign-in
	Automatic               bool   // a renewal charged the saved payment method
	State                   string
	Restored                bool         // its only item is a domain that is restored
	Parts                   []refundPart // what a refund is for
	Partial                 bool         // the refund leaves a part of the price of one of them
	Last                    bool         // it is the last of several for one of them
	ReturnedOn              string       // the day on which the bank returned the refund that this one repeats; empty if it repeats none
	Declared                bool         // the refund is for a withdrawal that we have
	Deleted                 int          // how many domains are deleted with it
	// Consent is the wrapped text by which a consumer requested an early start;
	// ConsentAt is when. Both are empty without consent.
	Consent, ConsentAt string
	WithdrawUntil      string // the last day of the withdrawal period; empty without consent
}

// refundPart is the part of a refund for one domain.
type refundPart struct {
	Name, Gross string
	Of          string // the price of which it is a part; empty if it is all of it
	Deleted     bool
	Last        bool // nothing is left of that price
	HandedOver  bool // DENIC takes it over when we delete it
}

// Offline is the number of items that a payment dispute takes out of the DNS or puts back.
func (d orderData) Offline() (count int) {
	for _, one := range d.Items {
		if one.Offline {
			count++
		}
	}
	return count
}

// OtherOffline is the number of them after the first.
func (d orderData) OtherOffline() int { return max(d.Offline()-1, 0) }

// OtherParts is the number of parts after the first.
func (d orderData) OtherParts() int { return max(len(d.Parts)-1, 0) }

type item struct {
	Name, Kind string
	Years      int
	Net, Gross string
	Term       string // of a transfer that adds no years: from_now or rest
	Failed     bool
	Why        string // a registrar.FailureReason
	// Refunded is what was refunded for a failed item, RefundedOn the day; empty if it is due.
	Refunded, RefundedOn string
	Until                string // the end of the paid term; empty if unknown
	// Renewal is the gross price of the next term of a new domain, RenewalYears its length;
	// empty if unknown.
	Renewal      string
	RenewalYears int
	NextCharge   string // the day of the next automatic charge; empty if there is none
	NextTerm     bool   // automatic renewal is on, but this term ends too soon to announce a charge
	Lifted       bool   // the renewal lifted the choice to let the domain expire
	Locked       bool   // a new domain, which the registry locks against transfers
	position     int    // in the order, of a failed item
	Expected     string // the day by which a transfer should be complete; empty if it takes minutes
	Offline      bool   // a payment dispute takes it out of the DNS or puts it back; such items come first
}

func (l *language) orderData(data map[string]string) orderData {
	b := orderData{
		Order: sanitizeValue(data["order"]), Net: l.formatAmount(data["net"]), Vat: l.formatAmount(data["vat"]), Gross: l.formatAmount(data["gross"]),
		Free: isZero(data["gross"]), Untaxed: isZero(data["vat"]) && !isZero(data["gross"]), Rate: l.formatRate(data["vat_rate"]), Tax: l.formatTax(data["vat_rate"]), Rule: data["vat_rule"], Country: sanitizeValue(registrar.CountryName(l.code, data["vat_country"])),
		Vatid: sanitizeValue(data["vat_id"]), Unchecked: data["vat_unchecked"] == "true", Unclaimed: data["unclaimed"] == "true", Automatic: data["automatic"] == "true",
		State: data["state"], WithdrawUntil: l.formatDate(data["withdraw_until"]),
	}
	if words := data["consent"]; words != "" {
		b.Consent = "  " + strings.Join(wrapLines(sanitizeLine(words, maxConsentLength), 70), "\n  ")
		b.ConsentAt = l.formatTime(data["consent_at"])
	}
	if !isZero(data["refund"]) {
		b.Refund = l.formatAmount(data["refund"])
	}
	var sum registrar.Cents
	count, _ := strconv.Atoi(data["items"]) // no items if it is not a number
	for n := range min(count, maxItems) {
		of := "item" + strconv.Itoa(n+1) + "_"
		one := item{Name: sanitizeValue(data[of+"name"]), Kind: data[of+"kind"], Net: l.formatAmount(data[of+"net"]), Gross: l.formatAmount(data[of+"gross"]), Term: data[of+"term"], Until: l.formatDate(data[of+"paid_until"])}
		if one.Name == "" {
			break
		}
		gross, _ := registrar.ParseCents(data[of+"gross"]) // zero if it is no amount
		sum += gross
		one.Years, _ = strconv.Atoi(data[of+"years"])
		one.Renewal, one.NextCharge, one.Expected = l.formatAmount(data[of+"renewal"]), l.formatDate(data[of+"next_charge"]), l.formatDate(data[of+"expected"])
		one.Offline, one.Locked, one.Lifted, one.NextTerm = data[of+"held"] == "true", data[of+"locked"] == "true", data[of+"lifted"] == "true", data[of+"next_term"] == "true"
		one.RenewalYears, _ = strconv.Atoi(data[of+"renewal_years"])
		if failure := data[of+"failure"]; failure != "" {
			one.Failed, one.Why = true, string(registrar.FailureReasonOf(registrar.Code(failure), one.Kind == "transfer"))
			one.Refunded, one.RefundedOn = l.formatAmount(data[of+"refunded"]), l.formatDate(data[of+"refunded_on"])
			b.Refunded = b.Refunded || one.Refunded != ""
		}
		b.Items = append(b.Items, one)
	}
	total, err := registrar.ParseCents(data["gross"])
	b.Rounded = err == nil && len(b.Items) == count && sum != total
	b.Others = max(len(b.Items)-1, 0)
	b.Restored = len(b.Items) == 1 && b.Items[0].Kind == "restore" && !b.Items[0].Failed
	parts, _ := strconv.Atoi(data["parts"])
	for n := range min(parts, maxItems) {
		of := "part" + strconv.Itoa(n+1) + "_"
		part := refundPart{sanitizeValue(data[of+"name"]), l.formatAmount(data[of+"gross"]), l.formatAmount(data[of+"of"]), data[of+"deleted"] == "true", data[of+"last"] == "true", data[of+"handed_over"] == "true"}
		b.Parts, b.Partial, b.Last = append(b.Parts, part), b.Partial || part.Of != "" && !part.Last, b.Last || part.Last
	}
	b.Deleted, _ = strconv.Atoi(data["deleted"])
	b.ReturnedOn, b.Declared = l.formatDate(data["returned_on"]), data["notice_id"] != ""
	return b
}

// failedData is the template data of a mail about failed items: a joined mail, or one about a
// single item. Refund is the sum, empty if nothing was charged for them.
func (l *language) failedData(data map[string]string) (items []item, refund string) {
	add := func(of string) registrar.Cents {
		kind := data[of+"what"]
		position, _ := strconv.Atoi(data[of+"position"]) // 0 in mails that an earlier release has queued
		items = append(items, item{
			position: position,
			Name:     sanitizeValue(data[of+"domain"]), Kind: kind, Failed: true, Why: string(registrar.FailureReasonOf(registrar.Code(data[of+"why"]), kind == "transfer")),
		})
		amount, _ := registrar.ParseCents(data[of+"gross"]) // zero if it is no amount
		return amount
	}
	var sum registrar.Cents
	count, _ := strconv.Atoi(data["items"])
	for n := range min(count, maxItems) {
		sum += add("item" + strconv.Itoa(n+1) + "_")
	}
	if count == 0 {
		sum = add("")
	}
	if sum > 0 {
		refund = l.formatAmount(sum.String())
	}
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(a.position, b.position) }) // they were joined as they failed
	return items, refund
}

// termData is the template data of mails about the end of a domain's term. Dates are
// formatted.
type termData struct {
	// ChargeAt is the day of an automatic renewal; empty: none is announced.
	ChargeAt string
	// Unpaid is what we do about an unpaid domain: delete, transit, expire, consent or
	// operator; mixed if some domains of a mail are deleted and others handed over. HoldAt,
	// DeleteAt and Days, of redemption, are empty if they don't apply.
	Unpaid, HoldAt, DeleteAt, Days string
	// EndsAt is the moment at which the term ends; its day in mails that the previous release queued.
	EndsAt     string
	DaysLeft   int    // until the term ends; 0 if unknown
	Choice     string // expire: the customer wants to let it expire
	Expired    bool   // the mail is about a term that has ended
	Reminder   bool   // it is not the first one about that
	Cancelled  string // the day on which the customer terminated the contract; empty if they did not
	Withdrawn  string // the day on which they withdrew from it, while that is open; empty if they did not
	OnHold     bool   // automatic renewal, because of the withdrawal
	Day        string // on which it happened
	Restorable string // the last day of a restore; empty: there is none
	// Renewal is the gross price of the next term, RenewalYears its length; empty if unknown.
	Renewal      string
	RenewalYears int
	Registrant   []string
	OtherHolders bool // the account has domains or could have them for other holders
}

var registrantFields = []string{
	"registrant_name", "registrant_organisation", "registrant_street", "registrant_city", "registrant_state", "registrant_country",
	"registrant_phone", "registrant_email",
}

func (l *language) termData(data map[string]string) termData {
	d := termData{
		ChargeAt: l.formatDate(data["charge_at"]), Unpaid: data["unpaid"], HoldAt: l.formatDate(data["hold_at"]), DeleteAt: l.formatDate(data["delete_at"]),
		Days: sanitizeValue(data["redemption_days"]), Choice: data["choice"], Cancelled: l.formatDate(data["cancelled_at"]), Day: l.formatDate(data["at"]), Restorable: l.formatDate(data["until"]),
	}
	d.Expired, d.Reminder = data["expired"] == "true", data["reminder"] == "true"
	d.Withdrawn, d.OnHold = l.formatDate(data["withdrawn_at"]), data["on_hold"] == "true"
	d.EndsAt = cmp.Or(l.formatTime(data[registrar.NoticeTerm]), l.formatDate(data["paid_until"]))
	d.DaysLeft, _ = strconv.Atoi(data["days_left"])
	d.Renewal = l.formatAmount(data["renewal"])
	d.RenewalYears, _ = strconv.Atoi(data["renewal_years"])
	d.OtherHolders = data["other_holders"] == "true"
	for _, field := range registrantFields {
		value := data[field]
		switch field {
		case "registrant_country":
			value = registrar.CountryName(l.code, value)
		case "registrant_phone":
			value = account.FormatPhone(value)
		}
		if value = sanitizeLine(value, 70); value != "" {
			d.Registrant = append(d.Registrant, value)
		}
	}
	return d
}

// noticeData is what mails quote of a withdrawal or termination notice.
type noticeData struct {
	Number, Contract, Reason string
	// Termination distinguishes the two kinds; Special means termination for cause.
	Termination, Special bool
	End                  string           // a formatted date; empty means as soon as possible
	RefundBy             string           // by when a withdrawn payment is returned
	Received             string           // when it arrived, in the mail about what followed
	Reply                string           // our answer, wrapped
	Handled              bool             // in that mail: it is no longer open
	Late                 bool             // in that mail: our deadline had passed
	Orders               []withdrawnOrder // the possible orders of a withdrawal, for the operator's mail
}

// withdrawnOrder is an order that the notice may refer to. Paid and Consent are
// formatted times; empty without payment, or without consent to an early start. PeriodEnded is the
// last day of a withdrawal period that was over; empty otherwise.
type withdrawnOrder struct {
	ID, Paid, Consent, Wording, PeriodEnded string
	Business                                bool
}

// maxNoticeOrders limits the list in a mail; real notices name fewer.
const maxNoticeOrders = 20

func (l *language) noticeData(data map[string]string) noticeData {
	d := noticeData{
		Number: sanitizeValue(data["number"]), Contract: quotedLines(quoteForeign(data["contract"], withdrawal.MaxText)), Reason: quotedLines(quoteForeign(data["reason"], withdrawal.MaxReason)),
		Termination: data["declared"] == string(withdrawal.Termination), Special: data["ground"] == string(withdrawal.Extraordinary),
	}
	d.Handled, d.Late = data["handled"] == "true", data["late"] == "true"
	d.Received, d.RefundBy = l.formatTime(data["received_at"]), l.formatDate(data["refund_by"])
	d.Reply = wrappedText(data["reply"])
	d.End = cmp.Or(l.formatDate(data["end"]), sanitizeValue(data["end"]))
	count, _ := strconv.Atoi(data["orders"]) // zero if it is not a number
	for n := range min(count, maxNoticeOrders) {
		of := "order" + strconv.Itoa(n+1) + "_"
		d.Orders = append(d.Orders, withdrawnOrder{
			ID: sanitizeValue(data[of+"id"]), Paid: l.formatTime(data[of+"paid_at"]),
			Consent: l.formatTime(data[of+"consent_at"]), Wording: sanitizeValue(data[of+"wording"]),
			PeriodEnded: l.formatDate(data[of+"period_ended"]), Business: data[of+"business"] == "true",
		})
	}
	return d
}

// quotedLines wraps a long text into lines marked as quoted.
func quotedLines(text string) string { return strings.Join(wrapLines(text, 66), "\n> ") }

// wrappedText is a text of ours of several lines, each wrapped.
func wrappedText(text string) string {
	var wrapped []string
	for line := range strings.SplitSeq(text, "\n") {
		wrapped = append(wrapped, strings.Join(wrapLines(sanitizeLine(line, withdrawal.MaxReply), lineLength), "\n"))
	}
	return strings.Join(wrapped, "\n")
}

// quotedMessage is a message of several lines, each wrapped and marked as quoted.
func quotedMessage(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if wrapped := wrapLines(quoteForeign(line, inquiry.MaxMessage), 66); len(wrapped) > 0 {
			lines = append(lines, wrapped...)
		} else {
			lines = append(lines, "")
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "\n> "), "> \n", ">\n")
}

func (l *language) formatAmount(value string) string {
	if value == "" {
		return ""
	}
	return strings.ReplaceAll(sanitizeValue(value), ".", l.decimalSeparator) + " EUR"
}

func isZero(amount string) bool { return strings.Trim(amount, "0.") == "" }

// formatRate formats hundredths of a percent: 1900 is 19 %.
func (l *language) formatRate(value string) string {
	points, err := strconv.Atoi(value)
	if err != nil {
		return ""
	}
	percent := strconv.FormatFloat(float64(points)/100, 'f', -1, 64)
	if l.code == english.code {
		return percent + "%"
	}
	return strings.ReplaceAll(percent, ".", l.decimalSeparator) + " %"
}

// formatTax says whether prices include VAT at a rate, in hundredths of a percent.
func (l *language) formatTax(value string) string {
	switch rate := l.formatRate(value); {
	case rate == "":
		return ""
	case value == "0":
		return l.net
	default:
		return fmt.Sprintf(l.withVAT, rate)
	}
}

func (l *language) formatDate(value string) string {
	day, err := time.Parse(time.DateOnly, value)
	if err != nil {
		return ""
	}
	return day.Format(l.dateLayout)
}

// moment formats a time in Germany, with its zone: a mail does not know where it is read, and
// the deadlines in it are Germany's in every language.
func (l *language) moment(at time.Time) string {
	return registrar.FormatInGermany(at, l.timeLayout, l.code)
}

func (l *language) formatTime(value string) string {
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return ""
	}
	return l.moment(at)
}

// formatLocalDay formats the day of a time where formatTime has its hour.
func (l *language) formatLocalDay(value string) string {
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return ""
	}
	return at.In(registrar.Germany()).Format(l.dateLayout)
}

// formatDay formats the day of a time in UTC, as the portal does.
func (l *language) formatDay(value string) string {
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return ""
	}
	return at.UTC().Format(l.dateLayout)
}

// wrapLines wraps a text into lines of at most that many characters and splits words.
func wrapLines(text string, most int) (lines []string) {
	var line []rune
	for word := range strings.FieldsSeq(text) {
		for part := range slices.Chunk([]rune(word), most) {
			if len(line) > 0 && len(line)+1+len(part) > most {
				lines, line = append(lines, string(line)), nil
			}
			if len(line) > 0 {
				line = append(line, ' ')
			}
			line = append(line, part...)
		}
	}
	if len(line) > 0 {
		lines = append(lines, string(line))
	}
	return lines
}
