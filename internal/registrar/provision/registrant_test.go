package provision_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestRun_RegistersRegistrantApprovedAtPayment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{rules: allRules})
		item := env.createItem(t, "neu", ".org")
		approved := registrar.Registrant{Name: "Ada", Country: "DE"}
		if item.Registrant != approved {
			t.Fatalf("item registrant = %+v", item.Registrant)
		}
		env.store.registrant = registrar.Registrant{Name: "Joe Miller", Country: "US"} // the account's data change after the payment
		runFor(t, time.Minute, env.Service)
		if len(env.registry.contacts) != 1 || env.registry.contacts[0].Registrant != approved {
			t.Errorf("created contacts = %+v", env.registry.contacts)
		}
		if item := env.store.onlyItem(t); item.State != provision.StateActive || item.Registrant != (registrar.Registrant{}) {
			t.Errorf("finished item: %+v; want active without registrant data", item)
		}
	})
}

func TestCreateItem_OperatorCannotBypassIdentityCheck(t *testing.T) {
	t.Parallel()
	env := newEnv(t, &fakeRegistry{rules: allRules})
	paidFor := provision.PaidItem{
		Customer: "cus_ada", Name: registrar.NewName("kanzlei", ".law"), Extension: registrar.Extension{TLD: ".law", Verify: true},
		Kind: provision.Register, Payment: "manual:R-1",
	}
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}
	if _, err := env.CreateItem(t.Context(), operator, paidFor); registrar.CodeOf(err) != registrar.IdentityRequired {
		t.Fatalf("without an identity: %v", err)
	}
	env.store.verified = "Eve"
	if _, err := env.CreateItem(t.Context(), operator, paidFor); registrar.CodeOf(err) != registrar.IdentityRequired {
		t.Fatalf("with another person's identity: %v", err)
	}
	env.store.verified = "ADA"
	if _, err := env.CreateItem(t.Context(), operator, paidFor); err != nil {
		t.Fatal(err)
	}
}
