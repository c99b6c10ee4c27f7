package order_test

import (
	"context"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

// renewalWording is the current text of automatic renewal in these tests.
const renewalWording = "current-de"

// withRenewal confirms an order as shown, with automatic renewal.
func (env *testEnv) withRenewal(o order.Order) order.Confirmation {
	return order.Confirmation{
		Gross: o.Totals.Gross, Consent: order.ConsentWording("de"), AutoRenew: true, RenewalWording: renewalWording,
		RenewalPrices: order.FormatRenewalPrices(o, env.service.ItemRenewalPrices(o)),
	}
}

// extensionOf is env.extension, or a price list with one price.
func (env *testEnv) extensionOf(tld string) (registrar.Extension, bool) {
	if env.extension != nil {
		return env.extension(tld)
	}
	return registrar.Extension{TLD: tld, Renew: 1200}, tld != ".unlisted"
}

func TestPay_RenewalConsentIsStoredAsShown(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	view, err := env.service.View(t.Context(), annaInPerson, secret)
	if err != nil || len(view.Renewals) != 1 {
		t.Fatalf("the page offers %v, %v", view.Renewals, err)
	}
	shown := view.Renewals[o.Items[0].ID]
	for name, change := range map[string]func(*order.Confirmation){
		"another wording": func(c *order.Confirmation) { c.RenewalWording = "old-de" },
		"another price":   func(c *order.Confirmation) { c.RenewalPrices = "1" },
		"no price":        func(c *order.Confirmation) { c.RenewalPrices = "" },
	} {
		confirmation := env.withRenewal(o)
		change(&confirmation)
		_, err := env.service.Pay(t.Context(), annaInPerson, secret, confirmation)
		if registrar.CodeOf(err) != order.RenewalChanged {
			t.Errorf("%s: %v", name, err)
		}
		if now := env.wantState(o.ID, order.AwaitingPayment); len(now.Payments) > 0 || now.AutoRenew || now.Renewal.Wording != "" {
			t.Errorf("%s was stored: %+v", name, now)
		}
	}
	page, err := env.service.Pay(t.Context(), annaInPerson, secret, env.withRenewal(o))
	if err != nil {
		t.Fatal(err)
	}
	paying := env.wantState(o.ID, order.Paying)
	if item := paying.Items[0]; !paying.AutoRenew || paying.Renewal.Wording != renewalWording || paying.Renewal.At.IsZero() ||
		paying.Renewal.Session != annaInPerson.Through || item.RenewalYears != shown.Years || item.RenewalGross != shown.Gross || shown.Gross <= 0 {
		t.Errorf("stored %+v, %+v", paying.Renewal, item)
	}
	// The same confirmation returns the same page; without renewal it is another one.
	if again, err := env.service.Pay(t.Context(), annaInPerson, secret, env.withRenewal(o)); err != nil || again != page {
		t.Errorf("got %s, %v", again, err)
	}
	if err := env.service.AbortPayment(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	// Whoever pays next, perhaps an agent, has not agreed.
	if now := env.wantState(o.ID, order.AwaitingPayment); now.AutoRenew || now.Renewal != (order.RenewalConsent{}) || now.Items[0].RenewalGross != 0 {
		t.Errorf("the abandoned payment left %+v", now)
	}
}

// A notice that the page has shown is no reason; a price that has changed since is.
func TestPay_NoticeOpenOnlyIfNothingElseChanged(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.market.domains = map[string]string{"laden.de": "dom_1", "tee.de": "dom_2"}
	o, secret := env.createOrder(newRequest(order.Renew, "laden", "tee"))
	asked := 0
	env.openNotices = func(context.Context, string, []string) (map[string][]withdrawal.Kind, error) {
		asked++
		return map[string][]withdrawal.Kind{o.Items[0].Domain: {withdrawal.Termination}}, nil
	}
	prices := env.service.ItemRenewalPrices(o)
	before, now := order.FormatRenewalPrices(o, prices), ""
	delete(prices, o.Items[0].ID)
	now = order.FormatRenewalPrices(o, prices)
	for name, test := range map[string]struct {
		shown string
		want  registrar.Code
	}{
		"before the notice":                         {before, withdrawal.NoticeOpen},
		"with the notice, before the price changed": {"0,1", order.RenewalChanged},
		"before both":                               {"1,1", order.RenewalChanged},
		"nothing":                                   {"", order.RenewalChanged},
	} {
		confirmation := env.withRenewal(o)
		confirmation.RenewalPrices = test.shown
		if _, err := env.service.Pay(t.Context(), annaInPerson, secret, confirmation); registrar.CodeOf(err) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	confirmation := env.withRenewal(o)
	confirmation.RenewalPrices = now
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, confirmation); err != nil {
		t.Fatal(err)
	}
	// While it is being paid, a page that is polled asks for nothing.
	asked = 0
	if view, err := env.service.View(t.Context(), annaInPerson, secret); err != nil || view.Order.State != order.Paying || asked > 0 {
		t.Errorf("%s: asked %d times, %v", view.Order.State, asked, err)
	}
}

func TestRenewalPrice_IncludesCustomersVAT(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	price, err := env.service.RenewalPrice(t.Context(), anna, order.RenewalTerm{TLD: ".de"})
	if err != nil || price.Years != 1 || price.Gross != 1428 || price.RateBasisPoints != 1900 {
		t.Errorf("got %+v, %v", price, err)
	}
	if _, err := env.service.RenewalPrice(t.Context(), anna, order.RenewalTerm{TLD: ".unlisted"}); registrar.KindOf(err) != registrar.KindUnsupported {
		t.Errorf("an unlisted extension: %v", err)
	}
}
