package inbox

import (
	"math/big"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Types of thresholds.
const (
	FixedThreshold   = "FIXED"
	PercentThreshold = "PERCENT" // of the limit
)

// QueriedBalance returns what a registry reported about an account when it was asked. It is no
// message, so it has no number; it is unread while it is low.
func QueriedBalance(account string, balance *Balance, at, storedAt time.Time) Stored {
	return Stored{
		Account: account, StoredAt: storedAt, Unread: balance.IsLow(),
		Message: Message{Kind: KindBalance, Queued: at, Details: Details{Balance: balance}},
	}
}

// IsLow reports whether less is available than the threshold. Without a threshold, a balance is
// low at zero.
func (b Balance) IsLow() bool {
	available, err := registrar.ParseAmount(b.Available)
	if err != nil {
		return false
	}
	threshold, err := registrar.ParseAmount(b.Threshold)
	if err != nil || threshold == 0 {
		return available <= 0
	}
	if b.ThresholdType != PercentThreshold {
		return available < threshold
	}
	limit, err := registrar.ParseAmount(b.Limit)
	if err != nil {
		return available <= 0
	}
	// available < limit * percent / 100, where an Amount of one percent is 10,000.
	left := new(big.Int).Mul(big.NewInt(int64(available)), big.NewInt(100*10_000))
	right := new(big.Int).Mul(big.NewInt(int64(limit)), big.NewInt(int64(threshold)))
	return left.Cmp(right) < 0
}

// Booking is an entry of an account that an operator recorded: a deposit, or the whole balance as
// the registry states it.
type Booking struct {
	Amount    registrar.Money
	Statement bool
}

// After returns the balance after bookings in its currency, and whether there were any. What was
// charged meanwhile is not known: the registry reports a balance that is low again.
func (b Balance) After(bookings []Booking) (after Balance, booked bool) {
	available, err := registrar.ParseAmount(b.Available)
	if err != nil {
		return b, false
	}
	for _, booking := range bookings {
		switch {
		case b.Currency != "" && booking.Amount.Currency != b.Currency:
			continue
		case booking.Statement:
			available = booking.Amount.Amount
		default:
			available += booking.Amount.Amount
		}
		booked = true
	}
	b.Available = available.String()
	return b, booked
}
