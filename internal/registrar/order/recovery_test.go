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

func TestPay_CachedProviderFailureGetsNewPayment(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	env.provider.set(func(p *fakeProvider) { p.failing = true })
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); registrar.KindOf(err) != registrar.KindUpstream {
		t.Fatalf("paying: %v", err)
	}
	env.provider.set(func(p *fakeProvider) { p.failing = false })
	url := env.pay(secret, o.Totals.Gross)
	if !env.provider.pay(url) {
		t.Fatal("no payment page")
	}
	if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	o = env.wantState(o.ID, order.Provisioning)
	if len(o.Payments) != 2 || o.Payments[0].State != order.PaymentClosed || o.Payments[1].State != order.PaymentCaptured {
		t.Errorf("%+v", o.Payments)
	}
	env.checkInvariants()
}

func TestRefund_RefusedOneDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o, _ := env.createPaidOrder(newRequest(order.Register, "laden", "haus", "hof"))
		refused := ""
		env.provider.set(func(p *fakeProvider) {
			p.refuse = func(call order.RefundRequest) error {
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
			env.store.endItem(name, order.ItemFailed, time.Now())
		}
		env.runFor(env.service, time.Minute)
		if o = env.wantState(o.ID, order.Failed); len(env.provider.refunds) != 2 || len(o.Refunds) != 3 || o.DueAt.IsZero() {
			t.Errorf("%d of %d refunds are made, due %s", len(env.provider.refunds), len(o.Refunds), o.DueAt)
		}
		env.provider.set(func(p *fakeProvider) { p.refuse = nil })
		env.runFor(env.service, time.Hour)
		if o = env.get(o.ID); len(env.provider.refunds) != 3 || !o.DueAt.IsZero() {
			t.Errorf("%d refunds are made, due %s", len(env.provider.refunds), o.DueAt)
		}
		env.checkInvariants()
	})
}

func TestRun_RespectsLeaseOfAnotherNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o, _ := env.createPaidOrder(newRequest(order.Register, "laden", "haus"))
		env.store.endItem("haus.de", order.ItemFailed, time.Now())
		env.store.mu.Lock()
		// The other node has just taken the lease.
		env.store.beforeUpdate = func(stored *order.Order) {
			stored.Refunds = []order.Refund{{ID: "ref_1", Payment: stored.Payments[0].ID, Item: stored.Items[1].ID, Amount: 1190}}
			stored.Node, stored.DueAt = "other", time.Now().Add(time.Minute)
			stored.Version++
		}
		env.store.mu.Unlock()
		env.runFor(env.service, 30*time.Second)
		if len(env.provider.refundCalls) != 0 {
			t.Errorf("the provider was called %d times", len(env.provider.refundCalls))
		}
		env.runFor(env.service, 2*time.Minute) // the other node is dead
		if o = env.get(o.ID); len(env.provider.refunds) != 1 || o.Refunds[0].Provider == "" {
			t.Errorf("%+v", o.Refunds)
		}
	})
}

func TestHandleEvent_PaymentForClosedAccountIsRefunded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o, secret := env.createOrder(newRequest(order.Register, "laden"))
		url := env.pay(secret, o.Totals.Gross)
		env.store.mu.Lock()
		delete(env.store.buyers, anna)
		env.store.mu.Unlock()
		env.provider.pay(url)
		if err := env.service.HandleEvent(t.Context(), order.Event{Session: env.get(o.ID).Payments[0].Session}); err != nil {
			t.Fatal(err)
		}
		env.runFor(env.service, 5*time.Second)
		if o = env.wantState(o.ID, order.AwaitingPayment); o.Payments[0].State != order.PaymentRefunded || o.Items[0].ProvisionItem != "" {
			t.Errorf("%+v", o)
		}
		env.checkInvariants()
	})
}

func TestIdentity_ConcurrentPaymentsCountTogether(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.market.net = 300_00
	orders, secrets := make([]order.Order, 2), make([]string, 2)
	for i, label := range []string{"laden", "haus"} {
		orders[i], secrets[i] = env.createOrder(newRequest(order.Register, label))
	}
	// Both sum up before either is stored.
	var both sync.WaitGroup
	both.Add(2)
	var sums atomic.Int32
	env.store.onSpent = func() {
		if sums.Add(1) <= 2 {
			both.Done()
			both.Wait()
		}
	}
	urls := make([]string, 2)
	var all sync.WaitGroup
	for i := range orders {
		all.Go(func() {
			urls[i], _ = env.service.Pay(t.Context(), annaInPerson, secrets[i], consentTo(orders[i].Totals.Gross))
		})
	}
	all.Wait()
	if urls[0] != "" && urls[1] != "" {
		t.Error("both can be paid without an identity")
	}
	if env.get(orders[0].ID).State == order.Paying && env.get(orders[1].ID).State == order.Paying {
		t.Error("both are being paid")
	}
}

func TestPay_ReloadHasDeadline(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	env.store.spent = 499_00
	_, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross))
	if code(err) != order.DataMissing || env.store.unbounded != 0 {
		t.Errorf("%v, and %d store calls without a deadline", err, env.store.unbounded)
	}
}

func TestAbortPayment_ClosesPageCreatedMeanwhile(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	env.provider.set(func(p *fakeProvider) { p.crashing = true })
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); err == nil {
		t.Fatal("the provider responded")
	}
	env.provider.set(func(p *fakeProvider) { p.crashing = false })
	// The page is stored and given out before the other attempt stores its result.
	session := "cs_" + env.get(o.ID).Payments[0].ID
	env.store.beforeUpdate = func(stored *order.Order) {
		stored.Payments[0].State, stored.Payments[0].Session = order.PaymentOpen, session
		stored.Version++
	}
	if err := env.service.AbortPayment(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	if o = env.wantState(o.ID, order.AwaitingPayment); o.Payments[0].State != order.PaymentClosed {
		t.Errorf("%+v", o.Payments)
	}
	if env.provider.pay("https://pay.example/" + session) {
		t.Error("an abandoned page can still be paid")
	}
}

func TestPayLink_TornReadIsReloaded(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(env *testEnv, secret string) error{
		"pay": func(env *testEnv, secret string) error {
			_, err := env.service.Pay(env.t.Context(), annaInPerson, secret, consentTo(1190))
			return err
		},
		"back": func(env *testEnv, secret string) error {
			return env.service.AbortPayment(env.t.Context(), annaInPerson, secret)
		},
		"decline": func(env *testEnv, secret string) error {
			return env.service.Decline(env.t.Context(), annaInPerson, secret)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			o, secret := env.createPaidOrder(newRequest(order.Register, "laden"))
			// The order's row was read before it was paid, its payments after.
			env.store.tearRead = func(read *order.Order) { read.State, read.Version = order.Paying, read.Version-1 }
			if err := act(env, secret); err != nil && code(err) != order.NotOpen {
				t.Errorf("%v", err)
			}
			env.wantState(o.ID, order.Provisioning)
		})
	}
}

func TestPay_RegistrantChangedMeanwhileIsRepriced(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	once := sync.OnceFunc(func() {
		env.store.mu.Lock()
		defer env.store.mu.Unlock()
		changed := env.store.buyers[anna]
		changed.City = "Bonn"
		env.store.buyers[anna] = changed
	})
	env.store.onSpent = once // the order was priced for the former registrant
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); err != nil {
		t.Fatal(err)
	}
	now := env.wantState(o.ID, order.Paying)
	if len(now.Payments) != 1 || now.Payments[0].State != order.PaymentOpen || now.Registrant.City != "Bonn" {
		t.Errorf("a payment started for the former registrant %+v: %+v", now.Registrant, now.Payments)
	}
}
