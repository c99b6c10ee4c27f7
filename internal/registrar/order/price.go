package order

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// answer is what the market says of one item.
type answer struct {
	quote Quote
	err   error
}

// askFresh has the registries asked about all items, or about none if the actor's
// budget does not suffice.
func (s *Service) askFresh(ctx context.Context, actor registrar.Actor, purpose registrar.Purpose, wishes []Wish) ([]answer, error) {
	if err := s.spend(actor, purpose, len(wishes)); err != nil {
		return nil, err
	}
	for i := range wishes {
		wishes[i].Purpose = purpose
	}
	atOnce := maxItems
	if purpose == registrar.ForPayment {
		atOnce = payAtOnce
	}
	return s.ask(ctx, atOnce, wishes), nil
}

// askForDisplay is what a page or a session shows: recent answers, and the registries'
// where there is none and the actor's budget suffices.
func (s *Service) askForDisplay(ctx context.Context, actor registrar.Actor, wishes []Wish) []answer {
	for i := range wishes {
		wishes[i].Purpose = registrar.ForDisplay
		wishes[i].Admit = func() error { return s.spend(actor, registrar.ForDisplay, 1) }
	}
	return s.ask(ctx, maxItems, wishes)
}

func (s *Service) spend(actor registrar.Actor, purpose registrar.Purpose, names int) error {
	if s.cfg.Budget == nil {
		return nil
	}
	if wait := s.cfg.Budget.Spend(actor, purpose, names); wait > 0 {
		return &registrar.Error{Kind: registrar.KindRateLimited, Code: OverBudget, RetryAfter: wait}
	}
	return nil
}

// ask puts all items to the market, some at a time.
func (s *Service) ask(ctx context.Context, atOnce int, wishes []Wish) []answer {
	answers := make([]answer, len(wishes))
	if len(wishes) == 1 {
		answers[0].quote, answers[0].err = s.cfg.Market.Quote(ctx, wishes[0])
		return answers
	}
	places := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i, wish := range wishes {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			answers[i].quote, answers[i].err = s.quoteGuarded(ctx, wish)
		})
	}
	all.Wait()
	return answers
}

// quoteGuarded asks the market on a goroutine of its own, where a panic would end the
// process.
func (s *Service) quoteGuarded(ctx context.Context, wish Wish) (quote Quote, err error) {
	defer func() {
		if recover() != nil {
			s.cfg.Logger.ErrorContext(ctx, registrar.PanicRecovered, "where", "quote", "stack", string(debug.Stack()))
			err = &registrar.Error{Kind: registrar.KindInternal, Code: "panic"}
		}
	}()
	return s.cfg.Market.Quote(ctx, wish)
}

// refused says that the answer is a no, and not that nobody could be asked.
func refused(err error) bool { return err != nil && !waits(err) }

// refusal is the error for the items that can't be ordered; nil if all can. It is an
// *ItemsRefused if a registry has said no, otherwise an *ItemsUnasked if registries
// could not be asked. A fault of ours that is not about an item is returned as it is.
func refusal(items []Item, answers []answer) error {
	var no ItemsRefused
	var internal error
	for i, a := range answers {
		item := RefusedItem{Name: items[i].Name, Kind: items[i].Kind, Reason: a.err}
		switch {
		case a.err == nil:
		case refused(a.err):
			no.Items = append(no.Items, item)
		default:
			no.Unasked = append(no.Unasked, item)
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
	case len(no.Unasked) > 0:
		return &ItemsUnasked{Items: no.Unasked}
	default:
		return nil
	}
}

// wishes are an order's items as the market is asked for them. The rules of the
// extensions are checked for this buyer, who is also the one that a payment stores.
func (s *Service) wishes(o Order, buyer Buyer) ([]Wish, error) {
	wishes := make([]Wish, len(o.Items))
	holder := buyer.holder()
	for i, item := range o.Items {
		wishes[i] = Wish{Customer: o.Customer, Name: nameOf(item), Kind: item.Kind, Holder: &holder}
		if item.SealedCode == "" {
			continue
		}
		code, err := s.cfg.Seal.Open(registrar.CodePurpose(item.Name), item.SealedCode)
		if err != nil {
			return nil, err
		}
		wishes[i].Code = code
	}
	return wishes, nil
}

// paymentPurpose is ForPayment if an attempt to pay the stored order may charge, as far as that
// is known without a registry. What can't charge is asked about after payments.
func paymentPurpose(o Order, buyer Buyer) registrar.Purpose {
	uncoded := func(item Item) bool { return item.Kind == Transfer && item.SealedCode == "" }
	if o.State != AwaitingPayment || !buyer.Told || slices.ContainsFunc(o.Items, uncoded) {
		return registrar.ForQuote
	}
	return registrar.ForPayment
}

func nameOf(item Item) registrar.Name {
	return registrar.NewName(strings.TrimSuffix(item.Name, item.TLD), item.TLD)
}

// price gives an order what the answers say: terms, accounts, sums, and the state
// that its need of an identity asks for. Items without a good answer keep what
// they had.
func (s *Service) price(ctx context.Context, o *Order, buyer Buyer, answers []answer) error {
	nets := make([]registrar.Cents, len(o.Items))
	verify := o.State == AwaitingVerification && slices.ContainsFunc(answers, func(a answer) bool { return a.err != nil })
	for i, a := range answers {
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

// dearer says that an order differs in what its customer has to see before paying.
func dearer(a, b Order) bool {
	return a.Totals != b.Totals || !slices.EqualFunc(a.Items, b.Items, func(x, y Item) bool {
		return x.Years == y.Years && x.Net == y.Net && x.VAT == y.VAT && x.Gross == y.Gross
	})
}

// differs says that an order has to be written again after it was priced.
func differs(a, b Order) bool {
	return a.State != b.State || dearer(a, b) || !slices.EqualFunc(a.Items, b.Items, func(x, y Item) bool {
		return x.Account == y.Account && x.Domain == y.Domain && x.SealedCode == y.SealedCode
	})
}

// missing is what must still be told, for each item and altogether.
func missing(o Order, buyer Buyer, answers []answer) (all []string, needs map[string][]string) {
	needs = make(map[string][]string)
	add := func(word string) {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	if !buyer.Told {
		add(MissingRegistrant)
	}
	for i, item := range o.Items {
		words := answers[i].quote.Missing
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
