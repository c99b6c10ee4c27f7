// Package premium prices names for which a registry charges its own fee.
//
// # Policy
//
// A name is premium if its registry has a special fee for the operation, or may have one and does
// not state it. The fee is queried by EPP (RFC 8748) for the whole term whenever the price is
// needed, and never guessed: a premium name is never sold at the list price.
//
//	fee of the registry  premium.sell  rate to euros  register, transfer, renew, restore
//	not stated           -             unneeded       refused: name_premium
//	stated               off           unneeded       refused: name_premium
//	stated               on            unknown        refused: name_premium; its price is null
//	stated               on            known          sold at the price below
//
// A registry does not state the fee if it reports none for the name, or if it does not offer
// fee-1.0 and the extension is not known to have one price for all names. A refused automatic
// renewal fails with a mail to the customer.
//
// # Price
//
// The price of a year is the fee of a year in euros, and the margin in percent of it, rounded up to
// the cent, plus the margin in euros. That of a term is its multiple, so what a search shows per year
// adds up to what an order costs. A transfer and a restore count as one year if they add none.
//
// # Agreement
//
// The order stores the fee with the price, and the command sends it to the registry. If the fee has
// risen since, the registry refuses the command and charges nothing; the item fails with
// registry_fee_raised, and its customer gets a refund.
package premium

import (
	"math/big"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
)

// maxNet is above every price of a domain, and below what a payment page takes. A fee beyond it is
// taken for a mistake of the registry.
const maxNet = registrar.Cents(500_000_00)

// Pricing converts fees of registries to prices. A nil *Pricing sells no premium name.
type Pricing struct {
	MarginPercent int
	MarginPerYear registrar.Cents
	Rates         *cost.Rates
	Now           func() time.Time // the business time
}

// Net returns the price of a term whose fee is known, and false if it can't be sold.
func (p *Pricing) Net(fee registrar.Money, years int) (registrar.Cents, bool) {
	if p == nil || fee.IsZero() || fee.Amount < 0 {
		return 0, false
	}
	rate, known := p.Rates.PerEuro(fee.Currency, p.Now())
	if !known {
		return 0, false
	}
	// The amount has four decimals, the rate six, the margin two; the result is the cents of a year.
	years = max(1, years)
	numerator := new(big.Int).Mul(big.NewInt(int64(fee.Amount)), big.NewInt(10_000*int64(100+p.MarginPercent)))
	denominator := new(big.Int).Mul(big.NewInt(rate), big.NewInt(100*int64(years)))
	numerator.Add(numerator, denominator).Sub(numerator, big.NewInt(1)) // rounds up: never below the fee
	perYear := numerator.Quo(numerator, denominator)
	if !perYear.IsInt64() || perYear.Int64() > int64(maxNet) {
		return 0, false
	}
	net := registrar.Cents(years) * (registrar.Cents(perYear.Int64()) + p.MarginPerYear)
	return net, net <= maxNet
}
