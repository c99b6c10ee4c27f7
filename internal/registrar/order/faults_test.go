package order_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestRefund_FailedItemIsRefundedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o, _ := env.createPaidOrder(newRequest(order.Register, "laden", "haus"))
		env.store.endItem("haus.de", order.ItemFailed, time.Now())
		env.runFor(env.service, 3*time.Second)
		// The other item is still being provisioned; the refund does not wait for it.
		o = env.wantState(o.ID, order.Provisioning)
		if len(o.Refunds) != 1 || o.Refunds[0].Provider == "" || o.Refunds[0].Amount != 1190 || o.Items[1].State != order.ItemRefunded {
			t.Fatalf("%+v", o)
		}
		env.store.endItem("laden.de", order.ItemActive, time.Now())
		env.runFor(env.service, 3*time.Second)
		if o = env.wantState(o.ID, order.PartiallyCompleted); len(o.Refunds) != 1 || !o.DueAt.IsZero() {
			t.Errorf("%+v", o)
		}
		env.checkInvariants()
	})
}

func TestRefund_ItemEndingMeanwhileIsNotLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o, _ := env.createPaidOrder(newRequest(order.Register, "laden", "haus"))
		env.provider.set(func(p *fakeProvider) {
			p.duringRefund = func() { env.store.endItem("laden.de", order.ItemActive, time.Now()) }
		})
		env.store.endItem("haus.de", order.ItemFailed, time.Now())
		env.runFor(env.service, 3*time.Second)
		env.wantState(o.ID, order.PartiallyCompleted)
		env.checkInvariants()
	})
}

func TestRefund_NameHeldAtPaymentIsRefunded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.store.held["laden.de"] = true
		o, _ := env.createPaidOrder(newRequest(order.Register, "laden"))
		env.runFor(env.service, 3*time.Second)
		if o = env.wantState(o.ID, order.Failed); len(o.Refunds) != 1 || o.Refunds[0].Provider == "" || o.Items[0].Failure != registrar.NameHeld {
			t.Errorf("%+v", o)
		}
	})
}

func TestRefund_FailedFreeItemOwesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.market.net = 0
		o, secret := env.createOrder(newRequest(order.Register, "laden"))
		env.pay(secret, 0)
		env.store.endItem("laden.de", order.ItemFailed, time.Now())
		env.runFor(env.service, 3*time.Second)
		if o = env.wantState(o.ID, order.Failed); len(o.Refunds) != 0 || !o.DueAt.IsZero() {
			t.Errorf("%+v", o)
		}
	})
}

func TestRefund_RetriedUntilMadeExactlyOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o, _ := env.createPaidOrder(newRequest(order.Register, "laden"))
		env.store.endItem("laden.de", order.ItemFailed, time.Now())
		env.provider.set(func(p *fakeProvider) { p.crashing = true }) // it refunds, but does not respond
		env.runFor(env.service, 10*time.Minute)
		o = env.wantState(o.ID, order.Failed)
		if len(env.provider.refunds) != 1 || o.Refunds[0].Provider != "" || o.DueAt.IsZero() {
			t.Fatalf("%d refunds, %+v", len(env.provider.refunds), o)
		}
		env.provider.set(func(p *fakeProvider) { p.crashing = false })
		env.runFor(env.service, time.Hour)
		if o = env.get(o.ID); len(env.provider.refunds) != 1 || o.Refunds[0].Provider == "" || !o.DueAt.IsZero() {
			t.Errorf("%d refunds, %+v", len(env.provider.refunds), o)
		}
		env.checkInvariants()
	})
}

func TestRun_FindsPaymentAfterLostEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o, secret := env.createOrder(newRequest(order.Register, "laden"))
		url := env.pay(secret, o.Totals.Gross)
		env.provider.pay(url)
		env.runFor(env.service, 20*time.Second)
		env.wantState(o.ID, order.Provisioning)
	})
}

func TestRun_PollsUnpaidPageWithBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o, secret := env.createOrder(newRequest(order.Register, "laden"))
		env.pay(secret, o.Totals.Gross)
		before := env.store.updates
		env.runFor(env.service, 50*time.Minute)
		if moves := env.store.updates - before; moves < 16 || moves > 40 { // two per poll
			t.Errorf("%d changes in 50 minutes", moves)
		}
		env.runFor(env.service, 20*time.Minute)
		o = env.wantState(o.ID, order.AwaitingPayment)
		if o.Payments[0].State != order.PaymentClosed {
			t.Errorf("%+v", o.Payments)
		}
		env.runFor(env.service, 24*time.Hour)
		if o = env.wantState(o.ID, order.Expired); !o.DueAt.IsZero() {
			t.Errorf("%+v", o)
		}
	})
}

func TestPay_RetryReusesIdempotencyKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o, secret := env.createOrder(newRequest(order.Register, "laden"))
		env.provider.set(func(p *fakeProvider) { p.crashing = true })
		if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); registrar.KindOf(err) != registrar.KindUpstream {
			t.Fatalf("paying: %v", err)
		}
		env.wantState(o.ID, order.Paying)
		env.runFor(env.service, time.Minute)
		env.provider.set(func(p *fakeProvider) { p.crashing = false })
		env.runFor(env.service, 5*time.Minute)
		if o = env.wantState(o.ID, order.Paying); o.Payments[0].State != order.PaymentOpen || len(env.provider.pages) != 1 {
			t.Fatalf("%+v, %d pages", o, len(env.provider.pages))
		}
		if url := env.pay(secret, o.Totals.Gross); !env.provider.pay(url) {
			t.Error("no payment page")
		}
	})
}

func TestPay_ProviderRefusalLeavesOrderOpen(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	env.provider.set(func(p *fakeProvider) { p.down = &registrar.Error{Kind: registrar.KindInvalid, Code: "bad"} })
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); code(err) != order.ProviderRefused {
		t.Fatalf("paying: %v", err)
	}
	env.wantState(o.ID, order.AwaitingPayment)
	env.provider.set(func(p *fakeProvider) { p.down = nil })
	env.pay(secret, o.Totals.Gross)
}

func TestHandleEvent_LatePaymentIsRefundedOnce(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(env *testEnv, secret string){
		"declined": func(env *testEnv, secret string) {
			if err := env.service.Decline(env.t.Context(), annaInPerson, secret); err != nil {
				env.t.Fatal(err)
			}
		},
		"over": func(env *testEnv, secret string) {
			env.advance(26 * time.Hour)
			_ = env.service.HandleReturn(env.t.Context(), annaInPerson, secret)
		},
		"another payment is kept": func(env *testEnv, secret string) {
			if err := env.service.AbortPayment(env.t.Context(), annaInPerson, secret); err != nil {
				env.t.Fatal(err)
			}
			env.provider.pay(env.pay(secret, 1190))
			if err := env.service.HandleReturn(env.t.Context(), annaInPerson, secret); err != nil {
				env.t.Fatal(err)
			}
		},
		"another payment is under way": func(env *testEnv, secret string) {
			if err := env.service.AbortPayment(env.t.Context(), annaInPerson, secret); err != nil {
				env.t.Fatal(err)
			}
			env.pay(secret, 1190)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				env := newEnv(t)
				o, secret := env.createOrder(newRequest(order.Register, "laden"))
				env.pay(secret, o.Totals.Gross)
				session := env.get(o.ID).Payments[0].Session
				end(env, secret)
				before := env.get(o.ID)
				env.provider.forcePay(session, nil)
				var all sync.WaitGroup
				for range 20 {
					all.Go(func() {
						if err := env.service.HandleEvent(t.Context(), order.Event{Session: session}); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				env.runFor(env.service, 5*time.Second)
				after := env.wantState(o.ID, before.State)
				if after.Payments[0].State != order.PaymentRefunded || len(env.provider.refunds) != 1 || len(after.Refunds) != 1 || after.Refunds[0].Amount != 1190 {
					t.Errorf("%+v, %d refunds", after, len(env.provider.refunds))
				}
				env.checkInvariants()
			})
		})
	}
}

func TestHandleReturn_WrongAmountOrCurrencyIsRefunded(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*order.PaymentStatus){
		"less": func(s *order.PaymentStatus) { s.Amount-- }, "more": func(s *order.PaymentStatus) { s.Amount++ },
		"dollars": func(s *order.PaymentStatus) { s.Currency = "usd" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				env := newEnv(t)
				o, secret := env.createOrder(newRequest(order.Register, "laden"))
				env.pay(secret, o.Totals.Gross)
				env.provider.forcePay(env.get(o.ID).Payments[0].Session, change)
				if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); err != nil {
					t.Fatal(err)
				}
				env.runFor(env.service, 5*time.Second)
				if o = env.wantState(o.ID, order.AwaitingPayment); o.Payments[0].State != order.PaymentRefunded {
					t.Errorf("%+v", o)
				}
				env.checkInvariants()
			})
		})
	}
}

func TestHandleReturn_PageOfAnotherOrderIsRejected(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	env.pay(secret, o.Totals.Gross)
	env.provider.forcePay(env.get(o.ID).Payments[0].Session, func(s *order.PaymentStatus) { s.Order = "ord_other" })
	if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); registrar.KindOf(err) != registrar.KindInternal {
		t.Errorf("%v", err)
	}
	env.wantState(o.ID, order.Paying)
}

func TestRun_RestartedNodeResumesInterruptedOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o, secret := env.createOrder(newRequest(order.Register, "laden"))
		// The process dies after the payment was stored, so it is not postponed.
		env.provider.set(func(p *fakeProvider) { p.crashing = true })
		_, _ = env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross))
		env.provider.set(func(p *fakeProvider) { p.crashing = false })
		env.store.mu.Lock()
		left := env.store.orders[o.ID]
		left.Node, left.DueAt = "node", time.Now().Add(time.Hour)
		env.store.orders[o.ID] = left
		env.store.mu.Unlock()
		env.runFor(env.startNode("node"), 2*time.Second)
		if o = env.get(o.ID); o.Payments[0].State != order.PaymentOpen {
			t.Errorf("%+v", o)
		}
	})
}

// TestOrders_InvariantsHoldUnderConcurrentFaults runs customers, webhooks, the worker
// and a provider that loses responses concurrently on a few orders.
func TestOrders_InvariantsHoldUnderConcurrentFaults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		var all sync.WaitGroup
		for i := range 40 {
			label := "laden" + string(rune('a'+i%20)) + string(rune('a'+i/20))
			if i%20 == 0 {
				env.advance(25 * time.Hour)
			}
			all.Go(func() { env.simulateCheckout(i, label) })
		}
		other := env.startNode("other")
		all.Go(func() { env.runFor(other, 2*time.Hour) })
		all.Go(func() { env.runFor(env.service, 2*time.Hour) })
		all.Go(func() {
			for i := range 60 {
				time.Sleep(time.Duration(i%7) * 10 * time.Second)
				env.provider.set(func(p *fakeProvider) { p.crashing = i%3 == 0 && i < 50 })
			}
		})
		all.Wait()
		env.runFor(env.service, 2*time.Hour)
		for _, o := range env.store.orders {
			if o.State == order.Paying || !o.DueAt.IsZero() && o.State.Final() {
				t.Errorf("order is stuck: %+v", o)
			}
		}
		env.checkInvariants()
	})
}

// simulateCheckout takes one customer through one order; failures are retried.
func (env *testEnv) simulateCheckout(i int, label string) {
	ctx := env.t.Context()
	o, err := env.service.Create(ctx, annasAgent, newRequest(order.Register, label, label+"2"))
	if err != nil {
		return
	}
	secret := env.secret(o)
	for step := range 6 {
		time.Sleep(time.Duration((i*7+step*13)%97) * time.Second)
		confirmation := order.Confirmation{Gross: o.Totals.Gross, Consent: order.ConsentWording("de")}
		if (i+step)%5 == 0 {
			confirmation = env.withRenewal(o)
		}
		url, err := env.service.Pay(ctx, annaInPerson, secret, confirmation)
		if err != nil || url == "" {
			continue
		}
		if (i+step)%3 == 0 {
			_ = env.service.AbortPayment(ctx, annaInPerson, secret)
		}
		if (i+step)%11 == 10 {
			_ = env.service.Decline(ctx, annaInPerson, secret)
		}
		env.provider.pay(url)
		if (i+step)%2 == 0 {
			_ = env.service.HandleReturn(ctx, annaInPerson, secret)
		}
	}
	time.Sleep(30 * time.Minute)
	env.store.endItem(label+".de", order.ItemActive, time.Now())
	state := order.ItemActive
	if i%4 == 0 {
		state = order.ItemFailed
	}
	env.store.endItem(label+"2.de", state, time.Now())
}

func TestRun_FailedItemIsMailedWhileOthersAreInProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o, _ := env.createPaidOrder(newRequest(order.Register, "laden", "haus", "tee"))
		env.store.endItem("haus.de", order.ItemFailed, time.Now())
		env.store.endItem("tee.de", order.ItemFailed, time.Now())
		env.runFor(env.service, 3*time.Second)
		o = env.wantState(o.ID, order.Provisioning)
		var named []string
		for _, mail := range env.store.mails[1:] {
			if mail.Kind != registrar.MailItemFailed || mail.ID == "" || mail.Join != mail.ID || mail.ID != env.store.mails[1].ID {
				t.Errorf("not one mail about failed items: %+v", mail)
			}
			if mail.Data["gross"] != o.Items[0].Gross.String() || mail.Data["order"] != o.ID || mail.Data["what"] != string(order.Register) || mail.Data["position"] != map[string]string{"haus.de": "1", "tee.de": "2"}[mail.Data["domain"]] {
				t.Errorf("%v", mail.Data)
			}
			named = append(named, mail.Data["domain"])
		}
		slices.Sort(named)
		if !slices.Equal(named, []string{"haus.de", "tee.de"}) || len(o.Refunds) != 2 {
			t.Fatalf("mails about %v, refunds %+v", named, o.Refunds)
		}
		env.runFor(env.service, time.Minute)
		if len(env.store.mails) != 3 {
			t.Errorf("the failure is mailed again: %+v", env.store.mails)
		}
		env.store.endItem("laden.de", order.ItemActive, time.Now())
		env.runFor(env.service, 3*time.Second)
		env.wantState(o.ID, order.PartiallyCompleted)
		last := env.store.mails[len(env.store.mails)-1]
		if len(env.store.mails) != 4 || last.Kind != registrar.MailOrderEnded || last.Merged == nil || last.Merged.ID != env.store.mails[1].ID || last.Merged.Kind != registrar.MailOrderEnded {
			t.Errorf("the outcome does not replace a mail that still waits: %+v", last)
		}
		if last.Data["refund"] != "0.00" || last.Data["item2_refunded"] != o.Items[1].Gross.String() || last.Data["item3_refunded_on"] == "" {
			t.Errorf("the outcome announces refunds that are made: %v", last.Data)
		}
	})
}

func TestRun_FailedFreeItemIsMailedOnceWithoutRefund(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.market.net = 0
		o, secret := env.createOrder(newRequest(order.Register, "laden", "haus", "tee"))
		env.pay(secret, 0)
		env.store.endItem("haus.de", order.ItemFailed, time.Now())
		env.runFor(env.service, 3*time.Second)
		env.wantState(o.ID, order.Provisioning)
		if len(env.store.mails) != 2 {
			t.Fatalf("%+v", env.store.mails)
		}
		mail := env.store.mails[1]
		if mail.Kind != registrar.MailItemFailed || mail.Join != mail.ID || mail.Data["domain"] != "haus.de" || mail.Data["gross"] != "0.00" {
			t.Errorf("%+v", mail)
		}
		time.Sleep(time.Hour)
		env.store.endItem("tee.de", order.ItemFailed, time.Now())
		env.runFor(env.service, time.Hour)
		if len(env.store.mails) != 3 || env.store.mails[2].Data["domain"] != "tee.de" || env.store.mails[2].ID == mail.ID {
			t.Fatalf("%+v", env.store.mails)
		}
		env.store.endItem("laden.de", order.ItemActive, time.Now())
		env.runFor(env.service, 3*time.Second)
		if o = env.wantState(o.ID, order.PartiallyCompleted); len(o.Refunds) != 0 || len(env.store.mails) != 4 {
			t.Errorf("%+v, %d mails", o.Refunds, len(env.store.mails))
		}
	})
}

// Mailboxes drop a second message with the same ID.
func TestRun_ItemsThatFailOnDifferentDaysHaveMailsOfTheirOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o, _ := env.createPaidOrder(newRequest(order.Register, "laden", "haus", "tee"))
		for _, name := range []string{"haus.de", "tee.de"} {
			env.store.endItem(name, order.ItemFailed, time.Now())
			env.runFor(env.service, 3*time.Second)
			time.Sleep(24 * time.Hour)
		}
		env.wantState(o.ID, order.Provisioning)
		env.store.endItem("laden.de", order.ItemFailed, time.Now())
		env.runFor(env.service, 3*time.Second)
		env.wantState(o.ID, order.Failed)
		mails := slices.DeleteFunc(env.store.mails, func(m registrar.Mail) bool { return m.Kind == registrar.MailOrderDelayed })
		if len(mails) != 4 || mails[1].ID == mails[2].ID || mails[1].Data["domain"] != "haus.de" || mails[2].Data["domain"] != "tee.de" {
			t.Fatalf("%+v", mails)
		}
		if merged := mails[3].Merged; merged == nil || merged.ID == mails[1].ID || merged.ID == mails[2].ID || mails[3].ID == merged.ID {
			t.Errorf("the outcome has the ID of a mail that was sent: %+v", mails[3])
		}
	})
}

func TestRun_OutcomeMailNamesTermAndRenewalPriceOfNewDomains(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.store.termEnds = map[string]time.Time{"laden.de": time.Date(2027, 2, 3, 4, 0, 0, 0, time.UTC)}
		o, _ := env.createPaidOrder(newRequest(order.Register, "laden"))
		env.store.endItem("laden.de", order.ItemActive, time.Now())
		env.runFor(env.service, 3*time.Second)
		env.wantState(o.ID, order.Completed)
		price := env.service.ItemRenewalPrices(o)[o.Items[0].ID]
		for _, data := range []map[string]string{env.store.mails[1].Data, env.store.mails[1].Merged.Data} {
			if data["item1_paid_until"] != "2027-02-03" || price.Gross == 0 || data["item1_renewal"] != price.Gross.String() || data["item1_renewal_years"] != "1" {
				t.Errorf("%v, price %+v", data, price)
			}
		}
	})
}
