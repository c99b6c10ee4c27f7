package order_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestRun_PaidOrderCompletes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		o, _ := env.createPaidOrder(newRequest(order.Register, "laden"))
		if o.State != order.Provisioning || o.Items[0].State != order.ItemProvisioning || o.Items[0].ProvisionItem == "" || o.PaidAt.IsZero() {
			t.Fatalf("after the payment: %+v", o)
		}
		env.store.endItem("laden.de", order.ItemActive, time.Now())
		env.runFor(env.service, 3*time.Second)
		if o = env.wantState(o.ID, order.Completed); !o.DueAt.IsZero() || len(o.Refunds) != 0 {
			t.Errorf("the order is still due: %+v", o)
		}
		if len(env.store.mails) != 2 || env.store.mails[0].Kind != registrar.MailOrderPaid || env.store.mails[1].Kind != registrar.MailOrderEnded {
			t.Errorf("mails: %+v", env.store.mails)
		}
		if merged := env.store.mails[1].Merged; merged == nil || merged.ID != env.store.mails[0].ID || merged.Kind != registrar.MailOrderCompleted {
			t.Errorf("receipt and outcome are two mails: %+v", merged)
		} else if merged.Data["item1_locked"] != "true" {
			t.Errorf("the mail does not name the transfer lock: %v", merged.Data)
		}
		env.checkInvariants()
	})
}

func TestRun_OutcomeMailNamesNewEndsOfRenewedTerms(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.store.termEnds = map[string]time.Time{"laden.de": time.Date(2029, 2, 3, 4, 0, 0, 0, time.UTC), "tee.de": time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}
		o, _ := env.createPaidOrder(newRequest(order.Renew, "laden", "tee"))
		env.store.endItem("laden.de", order.ItemActive, time.Now())
		env.store.endItem("tee.de", order.ItemFailed, time.Now())
		env.runFor(env.service, 3*time.Second)
		env.wantState(o.ID, order.PartiallyCompleted)
		mail := env.store.mails[len(env.store.mails)-1]
		at := slices.IndexFunc(o.Items, func(i order.Item) bool { return i.Name == "laden.de" }) + 1
		if mail.Data[fmt.Sprintf("item%d_paid_until", at)] != "2029-02-03" || mail.Data[fmt.Sprintf("item%d_paid_until", 3-at)] != "" {
			t.Errorf("the outcome: %v", mail.Data)
		}
		all, _ := env.createPaidOrder(newRequest(order.Renew, "laden"))
		env.store.endItem("laden.de", order.ItemActive, time.Now())
		env.runFor(env.service, 3*time.Second)
		env.wantState(all.ID, order.Completed)
		mail = env.store.mails[len(env.store.mails)-1]
		if mail.Data["item1_next_term"] != "" || mail.Data["item1_paid_until"] != "2029-02-03" || mail.Merged == nil || mail.Merged.Data["item1_paid_until"] != "2029-02-03" || mail.Merged.Data["item1_next_charge"] != "2029-01-20" || mail.Merged.Data["item1_lifted"] != "true" || mail.Merged.Data["consumer"] != "true" {
			t.Errorf("the completed order: %v, merged %+v", mail.Data, mail.Merged)
		}
		env.store.termEnds["laden.de"] = time.Now().AddDate(0, 0, 20) // too soon to announce a charge
		short, _ := env.createPaidOrder(newRequest(order.Renew, "laden"))
		env.store.endItem("laden.de", order.ItemActive, time.Now())
		env.runFor(env.service, 3*time.Second)
		env.wantState(short.ID, order.Completed)
		if mail = env.store.mails[len(env.store.mails)-1]; mail.Data["item1_next_term"] != "true" || mail.Merged == nil || mail.Merged.Data["item1_next_term"] != "true" {
			t.Errorf("the order with a short term: %v, merged %+v", mail.Data, mail.Merged)
		}
	})
}

func TestPay_FreeOrderNeedsPersonButNoPage(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.market.net = 0
	o, secret := env.createOrder(newRequest(order.Transfer, "laden"))
	if err := env.service.SetAuthCode(t.Context(), annaInPerson, secret, o.Items[0].ID, "right"); err != nil {
		t.Fatal(err)
	}
	if _, err := env.service.Pay(t.Context(), annasAgent, secret, consentTo(0)); registrar.KindOf(err) != registrar.KindUnauthenticated {
		t.Errorf("an agent confirms: %v", err)
	}
	if url := env.pay(secret, 0); url != "" {
		t.Errorf("payment page for a free order: %s", url)
	}
	paid := env.wantState(o.ID, order.Provisioning)
	if len(env.provider.pages) != 0 {
		t.Error("the provider was called")
	}
	want := paid.PaidAt.In(registrar.Germany()).AddDate(0, 0, 5).Format(time.DateOnly)
	if got := env.receiptMail(o.ID).Data["item1_expected"]; got != want {
		t.Errorf("the transfer is expected by %q, want %q", got, want)
	}
	env.checkInvariants()
}

func TestPayLink_OnlyOwnerMayAct(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	for _, actor := range []registrar.Actor{anonymous, annasAgent, bertInPerson} {
		want := registrar.KindUnauthenticated
		if actor.Customer == bert {
			want = registrar.KindForbidden
		}
		_, err := env.service.Pay(t.Context(), actor, secret, consentTo(o.Totals.Gross))
		for what, err := range map[string]error{
			"pays": err, "declines": env.service.Decline(t.Context(), actor, secret), "goes back": env.service.AbortPayment(t.Context(), actor, secret),
			"tells a code": env.service.SetAuthCode(t.Context(), actor, secret, o.Items[0].ID, "x"),
		} {
			if registrar.KindOf(err) != want {
				t.Errorf("%s %q %s: %v", actor.Kind, actor.Customer, what, err)
			}
		}
		view, err := env.service.View(t.Context(), actor, secret)
		if err != nil || view.IsOwner || view.Owner != (order.Buyer{Email: "a•••@m•••.example", Language: "de"}) || view.Payable {
			t.Errorf("%s %q sees %+v, %v", actor.Kind, actor.Customer, view, err)
		}
	}
	env.wantState(o.ID, order.AwaitingPayment)
	if _, err := env.service.Get(t.Context(), bertInPerson, o.ID); code(err) != order.NoSuchOrder {
		t.Errorf("Bert gets Anna's order: %v", err)
	}
}

func TestDecline_OrderCannotBePaid(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	if err := env.service.Decline(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	env.wantState(o.ID, order.Canceled)
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); code(err) != order.NotOpen {
		t.Errorf("paying it: %v", err)
	}
	if again, _ := env.createOrder(newRequest(order.Register, "laden")); again.ID == o.ID {
		t.Error("the same items return the canceled order")
	}
}

func TestDecline_ClosesPaymentPageFirst(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	url := env.pay(secret, o.Totals.Gross)
	if err := env.service.Decline(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	env.wantState(o.ID, order.Canceled)
	if env.provider.pay(url) {
		t.Error("the page of a canceled order can be paid")
	}
	// A captured payment can't be declined.
	o, secret = env.createOrder(newRequest(order.Register, "haus"))
	env.provider.pay(env.pay(secret, o.Totals.Gross))
	if err := env.service.Decline(t.Context(), annaInPerson, secret); code(err) != order.NotOpen {
		t.Errorf("declining a paid order: %v", err)
	}
	env.wantState(o.ID, order.Provisioning)
	env.checkInvariants()
}

func TestAbortPayment_ReopensOrderForAnotherPayment(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	first := env.pay(secret, o.Totals.Gross)
	if err := env.service.AbortPayment(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	env.wantState(o.ID, order.AwaitingPayment)
	second := env.pay(secret, o.Totals.Gross)
	if env.provider.pay(first) || first == second {
		t.Error("the first page is still open")
	}
	env.provider.pay(second)
	if err := env.service.HandleEvent(t.Context(), order.Event{Session: env.get(o.ID).Payments[1].Session}); err != nil {
		t.Fatal(err)
	}
	env.wantState(o.ID, order.Provisioning)
	env.checkInvariants()
}

func TestPay_AutoRenewChangeOpensNewPage(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	first := env.pay(secret, o.Totals.Gross)
	second, err := env.service.Pay(t.Context(), annaInPerson, secret, env.withRenewal(o))
	if err != nil || second == first || env.provider.pay(first) {
		t.Fatalf("%s after %s: %v", second, first, err)
	}
	env.provider.pay(second)
	if err := env.service.HandleReturn(t.Context(), anonymous, secret); err != nil {
		t.Fatal(err)
	}
	if env.wantState(o.ID, order.Provisioning); env.store.methods[anna].ID != "pm_1" {
		t.Error("the payment method is not saved")
	}
}

func TestPay_ChangedPriceMustBeConfirmed(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	env.market.set(func(m *fakeMarket) { m.net = 2000 })
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); code(err) != order.PriceChanged {
		t.Fatalf("paying the old price: %v", err)
	}
	if now := env.wantState(o.ID, order.AwaitingPayment); now.Totals.Gross != 2380 || len(now.Payments) != 0 {
		t.Errorf("the order lacks the new price: %+v", now)
	}
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); code(err) != order.PriceChanged {
		t.Errorf("paying an amount that was not shown: %v", err)
	}
	view, err := env.service.View(t.Context(), annaInPerson, secret)
	if err != nil || !view.Payable || view.Order.Totals.Gross != 2380 {
		t.Errorf("%+v, %v", view, err)
	}
	env.pay(secret, 2380)
}

func TestPay_TakenNameIsNotCharged(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden", "haus"))
	env.market.set(func(m *fakeMarket) {
		m.refuse["haus.de"] = &registrar.Error{Kind: registrar.KindConflict, Code: "name_taken"}
	})
	_, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross))
	var no *order.ItemsRefused
	if !errors.As(err, &no) || len(no.Items) != 1 || no.Items[0].Name != "haus.de" || code(no.Items[0].Reason) != "name_taken" {
		t.Fatalf("paying: %v", err)
	}
	view, err := env.service.View(t.Context(), annaInPerson, secret)
	if err != nil || view.Payable || code(view.Refused[o.Items[1].ID]) != "name_taken" || view.Refused[o.Items[0].ID] != nil {
		t.Errorf("%+v, %v", view, err)
	}
	env.wantState(o.ID, order.AwaitingPayment)
}

func TestPay_MissingDataIsReportedAndBlocksPayment(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.market.missing["laden.de"] = []string{"eu_presence"}
	o, secret := env.createOrder(newRequest(order.Transfer, "laden"))
	view, err := env.service.View(t.Context(), annaInPerson, secret)
	if err != nil || view.Payable || len(view.Missing) != 2 || len(view.MissingByItem[o.Items[0].ID]) != 2 {
		t.Errorf("%+v, %v", view, err)
	}
	if err := env.service.SetAuthCode(t.Context(), annaInPerson, secret, o.Items[0].ID, "wrong"); code(err) != "wrong_code" {
		t.Errorf("a wrong code: %v", err)
	}
	if err := env.service.SetAuthCode(t.Context(), annaInPerson, secret, o.Items[0].ID, " right "); err != nil {
		t.Fatal(err)
	}
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); code(err) != order.DataMissing {
		t.Errorf("paying without: %v", err)
	}
	env.market.set(func(m *fakeMarket) { m.missing = nil })
	env.pay(secret, o.Totals.Gross)
}

func TestAuthCode_DeletedWhenOrderEnds(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Transfer, "laden"))
	if err := env.service.SetAuthCode(t.Context(), annaInPerson, secret, o.Items[0].ID, "right"); err != nil {
		t.Fatal(err)
	}
	if env.get(o.ID).Items[0].SealedCode == "" {
		t.Error("the auth code is not stored")
	}
	if err := env.service.Decline(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	if env.get(o.ID).Items[0].SealedCode != "" {
		t.Error("the auth code is still stored")
	}
}

func TestView_ShownWhileRegistryIsUnreachable(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	env.market.set(func(m *fakeMarket) { m.refuse["laden.de"] = errDown })
	if _, err := env.service.Create(t.Context(), annasAgent, newRequest(order.Register, "laden")); registrar.KindOf(err) != registrar.KindUpstream {
		t.Errorf("starting: %v", err)
	}
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); registrar.KindOf(err) != registrar.KindUpstream {
		t.Errorf("paying: %v", err)
	}
	view, err := env.service.View(t.Context(), annaInPerson, secret)
	if err != nil || !view.Unquoted || view.Order.Totals.Gross != o.Totals.Gross {
		t.Errorf("%+v, %v", view, err)
	}
}

func TestCreate_ConcurrentEqualItemsYieldOneOrder(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	ids := make([]string, 50)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			req := newRequest(order.Register, "laden", "haus")
			if i%2 == 1 {
				req = newRequest(order.Register, "haus", "laden")
			}
			o, err := env.service.Create(t.Context(), annasAgent, req)
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
	if len(env.store.events) != 1 {
		t.Errorf("%d audit events", len(env.store.events))
	}
}

func TestPay_FiftyConcurrentCallsMakeOnePayment(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	urls := make([]string, 50)
	var all sync.WaitGroup
	for i := range urls {
		all.Go(func() { urls[i], _ = env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)) })
	}
	all.Wait()
	for _, url := range urls {
		if url == "" || url != urls[0] {
			t.Fatalf("%q and %q", urls[0], url)
		}
	}
	if len(env.provider.pages) != 1 || len(env.get(o.ID).Payments) != 1 {
		t.Errorf("%d pages, %d payments", len(env.provider.pages), len(env.get(o.ID).Payments))
	}
	env.provider.pay(urls[0])
	for range 50 {
		all.Go(func() {
			if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); err != nil {
				t.Error(err)
			}
			if err := env.service.HandleEvent(t.Context(), order.Event{Session: "cs_" + env.get(o.ID).Payments[0].ID}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	env.wantState(o.ID, order.Provisioning)
	if len(env.store.mails) != 1 {
		t.Errorf("%d receipts", len(env.store.mails))
	}
	env.checkInvariants()
}

func TestCreate_DryRunStoresNothing(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	req := newRequest(order.Register, "laden")
	req.DryRun = true
	o, err := env.service.Create(t.Context(), annasAgent, req)
	if err != nil || o.ID != "" || o.Totals.Gross != 1190 || o.SealedPayLink != "" {
		t.Errorf("%+v, %v", o, err)
	}
	if len(env.store.orders) != 0 || len(env.store.events) != 0 {
		t.Error("a dry run stored something")
	}
}

func TestCreate_OpenOrderLimitIgnoresExpiredOrders(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	for i := range 20 {
		env.createOrder(newRequest(order.Register, "laden"+string(rune('a'+i))))
	}
	if _, err := env.service.Create(t.Context(), annasAgent, newRequest(order.Register, "mehr")); code(err) != order.TooManyOpen {
		t.Errorf("the 21st: %v", err)
	}
	dryRun := newRequest(order.Register, "mehr")
	dryRun.DryRun = true
	if _, err := env.service.Prepare(t.Context(), annasAgent, dryRun); code(err) != order.TooManyOpen {
		t.Errorf("a dry run of the 21st: %v", err)
	}
	same := newRequest(order.Register, "ladena")
	same.DryRun = true
	if _, err := env.service.Prepare(t.Context(), annasAgent, same); err != nil {
		t.Errorf("a dry run of an open order's items: %v", err)
	}
	env.advance(25 * time.Hour) // business time only; the wall clock has not moved
	if _, err := env.service.Prepare(t.Context(), annasAgent, dryRun); err != nil {
		t.Errorf("a dry run after the others have expired: %v", err)
	}
	env.createOrder(newRequest(order.Register, "mehr"))
}

func TestCreate_UnquotedItemsAreListedBesideRefusedOnes(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.market.set(func(m *fakeMarket) {
		m.refuse["eins.de"] = errDown
		m.refuse["zwei.de"] = &registrar.Error{Kind: registrar.KindConflict, Code: "name_taken"}
	})
	_, err := env.service.Create(t.Context(), annasAgent, newRequest(order.Register, "eins", "zwei", "drei"))
	var no *order.ItemsRefused
	if !errors.As(err, &no) || len(no.Items) != 1 || no.Items[0].Name != "zwei.de" || len(no.Unquoted) != 1 || no.Unquoted[0].Name != "eins.de" {
		t.Errorf("one refused, one unquoted: %+v, %v", no, err)
	}
	_, err = env.service.Create(t.Context(), annasAgent, newRequest(order.Register, "eins", "drei"))
	var unasked *order.ItemsUnquoted
	if !errors.As(err, &unasked) || len(unasked.Items) != 1 || unasked.Items[0].Name != "eins.de" || registrar.KindOf(err) != registrar.KindUpstream {
		t.Errorf("one unquoted: %+v, %v", unasked, err)
	}
	env.market.set(func(m *fakeMarket) {
		m.refuse["eins.de"] = &registrar.Error{Kind: registrar.KindInternal, Code: "database"}
	})
	if _, err = env.service.Create(t.Context(), annasAgent, newRequest(order.Register, "eins")); errors.As(err, &unasked) || code(err) != "database" {
		t.Errorf("internal error: %v", err)
	}
}

func TestCreate_InvalidItemsAreRejected(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	for what, req := range map[string]order.Request{
		"none": {}, "twice": newRequest(order.Register, "a", "a"), "no name": {Items: []order.RequestedItem{{Kind: order.Register}}},
		"kind": newRequest("lease", "a"), "many": newRequest(order.Register, manyLabels(21)...),
	} {
		if _, err := env.service.Create(t.Context(), annasAgent, req); code(err) != order.BadItems {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := env.service.Create(t.Context(), anonymous, newRequest(order.Register, "laden")); registrar.KindOf(err) != registrar.KindUnauthenticated {
		t.Errorf("anonymous: %v", err)
	}
}

func manyLabels(n int) []string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = "name" + string(rune('a'+i))
	}
	return labels
}
