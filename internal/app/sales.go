package app

import (
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// Sales decides what can be ordered, whatever the name: a listed extension is for sale
// only if payments are possible, it has a price, and a registry account can carry the
// order out. What is shown and what is ordered both go by it.
type Sales struct {
	// payments says that a payment provider is configured.
	payments bool
	accounts provision.Accounts
}

func NewSales(cfg config.Config, registries *Registries) Sales {
	return Sales{payments: cfg.Stripe.SecretKey != "", accounts: registries.provisionAccounts()}
}

// Enabled says that the configuration sells names at all.
func (s Sales) Enabled() bool { return s.payments || len(s.accounts) > 0 }

// refusal is why no name of an extension can be ordered in this way; nil if names can.
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
	if price <= 0 { // a list without a price where one belongs has forgotten it
		return &registrar.Error{Kind: registrar.KindUnsupported, Code: order.NoPrice}
	}
	if kind == order.Renew { // the account that holds the domain decides
		return nil
	}
	return s.accounts.CheckSupported(provision.Register, extension)
}

// SaleOf is the decision about one extension of the price list.
func (s Sales) SaleOf(extension registrar.Extension) registrar.Sale {
	return registrar.Sale{
		Decided:        true,
		NoRegistration: registrar.CodeOf(s.refusal(extension, order.Register)),
		NoTransfer:     registrar.CodeOf(s.refusal(extension, order.Transfer)),
	}
}
