package order

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

const (
	displayTimeout = 4 * time.Second // after which a page shows what is known
	maxAuthCode    = 100
)

// View returns what the page at payment_url shows. Anyone with the link sees the order,
// but only its customer sees their own data, and registries are queried only for them.
// Changed prices are stored before View returns.
func (s *Service) View(ctx context.Context, actor registrar.Actor, paySecret string) (View, error) {
	o, err := s.orderByPayLink(ctx, paySecret)
	if err != nil {
		return View{}, err
	}
	if o, err = s.expire(ctx, o); err != nil {
		return View{}, err
	}
	buyer, err := s.cfg.Store.GetBuyer(ctx, o.Customer)
	if err != nil && registrar.CodeOf(err) != registrar.NoSuchCustomer { // a closed account keeps its orders
		return View{}, err
	}
	view := View{Order: o, IsOwner: isOwner(actor, o)}
	if !view.IsOwner {
		view.Owner = Buyer{Email: maskEmail(buyer.Email), Language: buyer.Language} // the page's language before the sign-in
		return view, nil
	}
	view.Owner = buyer
	if !o.State.Open() {
		view.Renewals = s.ItemRenewalPrices(o) // of the domains that it has provided
		return view, nil
	}
	view.Warnings = s.warnings(ctx, o)
	if o.State == Paying {
		view.Payable = true
		return view, nil
	}
	if view.OpenNotices, err = s.openNotices(ctx, o); err != nil {
		return View{}, err
	}
	err = s.refreshView(ctx, actor, &view)
	return view, err
}

// refreshView adds current prices and the registries' latest responses to an open order.
func (s *Service) refreshView(ctx context.Context, actor registrar.Actor, view *View) error {
	requests, err := s.quoteRequests(ctx, &view.Order, view.Owner)
	if err != nil {
		return err
	}
	quoteCtx, cancel := context.WithTimeout(ctx, displayTimeout)
	results := s.quoteForDisplay(quoteCtx, actor, requests)
	cancel()
	refuseEndedTerms(view.Order.Items, results)
	refuseHolders(view.Order.Items, view.Owner, results)
	refuseCappedFees(view.Order, results)
	priced := view.Order.clone()
	if err := s.applyQuotes(ctx, &priced, view.Owner, results); err != nil {
		return err
	}
	if view.Order, err = s.reprice(ctx, view.Order, priced); err != nil {
		return err
	}
	view.addQuotes(results)
	view.Payable = len(view.Missing) == 0 && len(view.Refused) == 0 && view.Order.State.Open()
	if s.cfg.IsRenewalWording != nil {
		view.Renewals = s.ItemRenewalPrices(view.Order)
	}
	return nil
}

// maskEmail leaves what the owner recognises. The domain may be a personal name, too.
func maskEmail(email string) string {
	local, domain, found := strings.Cut(email, "@")
	if !found || local == "" || domain == "" {
		return ""
	}
	initial := func(text string) string {
		r, _ := utf8.DecodeRuneInString(text)
		return string(r) + "•••"
	}
	hidden := initial(local) + "@" + initial(domain)
	if dot := strings.LastIndexByte(domain, '.'); dot > 0 {
		hidden += domain[dot:]
	}
	return hidden
}

// IsAuthCode reports whether text can be an auth code.
func IsAuthCode(text string) bool {
	return text != "" && len(text) <= maxAuthCode && !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) })
}

// SetAuthCode stores the auth code of a transfer after the registry has checked it. If
// the registry can't be queried, the code is checked before payment.
func (s *Service) SetAuthCode(ctx context.Context, actor registrar.Actor, paySecret, item, code string) error {
	o, err := s.ownOrder(ctx, actor, paySecret)
	if err != nil {
		return err
	}
	code = strings.TrimSpace(code)
	target := o.item(item)
	switch {
	case target == nil || target.Kind != Transfer:
		return fail(registrar.KindInvalid, NotTransfer)
	case !IsAuthCode(code):
		return fail(registrar.KindInvalid, BadCode)
	case !o.State.waiting():
		return fail(registrar.KindConflict, NotOpen)
	}
	results, err := s.quoteFresh(ctx, actor, registrar.ForQuote, []provision.QuoteRequest{{Customer: o.Customer, Name: nameOf(*target), Kind: Transfer, Code: code}})
	if err != nil {
		return err
	}
	if err := results[0].err; isRefusal(err) {
		return err
	}
	sealed := s.cfg.Seal.Seal(registrar.AuthCodePurpose(target.Name), code)
	open := false
	_, err = s.update(ctx, o, func(m *Transition) bool {
		if open = m.From.State.waiting(); open {
			m.To.item(item).SealedCode = sealed
		}
		return open
	})
	if err == nil && !open {
		err = fail(registrar.KindConflict, NotOpen)
	}
	return err
}

// Decline cancels an unpaid order. An open payment page is closed first; if it turns
// out to be paid, the order continues.
func (s *Service) Decline(ctx context.Context, actor registrar.Actor, paySecret string) error {
	o, err := s.ownOrder(ctx, actor, paySecret)
	if err != nil {
		return err
	}
	_, err = s.cancel(ctx, actor, o)
	return err
}

// cancel closes any payment in flight first.
func (s *Service) cancel(ctx context.Context, actor registrar.Actor, o Order) (Order, error) {
	for attempt := 0; o.State == Paying && attempt < maxAttempts; attempt++ {
		if o.chargingMethod() {
			return o, fail(registrar.KindConflict, RenewalInProgress)
		}
		var err error
		if o, err = s.closePayment(ctx, o); err != nil {
			return o, err
		}
	}
	return s.cancelUnpaid(ctx, actor, o)
}

// cancelUnpaid cancels an order that awaits payment or verification. It returns NotOpen
// and the current order if a payment was started or the order has ended otherwise.
func (s *Service) cancelUnpaid(ctx context.Context, actor registrar.Actor, o Order) (Order, error) {
	if err := s.relistTransfers(ctx, o); err != nil {
		return o, err
	}
	o, err := s.update(ctx, o, func(m *Transition) bool {
		s.setState(&m.To, Canceled)
		m.AuditEvents = []registrar.AuditEvent{s.auditEvent(actor, ActionCanceled, m.To)}
		return m.From.State.waiting()
	})
	if err == nil && o.State != Canceled {
		err = fail(registrar.KindConflict, NotOpen)
	}
	return o, err
}

// HandleReturn is called when a browser returns from the payment page. It only triggers
// a check, so any browser may call it, and checks are limited by RecheckInterval.
func (s *Service) HandleReturn(ctx context.Context, _ registrar.Actor, paySecret string) error {
	o, err := s.orderByPayLink(ctx, paySecret)
	if err != nil || o.State != Paying {
		return err
	}
	payment := o.inFlightPayment()
	if payment == nil || payment.Session == "" {
		return nil
	}
	release, waited := s.paymentLocks.acquire(ctx, payment.Session)
	defer release()
	if s.capturedJustNow(payment.Session) {
		return nil
	}
	if waited {
		if o, err = s.reload(ctx, o.ID); err != nil || o.State != Paying {
			return err
		}
	}
	return s.refreshPaymentCached(ctx, o, payment.ID, "paid")
}

// AbortPayment is called when the customer returns without having paid: the page is
// closed and the order awaits payment again.
func (s *Service) AbortPayment(ctx context.Context, actor registrar.Actor, paySecret string) error {
	o, err := s.ownOrder(ctx, actor, paySecret)
	if err != nil {
		return err
	}
	if o.State != Paying || o.chargingMethod() {
		return nil
	}
	_, err = s.closePayment(ctx, o)
	return err
}
