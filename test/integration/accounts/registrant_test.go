package accounts

import (
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
)

// withRegistrantRules is a price list in which .eu has a rule and .law an identity check.
func withRegistrantRules(cfg *account.Config) {
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

func germanRegistrant(name string) account.Registrant {
	return account.Registrant{
		Kind: account.Person, Name: name, Street: "Am Sandtor 1", PostalCode: "20457", City: "Hamburg", Country: "DE", Phone: "+49.4012345678",
	}
}

func americanRegistrant(name string) account.Registrant {
	return account.Registrant{
		Kind: account.Person, Name: name, Street: "1 Main St", PostalCode: "10001", City: "New York", State: "NY", Country: "US", Phone: "+1.2125550100",
	}
}

func (e *env) addDomain(owner, label, tld string, status registrar.DomainStatus) {
	e.Helper()
	holdings := portfolio.New(e.db, time.Now)
	_, err := holdings.Add(e.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}, portfolio.AddParams{
		Customer: owner, Name: registrar.NewName(label, tld), Status: status, PaidUntil: time.Now().AddDate(1, 0, 0),
	})
	e.must(err)
}

func TestSetRegistrant_TLDOfOwnDomainRefusesCountry(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		e.reconfigure(withRegistrantRules)
		in := e.newMember(email)
		actor := actorOf(in)
		operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "ops"}
		e.must(e.SetRegistrant(e.Context(), actor, germanRegistrant("Ada Lovelace")))
		e.addDomain(actor.Customer, "frei", ".com", registrar.DomainActive)
		e.addDomain(actor.Customer, "vergessen", ".unlisted", registrar.DomainActive)
		e.must(e.SetRegistrant(e.Context(), actor, americanRegistrant("Ada Lovelace"))) // no extension has a requirement
		e.must(e.SetRegistrant(e.Context(), actor, germanRegistrant("Ada Lovelace")))
		e.addDomain(actor.Customer, "laden", ".eu", registrar.DomainActive)
		e.deliverMails() // drain earlier mails
		e.wantError(e.SetRegistrant(e.Context(), actor, americanRegistrant("Ada Lovelace")), registrar.KindConflict, "requires_eu_presence")
		e.wantError(e.SetRegistrantFor(e.Context(), operator, actor.Customer, americanRegistrant("Ada Lovelace")), registrar.KindConflict, "requires_eu_presence")
		if got, _, err := e.Registrant(e.Context(), actor); err != nil || got.Country != "DE" || got.Street != "Am Sandtor 1" {
			t.Errorf("the registrant is %+v, %v", got, err)
		}
		if got := e.deliverMails(); len(got) != 0 {
			t.Errorf("a refused change was announced by mail: %+v", got)
		}
		moved := germanRegistrant("Ada Lovelace")
		moved.Country, moved.PostalCode, moved.City, moved.Phone = "AT", "1010", "Wien", "+43.15550123"
		e.must(e.SetRegistrant(e.Context(), actor, moved)) // within the EEA
	})
}

func TestSetRegistrant_TransferredOutDomainImposesNoRule(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		e.reconfigure(withRegistrantRules)
		actor := actorOf(e.newMember(email))
		e.must(e.SetRegistrant(e.Context(), actor, germanRegistrant("Ada Lovelace")))
		e.addDomain(actor.Customer, "weg", ".eu", registrar.DomainTransferredOut)
		e.must(e.SetRegistrant(e.Context(), actor, americanRegistrant("Ada Lovelace")))
	})
}

func TestSetRegistrant_VerifiedNameCannotBeReplaced(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		e.reconfigure(withRegistrantRules)
		actor := actorOf(e.newMember(email))
		e.must(e.SetRegistrant(e.Context(), actor, germanRegistrant("Ada Lovelace")))
		if ok, err := e.db.UpdateIdentity(e.Context(), nil, order.Identity{
			Customer: actor.Customer, Session: "vs_1", Name: "ADA MARIA LOVELACE", VerifiedAt: e.clock(), UpdatedAt: e.clock(),
		}, nil); err != nil || !ok {
			t.Fatal(ok, err)
		}
		e.addDomain(actor.Customer, "kanzlei", ".law", registrar.DomainActive)
		e.wantError(e.SetRegistrant(e.Context(), actor, germanRegistrant("Eve Mallory")), registrar.KindConflict, registrar.IdentityRequired)
		if got, _, err := e.Registrant(e.Context(), actor); err != nil || got.Name != "Ada Lovelace" {
			t.Errorf("the registrant is %+v, %v", got, err)
		}
		e.must(e.SetRegistrant(e.Context(), actor, germanRegistrant("Ada Maria Lovelace"))) // the verified name in another spelling
	})
}

// The catalog may have gained requirements since the domain was registered.
func TestSetRegistrant_AlreadyFailingRuleBlocksNoOtherChange(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		e.reconfigure(withRegistrantRules)
		actor := actorOf(e.newMember(email))
		e.must(e.SetRegistrant(e.Context(), actor, americanRegistrant("Ada Lovelace")))
		e.addDomain(actor.Customer, "laden", ".eu", registrar.DomainActive)
		e.addDomain(actor.Customer, "kanzlei", ".law", registrar.DomainActive)
		called := americanRegistrant("Ada Lovelace")
		called.Phone, called.Street = "+1.2125550199", "2 Main St"
		e.must(e.SetRegistrant(e.Context(), actor, called))
		if got, _, err := e.Registrant(e.Context(), actor); err != nil || got.Phone != "+1.2125550199" || got.Street != "2 Main St" {
			t.Errorf("the registrant is %+v, %v", got, err)
		}
		moved := germanRegistrant("Ada Lovelace")
		moved.Country, moved.Phone = "CH", "+41.441234567"
		moved.PostalCode, moved.City = "8001", "Zürich"
		e.wantError(e.SetRegistrant(e.Context(), actor, moved), registrar.KindConflict, "requires_eu_presence")
		e.wantError(e.SetRegistrant(e.Context(), actor, americanRegistrant("Eve Mallory")), registrar.KindConflict, registrar.IdentityRequired)
		company := called
		company.Kind, company.Organisation = account.Company, "Analytical Engines"
		e.wantError(e.SetRegistrant(e.Context(), actor, company), registrar.KindConflict, registrar.IdentityRequired)
		e.must(e.SetRegistrant(e.Context(), actor, germanRegistrant("Ada Lovelace")))
	})
}

func TestSetRegistrant_RefusedForOperatorDuringPayment(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		e.reconfigure(withRegistrantRules)
		actor := actorOf(e.newMember(email))
		e.must(e.SetRegistrant(e.Context(), actor, germanRegistrant("Ada Lovelace")))
		o := order.Order{
			ID: registrar.NewID("ord_", e.clock()), Customer: actor.Customer, Email: email, State: order.Paying, Channel: order.ChannelPortal, By: actor, Claimed: true,
			ItemsKey: "k", PayLink: "p", CreatedAt: e.clock(), UpdatedAt: e.clock(), ExpiresAt: e.clock().Add(time.Hour),
			Items: []order.Item{{ID: "itm_1", Name: "neu.eu", TLD: ".eu", Kind: order.Register, Years: 1, State: order.ItemWaiting}},
		}
		if _, added, err := e.db.AddOrder(e.Context(), o, 20, registrar.AuditEvent{Actor: actor, Action: order.ActionCreated, Customer: actor.Customer, Object: o.ID, At: e.clock()}); err != nil || !added {
			t.Fatal(added, err)
		}
		operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "ops"}
		e.wantError(e.SetRegistrantFor(e.Context(), operator, actor.Customer, germanRegistrant("Eve Mallory")), registrar.KindConflict, account.PaymentUnderWay)
		err := e.db.UpdateCustomers(e.Context(), func(tx account.Tx) error {
			tlds, err := tx.ListRegistrantExtensions(e.Context(), actor.Customer)
			if err == nil && !slices.Equal(tlds, []string{".eu"}) {
				t.Errorf("extensions of items being paid: got %q", tlds)
			}
			return err
		})
		e.must(err)
	})
}

func TestAddRegistrant_FirstDataIsNoChange(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		actor := actorOf(e.newMember(email))
		e.deliverMails()
		e.advanceClock(registrar.RecentSignIn + time.Minute)
		e.must(e.AddRegistrant(e.Context(), actor, germanRegistrant("Ada Lovelace")))
		e.must(e.AddRegistrant(e.Context(), actor, germanRegistrant(" Ada  Lovelace "))) // a form that is sent twice
		if got := e.deliverMails(); len(got) != 0 {
			t.Errorf("first data was announced by mail: %+v", got)
		}
		e.wantError(e.AddRegistrant(e.Context(), actor, germanRegistrant("Eve Mallory")), registrar.KindConflict, account.RegistrantKnown)
		if got, _, err := e.Registrant(e.Context(), actor); err != nil || got.Name != "Ada Lovelace" {
			t.Errorf("the registrant is %+v, %v", got, err)
		}
		e.wantError(e.SetRegistrant(e.Context(), actor, germanRegistrant("Eve Mallory")), registrar.KindUnauthenticated, registrar.SignInAgain)
	})
}

func TestSetRegistrant_OnlyChangeSendsMail(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		actor := actorOf(e.newMember(email))
		e.deliverMails()
		e.must(e.SetRegistrant(e.Context(), actor, germanRegistrant("Ada Lovelace")))
		if got := e.deliverMails(); len(got) != 0 {
			t.Errorf("first data was announced by mail: %+v", got)
		}
		e.must(e.SetRegistrant(e.Context(), actor, germanRegistrant("Ada Byron")))
		if got := e.deliverMails(); len(got) != 0 {
			t.Errorf("a correction before the first purchase was announced by mail: %+v", got)
		}
		e.addDomain(actor.Customer, "laden", ".de", registrar.DomainActive)
		e.must(e.SetRegistrant(e.Context(), actor, germanRegistrant("Ada King")))
		e.deliverOneMail(registrar.MailRegistrantChanged)
	})
}
