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
	Total            price // what at least five years cost in whole terms and as few orders as possible
	TotalYears       int   // the period of the total: six if a term is two years
	RenewalCostsMore bool  // a renewal year costs more than one of the first term
}

// offerFor calculates the prices of an extension with VAT.
func (h *Handler) offerFor(ext registrar.Extension, at time.Time) offer {
	term := ext.Term()
	renewals := (minTotalYears - term + term - 1) / term
	years := term * (1 + renewals)
	rate := h.RateBasisPoints(at)
	policy := lifecycle.PolicyOf(ext.TLD)
	one := offer{
		Years:            term,
		First:            withVAT(order.NetPrice(ext, order.Register, term), rate),
		Later:            withVAT(order.NetPrice(ext, order.Renew, term), rate),
		Renewal:          withVAT(ext.Renew, rate),
		Transfer:         withVAT(ext.Transfer, rate),
		Total:            h.total(ext, years, rate),
		TotalYears:       years,
		RenewalCostsMore: ext.Renew > ext.Register,
		LateDays:         policy.RenewableDays,
		LateKey:          "price.late",
		Restore:          withVAT(ext.Restore, rate),
		RedemptionDays:   lifecycle.DaysToRestore(ext.TLD, ext.Restore, ext.Renew),
	}
	switch {
	case policy.RenewableDays > 0:
	case policy.AtExpiry == lifecycle.RegistryExpires, policy.Unpaid == lifecycle.UnpaidDelete && policy.DeleteAfter == 0:
		one.LateKey = "price.late_never"
	default:
		one.LateKey = "price.late_open"
	}
	return one
}

// total is what whole terms of an extension cost, ordered for as many years at a time as its
// registry allows: VAT is rounded once per order, so the sum of the gross prices of the terms
// can differ.
func (h *Handler) total(ext registrar.Extension, years, rate int) (sum price) {
	atOnce := max(1, h.LongestTerm(ext)/ext.Term()) * ext.Term()
	for kind := order.Register; years > 0; kind = order.Renew {
		one := withVAT(order.NetPrice(ext, kind, min(atOnce, years)), rate)
		sum.Gross, sum.Net = sum.Gross+one.Gross, sum.Net+one.Net
		years -= atOnce
	}
	return sum
}

func withVAT(net registrar.Cents, rate int) price {
	return price{Gross: billing.Gross(net, rate), Net: net}
}
