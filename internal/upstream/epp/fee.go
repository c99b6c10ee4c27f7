package epp

import (
	"errors"
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

// FeeQuery requests prices in a check (RFC 8748, 5.1.1).
type FeeQuery struct {
	// Currency is three capital letters; empty means the account's own.
	Currency string
	// Commands are the commands to price; none means create for one year.
	Commands []FeeCommand
}

// FeeCommand is a command and its period.
type FeeCommand struct {
	// Name is create, renew, transfer, restore, delete or update.
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
	// Unknown means that the registry can't report the fees of this name; Reason
	// explains why.
	Unknown bool
	Reason  string
	Prices  []Price
}

// Price is the sum of fees and credits of one command.
type Price struct {
	FeeCommand
	Amount Amount
	// Known is false where the registry reports no fee or an inexact amount.
	Known bool
	// Standard means that the registry marks this as its usual price.
	Standard bool
	Reason   string
}

// Price returns the price of one command; false if unknown.
func (f *Fee) Price(command string) (Price, bool) {
	if f == nil {
		return Price{}, false
	}
	for _, price := range f.Prices {
		if price.Name == command && price.Known {
			return price, true
		}
	}
	return Price{}, false
}

// standardFeeClasses are the fee classes that mean "no special price".
var standardFeeClasses = map[string]bool{"": true, "standard": true, "default": true, "regular": true, "normal": true}

// Premium reports whether the registry has a special price for the name or reports
// none: a name of unknown price must not be sold at the list price.
func (f *Fee) Premium() bool { return f.PremiumFor("create") }

// PremiumFor is Premium for another priced command.
func (f *Fee) PremiumFor(command string) bool {
	if f == nil {
		return false
	}
	if _, known := f.Price(command); f.Unknown || !known {
		return true
	}
	if standardFeeClasses[strings.ToLower(f.Class)] {
		return false
	}
	for _, price := range f.Prices {
		if price.Name == command && price.Standard {
			return false
		}
	}
	return true
}

func (q *FeeQuery) commands() []FeeCommand {
	if len(q.Commands) == 0 {
		return []FeeCommand{{Name: "create", Years: 1}}
	}
	return q.Commands
}

// key identifies equal queries, which share a batch.
func (q *FeeQuery) key() string {
	if q == nil {
		return ""
	}
	key := "fee " + q.Currency
	for _, command := range q.commands() {
		key += " " + command.Name + strconv.Itoa(command.Years)
	}
	return key
}

var feeCommands = map[string]bool{
	"create": true, "delete": true, "renew": true, "update": true, "transfer": true, "restore": true,
}

func (q *FeeQuery) write(w *Writer) {
	w.Start("fee:check", Attr{"xmlns:fee", nsFee})
	writeCurrency(w, q.Currency)
	for _, command := range q.commands() {
		if !feeCommands[command.Name] {
			w.Fail("fee:command", "contains a command without a fee")
		}
		if command.Years == 0 {
			w.Empty("fee:command", Attr{"name", command.Name})
			continue
		}
		w.Start("fee:command", Attr{"name", command.Name})
		w.years("fee:period", command.Years)
		w.End("fee:command")
	}
	w.End("fee:check")
}

func writeCurrency(w *Writer, currency string) {
	if currency == "" {
		return
	}
	if len(currency) != 3 || strings.ToUpper(currency) != currency {
		w.Fail("fee:currency", "must be three capital letters")
	}
	w.Leaf("fee:currency", currency)
}

// AgreedFee is the fee that a command agrees to (RFC 8748, 5.2). Registries create
// premium names only for clients that state the expected fee.
type AgreedFee struct {
	Currency string
	Amount   Amount
}

// write adds the agreed fee to the extension of a command; nil writes nothing.
func (o *AgreedFee) write(w *Writer, verb string) {
	if o == nil {
		return
	}
	if o.Amount < 0 {
		w.Fail("fee:fee", "must not be negative")
	}
	w.Start("fee:"+verb, Attr{"xmlns:fee", nsFee})
	writeCurrency(w, o.Currency)
	w.Leaf("fee:fee", o.Amount.String())
	w.End("fee:" + verb)
}

func (o *AgreedFee) requiredExtensions() []string {
	if o == nil {
		return nil
	}
	return []string{nsFee}
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
		fee := &Fee{
			Currency: currency, Class: cd.value(nsFee, "class"), Reason: cd.value(nsFee, "reason"),
			Unknown: !parseBool(cd.Attr("avail"), true),
		}
		for _, command := range cd.All(nsFee, "command") {
			fee.Prices = append(fee.Prices, readPrice(command))
		}
		fees[strings.ToLower(cd.value(nsFee, "objID"))] = fee
	}
	return fees
}

func readPrice(command *Node) Price {
	price := Price{
		FeeCommand: FeeCommand{Name: command.Attr("name"), Years: readYears(command.Child(nsFee, "period"))},
		Standard:   parseBool(command.Attr("standard"), false), Reason: command.value(nsFee, "reason"),
	}
	price.Amount, price.Known = sumFees(command)
	return price
}

// sumFees adds up the fees and credits below n. Credits are negative (RFC 8748, 3.4).
func sumFees(n *Node) (total Amount, known bool) {
	known = false
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

// ChargedFee is what a command cost, if the registry reports it (RFC 8748, 5.2).
type ChargedFee struct {
	Currency string
	Amount   Amount
	// Balance is the remaining account balance if BalanceKnown.
	Balance      Amount
	BalanceKnown bool
}

// readChargedFee reads the fee of a transform command; nil if the registry reports
// none.
func readChargedFee(extension *Node, element string) *ChargedFee {
	data := extension.Child(nsFee, element)
	if data == nil {
		return nil
	}
	total, known := sumFees(data)
	if !known {
		return nil
	}
	charged := &ChargedFee{Currency: data.value(nsFee, "currency"), Amount: total}
	if balance, err := ParseAmount(data.value(nsFee, "balance")); err == nil {
		charged.Balance, charged.BalanceKnown = balance, true
	}
	return charged
}

func readYears(period *Node) int {
	years, err := strconv.Atoi(period.text())
	if err != nil || period.Attr("unit") == "m" && years%12 != 0 {
		return 0
	}
	if period.Attr("unit") == "m" {
		return years / 12
	}
	return years
}
