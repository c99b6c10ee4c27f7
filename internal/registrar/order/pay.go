package order

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

const pageTTL = time.Hour // of a payment page; the provider's minimum is 30 minutes

// Confirmation is what a customer confirms by pressing the button.
type Confirmation struct {
	Gross registrar.Cents // the amount that was shown
	// Items is the ItemsDigest that was shown. It may be empty, except for an order
	// whose items change: a renewal basket, or one from which an item was removed.
	Items     string
	AutoRenew bool // automatic renewal was ticked, with this wording and these prices
	// RenewalWording and RenewalPrices are what was shown with it; see RenewalPrices.
	RenewalWording, RenewalPrices string
	Consent                       string // the wording that a consumer ticked; empty if none
}

// ItemsDigest is equal for orders whose items look equal to the customer: the same names, kinds,
// years, terms and holders.
func (o Order) ItemsDigest() string {
	hash := sha256.New()
	for _, item := range o.Items {
		var ends int64
		if !item.TermEnd.IsZero() {
			ends = item.TermEnd.Unix()
		}
		fmt.Fprintf(hash, "%s %s %d %d%s\n", item.Kind, item.Name, item.Years, ends, item.Holder)
	}
	return base64.RawURLEncoding.EncodeToString(hash.Sum(nil))
}

// showedItems reports whether the customer saw the order's items.
func (c Confirmation) showedItems(o Order) bool {
	return c.Items == o.ItemsDigest() || c.Items == "" && !o.IsRenewalBasket() && !strings.HasPrefix(o.ItemsKey, changedKey)
}

// Pay starts a payment and returns the provider's page; empty for a gross of 0, which
// Pay confirms. Calling it again returns the same payment.
func (s *Service) Pay(ctx context.Context, actor registrar.Actor, paySecret string, confirmation Confirmation) (redirect string, err error) {
	ctx, span := tracing.Start(ctx, "order", "pay")
	redirect, err = s.pay(ctx, actor, paySecret, confirmation)
	span.End(err)
	return redirect, err
}

func (s *Service) pay(ctx context.Context, actor registrar.Actor, paySecret string, confirmation Confirmation) (redirect string, err error) {
	o, err := s.ownOrder(ctx, actor, paySecret)
	if err != nil {
		return "", err
	}
	for range maxAttempts {
		if o, err = s.expire(ctx, o); err != nil {
			return "", err
		}
		switch o.State {
		case AwaitingPayment, AwaitingVerification:
			redirect, err = s.beginPayment(ctx, actor, o, confirmation)
		case Paying:
			redirect, err = s.resumePayment(ctx, o, confirmation)
		default:
			return "", fail(registrar.KindConflict, NotOpen)
		}
		if !errors.Is(err, errConflict) {
			return redirect, err
		}
		if o, err = s.reload(ctx, o.ID); err != nil {
			return "", err
		}
	}
	return "", errBusy()
}

// beginPayment quotes the items again and stores the payment. It returns errConflict if the
// order has changed.
func (s *Service) beginPayment(ctx context.Context, actor registrar.Actor, o Order, confirmation Confirmation) (redirect string, err error) {
	if !confirmation.showedItems(o) {
		return "", fail(registrar.KindConflict, ItemsChanged)
	}
	buyer, err := s.cfg.Store.GetBuyer(ctx, o.Customer)
	if err != nil {
		return "", err
	}
	purpose := paymentPurpose(o, buyer)
	if confirmation.Gross != o.Totals.Gross || buyer.Consumer(o.Totals) && !confirmation.hasConsent() {
		purpose = registrar.ForQuote // can't be charged as it is
	}
	priced := o.clone()
	results, err := s.quoteOrder(ctx, actor, purpose, &priced, buyer)
	if err != nil {
		return "", err
	}
	if priceDiffers(o, priced) || o.State != priced.State {
		stored, err := s.reprice(ctx, o, priced)
		switch {
		case err != nil:
			return "", err
		case priceDiffers(o, stored) && !countryAdded(o, stored, buyer):
			return "", fail(registrar.KindConflict, PriceChanged)
		}
		return "", errConflict
	}
	consumer := buyer.Consumer(priced.Totals)
	switch words, _ := missingData(priced, buyer, results); {
	case confirmation.Gross != priced.Totals.Gross:
		return "", fail(registrar.KindConflict, PriceChanged)
	case len(words) > 0:
		return "", fail(registrar.KindConflict, DataMissing)
	case consumer && !confirmation.hasConsent():
		return "", fail(registrar.KindInvalid, ConsentMissing)
	}
	if err := s.agreeToRenewal(ctx, actor, &priced, confirmation); err != nil {
		return "", err
	}
	priced.Registrant = buyer.registrant()
	priced.Consent = Consent{}
	if consumer {
		priced.Consent = Consent{At: s.now(), Wording: confirmation.Consent}
	}
	if priced.ItemsKey == basketKey { // from here on, renewals go to another basket
		priced.ItemsKey = basketKey + ":" + o.ID
	}
	// The buyer may have changed while the registries were queried, for example into a
	// consumer.
	m := Transition{From: o, ExpectedBuyer: o.expectedBuyer(buyer)}
	free := priced.Totals.Gross == 0
	if priced.Consent.Given() {
		m.AuditEvents = append(m.AuditEvents, s.auditEvent(actor, ActionConsent, o))
	}
	if free || !priced.Consent.Given() { // otherwise the consent records who ordered
		m.AuditEvents = append(m.AuditEvents, s.auditEvent(actor, ActionConfirmed, o))
	}
	if free {
		m.To = priced
		s.startProvisioning(&m)
		return "", s.transition(ctx, &m)
	}
	s.startPayment(&priced, ByPage)
	m.To = priced
	if err := s.transition(ctx, &m); err != nil {
		return "", err
	}
	failpoint.Hit("payment_written")
	_, redirect, err = s.openPage(ctx, m.To, buyer)
	return redirect, err
}

func (s *Service) startPayment(o *Order, kind PaymentKind) (id string) {
	now := s.now()
	id = registrar.NewID("pay_", now)
	o.Payments = append(o.Payments, Payment{
		ID: id, Kind: kind, State: PaymentOpening, Amount: o.Totals.Gross, CreatedAt: now, EndsAt: now.Add(pageTTL), UpdatedAt: now,
	})
	s.setState(o, Paying)
	s.setLease(o)
	return id
}

// expectedBuyer returns the buyer for Transition.ExpectedBuyer. The registrant of an
// unclaimed order changes only with the order, so it needs no comparison.
func (o *Order) expectedBuyer(buyer Buyer) *Buyer {
	if !o.Claimed {
		return nil
	}
	return &buyer
}

// resumePayment returns the page of the payment in flight. It closes the page and returns
// errConflict if the customer chose different options.
func (s *Service) resumePayment(ctx context.Context, o Order, confirmation Confirmation) (redirect string, err error) {
	payment := o.inFlightPayment()
	if payment == nil {
		return "", errConflict // settled between the queries that read the order
	}
	switch {
	case !confirmation.showedItems(o):
		return "", fail(registrar.KindConflict, ItemsChanged)
	case confirmation.Gross != payment.Amount:
		return "", fail(registrar.KindConflict, PriceChanged)
	case payment.Kind == ByToken && o.Node != "": // an agent is paying right now
		return "", fail(registrar.KindConflict, NotOpen)
	case o.chargingMethod():
		return "", fail(registrar.KindConflict, RenewalInProgress)
	}
	lacksConsent, err := s.lacksConsent(ctx, o)
	switch {
	case err != nil:
		return "", err
	case lacksConsent && !confirmation.hasConsent():
		return "", fail(registrar.KindInvalid, ConsentMissing)
	}
	// A page without a worker could not be created, and a provider may return that
	// failure under the payment's id for a day. Its URL is unknown.
	failed := payment.State == PaymentOpening && o.Node == ""
	if payment.Kind.byIntent() || failed || lacksConsent || payment.State == PaymentClosing || !confirmation.sameRenewal(o) {
		if _, err = s.closePayment(ctx, o); err == nil {
			err = errConflict
		}
		return "", err
	}
	if payment.State == PaymentOpening {
		buyer, err := s.cfg.Store.GetBuyer(ctx, o.Customer)
		if err == nil {
			_, redirect, err = s.openPage(ctx, o, buyer)
		}
		return redirect, err
	}
	// It may be paid already, or expired.
	id, url := payment.ID, payment.URL
	if err := s.refreshPaymentCached(ctx, o, id, "pay"); err != nil {
		return "", err
	}
	if o, err = s.reload(ctx, o.ID); err != nil {
		return "", err
	}
	if payment = o.payment(id); o.State == Paying && payment != nil && payment.State == PaymentOpen {
		return url, nil
	}
	return "", errConflict
}

// mustRecheck reports whether an order whose payment is stored can't be paid as it was priced:
// other payments now require an identity, or the order was stored with another registrant than
// the buyer's. That of an account can't change while an order is being paid, and the
// transition that stored the payment has compared it (Transition.ExpectedBuyer).
func (s *Service) mustRecheck(ctx context.Context, o Order, buyer Buyer) (bool, error) {
	needed, err := s.needsIdentity(ctx, o, buyer, 0, false)
	return needed || o.Claimed && buyer.registrant() != o.Registrant, err
}

// openPage creates the page of a stored payment. The customer gets the URL only after
// it is stored, so a page that is not stored is never paid. errConflict means that the order
// has changed, or that its payment was closed again.
func (s *Service) openPage(ctx context.Context, o Order, buyer Buyer) (now Order, redirect string, err error) {
	refused, err := s.mustRecheck(ctx, o, buyer)
	if err == nil && refused {
		if o, err = s.closePayment(ctx, o); err == nil {
			err = errConflict
		}
	}
	if err != nil {
		return o, "", err
	}
	payment := o.inFlightPayment()
	page, err := s.buildPage(o, *payment, buyer)
	if err != nil {
		return o, "", err
	}
	call, cancel := s.worker.CallContext(ctx)
	opened, err := s.cfg.Provider.OpenPage(call, page)
	cancel()
	if err != nil && registrar.IsTransient(err) {
		s.retryLater(ctx, o, "page", err)
		return o, "", err
	}
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "payment page refused", "order", o.ID, "payment", payment.ID, "error", err.Error())
		o, stored := s.abandonPayment(ctx, o, payment.ID, "")
		if stored != nil {
			return o, "", stored
		}
		return o, "", &registrar.Error{Kind: registrar.KindInternal, Code: ProviderRefused, Err: err}
	}
	failpoint.Hit("page_made")
	next := o.clone()
	mine := next.payment(payment.ID)
	mine.State, mine.Session, mine.URL, mine.UpdatedAt = PaymentOpen, opened.Session, opened.URL, s.now()
	if !opened.EndsAt.IsZero() {
		mine.EndsAt = opened.EndsAt
	}
	next.Attempts = 0
	s.releaseLease(&next)
	m := Transition{From: o, To: next}
	if err := s.transition(ctx, &m); err != nil {
		return o, "", err
	}
	failpoint.Hit("page_known")
	return m.To, opened.URL, nil
}

// buildPage is the same each time for one payment, as its idempotency key requires.
func (s *Service) buildPage(o Order, payment Payment, buyer Buyer) (PaymentPage, error) {
	address, err := s.PayURL(o)
	if err != nil {
		return PaymentPage{}, err
	}
	return PaymentPage{
		ID: payment.ID, Order: o.ID, Items: o.Items, Rounded: o.Rounded(), Amount: payment.Amount,
		Customer: o.Customer, Email: buyer.Email, ProviderCustomer: buyer.ProviderCustomer, Language: buyer.Language, SaveMethod: o.AutoRenew,
		PaidURL: address + "/paid", BackURL: address + "/back", EndsAt: payment.EndsAt,
	}, nil
}

// abandonPayment closes a payment whose page was never given out: only the process that
// stores a page returns its URL. If that happened first, abandonPayment does nothing.
func (s *Service) abandonPayment(ctx context.Context, o Order, id string, failure registrar.Code) (Order, error) {
	return s.updatePayment(ctx, o, id, PaymentOpening, func(m *Transition, mine *Payment) {
		mine.State, mine.Failure = PaymentClosed, failure
		s.reopenOrder(m)
	})
}

// closePayment closes the payment in flight so that the order can be paid another way.
// If it is paid already, the order continues.
func (s *Service) closePayment(ctx context.Context, o Order) (Order, error) {
	payment := o.inFlightPayment()
	if payment == nil {
		return s.reload(ctx, o.ID) // settled between the queries that read the order
	}
	id := payment.ID
	o, err := s.abandonPayment(ctx, o, id, "")
	if err != nil {
		return o, err
	}
	o, err = s.updatePayment(ctx, o, id, PaymentOpen, func(m *Transition, mine *Payment) {
		mine.State = PaymentClosing
		s.setLease(&m.To)
	})
	if err != nil {
		return o, err
	}
	if payment = o.payment(id); payment.State != PaymentClosing {
		return o, nil // settled meanwhile
	}
	failpoint.Hit("close_written")
	call, cancel := s.worker.CallContext(ctx)
	closeCall := s.cfg.Provider.ClosePage
	if payment.Kind.byIntent() {
		closeCall = s.cfg.Provider.CancelCharge
	}
	status, err := closeCall(call, payment.Session)
	cancel()
	if err == nil {
		failpoint.Hit("page_closed")
		if !status.Paid && !status.Ended {
			err = &registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultBroken, Detail: "payment page is still open after closing it"}
		}
	}
	if err != nil {
		s.retryLater(ctx, o, "close", err)
		return o, err
	}
	return s.applyPaymentStatus(ctx, o, id, status)
}
