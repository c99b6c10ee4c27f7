package order

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// Quote is the price and availability of one item.
type Quote struct {
	provision.Quote
	Net    registrar.Cents // of the whole term
	Verify bool            // the TLD requires a verified identity
}

// Market quotes by the price list and the registries.
type Market struct {
	Extension func(tld string) (registrar.Extension, bool)
	Sales     Sales
	Registry  *provision.Service
	Locks     *admin.Service
	// Renewing reports whether a domain is being renewed automatically; nil means never.
	Renewing func(ctx context.Context, domain string) (bool, error)
}

// Quote queries the registry that will provision the item and prices it by the list. Only a
// request ForDisplay may be answered from a cache; its Extension is ignored. The error is a
// *registrar.Error: KindConflict, KindInvalid and KindUnsupported mean that the item can't
// be ordered, KindUpstream that the registry could not be queried.
func (m Market) Quote(ctx context.Context, request provision.QuoteRequest) (Quote, error) {
	var listed bool
	if request.Extension, listed = m.Extension(request.Name.TLD()); !listed {
		return Quote{}, fail(registrar.KindUnsupported, registrar.ExtensionNotCarried)
	}
	if err := m.Sales.Refusal(request.Extension, request.Kind); err != nil {
		return Quote{}, err
	}
	quote, err := m.Registry.Quote(ctx, request)
	if err != nil {
		return Quote{Quote: quote}, err
	}
	if request.Kind.ForHeldDomain() {
		forbidden, err := m.Locks.Forbids(ctx, quote.Domain, admin.Renewal)
		switch {
		case err != nil:
			return Quote{}, registrar.DatabaseError(err)
		case forbidden:
			return Quote{}, fail(registrar.KindConflict, domainchange.DomainRestricted)
		}
		if m.Renewing != nil {
			renewing, err := m.Renewing(ctx, quote.Domain)
			switch {
			case err != nil:
				return Quote{}, registrar.DatabaseError(err)
			case renewing:
				return Quote{}, fail(registrar.KindConflict, RenewalInProgress)
			}
		}
	}
	return Quote{Quote: quote, Net: NetPrice(request.Extension, request.Kind, quote.Years), Verify: request.Extension.Verify}, nil
}

// NetPrice is the price of a whole term. Registration and renewal are priced per year; a
// restore costs its fee and the years that it adds.
func NetPrice(extension registrar.Extension, kind Kind, years int) registrar.Cents {
	switch kind {
	case Transfer:
		return extension.Transfer
	case Renew:
		return extension.Renew * registrar.Cents(years)
	case Restore:
		return extension.Restore + extension.Renew*registrar.Cents(years)
	default:
		return extension.Register * registrar.Cents(years)
	}
}

// Sales decides what can be ordered, whatever the name: a listed TLD is for sale only if
// payments are possible, it has a price, and a registry account can provision it. Both
// the display and ordering follow it.
type Sales struct {
	Payments bool // a payment provider is configured
	Accounts provision.Accounts
}

// Enabled reports whether the configuration sells names at all.
func (s Sales) Enabled() bool { return s.Payments || len(s.Accounts) > 0 }

// Refusal returns why no name of a TLD can be ordered in this way; nil if names can.
func (s Sales) Refusal(extension registrar.Extension, kind Kind) error {
	price := extension.Register
	switch {
	case !s.Payments:
		return fail(registrar.KindUnsupported, NotServed)
	case kind == Renew:
		price = extension.Renew
	case kind == Restore:
		price = min(extension.Restore, extension.Renew)
	case kind == Transfer:
		return s.Accounts.CheckSupported(Transfer, extension) // some are free
	}
	if price <= 0 { // the list lacks a price
		return fail(registrar.KindUnsupported, NoPrice)
	}
	if kind.ForHeldDomain() { // the account that holds the domain decides
		return nil
	}
	return s.Accounts.CheckSupported(Register, extension)
}

// SaleOf is the decision about one TLD of the price list.
func (s Sales) SaleOf(extension registrar.Extension) registrar.Sale {
	return registrar.Sale{
		Decided:        true,
		NoRegistration: registrar.CodeOf(s.Refusal(extension, Register)),
		NoTransfer:     registrar.CodeOf(s.Refusal(extension, Transfer)),
	}
}
