package order

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// displayTimeout bounds how long a page waits for registries: it shows what is
	// known rather than nothing.
	displayTimeout = 4 * time.Second
	maxAuthCode    = 100
)

// View is what the page at payment_url shows. Whoever has the link sees the
// order; only its customer sees who they are, and only for them the registries are
// asked again. If prices have changed, the order has the new ones already.
func (s *Service) View(ctx context.Context, actor registrar.Actor, paySecret string) (View, error) {
	o, err := s.orderByPayLink(ctx, paySecret)
	if err != nil {
		return View{}, err
	}
	if o, err = s.expire(ctx, o); err != nil {
		return View{}, err
	}
	buyer, err := s.cfg.Store.GetBuyer(ctx, o.Customer)
	if err != nil && registrar.CodeOf(err) != NoSuchCustomer { // a closed account keeps its orders
		return View{}, err
	}
	view := View{Order: o, IsOwner: isOwner(actor, o)}
	if !view.IsOwner {
		view.Owner = Buyer{Email: maskEmail(buyer.Email)}
		return view, nil
	}
	view.Owner = buyer
	if !o.State.Open() {
		return view, nil
	}
	view.Warnings = s.warnings(ctx, o)
	if o.State == Paying {
		view.Payable = true
		return view, nil
	}
	err = s.refreshView(ctx, actor, &view)
	return view, err
}

// refreshView gives the view of an open order present prices, and what the registries say
// or said last.
func (s *Service) refreshView(ctx context.Context, actor registrar.Actor, view *View) error {
	requests, err := s.quoteRequests(view.Order, view.Owner)
	if err != nil {
		return err
	}
	quoteCtx, cancel := context.WithTimeout(ctx, displayTimeout)
	results := s.quoteForDisplay(quoteCtx, actor, requests)
	cancel()
	priced := view.Order.clone()
	if err := s.applyQuotes(ctx, &priced, view.Owner, results); err != nil {
		return err
	}
	if view.Order, err = s.reprice(ctx, view.Order, priced); err != nil {
		return err
	}
	view.addQuotes(results)
	view.Payable = len(view.Missing) == 0 && len(view.Refused) == 0 && view.Order.State.Open()
	return nil
}

// maskEmail is an address that its owner recognises and nobody else can use: the
// domain may be a name, too.
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

// SetAuthCode tells the auth code of a transfer. The registry is asked whether it is
// the right one; if it can't be asked now, it is before the payment.
func (s *Service) SetAuthCode(ctx context.Context, actor registrar.Actor, paySecret, item, code string) error {
	o, err := s.orderByPayLink(ctx, paySecret)
	if err != nil {
		return err
	}
	if err := requireOwner(actor, o); err != nil {
		return err
	}
	code = strings.TrimSpace(code)
	target := o.item(item)
	switch {
	case target == nil || target.Kind != Transfer:
		return fail(registrar.KindInvalid, NotTransfer)
	case code == "" || len(code) > maxAuthCode || strings.ContainsFunc(code, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }):
		return fail(registrar.KindInvalid, BadCode)
	case o.State != AwaitingPayment && o.State != AwaitingVerification:
		return fail(registrar.KindConflict, NotOpen)
	}
	results, err := s.quoteFresh(ctx, actor, registrar.ForQuote, []QuoteRequest{{Customer: o.Customer, Name: nameOf(*target), Kind: Transfer, Code: code}})
	if err != nil {
		return err
	}
	if err := results[0].err; isRefusal(err) {
		return err
	}
	sealed := s.cfg.Seal.Seal(registrar.AuthCodePurpose(target.Name), code)
	open := false
	_, err = s.updateWithRetry(ctx, o, func(was Order) (Transition, bool) {
		open = was.State == AwaitingPayment || was.State == AwaitingVerification
		now := was.clone()
		if open {
			now.item(item).SealedCode = sealed
		}
		return Transition{To: now}, open
	})
	if err == nil && !open {
		err = fail(registrar.KindConflict, NotOpen)
	}
	return err
}

// Decline ends an order that nobody has paid. A page to pay at that is open is
// closed first; if it turns out to be paid, the order goes on.
func (s *Service) Decline(ctx context.Context, actor registrar.Actor, paySecret string) error {
	o, err := s.orderByPayLink(ctx, paySecret)
	if err != nil {
		return err
	}
	if err := requireOwner(actor, o); err != nil {
		return err
	}
	_, err = s.cancel(ctx, actor, o)
	return err
}

// cancel ends an order that nobody has paid. What is under way is closed first.
func (s *Service) cancel(ctx context.Context, actor registrar.Actor, o Order) (Order, error) {
	var err error
	for range maxAttempts {
		if o.State != Paying {
			break
		}
		if o, err = s.closePayment(ctx, o); err != nil {
			return o, err
		}
	}
	return s.cancelUnpaid(ctx, actor, o)
}

// cancelUnpaid cancels an order that waits. It is NotOpen, and comes back as it is, if
// somebody has begun to pay meanwhile or it has ended otherwise.
func (s *Service) cancelUnpaid(ctx context.Context, actor registrar.Actor, o Order) (Order, error) {
	ended := false
	o, err := s.updateWithRetry(ctx, o, func(was Order) (Transition, bool) {
		ended = was.State == AwaitingPayment || was.State == AwaitingVerification
		now := was.clone()
		s.setState(&now, Canceled)
		return Transition{To: now, AuditEvents: []registrar.AuditEvent{s.auditEvent(actor, ActionCanceled, now)}}, ended
	})
	if err == nil && !ended && o.State != Canceled {
		err = fail(registrar.KindConflict, NotOpen)
	}
	return o, err
}

// HandleReturn is called when a browser comes back from having paid. That is only a
// reason to look, so it does not matter whose browser it is; and whoever has the link
// can come back as often as they like, so a payment is looked at once in a while.
func (s *Service) HandleReturn(ctx context.Context, _ registrar.Actor, paySecret string) error {
	o, err := s.orderByPayLink(ctx, paySecret)
	if err != nil || o.State != Paying {
		return err
	}
	payment := o.inFlightPayment()
	if payment == nil || payment.Session == "" {
		return nil
	}
	return s.refreshPaymentCached(ctx, o, payment.ID, "paid")
}

// AbortPayment is called when the human comes back without having paid: the page is closed,
// and the order waits for a payment again.
func (s *Service) AbortPayment(ctx context.Context, actor registrar.Actor, paySecret string) error {
	o, err := s.orderByPayLink(ctx, paySecret)
	if err != nil {
		return err
	}
	if err := requireOwner(actor, o); err != nil {
		return err
	}
	if o.State != Paying {
		return nil
	}
	_, err = s.closePayment(ctx, o)
	return err
}
