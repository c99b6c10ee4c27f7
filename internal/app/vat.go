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
	"github.com/dotkontor/dotkontor/internal/upstream/vies"
)

// openVAT returns VAT assessment and the monitor that warns before the One-Stop-Shop becomes mandatory.
func (p *App) openVAT() (*billing.Assessor, *billing.ThresholdMonitor, error) {
	rates, err := billing.EmbeddedRates()
	if err != nil {
		return nil, nil, err
	}
	p.vies, err = vies.New(vies.Options{
		Address: p.cfg.VAT.VIESURL, UserAgent: "dotkontor/" + Version, Cache: p.services.DB, Now: p.now,
		Logger: p.logger, Observe: p.lookups.observeHost,
	})
	if err != nil {
		return nil, nil, err
	}
	p.closers = append(p.closers, p.vies.Close)
	sales := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "dotkontor_eu_consumer_sales_euros",
		Help: "Net sales to consumers in other EU countries in this calendar year; above 10000, VAT is due in the consumers' countries (One-Stop-Shop).",
	})
	p.metrics.MustRegister(sales)
	monitor := newThresholdMonitor(p.cfg.VAT, p.services.DB, rates, p.now, p.logger)
	monitor.OnSales = func(sum registrar.Cents) { sales.Set(float64(sum) / 100) }
	taxes := billing.New(billing.Config{Rates: rates, Validator: p.vies, OSS: p.cfg.VAT.OSS, Logger: p.logger})
	return taxes, monitor, nil
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
