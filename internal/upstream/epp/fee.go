package epp

import (
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

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
	amount  registrar.Amount // fees less credits
	// known is false where the registry reports no fee or an inexact amount.
	known bool
	// standard means that the registry marks this as its usual price.
	standard bool
}

// Price returns the price of one command; false if unknown.
func (f *Fee) Price(command string) (registrar.Amount, bool) {
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
func sumFees(n *Node) (total registrar.Amount, known bool) {
	for _, child := range n.Children {
		if child.Space != nsFee || child.Local != "fee" && child.Local != "credit" {
			continue
		}
		amount, err := registrar.ParseAmount(child.Text)
		if err != nil {
			return 0, false
		}
		total += amount
		known = known || child.Local == "fee"
	}
	return total, known
}

// chargedFee returns what a response says that the command cost: the element of the fee
// extension named after the command. It is zero if the registry reports none, and negative if
// it refunds. Older versions of the extension are not announced at login, so none arrives.
func (a *response) chargedFee(element string) registrar.Money {
	data := a.extension.Child(nsFee, element)
	if data == nil {
		return registrar.Money{}
	}
	var total registrar.Amount
	known := false
	for _, child := range data.Children {
		if child.Space != nsFee || child.Local != "fee" && child.Local != "credit" {
			continue
		}
		amount, err := registrar.ParseAmount(child.Text)
		if err != nil {
			return registrar.Money{}
		}
		total += amount
		known = true
	}
	currency := data.value(nsFee, "currency")
	if !known || !registrar.ValidCurrency(currency) {
		return registrar.Money{}
	}
	return registrar.Money{Amount: total, Currency: currency}
}
