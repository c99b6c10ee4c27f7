package epp

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// FeeCommand is a command whose fee a check requests (RFC 8748, 5.1.1).
type FeeCommand struct {
	// Name is create, renew or transfer.
	Name string
	// Years is 0 for commands without a period.
	Years int
	// Further also requests the fees of a year's renewal, a transfer and a restore.
	Further bool
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
	period  string           // as reported, such as "2y"; empty if there is none
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
// none: a name of unknown price must not be sold at the list price. A nil Fee means that
// all names have the same price.
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

// premiumFee returns the fee of a command that has no usual price: for the whole term, and zero
// if the price is the usual one. An unknown fee is refused, and so is one for another term.
func (f *Fee) premiumFee(command FeeCommand) (registrar.Money, error) {
	if !f.Premium(command.Name) {
		return registrar.Money{}, nil
	}
	fee, known := f.money(command)
	if !known {
		return registrar.Money{}, conflictError(registrar.NamePremium, nil)
	}
	return fee, nil
}

// money returns the fee of a command; false if it is unknown.
func (f *Fee) money(command FeeCommand) (registrar.Money, bool) {
	if f == nil || f.Unknown || !registrar.ValidCurrency(f.Currency) {
		return registrar.Money{}, false
	}
	for _, price := range f.prices {
		if price.command == command.Name && price.known {
			other := command.Years > 0 && price.period != "" && price.period != strconv.Itoa(command.Years)+"y"
			return registrar.Money{Amount: price.amount, Currency: f.Currency}, !other
		}
	}
	return registrar.Money{}, false
}

// uniformlyPriced are the TLDs whose registries have one price for all names: .com and .net by
// their contracts with ICANN, the others as far as we know. At any other registry a name may be
// premium, so its fee has to be known.
var uniformlyPriced = map[string]bool{
	".com": true, ".net": true,
	".de": true, ".eu": true, ".at": true, ".co.at": true, ".or.at": true, ".ch": true, ".li": true, ".be": true, ".nl": true, ".fr": true, ".it": true,
	".se": true, ".nu": true, ".uk": true, ".co.uk": true, ".org.uk": true, ".me.uk": true, ".dk": true, ".pl": true, ".cz": true, ".fi": true,
}

func (c FeeCommand) write(w *Writer) {
	w.Start("fee:check", Attr{"xmlns:fee", nsFee})
	c.writeCommand(w)
	if c.Further {
		FeeCommand{Name: "renew", Years: 1}.writeCommand(w)
		FeeCommand{Name: "transfer"}.writeCommand(w)
		FeeCommand{Name: "restore"}.writeCommand(w)
	}
	w.End("fee:check")
}

func (c FeeCommand) writeCommand(w *Writer) {
	if c.Years == 0 {
		w.Empty("fee:command", Attr{"name", c.Name})
		return
	}
	w.Start("fee:command", Attr{"name", c.Name})
	w.years("fee:period", c.Years)
	w.End("fee:command")
}

// agreeTo adds the fee to a command that we agree to pay for it (RFC 8748, 5.2), so that the
// registry refuses the command if it charges more. A zero fee adds nothing.
func (c *call) agreeTo(fee registrar.Money) {
	if fee.IsZero() {
		return
	}
	if c.requiredExtension == "" {
		c.requiredExtension = nsFee
	}
	others := c.writeExtension
	c.writeExtension = func(w *Writer, has services) {
		if others != nil {
			others(w, has)
		}
		if !has[nsFee] {
			w.Fail("fee:fee", "can't be sent: the server does not offer "+nsFee)
		}
		w.Start("fee:"+c.Verb, Attr{"xmlns:fee", nsFee})
		w.Leaf("fee:currency", fee.Currency)
		w.Leaf("fee:fee", fee.Amount.String())
		w.End("fee:" + c.Verb)
	}
}

// mapFeeError maps the refusal of a command whose fee is higher than the one agreed to.
func mapFeeError(err error, agreed registrar.Money) error {
	if !agreed.IsZero() && ResultCode(err) == CodeValueRange {
		return conflictError(provision.FeeRaised, err)
	}
	return mapBillingError(err)
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
			period := ""
			if term := command.Child(nsFee, "period"); term != nil {
				period = term.Text + term.Attr("unit")
			}
			fee.prices = append(fee.prices, price{command.Attr("name"), period, amount, known, parseBool(command.Attr("standard"), false)})
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
