package order

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

// A registration takes seconds. So the receipt waits for it, and a completed order has one
// mail. The delay after that is for the invoice, which is attached.
const (
	receiptDelay = 10 * time.Second
	mergedDelay  = 2 * time.Second
	// failedDelay gathers the items of an order that fail at about the same time in one mail.
	failedDelay = 30 * time.Second
)

// receiptMail confirms that an order was paid, or confirmed if it is free. It does without a
// buyer that is not known.
func receiptMail(o Order, buyer *Buyer) registrar.Mail {
	data := mailData(o)
	if buyer != nil {
		data["consumer"] = strconv.FormatBool(o.Consent.Given() || buyer.Consumer(o.Totals)) // decides which terms are attached
		if data["automatic"] != "" {
			data["method"] = buyer.MethodLabel
		}
	}
	for i, item := range o.Items {
		if data["automatic"] != "" && !item.TermEnd.IsZero() { // no mail follows if it succeeds
			data["item"+strconv.Itoa(i+1)+"_paid_until"] = item.TermEnd.UTC().AddDate(item.Years, 0, 0).Format(time.DateOnly)
		}
	}
	data["vat_rate"] = strconv.Itoa(o.Totals.RateBasisPoints)
	data["vat_rule"], data["vat_country"], data["vat_id"] = o.Totals.Rule, o.Totals.Country, o.Totals.VATID
	data["vat_unchecked"] = strconv.FormatBool(o.Totals.Unchecked)
	if o.Consent.Given() { // the law requires confirmation on a durable medium
		data["consent"], data["consent_at"] = o.Consent.Text(), o.Consent.At.UTC().Format(time.RFC3339)
		data["withdraw_until"] = o.WithdrawalEnds().Format(time.DateOnly)
	}
	return registrar.Mail{ID: "mail_" + o.ID, Kind: registrar.MailOrderPaid, Customer: o.Customer, Data: data, Delay: failpoint.Backoff(receiptDelay)}
}

// failedMailID is the mail about the items that failed last: it is named after the first of those
// that one mail gathers. Later failures have a mail with another ID, since mailboxes drop a second
// message with the same one.
func failedMailID(o Order) string {
	mailed := slices.DeleteFunc(slices.Clone(o.Items), func(i Item) bool { return i.FailureMailedAt.IsZero() })
	slices.SortStableFunc(mailed, func(a, b Item) int { return a.FailureMailedAt.Compare(b.FailureMailedAt) })
	var first Item
	for _, item := range slices.Backward(mailed) {
		if first.ID != "" && first.FailureMailedAt.Sub(item.FailureMailedAt) > failedDelay {
			break
		}
		first = item
	}
	return "mail_failed_" + cmp.Or(first.ID, o.ID)
}

// itemFailedMail says that an item has failed while others are still in progress, and what is
// refunded for it: nothing if it was free, or refunded before.
func itemFailedMail(o Order, item Item) registrar.Mail {
	var refund registrar.Cents
	if due := find(o.Refunds, func(r Refund) bool { return r.Source == BySystem && r.Item == item.ID }); due != nil {
		refund = due.Amount
	}
	data := map[string]string{
		"order": o.ID, "at": o.PaidAt.In(registrar.Germany()).Format(time.DateOnly), "domain": item.Name, "what": string(item.Kind), "why": string(item.Failure), "gross": refund.String(),
		"position": strconv.Itoa(o.positionOf(item.ID)),
	}
	if !o.Claimed {
		data["unclaimed"] = strconv.FormatBool(true)
	}
	id := failedMailID(o)
	return registrar.Mail{Kind: registrar.MailItemFailed, Customer: o.Customer, Data: data, ID: id, Join: id, Delay: failpoint.Backoff(failedDelay)}
}

// addExpectedDays adds when transfers that take days are expected to be complete.
func (s *Service) addExpectedDays(data map[string]string, o Order) {
	for i, item := range o.Items {
		if days := s.cfg.TransferDays(item.TLD); item.Kind == Transfer && days > 0 {
			data["item"+strconv.Itoa(i+1)+"_expected"] = o.PaidAt.In(registrar.Germany()).AddDate(0, 0, days).Format(time.DateOnly)
		}
	}
}

// knownBuyer returns the buyer of an order; nil if it can't be read.
func (s *Service) knownBuyer(ctx context.Context, o Order) *Buyer {
	resolved, err := s.resolveBuyer(ctx, o)
	if err != nil {
		s.cfg.Logger.WarnContext(ctx, "buyer not read", "order", o.ID, "error", err.Error())
		return nil
	}
	return &resolved.buyer
}

// afterOrder is what an order has changed about a domain beyond the term.
type afterOrder struct {
	nextCharge   time.Time // of the automatic renewal of a renewed domain; zero if it is off
	nextTerm     bool      // automatic renewal is on, but this term ends too soon for it
	liftedExpiry bool      // the customer had chosen to let the domain expire
}

// afterItems returns that of the domains that renew automatically or have been renewed, by item. The
// mail does without what can't be read.
func (s *Service) afterItems(ctx context.Context, o Order) map[string]afterOrder {
	all := make(map[string]afterOrder)
	for _, item := range o.Items {
		if item.State != ItemActive || item.PaidUntil.IsZero() || !item.Kind.ForHeldDomain() && item.RenewalGross == 0 {
			continue
		}
		at, nextTerm, err := s.cfg.NextCharge(ctx, o.Customer, item.Name, item.PaidUntil)
		if err != nil {
			s.cfg.Logger.WarnContext(ctx, "next charge not read", "order", o.ID, "error", err.Error())
			continue
		}
		after := afterOrder{nextTerm: nextTerm}
		if item.Kind == Renew {
			after.nextCharge = at
			if after.liftedExpiry, err = s.cfg.LiftedExpiry(ctx, o.Customer, item.Name); err != nil {
				s.cfg.Logger.WarnContext(ctx, "lifted choice not read", "order", o.ID, "error", err.Error())
			}
		}
		all[item.ID] = after
	}
	return all
}

// outcomeMail follows the receipt. If everything succeeded, the two are one mail if
// possible. It says until when the domains are paid, what the next term of a new one costs, and
// what else changes for one; prices and afterwards are those, by item. locks
// reports whether new domains of a TLD are locked against transfers.
func outcomeMail(o Order, buyer *Buyer, prices map[string]TermPrice, afterwards map[string]afterOrder, locks func(tld string) bool) registrar.Mail {
	addEnds := func(data map[string]string) {
		for i, item := range o.Items {
			if item.State != ItemActive {
				continue
			}
			of, renewal := "item"+strconv.Itoa(i+1)+"_", prices[item.ID]
			if !item.PaidUntil.IsZero() {
				data[of+"paid_until"] = item.PaidUntil.UTC().Format(time.DateOnly)
			}
			if !item.Kind.ForHeldDomain() && renewal.Gross > 0 {
				data[of+"renewal"], data[of+"renewal_years"] = renewal.Gross.String(), strconv.Itoa(renewal.Years)
			}
			if !item.Kind.ForHeldDomain() && locks(item.TLD) {
				data[of+"locked"] = strconv.FormatBool(true)
			}
			after := afterwards[item.ID]
			if !after.nextCharge.IsZero() {
				data[of+"next_charge"] = after.nextCharge.UTC().Format(time.DateOnly)
			}
			if after.nextTerm {
				data[of+"next_term"] = strconv.FormatBool(true)
			}
			if after.liftedExpiry {
				data[of+"lifted"] = strconv.FormatBool(true)
			}
		}
	}
	data := mailData(o)
	addEnds(data)
	data["state"] = string(o.State)
	back := registrar.Cents(0)
	for _, refund := range o.Refunds {
		if refund.Source != BySystem || refund.Item == "" {
			continue
		}
		at := slices.IndexFunc(o.Items, func(item Item) bool { return item.ID == refund.Item })
		if at < 0 || !refund.Made() {
			back += refund.Amount
			continue
		}
		of := "item" + strconv.Itoa(at+1) + "_"
		data[of+"refunded"], data[of+"refunded_on"] = refund.Amount.String(), refund.MadeAt.In(registrar.Germany()).Format(time.DateOnly)
	}
	data["refund"] = back.String()
	mail := registrar.Mail{Kind: registrar.MailOrderEnded, Customer: o.Customer, Data: data, Delay: failpoint.Backoff(receiptDelay)}
	if o.State == Completed {
		merged := receiptMail(o, buyer)
		addEnds(merged.Data)
		merged.Kind, merged.Delay = registrar.MailOrderCompleted, failpoint.Backoff(mergedDelay)
		mail.Delay, mail.Merged = 0, &merged
		return mail
	}
	merged := mail // says more than one about failed items that still waits
	merged.ID = failedMailID(o)
	mail.Merged = &merged
	return mail
}

func unmatchedMail(o Order, amount registrar.Cents) registrar.Mail {
	return registrar.Mail{
		Kind: registrar.MailPaymentRefunded, Customer: o.Customer,
		Data: map[string]string{"order": o.ID, "refund": amount.String()},
	}
}

// positionOf returns the place of an item in the order; -1 if it has none with this id.
func (o *Order) positionOf(item string) int {
	return slices.IndexFunc(o.Items, func(other Item) bool { return other.ID == item })
}

// refundMail says that money is on its way back, for which items, and which domains are deleted. One
// that pays a returned refund again says so, and nothing about domains: the mail about the first did.
func refundMail(o Order, refund Refund) registrar.Mail {
	data, first := mailData(o), o.firstOf(refund)
	data["refund"], data["reason"] = refund.Amount.String(), first.ReasonOf()
	repeats := o.refund(refund.Replaces)
	if repeats != nil {
		data["returned_on"] = repeats.FailedAt.In(registrar.Germany()).Format(time.DateOnly)
	}
	if first.Notice != "" {
		data["notice_id"] = first.Notice
	}
	made := o.settledByItem(false)
	count, deleted := 0, 0
	parts := slices.SortedStableFunc(slices.Values(o.PartsOf(first)), func(a, b RefundPart) int {
		return cmp.Compare(o.positionOf(a.Item), o.positionOf(b.Item))
	})
	for _, part := range parts {
		item := o.item(part.Item)
		if item == nil {
			continue
		}
		count++
		of := "part" + strconv.Itoa(count) + "_"
		data[of+"name"], data[of+"gross"] = item.Name, part.Gross.String()
		if part.Gross < item.Gross {
			data[of+"of"] = item.Gross.String()
			if made[item.ID] >= item.Gross {
				data[of+"last"] = strconv.FormatBool(true)
			}
		}
		if part.Domain != "" && repeats == nil {
			deleted++
			data[of+"deleted"] = strconv.FormatBool(true)
			if lifecycle.DeletionHandsOver(item.TLD) {
				data[of+"handed_over"] = strconv.FormatBool(true)
			}
		}
	}
	data["parts"], data["deleted"] = strconv.Itoa(count), strconv.Itoa(deleted)
	return registrar.Mail{Kind: registrar.MailOrderRefunded, Customer: o.Customer, Data: data}
}

// returnedMail tells the customer that the bank returned a refund.
func returnedMail(o Order, refund Refund) registrar.Mail {
	mail := refundMail(o, refund)
	mail.Kind, mail.Data[registrar.MailOccurredAt] = registrar.MailRefundReturned, refund.FailedAt.UTC().Format(time.RFC3339)
	return mail
}

// settledMail tells the customer that what the bank returned was paid another way.
func settledMail(o Order, refund Refund) registrar.Mail {
	mail := refundMail(o, refund)
	if refund.Returned() { // otherwise it was to repeat the returned one
		mail.Data["returned_on"] = refund.FailedAt.In(registrar.Germany()).Format(time.DateOnly)
	}
	mail.Kind, mail.Data[registrar.MailOccurredAt] = registrar.MailRefundSettled, refund.SettledAt.UTC().Format(time.RFC3339)
	return mail
}

// mailData numbers the items from 1: item1_name, item1_kind, and so on.
func mailData(o Order) map[string]string {
	data := map[string]string{
		"order": o.ID, "items": strconv.Itoa(len(o.Items)),
		"net": o.Totals.Net.String(), "vat": o.Totals.VAT.String(), "gross": o.Totals.Gross.String(),
	}
	if payment := o.CapturedPayment(); o.Channel == ChannelRenewal && payment != nil && payment.Kind == ByMethod {
		data["automatic"], data["domain"] = strconv.FormatBool(true), o.Items[0].Name
		data["charge_at"] = o.PaidAt.UTC().Format(time.DateOnly)
	}
	if !o.PaidAt.IsZero() {
		data["at"] = o.PaidAt.In(registrar.Germany()).Format(time.DateOnly)
		data[registrar.MailOccurredAt] = o.PaidAt.UTC().Format(time.RFC3339)
	}
	if !o.Claimed { // a guest account can't sign in
		data["unclaimed"] = strconv.FormatBool(true)
	}
	for i, item := range o.Items {
		of := "item" + strconv.Itoa(i+1) + "_"
		data[of+"name"], data[of+"kind"], data[of+"years"] = item.Name, string(item.Kind), strconv.Itoa(item.Years)
		// Equal items have equal prices: the order's VAT is rounded once, over their sum.
		data[of+"net"], data[of+"gross"] = item.Net.String(), o.Price(item).String()
		if item.Kind == Transfer && item.Years == 0 {
			data[of+"term"] = "rest"
			if lifecycle.PolicyOf(item.TLD).AtExpiry == lifecycle.RegistryNoTerm { // ours starts with the transfer
				data[of+"term"] = "from_now"
			}
		}
		data[of+"state"], data[of+"failure"] = string(item.State), string(item.Failure)
	}
	return data
}
