package order_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// renew adds renewals of .de domains to Anna's basket.
func (env *testEnv) renew(labels ...string) (order.Order, []order.RefusedItem, error) {
	env.t.Helper()
	return env.service.AddRenewals(env.t.Context(), annaInPerson, newRequest(order.Renew, labels...).Items)
}

func (env *testEnv) mustRenew(labels ...string) order.Order {
	env.t.Helper()
	o, refused, err := env.renew(labels...)
	if err != nil || len(refused) > 0 {
		env.t.Fatalf("renewing %v: %v, %v", labels, refused, err)
	}
	return o
}

// shown is the confirmation of a consumer who sees this order.
func shown(o order.Order) order.Confirmation {
	confirmation := consentTo(o.Totals.Gross)
	confirmation.Items = o.ItemsDigest()
	return confirmation
}

// payShown opens the payment page of an order as it is shown.
func (env *testEnv) payShown(o order.Order) string {
	env.t.Helper()
	url, err := env.service.Pay(env.t.Context(), annaInPerson, env.secret(o), shown(o))
	if err != nil {
		env.t.Fatal(err)
	}
	return url
}

func TestAddRenewals_SecondRequestAddsToOpenOrder(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	first := env.mustRenew("eins")
	second := env.mustRenew("zwei", "drei", "eins")
	if second.ID != first.ID || len(second.Items) != 3 || second.Totals.Gross != 3*first.Totals.Gross || second.Items[0].ID != first.Items[0].ID {
		t.Fatalf("%+v", second)
	}
	if again := env.mustRenew("zwei"); again.Version != second.Version {
		t.Errorf("a repeated request changed the order: %+v", again)
	}
	if len(env.store.orders) != 1 {
		t.Errorf("there are %d orders", len(env.store.orders))
	}
	secret := env.secret(second)
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, shown(first)); code(err) != order.ItemsChanged {
		t.Errorf("paying the total that was shown before got %v", err)
	}
	env.provider.pay(env.payShown(second))
	if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	if paid := env.wantState(first.ID, order.Provisioning); len(paid.Items) != 3 || len(paid.Payments) != 1 {
		t.Errorf("%+v", paid)
	}
	env.checkInvariants()
}

func TestAddRenewals_OrderInPaymentIsNeverChanged(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	first := env.mustRenew("eins", "zwei")
	env.payShown(first)
	if same := env.mustRenew("zwei"); same.ID != first.ID || same.State != order.Paying {
		t.Errorf("the same domain opened %+v", same)
	}
	other, refused, err := env.renew("zwei", "drei")
	if err != nil || other.ID == first.ID || len(other.Items) != 1 || len(refused) != 1 || code(refused[0].Reason) != order.PaymentOpenElsewhere {
		t.Fatalf("%+v, %v, %v", other, refused, err)
	}
	if now := env.wantState(first.ID, order.Paying); len(now.Items) != 2 {
		t.Errorf("%+v", now)
	}
	// After the payment was abandoned, it is a basket again, and the older one.
	if err := env.service.AbortPayment(t.Context(), annaInPerson, env.secret(first)); err != nil {
		t.Fatal(err)
	}
	if err := env.service.RemoveItem(t.Context(), annaInPerson, env.secret(other), other.Items[0].ID); err != nil {
		t.Fatal(err)
	}
	env.wantState(other.ID, order.Canceled)
	if added := env.mustRenew("vier"); added.ID != first.ID || len(added.Items) != 3 {
		t.Errorf("%+v", added)
	}
	env.checkInvariants()
}

func TestAddRenewals_RefusedItemsAreLeftOut(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.market.refuse["fremd.de"] = &registrar.Error{Kind: registrar.KindConflict, Code: "not_yours"}
	o, refused, err := env.renew("eins", "fremd")
	if err != nil || len(o.Items) != 1 || len(refused) != 1 || refused[0].Name != "fremd.de" {
		t.Fatalf("%+v, %v, %v", o, refused, err)
	}
	var none *order.ItemsRefused
	if _, _, err := env.renew("fremd"); !errors.As(err, &none) {
		t.Errorf("nothing to renew got %v", err)
	}
	var many []string
	for i := range order.MaxPortalItems {
		many = append(many, fmt.Sprintf("name-%d", i))
	}
	o, refused, err = env.renew(many...)
	if err != nil || len(o.Items) != order.MaxPortalItems || len(refused) != 1 || code(refused[0].Reason) != order.BasketFull {
		t.Errorf("%d items, %v, %v", len(o.Items), refused, err)
	}
	if o.State != order.AwaitingVerification { // over 500 EUR
		t.Errorf("an order of %s is %s", o.Totals.Gross, o.State)
	}
	if _, _, err := env.service.AddRenewals(t.Context(), annaInPerson, newRequest(order.Register, "neu").Items); code(err) != order.BadItems {
		t.Errorf("a registration got %v", err)
	}
	if _, _, err := env.service.AddRenewals(t.Context(), annasAgent, newRequest(order.Renew, "eins").Items); registrar.KindOf(err) != registrar.KindForbidden {
		t.Errorf("an agent got %v", err)
	}
}

func TestRemoveItem_LeavesTheOthers(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o := env.mustRenew("eins", "zwei")
	secret := env.secret(o)
	for range 2 {
		if err := env.service.RemoveItem(t.Context(), annaInPerson, secret, o.Items[0].ID); err != nil {
			t.Fatal(err)
		}
	}
	if now := env.get(o.ID); len(now.Items) != 1 || now.Items[0].Name != "zwei.de" || now.Totals.Gross != now.Items[0].Gross {
		t.Fatalf("%+v", now)
	}
	if err := env.service.RemoveItem(t.Context(), bertInPerson, secret, o.Items[1].ID); code(err) != order.NotYours {
		t.Errorf("another customer got %v", err)
	}
	env.payShown(env.get(o.ID))
	if err := env.service.RemoveItem(t.Context(), annaInPerson, secret, o.Items[1].ID); code(err) != order.NotOpen {
		t.Errorf("an order in payment: %v", err)
	}
	env.checkInvariants()
}

func TestRemoveItem_OfOrderByPersonUnblocksTheOthers(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	req := newRequest(order.Register, "eins", "zwei", "drei")
	prepared, secret := env.createOrder(req)
	if err := env.service.RemoveItem(t.Context(), annaInPerson, secret, prepared.Items[0].ID); code(err) != order.NotOpen {
		t.Errorf("an order that a program prepared: %v", err)
	}
	req.Channel = order.ChannelPortal
	req.Items = req.Items[:2]
	o, err := env.service.Create(t.Context(), annaInPerson, req)
	if err != nil {
		t.Fatal(err)
	}
	secret = env.secret(o)
	shown := order.Confirmation{Gross: o.Totals.Gross}
	if err := env.service.RemoveItem(t.Context(), annaInPerson, secret, o.Items[0].ID); err != nil {
		t.Fatal(err)
	}
	now := env.get(o.ID)
	if len(now.Items) != 1 || now.Items[0].Name != "zwei.de" || now.Totals.Gross != now.Items[0].Gross {
		t.Fatalf("%+v", now)
	}
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, shown); code(err) != order.ItemsChanged {
		t.Errorf("a page that shows both: %v", err)
	}
	env.payShown(now)
	env.checkInvariants()
}

func TestPay_RenewalOfPaidTermIsRefused(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.market.termEnd = env.now().AddDate(0, 1, 0).Truncate(time.Second)
	o := env.mustRenew("eins")
	secret := env.secret(o)
	env.market.set(func(m *fakeMarket) { m.termEnd = m.termEnd.AddDate(1, 0, 0) })
	view, err := env.service.View(t.Context(), annaInPerson, secret)
	if err != nil || view.Payable || code(view.Refused[o.Items[0].ID]) != order.TermPaid {
		t.Errorf("the page shows %+v, %v", view.Refused, err)
	}
	var refused *order.ItemsRefused
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, shown(o)); !errors.As(err, &refused) || code(refused.Items[0].Reason) != order.TermPaid {
		t.Errorf("paying got %v", err)
	}
	// Requested again, it is for the term that ends now.
	if again := env.mustRenew("eins"); again.ID != o.ID || !again.Items[0].TermEnd.Equal(env.market.termEnd) {
		t.Errorf("%+v", again)
	}
	if view, err := env.service.View(t.Context(), annaInPerson, secret); err != nil || !view.Payable {
		t.Errorf("%+v, %v", view.Refused, err)
	}
}

func TestPay_OtherItemsAtSameTotalMustBeShownFirst(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	seen := env.mustRenew("eins")
	secret := env.secret(seen)
	env.mustRenew("zwei")
	if err := env.service.RemoveItem(t.Context(), annaInPerson, secret, seen.Items[0].ID); err != nil {
		t.Fatal(err)
	}
	now := env.get(seen.ID)
	if now.Totals != seen.Totals || now.Items[0].Name != "zwei.de" {
		t.Fatalf("%+v", now)
	}
	for what, confirmation := range map[string]order.Confirmation{"another item": shown(seen), "no items": consentTo(now.Totals.Gross)} {
		if _, err := env.service.Pay(t.Context(), annaInPerson, secret, confirmation); code(err) != order.ItemsChanged || registrar.KindOf(err) != registrar.KindConflict {
			t.Errorf("a page that showed %s: %v", what, err)
		}
	}
	if len(env.wantState(seen.ID, order.AwaitingPayment).Payments) > 0 {
		t.Error("a payment has begun")
	}
	page := env.payShown(now)
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, shown(seen)); code(err) != order.ItemsChanged {
		t.Errorf("an order in payment: %v", err)
	}
	if again := env.payShown(now); again != page {
		t.Errorf("the same page again: %s, before %s", again, page)
	}
	// Another order's items don't change, so a form without them still pays.
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross, Items: "other", Consent: order.ConsentWording("de")}); code(err) != order.ItemsChanged {
		t.Errorf("wrong items: %v", err)
	}
	env.pay(secret, o.Totals.Gross)
	env.checkInvariants()
}

func TestItemsDigest_DiffersByEverythingShown(t *testing.T) {
	t.Parallel()
	item := order.Item{ID: "itm_1", Name: "eins.de", Kind: order.Renew, Years: 1, TermEnd: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}
	digest := order.Order{Items: []order.Item{item}}.ItemsDigest()
	for what, change := range map[string]func(*order.Item){
		"name": func(i *order.Item) { i.Name = "zwei.de" }, "kind": func(i *order.Item) { i.Kind = order.Restore },
		"years": func(i *order.Item) { i.Years = 2 }, "term": func(i *order.Item) { i.TermEnd = i.TermEnd.AddDate(1, 0, 0) },
	} {
		other := item
		change(&other)
		if (order.Order{Items: []order.Item{other}}).ItemsDigest() == digest {
			t.Errorf("another %s has the same digest", what)
		}
	}
}

func TestRemoveItem_LastItemLeavesOneAddedMeanwhile(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o := env.mustRenew("eins")
	env.store.beforeUpdate = func(stored *order.Order) {
		added := stored.Items[0]
		added.ID, added.Name = "itm_added", "zwei.de"
		stored.Items = append(stored.Items, added)
		stored.Version++
	}
	if err := env.service.RemoveItem(t.Context(), annaInPerson, env.secret(o), o.Items[0].ID); err != nil {
		t.Fatal(err)
	}
	if now := env.wantState(o.ID, order.AwaitingPayment); len(now.Items) != 1 || now.Items[0].Name != "zwei.de" {
		t.Errorf("%+v", now)
	}
	if err := env.service.RemoveItem(t.Context(), annaInPerson, env.secret(o), "itm_added"); err != nil {
		t.Fatal(err)
	}
	env.wantState(o.ID, order.Canceled)
	env.checkInvariants()
}

func TestAddRenewals_ItemsBeyondLimitQueryNoRegistry(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	var many []string
	for i := range 2 * order.MaxPortalItems {
		many = append(many, fmt.Sprintf("name-%d", i))
	}
	o, refused, err := env.renew(many...)
	if err != nil || len(o.Items) != order.MaxPortalItems || len(refused) != order.MaxPortalItems || code(refused[0].Reason) != order.BasketFull {
		t.Fatalf("%d items, %d refused, %v", len(o.Items), len(refused), err)
	}
	if asked := env.market.asked; asked != order.MaxPortalItems {
		t.Errorf("%d items were quoted", asked)
	}
	full, refused, err := env.renew("noch-eine")
	if err != nil || full.ID != o.ID || full.Version != o.Version || len(refused) != 1 || code(refused[0].Reason) != order.BasketFull {
		t.Errorf("%+v, %v, %v", full, refused, err)
	}
	if same := env.mustRenew(many[0]); same.ID != o.ID {
		t.Errorf("an item of the full basket opened %s", same.ID)
	}
}

func TestAddRenewals_ItemsInPaymentAreReportedWithRefusal(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.payShown(env.mustRenew("bezahlt"))
	env.market.refuse["fremd.de"] = &registrar.Error{Kind: registrar.KindConflict, Code: "not_yours"}
	var none *order.ItemsRefused
	_, refused, err := env.renew("bezahlt", "fremd")
	if !errors.As(err, &none) || len(none.Items) != 1 || len(refused) != 1 || refused[0].Name != "bezahlt.de" || code(refused[0].Reason) != order.PaymentOpenElsewhere {
		t.Errorf("%v, %+v", refused, err)
	}
}
