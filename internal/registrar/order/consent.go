package order

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
)

// Consent is a consumer's express request for immediate performance and their
// acknowledgement of what it does to their right of withdrawal.
type Consent struct {
	At      time.Time
	Wording string // of the text that was shown and ticked; see ConsentText
}

// Given reports whether consent was given.
func (c Consent) Given() bool { return !c.At.IsZero() }

// withdrawalDays is how long a consumer can withdraw.
const withdrawalDays = 14

// WithdrawalEnds is the last day on which the consumer can withdraw (§§ 355, 187, 188 BGB), counted
// from the day on which the contract is concluded: with the payment, which can be a day after the
// consent. A weekend or a holiday of the whole country extends it (§ 193 BGB).
func (o Order) WithdrawalEnds() time.Time {
	concluded := o.Consent.At
	if o.PaidAt.After(concluded) {
		concluded = o.PaidAt
	}
	concluded = concluded.In(registrar.Germany())
	last := time.Date(concluded.Year(), concluded.Month(), concluded.Day()+withdrawalDays, 0, 0, 0, 0, time.UTC)
	for last.Weekday() == time.Saturday || last.Weekday() == time.Sunday || isHoliday(last) {
		last = last.AddDate(0, 0, 1)
	}
	return last
}

// stateHolidays is by how many days a holiday of a German state can extend the period.
const stateHolidays = 3

// WithdrawalEnded reports whether the last day is over everywhere in Germany.
func (o Order) WithdrawalEnded(now time.Time) bool {
	end := o.WithdrawalEnds().AddDate(0, 0, stateHolidays)
	return now.In(registrar.Germany()).Format(time.DateOnly) > end.Format(time.DateOnly)
}

// PeriodEnded returns the last day on which the consumer of an order could withdraw, if it was over when a
// notice arrived; zero otherwise. Without consent it is not known: the period may last longer (§ 356
// Abs. 3 BGB).
func PeriodEnded(paid, consented, arrived time.Time) time.Time {
	o := Order{PaidAt: paid, Consent: Consent{At: consented}}
	if !o.Consent.Given() || !o.WithdrawalEnded(arrived) {
		return time.Time{}
	}
	return o.WithdrawalEnds()
}

// Withdrawable reports whether a consumer who has given consent can still withdraw from something:
// it is paid, the period has not ended, and something is neither failed nor refunded in full.
func (o *Order) Withdrawable(now time.Time) bool {
	return o.Consent.Given() && !o.PaidAt.IsZero() && !o.WithdrawalEnded(now) && !o.IsRefunded() &&
		slices.ContainsFunc(o.Items, func(i Item) bool { return i.State != ItemFailed && i.State != ItemRefunded })
}

// isHoliday reports whether a day is a public holiday in all of Germany.
func isHoliday(day time.Time) bool {
	switch day.Format("01-02") {
	case "01-01", "05-01", "10-03", "12-25", "12-26":
		return true
	}
	switch int(day.Sub(easter(day.Year())) / (24 * time.Hour)) {
	case -2, 1, 39, 50: // Good Friday, Easter Monday, Ascension, Whit Monday
		return true
	}
	return false
}

// easter returns Easter Sunday of a year, by Gauss's algorithm with the corrections of Lichtenberg.
func easter(year int) time.Time {
	century := year / 100
	moonShift := 15 + (3*century+3)/4 - (8*century+13)/25
	sunShift := 2 - (3*century+3)/4
	cycle := year % 19
	seed := (19*cycle + moonShift) % 30
	correction := (seed + cycle/11) / 29
	limit := 21 + seed - correction // of the full moon, in days of March
	sunday := 7 - (year+year/4+sunShift)%7
	return time.Date(year, time.March, limit+7-(limit-sunday)%7, 0, 0, 0, 0, time.UTC)
}

// Text returns the text that was ticked; empty if none was.
func (c Consent) Text() string { return ConsentText(c.Wording) }

const consentVersion = "2026-11-18" // shown now

// consentTexts are all texts ever shown. They live here because the page, the mail and
// the operator pages must quote the same text. Changing a text requires a new version,
// so that stored orders keep theirs.
var consentTexts = map[string]string{
	"2026-11-de": "Ich verlange ausdrücklich, dass Sie sofort mit der Ausführung beginnen, also bevor die Widerrufsfrist von 14 Tagen " +
		"endet. Ich weiß, dass mein Widerrufsrecht erlischt, sobald Sie den Auftrag vollständig ausgeführt haben, und dass ich, " +
		"wenn ich vorher widerrufe, einen angemessenen Betrag für das bis dahin Geleistete zahlen muss.",
	"2026-11-en": "I expressly ask you to begin at once, that is before the 14 days in which I can withdraw are over. " +
		"I know that my right to withdraw ends as soon as you have carried out the order completely, " +
		"and that if I withdraw before that I have to pay a fair amount for what you have done until then.",
	// Orders are completed within minutes; the law means the performance of the service.
	"2026-11-18-de": "Ich verlange ausdrücklich, dass Sie sofort mit der Leistung beginnen, also bevor die Widerrufsfrist von 14 Tagen " +
		"endet. Ich weiß, dass mein Widerrufsrecht erlischt, wenn Sie die Leistung vollständig erbracht haben, und dass ich, " +
		"wenn ich vorher widerrufe, einen angemessenen Betrag für das bis dahin Geleistete zahlen muss.",
	"2026-11-18-en": "I expressly ask you to begin at once, that is before the 14 days in which I can withdraw are over. " +
		"I know that my right to withdraw ends once the service has been fully performed, " +
		"and that if I withdraw before that I have to pay a fair amount for what you have done until then.",
}

// ConsentWording identifies the text currently shown in a language.
func ConsentWording(language string) string {
	if language != "en" {
		language = "de"
	}
	return consentVersion + "-" + language
}

// ConsentText returns the text of a wording; empty if it is unknown.
func ConsentText(wording string) string { return consentTexts[wording] }

// Consumer reports whether the buyer of an order with these totals counts as a
// consumer: neither a company nor the owner of a VAT ID. A VAT ID that is not accepted
// for VAT is not accepted here, or any made-up number would do.
func (b Buyer) Consumer(totals Totals) bool {
	return !b.Company && (b.VATID == "" || totals.ForConsumer())
}

// VATIDIgnored reports whether VAT is charged although the buyer has a VAT ID: it is invalid,
// of another country than the address, or could not be validated. The VAT of the seller's own
// country is charged with any VAT ID.
func (b Buyer) VATIDIgnored(totals Totals) bool {
	return b.VATID != "" && totals.VAT > 0 && (totals.ForConsumer() || !billing.VATIDOfCountry(b.VATID, b.Country))
}

// hasConsent reports whether the current text was ticked. A page opened before the text
// changed does not count; its customer sees the new text first.
func (c Confirmation) hasConsent() bool {
	return c.Consent == ConsentWording("de") || c.Consent == ConsentWording("en")
}

// lacksConsent reports whether the payment in flight is a consumer's who was not asked:
// an agent pays, or an older release opened the page.
func (s *Service) lacksConsent(ctx context.Context, o Order) (bool, error) {
	if o.Consent.Given() {
		return false, nil
	}
	buyer, err := s.cfg.Store.GetBuyer(ctx, o.Customer)
	return err == nil && buyer.Consumer(o.Totals), err
}
