package ledger

import "time"

// Currency is the one in which all accounts are kept.
const Currency = "EUR"

// Operation is something that costs money (RFC 8748, 3.1).
type Operation uint8

// The operations.
const (
	Create Operation = iota
	Renew
	TransferIn
	Restore
	Delete
	Update
)

// FeeSchedule is what a name costs, in cents: for each year, and a restore at once.
type FeeSchedule struct {
	// Class is "standard" or the name of a class of premium names.
	Class    string
	Create   int64
	Renew    int64
	Transfer int64
	Restore  int64
}

// Standard says whether the tariff is the one of ordinary names.
func (t FeeSchedule) Standard() bool { return t.Class == StandardClass }

// StandardClass is the class of names that are not premium.
const StandardClass = "standard"

// Cost is what an operation costs under the tariff.
func (t FeeSchedule) Cost(op Operation, years int) int64 {
	switch op {
	case Create:
		return t.Create * int64(years)
	case Renew:
		return t.Renew * int64(years)
	case TransferIn:
		return t.Transfer
	case Restore:
		return t.Restore
	default:
		return 0
	}
}

// AgreedFee is the fee to which a client agrees.
type AgreedFee struct {
	Currency string // empty means the server's own
	Cents    int64
}

// computeCharge checks that a command may be paid for: RFC 8748, 5 wants the offer
// for premium names, and refuses one that is too low for any name.
func (t *tx) computeCharge(place NameEntry, op Operation, years int, offer *AgreedFee) (int64, *Refusal) {
	cost := place.Fees.Cost(op, years)
	switch {
	case offer == nil && !place.Fees.Standard() && cost > 0:
		return 0, refuse(Missing, "fee:fee", "", "A premium name needs the agreement to its fee.")
	case offer != nil && offer.Currency != "" && offer.Currency != Currency:
		return 0, refuse(OutOfRange, "fee:currency", offer.Currency, "Accounts are kept in "+Currency+".")
	case offer != nil && offer.Cents < cost:
		return 0, refuse(OutOfRange, "fee:fee", "", "The fee is higher than the one agreed to.")
	case cost > 0 && (t.l.accounts[t.by.Account].NoFunds || isUnpaidLabel(place.Label)):
		return 0, refuse(BillingFailure, "", "", "The account does not cover the fee.")
	}
	return cost, nil
}

// deleteCredit is what a delete gives back.
func (d *Domain) deleteCredit(place NameEntry, now time.Time) int64 {
	var back int64
	if within(d.Created, addPeriod, now) {
		back += place.Fees.Create * int64(d.AddYears)
	}
	if within(d.Renewed, renewPeriod, now) {
		back += place.Fees.Renew * int64(d.RenewYears)
	}
	if within(d.MovedIn, transferPeriod, now) {
		back += place.Fees.Transfer
	}
	if within(d.AutoRenewed, autoRenewPeriod, now) {
		back += place.Fees.Renew
	}
	return back
}
