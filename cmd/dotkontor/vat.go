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
	"github.com/dotkontor/dotkontor/internal/upstream/hostlimit"
	"github.com/dotkontor/dotkontor/internal/upstream/vies"
)

// VAT is what charges VAT, and what warns before the One-Stop-Shop becomes a duty.
type VAT struct {
	taxes orderTaxes
	Watch *billing.ThresholdMonitor
	VIES  *vies.Client
}

type VATParts struct {
	Config config.VAT
	DB     *store.DB
	Now    func() time.Time // the time of the business
	Logger *slog.Logger
	// metrics may be nil: then nobody counts. observeHost is told what happens at
	// the member states; it may be nil.
	metrics     *prometheus.Registry
	observeHost func(host string, event hostlimit.Event)
}

// NewVAT wires the VAT. Whoever runs it, runs watch.Run beside the requests and
// closes vies at the end.
func NewVAT(parts VATParts) (*VAT, error) {
	rates, err := billing.EmbeddedRates()
	if err != nil {
		return nil, err
	}
	register, err := vies.New(vies.Options{
		Address: parts.Config.VIESURL, UserAgent: "dotkontor/" + Version, Cache: parts.DB, Now: parts.Now,
		Logger: parts.Logger, Observe: parts.observeHost,
	})
	if err != nil {
		return nil, err
	}
	v := &VAT{
		taxes: orderTaxes{billing.New(billing.Config{Rates: rates, Validator: register, OSS: parts.Config.OSS, Logger: parts.Logger})},
		Watch: &billing.ThresholdMonitor{
			Sales: parts.DB, Rates: rates, OSS: parts.Config.OSS, WarnAt: registrar.Cents(parts.Config.WarnAtEUR) * 100,
			Now: parts.Now, Logger: parts.Logger,
		},
		VIES: register,
	}
	if parts.metrics == nil {
		return v, nil
	}
	sold := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "dotkontor_eu_consumer_sales_euros",
		Help: "Net sales to consumers in other EU countries in this calendar year; at 10000 the One-Stop-Shop becomes a duty.",
	})
	v.Watch.OnSales = func(sum registrar.Cents) { sold.Set(float64(sum) / 100) }
	return v, parts.metrics.Register(sold)
}

// orderTaxes lets orders ask what VAT they bear.
type orderTaxes struct{ assessor *billing.Assessor }

var _ order.Taxes = orderTaxes{}

// Assess is the VAT of the net sums.
func (t orderTaxes) Assess(ctx context.Context, buyer order.Buyer, nets []registrar.Cents, at time.Time) (order.Assessment, error) {
	party := billing.Party{}
	if buyer.HasRegistrant {
		party = billing.Party{Country: buyer.Country, PostalCode: buyer.PostalCode, VATID: buyer.VATID}
	}
	got, err := t.assessor.Assess(ctx, party, nets, at)
	return order.Assessment{
		RateBasisPoints: got.RateBasisPoints, Rule: string(got.Rule), Country: got.Country, VATID: got.VATID,
		Unchecked: got.Unchecked, VAT: got.VAT,
	}, err
}
