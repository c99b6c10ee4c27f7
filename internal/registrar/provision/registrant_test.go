package provision_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestProvision_RegistersTheRegistrantThatWasPaidFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &office{rules: everything})
		line := h.order(t, "neu", ".org")
		approved := provision.Holder{Name: "Ada", Country: "DE"}
		if line.Registrant != approved {
			t.Fatalf("the line keeps %+v", line.Registrant)
		}
		h.shelf.holder = provision.Holder{Name: "Joe Miller", Country: "US"} // the account's data change after the payment
		runFor(t, time.Minute, h.Service)
		if len(h.office.contacts) != 1 || h.office.contacts[0].Holder != approved {
			t.Errorf("the registry was told %+v", h.office.contacts)
		}
		if line := h.shelf.only(t); line.State != provision.StateActive || line.Registrant != (provision.Holder{}) {
			t.Errorf("an ended line keeps personal data: %+v", line)
		}
	})
}

func TestOrder_OperatorCanNotBypassTheIdentityCheck(t *testing.T) {
	t.Parallel()
	h := newHouse(t, &office{rules: everything})
	paidFor := provision.Order{
		Customer: "cus_ada", Name: registrar.NewName("kanzlei", ".law"), Extension: registrar.Extension{TLD: ".law", Verify: true},
		Kind: provision.Register, Payment: "manual:R-1",
	}
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}
	if _, err := h.Order(t.Context(), operator, paidFor); registrar.CodeOf(err) != registrar.IdentityRequired {
		t.Fatalf("without an identity: %v", err)
	}
	h.shelf.verified = "Eve"
	if _, err := h.Order(t.Context(), operator, paidFor); registrar.CodeOf(err) != registrar.IdentityRequired {
		t.Fatalf("with another one's identity: %v", err)
	}
	h.shelf.verified = "ADA"
	if _, err := h.Order(t.Context(), operator, paidFor); err != nil {
		t.Fatal(err)
	}
}
