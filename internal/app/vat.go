package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/hostlimit"
	"github.com/dotkontor/dotkontor/internal/upstream/vies"
)

// vat assesses VAT and warns before the One-Stop-Shop becomes mandatory.
type vat struct {
	taxes   *billing.Assessor
	monitor *billing.ThresholdMonitor
	vies    *vies.Client
}

type vatParts struct {
	cfg         config.VAT
	db          *store.DB
	now         func() time.Time // business time
	logger      *slog.Logger
	metrics     *prometheus.Registry
	observeHost func(host string, event hostlimit.Event) // optional
}

// newVAT wires VAT assessment. The caller runs monitor.Run in the background and
// closes vies at the end.
func newVAT(parts vatParts) (*vat, error) {
	rates, err := billing.EmbeddedRates()
	if err != nil {
		return nil, err
	}
	validator, err := vies.New(vies.Options{
		Address: parts.cfg.VIESURL, UserAgent: "dotkontor/" + Version, Cache: parts.db, Now: parts.now,
		Logger: parts.logger, Observe: parts.observeHost,
	})
	if err != nil {
		return nil, err
	}
	v := &vat{
		taxes:   billing.New(billing.Config{Rates: rates, Validator: validator, OSS: parts.cfg.OSS, Logger: parts.logger}),
		monitor: newThresholdMonitor(parts.cfg, parts.db, rates, parts.now, parts.logger),
		vies:    validator,
	}
	sales := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "dotkontor_eu_consumer_sales_euros",
		Help: "Net sales to consumers in other EU countries in this calendar year; above 10000, VAT is due in the consumers' countries (One-Stop-Shop).",
	})
	v.monitor.OnSales = func(sum registrar.Cents) { sales.Set(float64(sum) / 100) }
	return v, parts.metrics.Register(sales)
}

func newThresholdMonitor(cfg config.VAT, db *store.DB, rates *billing.Rates, now func() time.Time, logger *slog.Logger) *billing.ThresholdMonitor {
	return &billing.ThresholdMonitor{
		Sales: db, Rates: rates, OSS: cfg.OSS, WarnAt: registrar.Cents(cfg.WarnAtEUR) * 100, Now: now, Logger: logger,
	}
}

// EUConsumerSales returns this year's net sales to consumers in other EU countries,
// and whether they are near the One-Stop-Shop threshold.
func EUConsumerSales(ctx context.Context, cfg config.VAT, db *store.DB) (sales registrar.Cents, near bool, err error) {
	rates, err := billing.EmbeddedRates()
	if err != nil {
		return 0, false, err
	}
	return newThresholdMonitor(cfg, db, rates, time.Now, slog.New(slog.DiscardHandler)).SalesThisYear(ctx)
}
