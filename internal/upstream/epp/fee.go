package epp

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Amount is an exact amount in ten-thousandths of a currency unit: registry fees
// have two decimals, rarely three or four.
type Amount int64

const (
	perUnit       = 10_000
	amountDigits  = 4
	maxUnits      = 100_000_000_000
	shownDecimals = 2
)

var errInexactAmount = errors.New("epp: not an exact amount")

// ParseAmount parses an XML Schema decimal.
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
	if err != nil || whole > maxUnits {
		return 0, errInexactAmount
	}
	part, err := strconv.ParseUint(decimals+strings.Repeat("0", amountDigits-len(decimals)), 10, 63)
	if err != nil {
		return 0, errInexactAmount
	}
	value := Amount(whole*perUnit + part)
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
	decimals := strconv.FormatInt(int64(a%perUnit)+perUnit, 10)[1:]
	for len(decimals) > shownDecimals && decimals[len(decimals)-1] == '0' {
		decimals = decimals[:len(decimals)-1]
	}
	return sign + strconv.FormatInt(int64(a/perUnit), 10) + "." + decimals
}

// FeeCommand is a command whose fee a check requests (RFC 8748, 5.1.1).
type FeeCommand struct {
	// Name is create, renew or transfer.
	Name string
	// Years is 0 for commands without a period.
	Years int
}

// Fee is what the registry charges for a name.
type Fee struct {
	Currency string
	// Class is the registry's fee class, such as "premium"; empty or "standard" for
	// ordinary names.
	Class string
	// Unknown means that the registry can't report the fees of this name.
	Unknown bool
	prices  []price
}

type price struct {
	command string
	amount  Amount // fees less credits
	// known is false where the registry reports no fee or an inexact amount.
	known bool
	// standard means that the registry marks this as its usual price.
	standard bool
}

// Price returns the price of one command; false if unknown.
func (f *Fee) Price(command string) (Amount, bool) {
	for _, price := range f.prices {
		if price.command == command && price.known {
			return price.amount, true
		}
	}
	return 0, false
}

// standardFeeClasses are the fee classes that mean "no special price".
var standardFeeClasses = map[string]bool{"": true, "standard": true, "default": true, "regular": true, "normal": true}

// Premium reports whether the registry has a special price for a command or reports
// none: a name of unknown price must not be sold at the list price. A nil Fee comes
// from a registry without fees.
func (f *Fee) Premium(command string) bool {
	if f == nil {
		return false
	}
	if _, known := f.Price(command); f.Unknown || !known {
		return true
	}
	return !standardFeeClasses[strings.ToLower(f.Class)] &&
		!slices.ContainsFunc(f.prices, func(p price) bool { return p.command == command && p.standard })
}

func (c FeeCommand) write(w *Writer) {
	w.Start("fee:check", Attr{"xmlns:fee", nsFee})
	if c.Years == 0 {
		w.Empty("fee:command", Attr{"name", c.Name})
	} else {
		w.Start("fee:command", Attr{"name", c.Name})
		w.years("fee:period", c.Years)
		w.End("fee:command")
	}
	w.End("fee:check")
}

// readFees reads the fees of a check, keyed by name in lower case.
func readFees(extension *Node) map[string]*Fee {
	data := extension.Child(nsFee, "chkData")
	if data == nil {
		return nil
	}
	currency := data.value(nsFee, "currency")
	fees := make(map[string]*Fee, len(data.Children))
	for _, cd := range data.All(nsFee, "cd") {
		fee := &Fee{Currency: currency, Class: cd.value(nsFee, "class"), Unknown: !parseBool(cd.Attr("avail"), true)}
		for _, command := range cd.All(nsFee, "command") {
			amount, known := sumFees(command)
			fee.prices = append(fee.prices, price{command.Attr("name"), amount, known, parseBool(command.Attr("standard"), false)})
		}
		fees[strings.ToLower(cd.value(nsFee, "objID"))] = fee
	}
	return fees
}

// sumFees adds up the fees and credits below n. Credits are negative (RFC 8748, 3.4).
func sumFees(n *Node) (total Amount, known bool) {
	for _, child := range n.Children {
		if child.Space != nsFee || child.Local != "fee" && child.Local != "credit" {
			continue
		}
		amount, err := ParseAmount(child.Text)
		if err != nil {
			return 0, false
		}
		total += amount
		known = known || child.Local == "fee"
	}
	return total, known
}
