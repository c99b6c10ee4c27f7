package order_test

import (
	"slices"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestASessionIsOpenToItsAgentAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.store.linked = map[string]string{shopper.Through: anna}
	own := w.opened(order.Register, &carla, "eins").Order.ID
	annas, _ := w.made(wanted(order.Register, "zwei"))
	for name, one := range map[string]struct {
		actor registrar.Actor
		id    string
		found bool
	}{
		"its own":                {shopper, own, true},
		"a linked customer's":    {shopper, annas.ID, true},
		"another agent's":        {rival, own, false},
		"a customer's, unlinked": {rival, annas.ID, false},
		"none":                   {shopper, "ord_none", false},
	} {
		_, err := w.service.Session(t.Context(), one.actor, one.id)
		if one.found != (err == nil) || !one.found && code(err) != order.NoSuchOrder {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.service.Session(t.Context(), annaInPerson, own); err == nil {
		t.Error("a person is no agent")
	}
}

func TestKnowingAnAddressOpensNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	annas := order.Contact{LastName: "Müller", Email: "anna@mueller.example", Country: "DE"}
	if made := w.opened(order.Register, &annas, "eins"); made.Order.Claimed || made.Order.Customer == anna {
		t.Error("an agent that nobody has linked orders for an account")
	}
	w.store.linked = map[string]string{shopper.Through: anna}
	if made := w.opened(order.Register, &annas, "zwei"); !made.Order.Claimed || made.Order.Customer != anna {
		t.Error("the customer has linked the agent, and the order is nobody's")
	}
	if made := w.opened(order.Register, &carla, "drei"); made.Order.Claimed {
		t.Error("somebody else's order is the customer's")
	}
}

func TestAChangedSessionHasOtherItemsAndAnotherBuyer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.store.linked = map[string]string{shopper.Through: anna}
	made := w.opened(order.Register, nil, "eins", "zwei")
	if made.Status != order.NotReady || !slices.Contains(made.Missing, order.MissingRegistrant) || len(made.Untold) != 3 {
		t.Fatalf("made as %+v", made)
	}
	got, err := w.service.UpdateSession(t.Context(), shopper, made.Order.ID, order.SessionChange{
		Items: wanted(order.Register, "zwei").Items, Contact: &order.Contact{LastName: "Neu", Country: "DE"},
	})
	if err != nil || len(got.Order.Items) != 1 || got.Order.Items[0].ID != made.Order.Items[1].ID || got.Status != order.NotReady {
		t.Fatalf("%+v, %v", got, err)
	}
	got, err = w.service.UpdateSession(t.Context(), shopper, made.Order.ID, order.SessionChange{Contact: &order.Contact{Email: "carla@neu.example"}})
	if err != nil || got.Status != order.Ready || got.Order.Contact.LastName != "Neu" {
		t.Fatalf("%+v, %v", got, err)
	}
	got, err = w.service.UpdateSession(t.Context(), shopper, made.Order.ID, order.SessionChange{Contact: &order.Contact{Email: "anna@mueller.example"}})
	if err != nil || got.Order.Customer != anna || !got.Order.Claimed {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := w.complete(made.Order.ID, "spt_ok"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.service.UpdateSession(t.Context(), shopper, made.Order.ID, order.SessionChange{}); code(err) != order.NotOpen {
		t.Errorf("a paid session can be changed: %v", err)
	}
	if _, err := w.service.CancelSession(t.Context(), shopper, made.Order.ID); code(err) != order.NotOpen {
		t.Errorf("a paid session can be canceled: %v", err)
	}
	w.books()
}

func TestAFreeSessionIsConfirmedByItsCompletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.market.net = 0
	made := w.opened(order.Register, &carla, "eins")
	got, err := w.complete(made.Order.ID, "")
	if err != nil || got.Status != order.SessionCompleted {
		t.Fatalf("%+v, %v", got, err)
	}
	w.books()
}

func TestAnOrderIsClaimedByTheMailedLinkAndASignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.opened(order.Register, &carla, "eins")
	if _, err := w.complete(made.Order.ID, "spt_ok"); err != nil {
		t.Fatal(err)
	}
	link, hash := registrar.NewSecret(registrar.LinkSecret)
	other, _ := registrar.NewSecret(registrar.LinkSecret)
	w.store.claims = map[registrar.SecretHash]string{hash: made.Order.Customer}
	for name, one := range map[string]struct {
		actor registrar.Actor
		link  string
		code  registrar.Code
	}{
		"not signed in": {nobody, link, order.SignInFirst},
		"a token":       {annasAgent, link, order.SignInFirst},
		"another link":  {bertInPerson, other, order.NoSuchClaim},
		"no link":       {bertInPerson, "x", order.NoSuchClaim},
	} {
		if _, err := w.service.Claim(t.Context(), one.actor, one.link); code(err) != one.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	o, err := w.service.Claim(t.Context(), bertInPerson, link)
	if err != nil || o.Customer != bert || !o.Claimed {
		t.Fatalf("%+v, %v", o, err)
	}
	if _, err := w.service.Claim(t.Context(), annaInPerson, link); code(err) != order.NoSuchClaim {
		t.Errorf("a link works twice: %v", err)
	}
}
