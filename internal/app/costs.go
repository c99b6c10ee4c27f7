package app

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/premium"
	"github.com/dotkontor/dotkontor/internal/store"
)

const (
	ratesInterval = time.Minute
	ratesTimeout  = 5 * time.Second
)

// startCosts loads the exchange rates and follows imports. What can be ordered depends on them.
func (p *App) startCosts(ctx context.Context) (err error) {
	if p.margins, err = cost.NewMargins(p.services.DB, p.now); err != nil {
		return err
	}
	loaded, err := loadRates(ctx, p.services.DB, p.costs.Rates, p.now())
	if err != nil {
		return err
	}
	p.live.SetSaleDecider(p.sales.SaleOf)
	p.inBackground(func(ctx context.Context) {
		ticker := time.NewTicker(ratesInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			// An unreachable database is reported centrally; the rates age until the next read.
			if next, err := loadRates(ctx, p.services.DB, p.costs.Rates, p.now()); err == nil && !slices.Equal(next, loaded) {
				loaded = next
				p.live.SetSaleDecider(p.sales.SaleOf)
			}
		}
	})
	return nil
}

// loadRates sets the rates that may be in force.
func loadRates(ctx context.Context, db *store.DB, rates *cost.Rates, now time.Time) ([]cost.Rate, error) {
	ctx, cancel := context.WithTimeout(ctx, ratesTimeout)
	defer cancel()
	// A day more, because days begin earlier in Germany.
	list, err := db.ListExchangeRates(ctx, now.Add(-cost.MaxRateAge-24*time.Hour))
	if err == nil {
		rates.Set(list)
	}
	return list, err
}

// LoadPrices returns the prices of a command.
func LoadPrices(ctx context.Context, db *store.DB, now time.Time) (*cost.Prices, error) {
	prices := &cost.Prices{Rates: &cost.Rates{}}
	_, err := loadRates(ctx, db, prices.Rates, now)
	return prices, err
}

// newPremiumPricing returns nil if premium names are not sold.
func newPremiumPricing(cfg config.Premium, rates *cost.Rates, now func() time.Time) *premium.Pricing {
	if !cfg.Sell {
		return nil
	}
	return &premium.Pricing{MarginPercent: cfg.MarginPercent, MarginPerYear: registrar.Cents(cfg.MarginEUR) * 100, Rates: rates, Now: now}
}

// belowCost returns the prices that are below what registries charge today.
func (p *App) belowCost(extensions []registrar.Extension) []order.PriceBelowCost {
	return order.ListBelowCost(p.costs, extensions, p.now())
}
