package order

import (
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// The facts of letters about orders. Items are numbered from 1: item1_name,
// item1_kind, and so on up to the number in items.
const (
	factOrder, factItems                        = "order", "items"
	factNet, factVAT, factGross, factRate       = "net", "vat", "gross", "vat_rate"
	factRule, factCountry, factVATID, factUnsur = "vat_rule", "vat_country", "vat_id", "vat_unchecked"
	factState, factRefund, factUnclaimed        = "state", "refund", "unclaimed"
	factConsent, factConsentAt                  = "consent", "consent_at"
)

// receipt tells that an order is paid, or confirmed where it costs nothing.
func receipt(o Order) registrar.Letter {
	facts := factsOf(o)
	facts[factRate] = strconv.Itoa(o.Totals.RateBasisPoints)
	facts[factRule], facts[factCountry], facts[factVATID] = o.Totals.Rule, o.Totals.Country, o.Totals.VATID
	facts[factUnsur] = strconv.FormatBool(o.Totals.Unchecked)
	if o.Consent.Given() { // the law wants it confirmed on something that lasts
		facts[factConsent], facts[factConsentAt] = o.Consent.Words(), o.Consent.At.UTC().Format(time.RFC3339)
	}
	return registrar.Letter{Kind: registrar.LetterOrderPaid, Customer: o.Customer, Facts: facts}
}

// outcome tells what became of each item, and what goes back.
func outcome(o Order) registrar.Letter {
	facts := factsOf(o)
	facts[factState] = string(o.State)
	back := registrar.Cents(0)
	for _, refund := range o.Refunds {
		if refund.Item != "" {
			back += refund.Amount
		}
	}
	facts[factRefund] = back.String()
	return registrar.Letter{Kind: registrar.LetterOrderDone, Customer: o.Customer, Facts: facts}
}

// surplusLetter tells that a payment goes back that nobody waited for.
func surplusLetter(o Order, amount registrar.Cents) registrar.Letter {
	return registrar.Letter{
		Kind: registrar.LetterPaymentReturned, Customer: o.Customer,
		Facts: map[string]string{factOrder: o.ID, factRefund: amount.String()},
	}
}

func factsOf(o Order) map[string]string {
	facts := map[string]string{
		factOrder: o.ID, factItems: strconv.Itoa(len(o.Items)),
		factNet: o.Totals.Net.String(), factVAT: o.Totals.VAT.String(), factGross: o.Totals.Gross.String(),
	}
	if !o.Claimed { // there is nothing to sign in to
		facts[factUnclaimed] = strconv.FormatBool(true)
	}
	for i, item := range o.Items {
		of := "item" + strconv.Itoa(i+1) + "_"
		facts[of+"name"], facts[of+"kind"], facts[of+"years"] = item.Name, string(item.Kind), strconv.Itoa(item.Years)
		facts[of+"net"], facts[of+"gross"] = item.Net.String(), item.Gross.String()
		facts[of+"state"], facts[of+"failure"] = string(item.State), string(item.Failure)
	}
	return facts
}
