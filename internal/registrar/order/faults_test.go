package order_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestAFailedItemIsPaidBackOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		o, _ := w.paid(wanted(order.Register, "laden", "haus"))
		w.store.endLine("haus.de", order.ItemFailed, time.Now())
		w.runFor(w.service, 3*time.Second)
		// The other one is still under way, and its money need not wait for that.
		o = w.state(o.ID, order.Provisioning)
		if len(o.Refunds) != 1 || o.Refunds[0].Provider == "" || o.Refunds[0].Amount != 1190 || o.Items[1].State != order.ItemRefunded {
			t.Fatalf("%+v", o)
		}
		w.store.endLine("laden.de", order.ItemActive, time.Now())
		w.runFor(w.service, 3*time.Second)
		if o = w.state(o.ID, order.PartiallyCompleted); len(o.Refunds) != 1 || !o.DueAt.IsZero() {
			t.Errorf("%+v", o)
		}
		w.books()
	})
}

func TestALineThatEndsWhileMoneyGoesBackIsNotForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		o, _ := w.paid(wanted(order.Register, "laden", "haus"))
		w.provider.set(func(p *provider) {
			p.meanwhile = func() { w.store.endLine("laden.de", order.ItemActive, time.Now()) }
		})
		w.store.endLine("haus.de", order.ItemFailed, time.Now())
		w.runFor(w.service, 3*time.Second)
		w.state(o.ID, order.PartiallyCompleted)
		w.books()
	})
}

func TestANameThatIsHeldAtThePaymentIsPaidBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store.held["laden.de"] = true
		o, _ := w.paid(wanted(order.Register, "laden"))
		w.runFor(w.service, 3*time.Second)
		if o = w.state(o.ID, order.Failed); len(o.Refunds) != 1 || o.Refunds[0].Provider == "" || o.Items[0].Failure != order.NameHeld {
			t.Errorf("%+v", o)
		}
	})
}

func TestAFreeItemThatFailsOwesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.market.net = 0
		o, secret := w.made(wanted(order.Register, "laden"))
		w.pay(secret, 0)
		w.store.endLine("laden.de", order.ItemFailed, time.Now())
		w.runFor(w.service, 3*time.Second)
		if o = w.state(o.ID, order.Failed); len(o.Refunds) != 0 || !o.DueAt.IsZero() {
			t.Errorf("%+v", o)
		}
	})
}

func TestARefundIsTriedUntilItIsMadeAndMadeOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		o, _ := w.paid(wanted(order.Register, "laden"))
		w.store.endLine("laden.de", order.ItemFailed, time.Now())
		w.provider.set(func(p *provider) { p.crashing = true }) // it pays back, and nobody hears of it
		w.runFor(w.service, 10*time.Minute)
		o = w.state(o.ID, order.Failed)
		if len(w.provider.refunds) != 1 || o.Refunds[0].Provider != "" || o.DueAt.IsZero() {
			t.Fatalf("%d refunds, %+v", len(w.provider.refunds), o)
		}
		w.provider.set(func(p *provider) { p.crashing = false })
		w.runFor(w.service, time.Hour)
		if o = w.get(o.ID); len(w.provider.refunds) != 1 || o.Refunds[0].Provider == "" || !o.DueAt.IsZero() {
			t.Errorf("%d refunds, %+v", len(w.provider.refunds), o)
		}
		w.books()
	})
}

func TestALostMessageIsFoundByTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		o, secret := w.made(wanted(order.Register, "laden"))
		url := w.pay(secret, o.Totals.Gross)
		w.provider.pay(url)
		w.runFor(w.service, 20*time.Second)
		w.state(o.ID, order.Provisioning)
	})
}

func TestAPageThatNobodyPaysIsLookedAtMoreAndMoreRarely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		o, secret := w.made(wanted(order.Register, "laden"))
		w.pay(secret, o.Totals.Gross)
		before := w.store.moves
		w.runFor(w.service, 50*time.Minute)
		if moves := w.store.moves - before; moves < 16 || moves > 40 { // two for each look
			t.Errorf("%d changes in 50 minutes", moves)
		}
		w.runFor(w.service, 20*time.Minute)
		o = w.state(o.ID, order.AwaitingPayment)
		if o.Payments[0].State != order.PaymentClosed {
			t.Errorf("%+v", o.Payments)
		}
		w.runFor(w.service, 24*time.Hour)
		if o = w.state(o.ID, order.Expired); !o.DueAt.IsZero() {
			t.Errorf("%+v", o)
		}
	})
}

func TestAProviderThatDoesNotAnswerIsAskedWithTheSameKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		o, secret := w.made(wanted(order.Register, "laden"))
		w.provider.set(func(p *provider) { p.crashing = true })
		if _, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross)); registrar.KindOf(err) != registrar.KindUpstream {
			t.Fatalf("paying: %v", err)
		}
		w.state(o.ID, order.Paying)
		w.runFor(w.service, time.Minute)
		w.provider.set(func(p *provider) { p.crashing = false })
		w.runFor(w.service, 5*time.Minute)
		if o = w.state(o.ID, order.Paying); o.Payments[0].State != order.PaymentOpen || len(w.provider.pages) != 1 {
			t.Fatalf("%+v, %d pages", o, len(w.provider.pages))
		}
		if url := w.pay(secret, o.Totals.Gross); !w.provider.pay(url) {
			t.Error("the human has no page")
		}
	})
}

func TestAProviderThatRefusesLeavesTheOrderOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	w.provider.set(func(p *provider) { p.down = &registrar.Error{Kind: registrar.KindInvalid, Code: "bad"} })
	if _, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross)); code(err) != order.PaymentRefused {
		t.Fatalf("paying: %v", err)
	}
	w.state(o.ID, order.AwaitingPayment)
	w.provider.set(func(p *provider) { p.down = nil })
	w.pay(secret, o.Totals.Gross)
}

func TestMoneyThatComesTooLateGoesBackOnce(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world, secret string){
		"declined": func(w *world, secret string) {
			if err := w.service.Decline(w.t.Context(), annaInPerson, secret); err != nil {
				w.t.Fatal(err)
			}
		},
		"over": func(w *world, secret string) {
			w.advance(26 * time.Hour)
			_ = w.service.Returned(w.t.Context(), annaInPerson, secret)
		},
		"another payment is kept": func(w *world, secret string) {
			if err := w.service.Back(w.t.Context(), annaInPerson, secret); err != nil {
				w.t.Fatal(err)
			}
			w.provider.pay(w.pay(secret, 1190))
			if err := w.service.Returned(w.t.Context(), annaInPerson, secret); err != nil {
				w.t.Fatal(err)
			}
		},
		"another payment is under way": func(w *world, secret string) {
			if err := w.service.Back(w.t.Context(), annaInPerson, secret); err != nil {
				w.t.Fatal(err)
			}
			w.pay(secret, 1190)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				o, secret := w.made(wanted(order.Register, "laden"))
				w.pay(secret, o.Totals.Gross)
				session := w.get(o.ID).Payments[0].Session
				end(w, secret)
				before := w.get(o.ID)
				w.provider.forcePay(session, nil)
				var all sync.WaitGroup
				for range 20 {
					all.Go(func() {
						if err := w.service.Heard(t.Context(), order.Event{Session: session}); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				w.runFor(w.service, 5*time.Second)
				after := w.state(o.ID, before.State)
				if after.Payments[0].State != order.PaymentReturned || len(w.provider.refunds) != 1 || len(after.Refunds) != 1 || after.Refunds[0].Amount != 1190 {
					t.Errorf("%+v, %d refunds", after, len(w.provider.refunds))
				}
				w.books()
			})
		})
	}
}

func TestAnotherSumOrCurrencyIsNeverKept(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*order.Standing){
		"less": func(s *order.Standing) { s.Amount-- }, "more": func(s *order.Standing) { s.Amount++ },
		"dollars": func(s *order.Standing) { s.Currency = "usd" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				o, secret := w.made(wanted(order.Register, "laden"))
				w.pay(secret, o.Totals.Gross)
				w.provider.forcePay(w.get(o.ID).Payments[0].Session, change)
				if err := w.service.Returned(t.Context(), annaInPerson, secret); err != nil {
					t.Fatal(err)
				}
				w.runFor(w.service, 5*time.Second)
				if o = w.state(o.ID, order.AwaitingPayment); o.Payments[0].State != order.PaymentReturned {
					t.Errorf("%+v", o)
				}
				w.books()
			})
		})
	}
}

func TestAPageOfAnotherOrderIsNeverTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	w.pay(secret, o.Totals.Gross)
	w.provider.forcePay(w.get(o.ID).Payments[0].Session, func(s *order.Standing) { s.Order = "ord_other" })
	if err := w.service.Returned(t.Context(), annaInPerson, secret); registrar.KindOf(err) != registrar.KindInternal {
		t.Errorf("%v", err)
	}
	w.state(o.ID, order.Paying)
}

func TestAnotherNodeTakesOverAndAnInterruptedOrderIsTakenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		o, secret := w.made(wanted(order.Register, "laden"))
		// The process dies after the payment was written: nobody postpones it.
		w.provider.set(func(p *provider) { p.crashing = true })
		_, _ = w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross))
		w.provider.set(func(p *provider) { p.crashing = false })
		w.store.mu.Lock()
		left := w.store.orders[o.ID]
		left.Node, left.DueAt = "node", time.Now().Add(time.Hour)
		w.store.orders[o.ID] = left
		w.store.mu.Unlock()
		w.runFor(w.start("node"), 2*time.Second)
		if o = w.get(o.ID); o.Payments[0].State != order.PaymentOpen {
			t.Errorf("%+v", o)
		}
	})
}

// TestWhateverHappensTheBooksAgree lets humans, messages, the clock and a provider
// that forgets to answer loose on a few orders at once.
func TestWhateverHappensTheBooksAgree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var all sync.WaitGroup
		for i := range 40 {
			label := "laden" + string(rune('a'+i%20)) + string(rune('a'+i/20))
			if i%20 == 0 {
				w.advance(25 * time.Hour)
			}
			all.Go(func() { w.adventure(i, label) })
		}
		other := w.start("other")
		all.Go(func() { w.runFor(other, 2*time.Hour) })
		all.Go(func() { w.runFor(w.service, 2*time.Hour) })
		all.Go(func() {
			for i := range 60 {
				time.Sleep(time.Duration(i%7) * 10 * time.Second)
				w.provider.set(func(p *provider) { p.crashing = i%3 == 0 && i < 50 })
			}
		})
		all.Wait()
		w.runFor(w.service, 2*time.Hour)
		for _, o := range w.store.orders {
			if o.State == order.Paying || !o.DueAt.IsZero() && o.State.Final() {
				t.Errorf("it is stuck: %+v", o)
			}
		}
		w.books()
	})
}

// adventure is one human's way with one order; what fails is tried again later.
func (w *world) adventure(i int, label string) {
	ctx := w.t.Context()
	o, err := w.service.Start(ctx, annasAgent, wanted(order.Register, label, label+"2"))
	if err != nil {
		return
	}
	secret := w.secret(o)
	for step := range 6 {
		time.Sleep(time.Duration((i*7+step*13)%97) * time.Second)
		url, err := w.service.Pay(ctx, annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross, AutoRenew: (i+step)%5 == 0, Consent: order.ConsentWording("de")})
		if err != nil || url == "" {
			continue
		}
		if (i+step)%3 == 0 {
			_ = w.service.Back(ctx, annaInPerson, secret)
		}
		if (i+step)%11 == 10 {
			_ = w.service.Decline(ctx, annaInPerson, secret)
		}
		w.provider.pay(url)
		if (i+step)%2 == 0 {
			_ = w.service.Returned(ctx, annaInPerson, secret)
		}
	}
	time.Sleep(30 * time.Minute)
	w.store.endLine(label+".de", order.ItemActive, time.Now())
	state := order.ItemActive
	if i%4 == 0 {
		state = order.ItemFailed
	}
	w.store.endLine(label+"2.de", state, time.Now())
}
