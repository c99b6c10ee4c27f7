package site

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// minTotalYears is the minimum period of the total.
const minTotalYears = 5

type price struct{ Gross, Net registrar.Cents }

// VAT is the tax in the price.
func (p price) VAT() registrar.Cents { return p.Gross - p.Net }

type offer struct {
	// First is the first term, of Years years, and Later each following one; Renewal is a
	// single year of it.
	First, Later, Renewal, Transfer price
	Years                           int
	// A late renewal costs the same as any other, for LateDays days after the end of a term;
	// LateKey says what applies. Restore is the price of restoring a deleted name, without the
	// renewal that it may include; RedemptionDays is how long that is possible, 0 if it is not
	// offered here.
	LateKey          string
	LateDays         int
	Restore          price
	RedemptionDays   int
	Total            price // what at least five years cost in as few orders as possible
	TotalYears       int   // the period of the total: six if the registry sells two years at a time and no more
	RenewalCostsMore bool  // a renewal year costs more than one of the first term
}

// offerFor calculates the prices of an extension with VAT.
func (h *Handler) offerFor(ext registrar.Extension, at time.Time) offer {
	term := ext.Term()
	rate := h.RateBasisPoints(at)
	policy := lifecycle.PolicyOf(ext.TLD)
	one := offer{
		Years:            term,
		First:            withVAT(order.NetPrice(ext, order.Register, term), rate),
		Later:            withVAT(order.NetPrice(ext, order.Renew, term), rate),
		Renewal:          withVAT(ext.Renew, rate),
		Transfer:         withVAT(ext.Transfer, rate),
		RenewalCostsMore: ext.Renew > ext.Register,
		LateDays:         policy.RenewableDays,
		LateKey:          "price.late",
		Restore:          withVAT(ext.Restore, rate),
		RedemptionDays:   lifecycle.DaysToRestore(ext.TLD, ext.Restore, ext.Renew),
	}
	one.Total, one.TotalYears = h.total(ext, rate)
	switch {
	case policy.RenewableDays > 0:
	case policy.AtExpiry == lifecycle.RegistryExpires, policy.Unpaid == lifecycle.UnpaidDelete && policy.DeleteAfter == 0:
		one.LateKey = "price.late_never"
	default:
		one.LateKey = "price.late_open"
	}
	return one
}

// total is what five years of an extension cost, or the few more that its shortest term adds to
// them, ordered for as many years at a time as its registry allows, like in the basket: VAT is
// rounded once per order, so the sum of the gross prices of the terms can differ.
func (h *Handler) total(ext registrar.Extension, rate int) (sum price, years int) {
	longest := max(ext.Term(), h.LongestTerm(ext))
	orders := (minTotalYears + longest - 1) / longest
	years = max(minTotalYears, orders*ext.Term())
	left := years
	for kind := order.Register; left > 0; kind = order.Renew {
		orders--
		atOnce := min(longest, left-orders*ext.Term())
		one := withVAT(order.NetPrice(ext, kind, atOnce), rate)
		sum.Gross, sum.Net = sum.Gross+one.Gross, sum.Net+one.Net
		left -= atOnce
	}
	return sum, years
}

func withVAT(net registrar.Cents, rate int) price {
	return price{Gross: billing.Gross(net, rate), Net: net}
}
