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
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(first.Totals.Gross)); code(err) != order.PriceChanged {
		t.Errorf("paying the total that was shown before got %v", err)
	}
	env.provider.pay(env.pay(secret, second.Totals.Gross))
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
	env.pay(env.secret(first), first.Totals.Gross)
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
	if err := env.service.RemoveRenewal(t.Context(), annaInPerson, env.secret(other), other.Items[0].ID); err != nil {
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

func TestRemoveRenewal_LeavesTheOthers(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o := env.mustRenew("eins", "zwei")
	secret := env.secret(o)
	for range 2 {
		if err := env.service.RemoveRenewal(t.Context(), annaInPerson, secret, o.Items[0].ID); err != nil {
			t.Fatal(err)
		}
	}
	if now := env.get(o.ID); len(now.Items) != 1 || now.Items[0].Name != "zwei.de" || now.Totals.Gross != now.Items[0].Gross {
		t.Fatalf("%+v", now)
	}
	if err := env.service.RemoveRenewal(t.Context(), bertInPerson, secret, o.Items[1].ID); code(err) != order.NotYours {
		t.Errorf("another customer got %v", err)
	}
	env.pay(secret, o.Items[1].Gross)
	if err := env.service.RemoveRenewal(t.Context(), annaInPerson, secret, o.Items[1].ID); code(err) != order.NotOpen {
		t.Errorf("an order in payment: %v", err)
	}
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
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); !errors.As(err, &refused) || code(refused.Items[0].Reason) != order.TermPaid {
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
