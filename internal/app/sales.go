package app

import (
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// Sales decides which extensions can be ordered: those with a price and a registry
// account that supports them, if a payment provider is configured. Pages and orders use
// the same decision.
type Sales struct {
	// payments is true if a payment provider is configured.
	payments bool
	accounts provision.Accounts
}

func NewSales(cfg config.Config, registries *Registries) Sales {
	return Sales{payments: cfg.Stripe.SecretKey != "", accounts: registries.provisionAccounts()}
}

// Enabled reports whether the configuration sells names at all.
func (s Sales) Enabled() bool { return s.payments || len(s.accounts) > 0 }

// refusal returns why an extension can't be ordered in this way, or nil.
func (s Sales) refusal(extension registrar.Extension, kind order.Kind) error {
	price := extension.Register
	switch {
	case !s.payments:
		return &registrar.Error{Kind: registrar.KindUnsupported, Code: order.NotServed}
	case kind == order.Renew:
		price = extension.Renew
	case kind == order.Transfer:
		return s.accounts.CheckSupported(provision.Transfer, extension) // some are free
	}
	if price <= 0 { // a missing price is a mistake in the list
		return &registrar.Error{Kind: registrar.KindUnsupported, Code: order.NoPrice}
	}
	if kind == order.Renew { // the account that holds the domain decides
		return nil
	}
	return s.accounts.CheckSupported(provision.Register, extension)
}

// SaleOf returns the decision for one extension.
func (s Sales) SaleOf(extension registrar.Extension) registrar.Sale {
	return registrar.Sale{
		Decided:        true,
		NoRegistration: registrar.CodeOf(s.refusal(extension, order.Register)),
		NoTransfer:     registrar.CodeOf(s.refusal(extension, order.Transfer)),
	}
}
