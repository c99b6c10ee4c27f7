package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/manners"
	"github.com/dotkontor/dotkontor/internal/upstream/vies"
)

// vat is what charges VAT, and what warns before the One-Stop-Shop becomes a duty.
type vat struct {
	taxes orderTaxes
	watch *billing.Watch
	vies  *vies.Client
}

type vatParts struct {
	cfg    config.VAT
	db     *store.DB
	now    func() time.Time // the time of the business
	logger *slog.Logger
	// metrics may be nil: then nobody counts. observeHost is told what happens at
	// the member states; it may be nil.
	metrics     *prometheus.Registry
	observeHost func(host string, event manners.Event)
}

// newVAT wires the VAT. Whoever runs it, runs watch.Run beside the requests and
// closes vies at the end.
func newVAT(parts vatParts) (*vat, error) {
	rates, err := billing.ShippedRates()
	if err != nil {
		return nil, err
	}
	register, err := vies.New(vies.Options{
		Address: parts.cfg.VIESURL, UserAgent: "dotkontor/" + version, Memory: parts.db, Now: parts.now,
		Logger: parts.logger, Observe: parts.observeHost,
	})
	if err != nil {
		return nil, err
	}
	v := &vat{
		taxes: orderTaxes{billing.New(billing.Config{Rates: rates, Register: register, OSS: parts.cfg.OSS, Logger: parts.logger})},
		watch: &billing.Watch{
			Sales: parts.db, Rates: rates, OSS: parts.cfg.OSS, WarnAt: registrar.Cents(parts.cfg.WarnAtEUR) * 100,
			Now: parts.now, Logger: parts.logger,
		},
		vies: register,
	}
	if parts.metrics == nil {
		return v, nil
	}
	sold := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "dotkontor_eu_consumer_sales_euros",
		Help: "Net sales to consumers in other EU countries in this calendar year; at 10000 the One-Stop-Shop becomes a duty.",
	})
	v.watch.Counted = func(sum registrar.Cents) { sold.Set(float64(sum) / 100) }
	return v, parts.metrics.Register(sold)
}

// orderTaxes lets orders ask what VAT they bear.
type orderTaxes struct{ assessor *billing.Assessor }

var _ order.Taxes = orderTaxes{}

// Assess is the VAT of the net sums.
func (t orderTaxes) Assess(ctx context.Context, buyer order.Buyer, nets []registrar.Cents, at time.Time) (order.Assessment, error) {
	party := billing.Party{}
	if buyer.Told {
		party = billing.Party{Country: buyer.Country, PostalCode: buyer.PostalCode, VATID: buyer.VATID}
	}
	got, err := t.assessor.Assess(ctx, party, nets, at)
	return order.Assessment{
		RateBasisPoints: got.RateBasisPoints, Rule: string(got.Rule), Country: got.Country, VATID: got.VATID,
		Unchecked: got.Unchecked, VAT: got.VAT,
	}, err
}
