package site

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

// minTotalYears is the minimum period of the total.
const minTotalYears = 5

type price struct{ Gross, Net registrar.Cents }

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
	Total            price // what at least five years cost in whole terms, each with an invoice of its own
	TotalYears       int   // the period of the total: six if a term is two years
	RenewalCostsMore bool  // a renewal year costs more than one of the first term
}

// offerFor calculates the prices of an extension with VAT.
func (h *Handler) offerFor(ext registrar.Extension, at time.Time) offer {
	term := ext.Term()
	renewals := (minTotalYears - term + term - 1) / term
	first := ext.Register * registrar.Cents(term)
	rate := h.RateBasisPoints(at)
	policy := lifecycle.PolicyOf(ext.TLD)
	one := offer{
		Years:            term,
		First:            withVAT(first, rate),
		Renewal:          withVAT(ext.Renew, rate),
		Transfer:         withVAT(ext.Transfer, rate),
		TotalYears:       term * (1 + renewals),
		RenewalCostsMore: ext.Renew > ext.Register,
		LateDays:         policy.RenewableDays,
		LateKey:          "price.late",
		Restore:          withVAT(ext.Restore, rate),
	}
	// VAT is rounded once per invoice, so the sum of the grosses is not the gross of the sum.
	later := withVAT(ext.Renew*registrar.Cents(term), rate)
	one.Later = later
	one.Total = price{Gross: one.First.Gross + later.Gross*registrar.Cents(renewals), Net: first + later.Net*registrar.Cents(renewals)}
	switch {
	case policy.RenewableDays > 0:
	case policy.AtExpiry == lifecycle.RegistryExpires, policy.Unpaid == lifecycle.UnpaidDelete && policy.DeleteAfter == 0:
		one.LateKey = "price.late_never"
	default:
		one.LateKey = "price.late_open"
	}
	if ext.Restore > 0 && ext.Renew > 0 {
		one.RedemptionDays = policy.RedemptionDays
	}
	return one
}

func withVAT(net registrar.Cents, rate int) price {
	return price{Gross: billing.Gross(net, rate), Net: net}
}
