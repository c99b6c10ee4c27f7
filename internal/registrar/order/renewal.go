package order

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// MaxRenewals bounds the items of an automatic order. The limit of 20 is for people, who see
// the whole order before they pay.
const MaxRenewals = 1000

// renewalConcurrency bounds the concurrent registry queries of one automatic order.
const renewalConcurrency = 4

// RenewalItem is a domain whose automatic renewal is due.
type RenewalItem struct {
	Domain, Name, TLD string
	TermEnd           time.Time // of the term that is renewed
	Years             int
	MaxGross          registrar.Cents // as announced
	Former            string          // the order of the attempt before; empty if there is none
}

// RenewalCharge is one attempt to renew a customer's domains.
type RenewalCharge struct {
	Customer  string
	Items     []RenewalItem // at most MaxRenewals
	ExpiresAt time.Time     // until then the customer can pay the order by hand
	// LookAt is when the renewals are due again if this process dies. DueBy is the latest
	// time at which one of them is due.
	LookAt, DueBy time.Time
	// Urgent charges although the customer's VAT ID can't be validated, because the term ends
	// soon.
	Urgent bool
}

// RenewalStart is what StartRenewals stores.
type RenewalStart struct {
	Order         Order // with its payment, unless no method is saved
	Items         []RenewalItem
	ExpectedBuyer Buyer
	LookAt, DueBy time.Time
	AuditEvent    registrar.AuditEvent
	At            time.Time // the business time
}

// Obstacle is why a due renewal is not charged.
type Obstacle string

// The obstacles.
const (
	ObstacleStopped Obstacle = "stopped" // no consent or another term: it is not to be charged
	ObstacleBusy    Obstacle = "busy"    // another order for the domain is in progress: try later
	ObstacleTaken   Obstacle = "taken"   // another process has begun to charge it
)

// UnfitRenewal is a renewal that does not qualify.
type UnfitRenewal struct {
	Domain   string
	Obstacle Obstacle
}

// RenewalAttempt is the result of ChargeRenewals. The maps are by domain id.
type RenewalAttempt struct {
	Order   Order               // zero if nothing was charged
	Refused map[string]error    // the extension is not sold, or the registry refuses
	Unfit   map[string]Obstacle // those that no longer qualify
	Later   map[string]struct{} // those whose registry could not be queried
}

// ChargeRenewals renews a customer's domains: it orders those that still qualify, at the
// current price or the announced one if that is lower, and charges the default payment method.
// Without one the order waits for the customer. RenewalStatusOf returns the outcome. An error
// may come with an order whose outcome is open.
func (s *Service) ChargeRenewals(ctx context.Context, charge RenewalCharge) (RenewalAttempt, error) {
	attempt := RenewalAttempt{Refused: map[string]error{}, Unfit: map[string]Obstacle{}, Later: map[string]struct{}{}}
	items, err := s.endFormerOrders(ctx, charge.Items, attempt)
	if err != nil || len(items) == 0 {
		return attempt, err
	}
	buyer, err := s.cfg.Store.GetBuyer(ctx, charge.Customer)
	if err != nil {
		return attempt, err
	}
	items, results := s.quoteRenewals(ctx, charge.Customer, buyer, items, attempt)
	for range maxAttempts {
		if len(items) == 0 {
			return attempt, nil
		}
		method, saved, err := s.cfg.Store.GetPaymentMethod(ctx, charge.Customer)
		if err != nil {
			return attempt, err
		}
		o, payment, err := s.newRenewalOrder(ctx, charge, buyer, items, results, saved)
		if err == nil && o.Totals.Unchecked && !charge.Urgent {
			err = errUnchecked() // the capped price would contain VAT that the customer need not pay
		}
		if err != nil {
			return attempt, err
		}
		refuseCappedFees(o, results)
		if slices.ContainsFunc(results, func(a quoteResult) bool { return a.err != nil }) {
			items, results = keep(items, results, func(i int) bool {
				if results[i].err != nil {
					attempt.Refused[items[i].Domain] = results[i].err
				}
				return results[i].err == nil
			})
			continue
		}
		store, cancel := s.worker.StoreContext(ctx)
		started, unfit, err := s.cfg.Store.StartRenewals(store, RenewalStart{
			Order: o, Items: items, ExpectedBuyer: buyer, LookAt: charge.LookAt, DueBy: charge.DueBy, AuditEvent: s.systemAuditEvent(ActionCreated, o), At: s.now(),
		})
		cancel()
		switch {
		case err != nil:
			return attempt, err
		case started:
			s.cfg.OnStateChange(o.State)
			attempt.Order = o
			if payment != "" {
				failpoint.Hit("renewal_written")
				attempt.Order, err = s.chargeMethod(ctx, o, payment, buyer, method)
			}
			return attempt, err
		case len(unfit) == 0: // the buyer has changed, and with it perhaps the VAT
			if buyer, err = s.cfg.Store.GetBuyer(ctx, charge.Customer); err != nil {
				return attempt, err
			}
		}
		for _, one := range unfit {
			attempt.Unfit[one.Domain] = one.Obstacle
		}
		items, results = keep(items, results, func(i int) bool { _, drop := attempt.Unfit[items[i].Domain]; return !drop })
	}
	return attempt, errBusy()
}

// keep returns the elements of both lists at the places that match.
func keep(items []RenewalItem, results []quoteResult, match func(i int) bool) (matching []RenewalItem, quotes []quoteResult) {
	for i := range items {
		if match(i) {
			matching, quotes = append(matching, items[i]), append(quotes, results[i])
		}
	}
	return matching, quotes
}

// endFormerOrders expires the unpaid orders of the attempts before, so that no term can be
// paid twice. Items whose former order is paid or being paid are left out.
func (s *Service) endFormerOrders(ctx context.Context, items []RenewalItem, attempt RenewalAttempt) ([]RenewalItem, error) {
	busy := make(map[string]bool)
	for _, item := range items {
		if _, known := busy[item.Former]; known || item.Former == "" {
			continue
		}
		o, err := s.reload(ctx, item.Former)
		if err == nil {
			o, err = s.update(ctx, o, func(m *Transition) bool {
				s.setState(&m.To, Expired)
				m.AuditEvents = []registrar.AuditEvent{s.systemAuditEvent(ActionExpired, m.To)}
				return m.From.State.waiting()
			})
		}
		if err != nil {
			return nil, err
		}
		busy[item.Former] = o.State == Paying || o.State == Provisioning
	}
	return slices.DeleteFunc(slices.Clone(items), func(item RenewalItem) bool {
		if busy[item.Former] {
			attempt.Unfit[item.Domain] = ObstacleBusy
		}
		return busy[item.Former]
	}), nil
}

// quoteRenewals queries the registries, as ForQuote: a night's renewals must not delay
// customers who pay. It returns the items that can be renewed.
func (s *Service) quoteRenewals(ctx context.Context, customer string, buyer Buyer, items []RenewalItem, attempt RenewalAttempt) ([]RenewalItem, []quoteResult) {
	registrant := buyer.registrant()
	requests := make([]provision.QuoteRequest, len(items))
	for i, item := range items {
		requests[i] = provision.QuoteRequest{
			Customer: customer, Name: nameOf(Item{Name: item.Name, TLD: item.TLD}), Kind: Renew, Years: item.Years,
			Registrant: &registrant, Purpose: registrar.ForQuote,
		}
	}
	results := s.quoteAll(ctx, renewalConcurrency, requests)
	return keep(items, results, func(i int) bool {
		switch err := results[i].err; {
		case registrar.CodeOf(err) == RenewalInProgress:
			attempt.Unfit[items[i].Domain] = ObstacleTaken
		case isRefusal(err):
			attempt.Refused[items[i].Domain] = err
		case err != nil:
			attempt.Later[items[i].Domain] = struct{}{}
		case !buyer.HasRegistrant: // an invoice has a buyer
			attempt.Refused[items[i].Domain] = fail(registrar.KindConflict, DataMissing)
		default:
			return true
		}
		return false
	})
}

// newRenewalOrder returns a priced order and the id of its payment, if a method is saved.
func (s *Service) newRenewalOrder(ctx context.Context, charge RenewalCharge, buyer Buyer, items []RenewalItem, results []quoteResult, saved bool) (o Order, payment string, err error) {
	now := s.now()
	o = Order{
		ID: registrar.NewID(IDPrefix, now), Customer: charge.Customer, Email: buyer.Email, State: AwaitingPayment, Channel: ChannelRenewal,
		By: registrar.Actor{Kind: registrar.ActorSystem, Customer: charge.Customer}, Claimed: true,
		CreatedAt: now, UpdatedAt: now, ExpiresAt: charge.ExpiresAt, Version: 1,
	}
	// A customer's own order for the same domains stays another one: the prices may differ.
	o.ItemsKey = "renewal:" + o.ID
	for _, item := range items {
		o.Items = append(o.Items, Item{
			ID: registrar.NewID("itm_", now), Name: item.Name, TLD: item.TLD, Kind: Renew, State: ItemWaiting, Gross: item.MaxGross, TermEnd: item.TermEnd,
		})
	}
	if err := s.applyQuotes(ctx, &o, buyer, results); err != nil {
		return o, "", err
	}
	s.addLinks(&o)
	s.releaseLease(&o)
	if saved {
		o.Registrant = buyer.registrant()
		payment = s.startPayment(&o, ByMethod)
	}
	return o, payment, nil
}

// capGross reduces net amounts until none costs more than its item has announced and their total
// is not above the announced one, and returns them with their VAT. VAT is rounded once over the
// total, so the share of an item may be a cent higher than announced. Only a price or a VAT rate
// that has risen since the announcement makes a difference of more than a cent.
func capGross(nets []registrar.Cents, items []Item, rateBasisPoints int) (capped, vat []registrar.Cents, err error) {
	const whole = 10_000
	nets = slices.Clone(nets)
	// What fits stays: an order that is quoted again must not lose another cent.
	exceeds := func(i int) bool { return nets[i] > 0 && nets[i]+vat[i] > items[i].Gross }
	fits := func(i int) bool { return !exceeds(i) || billing.Gross(nets[i], rateBasisPoints) <= items[i].Gross }
	for first := true; ; first = false {
		if vat, err = billing.SplitVAT(nets, rateBasisPoints); err != nil {
			return nil, nil, err
		}
		var over registrar.Cents // of the total
		all, highest := true, -1
		for i, item := range items {
			over += nets[i] + vat[i] - item.Gross
			if all = all && fits(i); highest < 0 && exceeds(i) {
				highest = i
			}
		}
		if all && over <= 0 {
			return nets, vat, nil
		}
		if all { // only the rounding of the total is too much
			nets[highest]--
			continue
		}
		for i, item := range items {
			switch {
			case fits(i):
			case first:
				// The largest net whose gross fits, but for the rounding of the order's VAT.
				most := (item.Gross*whole + whole - 1) / registrar.Cents(whole+rateBasisPoints)
				for most > 0 && billing.Gross(most, rateBasisPoints) > item.Gross {
					most--
				}
				nets[i] = min(nets[i], most)
			default:
				nets[i]--
			}
		}
	}
}

// refuseCappedFees refuses automatic renewals of premium names whose announced price no longer
// covers what the registry charges. A cent is the rounding of VAT.
func refuseCappedFees(o Order, results []quoteResult) {
	for i, a := range results {
		if o.Channel == ChannelRenewal && a.err == nil && !a.quote.PremiumFee.IsZero() && o.Items[i].Net < a.quote.Net-1 {
			results[i].err = fail(registrar.KindConflict, registrar.NamePremium)
		}
	}
}

// chargeMethod charges the saved method for a stored payment. As with a token, only the
// process that stores the intent confirms it. The order is paid, waits for the customer, or
// is being paid if the outcome is open.
func (s *Service) chargeMethod(ctx context.Context, o Order, id string, buyer Buyer, method PaymentMethod) (Order, error) {
	o, err := s.prepareCharge(ctx, o, id, buyer, method)
	if err != nil {
		if payment := o.payment(id); payment != nil && payment.State == PaymentClosed {
			err = nil // its Failure is the outcome
		}
		return o, err
	}
	payment := o.payment(id)
	if payment == nil || payment.State != PaymentOpen {
		return o, nil // closed meanwhile
	}
	failpoint.Hit("renewal_intent_known")
	release, _ := s.paymentLocks.acquire(ctx, payment.Intent)
	defer release()
	call, cancel := s.worker.CallContext(ctx)
	outcome, err := s.cfg.Provider.Charge(call, Charge{ID: id, Order: o.ID, Amount: payment.Amount, Intent: payment.Intent, Method: method})
	cancel()
	if err != nil && registrar.IsTransient(err) {
		// If it turns out to be unpaid, the next attempt waits.
		if noted, stored := s.updatePayment(ctx, o, id, PaymentOpen, func(m *Transition, mine *Payment) {
			mine.Failure = ProviderUnavailable
			s.setLease(&m.To)
		}); stored == nil {
			o = noted
		}
		s.retryLater(ctx, o, "charge", err)
		return o, nil
	}
	failpoint.Hit("renewal_charged")
	o, failure, err := s.settleCharge(ctx, o, id, outcome, err)
	if failure != "" && err != nil && registrar.IsTransient(err) {
		err = nil // the intent is canceled later
	}
	return o, err
}

// chargingMethod reports whether a process charges the saved method right now.
func (o *Order) chargingMethod() bool {
	payment := o.inFlightPayment()
	return payment != nil && payment.Kind == ByMethod && o.Node != ""
}

// RenewalStatus is what an automatic order means for its renewals.
type RenewalStatus string

// The statuses.
const (
	RenewalOpen   RenewalStatus = "open"   // a payment is in flight
	RenewalPaid   RenewalStatus = "paid"   // its items decide
	RenewalUnpaid RenewalStatus = "unpaid" // the attempt has ended
)

// RenewalStatusOf returns the status of an automatic order, and why it is unpaid: a failure of
// its payment, or empty if the attempt was interrupted and decided nothing.
func RenewalStatusOf(o Order) (RenewalStatus, registrar.Code) {
	switch {
	case o.State == Paying:
		return RenewalOpen, ""
	case !o.State.waiting() && o.State != Expired && o.State != Canceled:
		return RenewalPaid, ""
	}
	failure := NoPaymentMethod
	for _, payment := range o.Payments {
		if payment.Kind == ByMethod {
			failure = payment.Failure
		}
	}
	return RenewalUnpaid, failure
}

// GetRenewalOrder returns an automatic order.
func (s *Service) GetRenewalOrder(ctx context.Context, id string) (Order, error) {
	return s.reload(ctx, id)
}

// RenewalTerm is a renewal to be priced.
type RenewalTerm struct {
	TLD   string
	Years int // 0 means the term on sale
	// PremiumName is the name of a premium domain, whose registry is queried for the price. Empty
	// means the list price.
	PremiumName string
}

// RenewalPrice is the price of a renewal.
type RenewalPrice struct {
	Years int
	Gross registrar.Cents
	// Net is the price without VAT, RateBasisPoints the VAT rate.
	Net             registrar.Cents
	RateBasisPoints int
	Err             error // why it has none: the extension is not sold, or the registry refuses the premium name
}

// RenewalPrices returns what renewals cost a customer today. It queries registries about premium
// names only, and returns the error if one can't be queried. While the customer's VAT ID can't be
// validated, it returns an error of KindUpstream: a price with VAT
// would be announced to a customer who pays none.
func (s *Service) RenewalPrices(ctx context.Context, customer string, terms []RenewalTerm) (map[RenewalTerm]RenewalPrice, error) {
	buyer, err := s.cfg.Store.GetBuyer(ctx, customer)
	if err != nil {
		return nil, err
	}
	prices := make(map[RenewalTerm]RenewalPrice, len(terms))
	for _, term := range terms {
		if _, known := prices[term]; known {
			continue
		}
		extension, listed := s.cfg.Extension(term.TLD)
		price := RenewalPrice{Years: max(term.Years, extension.Term())}
		switch {
		case !listed:
			price.Err = fail(registrar.KindUnsupported, registrar.ExtensionNotCarried)
		case extension.Renew <= 0:
			price.Err = fail(registrar.KindUnsupported, NoPrice)
		default:
			if price.Err = s.priceRenewal(ctx, buyer, extension, term, &price); price.Err != nil && !isRefusal(price.Err) {
				return nil, price.Err
			}
		}
		prices[term] = price
	}
	return prices, nil
}

// priceRenewal sets the amounts of a renewal's price.
func (s *Service) priceRenewal(ctx context.Context, buyer Buyer, extension registrar.Extension, term RenewalTerm, price *RenewalPrice) error {
	net := NetPrice(extension, Renew, price.Years)
	if term.PremiumName != "" {
		registrant := buyer.registrant()
		quote, err := s.cfg.Quote(ctx, provision.QuoteRequest{
			Customer: buyer.Customer, Name: nameOf(Item{Name: term.PremiumName, TLD: term.TLD}), Kind: Renew, Years: price.Years,
			Registrant: &registrant, Purpose: registrar.ForQuote,
		})
		if err != nil {
			return err
		}
		net = quote.Net
	}
	tax, err := s.cfg.Taxes.Assess(ctx, partyOf(buyer), []registrar.Cents{net}, s.now())
	switch {
	case err != nil:
		return err
	case tax.Unchecked:
		return errUnchecked()
	}
	price.Net, price.RateBasisPoints, price.Gross = net, tax.RateBasisPoints, net+tax.VAT[0]
	return nil
}

// VATRate returns the VAT rate of the actor's account today and the rule that sets it, without amounts.
// While the VAT ID can't be validated, that is the rate of an account without one.
func (s *Service) VATRate(ctx context.Context, actor registrar.Actor) (billing.Assessment, error) {
	if actor.Customer == "" {
		return billing.Assessment{}, fail(registrar.KindUnauthenticated, registrar.SignInFirst)
	}
	buyer, err := s.cfg.Store.GetBuyer(ctx, actor.Customer)
	if err != nil {
		return billing.Assessment{}, err
	}
	return s.cfg.Taxes.Assess(ctx, partyOf(buyer), nil, s.now())
}

// partyOf is what the VAT of a buyer depends on.
func partyOf(buyer Buyer) billing.Party {
	return billing.Party{Country: buyer.Country, PostalCode: buyer.PostalCode, VATID: buyer.VATID}
}

func errUnchecked() error {
	return &registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultBroken, Detail: "the VAT ID could not be validated"}
}
