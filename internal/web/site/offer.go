package site

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
)

// minTotalYears is over how many years the total is shown.
const minTotalYears = 5

// price is one sum as it is shown.
type price struct{ Gross, Net registrar.Cents }

// offer is what a name costs.
type offer struct {
	// First is the first term, of Years years; Later is each further year.
	First, Renewal, Transfer price
	Years                    int
	// Total is what the name costs for at least five years, in whole terms.
	Total price
	// TotalYears is how many years that covers: six where a term is two years.
	TotalYears int
	// RenewalCostsMore says that a further year costs more than one of the first term.
	RenewalCostsMore bool
}

// offerFor is what an extension's prices come to, with VAT.
func (h *Handler) offerFor(ext registrar.Extension, at time.Time) offer {
	term := ext.Term()
	renewals := (minTotalYears - term + term - 1) / term
	first := ext.Register * registrar.Cents(term)
	rate := h.RateBasisPoints(at)
	return offer{
		Years:            term,
		First:            withVAT(first, rate),
		Renewal:          withVAT(ext.Renew, rate),
		Transfer:         withVAT(ext.Transfer, rate),
		TotalYears:       term * (1 + renewals),
		Total:            withVAT(first+ext.Renew*registrar.Cents(renewals*term), rate),
		RenewalCostsMore: ext.Renew > ext.Register,
	}
}

// withVAT rounds as invoices do.
func withVAT(net registrar.Cents, rateBasisPoints int) price {
	shares, err := billing.SplitVAT([]registrar.Cents{net}, rateBasisPoints)
	if err != nil { // no price list has such a price
		return price{Gross: net, Net: net}
	}
	return price{Gross: net + shares[0], Net: net}
}
