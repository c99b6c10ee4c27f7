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
	// lookWithin bounds how long a page waits for registries: it shows what is
	// known rather than nothing.
	lookWithin = 4 * time.Second
	maxCode    = 100
)

// Visit is what the page at payment_url shows. Whoever has the link sees the
// order; only its customer sees who they are, and only for them the registries are
// asked again. If prices have changed, the order has the new ones already.
func (s *Service) Visit(ctx context.Context, actor registrar.Actor, paySecret string) (View, error) {
	o, err := s.byPayLink(ctx, paySecret)
	if err != nil {
		return View{}, err
	}
	if o, err = s.expire(ctx, o); err != nil {
		return View{}, err
	}
	buyer, err := s.cfg.Store.BuyerOf(ctx, o.Customer)
	if err != nil && registrar.CodeOf(err) != NoSuchCustomer { // a closed account keeps its orders
		return View{}, err
	}
	view := View{Order: o, Yours: isOwner(actor, o)}
	if !view.Yours {
		view.Owner = Buyer{Email: masked(buyer.Email)}
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
	err = s.review(ctx, actor, &view)
	return view, err
}

// review gives the view of an open order present prices, and what the registries say
// or said last.
func (s *Service) review(ctx context.Context, actor registrar.Actor, view *View) error {
	wishes, err := s.wishes(view.Order, view.Owner)
	if err != nil {
		return err
	}
	asking, cancel := context.WithTimeout(ctx, lookWithin)
	answers := s.askForDisplay(asking, actor, wishes)
	cancel()
	priced := view.Order.clone()
	if err := s.price(ctx, &priced, view.Owner, answers); err != nil {
		return err
	}
	if view.Order, err = s.reprice(ctx, view.Order, priced); err != nil {
		return err
	}
	view.tell(answers)
	view.Payable = len(view.Missing) == 0 && len(view.Refused) == 0 && view.Order.State.Open()
	return nil
}

// masked is an address that its owner recognises and nobody else can use: the
// domain may be a name, too.
func masked(email string) string {
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

// SetCode tells the auth code of a transfer. The registry is asked whether it is
// the right one; if it can't be asked now, it is before the payment.
func (s *Service) SetCode(ctx context.Context, actor registrar.Actor, paySecret, item, code string) error {
	o, err := s.byPayLink(ctx, paySecret)
	if err != nil {
		return err
	}
	if err := mayAct(actor, o); err != nil {
		return err
	}
	code = strings.TrimSpace(code)
	wanted := o.item(item)
	switch {
	case wanted == nil || wanted.Kind != Transfer:
		return fail(registrar.KindInvalid, NotTransfer)
	case code == "" || len(code) > maxCode || strings.ContainsFunc(code, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }):
		return fail(registrar.KindInvalid, BadCode)
	case o.State != AwaitingPayment && o.State != AwaitingVerification:
		return fail(registrar.KindConflict, NotOpen)
	}
	answers, err := s.askFresh(ctx, actor, registrar.ForQuote, []Wish{{Customer: o.Customer, Name: nameOf(*wanted), Kind: Transfer, Code: code}})
	if err != nil {
		return err
	}
	if err := answers[0].err; refused(err) {
		return err
	}
	sealed := s.cfg.Seal.Close(registrar.CodePurpose(wanted.Name), code)
	open := false
	_, err = s.change(ctx, o, func(was Order) (Move, bool) {
		open = was.State == AwaitingPayment || was.State == AwaitingVerification
		now := was.clone()
		if open {
			now.item(item).SealedCode = sealed
		}
		return Move{Order: now}, open
	})
	if err == nil && !open {
		err = fail(registrar.KindConflict, NotOpen)
	}
	return err
}

// Decline ends an order that nobody has paid. A page to pay at that is open is
// closed first; if it turns out to be paid, the order goes on.
func (s *Service) Decline(ctx context.Context, actor registrar.Actor, paySecret string) error {
	o, err := s.byPayLink(ctx, paySecret)
	if err != nil {
		return err
	}
	if err := mayAct(actor, o); err != nil {
		return err
	}
	_, err = s.cancel(ctx, actor, o)
	return err
}

// cancel ends an order that nobody has paid. What is under way is closed first.
func (s *Service) cancel(ctx context.Context, actor registrar.Actor, o Order) (Order, error) {
	var err error
	for range tries {
		if o.State != Paying {
			break
		}
		if o, err = s.closePage(ctx, o); err != nil {
			return o, err
		}
	}
	return s.endUnpaid(ctx, actor, o)
}

// endUnpaid cancels an order that waits. It is NotOpen, and comes back as it is, if
// somebody has begun to pay meanwhile or it has ended otherwise.
func (s *Service) endUnpaid(ctx context.Context, actor registrar.Actor, o Order) (Order, error) {
	ended := false
	o, err := s.change(ctx, o, func(was Order) (Move, bool) {
		ended = was.State == AwaitingPayment || was.State == AwaitingVerification
		now := was.clone()
		s.enter(&now, Canceled)
		return Move{Order: now, Deeds: []registrar.Deed{s.deed(actor, ActionCanceled, now)}}, ended
	})
	if err == nil && !ended && o.State != Canceled {
		err = fail(registrar.KindConflict, NotOpen)
	}
	return o, err
}

// Returned is called when a browser comes back from having paid. That is only a
// reason to look, so it does not matter whose browser it is; and whoever has the link
// can come back as often as they like, so a payment is looked at once in a while.
func (s *Service) Returned(ctx context.Context, _ registrar.Actor, paySecret string) error {
	o, err := s.byPayLink(ctx, paySecret)
	if err != nil || o.State != Paying {
		return err
	}
	payment := o.underWay()
	if payment == nil || payment.Session == "" {
		return nil
	}
	return s.lookLately(ctx, o, payment.ID, "paid")
}

// Back is called when the human comes back without having paid: the page is closed,
// and the order waits for a payment again.
func (s *Service) Back(ctx context.Context, actor registrar.Actor, paySecret string) error {
	o, err := s.byPayLink(ctx, paySecret)
	if err != nil {
		return err
	}
	if err := mayAct(actor, o); err != nil {
		return err
	}
	if o.State != Paying {
		return nil
	}
	_, err = s.closePage(ctx, o)
	return err
}
