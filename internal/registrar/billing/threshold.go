package billing

import (
	"context"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Threshold is how much may be sold to EU consumers in a calendar year before
// their countries' VAT is due instead of Germany's (§ 3a (5) UStG).
const Threshold registrar.Cents = 10_000_00

// thresholdCheckInterval is how often a Watch counts.
const thresholdCheckInterval = time.Hour

// Sales is what was sold.
type Sales interface {
	// SalesSince is the net sum of the orders that were paid since then under a rule.
	SalesSince(ctx context.Context, rule string, since time.Time) (registrar.Cents, error)
}

// ThresholdMonitor counts what was sold to EU consumers in the year, and warns.
type ThresholdMonitor struct {
	Sales Sales
	Rates *Rates
	// OSS says that we take part in the One-Stop-Shop: then nothing is to be warned
	// of. WarnAt is the sum from which on there is; 0 never warns.
	OSS    bool
	WarnAt registrar.Cents
	Now    func() time.Time
	Logger *slog.Logger
	// OnSales hears every sum, for the metrics; it may be nil.
	OnSales func(registrar.Cents)
}

// SalesThisYear is what was sold to EU consumers since the year began in Germany, and whether
// that is to be warned of.
func (w *ThresholdMonitor) SalesThisYear(ctx context.Context) (sold registrar.Cents, warn bool, err error) {
	now := w.Now().In(w.Rates.germany)
	since := time.Date(now.Year(), time.January, 1, 0, 0, 0, 0, w.Rates.germany)
	for _, rule := range []Rule{RuleEUConsumer, RuleOSS} {
		sum, err := w.Sales.SalesSince(ctx, string(rule), since)
		if err != nil {
			return 0, false, err
		}
		sold += sum
	}
	return sold, !w.OSS && w.WarnAt > 0 && sold >= w.WarnAt, nil
}

// Run counts now and every hour until ctx ends. It warns when a year's sum has first
// been found to be over, and once a day from then on.
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

// check counts once. warned is the day of the last warning.
func (w *ThresholdMonitor) check(ctx context.Context, lastWarning string) string {
	sold, warn, err := w.SalesThisYear(ctx)
	if err != nil {
		if ctx.Err() == nil {
			w.Logger.WarnContext(ctx, "the year's sales to EU consumers could not be counted", "cause", registrar.CauseOf(err))
		}
		return lastWarning
	}
	if w.OnSales != nil {
		w.OnSales(sold)
	}
	today := w.Now().In(w.Rates.germany).Format(time.DateOnly)
	if !warn || today == lastWarning {
		return lastWarning
	}
	w.Logger.WarnContext(ctx, "sales to EU consumers come near the One-Stop-Shop threshold: register for OSS, then set vat.oss",
		"sold_eur", sold.String(), "warn_at_eur", w.WarnAt.String(), "threshold_eur", Threshold.String())
	return today
}
