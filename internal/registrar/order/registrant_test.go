package order_test

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// moves changes the country of a customer's registrant.
func (w *world) moves(customer, country string) {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	buyer := w.store.buyers[customer]
	buyer.Told, buyer.Country = true, country
	w.store.buyers[customer] = buyer
}

func TestPayment_KeepsTheRegistrantWhomTheRulesApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	if o.Registrant != (registrar.Holder{}) {
		t.Errorf("an unpaid order keeps %+v", o.Registrant)
	}
	page := w.pay(secret, o.Totals.Gross)
	paying := w.state(o.ID, order.Paying)
	if paying.Registrant.Name != "Anna Müller" || paying.Registrant.Country != "DE" || paying.Registrant.Email != "anna@mueller.example" {
		t.Fatalf("the payment keeps %+v", paying.Registrant)
	}
	w.moves(anna, "US") // by whatever way
	w.provider.pay(page)
	if err := w.service.Returned(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	if now := w.state(o.ID, order.Provisioning); now.Registrant != paying.Registrant {
		t.Errorf("the lines are for %+v", now.Registrant)
	}
}

func TestPayment_GivenUpForgetsTheRegistrant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	w.pay(secret, o.Totals.Gross)
	if err := w.service.Back(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	if now := w.state(o.ID, order.AwaitingPayment); now.Registrant != (registrar.Holder{}) {
		t.Errorf("it keeps %+v", now.Registrant)
	}
}

func TestCompletion_KeepsTheBuyerWhomTheRulesApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.opened(order.Register, &carla, "eins")
	if _, err := w.complete(made.Order.ID, "spt_ok"); err != nil {
		t.Fatal(err)
	}
	paid := w.state(made.Order.ID, order.Provisioning)
	if paid.Registrant.Country != carla.Country || paid.Registrant.Name != carla.Name() {
		t.Fatalf("the lines are for %+v", paid.Registrant)
	}
	moved := carla
	moved.Country, moved.State = "US", "NY"
	if _, err := w.service.UpdateSession(t.Context(), shopper, made.Order.ID, order.SessionChange{Contact: &moved}); code(err) != order.NotOpen {
		t.Errorf("an update after the payment: %v", err)
	}
	if now := w.get(made.Order.ID); now.Registrant != paid.Registrant || now.Contact != paid.Contact {
		t.Errorf("it is for %+v now", now.Registrant)
	}
}

func TestPay_RulesAreCheckedForThePresentRegistrant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	w.market.set(func(m *market) { m.onlyIn = "DE" })
	w.moves(anna, "US")
	if _, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross)); code(err) != order.DataMissing {
		t.Fatalf("paid from the US: %v", err)
	}
	if now := w.get(o.ID); len(now.Payments) != 0 {
		t.Errorf("%+v", now.Payments)
	}
	w.moves(anna, "DE")
	w.pay(secret, o.Totals.Gross)
}

func TestClaim_PaidNamesStayWithAnAccountThatTheirExtensionAdmits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.extension = func(tld string) (registrar.Extension, bool) {
		return registrar.Extension{TLD: tld, Requires: "eu_presence"}, true
	}
	w.service = w.start("node")
	made := w.opened(order.Register, &carla, "eins")
	if _, err := w.complete(made.Order.ID, "spt_ok"); err != nil {
		t.Fatal(err)
	}
	link, hash := registrar.NewSecret(registrar.LinkSecret)
	w.store.claims = map[registrar.SecretHash]string{hash: made.Order.Customer}
	w.moves(bert, "US")
	if _, err := w.service.Claim(t.Context(), bertInPerson, link); code(err) != "requires_eu_presence" {
		t.Fatalf("claimed from the US: %v", err)
	}
	if now := w.get(made.Order.ID); now.Claimed || now.Customer == bert {
		t.Errorf("%+v", now)
	}
	w.moves(bert, "AT")
	if o, err := w.service.Claim(t.Context(), bertInPerson, link); err != nil || o.Customer != bert {
		t.Fatalf("%+v, %v", o, err)
	}
}
