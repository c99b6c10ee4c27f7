package accounts

import (
	"maps"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

func TestBasket_BelongsToTheAccount(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		anyone := registrar.Actor{Kind: registrar.ActorPerson}
		e.must(e.RegisterVisitor(e.Context(), anyone, account.Registration{Email: email, Language: "de", Basket: "register:laden.de"}))
		link := e.deliverOneMail(registrar.MailConfirm).link
		if buyer, err := e.IsBuyerLink(e.Context(), link); !buyer || err != nil {
			t.Errorf("the link leads to no basket: %v", err)
		}
		in, err := e.Confirm(e.Context(), anyone, link, "", "")
		e.must(err)
		if in.Visitor.Customer.Basket != "register:laden.de" {
			t.Errorf("the basket is %q", in.Visitor.Customer.Basket)
		}
		// Whoever knows the address of an account can't fill its basket.
		e.must(e.RegisterVisitor(e.Context(), anyone, account.Registration{Email: email, Language: "de", Basket: "register:fremd.de"}))
		actor := actorOf(in)
		e.must(e.ReplaceBasket(e.Context(), actor, "register:laden.de", "register:laden.de~register:tee.de"))
		e.wantError(e.ReplaceBasket(e.Context(), actor, "register:laden.de", ""), registrar.KindConflict, account.BasketChanged)
		visitor, err := e.Visitor(e.Context(), in.Secret)
		e.must(err)
		if visitor.Customer.Basket != "register:laden.de~register:tee.de" {
			t.Errorf("the basket is %q", visitor.Customer.Basket)
		}
	})
}

func TestRegister_ConfirmationNamesDomainsOfBasket(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		anyone := registrar.Actor{Kind: registrar.ActorPerson}
		// Anyone can write the cookie: what is no domain is not mailed.
		e.must(e.RegisterVisitor(e.Context(), anyone, account.Registration{Email: email, Language: "de", Basket: "register:laden.de~transfer:tee.co.uk~register:Sie haben gewonnen~kaputt"}))
		want := map[string]string{"items": "2", "item1_name": "laden.de", "item2_name": "tee.co.uk"}
		for _, again := range []func(){
			func() {},
			func() {
				e.must(e.RegisterVisitor(e.Context(), anyone, account.Registration{Email: email, Language: "de", Basket: ""}))
			},
			func() { e.must(e.RequestPasswordReset(e.Context(), anyone, email, "de")) },
		} {
			again()
			if got := e.deliverOneMail(registrar.MailConfirm).facts; !maps.Equal(got, want) {
				t.Errorf("the mail has %v", got)
			}
		}
	})
}
