package ledger

import "time"

// Currency is the currency of all accounts.
const Currency = "EUR"

// Operation is a billable command (RFC 8748, 3.1).
type Operation uint8

// Billable operations.
const (
	Create Operation = iota
	Renew
	TransferIn
	Restore
	Delete
	Update
)

// FeeSchedule holds the prices of a name in cents: per year, and once for a
// restore.
type FeeSchedule struct {
	// Class is "standard" or a premium class.
	Class    string
	Create   int64
	Renew    int64
	Transfer int64
	Restore  int64
}

// Standard reports whether the prices are those of ordinary names.
func (t FeeSchedule) Standard() bool { return t.Class == StandardClass }

// StandardClass is the class of names that are not premium.
const StandardClass = "standard"

// Cost returns the price of an operation.
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

// AgreedFee is the fee that a client agrees to.
type AgreedFee struct {
	Currency string // empty means the server's currency
	Cents    int64
}

// computeCharge checks the payment for a command: RFC 8748, 5 requires the agreed
// fee for premium names and rejects one that is too low for any name. It debits the
// account; a refusal of the command undoes that.
func (t *tx) computeCharge(place NameEntry, op Operation, years int, offer *AgreedFee) (int64, *Refusal) {
	cost := place.Fees.Cost(op, years)
	switch {
	case offer == nil && !place.Fees.Standard() && cost > 0:
		return 0, refuse(Missing, "fee:fee", "", "A premium name needs the agreement to its fee.")
	case offer != nil && offer.Currency != "" && offer.Currency != Currency:
		return 0, refuse(OutOfRange, "fee:currency", offer.Currency, "Accounts are kept in "+Currency+".")
	case offer != nil && offer.Cents < cost:
		return 0, refuse(OutOfRange, "fee:fee", "", "The fee is higher than the one agreed to.")
	case cost > 0 && (t.l.accounts[t.by.Account].NoFunds || isUnpaidLabel(place.Label)) || !t.covers(t.by.Account, cost):
		return 0, refuse(BillingFailure, "", "", "The account does not cover the fee.")
	}
	t.book(t.by.Account, -cost)
	return cost, nil
}

// deleteCredit is the refund of a delete.
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
