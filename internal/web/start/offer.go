package start

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
)

// longRun is over how many years the total is shown.
const longRun = 5

// price is one sum as it is shown.
type price struct{ Gross, Net registrar.Cents }

// offer is what a name costs.
type offer struct {
	// First is the first term, of Years years; Later is each further year.
	First, Later, Transfer price
	Years                  int
	// LongRun is what the name costs for at least five years, in whole terms.
	LongRun price
	// LongRunYears is how many years that covers: six where a term is two years.
	LongRunYears int
	// Dearer says that a further year costs more than one of the first term.
	Dearer bool
}

// offerOf is what an extension's prices come to, with VAT.
func (h *Handler) offerOf(ext registrar.Extension, at time.Time) offer {
	term := ext.Term()
	renewals := (longRun - term + term - 1) / term
	first := ext.Register * registrar.Cents(term)
	rate := h.RateBasisPoints(at)
	return offer{
		Years:        term,
		First:        withVAT(first, rate),
		Later:        withVAT(ext.Renew, rate),
		Transfer:     withVAT(ext.Transfer, rate),
		LongRunYears: term * (1 + renewals),
		LongRun:      withVAT(first+ext.Renew*registrar.Cents(renewals*term), rate),
		Dearer:       ext.Renew > ext.Register,
	}
}

// withVAT rounds as invoices do.
func withVAT(net registrar.Cents, rateBasisPoints int) price {
	shares, err := billing.Share([]registrar.Cents{net}, rateBasisPoints)
	if err != nil { // no price list has such a price
		return price{Gross: net, Net: net}
	}
	return price{Gross: net + shares[0], Net: net}
}
