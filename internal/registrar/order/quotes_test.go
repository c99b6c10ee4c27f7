package order_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// purse is a budget that a test fills and empties.
type purse struct {
	mu               sync.Mutex
	quotes, payments int
	spent            map[registrar.Purpose]int
}

func (p *purse) Spend(_ registrar.Actor, purpose registrar.Purpose, names int) time.Duration {
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

// bounded is a world whose customers and agents may have so many names asked about.
func bounded(t *testing.T, quotes, payments int) (*world, *purse) {
	t.Helper()
	w := newWorld(t)
	budget := &purse{quotes: quotes, payments: payments, spent: map[registrar.Purpose]int{}}
	w.budget = budget
	w.service = w.start("node")
	return w, budget
}

// asked is what the market was asked for since the last call.
func (w *world) asked() []registrar.Purpose {
	w.market.mu.Lock()
	defer w.market.mu.Unlock()
	purposes := w.market.purposes
	w.market.purposes = nil
	return purposes
}

func (w *world) askedFor(what string, want ...registrar.Purpose) {
	w.t.Helper()
	if got := w.asked(); fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Errorf("%s asks for %v, want %v", what, got, want)
	}
}

func TestPay_AsksForPaymentAndPagesAskForDisplay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	w.askedFor("start", registrar.ForQuote)
	if _, err := w.service.Visit(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	w.askedFor("the page", registrar.ForDisplay)
	for what, told := range map[string]order.Confirmation{
		"another sum": {Gross: o.Totals.Gross + 1, Consent: agreed(0).Consent}, "no consent": {Gross: o.Totals.Gross},
	} {
		if _, err := w.service.Pay(t.Context(), annaInPerson, secret, told); err == nil {
			t.Errorf("%s is accepted", what)
		}
		w.askedFor(what+", which can't be charged,", registrar.ForQuote)
	}
	w.pay(secret, o.Totals.Gross)
	w.askedFor("the payment", registrar.ForPayment)
}

func TestCompleteSession_AlwaysAsksFresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session := w.opened(order.Register, &carla, "laden")
	w.askedFor("create", registrar.ForQuote)
	if _, err := w.service.Session(t.Context(), shopper, session.Order.ID); err != nil {
		t.Fatal(err)
	}
	w.askedFor("read", registrar.ForDisplay)
	if _, err := w.service.UpdateSession(t.Context(), shopper, session.Order.ID, order.SessionChange{}); err != nil {
		t.Fatal(err)
	}
	w.askedFor("update", registrar.ForQuote)
	if _, err := w.complete(session.Order.ID, ""); err != nil {
		t.Fatal(err)
	}
	w.askedFor("a completion without a token, which can't charge,", registrar.ForQuote)
	done, err := w.complete(session.Order.ID, "spt_good")
	if err != nil || done.Status != order.SessionCompleted {
		t.Fatalf("%s, %v", done.Status, err)
	}
	w.askedFor("the completion", registrar.ForPayment)
}

func TestStart_OverBudgetAsksNobodyAndStoresNothing(t *testing.T) {
	t.Parallel()
	w, _ := bounded(t, 3, 100)
	w.made(wanted(order.Register, "eins", "zwei"))
	w.asked()
	for _, dry := range []bool{false, true} {
		request := wanted(order.Register, "drei", "vier")
		request.DryRun = dry
		_, err := w.service.Start(t.Context(), annasAgent, request)
		if registrar.KindOf(err) != registrar.KindRateLimited || code(err) != order.OverBudget {
			t.Errorf("dry run %v: %v", dry, err)
		}
	}
	if _, err := w.service.CreateSession(t.Context(), shopper, order.SessionRequest{Items: wanted(order.Register, "drei", "vier").Items}); code(err) != order.OverBudget {
		t.Errorf("a session: %v", err)
	}
	w.askedFor("over the budget, ordering")
	if n := len(w.store.orders); n != 1 {
		t.Errorf("%d orders are stored", n)
	}
	w.made(wanted(order.Register, "fünf")) // one name is left, since a refusal costs nothing
}

func TestVisit_OverBudgetShowsTheLastAnswerWithItsTime(t *testing.T) {
	t.Parallel()
	w, budget := bounded(t, 2, 100)
	o, secret := w.made(wanted(order.Register, "eins", "zwei"))
	asked := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	view, err := w.service.Visit(t.Context(), annaInPerson, secret)
	if err != nil || !view.Unasked || !view.AskedAt.IsZero() || !view.Payable || view.Order.Totals != o.Totals {
		t.Errorf("nothing known: %+v, %v", view, err)
	}
	w.market.set(func(m *market) { m.stale = asked })
	view, err = w.service.Visit(t.Context(), annaInPerson, secret)
	if err != nil || !view.Unasked || !view.AskedAt.Equal(asked) || !view.Payable {
		t.Errorf("something known: %+v, %v", view, err)
	}
	// The registry's last no stays one.
	w.market.set(func(m *market) {
		m.refuse["eins.de"] = &registrar.Error{Kind: registrar.KindConflict, Code: "name_taken"}
	})
	view, err = w.service.Visit(t.Context(), annaInPerson, secret)
	if err != nil || !view.Unasked || len(view.Refused) != 1 || view.Payable {
		t.Errorf("a refusal known: %+v, %v", view, err)
	}
	w.market.set(func(m *market) { delete(m.refuse, "eins.de") })
	// And whoever has looked too often can still pay, at the price that they saw.
	w.pay(secret, o.Totals.Gross)
	if budget.spent[registrar.ForPayment] != 2 || budget.spent[registrar.ForDisplay] != 0 {
		t.Errorf("spent %v", budget.spent)
	}
}

func TestPay_OverThePaymentBudgetChargesNothing(t *testing.T) {
	t.Parallel()
	w, budget := bounded(t, 100, 2)
	o, secret := w.made(wanted(order.Register, "eins", "zwei"))
	for range 3 { // pay, and come back without having paid
		if _, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross)); err != nil {
			if code(err) != order.OverBudget || registrar.KindOf(err) != registrar.KindRateLimited {
				t.Errorf("got %v", err)
			}
			w.state(o.ID, order.AwaitingPayment)
			continue
		}
		if err := w.service.Back(t.Context(), annaInPerson, secret); err != nil {
			t.Fatal(err)
		}
	}
	if budget.spent[registrar.ForPayment] != 2 {
		t.Errorf("spent %v", budget.spent)
	}
	session := w.opened(order.Register, &carla, "drei")
	if _, err := w.complete(session.Order.ID, "spt_good"); code(err) != order.OverBudget {
		t.Errorf("a completion: %v", err)
	}
	w.state(session.Order.ID, order.AwaitingPayment)
	w.books()
}

func TestPay_PriceChangeAfterThePageIsShownFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	session := w.opened(order.Register, &carla, "kontor")
	view, err := w.service.Visit(t.Context(), annaInPerson, secret)
	if err != nil {
		t.Fatal(err)
	}
	w.market.set(func(m *market) { m.net = 1500 })
	if _, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(view.Order.Totals.Gross)); code(err) != order.PriceChanged {
		t.Errorf("the page's payment: %v", err)
	}
	if now := w.state(o.ID, order.AwaitingPayment); now.Totals.Gross == view.Order.Totals.Gross {
		t.Error("the order keeps the old price")
	}
	if _, err := w.complete(session.Order.ID, "spt_good"); code(err) != order.PriceChanged {
		t.Errorf("the completion: %v", err)
	}
	w.books()
}

func TestReturned_AsksTheProviderOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookAgain, w.provider.hold = 3*time.Second, 100*time.Millisecond
		w.service = w.start("node")
		o, secret := w.made(wanted(order.Register, "laden"))
		url := w.pay(secret, o.Totals.Gross)
		var all sync.WaitGroup
		for range 50 { // at once, by whoever has the link
			all.Go(func() {
				if err := w.service.Returned(t.Context(), registrar.Actor{}, secret); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for range 25 { // and one after the other, for 2.5 seconds
			time.Sleep(100 * time.Millisecond)
			if err := w.service.Returned(t.Context(), annaInPerson, secret); err != nil {
				t.Error(err)
			}
		}
		if w.provider.pageLooks != 1 {
			t.Errorf("the provider was asked %d times", w.provider.pageLooks)
		}
		w.provider.pay(url)
		time.Sleep(3 * time.Second)
		if err := w.service.Returned(t.Context(), annaInPerson, secret); err != nil {
			t.Error(err)
		}
		w.state(o.ID, order.Provisioning)
	})
}

func TestReturned_FailureOfTheProviderIsNotAskedForAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookAgain = 3 * time.Second
		w.service = w.start("node")
		o, secret := w.made(wanted(order.Register, "laden"))
		w.pay(secret, o.Totals.Gross)
		w.provider.down = registrar.Fault(registrar.FaultTimeout, "provider", nil)
		for range 10 {
			if err := w.service.Returned(t.Context(), annaInPerson, secret); registrar.KindOf(err) != registrar.KindUpstream {
				t.Errorf("got %v", err)
			}
		}
		if w.provider.pageLooks != 1 {
			t.Errorf("the provider was asked %d times", w.provider.pageLooks)
		}
	})
}

func TestHeard_AsksTheProviderThoughAPageJustDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookAgain = time.Minute
		w.service = w.start("node")
		o, secret := w.made(wanted(order.Register, "laden"))
		url := w.pay(secret, o.Totals.Gross)
		if err := w.service.Returned(t.Context(), annaInPerson, secret); err != nil {
			t.Fatal(err)
		}
		w.provider.pay(url)
		if err := w.service.Heard(t.Context(), order.Event{Session: w.get(o.ID).Payments[0].Session}); err != nil {
			t.Fatal(err)
		}
		w.state(o.ID, order.Provisioning)
	})
}

func TestVerifyVisit_AsksTheProviderOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookAgain, w.provider.hold = 3*time.Second, 100*time.Millisecond
		w.service = w.start("node")
		w.market.verify["laden.de"] = true
		o, _ := w.made(wanted(order.Register, "laden"))
		link := w.verifySecret(o)
		url, err := w.service.Verify(t.Context(), annaInPerson, link)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, err := w.service.VerifyVisit(t.Context(), annaInPerson, link); err != nil {
					t.Error(err)
				}
				if again, err := w.service.Verify(t.Context(), annaInPerson, link); err != nil || again != url {
					t.Errorf("%q, %v", again, err)
				}
			})
		}
		all.Wait()
		if w.provider.checkLooks != 1 {
			t.Errorf("the provider was asked %d times", w.provider.checkLooks)
		}
		session := w.shows(url, func(v *order.Verification) { v.Done, v.Name, v.URL = true, "Anna Müller", "" })
		// A message is a reason to ask at once.
		if err := w.service.Heard(t.Context(), order.Event{Verification: session}); err != nil {
			t.Fatal(err)
		}
		w.state(o.ID, order.AwaitingPayment)
	})
}
