package order

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// pageLives is how long a page to pay at is open. The provider's shortest is half
// an hour.
const pageLives = time.Hour

// PaymentRefused goes with KindInternal: the provider will not take this payment,
// which is for the operator to mend.
const PaymentRefused registrar.Code = "payment_refused"

// Confirmation is what a human says by pressing the button.
type Confirmation struct {
	// Gross is the one that they have seen.
	Gross registrar.Cents
	// AutoRenew asks for renewals.
	AutoRenew bool
	// Consent is the wording that a consumer has ticked; empty if they have not.
	Consent string
}

// Pay begins a payment and returns the provider's page; empty for a gross of 0,
// which this confirms. Pressing twice is the same payment.
func (s *Service) Pay(ctx context.Context, actor registrar.Actor, paySecret string, told Confirmation) (redirect string, err error) {
	o, err := s.byPayLink(ctx, paySecret)
	if err != nil {
		return "", err
	}
	if err := mayAct(actor, o); err != nil {
		return "", err
	}
	for range tries {
		if o, err = s.expire(ctx, o); err != nil {
			return "", err
		}
		var done bool
		switch o.State {
		case AwaitingPayment, AwaitingVerification:
			o, redirect, done, err = s.begin(ctx, actor, o, told)
		case Paying:
			o, redirect, done, err = s.resume(ctx, o, told)
		default:
			return "", fail(registrar.KindConflict, NotOpen)
		}
		if err != nil || done {
			return redirect, err
		}
		if o, err = s.again(ctx, o.ID); err != nil {
			return "", err
		}
	}
	return "", errBusy()
}

// begin asks for price and availability again and writes the payment down.
func (s *Service) begin(ctx context.Context, actor registrar.Actor, o Order, told Confirmation) (now Order, redirect string, done bool, err error) {
	buyer, err := s.cfg.Store.BuyerOf(ctx, o.Customer)
	if err != nil {
		return o, "", true, err
	}
	wishes, err := s.wishes(o, buyer)
	if err != nil {
		return o, "", true, err
	}
	purpose := paymentPurpose(o, buyer)
	if told.Gross != o.Totals.Gross || buyer.Consumer(o.Totals) && !told.consents() {
		purpose = registrar.ForQuote // it can't be charged so
	}
	answers, err := s.askFresh(ctx, actor, purpose, wishes)
	if err != nil {
		return o, "", true, err
	}
	if err := refusal(o.Items, answers); err != nil {
		return o, "", true, err
	}
	priced := o.clone()
	if err := s.price(ctx, &priced, buyer, answers); err != nil {
		return o, "", true, err
	}
	if dearer(o, priced) || o.State != priced.State {
		stored, err := s.reprice(ctx, o, priced)
		switch {
		case err != nil:
			return o, "", true, err
		case dearer(o, stored):
			return stored, "", true, fail(registrar.KindConflict, PriceChanged)
		}
		return stored, "", false, nil
	}
	consumer := buyer.Consumer(priced.Totals)
	switch words, _ := missing(priced, buyer, answers); {
	case told.Gross != priced.Totals.Gross:
		return o, "", true, fail(registrar.KindConflict, PriceChanged)
	case len(words) > 0:
		return o, "", true, fail(registrar.KindConflict, DataMissing)
	case consumer && !told.consents():
		return o, "", true, fail(registrar.KindInvalid, ConsentMissing)
	}
	priced.AutoRenew, priced.Consent, priced.Registrant = told.AutoRenew, s.consent(consumer, told), buyer.holder()
	// While the registries were asked, the buyer may have become somebody else: a
	// consumer, say.
	m := Move{Was: o, For: o.payer(buyer)}
	if priced.Consent.Given() {
		m.Deeds = append(m.Deeds, s.deed(actor, ActionConsent, o))
	}
	if priced.Totals.Gross == 0 {
		m.Order, m.Deeds = priced, append(m.Deeds, s.deed(actor, ActionFree, o))
		moved, err := s.provision(ctx, &m)
		return m.Order, "", moved || err != nil, err
	}
	created := s.now()
	priced.Payments = append(priced.Payments, Payment{
		ID: registrar.NewID("pay_", created), Kind: ByPage, State: PaymentOpening, Amount: priced.Totals.Gross,
		CreatedAt: created, EndsAt: created.Add(pageLives), UpdatedAt: created,
	})
	s.enter(&priced, Paying)
	s.hold(&priced)
	m.Order = priced
	moved, err := s.move(ctx, &m)
	if err != nil || !moved {
		return o, "", err != nil, err
	}
	boundary(atPaymentWritten)
	return s.openPage(ctx, m.Order, buyer)
}

// payer is the buyer as Move.For has it. The registrant of an unclaimed order changes
// with the order alone.
func (o *Order) payer(buyer Buyer) *Buyer {
	if !o.Claimed {
		return nil
	}
	return &buyer
}

// resume finds the page of the payment that is under way, or closes it if the human
// wants another one.
func (s *Service) resume(ctx context.Context, o Order, told Confirmation) (now Order, redirect string, done bool, err error) {
	payment := o.underWay()
	if payment == nil {
		return o, "", false, nil // it was settled while its rows were read
	}
	if told.Gross != payment.Amount {
		return o, "", true, fail(registrar.KindConflict, PriceChanged)
	}
	if payment.Kind == ByToken && o.Node != "" { // an agent is paying this very moment
		return o, "", true, fail(registrar.KindConflict, NotOpen)
	}
	unsaid, err := s.unsaid(ctx, o)
	switch {
	case err != nil:
		return o, "", true, err
	case unsaid && !told.consents():
		return o, "", true, fail(registrar.KindInvalid, ConsentMissing)
	}
	if payment.Kind == ByToken {
		o, err = s.closePage(ctx, o)
		return o, "", err != nil, err
	}
	// A page that nobody is making any more could not be made, and a provider may
	// remember that under the payment's id for a day. Nobody has its address.
	failed := payment.State == PaymentOpening && o.Node == ""
	if failed || unsaid || payment.State == PaymentClosing || told.AutoRenew != o.AutoRenew {
		o, err = s.closePage(ctx, o)
		return o, "", err != nil, err
	}
	if payment.State == PaymentOpening {
		buyer, err := s.cfg.Store.BuyerOf(ctx, o.Customer)
		if err != nil {
			return o, "", true, err
		}
		return s.openPage(ctx, o, buyer)
	}
	// It may be paid already, or its time may be over.
	id, url := payment.ID, payment.URL
	if err := s.lookLately(ctx, o, id, "pay"); err != nil {
		return o, "", true, err
	}
	if o, err = s.again(ctx, o.ID); err != nil {
		return o, "", true, err
	}
	if payment = o.payment(id); o.State == Paying && payment != nil && payment.State == PaymentOpen {
		return o, url, true, nil
	}
	return o, "", false, nil
}

// openPage makes the page of a payment that is written down. The human gets its
// address only after it is stored, so a page that is not is nobody's.
func (s *Service) openPage(ctx context.Context, o Order, buyer Buyer) (now Order, redirect string, done bool, err error) {
	if over, err := s.overTogether(ctx, o, buyer); err != nil || over {
		if err == nil {
			o, err = s.closePage(ctx, o)
		}
		return o, "", err != nil, err
	}
	// Nobody changes the registrant while an order is being paid; but it may have
	// been changed between the price and the first word about this payment.
	if present, err := s.cfg.Store.BuyerOf(ctx, o.Customer); err != nil || present != buyer || present.holder() != o.Registrant {
		if err == nil {
			o, err = s.closePage(ctx, o)
		}
		return o, "", err != nil, err
	}
	payment := o.underWay()
	page, err := s.page(o, *payment, buyer)
	if err != nil {
		return o, "", true, err
	}
	call, cancel := s.calling(ctx)
	opened, err := s.cfg.Payments.OpenPage(call, page)
	cancel()
	if err != nil && waits(err) {
		s.wait(ctx, o, "page", err)
		return o, "", true, err
	}
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "the payment provider refuses to make a page to pay at", "order", o.ID, "payment", payment.ID, "error", err.Error())
		o, stored := s.abandon(ctx, o, payment.ID)
		if stored != nil {
			return o, "", true, stored
		}
		return o, "", true, &registrar.Error{Kind: registrar.KindInternal, Code: PaymentRefused, Err: err}
	}
	boundary(atPageMade)
	next := o.clone()
	mine := next.payment(payment.ID)
	mine.State, mine.Session, mine.URL, mine.UpdatedAt = PaymentOpen, opened.Session, opened.URL, s.now()
	if !opened.EndsAt.IsZero() {
		mine.EndsAt = opened.EndsAt
	}
	next.Attempts = 0
	s.rest(&next)
	m := Move{Was: o, Order: next}
	moved, err := s.move(ctx, &m)
	if err != nil || !moved {
		return o, "", err != nil, err
	}
	boundary(atPageKnown)
	return m.Order, opened.URL, true, nil
}

// page is the same each time for one payment, as its idempotency key demands.
func (s *Service) page(o Order, payment Payment, buyer Buyer) (Page, error) {
	address, err := s.PayURL(o)
	if err != nil {
		return Page{}, err
	}
	page := Page{
		ID: payment.ID, Order: o.ID, Amount: payment.Amount,
		Customer: o.Customer, Email: buyer.Email, Holder: buyer.PaymentHolder, Language: buyer.Language, Keep: o.AutoRenew,
		Paid: address + "/paid", Back: address + "/back", EndsAt: payment.EndsAt,
	}
	for _, item := range o.Items {
		page.Lines = append(page.Lines, PageLine{Name: item.Name, Kind: item.Kind, Years: item.Years, Amount: item.Gross})
	}
	return page, nil
}

// abandon closes a payment whose page nobody has: only the one that stores a page
// gives its address away. If that one was faster, nothing happens.
func (s *Service) abandon(ctx context.Context, o Order, id string) (Order, error) {
	return s.change(ctx, o, func(was Order) (Move, bool) {
		m := Move{Order: was.clone()}
		mine := m.Order.payment(id)
		if mine == nil || mine.State != PaymentOpening {
			return Move{}, false
		}
		mine.State, mine.UpdatedAt = PaymentClosed, s.now()
		s.reopen(&m)
		return m, true
	})
}

// closePage takes the page of the payment under way from the human, so that the
// order can go another way. If it is paid already, the order goes on instead.
func (s *Service) closePage(ctx context.Context, o Order) (Order, error) {
	payment := o.underWay()
	if payment == nil {
		return s.again(ctx, o.ID) // it was settled while its rows were read
	}
	id := payment.ID
	o, err := s.abandon(ctx, o, id)
	if err != nil {
		return o, err
	}
	o, err = s.change(ctx, o, func(was Order) (Move, bool) {
		now := was.clone()
		mine := now.payment(id)
		if mine == nil || mine.State != PaymentOpen {
			return Move{}, false
		}
		mine.State, mine.UpdatedAt = PaymentClosing, s.now()
		s.hold(&now)
		return Move{Order: now}, true
	})
	if err != nil {
		return o, err
	}
	if payment = o.payment(id); payment.State != PaymentClosing {
		return o, nil // somebody has settled it meanwhile
	}
	boundary(atCloseWritten)
	call, cancel := s.calling(ctx)
	standing, err := s.shutDown(call, *payment)
	cancel()
	if err != nil {
		s.wait(ctx, o, "close", err)
		return o, err
	}
	boundary(atPageClosed)
	if !standing.Paid && !standing.Ended {
		err := &registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultBroken, Detail: "the payment page stays open"}
		s.wait(ctx, o, "close", err)
		return o, err
	}
	return s.settle(ctx, o, id, standing)
}
