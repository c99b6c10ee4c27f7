package order

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// The rules in this file are pure functions that the store applies inside its
// transactions.

const paymentPrefix = "order:"

// PaymentOf is the payment reference in the provision items of an order.
func PaymentOf(order string) string { return paymentPrefix + order }

// OrderOfPayment returns the order of a payment reference; an empty string and false if an
// order did not pay for it.
func OrderOfPayment(payment string) (order string, ok bool) {
	if order, ok = strings.CutPrefix(payment, paymentPrefix); !ok {
		return "", false
	}
	return order, true
}

// ItemResult is the effect of a finished provision item on its order item.
type ItemResult struct {
	Order   string
	State   ItemState
	Failure registrar.Code
}

// ResultOf returns false if the item is not final or no order paid for it.
func ResultOf(item provision.Item) (ItemResult, bool) {
	id, ok := OrderOfPayment(item.Payment)
	if !ok || !item.State.Final() {
		return ItemResult{}, false
	}
	if item.State == provision.StateFailed {
		return ItemResult{Order: id, State: ItemFailed, Failure: item.Failure}, true
	}
	return ItemResult{Order: id, State: ItemActive, Failure: item.Failure}, true
}

// MarkProvisioned fails the item if no provision item was created: its name is held.
func (i *Item) MarkProvisioned(created bool) {
	i.State = ItemProvisioning
	if !created {
		i.ProvisionItem, i.State, i.Failure = "", ItemFailed, registrar.NameHeld
	}
}

// LocksBuyer reports whether the account must be locked first: it takes over the order
// or starts to pay for it, so it must neither be closed nor change its registrant
// meanwhile.
func (t Transition) LocksBuyer() bool {
	waited := t.From.State == AwaitingPayment || t.From.State == AwaitingVerification
	starts := waited && (t.To.State == Paying || t.To.State == Provisioning)
	return t.To.Claimed && (!t.From.Claimed || starts)
}

// RenewsDomains reports whether the order renews or restores domains that the customer holds.
func (o *Order) RenewsDomains() bool {
	return slices.ContainsFunc(o.Items, func(i Item) bool { return i.Kind.ForHeldDomain() })
}

// ReplacesItems reports whether the items change; only those of an agent's open order and of an
// editable one that awaits payment may.
func (t Transition) ReplacesItems() bool {
	return !slices.EqualFunc(t.From.Items, t.To.Items, func(a, b Item) bool { return a.ID == b.ID })
}

// MayReplaceItems reports whether they may.
func (t Transition) MayReplaceItems() bool {
	return t.From.State.Open() && t.To.Agent != "" || t.From.State.waiting() && t.To.State.waiting() && t.To.Editable()
}

// VoidsClaimLinks reports whether claim links become invalid: one that was mailed to the
// former address would give the order, with the buyer's data, to that address's owner.
func (t Transition) VoidsClaimLinks() bool {
	return !strings.EqualFold(t.From.Contact.Email, t.To.Contact.Email)
}

// VisibleToAgent reports whether an agent gets a webhook about a change. Before payment it
// has a session and no order.
func VisibleToAgent(from, to Order) bool {
	if to.Agent == "" && to.Completer == "" || to.State.Open() || to.State == Canceled || to.State == Expired {
		return false
	}
	sameState := func(a, b Item) bool { return a.ID == b.ID && a.State == b.State }
	sameRefund := func(a, b Refund) bool { return a.ID == b.ID && a.Provider == b.Provider && a.Failure == b.Failure }
	return from.State != to.State || !slices.EqualFunc(from.Items, to.Items, sameState) || !slices.EqualFunc(from.Refunds, to.Refunds, sameRefund)
}

// InvoiceDue reports whether an invoice must be issued.
func (t Transition) InvoiceDue() bool { return t.Provision && t.To.Totals.Gross > 0 }

// RefundsMade lists the refunds that the transition records as made.
func (t Transition) RefundsMade() (refunds []Refund) {
	for _, refund := range t.To.Refunds {
		was := find(t.From.Refunds, func(r Refund) bool { return r.ID == refund.ID })
		if refund.Provider != "" && (was == nil || was.Provider == "") {
			refunds = append(refunds, refund)
		}
	}
	return refunds
}

// RefundsAssigned lists refunds made before whose shares of items change with the transition.
func (t Transition) RefundsAssigned() (refunds []Refund) {
	for _, refund := range t.To.Refunds {
		was := find(t.From.Refunds, func(r Refund) bool { return r.ID == refund.ID })
		sameShare := func(a, b RefundPart) bool { return a.Item == b.Item && a.Gross == b.Gross && a.VAT == b.VAT }
		if was != nil && was.Provider != "" && !slices.EqualFunc(was.Parts, refund.Parts, sameShare) {
			refunds = append(refunds, refund)
		}
	}
	return refunds
}

// DeletionsDecided lists the parts of refunds made before whose domains are deleted with the transition.
func (t Transition) DeletionsDecided() (parts []RefundPart) {
	for _, refund := range t.To.Refunds {
		was := find(t.From.Refunds, func(r Refund) bool { return r.ID == refund.ID })
		if was == nil || was.Provider == "" {
			continue
		}
		for _, part := range refund.Parts {
			if part.Domain != "" && !slices.ContainsFunc(was.Parts, func(p RefundPart) bool { return p.Domain == part.Domain }) {
				parts = append(parts, part)
			}
		}
	}
	return parts
}

// CorrectionsDue lists the new refunds that need a correction of the invoice.
func (t Transition) CorrectionsDue() (refunds []string) {
	for _, refund := range t.RefundsMade() {
		if t.To.IsCorrected(refund) {
			refunds = append(refunds, refund.ID)
		}
	}
	return refunds
}

// NoticesReferred lists the withdrawal notices that new refunds are for. They must be open, unless a
// refund pays a returned one again.
func (t Transition) NoticesReferred() (notices []string) {
	for _, refund := range t.To.Refunds {
		if refund.Notice != "" && refund.Replaces == "" && !slices.ContainsFunc(t.From.Refunds, func(r Refund) bool { return r.ID == refund.ID }) {
			notices = append(notices, refund.Notice)
		}
	}
	return notices
}

// NoticeRefunded is a withdrawal notice that a refund is for, with who ordered or settled it and why.
type NoticeRefunded struct{ ID, By, Note string }

// NoticesRefunded lists the withdrawal notices of the refunds whose money the customer has since the
// transition: they were made or, returned by the bank, made again or settled another way. Of a refund and
// its repetition, the latter counts.
func (t Transition) NoticesRefunded() (notices []NoticeRefunded) {
	for _, refund := range t.To.Refunds {
		first := t.To.firstOf(refund)
		if first.Notice == "" || !t.To.isSettled(refund, false) {
			continue
		}
		was := find(t.From.Refunds, func(r Refund) bool { return r.ID == refund.ID })
		if was == nil || !t.From.isSettled(*was, false) {
			refunded := NoticeRefunded{first.Notice, cmp.Or(refund.By, first.By), cmp.Or(refund.Note, first.Note)}
			if !refund.SettledAt.IsZero() {
				refunded.By, refunded.Note = refund.SettledBy, refund.Settlement
			}
			notices = slices.DeleteFunc(notices, func(other NoticeRefunded) bool { return other.ID == refunded.ID })
			notices = append(notices, refunded)
		}
	}
	return notices
}

// NoticesReturned lists the withdrawal notices of the refunds that the bank has returned with the
// transition.
func (t Transition) NoticesReturned() (notices []string) {
	for _, refund := range t.To.Refunds {
		was := find(t.From.Refunds, func(r Refund) bool { return r.ID == refund.ID })
		if first := t.To.firstOf(refund); first.Notice != "" && refund.Returned() && (was == nil || !was.Returned()) {
			notices = append(notices, first.Notice)
		}
	}
	return notices
}

// MayHaveRefunds is false if no refund was recorded. Earlier releases do not count refunds, but
// record them only with a failed item or an unmatched payment.
func (o *Order) MayHaveRefunds() bool {
	return o.RefundCount > 0 || slices.ContainsFunc(o.Items, func(i Item) bool { return i.State == ItemFailed || i.State == ItemRefunded }) ||
		slices.ContainsFunc(o.Payments, func(p Payment) bool { return p.State == PaymentUnmatched || p.State == PaymentRefunded })
}

// Spending is what was paid in a period by account, by address and by that card of the
// account with which most was paid, and what the account is paying now.
type Spending struct{ Paying, ByAccount, ByEmail, ByCard registrar.Cents }

// Total is the largest of the sums plus what is being paid.
func (s Spending) Total() registrar.Cents { return max(s.ByAccount, s.ByEmail, s.ByCard) + s.Paying }
