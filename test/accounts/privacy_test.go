package accounts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/test/dump"
)

func TestNobodyLearnsWhetherAnAddressExists(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		w.member(email)
		passkeyOnly := "key@example.org"
		w.must(w.Register(ctx, home, customer.Registration{Email: passkeyOnly}))
		_, err := w.Confirm(ctx, home, w.mail(registrar.LetterConfirm).link, customer.Confirmation{})
		w.must(err)
		unconfirmed := "late@example.org"
		w.must(w.Register(ctx, home, customer.Registration{Email: unconfirmed}))
		w.mails()
		w.pass(2 * time.Hour)

		for i, address := range []string{email, passkeyOnly, unconfirmed, "nobody@example.org"} {
			from := somebody(fmt.Sprintf("198.51.100.%d", i))
			_, err := w.SignIn(ctx, from, customer.Credentials{Email: address, Password: other})
			w.refused(err, registrar.KindUnauthenticated, customer.BadCredentials)
			w.must(w.AskReset(ctx, from, address, "de"))
			if got := w.mails(); len(got) != 1 || got[0].to != address {
				t.Errorf("asking for a reset of %s: letters %v, want one", address, got)
			}
			w.must(w.Register(ctx, from, customer.Registration{Email: strings.ToUpper(address)}))
			if got := w.mails(); len(got) != 1 || !strings.EqualFold(got[0].to, address) {
				t.Errorf("registering %s: letters %v, want one", address, got)
			}
		}
	})
}

func TestTheOwnerOfTheMailboxLearnsIt(t *testing.T) {
	onSQLite(t, func(w *world) {
		ctx := w.Context()
		w.member(email)
		for _, step := range []struct {
			do   func() error
			want registrar.LetterKind
		}{
			{func() error { return w.Register(ctx, home, customer.Registration{Email: email}) }, registrar.LetterAlreadyMember},
			{func() error { return w.AskReset(ctx, home, email, "") }, registrar.LetterReset},
			{func() error { return w.AskReset(ctx, home, "nobody@example.org", "en") }, registrar.LetterNoAccount},
			{func() error {
				return w.Register(ctx, home, customer.Registration{Email: "new@example.org", Language: "en"})
			}, registrar.LetterConfirm},
			{func() error { return w.AskReset(ctx, home, "new@example.org", "") }, registrar.LetterConfirm},
		} {
			w.must(step.do())
			w.mail(step.want)
		}
	})
}

func TestNobodyCanRegisterAPasswordForAStranger(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		w.must(w.Register(ctx, attacker, customer.Registration{Email: email}))
		first := w.mail(registrar.LetterConfirm).link
		w.must(w.Register(ctx, home, customer.Registration{Email: email}))
		second := w.mail(registrar.LetterConfirm).link
		in, err := w.Confirm(ctx, home, second, customer.Confirmation{Password: password})
		w.must(err)
		_, err = w.Confirm(ctx, attacker, first, customer.Confirmation{Password: other})
		w.refused(err, registrar.KindNotFound, customer.LinkInvalid)
		sessions, err := w.Sessions(ctx, actorOf(in))
		w.must(err)
		if len(sessions) != 1 {
			t.Errorf("%d sessions are open after the confirmation", len(sessions))
		}
	})
}

func TestUnconfirmedAccountsAreForgotten(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		w.member("keep@example.org")
		w.must(w.Register(ctx, home, customer.Registration{Email: email})) // whose letter can't be sent
		w.pass(6 * 24 * time.Hour)
		w.must(w.Sweep(ctx))
		found, err := w.Find(ctx, operator, email)
		if err != nil {
			t.Errorf("forgotten too early: %v", err)
		}
		// Nothing is put into it that would keep it.
		w.refused(w.SetPassword(ctx, operator, found.ID, password), registrar.KindNotFound, customer.NoSuchCustomer)
		w.refused(w.SetRegistrantOf(ctx, operator, found.ID, customer.Registrant{}), registrar.KindNotFound, customer.NoSuchCustomer)
		w.pass(25 * time.Hour)
		w.must(w.Sweep(ctx))
		_, err = w.Find(ctx, operator, email)
		w.refused(err, registrar.KindNotFound, customer.NoSuchCustomer)
		if entries, err := w.db.DeedsOf(ctx, found.ID, "", 10); err != nil || len(entries) != 0 {
			t.Errorf("its audit is still there: %v (%v)", entries, err)
		}
		if waiting := w.mails(); len(waiting) != 0 {
			t.Errorf("its letter is still waiting: %v", waiting)
		}
		if _, err := w.Find(ctx, operator, "keep@example.org"); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatConcernsNoAccountIsForgottenAfterAMonth(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		in := w.member(email)
		w.must(w.AskReset(ctx, attacker, "nobody@example.org", ""))
		kept := func(customer string) int {
			w.must(w.Sweep(ctx))
			entries, err := w.db.DeedsOf(ctx, customer, "", 10)
			w.must(err)
			return len(entries)
		}
		own := kept(in.Visitor.Customer.ID)
		w.pass(29 * 24 * time.Hour)
		if got := kept(""); got != 1 {
			t.Errorf("%d entries after four weeks, want 1", got)
		}
		w.pass(2 * 24 * time.Hour)
		if got := kept(""); got != 0 {
			t.Errorf("%d entries after a month, want none", got)
		}
		if got := kept(in.Visitor.Customer.ID); got != own || own == 0 {
			t.Errorf("the customer's own audit has %d entries, want %d", got, own)
		}
	})
}

func TestOnlyHashesInADatabaseDump(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		in := w.member(email)
		secrets := map[string]string{"password": password, "session": in.Secret, "device": in.Device}
		phone, recovery := w.secondFactor(in)
		secrets["authenticator app"], secrets["recovery code"] = phone.secret, recovery[3]
		secrets["recovery code without hyphens"] = strings.ReplaceAll(recovery[3], "-", "")
		secrets["pending session"] = w.signIn(home, in.Device).Secret
		ceremony, _, err := w.BeginPasskeySignIn(ctx, home, origin)
		w.must(err)
		secrets["ceremony"] = ceremony
		w.must(w.AskReset(ctx, home, email, ""))
		secrets["link"] = w.mail(registrar.LetterReset).link
		w.must(w.AskReset(ctx, somebody("192.0.2.8"), "bob@example.org", "")) // leaves a letter waiting
		w.pass(time.Minute)
		opened, err := w.EnterCode(ctx, home, secrets["pending session"], phone.code(w))
		w.must(err)
		secrets["session after the code"] = opened.Secret

		stolen := dump.All(t, w.dsn)
		if !strings.Contains(stolen, email) || !strings.Contains(stolen, "$argon2id$") {
			t.Fatal("the dump holds nothing, so nothing was checked")
		}
		for name, secret := range secrets {
			if secret == "" {
				t.Errorf("the %s is empty, so it was not checked", name)
			}
			if strings.Contains(strings.ToLower(stolen), strings.ToLower(secret)) {
				t.Errorf("the database holds the %s", name)
			}
		}
	})
}

func TestFailedSignInsAreToldOnceInTenMinutes(t *testing.T) {
	eachEngine(t, func(w *world) {
		in := w.member(email)
		count := func() (failed int) {
			w.must(w.Sweep(w.Context()))
			entries, err := w.Deeds(w.Context(), actorOf(in), "", 100)
			w.must(err)
			for _, entry := range entries {
				if entry.Action == customer.ActionSignInFailed {
					failed++
					if entry.Actor.Address != attacker.Address || entry.Actor.Customer != "" {
						t.Errorf("the audit says that it was %+v", entry.Actor)
					}
				}
			}
			return failed
		}
		for range 5 {
			w.refused(w.guess(attacker, ""), registrar.KindUnauthenticated, customer.BadCredentials)
		}
		if got := count(); got != 1 {
			t.Errorf("five failures are told %d times", got)
		}
		w.pass(10*time.Minute + time.Second)
		w.refused(w.guess(attacker, ""), registrar.KindUnauthenticated, customer.BadCredentials)
		if got := count(); got != 2 {
			t.Errorf("told %d times, want 2", got)
		}
	})
}

func TestTheRegistrantIsStoredAsChecked(t *testing.T) {
	eachEngine(t, func(w *world) {
		actor := actorOf(w.member(email))
		if _, ok, err := w.Registrant(w.Context(), actor); ok || err != nil {
			t.Errorf("nothing was told yet: %v, %v", ok, err)
		}
		given := customer.Registrant{
			Kind: customer.Company, Name: " Ada  Lovelace ", Organisation: "Deich & Söhne GmbH", Street: "Am Sandtor 1",
			PostalCode: "D-20457", City: "Hamburg", Country: "de", Phone: "040 / 123 456-78", VATID: "de 136 695 976",
		}
		w.must(w.SetRegistrant(w.Context(), actor, given))
		given.City = "Altona"
		w.must(w.SetRegistrant(w.Context(), actor, given))
		got, ok, err := w.Registrant(w.Context(), actor)
		w.must(err)
		want := customer.Registrant{
			Kind: customer.Company, Name: "Ada Lovelace", Organisation: "Deich & Söhne GmbH", Street: "Am Sandtor 1",
			PostalCode: "20457", City: "Altona", Country: "DE", Phone: "+49.4012345678", VATID: "DE136695976", UpdatedAt: w.clock(),
		}
		if !ok || got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		w.must(w.SetLanguage(w.Context(), actor, "en"))
		w.refused(w.SetLanguage(w.Context(), actor, "fr"), registrar.KindInvalid, customer.LanguageUnknown)
	})
}
