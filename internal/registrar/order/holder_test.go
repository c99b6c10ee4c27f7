package order_test

import (
	"context"
	"errors"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// fakeHolders are the holders of anna, by id.
type fakeHolders map[string]registrar.Registrant

func (f fakeHolders) registrant(_ context.Context, customer, id string) (registrar.Registrant, error) {
	if found, known := f[id]; known && customer == anna {
		return found, nil
	}
	return registrar.Registrant{}, registrar.NotFound(holder.NoSuchHolder)
}

// withHolders gives anna two holders.
func (env *testEnv) withHolders() fakeHolders {
	env.holders = fakeHolders{
		"hld_1": {Name: "Max Teufel", Organisation: "Teeladen GmbH", Country: "AT", Email: "max@teeladen.example"},
		"hld_2": {Name: "Eva Blum", Country: "US", Email: "eva@example.com"},
	}
	env.service = env.startNode("node")
	return env.holders
}

func forHolder(req order.Request, at int, id string) order.Request {
	req.Items[at].Holder = id
	return req
}

func TestPay_EachItemHasTheRegistrantOfItsHolder(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	holders := env.withHolders()
	o, secret := env.createOrder(forHolder(forHolder(newRequest(order.Register, "eigen", "kunde", "zweit"), 1, "hld_1"), 2, holder.Own))
	changed := holders["hld_1"]
	changed.Name = "Moritz Teufel" // edited between order and payment
	holders["hld_1"] = changed
	page := env.pay(secret, o.Totals.Gross)
	paying := env.wantState(o.ID, order.Paying)
	holders["hld_1"] = registrar.Registrant{Name: "later"} // edited after the rules were checked
	env.provider.pay(page)
	if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	now := env.wantState(o.ID, order.Provisioning)
	want := []string{"Anna Müller", "Moritz Teufel", "Anna Müller"}
	for i, item := range now.Items {
		if got := item.RegistrantOr(now.Registrant).Name; got != want[i] || item != paying.Items[i] && item.Holder != paying.Items[i].Holder {
			t.Errorf("%s is registered for %q, want %q", item.Name, got, want[i])
		}
	}
}

func TestCreate_ForeignOrDeletedHolderIsRefused(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	holders := env.withHolders()
	for _, actor := range []registrar.Actor{annasAgent, bertInPerson} {
		id := "hld_1"
		if actor == annasAgent {
			id = "hld_of_bert"
		}
		_, err := env.service.Create(t.Context(), actor, forHolder(newRequest(order.Register, "laden"), 0, id))
		wantItemRefused(t, err, holder.NoSuchHolder)
	}
	if len(env.store.orders) != 0 {
		t.Errorf("%d orders are stored", len(env.store.orders))
	}
	o, secret := env.createOrder(forHolder(newRequest(order.Register, "laden"), 0, "hld_1"))
	delete(holders, "hld_1")
	_, err := env.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross, Consent: order.ConsentWording("de")})
	wantItemRefused(t, err, holder.NoSuchHolder)
	env.wantState(o.ID, order.AwaitingPayment)
}

func wantItemRefused(t *testing.T, err error, want registrar.Code) {
	t.Helper()
	refused, ok := errors.AsType[*order.ItemsRefused](err)
	if !ok || len(refused.Items) != 1 || registrar.CodeOf(refused.Items[0].Reason) != want {
		t.Errorf("got %v, want an item refused with %s", err, want)
	}
}

func TestCreate_IdentityOfAnotherHolderCannotBeVerified(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	holders := env.withHolders()
	env.market.verify["laden.de"] = true
	_, err := env.service.Create(t.Context(), annasAgent, forHolder(newRequest(order.Register, "laden"), 0, "hld_1"))
	wantItemRefused(t, err, registrar.IdentityRequired)
	holders["hld_3"] = registrar.Registrant{Name: "Anna Müller", Country: "DE"}
	if o, err := env.service.Create(t.Context(), annasAgent, forHolder(newRequest(order.Register, "laden"), 0, "hld_3")); err != nil || o.State != order.AwaitingVerification {
		t.Errorf("of the buyer's name: %s, %v", o.State, err)
	}
}

func TestCreate_RenewalHasNoChoiceOfHolder(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.withHolders()
	if _, err := env.service.Create(t.Context(), annasAgent, forHolder(newRequest(order.Renew, "laden"), 0, "hld_1")); code(err) != order.HolderFixed {
		t.Errorf("got %v", err)
	}
}

func TestCreate_SameNamesForAnotherHolderAreAnotherOrder(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.withHolders()
	own, _ := env.createOrder(newRequest(order.Register, "laden"))
	other, _ := env.createOrder(forHolder(newRequest(order.Register, "laden"), 0, "hld_1"))
	again, _ := env.createOrder(forHolder(newRequest(order.Register, "laden"), 0, "hld_1"))
	if own.ID == other.ID || other.ID != again.ID {
		t.Errorf("orders %s, %s and %s", own.ID, other.ID, again.ID)
	}
}

func TestSetHolders_ChangesUnpaidItemsAndTheirConfirmation(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.withHolders()
	o, secret := env.createOrder(newRequest(order.Register, "eins", "zwei"))
	seen := order.Confirmation{Gross: o.Totals.Gross, Items: o.ItemsDigest(), Consent: order.ConsentWording("de")}
	first, second := o.Items[0].ID, o.Items[1].ID
	for name, test := range map[string]struct {
		actor   registrar.Actor
		holders map[string]string
		want    registrar.Code
	}{
		"somebody else": {bertInPerson, map[string]string{first: "hld_1"}, order.NotYours},
		"no such item":  {annaInPerson, map[string]string{"itm_x": "hld_1"}, order.HolderFixed},
		"one of two":    {annaInPerson, map[string]string{first: "hld_1", second: "hld_x"}, holder.NoSuchHolder},
	} {
		if err := env.service.SetHolders(t.Context(), test.actor, secret, test.holders); code(err) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if now := env.get(o.ID); now.Items[0].Holder != "" || now.Version != o.Version {
		t.Fatalf("refused calls have changed %+v", now.Items[0])
	}
	if err := env.service.SetHolders(t.Context(), annaInPerson, secret, map[string]string{first: "hld_1", second: holder.Own}); err != nil {
		t.Fatal(err)
	}
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, seen); code(err) != order.ItemsChanged {
		t.Errorf("a confirmation of other holders: %v", err)
	}
	view, err := env.service.View(t.Context(), annaInPerson, secret)
	if err != nil || view.Order.Items[0].Registrant.Name != "Max Teufel" || !view.Payable {
		t.Fatalf("%+v, %v", view.Order.Items[0], err)
	}
	seen.Items = view.Order.ItemsDigest()
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, seen); err != nil {
		t.Fatal(err)
	}
	if err := env.service.SetHolders(t.Context(), annaInPerson, secret, map[string]string{first: ""}); code(err) != order.NotOpen {
		t.Errorf("while it is being paid: %v", err)
	}
	if err := env.service.AbortPayment(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	if now := env.wantState(o.ID, order.AwaitingPayment); now.Items[0].Registrant != (registrar.Registrant{}) || now.Items[0].Holder != "hld_1" {
		t.Errorf("after the payment was aborted: %+v", now.Items[0])
	}
}
