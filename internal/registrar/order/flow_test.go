package order_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestAPaidOrderIsCarriedOutAndEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		o, _ := w.paid(wanted(order.Register, "laden"))
		if o.State != order.Provisioning || o.Items[0].State != order.ItemProvisioning || o.Items[0].Line == "" || o.PaidAt.IsZero() {
			t.Fatalf("after the payment: %+v", o)
		}
		w.store.endLine("laden.de", order.ItemActive, time.Now())
		w.runFor(w.service, 3*time.Second)
		if o = w.state(o.ID, order.Completed); !o.DueAt.IsZero() || len(o.Refunds) != 0 {
			t.Errorf("it is not at rest: %+v", o)
		}
		if len(w.store.letters) != 2 || w.store.letters[0].Kind != registrar.LetterOrderPaid || w.store.letters[1].Kind != registrar.LetterOrderDone {
			t.Errorf("letters: %+v", w.store.letters)
		}
		w.books()
	})
}

func TestAFreeOrderNeedsAPersonAndNoPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.market.net = 0
	o, secret := w.made(wanted(order.Transfer, "laden"))
	if err := w.service.SetCode(t.Context(), annaInPerson, secret, o.Items[0].ID, "right"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.service.Pay(t.Context(), annasAgent, secret, agreed(0)); registrar.KindOf(err) != registrar.KindUnauthenticated {
		t.Errorf("an agent confirms: %v", err)
	}
	if url := w.pay(secret, 0); url != "" {
		t.Errorf("a page for nothing: %s", url)
	}
	w.state(o.ID, order.Provisioning)
	if len(w.provider.pages) != 0 {
		t.Error("the provider was asked for a page")
	}
	w.books()
}

func TestOnlyTheOrdersCustomerActsThroughALink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	for _, actor := range []registrar.Actor{nobody, annasAgent, bertInPerson} {
		want := registrar.KindUnauthenticated
		if actor.Customer == bert {
			want = registrar.KindForbidden
		}
		_, err := w.service.Pay(t.Context(), actor, secret, agreed(o.Totals.Gross))
		for what, err := range map[string]error{
			"pays": err, "declines": w.service.Decline(t.Context(), actor, secret), "goes back": w.service.Back(t.Context(), actor, secret),
			"tells a code": w.service.SetCode(t.Context(), actor, secret, o.Items[0].ID, "x"),
		} {
			if registrar.KindOf(err) != want {
				t.Errorf("%s %q %s: %v", actor.Kind, actor.Customer, what, err)
			}
		}
		view, err := w.service.Visit(t.Context(), actor, secret)
		if err != nil || view.Yours || view.Owner != (order.Buyer{Email: "a•••@m•••.example"}) || view.Payable {
			t.Errorf("%s %q sees %+v, %v", actor.Kind, actor.Customer, view, err)
		}
	}
	w.state(o.ID, order.AwaitingPayment)
	if _, err := w.service.Get(t.Context(), bertInPerson, o.ID); code(err) != order.NoSuchOrder {
		t.Errorf("Bert gets Anna's order: %v", err)
	}
}

func TestAnOrderDeclinedCantBePaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	if err := w.service.Decline(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	w.state(o.ID, order.Canceled)
	if _, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross)); code(err) != order.NotOpen {
		t.Errorf("paying it: %v", err)
	}
	if again, _ := w.made(wanted(order.Register, "laden")); again.ID == o.ID {
		t.Error("the same items are the canceled order")
	}
}

func TestDecliningClosesThePageFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	url := w.pay(secret, o.Totals.Gross)
	if err := w.service.Decline(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	w.state(o.ID, order.Canceled)
	if w.provider.pay(url) {
		t.Error("the page of a canceled order can be paid")
	}
	// And the other way round: money that is there can't be declined away.
	o, secret = w.made(wanted(order.Register, "haus"))
	w.provider.pay(w.pay(secret, o.Totals.Gross))
	if err := w.service.Decline(t.Context(), annaInPerson, secret); code(err) != order.NotOpen {
		t.Errorf("declining a paid order: %v", err)
	}
	w.state(o.ID, order.Provisioning)
	w.books()
}

func TestBackReopensTheOrderForAnotherPayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	first := w.pay(secret, o.Totals.Gross)
	if err := w.service.Back(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	w.state(o.ID, order.AwaitingPayment)
	second := w.pay(secret, o.Totals.Gross)
	if w.provider.pay(first) || first == second {
		t.Error("the first page is still open")
	}
	w.provider.pay(second)
	if err := w.service.Heard(t.Context(), order.Event{Session: w.get(o.ID).Payments[1].Session}); err != nil {
		t.Fatal(err)
	}
	w.state(o.ID, order.Provisioning)
	w.books()
}

func TestChangingTheAutoRenewalMakesAnotherPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	first := w.pay(secret, o.Totals.Gross)
	second, err := w.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross, AutoRenew: true, Consent: order.ConsentWording("de")})
	if err != nil || second == first || w.provider.pay(first) {
		t.Fatalf("%s after %s: %v", second, first, err)
	}
	w.provider.pay(second)
	if err := w.service.Returned(t.Context(), nobody, secret); err != nil {
		t.Fatal(err)
	}
	if w.state(o.ID, order.Provisioning); w.store.methods[anna].ID != "pm_1" {
		t.Error("the means of payment is not kept")
	}
}

func TestAChangedPriceIsShownBeforeItIsCharged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	w.market.set(func(m *market) { m.net = 2000 })
	if _, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross)); code(err) != order.PriceChanged {
		t.Fatalf("paying the old price: %v", err)
	}
	if now := w.state(o.ID, order.AwaitingPayment); now.Totals.Gross != 2380 || len(now.Payments) != 0 {
		t.Errorf("the order has not the new price: %+v", now)
	}
	if _, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross)); code(err) != order.PriceChanged {
		t.Errorf("paying what was not shown: %v", err)
	}
	view, err := w.service.Visit(t.Context(), annaInPerson, secret)
	if err != nil || !view.Payable || view.Order.Totals.Gross != 2380 {
		t.Errorf("%+v, %v", view, err)
	}
	w.pay(secret, 2380)
}

func TestANameThatIsGoneIsNotCharged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden", "haus"))
	w.market.set(func(m *market) {
		m.refuse["haus.de"] = &registrar.Error{Kind: registrar.KindConflict, Code: "name_taken"}
	})
	_, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross))
	var no *order.ItemsRefused
	if !errors.As(err, &no) || len(no.Items) != 1 || no.Items[0].Name != "haus.de" || code(no.Items[0].Reason) != "name_taken" {
		t.Fatalf("paying: %v", err)
	}
	view, err := w.service.Visit(t.Context(), annaInPerson, secret)
	if err != nil || view.Payable || code(view.Refused[o.Items[1].ID]) != "name_taken" || view.Refused[o.Items[0].ID] != nil {
		t.Errorf("%+v, %v", view, err)
	}
	w.state(o.ID, order.AwaitingPayment)
}

func TestWhatIsMissingIsToldAndStopsThePayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.market.missing["laden.de"] = []string{"eu_presence"}
	o, secret := w.made(wanted(order.Transfer, "laden"))
	view, err := w.service.Visit(t.Context(), annaInPerson, secret)
	if err != nil || view.Payable || len(view.Missing) != 2 || len(view.Needs[o.Items[0].ID]) != 2 {
		t.Errorf("%+v, %v", view, err)
	}
	if err := w.service.SetCode(t.Context(), annaInPerson, secret, o.Items[0].ID, "wrong"); code(err) != "wrong_code" {
		t.Errorf("a wrong code: %v", err)
	}
	if err := w.service.SetCode(t.Context(), annaInPerson, secret, o.Items[0].ID, " right "); err != nil {
		t.Fatal(err)
	}
	if _, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross)); code(err) != order.DataMissing {
		t.Errorf("paying without: %v", err)
	}
	w.market.set(func(m *market) { m.missing = nil })
	w.pay(secret, o.Totals.Gross)
}

func TestAnAuthCodeIsForgottenWithTheOrdersEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Transfer, "laden"))
	if err := w.service.SetCode(t.Context(), annaInPerson, secret, o.Items[0].ID, "right"); err != nil {
		t.Fatal(err)
	}
	if w.get(o.ID).Items[0].SealedCode == "" {
		t.Error("it is not kept")
	}
	if err := w.service.Decline(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	if w.get(o.ID).Items[0].SealedCode != "" {
		t.Error("it is kept though nobody needs it")
	}
}

func TestARegistryThatIsAwayStopsOrdersButNotThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	w.market.set(func(m *market) { m.refuse["laden.de"] = errDown })
	if _, err := w.service.Start(t.Context(), annasAgent, wanted(order.Register, "laden")); registrar.KindOf(err) != registrar.KindUpstream {
		t.Errorf("starting: %v", err)
	}
	if _, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross)); registrar.KindOf(err) != registrar.KindUpstream {
		t.Errorf("paying: %v", err)
	}
	view, err := w.service.Visit(t.Context(), annaInPerson, secret)
	if err != nil || !view.Unasked || view.Order.Totals.Gross != o.Totals.Gross {
		t.Errorf("%+v, %v", view, err)
	}
}

func TestEqualItemsAreOneOpenOrderHoweverManyAskAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := make([]string, 50)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			req := wanted(order.Register, "laden", "haus")
			if i%2 == 1 {
				req = wanted(order.Register, "haus", "laden")
			}
			o, err := w.service.Start(t.Context(), annasAgent, req)
			if err != nil {
				t.Error(err)
			}
			ids[i] = o.ID
		})
	}
	all.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("%s and %s", ids[0], id)
		}
	}
	if len(w.store.deeds) != 1 {
		t.Errorf("%d deeds", len(w.store.deeds))
	}
}

func TestPressingPayFiftyTimesIsOnePayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	urls := make([]string, 50)
	var all sync.WaitGroup
	for i := range urls {
		all.Go(func() { urls[i], _ = w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross)) })
	}
	all.Wait()
	for _, url := range urls {
		if url == "" || url != urls[0] {
			t.Fatalf("%q and %q", urls[0], url)
		}
	}
	if len(w.provider.pages) != 1 || len(w.get(o.ID).Payments) != 1 {
		t.Errorf("%d pages, %d payments", len(w.provider.pages), len(w.get(o.ID).Payments))
	}
	w.provider.pay(urls[0])
	for range 50 {
		all.Go(func() {
			if err := w.service.Returned(t.Context(), annaInPerson, secret); err != nil {
				t.Error(err)
			}
			if err := w.service.Heard(t.Context(), order.Event{Session: "cs_" + w.get(o.ID).Payments[0].ID}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w.state(o.ID, order.Provisioning)
	if len(w.store.letters) != 1 {
		t.Errorf("%d receipts", len(w.store.letters))
	}
	w.books()
}

func TestADryRunStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	req := wanted(order.Register, "laden")
	req.DryRun = true
	o, err := w.service.Start(t.Context(), annasAgent, req)
	if err != nil || o.ID != "" || o.Totals.Gross != 1190 || o.SealedPayLink != "" {
		t.Errorf("%+v, %v", o, err)
	}
	if len(w.store.orders) != 0 || len(w.store.deeds) != 0 {
		t.Error("something is stored")
	}
}

func TestTooManyOpenOrdersAreRefusedButNotForThoseThatAreOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 20 {
		w.made(wanted(order.Register, "laden"+string(rune('a'+i))))
	}
	if _, err := w.service.Start(t.Context(), annasAgent, wanted(order.Register, "mehr")); code(err) != order.TooManyOpen {
		t.Errorf("the 21st: %v", err)
	}
	dryRun := wanted(order.Register, "mehr")
	dryRun.DryRun = true
	if _, err := w.service.Prepare(t.Context(), annasAgent, dryRun); code(err) != order.TooManyOpen {
		t.Errorf("a dry run of the 21st: %v", err)
	}
	same := wanted(order.Register, "ladena")
	same.DryRun = true
	if _, err := w.service.Prepare(t.Context(), annasAgent, same); err != nil {
		t.Errorf("a dry run of an open order's items: %v", err)
	}
	w.advance(25 * time.Hour) // by the time of the business; the true clock has not moved
	if _, err := w.service.Prepare(t.Context(), annasAgent, dryRun); err != nil {
		t.Errorf("a dry run after the others have expired: %v", err)
	}
	w.made(wanted(order.Register, "mehr"))
}

func TestStart_UnaskedItemsAreNamedBesideRefusedOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.market.set(func(m *market) {
		m.refuse["eins.de"] = errDown
		m.refuse["zwei.de"] = &registrar.Error{Kind: registrar.KindConflict, Code: "name_taken"}
	})
	_, err := w.service.Start(t.Context(), annasAgent, wanted(order.Register, "eins", "zwei", "drei"))
	var no *order.ItemsRefused
	if !errors.As(err, &no) || len(no.Items) != 1 || no.Items[0].Name != "zwei.de" || len(no.Unasked) != 1 || no.Unasked[0].Name != "eins.de" {
		t.Errorf("one refused, one unasked: %+v, %v", no, err)
	}
	_, err = w.service.Start(t.Context(), annasAgent, wanted(order.Register, "eins", "drei"))
	var unasked *order.ItemsUnasked
	if !errors.As(err, &unasked) || len(unasked.Items) != 1 || unasked.Items[0].Name != "eins.de" || registrar.KindOf(err) != registrar.KindUpstream {
		t.Errorf("one unasked: %+v, %v", unasked, err)
	}
	w.market.set(func(m *market) {
		m.refuse["eins.de"] = &registrar.Error{Kind: registrar.KindInternal, Code: "database"}
	})
	if _, err = w.service.Start(t.Context(), annasAgent, wanted(order.Register, "eins")); errors.As(err, &unasked) || code(err) != "database" {
		t.Errorf("our own fault: %v", err)
	}
}

func TestItemsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for what, req := range map[string]order.Request{
		"none": {}, "twice": wanted(order.Register, "a", "a"), "no name": {Items: []order.Wanted{{Kind: order.Register}}},
		"kind": wanted("lease", "a"), "many": wanted(order.Register, manyLabels(21)...),
	} {
		if _, err := w.service.Start(t.Context(), annasAgent, req); code(err) != order.BadItems {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := w.service.Start(t.Context(), annasAgent, wanted(order.Renew, "laden")); code(err) != order.RenewInPortal {
		t.Errorf("an agent renews: %v", err)
	}
	if _, err := w.service.Start(t.Context(), nobody, wanted(order.Register, "laden")); registrar.KindOf(err) != registrar.KindUnauthenticated {
		t.Errorf("nobody orders: %v", err)
	}
}

func manyLabels(n int) []string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = "name" + string(rune('a'+i))
	}
	return labels
}
