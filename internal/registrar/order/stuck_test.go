package order_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestAPageThatTheProviderRemembersAsFailedIsLeftForAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	w.provider.set(func(p *provider) { p.failing = true })
	if _, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross)); registrar.KindOf(err) != registrar.KindUpstream {
		t.Fatalf("paying: %v", err)
	}
	w.provider.set(func(p *provider) { p.failing = false })
	url := w.pay(secret, o.Totals.Gross)
	if !w.provider.pay(url) {
		t.Fatal("the human has no page")
	}
	if err := w.service.Returned(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	o = w.state(o.ID, order.Provisioning)
	if len(o.Payments) != 2 || o.Payments[0].State != order.PaymentClosed || o.Payments[1].State != order.PaymentKept {
		t.Errorf("%+v", o.Payments)
	}
	w.books()
}

func TestARefundThatIsRefusedDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		o, _ := w.paid(wanted(order.Register, "laden", "haus", "hof"))
		refused := ""
		w.provider.set(func(p *provider) {
			p.refuse = func(call order.RefundCall) error {
				if refused == "" {
					refused = call.ID
				}
				if call.ID == refused {
					return &registrar.Error{Kind: registrar.KindConflict, Code: "refund_failed"}
				}
				return nil
			}
		})
		for _, name := range []string{"laden.de", "haus.de", "hof.de"} {
			w.store.endLine(name, order.ItemFailed, time.Now())
		}
		w.runFor(w.service, time.Minute)
		if o = w.state(o.ID, order.Failed); len(w.provider.refunds) != 2 || len(o.Refunds) != 3 || o.DueAt.IsZero() {
			t.Errorf("%d of %d refunds are made, due %s", len(w.provider.refunds), len(o.Refunds), o.DueAt)
		}
		w.provider.set(func(p *provider) { p.refuse = nil })
		w.runFor(w.service, time.Hour)
		if o = w.get(o.ID); len(w.provider.refunds) != 3 || !o.DueAt.IsZero() {
			t.Errorf("%d refunds are made, due %s", len(w.provider.refunds), o.DueAt)
		}
		w.books()
	})
}

func TestAnOrderInAnotherNodesHandsIsLeftToIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		o, _ := w.paid(wanted(order.Register, "laden", "haus"))
		w.store.endLine("haus.de", order.ItemFailed, time.Now())
		w.store.mu.Lock()
		// The other node was faster, and is about to call the provider.
		w.store.meanwhile = func(stored *order.Order) {
			stored.Refunds = []order.Refund{{ID: "ref_1", Payment: stored.Payments[0].ID, Item: stored.Items[1].ID, Amount: 1190}}
			stored.Node, stored.DueAt = "other", time.Now().Add(time.Minute)
			stored.Version++
		}
		w.store.mu.Unlock()
		w.runFor(w.service, 30*time.Second)
		if len(w.provider.asked) != 0 {
			t.Errorf("the provider was called %d times", len(w.provider.asked))
		}
		w.runFor(w.service, 2*time.Minute) // the other one is dead
		if o = w.get(o.ID); len(w.provider.refunds) != 1 || o.Refunds[0].Provider == "" {
			t.Errorf("%+v", o.Refunds)
		}
	})
}

func TestMoneyForAClosedAccountGoesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		o, secret := w.made(wanted(order.Register, "laden"))
		url := w.pay(secret, o.Totals.Gross)
		w.store.mu.Lock()
		delete(w.store.buyers, anna)
		w.store.mu.Unlock()
		w.provider.pay(url)
		if err := w.service.Heard(t.Context(), order.Event{Session: w.get(o.ID).Payments[0].Session}); err != nil {
			t.Fatal(err)
		}
		w.runFor(w.service, 5*time.Second)
		if o = w.state(o.ID, order.AwaitingPayment); o.Payments[0].State != order.PaymentReturned || o.Items[0].Line != "" {
			t.Errorf("%+v", o)
		}
		w.books()
	})
}

func TestOrdersThatBeginToBePaidAtOnceCountTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.market.net = 300_00
	orders, secrets := make([]order.Order, 2), make([]string, 2)
	for i, label := range []string{"laden", "haus"} {
		orders[i], secrets[i] = w.made(wanted(order.Register, label))
	}
	// Both have added up before either is written down.
	var both sync.WaitGroup
	both.Add(2)
	var sums atomic.Int32
	w.store.counted = func() {
		if sums.Add(1) <= 2 {
			both.Done()
			both.Wait()
		}
	}
	urls := make([]string, 2)
	var all sync.WaitGroup
	for i := range orders {
		all.Go(func() {
			urls[i], _ = w.service.Pay(t.Context(), annaInPerson, secrets[i], agreed(orders[i].Totals.Gross))
		})
	}
	all.Wait()
	if urls[0] != "" && urls[1] != "" {
		t.Error("both can be paid without an identity")
	}
	if w.get(orders[0].ID).State == order.Paying && w.get(orders[1].ID).State == order.Paying {
		t.Error("both are being paid")
	}
}

func TestAnOrderIsReadAgainWithinATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	w.store.spent = 499_00
	_, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross))
	if code(err) != order.DataMissing || w.store.unbounded != 0 {
		t.Errorf("%v, and %d questions without a deadline", err, w.store.unbounded)
	}
}

func TestAPageThatIsMadeWhileItIsGivenUpIsClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	w.provider.set(func(p *provider) { p.crashing = true })
	if _, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross)); err == nil {
		t.Fatal("the provider has answered")
	}
	w.provider.set(func(p *provider) { p.crashing = false })
	// The page is stored, and its human on the way there, before the other one is.
	session := "cs_" + w.get(o.ID).Payments[0].ID
	w.store.meanwhile = func(stored *order.Order) {
		stored.Payments[0].State, stored.Payments[0].Session = order.PaymentOpen, session
		stored.Version++
	}
	if err := w.service.Back(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	if o = w.state(o.ID, order.AwaitingPayment); o.Payments[0].State != order.PaymentClosed {
		t.Errorf("%+v", o.Payments)
	}
	if w.provider.pay("https://pay.example/" + session) {
		t.Error("the page can still be paid, and nobody looks at it any more")
	}
}

func TestAnOrderThatIsReadWhileItIsSettledIsReadAgain(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(w *world, secret string) error{
		"pay": func(w *world, secret string) error {
			_, err := w.service.Pay(w.t.Context(), annaInPerson, secret, agreed(1190))
			return err
		},
		"back":    func(w *world, secret string) error { return w.service.Back(w.t.Context(), annaInPerson, secret) },
		"decline": func(w *world, secret string) error { return w.service.Decline(w.t.Context(), annaInPerson, secret) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			o, secret := w.paid(wanted(order.Register, "laden"))
			// The order's row was read before, its payments after it was paid.
			w.store.torn = func(read *order.Order) { read.State, read.Version = order.Paying, read.Version-1 }
			if err := act(w, secret); err != nil && code(err) != order.NotOpen {
				t.Errorf("%v", err)
			}
			w.state(o.ID, order.Provisioning)
		})
	}
}

func TestARegistrantWhoChangesWhileAPaymentBeginsIsPricedAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	once := sync.OnceFunc(func() {
		w.store.mu.Lock()
		defer w.store.mu.Unlock()
		changed := w.store.buyers[anna]
		changed.Country = "AT"
		w.store.buyers[anna] = changed
	})
	w.store.counted = once // the price was asked for the registrant of before
	if _, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross)); err != nil {
		t.Fatal(err)
	}
	now := w.state(o.ID, order.Paying)
	if len(now.Payments) != 1 || now.Payments[0].State != order.PaymentOpen || now.Registrant.Country != "AT" {
		t.Errorf("a payment began for the registrant of before, %+v: %+v", now.Registrant, now.Payments)
	}
}
