package billing

import (
	"context"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Threshold is the maximum of yearly sales to EU consumers before their countries' VAT
// applies instead of Germany's (§ 3a (5) UStG).
const Threshold registrar.Cents = 10_000_00

// thresholdCheckInterval is how often a ThresholdMonitor sums the sales.
const thresholdCheckInterval = time.Hour

// Sales reads sales totals.
type Sales interface {
	// SalesSince returns the net total of orders paid since then under a rule.
	SalesSince(ctx context.Context, rule string, since time.Time) (registrar.Cents, error)
}

// ThresholdMonitor sums the year's sales to EU consumers and warns near the threshold.
type ThresholdMonitor struct {
	Sales Sales
	Rates *Rates
	// OSS means that we use the One-Stop-Shop and no warning is needed. WarnAt is the
	// total from which on to warn; 0 never warns.
	OSS     bool
	WarnAt  registrar.Cents
	Now     func() time.Time
	Logger  *slog.Logger
	OnSales func(registrar.Cents) // receives every total, for metrics; it may be nil
}

// SalesThisYear returns the sales to EU consumers since the year began in Germany, and
// whether they call for a warning.
func (w *ThresholdMonitor) SalesThisYear(ctx context.Context) (sold registrar.Cents, warn bool, err error) {
	now := w.Now().In(registrar.Germany())
	since := time.Date(now.Year(), time.January, 1, 0, 0, 0, 0, registrar.Germany())
	for _, rule := range []Rule{RuleEUConsumer, RuleOSS} {
		sum, err := w.Sales.SalesSince(ctx, string(rule), since)
		if err != nil {
			return 0, false, err
		}
		sold += sum
	}
	return sold, !w.OSS && w.WarnAt > 0 && sold >= w.WarnAt, nil
}

// Run checks now and every hour until ctx ends. It warns when the total first reaches
// WarnAt, and once a day from then on.
func (w *ThresholdMonitor) Run(ctx context.Context) {
	ticker := time.NewTicker(thresholdCheckInterval)
	defer ticker.Stop()
	var lastWarning string
	for {
		lastWarning = w.check(ctx, lastWarning)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// check runs once. lastWarning is the day of the last warning.
func (w *ThresholdMonitor) check(ctx context.Context, lastWarning string) string {
	sold, warn, err := w.SalesThisYear(ctx)
	if err != nil {
		if ctx.Err() == nil {
			w.Logger.WarnContext(ctx, "EU consumer sales not counted", "cause", registrar.CauseOf(err))
		}
		return lastWarning
	}
	if w.OnSales != nil {
		w.OnSales(sold)
	}
	today := w.Now().In(registrar.Germany()).Format(time.DateOnly)
	if !warn || today == lastWarning {
		return lastWarning
	}
	w.Logger.WarnContext(ctx, "EU consumer sales near the One-Stop-Shop threshold: register for OSS, then set vat.oss",
		"sold_eur", sold.String(), "warn_at_eur", w.WarnAt.String(), "threshold_eur", Threshold.String())
	return today
}
