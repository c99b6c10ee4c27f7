package registrar

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
)

// Amount is an exact amount of any currency in ten-thousandths of its unit: registry fees
// have two decimals, rarely three or four.
type Amount int64

const (
	amountPerUnit  = 10_000
	amountPerCent  = amountPerUnit / 100
	amountDigits   = 4
	maxAmountUnits = 100_000_000_000
	shownDecimals  = 2
)

var errInexactAmount = errors.New("not an exact amount")

// ParseAmount parses an XML Schema decimal. It never rounds.
func ParseAmount(text string) (Amount, error) {
	rest, negative := strings.CutPrefix(text, "-")
	if !negative {
		rest = strings.TrimPrefix(rest, "+")
	}
	units, decimals, _ := strings.Cut(rest, ".")
	if units+decimals == "" || strings.Trim(units+decimals, "0123456789") != "" {
		return 0, errInexactAmount
	}
	decimals = strings.TrimRight(decimals, "0")
	if len(decimals) > amountDigits {
		return 0, errInexactAmount
	}
	whole, err := strconv.ParseUint("0"+units, 10, 63)
	if err != nil || whole > maxAmountUnits {
		return 0, errInexactAmount
	}
	part, err := strconv.ParseUint(decimals+strings.Repeat("0", amountDigits-len(decimals)), 10, 63)
	if err != nil {
		return 0, errInexactAmount
	}
	value := Amount(whole*amountPerUnit + part)
	if negative {
		value = -value
	}
	return value, nil
}

// String formats the amount with two decimals, or with as many as it needs.
func (a Amount) String() string {
	sign := ""
	if a < 0 {
		sign, a = "-", -a
	}
	decimals := strconv.FormatInt(int64(a%amountPerUnit)+amountPerUnit, 10)[1:]
	for len(decimals) > shownDecimals && decimals[len(decimals)-1] == '0' {
		decimals = decimals[:len(decimals)-1]
	}
	return sign + strconv.FormatInt(int64(a/amountPerUnit), 10) + "." + decimals
}

// AmountOf converts euro cents.
func AmountOf(cents Cents) Amount { return Amount(cents) * amountPerCent }

// Money is an amount with its currency; the zero value is no amount.
type Money struct {
	Amount   Amount
	Currency string // ISO 4217
}

// IsZero reports whether there is no amount, as opposed to one of 0.
func (m Money) IsZero() bool { return m == Money{} }

// String is the form that ParseMoney reads; empty for no amount.
func (m Money) String() string {
	if m.IsZero() {
		return ""
	}
	return m.Amount.String() + " " + m.Currency
}

// ParseMoney parses an amount, a space and a currency; empty text is no amount.
func ParseMoney(text string) (Money, error) {
	if text == "" {
		return Money{}, nil
	}
	digits, currency, _ := strings.Cut(text, " ")
	amount, err := ParseAmount(digits)
	if err != nil || !ValidCurrency(currency) {
		return Money{}, errInexactAmount
	}
	return Money{amount, currency}, nil
}

// ValidCurrency reports whether a code has the form of ISO 4217.
func ValidCurrency(code string) bool {
	return len(code) == 3 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// Costs is what the registry of an extension charges, as the price list has it: per year, and
// once for a transfer and a restore. A zero Money is unknown.
type Costs struct {
	Register, Renew, Transfer, Restore Money
}

// Currency is the currency of all known costs; empty if none is known.
func (c Costs) Currency() string {
	return cmp.Or(c.Register.Currency, c.Renew.Currency, c.Transfer.Currency, c.Restore.Currency)
}
