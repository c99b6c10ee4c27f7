package order

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// quoteResult is the quote of one item, or why there is none.
type quoteResult struct {
	quote Quote
	err   error
}

// quoteFresh queries the registries about all items, or none if the budget is exhausted. An
// automatic renewal that the customer pays by hand may have more items than any budget, so it
// counts as the largest order of a person.
func (s *Service) quoteFresh(ctx context.Context, actor registrar.Actor, purpose registrar.QueryPurpose, requests []provision.QuoteRequest) ([]quoteResult, error) {
	if err := s.spendBudget(actor, purpose, min(len(requests), MaxPortalItems)); err != nil {
		return nil, err
	}
	for i := range requests {
		requests[i].Purpose = purpose
	}
	concurrency := maxItems
	if purpose == registrar.ForPayment {
		concurrency = paymentConcurrency
	}
	return s.quoteAll(ctx, concurrency, requests), nil
}

// quoteForDisplay returns recent quotes, or fresh ones within the actor's budget.
func (s *Service) quoteForDisplay(ctx context.Context, actor registrar.Actor, requests []provision.QuoteRequest) []quoteResult {
	for i := range requests {
		requests[i].Purpose = registrar.ForDisplay
		requests[i].Admit = func() error { return s.spendBudget(actor, registrar.ForDisplay, 1) }
	}
	return s.quoteAll(ctx, maxItems, requests)
}

func (s *Service) spendBudget(actor registrar.Actor, purpose registrar.QueryPurpose, names int) error {
	if wait := s.cfg.SpendBudget(actor, purpose, names); wait > 0 {
		return &registrar.Error{Kind: registrar.KindRateLimited, Code: OverBudget, RetryAfter: wait}
	}
	return nil
}

func (s *Service) quoteAll(ctx context.Context, concurrency int, requests []provision.QuoteRequest) []quoteResult {
	results := make([]quoteResult, len(requests))
	if len(requests) == 1 {
		results[0].quote, results[0].err = s.cfg.Quote(ctx, requests[0])
		return results
	}
	slots := make(chan struct{}, concurrency)
	var all sync.WaitGroup
	for i, request := range requests {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			results[i].quote, results[i].err = s.quoteGuarded(ctx, request)
		})
	}
	all.Wait()
	return results
}

// quoteGuarded recovers panics, because it runs on a goroutine of its own.
func (s *Service) quoteGuarded(ctx context.Context, request provision.QuoteRequest) (quote Quote, err error) {
	defer func() {
		if recover() != nil {
			s.cfg.Logger.ErrorContext(ctx, registrar.PanicRecovered, "where", "quote", "stack", string(debug.Stack()))
			err = &registrar.Error{Kind: registrar.KindInternal, Code: "panic"}
		}
	}()
	return s.cfg.Quote(ctx, request)
}

// isRefusal reports whether a quote was refused, as opposed to not available now.
func isRefusal(err error) bool { return err != nil && !registrar.IsTransient(err) }

// refusalError returns an *ItemsRefused if items can't be ordered, otherwise an
// *ItemsUnquoted if registries could not be queried, nil if all items can be ordered.
// An internal error takes precedence over ItemsUnquoted and is returned as it is.
func refusalError(items []Item, results []quoteResult) error {
	var refused ItemsRefused
	var internal error
	for i, a := range results {
		item := RefusedItem{Name: items[i].Name, Kind: items[i].Kind, Reason: a.err}
		switch {
		case a.err == nil:
		case isRefusal(a.err):
			refused.Items = append(refused.Items, item)
		default:
			refused.Unquoted = append(refused.Unquoted, item)
			if registrar.KindOf(a.err) == registrar.KindInternal {
				internal = a.err
			}
		}
	}
	switch {
	case len(refused.Items) > 0:
		return &refused
	case internal != nil:
		return internal
	case len(refused.Unquoted) > 0:
		return &ItemsUnquoted{Items: refused.Unquoted}
	default:
		return nil
	}
}

// quoteRequests returns the quote requests of an order's items. The TLDs' rules are
// checked for the buyer or the item's holder, whose current data the items get; they are also
// what a payment stores.
func (s *Service) quoteRequests(ctx context.Context, o *Order, buyer Buyer) ([]provision.QuoteRequest, error) {
	if err := s.attachHolders(ctx, o); err != nil {
		return nil, err
	}
	requests := make([]provision.QuoteRequest, len(o.Items))
	for i, item := range o.Items {
		registrant := item.RegistrantOr(buyer.registrant())
		requests[i] = provision.QuoteRequest{Customer: o.Customer, Name: nameOf(item), Kind: item.Kind, Registrant: &registrant}
		if item.Kind == Register || item.Kind == Renew { // of other items, the registry decides
			requests[i].Years = item.Years
		}
		if item.SealedCode == "" {
			continue
		}
		code, err := s.cfg.Seal.Open(registrar.AuthCodePurpose(item.Name), item.SealedCode)
		if err != nil {
			return nil, err
		}
		requests[i].Code = code
	}
	return requests, nil
}

// quoteOrder quotes and prices an order. Nothing is stored.
func (s *Service) quoteOrder(ctx context.Context, actor registrar.Actor, purpose registrar.QueryPurpose, o *Order, buyer Buyer) ([]quoteResult, error) {
	requests, err := s.quoteRequests(ctx, o, buyer)
	if err != nil {
		return nil, err
	}
	results, err := s.quoteFresh(ctx, actor, purpose, requests)
	if err == nil {
		refuseEndedTerms(o.Items, results)
		refuseHolders(o.Items, buyer, results)
		refuseCappedFees(*o, results)
		err = refusalError(o.Items, results)
	}
	if err == nil {
		err = s.applyQuotes(ctx, o, buyer, results)
	}
	return results, err
}

// paymentPurpose returns ForPayment if an attempt to pay the stored order may charge,
// as far as known without a registry.
func paymentPurpose(o Order, buyer Buyer) registrar.QueryPurpose {
	uncoded := func(item Item) bool { return item.Kind == Transfer && item.SealedCode == "" }
	if o.State != AwaitingPayment || !buyer.HasRegistrant || slices.ContainsFunc(o.Items, uncoded) {
		return registrar.ForQuote
	}
	return registrar.ForPayment
}

func nameOf(item Item) registrar.Name {
	return registrar.NewName(strings.TrimSuffix(item.Name, item.TLD), item.TLD)
}

// applyQuotes sets an order's terms, accounts, totals, and its state depending on
// whether an identity is required. Items without a quote keep their values.
func (s *Service) applyQuotes(ctx context.Context, o *Order, buyer Buyer, results []quoteResult) error {
	nets := make([]registrar.Cents, len(o.Items))
	verify := o.State == AwaitingVerification && slices.ContainsFunc(results, func(a quoteResult) bool { return a.err != nil })
	for i, a := range results {
		item := &o.Items[i]
		if a.err == nil {
			net := a.quote.Net
			if o.Channel == ChannelRenewal && item.Net > 0 { // already reduced to what was announced
				net = min(net, item.Net)
			}
			item.Years, item.Net, item.Account, item.Domain = a.quote.Years, net, a.quote.Account, a.quote.Domain
			item.PremiumFee, item.PremiumRenewal = a.quote.PremiumFee, a.quote.RenewalNet
			item.setTerm(a.quote.TermEnd)
			verify = verify || a.quote.Verify
		}
		nets[i] = item.Net
	}
	tax, err := s.cfg.Taxes.Assess(ctx, partyOf(buyer), nets, s.now())
	if err == nil {
		err = o.setPrices(nets, tax)
	}
	if err != nil {
		return err
	}
	needed, err := s.needsIdentity(ctx, *o, buyer, o.Totals.Gross, verify)
	if err != nil {
		return err
	}
	state := AwaitingPayment
	if needed {
		state = AwaitingVerification
	}
	if o.State != state {
		o.State, o.Attempts = state, 0
	}
	return nil
}

// setPrices sets the prices of an order's items and their totals. The gross of an automatic renewal never
// rises above what its items have.
func (o *Order) setPrices(nets []registrar.Cents, tax billing.Assessment) (err error) {
	if o.Channel == ChannelRenewal {
		if nets, tax.VAT, err = capGross(nets, o.Items, tax.RateBasisPoints); err != nil {
			return err
		}
	}
	o.Totals = Totals{
		RateBasisPoints: tax.RateBasisPoints, Rule: string(tax.Rule), Country: tax.Country, VATID: tax.VATID, Unchecked: tax.Unchecked,
	}
	for i := range o.Items {
		item := &o.Items[i]
		item.Net, item.VAT = nets[i], tax.VAT[i]
		item.Gross = item.Net + item.VAT
		o.Totals.Net += item.Net
		o.Totals.VAT += item.VAT
		o.Totals.Gross += item.Gross
	}
	return nil
}

// priceDiffers compares what the customer must see before paying.
func priceDiffers(a, b Order) bool {
	return a.Totals != b.Totals || !slices.EqualFunc(a.Items, b.Items, func(x, y Item) bool {
		return x.Years == y.Years && x.Net == y.Net && x.VAT == y.VAT && x.Gross == y.Gross
	})
}

// countryAdded reports whether two orders differ in nothing but the country: the customer
// has entered it since, and pays exactly what was shown. A VAT ID that changes nothing has to
// be explained first, because the customer expects to pay less.
func countryAdded(shown, now Order, buyer Buyer) bool {
	if shown.Totals.Rule != string(billing.RuleUnknownCountry) || now.Totals.VATID != "" || buyer.VATIDIgnored(now.Totals) {
		return false
	}
	shown.Totals.Rule, shown.Totals.Country = now.Totals.Rule, now.Totals.Country
	return !priceDiffers(shown, now)
}

// needsUpdate reports whether a repriced order must be stored.
func needsUpdate(a, b Order) bool {
	return a.State != b.State || priceDiffers(a, b) || !slices.EqualFunc(a.Items, b.Items, func(x, y Item) bool {
		return x.Account == y.Account && x.Domain == y.Domain && x.SealedCode == y.SealedCode && x.TermEnd.Equal(y.TermEnd) && x.PremiumFee == y.PremiumFee && x.PremiumRenewal == y.PremiumRenewal
	})
}

// missingData returns what is missing for payment, in total and by item.
func missingData(o Order, buyer Buyer, results []quoteResult) (all []string, needs map[string][]string) {
	needs = make(map[string][]string)
	add := func(word string) {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	if !buyer.HasRegistrant {
		add(MissingRegistrant)
	}
	for i, item := range o.Items {
		words := results[i].quote.Missing
		if item.Kind == Transfer && item.SealedCode == "" && !slices.Contains(words, MissingCode) {
			words = append(slices.Clone(words), MissingCode)
		}
		for _, word := range words {
			add(word)
			if word != MissingRegistrant {
				needs[item.ID] = append(needs[item.ID], word)
			}
		}
	}
	if o.State == AwaitingVerification {
		add(MissingIdentity)
	}
	return all, needs
}
