package order_test

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// setCountry sets the country of a customer's registrant.
func (env *testEnv) setCountry(customer, country string) {
	env.store.mu.Lock()
	defer env.store.mu.Unlock()
	buyer := env.store.buyers[customer]
	buyer.HasRegistrant, buyer.Country = true, country
	env.store.buyers[customer] = buyer
}

func TestPay_StoresApprovedRegistrant(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	if o.Registrant != (registrar.Registrant{}) {
		t.Errorf("an unpaid order stores %+v", o.Registrant)
	}
	page := env.pay(secret, o.Totals.Gross)
	paying := env.wantState(o.ID, order.Paying)
	if paying.Registrant.Name != "Anna Müller" || paying.Registrant.Country != "DE" || paying.Registrant.Email != "anna@mueller.example" {
		t.Fatalf("the payment stores %+v", paying.Registrant)
	}
	env.setCountry(anna, "US")
	env.provider.pay(page)
	if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	if now := env.wantState(o.ID, order.Provisioning); now.Registrant != paying.Registrant {
		t.Errorf("provisioned for %+v", now.Registrant)
	}
}

func TestAbortPayment_ClearsRegistrant(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	env.pay(secret, o.Totals.Gross)
	if err := env.service.AbortPayment(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	if now := env.wantState(o.ID, order.AwaitingPayment); now.Registrant != (registrar.Registrant{}) {
		t.Errorf("still stored: %+v", now.Registrant)
	}
}

func TestCompleteSession_StoresApprovedRegistrant(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	made := env.createSession(order.Register, &carla, "eins")
	if _, err := env.complete(made.Order.ID, "spt_ok"); err != nil {
		t.Fatal(err)
	}
	paid := env.wantState(made.Order.ID, order.Provisioning)
	if paid.Registrant.Country != carla.Country || paid.Registrant.Name != carla.Name() {
		t.Fatalf("provisioned for %+v", paid.Registrant)
	}
	updated := carla
	updated.Country, updated.State = "US", "NY"
	if _, err := env.service.UpdateSession(t.Context(), shopper, made.Order.ID, order.SessionChange{Contact: &updated}); code(err) != order.NotOpen {
		t.Errorf("an update after the payment: %v", err)
	}
	if now := env.get(made.Order.ID); now.Registrant != paid.Registrant || now.Contact != paid.Contact {
		t.Errorf("now provisioned for %+v", now.Registrant)
	}
}

func TestPay_ChecksRulesForCurrentRegistrant(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.setCountry(anna, "US")
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	env.market.set(func(m *fakeMarket) { m.requiredCountry = "DE" })
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); code(err) != order.DataMissing {
		t.Fatalf("paid from the US: %v", err)
	}
	if now := env.get(o.ID); len(now.Payments) != 0 {
		t.Errorf("%+v", now.Payments)
	}
	env.setCountry(anna, "DE")
	shown, err := env.service.View(t.Context(), annaInPerson, secret)
	if err != nil {
		t.Fatal(err)
	}
	env.pay(secret, shown.Order.Totals.Gross)
}

func TestClaim_RegistrantMustMeetRulesOfPaidNames(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.extension = func(tld string) (registrar.Extension, bool) {
		return registrar.Extension{TLD: tld, Requires: "eu_presence"}, true
	}
	env.service = env.startNode("node")
	made := env.createSession(order.Register, &carla, "eins")
	if _, err := env.complete(made.Order.ID, "spt_ok"); err != nil {
		t.Fatal(err)
	}
	link, hash := registrar.NewSecret(registrar.LinkSecret)
	env.store.claims = map[registrar.SecretHash]string{hash: made.Order.Customer}
	env.setCountry(bert, "US")
	if _, err := env.service.Claim(t.Context(), bertInPerson, link); code(err) != "requires_eu_presence" {
		t.Fatalf("claimed from the US: %v", err)
	}
	if now := env.get(made.Order.ID); now.Claimed || now.Customer == bert {
		t.Errorf("%+v", now)
	}
	env.setCountry(bert, "AT")
	if o, err := env.service.Claim(t.Context(), bertInPerson, link); err != nil || o.Customer != bert {
		t.Fatalf("%+v, %v", o, err)
	}
}

// The page that orders asks for the first registrant, too: what it showed was priced
// without a country.
func TestPay_CountryEnteredWithTheOrderChargesOnlyWhatWasShown(t *testing.T) {
	t.Parallel()
	for country, refused := range map[string]registrar.Code{"DE": "", "AT": "", "US": order.PriceChanged} {
		env := newEnv(t)
		env.setCountry(anna, "")
		o, secret := env.createOrder(newRequest(order.Register, "laden"))
		env.setCountry(anna, country)
		page, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross))
		if code(err) != refused || (page != "") != (refused == "") {
			t.Errorf("%s: %q, %v", country, page, err)
		}
		if now := env.store.orders[o.ID]; refused != "" && len(now.Payments) != 0 || now.Totals.Country == "" {
			t.Errorf("%s: stored %+v", country, now)
		}
	}
}

func TestRetax_UnpaidOrderHasTheTotalsOfItsCheckout(t *testing.T) {
	t.Parallel()
	consumer := func(b *order.Buyer) { b.Country, b.VATID = "DE", "" }
	business := func(b *order.Buyer) { b.Country, b.VATID = "AT", "ATU12345675" }
	for name, test := range map[string]struct{ was, is func(*order.Buyer) }{
		"business":   {consumer, business},
		"consumer":   {business, consumer},
		"abroad":     {consumer, func(b *order.Buyer) { b.Country = "US" }},
		"invalid ID": {consumer, func(b *order.Buyer) { b.Country, b.VATID = "AT", invalidVATID }},
	} {
		for _, automatic := range []bool{false, true} {
			env := newEnv(t)
			env.market.net = 1299 // the VAT of three is rounded once
			become := func(change func(*order.Buyer)) {
				buyer := env.store.buyers[anna]
				change(&buyer)
				env.store.buyers[anna] = buyer
			}
			become(test.was)
			var o order.Order
			if automatic {
				attempt, err := env.service.ChargeRenewals(t.Context(), env.renewals(3, 1546))
				if err != nil {
					t.Fatal(err)
				}
				o = env.get(attempt.Order.ID)
			} else {
				o, _ = env.createOrder(newRequest(order.Register, "laden", "kaffee", "mate"))
			}
			become(test.is)
			tax, err := env.service.VATRate(t.Context(), annaInPerson)
			if err == nil {
				err = o.Retax(tax)
			}
			view, viewErr := env.service.View(t.Context(), annaInPerson, env.secret(o))
			if err != nil || viewErr != nil || o.Totals != view.Order.Totals || len(o.Items) != 3 {
				t.Errorf("%s, automatic %t: %+v, the checkout has %+v, %v, %v", name, automatic, o.Totals, view.Order.Totals, err, viewErr)
			}
			for i, item := range view.Order.Items {
				if o.Items[i].Net != item.Net || o.Items[i].Gross != item.Gross {
					t.Errorf("%s, automatic %t: item %d costs %s + %s, at the checkout %s + %s", name, automatic, i, o.Items[i].Net, o.Items[i].VAT, item.Net, item.VAT)
				}
			}
		}
	}
}

// The total stays the same, but the customer expects to pay no VAT.
func TestPay_IgnoredVATIDStopsFirstSubmissionOnly(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		country, id string
		stops       bool
	}{
		"invalid": {"AT", invalidVATID, true}, "of another country": {"DE", "ATU12345678", true}, "of the seller's country": {"DE", "DE123456789", false},
	} {
		env := newEnv(t)
		env.setCountry(anna, "")
		o, secret := env.createOrder(newRequest(order.Register, "laden"))
		env.setCountry(anna, test.country)
		buyer := env.store.buyers[anna]
		buyer.VATID = test.id
		env.store.buyers[anna] = buyer
		if test.stops {
			if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); code(err) != order.PriceChanged || len(env.store.orders[o.ID].Payments) > 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
		if page, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); err != nil || page == "" {
			t.Errorf("%s: %q, %v", name, page, err)
		}
	}
}
