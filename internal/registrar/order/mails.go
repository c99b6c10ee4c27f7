package order

import (
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// The data keys of order mails. Items are numbered from 1: item1_name, item1_kind, and
// so on up to the number in items.
const (
	dataOrder, dataItems                            = "order", "items"
	dataNet, dataVAT, dataGross, dataRate           = "net", "vat", "gross", "vat_rate"
	dataRule, dataCountry, dataVATID, dataUnchecked = "vat_rule", "vat_country", "vat_id", "vat_unchecked"
	dataState, dataRefund, dataUnclaimed            = "state", "refund", "unclaimed"
	dataConsent, dataConsentAt                      = "consent", "consent_at"
)

// receiptMail confirms that an order was paid, or confirmed if it is free.
func receiptMail(o Order) registrar.Mail {
	data := mailData(o)
	data[dataRate] = strconv.Itoa(o.Totals.RateBasisPoints)
	data[dataRule], data[dataCountry], data[dataVATID] = o.Totals.Rule, o.Totals.Country, o.Totals.VATID
	data[dataUnchecked] = strconv.FormatBool(o.Totals.Unchecked)
	if o.Consent.Given() { // the law requires confirmation on a durable medium
		data[dataConsent], data[dataConsentAt] = o.Consent.Text(), o.Consent.At.UTC().Format(time.RFC3339)
	}
	return registrar.Mail{Kind: registrar.MailOrderPaid, Customer: o.Customer, Data: data}
}

// outcomeMail reports the outcome of each item and the refunds.
func outcomeMail(o Order) registrar.Mail {
	data := mailData(o)
	data[dataState] = string(o.State)
	back := registrar.Cents(0)
	for _, refund := range o.Refunds {
		if refund.Item != "" {
			back += refund.Amount
		}
	}
	data[dataRefund] = back.String()
	return registrar.Mail{Kind: registrar.MailOrderDone, Customer: o.Customer, Data: data}
}

// unmatchedMail announces the refund of an unmatched payment.
func unmatchedMail(o Order, amount registrar.Cents) registrar.Mail {
	return registrar.Mail{
		Kind: registrar.MailPaymentReturned, Customer: o.Customer,
		Data: map[string]string{dataOrder: o.ID, dataRefund: amount.String()},
	}
}

func mailData(o Order) map[string]string {
	data := map[string]string{
		dataOrder: o.ID, dataItems: strconv.Itoa(len(o.Items)),
		dataNet: o.Totals.Net.String(), dataVAT: o.Totals.VAT.String(), dataGross: o.Totals.Gross.String(),
	}
	if !o.Claimed { // a guest account can't sign in
		data[dataUnclaimed] = strconv.FormatBool(true)
	}
	for i, item := range o.Items {
		of := "item" + strconv.Itoa(i+1) + "_"
		data[of+"name"], data[of+"kind"], data[of+"years"] = item.Name, string(item.Kind), strconv.Itoa(item.Years)
		data[of+"net"], data[of+"gross"] = item.Net.String(), item.Gross.String()
		data[of+"state"], data[of+"failure"] = string(item.State), string(item.Failure)
	}
	return data
}
