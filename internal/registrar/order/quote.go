package order

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/premium"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

// Quote is the price and availability of one item.
type Quote struct {
	provision.Quote
	Net registrar.Cents // of the whole term
	// RenewalNet is the price of the next term of a premium name; zero if the registry does not
	// state its fee.
	RenewalNet registrar.Cents
	Verify     bool // the TLD requires a verified identity
}

// Market quotes by the price list and the registries.
type Market struct {
	Extension func(tld string) (registrar.Extension, bool)
	Sales     Sales
	Registry  *provision.Service
	Locks     *admin.Service
	Premium   *premium.Pricing // nil means that no premium name is sold
	// Renewing reports whether a domain is being renewed automatically; nil means never.
	Renewing func(ctx context.Context, domain string) (bool, error)
}

// Quote queries the registry that will provision the item and prices it by the list, or a premium
// name by the registry's fee (package premium). Only a
// request ForDisplay may be answered from a cache; its Extension is ignored. The error is a
// *registrar.Error: KindConflict, KindInvalid and KindUnsupported mean that the item can't
// be ordered, KindUpstream that the registry could not be queried.
func (m Market) Quote(ctx context.Context, request provision.QuoteRequest) (Quote, error) {
	ctx, span := tracing.Start(ctx, "order", "quote")
	quote, err := m.quote(ctx, request)
	span.End(err)
	return quote, err
}

func (m Market) quote(ctx context.Context, request provision.QuoteRequest) (Quote, error) {
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
	result := Quote{Quote: quote, Net: NetPrice(request.Extension, request.Kind, quote.Years), Verify: request.Extension.Verify}
	if !quote.PremiumFee.IsZero() {
		var sold bool
		if result.Net, sold = m.Premium.Net(quote.PremiumFee, quote.Years); !sold {
			return Quote{Quote: quote}, fail(registrar.KindConflict, registrar.NamePremium)
		}
		if perYear, sold := m.Premium.Net(quote.PremiumRenewal, 1); sold {
			result.RenewalNet = perYear * registrar.Cents(request.Extension.Term())
		}
	}
	return result, nil
}

// NetPrice is the list price of a whole term. A registration costs its price for the shortest term
// that is sold, and the renewal's for each further year: registries reduce the price of the first
// year only. A restore costs its fee and the years that it adds.
func NetPrice(extension registrar.Extension, kind Kind, years int) registrar.Cents {
	switch kind {
	case Transfer:
		return extension.Transfer
	case Renew:
		return extension.Renew * registrar.Cents(years)
	case Restore:
		return extension.Restore + extension.Renew*registrar.Cents(years)
	default:
		first := min(years, extension.Term())
		return extension.Register*registrar.Cents(first) + extension.Renew*registrar.Cents(years-first)
	}
}

// Sales decides what can be ordered, whatever the name: a listed TLD is for sale only if
// payments are possible, it has a price, and a registry account can provision it. Both
// the display and ordering follow it.
type Sales struct {
	Payments bool // a payment provider is configured
	Accounts provision.Accounts
	// Costs is what registries charge; nil if it is unknown. Now is the business time, which
	// Costs needs.
	Costs *cost.Prices
	Now   func() time.Time
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
	case kind == Transfer && !s.belowCost(extension, kind):
		return s.Accounts.CheckSupported(Transfer, extension) // some are free
	}
	if price <= 0 { // the list lacks a price
		return fail(registrar.KindUnsupported, NoPrice)
	}
	if kind.ForHeldDomain() { // the account that holds the domain decides
		return nil
	}
	if s.belowCost(extension, kind) {
		return &registrar.Error{Kind: registrar.KindUnsupported, Code: NoPrice, Detail: "the price is below cost"}
	}
	return s.Accounts.CheckSupported(Register, extension)
}

// belowCost reports whether a new domain would be sold for less than its registry charges.
// Customers who hold a domain can always renew it: they would lose it otherwise, and an
// announced renewal is a promise. Operators see such prices when they import a list.
func (s Sales) belowCost(extension registrar.Extension, kind Kind) bool {
	if s.Costs == nil || s.Now == nil {
		return false
	}
	_, below := BelowCost(s.Costs, extension, kind, s.Now())
	return below
}

// BelowCost reports whether the price of an operation is below its cost, and by how much.
func BelowCost(costs *cost.Prices, extension registrar.Extension, kind Kind, at time.Time) (registrar.Cents, bool) {
	years := 1
	switch kind {
	case Register:
		years = extension.Term()
	case Restore:
		years = 0 // the fee alone; the years are those of a renewal
	default:
	}
	return costs.BelowCost(extension, cost.Operation(kind), years, NetPrice(extension, kind, years), at)
}

// PriceBelowCost is a price of a list that is below its cost and not allowed to be.
type PriceBelowCost struct {
	TLD  string
	Kind Kind
	By   registrar.Cents
}

// ListBelowCost returns the prices of extensions that are below their costs.
func ListBelowCost(costs *cost.Prices, extensions []registrar.Extension, at time.Time) (below []PriceBelowCost) {
	for _, extension := range extensions {
		for _, kind := range []Kind{Register, Renew, Transfer, Restore} {
			if by, is := BelowCost(costs, extension, kind, at); is {
				below = append(below, PriceBelowCost{extension.TLD, kind, by})
			}
		}
	}
	return below
}

// SaleOf is the decision about one TLD of the price list.
func (s Sales) SaleOf(extension registrar.Extension) registrar.Sale {
	return registrar.Sale{
		Decided:        true,
		NoRegistration: registrar.CodeOf(s.Refusal(extension, Register)),
		NoTransfer:     registrar.CodeOf(s.Refusal(extension, Transfer)),
	}
}
