package cost

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Operation is what a registry charges for. The values are those of provision.Kind, and Delete.
type Operation string

// The operations. They are stored.
const (
	Register Operation = "register"
	Transfer Operation = "transfer"
	Renew    Operation = "renew"
	Restore  Operation = "restore"
	Delete   Operation = "delete"
)

// Operations returns the operations that customers pay.
func Operations() []Operation { return []Operation{Register, Renew, Transfer, Restore} }

// Source is where an amount comes from. The values are stored.
type Source string

// The sources.
const (
	FromRegistry  Source = "registry"
	FromCatalogue Source = "catalogue"
	// FromRegistration is the negative charge of the registration.
	FromRegistration Source = "registration"
	Unknown          Source = "unknown"
)

// Euro is the currency of all prices.
const Euro = "EUR"

// Charge is what a registry charges for one operation.
type Charge struct {
	ID      string // the provision item's, or that of the command to delete the domain
	Domain  string // the id of the domain
	Account string // the registry account
	TLD     string
	Operation
	Years  int
	Amount registrar.Money // zero if unknown
	Source Source
	// Euros is the amount in euros, if EurosKnown.
	Euros      registrar.Cents
	EurosKnown bool
	Revenue    registrar.Cents // the net price of the order item; set by the store
	At         time.Time
}

// Of returns the list's cost of an operation for a whole term; zero if it is unknown.
func Of(costs registrar.Costs, operation Operation, years int) registrar.Money {
	switch operation {
	case Register:
		return times(costs.Register, years)
	case Renew:
		return times(costs.Renew, years)
	case Transfer:
		return costs.Transfer
	case Restore:
		added := times(costs.Renew, years)
		if years == 0 {
			added = registrar.Money{Currency: costs.Restore.Currency}
		}
		if costs.Restore.IsZero() || added.Currency != costs.Restore.Currency {
			return registrar.Money{}
		}
		added.Amount += costs.Restore.Amount
		return added
	default:
		return registrar.Money{}
	}
}

func times(perYear registrar.Money, years int) registrar.Money {
	perYear.Amount *= registrar.Amount(years)
	return perYear
}

// Prices prices operations by the price list and the exchange rates. A nil *Prices knows
// amounts that a registry reports in euros.
type Prices struct {
	Extension func(tld string) (registrar.Extension, bool)
	Rates     *Rates
}

// Charge prices an operation. fee is what the registry reported; zero if nothing.
func (p *Prices) Charge(operation Operation, tld string, years int, fee registrar.Money, at time.Time) Charge {
	charge := Charge{Operation: operation, TLD: tld, Years: years, Amount: fee, Source: FromRegistry, At: at}
	if fee.IsZero() {
		charge.Amount, charge.Source = p.listed(operation, tld, years), FromCatalogue
	}
	if charge.Amount.IsZero() {
		charge.Source = Unknown
		return charge
	}
	charge.Euros, charge.EurosKnown = p.rates().Euros(charge.Amount, at)
	return charge
}

func (p *Prices) listed(operation Operation, tld string, years int) registrar.Money {
	if p == nil || p.Extension == nil {
		return registrar.Money{}
	}
	extension, _ := p.Extension(tld)
	return Of(extension.Costs, operation, years)
}

func (p *Prices) rates() *Rates {
	if p == nil {
		return nil
	}
	return p.Rates
}

// BelowCost reports whether a price is less than what the registry charges, and by how much. It
// is false if the cost is unknown or the list allows the price.
func (p *Prices) BelowCost(extension registrar.Extension, operation Operation, years int, net registrar.Cents, at time.Time) (registrar.Cents, bool) {
	if extension.BelowCost {
		return 0, false
	}
	euros, known := p.rates().Euros(Of(extension.Costs, operation, years), at)
	return euros - net, known && net < euros
}
