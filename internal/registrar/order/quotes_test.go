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

// fakeBudget is a budget that tests set.
type fakeBudget struct {
	mu               sync.Mutex
	quotes, payments int
	spent            map[registrar.QueryPurpose]int
}

func (p *fakeBudget) spend(_ registrar.Actor, purpose registrar.QueryPurpose, names int) time.Duration {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	left := &p.quotes
	if purpose == registrar.ForPayment {
		left = &p.payments
	}
	if *left < names {
		return time.Minute
	}
	*left -= names
	p.spent[purpose] += names
	return 0
}

// newBudgetEnv returns an env with these budgets of names.
func newBudgetEnv(t *testing.T, quotes, payments int) (*testEnv, *fakeBudget) {
	t.Helper()
	env := newEnv(t)
	budget := &fakeBudget{quotes: quotes, payments: payments, spent: map[registrar.QueryPurpose]int{}}
	env.budget = budget
	env.service = env.startNode("node")
	return env, budget
}

// takePurposes returns the purposes requested since the last call.
func (env *testEnv) takePurposes() []registrar.QueryPurpose {
	env.market.mu.Lock()
	defer env.market.mu.Unlock()
	purposes := env.market.purposes
	env.market.purposes = nil
	return purposes
}

func (env *testEnv) wantPurposes(what string, want ...registrar.QueryPurpose) {
	env.t.Helper()
	if got := env.takePurposes(); !slices.Equal(got, want) {
		env.t.Errorf("%s requests %v, want %v", what, got, want)
	}
}

func TestPay_QuotesForPaymentAndViewsForDisplay(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	env.wantPurposes("start", registrar.ForQuote)
	if _, err := env.service.View(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	env.wantPurposes("the page", registrar.ForDisplay)
	for what, told := range map[string]order.Confirmation{
		"another sum": {Gross: o.Totals.Gross + 1, Consent: consentTo(0).Consent}, "no consent": {Gross: o.Totals.Gross},
	} {
		if _, err := env.service.Pay(t.Context(), annaInPerson, secret, told); err == nil {
			t.Errorf("%s is accepted", what)
		}
		env.wantPurposes(what+", which can't be charged,", registrar.ForQuote)
	}
	env.pay(secret, o.Totals.Gross)
	env.wantPurposes("the payment", registrar.ForPayment)
}

func TestCompleteSession_AlwaysQuotesFresh(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	session := env.createSession(order.Register, &carla, "laden")
	env.wantPurposes("create", registrar.ForQuote)
	if _, err := env.service.Session(t.Context(), shopper, session.Order.ID); err != nil {
		t.Fatal(err)
	}
	env.wantPurposes("read", registrar.ForDisplay)
	if _, err := env.service.UpdateSession(t.Context(), shopper, session.Order.ID, order.SessionChange{}); err != nil {
		t.Fatal(err)
	}
	env.wantPurposes("update", registrar.ForQuote)
	if _, err := env.complete(session.Order.ID, ""); err != nil {
		t.Fatal(err)
	}
	env.wantPurposes("a completion without a token, which can't charge,", registrar.ForQuote)
	done, err := env.complete(session.Order.ID, "spt_good")
	if err != nil || done.Status != order.SessionCompleted {
		t.Fatalf("%s, %v", done.Status, err)
	}
	env.wantPurposes("the completion", registrar.ForPayment)
}

func TestCreate_OverBudgetQueriesNobodyAndStoresNothing(t *testing.T) {
	t.Parallel()
	env, _ := newBudgetEnv(t, 3, 100)
	env.createOrder(newRequest(order.Register, "eins", "zwei"))
	env.takePurposes()
	for _, dry := range []bool{false, true} {
		request := newRequest(order.Register, "drei", "vier")
		request.DryRun = dry
		_, err := env.service.Create(t.Context(), annasAgent, request)
		if registrar.KindOf(err) != registrar.KindRateLimited || code(err) != order.OverBudget {
			t.Errorf("dry run %v: %v", dry, err)
		}
	}
	if _, err := env.service.CreateSession(t.Context(), shopper, order.SessionRequest{Items: newRequest(order.Register, "drei", "vier").Items}); code(err) != order.OverBudget {
		t.Errorf("a session: %v", err)
	}
	env.wantPurposes("over the budget, ordering")
	if n := len(env.store.orders); n != 1 {
		t.Errorf("%d orders are stored", n)
	}
	env.createOrder(newRequest(order.Register, "fünf")) // one name is left, since a refusal costs nothing
}

func TestView_OverBudgetShowsLastQuoteWithTime(t *testing.T) {
	t.Parallel()
	env, budget := newBudgetEnv(t, 2, 100)
	o, secret := env.createOrder(newRequest(order.Register, "eins", "zwei"))
	asked := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	view, err := env.service.View(t.Context(), annaInPerson, secret)
	if err != nil || !view.Unquoted || !view.AskedAt.IsZero() || !view.Payable || view.Order.Totals != o.Totals {
		t.Errorf("without a cached quote: %+v, %v", view, err)
	}
	env.market.set(func(m *fakeMarket) { m.stale = asked })
	view, err = env.service.View(t.Context(), annaInPerson, secret)
	if err != nil || !view.Unquoted || !view.AskedAt.Equal(asked) || !view.Payable {
		t.Errorf("with a cached quote: %+v, %v", view, err)
	}
	// A cached refusal stays a refusal.
	env.market.set(func(m *fakeMarket) {
		m.refuse["eins.de"] = &registrar.Error{Kind: registrar.KindConflict, Code: "name_taken"}
	})
	view, err = env.service.View(t.Context(), annaInPerson, secret)
	if err != nil || !view.Unquoted || len(view.Refused) != 1 || view.Payable {
		t.Errorf("with a cached refusal: %+v, %v", view, err)
	}
	env.market.set(func(m *fakeMarket) { delete(m.refuse, "eins.de") })
	// Viewing too often does not prevent paying.
	env.pay(secret, o.Totals.Gross)
	if budget.spent[registrar.ForPayment] != 2 || budget.spent[registrar.ForDisplay] != 0 {
		t.Errorf("spent %v", budget.spent)
	}
}

func TestPay_OverPaymentBudgetChargesNothing(t *testing.T) {
	t.Parallel()
	env, budget := newBudgetEnv(t, 100, 2)
	o, secret := env.createOrder(newRequest(order.Register, "eins", "zwei"))
	for range 3 { // pay and return without having paid
		if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); err != nil {
			if code(err) != order.OverBudget || registrar.KindOf(err) != registrar.KindRateLimited {
				t.Errorf("got %v", err)
			}
			env.wantState(o.ID, order.AwaitingPayment)
			continue
		}
		if err := env.service.AbortPayment(t.Context(), annaInPerson, secret); err != nil {
			t.Fatal(err)
		}
	}
	if budget.spent[registrar.ForPayment] != 2 {
		t.Errorf("spent %v", budget.spent)
	}
	session := env.createSession(order.Register, &carla, "drei")
	if _, err := env.complete(session.Order.ID, "spt_good"); code(err) != order.OverBudget {
		t.Errorf("a completion: %v", err)
	}
	env.wantState(session.Order.ID, order.AwaitingPayment)
	env.checkInvariants()
}

func TestPay_PriceChangeAfterViewMustBeConfirmed(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	session := env.createSession(order.Register, &carla, "kontor")
	view, err := env.service.View(t.Context(), annaInPerson, secret)
	if err != nil {
		t.Fatal(err)
	}
	env.market.set(func(m *fakeMarket) { m.net = 1500 })
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(view.Order.Totals.Gross)); code(err) != order.PriceChanged {
		t.Errorf("the page's payment: %v", err)
	}
	if now := env.wantState(o.ID, order.AwaitingPayment); now.Totals.Gross == view.Order.Totals.Gross {
		t.Error("the order has the old price")
	}
	if _, err := env.complete(session.Order.ID, "spt_good"); code(err) != order.PriceChanged {
		t.Errorf("the completion: %v", err)
	}
	env.checkInvariants()
}

func TestHandleReturn_QueriesProviderOncePerInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.recheckInterval, env.provider.latency = 3*time.Second, 100*time.Millisecond
		env.service = env.startNode("node")
		o, secret := env.createOrder(newRequest(order.Register, "laden"))
		url := env.pay(secret, o.Totals.Gross)
		var all sync.WaitGroup
		for range 50 { // concurrently, by anyone with the link
			all.Go(func() {
				if err := env.service.HandleReturn(t.Context(), registrar.Actor{}, secret); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for range 25 { // sequentially, for 2.5 seconds
			time.Sleep(100 * time.Millisecond)
			if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); err != nil {
				t.Error(err)
			}
		}
		if env.provider.pageFetches != 1 {
			t.Errorf("the provider was called %d times", env.provider.pageFetches)
		}
		env.provider.pay(url)
		time.Sleep(3 * time.Second)
		if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); err != nil {
			t.Error(err)
		}
		env.wantState(o.ID, order.Provisioning)
	})
}

func TestHandleReturn_CachesProviderFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.recheckInterval = 3 * time.Second
		env.service = env.startNode("node")
		o, secret := env.createOrder(newRequest(order.Register, "laden"))
		env.pay(secret, o.Totals.Gross)
		env.provider.down = registrar.Fault(registrar.FaultTimeout, "provider", nil)
		for range 10 {
			if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); registrar.KindOf(err) != registrar.KindUpstream {
				t.Errorf("got %v", err)
			}
		}
		if env.provider.pageFetches != 1 {
			t.Errorf("the provider was called %d times", env.provider.pageFetches)
		}
	})
}

func TestHandleEvent_BypassesPageCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.recheckInterval = time.Minute
		env.service = env.startNode("node")
		o, secret := env.createOrder(newRequest(order.Register, "laden"))
		url := env.pay(secret, o.Totals.Gross)
		if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); err != nil {
			t.Fatal(err)
		}
		env.provider.pay(url)
		if err := env.service.HandleEvent(t.Context(), order.Event{Session: env.get(o.ID).Payments[0].Session}); err != nil {
			t.Fatal(err)
		}
		env.wantState(o.ID, order.Provisioning)
	})
}

func TestVerifyView_QueriesProviderOncePerInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.recheckInterval, env.provider.latency = 3*time.Second, 100*time.Millisecond
		env.service = env.startNode("node")
		env.market.verify["laden.de"] = true
		o, _ := env.createOrder(newRequest(order.Register, "laden"))
		link := env.verifySecret(o)
		url, err := env.service.StartVerification(t.Context(), annaInPerson, link)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, err := env.service.VerifyView(t.Context(), annaInPerson, link); err != nil {
					t.Error(err)
				}
				if again, err := env.service.StartVerification(t.Context(), annaInPerson, link); err != nil || again != url {
					t.Errorf("%q, %v", again, err)
				}
			})
		}
		all.Wait()
		if env.provider.verificationFetches != 1 {
			t.Errorf("the provider was called %d times", env.provider.verificationFetches)
		}
		session := env.setVerification(url, func(v *order.Verification) { v.Done, v.Name, v.URL = true, "Anna Müller", "" })
		// A webhook triggers a call at once.
		if err := env.service.HandleEvent(t.Context(), order.Event{Verification: session}); err != nil {
			t.Fatal(err)
		}
		env.wantState(o.ID, order.AwaitingPayment)
	})
}
