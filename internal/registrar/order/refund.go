package order

import (
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// RefundSource is what caused a refund.
type RefundSource string

// The sources of refunds.
const (
	BySystem   RefundSource = ""         // an item failed, or a payment was unmatched
	ByOperator RefundSource = "operator" // an operator decided on it
	ByProvider RefundSource = "provider" // it was made at the provider, not by this program
)

// Reasons of refunds, as stored, counted and sent to the provider. An operator chooses one of
// OperatorReasons.
const (
	reasonItem       = "failed_item"
	reasonUnmatched  = "unmatched"
	reasonProvider   = "provider" // made at the provider: the reason is unknown
	ReasonWithdrawal = "withdrawal"
	// ReasonTermination is a contract that the customer has terminated for cause.
	ReasonTermination = "termination"
	reasonGoodwill    = "goodwill"
	reasonMistake     = "mistake" // ordered by mistake, or twice
	reasonFault       = "service_fault"
	reasonFraud       = "fraud"
	reasonOther       = "other"
)

// OperatorReasons returns the reasons that an operator chooses from.
func OperatorReasons() []string {
	return []string{ReasonWithdrawal, ReasonTermination, reasonGoodwill, reasonMistake, reasonFault, reasonFraud, reasonOther}
}

// RefundReasons returns all refund reasons.
func RefundReasons() []string {
	return append([]string{reasonItem, reasonUnmatched, reasonProvider}, OperatorReasons()...)
}

// RefundTask is what an operator has to do about a refund.
type RefundTask string

// The tasks.
const (
	TaskNone     RefundTask = ""
	TaskAssign   RefundTask = "assign"   // made at the provider: it is unknown for which items
	TaskReturned RefundTask = "returned" // the bank returned the money: pay the customer another way
	TaskRefused  RefundTask = "refused"  // the provider refused what an operator ordered
	TaskDomains  RefundTask = "domains"  // refunded in full at the provider; an operator decides about the domains
)

// Error codes of refunds.
const (
	RefundTooLarge    registrar.Code = "refund_too_large"   // KindInvalid: more than what is left
	BadRefund         registrar.Code = "bad_refund"         // KindInvalid: amount, reason or note
	BadAssignment     registrar.Code = "bad_assignment"     // KindInvalid: the amounts don't add up to the refund
	NothingToRefund   registrar.Code = "nothing_to_refund"  // KindConflict: it was refunded in full
	OrderNotPaid      registrar.Code = "order_not_paid"     // KindConflict: there is no payment to refund
	OrderInProgress   registrar.Code = "order_in_progress"  // KindConflict: items are not provisioned yet
	RefundChanged     registrar.Code = "refund_changed"     // KindConflict: the order was refunded since the preview
	NoSuchRefund      registrar.Code = "no_such_refund"     // KindNotFound
	NothingToDecide   registrar.Code = "refund_decided"     // KindConflict: another operator was faster
	DeletionForbidden registrar.Code = "deletion_forbidden" // KindConflict: the domain can't be deleted, with this refund or any more
	// ChargeDisputed (KindConflict): the provider does not refund the disputed payment.
	ChargeDisputed registrar.Code = "charge_disputed"
	// ChargeLost (KindConflict): the bank has returned the disputed payment to the customer.
	ChargeLost registrar.Code = "charge_lost"
	// Superseded is the failure of a refund that was due when the money was refunded at the
	// provider.
	Superseded registrar.Code = "superseded"
	// ReturnedByBank is the failure of a refund that did not reach the customer.
	ReturnedByBank registrar.Code = "refund_failed"
)

// Refund is one refund of a payment; doc.go has its states.
type Refund struct {
	ID       string // also the provider's idempotency key
	Payment  string
	Item     string // the failed item; empty for all other refunds
	Amount   registrar.Cents
	Provider string // the provider's refund id; empty until it is made
	Source   RefundSource
	// Reason is one of OperatorReasons, Note and By are the operator's; empty for others.
	Reason, Note, By string
	Notice           string // the withdrawal notice that the refund is for
	// Parts divide the amount among items; see Order.PartsOf.
	Parts []RefundPart
	// Replaces is the returned refund whose amount this one pays again. The correction is
	// that of the first.
	Replaces string
	Task     RefundTask
	// Failure is why the provider refused it or, if Provider is set, why the money came back.
	Failure                     registrar.Code
	CreatedAt, MadeAt, FailedAt time.Time
	// SettledAt is when an operator closed its task, SettledBy who did, and Settlement what was done. Earlier
	// releases stored only the last of these, in Note.
	SettledAt             time.Time
	SettledBy, Settlement string
}

// RefundPart is the part of a refund that is for one item, or for none in particular.
type RefundPart struct {
	Item       string
	Gross, VAT registrar.Cents
	Domain     string // to be deleted once the refund is made; empty: none
	Kept       string // why an operator left the domain to the customer (TaskDomains); empty: undecided
}

// Due reports whether the provider must still be called.
func (r Refund) Due() bool { return r.Provider == "" && r.Failure == "" }

// Made reports whether the provider has made the refund, and the money did not come back.
func (r Refund) Made() bool { return r.Provider != "" && r.Failure == "" }

// Returned reports whether the provider made the refund and the bank returned the money.
func (r Refund) Returned() bool { return r.Provider != "" && r.Failure != "" }

// PaysReturned reports whether settling the refund pays the customer what the bank returned: this refund, or
// one whose repetition the provider refused.
func (r Refund) PaysReturned() bool { return r.Returned() || r.Replaces != "" && !r.Made() }

// State names the state: due, made, returned or refused.
func (r Refund) State() string {
	switch {
	case r.Due():
		return "due"
	case r.Made():
		return "made"
	case r.Returned():
		return "returned"
	default:
		return "refused"
	}
}

// ReasonOf is the reason as counted and sent to the provider.
func (r Refund) ReasonOf() string {
	switch {
	case r.Source == ByProvider:
		return reasonProvider
	case r.Source == ByOperator:
		return r.Reason
	case r.Item == "":
		return reasonUnmatched
	default:
		return reasonItem
	}
}

// counts reports whether the refund reduces what is left of the payment: money that came back
// is still owed to the customer.
func (r Refund) counts() bool { return (r.Provider != "" || r.Failure == "") && r.Replaces == "" }

// Equal reports whether nothing differs.
func (r Refund) Equal(other Refund) bool {
	sameParts := slices.Equal(r.Parts, other.Parts)
	return sameParts && r.ID == other.ID && r.Payment == other.Payment && r.Item == other.Item && r.Amount == other.Amount &&
		r.Provider == other.Provider && r.Source == other.Source && r.Reason == other.Reason && r.Note == other.Note && r.By == other.By &&
		r.Notice == other.Notice && r.Replaces == other.Replaces && r.Task == other.Task && r.Failure == other.Failure &&
		r.CreatedAt.Equal(other.CreatedAt) && r.MadeAt.Equal(other.MadeAt) && r.FailedAt.Equal(other.FailedAt) &&
		r.SettledAt.Equal(other.SettledAt) && r.SettledBy == other.SettledBy && r.Settlement == other.Settlement
}

// PartsOf returns how a refund is divided among items. That of a failed item is its whole
// price; that of an unmatched payment has none, because it has no invoice.
func (o *Order) PartsOf(r Refund) []RefundPart {
	if len(r.Parts) > 0 || r.Item == "" {
		return r.Parts
	}
	if item := o.item(r.Item); item != nil {
		return []RefundPart{{Item: item.ID, Gross: r.Amount, VAT: item.VAT}}
	}
	return nil
}

// RefundedNames returns the domains that a refund is for; none for that of a whole payment.
func (o Order) RefundedNames(r Refund) (names []string) {
	for _, part := range o.PartsOf(r) {
		if name := o.NameOf(part.Item); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// WithdrawalRefund is what was refunded because of a withdrawal.
type WithdrawalRefund struct {
	Amount  registrar.Cents // 0 if nothing was
	At      time.Time       // of the last refund
	Deleted bool            // domains are deleted with it
}

// RefundOfWithdrawal returns what was refunded for a withdrawal notice, for one domain or, if name
// is empty, for the whole order.
func (o Order) RefundOfWithdrawal(notice, name string) (sum WithdrawalRefund) {
	for _, r := range o.Refunds {
		first := o.firstOf(r)
		if notice == "" || first.Notice != notice || !r.Made() {
			continue
		}
		for _, part := range o.PartsOf(first) {
			if name == "" || o.NameOf(part.Item) == name {
				sum = WithdrawalRefund{sum.Amount + part.Gross, r.MadeAt, sum.Deleted || part.Domain != ""}
			}
		}
	}
	return sum
}

// IsRefundedFor reports whether something of a domain was refunded for a withdrawal notice, or is to be.
func (o Order) IsRefundedFor(notice, name string) bool {
	return notice != "" && slices.ContainsFunc(o.Refunds, func(r Refund) bool {
		first := o.firstOf(r)
		refused := r.Provider == "" && r.Failure != "" && r.SettledAt.IsZero()
		return first.Notice == notice && !refused && slices.Contains(o.RefundedNames(first), name)
	})
}

// Completes reports whether the refunds that the customer has leave nothing of what a withdrawal notice
// is about, given the order numbers and domains that it mentions; see coversNotice.
func (o *Order) Completes(mentions []string) bool {
	return o.coversNotice(mentions, o.settledByItem(false))
}

// coversNotice reports whether some refunds, by item, are for all items that a notice mentions, or for
// all of the order if it mentions none of them. A notice that also mentions something else is never
// complete with one order: an operator closes it.
func (o *Order) coversNotice(mentions []string, refunded map[string]registrar.Cents) bool {
	isNamed := func(item Item) bool { return slices.Contains(mentions, item.Name) }
	for _, mention := range mentions {
		if !strings.EqualFold(mention, o.ID) && !slices.ContainsFunc(o.Items, func(item Item) bool { return item.Name == mention }) {
			return false
		}
	}
	all := !slices.ContainsFunc(o.Items, isNamed)
	return !slices.ContainsFunc(o.Items, func(item Item) bool { return (all || isNamed(item)) && refunded[item.ID] < item.Gross })
}

// settledByItem sums up the refunds whose money the customer has, by item; with due, also those that
// the provider is still to make.
func (o *Order) settledByItem(due bool) map[string]registrar.Cents {
	byItem := make(map[string]registrar.Cents, len(o.Items))
	for _, r := range o.Refunds {
		if !r.counts() || !o.isSettled(r, due) {
			continue
		}
		for _, part := range o.PartsOf(r) {
			byItem[part.Item] += part.Gross
		}
	}
	return byItem
}

// isSettled reports whether the customer has the money of a refund: it was made or, if the bank returned
// it, made again or settled another way. With due, one that is due counts as made.
func (o *Order) isSettled(r Refund, due bool) bool {
	switch {
	case r.Due():
		return due
	case r.Made():
		return true
	case r.Task != TaskNone: // an operator has to pay it another way
		return false
	}
	repeated := false
	for _, again := range o.Refunds {
		if again.Replaces == "" || again.Replaces != r.ID {
			continue
		}
		if o.isSettled(again, due) {
			return true
		}
		repeated = true
	}
	return !repeated
}

// firstOf returns the refund that r pays again, which has the reason; r itself if it repeats none.
func (o Order) firstOf(r Refund) Refund {
	for r.Replaces != "" {
		replaced := find(o.Refunds, func(other Refund) bool { return other.ID == r.Replaces })
		if replaced == nil {
			break
		}
		r = *replaced
	}
	return r
}

// IsRepeated reports whether another refund pays a returned one again. One that the provider
// refused does not.
func (o Order) IsRepeated(r Refund) bool {
	return slices.ContainsFunc(o.Refunds, func(again Refund) bool {
		return again.Replaces == r.ID && r.ID != "" && (again.Provider != "" || again.Failure == "")
	})
}

// IsSettledOtherwise reports whether an operator has paid a returned refund another way.
func (o Order) IsSettledOtherwise(r Refund) bool {
	undecided := func(other Refund) bool {
		return other.Task != TaskNone && (other.ID == r.ID || other.Replaces == r.ID)
	}
	return r.Returned() && !o.IsRepeated(r) && !slices.ContainsFunc(o.Refunds, undecided)
}

// PaidOtherwiseAt returns when an operator recorded that; zero if none did, or if an earlier release stored it.
func (o Order) PaidOtherwiseAt(r Refund) (at time.Time) {
	if !o.IsSettledOtherwise(r) {
		return at
	}
	for _, settled := range o.Refunds { // a repetition that the provider refused is settled itself
		if (settled.ID == r.ID || settled.Replaces == r.ID) && settled.SettledAt.After(at) {
			at = settled.SettledAt
		}
	}
	return at
}

// GivenBackOf is what the customer has or gets back of an item: unlike RefundedOf, without what the bank
// returned, until it is paid again or another way.
func (o *Order) GivenBackOf(id string) registrar.Cents { return o.settledByItem(true)[id] }

// IsCorrected reports whether a refund corrects the invoice once it is made: neither that of an
// unmatched payment, which has no invoice, nor the repetition of a returned one.
func (o *Order) IsCorrected(r Refund) bool { return r.Replaces == "" && len(o.PartsOf(r)) > 0 }

// refunded is what of an order, or of one of its items, is refunded or about to be.
type refunded struct{ gross, vat registrar.Cents }

func (sum *refunded) add(part RefundPart) {
	sum.gross, sum.vat = sum.gross+part.Gross, sum.vat+part.VAT
}

// sumRefunds sums up the refunds of the captured payment, in all and by item.
func (o *Order) sumRefunds() (all refunded, byItem map[string]refunded) {
	byItem = make(map[string]refunded, len(o.Items))
	for _, r := range o.Refunds {
		if !r.counts() {
			continue
		}
		for _, part := range o.PartsOf(r) {
			all.add(part)
			sum := byItem[part.Item]
			sum.add(part)
			byItem[part.Item] = sum
		}
	}
	return all, byItem
}

// Remaining is what can still be refunded of a paid order.
func (o *Order) Remaining() registrar.Cents {
	if o.CapturedPayment() == nil {
		return 0
	}
	all, _ := o.sumRefunds()
	return o.Totals.Gross - all.gross
}

// RemainingOf is what can still be refunded of an item. Refunds that are not assigned to items
// may leave less than its price.
func (o *Order) RemainingOf(id string) registrar.Cents {
	item, left := o.item(id), o.Remaining()
	if item == nil {
		return 0
	}
	_, byItem := o.sumRefunds()
	return max(0, min(left, item.Gross-byItem[id].gross))
}

// RefundedOf is what was refunded of an item, or is about to be.
func (o *Order) RefundedOf(id string) registrar.Cents {
	_, byItem := o.sumRefunds()
	return byItem[id].gross
}

// IsRefunded reports whether everything that was paid is refunded, or is about to be.
func (o *Order) IsRefunded() bool {
	all, _ := o.sumRefunds()
	return !o.PaidAt.IsZero() && o.Totals.Gross > 0 && all.gross >= o.Totals.Gross
}

// owesRefund reports whether a failed item has no refund yet.
func (o *Order) owesRefund(item Item) bool {
	return item.State == ItemFailed && o.RemainingOf(item.ID) > 0 && !o.systemRefundRecorded(item.ID)
}

func (o *Order) systemRefundRecorded(item string) bool {
	return slices.ContainsFunc(o.Refunds, func(r Refund) bool { return r.Source == BySystem && r.Item == item })
}

// owesFailureMail reports whether no mail has said yet that an item failed. An older release mailed
// only failures with a refund, and did not store when.
func (o *Order) owesFailureMail(item Item) bool {
	return item.State == ItemFailed && item.FailureMailedAt.IsZero() && !o.systemRefundRecorded(item.ID)
}

// withVAT sets the VAT of the parts of a new refund: the share that the item's VAT has in its
// price, rounded so that partial refunds of an item add up to its VAT. What is left of the
// order never has more VAT than gross, and no VAT is left when nothing is.
func (o *Order) withVAT(parts []RefundPart) []RefundPart {
	all, byItem := o.sumRefunds()
	for i := range parts {
		part, of := &parts[i], refunded{o.Totals.Gross, o.Totals.VAT}
		before := all
		if item := o.item(part.Item); item != nil {
			of, before = refunded{item.Gross, item.VAT}, byItem[item.ID]
		}
		part.VAT = 0
		if of.gross > 0 {
			part.VAT = (2*of.vat*(before.gross+part.Gross)+of.gross)/(2*of.gross) - before.vat
		}
		vatLeft, grossLeft := o.Totals.VAT-all.vat, o.Totals.Gross-all.gross-part.Gross
		part.VAT = max(0, vatLeft-grossLeft, min(part.VAT, part.Gross, vatLeft))
		all.add(*part)
		sum := byItem[part.Item]
		sum.add(*part)
		byItem[part.Item] = sum
	}
	return parts
}

// divide distributes an amount over what is left of the items, in proportion.
func (o *Order) divide(amount registrar.Cents) []RefundPart {
	_, byItem := o.sumRefunds()
	rest := func(item Item) registrar.Cents { return max(0, item.Gross-byItem[item.ID].gross) }
	total := registrar.Cents(0)
	for _, item := range o.Items {
		total += rest(item)
	}
	var parts []RefundPart
	seen, given := registrar.Cents(0), registrar.Cents(0)
	for _, item := range o.Items {
		if seen += rest(item); total > 0 {
			if share := amount*seen/total - given; share > 0 {
				parts, given = append(parts, RefundPart{Item: item.ID, Gross: share}), given+share
			}
		}
	}
	return o.withVAT(parts)
}

// planRefund divides an amount among the items; 0 means all that is left. An empty item means
// the whole order.
func (o *Order) planRefund(item string, amount registrar.Cents) ([]RefundPart, error) {
	left := o.Remaining()
	switch {
	case o.CapturedPayment() == nil:
		return nil, fail(registrar.KindConflict, OrderNotPaid)
	case !o.State.Final():
		return nil, fail(registrar.KindConflict, OrderInProgress)
	case item != "" && o.item(item) == nil:
		return nil, fail(registrar.KindNotFound, provision.NoSuchItem)
	case item != "":
		left = o.RemainingOf(item)
	}
	switch {
	case left <= 0:
		return nil, fail(registrar.KindConflict, NothingToRefund)
	case amount < 0:
		return nil, fail(registrar.KindInvalid, BadRefund)
	case amount > left:
		return nil, fail(registrar.KindInvalid, RefundTooLarge)
	case amount == 0:
		amount = left
	}
	if item != "" {
		return o.withVAT([]RefundPart{{Item: item, Gross: amount}}), nil
	}
	return o.divide(amount), nil
}

// markRefundedItems marks failed items whose whole price was refunded.
func (o *Order) markRefundedItems() {
	made := make(map[string]registrar.Cents)
	for _, r := range o.Refunds {
		if r.Provider != "" && r.Replaces == "" {
			for _, part := range o.PartsOf(r) {
				made[part.Item] += part.Gross
			}
		}
	}
	for i := range o.Items {
		if item := &o.Items[i]; item.State == ItemFailed && item.Gross > 0 && (made[item.ID] >= item.Gross || o.systemRefundMade(item.ID)) {
			item.State = ItemRefunded
		}
	}
}

func (o *Order) systemRefundMade(item string) bool {
	return slices.ContainsFunc(o.Refunds, func(r Refund) bool { return r.Source == BySystem && r.Item == item && r.Provider != "" })
}
