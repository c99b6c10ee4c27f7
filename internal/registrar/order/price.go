package order

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// quoteResult is what the market says of one item.
type quoteResult struct {
	quote Quote
	err   error
}

// quoteFresh has the registries asked about all items, or about none if the actor's
// budget does not suffice.
func (s *Service) quoteFresh(ctx context.Context, actor registrar.Actor, purpose registrar.Purpose, requests []QuoteRequest) ([]quoteResult, error) {
	if err := s.spendBudget(actor, purpose, len(requests)); err != nil {
		return nil, err
	}
	for i := range requests {
		requests[i].Purpose = purpose
	}
	atOnce := maxItems
	if purpose == registrar.ForPayment {
		atOnce = paymentConcurrency
	}
	return s.quoteAll(ctx, atOnce, requests), nil
}

// quoteForDisplay is what a page or a session shows: recent answers, and the registries'
// where there is none and the actor's budget suffices.
func (s *Service) quoteForDisplay(ctx context.Context, actor registrar.Actor, requests []QuoteRequest) []quoteResult {
	for i := range requests {
		requests[i].Purpose = registrar.ForDisplay
		requests[i].Admit = func() error { return s.spendBudget(actor, registrar.ForDisplay, 1) }
	}
	return s.quoteAll(ctx, maxItems, requests)
}

func (s *Service) spendBudget(actor registrar.Actor, purpose registrar.Purpose, names int) error {
	if s.cfg.Budget == nil {
		return nil
	}
	if wait := s.cfg.Budget.Spend(actor, purpose, names); wait > 0 {
		return &registrar.Error{Kind: registrar.KindRateLimited, Code: OverBudget, RetryAfter: wait}
	}
	return nil
}

// quoteAll puts all items to the market, some at a time.
func (s *Service) quoteAll(ctx context.Context, atOnce int, requests []QuoteRequest) []quoteResult {
	results := make([]quoteResult, len(requests))
	if len(requests) == 1 {
		results[0].quote, results[0].err = s.cfg.Market.Quote(ctx, requests[0])
		return results
	}
	slots := make(chan struct{}, atOnce)
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

// quoteGuarded asks the market on a goroutine of its own, where a panic would end the
// process.
func (s *Service) quoteGuarded(ctx context.Context, request QuoteRequest) (quote Quote, err error) {
	defer func() {
		if recover() != nil {
			s.cfg.Logger.ErrorContext(ctx, registrar.PanicRecovered, "where", "quote", "stack", string(debug.Stack()))
			err = &registrar.Error{Kind: registrar.KindInternal, Code: "panic"}
		}
	}()
	return s.cfg.Market.Quote(ctx, request)
}

// isRefusal says that the answer is a no, and not that nobody could be asked.
func isRefusal(err error) bool { return err != nil && !isRetryable(err) }

// refusalError is the error for the items that can't be ordered; nil if all can. It is an
// *ItemsRefused if a registry has said no, otherwise an *ItemsUnasked if registries
// could not be asked. A fault of ours that is not about an item is returned as it is.
func refusalError(items []Item, results []quoteResult) error {
	var no ItemsRefused
	var internal error
	for i, a := range results {
		item := RefusedItem{Name: items[i].Name, Kind: items[i].Kind, Reason: a.err}
		switch {
		case a.err == nil:
		case isRefusal(a.err):
			no.Items = append(no.Items, item)
		default:
			no.Unquoted = append(no.Unquoted, item)
			if registrar.KindOf(a.err) == registrar.KindInternal {
				internal = a.err
			}
		}
	}
	switch {
	case len(no.Items) > 0:
		return &no
	case internal != nil:
		return internal
	case len(no.Unquoted) > 0:
		return &ItemsUnquoted{Items: no.Unquoted}
	default:
		return nil
	}
}

// quoteRequests are an order's items as the market is asked for them. The rules of the
// extensions are checked for this buyer, who is also the one that a payment stores.
func (s *Service) quoteRequests(o Order, buyer Buyer) ([]QuoteRequest, error) {
	requests := make([]QuoteRequest, len(o.Items))
	registrant := buyer.registrant()
	for i, item := range o.Items {
		requests[i] = QuoteRequest{Customer: o.Customer, Name: nameOf(item), Kind: item.Kind, Registrant: &registrant}
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

// paymentPurpose is ForPayment if an attempt to pay the stored order may charge, as far as that
// is known without a registry. What can't charge is asked about after payments.
func paymentPurpose(o Order, buyer Buyer) registrar.Purpose {
	uncoded := func(item Item) bool { return item.Kind == Transfer && item.SealedCode == "" }
	if o.State != AwaitingPayment || !buyer.HasRegistrant || slices.ContainsFunc(o.Items, uncoded) {
		return registrar.ForQuote
	}
	return registrar.ForPayment
}

func nameOf(item Item) registrar.Name {
	return registrar.NewName(strings.TrimSuffix(item.Name, item.TLD), item.TLD)
}

// applyQuotes gives an order what the answers say: terms, accounts, sums, and the state
// that its need of an identity asks for. Items without a good answer keep what
// they had.
func (s *Service) applyQuotes(ctx context.Context, o *Order, buyer Buyer, results []quoteResult) error {
	nets := make([]registrar.Cents, len(o.Items))
	verify := o.State == AwaitingVerification && slices.ContainsFunc(results, func(a quoteResult) bool { return a.err != nil })
	for i, a := range results {
		item := &o.Items[i]
		if a.err == nil {
			item.Years, item.Net, item.Account, item.Domain = a.quote.Years, a.quote.Net, a.quote.Account, a.quote.Domain
			verify = verify || a.quote.Verify
		}
		nets[i] = item.Net
	}
	tax, err := s.cfg.Taxes.Assess(ctx, buyer, nets, s.now())
	if err != nil {
		return err
	}
	o.Totals = Totals{
		RateBasisPoints: tax.RateBasisPoints, Rule: tax.Rule, Country: tax.Country, VATID: tax.VATID, Unchecked: tax.Unchecked,
	}
	for i := range o.Items {
		item := &o.Items[i]
		item.VAT = tax.VAT[i]
		item.Gross = item.Net + item.VAT
		o.Totals.Net += item.Net
		o.Totals.VAT += item.VAT
		o.Totals.Gross += item.Gross
	}
	needed, err := s.needsIdentity(ctx, *o, buyer, verify)
	if err != nil {
		return err
	}
	o.State = AwaitingPayment
	if needed {
		o.State = AwaitingVerification
	}
	return nil
}

// priceDiffers says that an order differs in what its customer has to see before paying.
func priceDiffers(a, b Order) bool {
	return a.Totals != b.Totals || !slices.EqualFunc(a.Items, b.Items, func(x, y Item) bool {
		return x.Years == y.Years && x.Net == y.Net && x.VAT == y.VAT && x.Gross == y.Gross
	})
}

// needsUpdate says that an order has to be written again after it was priced.
func needsUpdate(a, b Order) bool {
	return a.State != b.State || priceDiffers(a, b) || !slices.EqualFunc(a.Items, b.Items, func(x, y Item) bool {
		return x.Account == y.Account && x.Domain == y.Domain && x.SealedCode == y.SealedCode
	})
}

// missingData is what must still be told, for each item and altogether.
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
