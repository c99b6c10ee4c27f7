package accounts

import (
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// demanding is a price list in which .eu has a rule and .law an identity check.
func demanding(cfg *customer.Config) {
	cfg.Extension = func(tld string) (registrar.Extension, bool) {
		switch tld {
		case ".eu":
			return registrar.Extension{TLD: tld, Requires: "eu_presence"}, true
		case ".law":
			return registrar.Extension{TLD: tld, Verify: true}, true
		default:
			return registrar.Extension{TLD: tld}, tld != ".unlisted"
		}
	}
}

func german(name string) customer.Registrant {
	return customer.Registrant{
		Kind: customer.Person, Name: name, Street: "Am Sandtor 1", PostalCode: "20457", City: "Hamburg", Country: "DE", Phone: "+49.4012345678",
	}
}

func american(name string) customer.Registrant {
	return customer.Registrant{
		Kind: customer.Person, Name: name, Street: "1 Main St", PostalCode: "10001", City: "New York", State: "NY", Country: "US", Phone: "+1.2125550100",
	}
}

func (w *world) holds(owner, label, tld string, status holding.Status) {
	w.Helper()
	holdings, err := holding.New(holding.Config{Store: w.db})
	w.must(err)
	_, err = holdings.Add(w.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}, holding.Addition{
		Customer: owner, Name: registrar.NewName(label, tld), Status: status, PaidUntil: time.Now().AddDate(1, 0, 0),
	})
	w.must(err)
}

func TestSetRegistrant_ExtensionOfAHeldDomainRefusesTheCountry(t *testing.T) {
	eachEngine(t, func(w *world) {
		w.restart(demanding)
		in := w.member(email)
		actor := actorOf(in)
		operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "ops"}
		w.must(w.SetRegistrant(w.Context(), actor, german("Ada Lovelace")))
		w.holds(actor.Customer, "frei", ".com", holding.StatusActive)
		w.holds(actor.Customer, "vergessen", ".unlisted", holding.StatusActive)
		w.must(w.SetRegistrant(w.Context(), actor, american("Ada Lovelace"))) // nothing of it demands anything
		w.must(w.SetRegistrant(w.Context(), actor, german("Ada Lovelace")))
		w.holds(actor.Customer, "laden", ".eu", holding.StatusActive)
		w.mails() // what was sent before
		w.refused(w.SetRegistrant(w.Context(), actor, american("Ada Lovelace")), registrar.KindConflict, "requires_eu_presence")
		w.refused(w.SetRegistrantOf(w.Context(), operator, actor.Customer, american("Ada Lovelace")), registrar.KindConflict, "requires_eu_presence")
		if got, _, err := w.Registrant(w.Context(), actor); err != nil || got.Country != "DE" || got.Street != "Am Sandtor 1" {
			t.Errorf("the registrant is %+v, %v", got, err)
		}
		if got := w.mails(); len(got) != 0 {
			t.Errorf("a refused change was announced by mail: %+v", got)
		}
		moved := german("Ada Lovelace")
		moved.Country, moved.PostalCode, moved.City, moved.Phone = "AT", "1010", "Wien", "+43.15550123"
		w.must(w.SetRegistrant(w.Context(), actor, moved)) // within the area
	})
}

func TestSetRegistrant_DomainThatHasLeftDemandsNothing(t *testing.T) {
	eachEngine(t, func(w *world) {
		w.restart(demanding)
		actor := actorOf(w.member(email))
		w.must(w.SetRegistrant(w.Context(), actor, german("Ada Lovelace")))
		w.holds(actor.Customer, "weg", ".eu", holding.StatusTransferredOut)
		w.must(w.SetRegistrant(w.Context(), actor, american("Ada Lovelace")))
	})
}

func TestSetRegistrant_VerifiedNameCanNotBeReplaced(t *testing.T) {
	eachEngine(t, func(w *world) {
		w.restart(demanding)
		actor := actorOf(w.member(email))
		w.must(w.SetRegistrant(w.Context(), actor, german("Ada Lovelace")))
		if ok, err := w.db.SetIdentity(w.Context(), nil, order.Identity{
			Customer: actor.Customer, Session: "vs_1", Name: "ADA MARIA LOVELACE", VerifiedAt: w.clock(), UpdatedAt: w.clock(),
		}, nil); err != nil || !ok {
			t.Fatal(ok, err)
		}
		w.holds(actor.Customer, "kanzlei", ".law", holding.StatusActive)
		w.refused(w.SetRegistrant(w.Context(), actor, german("Eve Mallory")), registrar.KindConflict, registrar.IdentityRequired)
		if got, _, err := w.Registrant(w.Context(), actor); err != nil || got.Name != "Ada Lovelace" {
			t.Errorf("the registrant is %+v, %v", got, err)
		}
		w.must(w.SetRegistrant(w.Context(), actor, german("Ada Maria Lovelace"))) // the verified name in another spelling
	})
}

// The catalogue may demand more than it did when the domain was registered.
func TestSetRegistrant_RuleThatAlreadyFailsBlocksNoOtherChange(t *testing.T) {
	eachEngine(t, func(w *world) {
		w.restart(demanding)
		actor := actorOf(w.member(email))
		w.must(w.SetRegistrant(w.Context(), actor, american("Ada Lovelace")))
		w.holds(actor.Customer, "laden", ".eu", holding.StatusActive)
		w.holds(actor.Customer, "kanzlei", ".law", holding.StatusActive)
		called := american("Ada Lovelace")
		called.Phone, called.Street = "+1.2125550199", "2 Main St"
		w.must(w.SetRegistrant(w.Context(), actor, called))
		if got, _, err := w.Registrant(w.Context(), actor); err != nil || got.Phone != "+1.2125550199" || got.Street != "2 Main St" {
			t.Errorf("the registrant is %+v, %v", got, err)
		}
		moved := german("Ada Lovelace")
		moved.Country, moved.Phone = "CH", "+41.441234567"
		moved.PostalCode, moved.City = "8001", "Zürich"
		w.refused(w.SetRegistrant(w.Context(), actor, moved), registrar.KindConflict, "requires_eu_presence")
		w.refused(w.SetRegistrant(w.Context(), actor, american("Eve Mallory")), registrar.KindConflict, registrar.IdentityRequired)
		company := called
		company.Kind, company.Organisation = customer.Company, "Analytical Engines"
		w.refused(w.SetRegistrant(w.Context(), actor, company), registrar.KindConflict, registrar.IdentityRequired)
		w.must(w.SetRegistrant(w.Context(), actor, german("Ada Lovelace")))
	})
}

func TestSetRegistrant_OperatorWaitsForAPayment(t *testing.T) {
	eachEngine(t, func(w *world) {
		w.restart(demanding)
		actor := actorOf(w.member(email))
		w.must(w.SetRegistrant(w.Context(), actor, german("Ada Lovelace")))
		o := order.Order{
			ID: registrar.NewID("ord_", w.clock()), Customer: actor.Customer, Email: email, State: order.Paying, Channel: order.ThroughPortal, By: actor, Claimed: true,
			ItemsKey: "k", PayLink: "p", CreatedAt: w.clock(), UpdatedAt: w.clock(), ExpiresAt: w.clock().Add(time.Hour),
			Items: []order.Item{{ID: "itm_1", Name: "neu.eu", TLD: ".eu", Kind: order.Register, Years: 1, State: order.ItemWaiting}},
		}
		if _, added, err := w.db.AddOrder(w.Context(), o, 20, registrar.Deed{Actor: actor, Action: order.ActionMade, Customer: actor.Customer, Object: o.ID, At: w.clock()}); err != nil || !added {
			t.Fatal(added, err)
		}
		operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "ops"}
		w.refused(w.SetRegistrantOf(w.Context(), operator, actor.Customer, german("Eve Mallory")), registrar.KindConflict, customer.PaymentUnderWay)
		err := w.db.ChangeCustomers(w.Context(), func(tx customer.Tx) error {
			tlds, err := tx.ExtensionsOf(w.Context(), actor.Customer)
			if err == nil && !slices.Equal(tlds, []string{".eu"}) {
				t.Errorf("what is being paid binds the registrant too: %q", tlds)
			}
			return err
		})
		w.must(err)
	})
}
