package app

import (
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// NewSales returns what the configuration sells.
func NewSales(cfg config.Config, registries *Registries) order.Sales {
	return order.Sales{Payments: cfg.Stripe.SecretKey != "", Accounts: registries.provisionAccounts()}
}
