package accounts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/test/testkit/dump"
)

func TestAccountEnumeration_KnownAndUnknownAddressesAnswerAlike(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		e.newMember(email)
		passkeyOnly := "key@example.org"
		e.must(e.Register(ctx, home, passkeyOnly, ""))
		_, err := e.Confirm(ctx, home, e.deliverOneMail(registrar.MailConfirm).link, "", "")
		e.must(err)
		unconfirmed := "late@example.org"
		e.must(e.Register(ctx, home, unconfirmed, ""))
		e.deliverMails()
		e.advanceClock(2 * time.Hour)

		for i, address := range []string{email, passkeyOnly, unconfirmed, "nobody@example.org"} {
			from := anonymousActor(fmt.Sprintf("198.51.100.%d", i))
			_, err := e.SignIn(ctx, from, account.Credentials{Email: address, Password: otherPassword})
			e.wantError(err, registrar.KindUnauthenticated, account.BadCredentials)
			e.must(e.RequestPasswordReset(ctx, from, address, "de"))
			if got := e.deliverMails(); len(got) != 1 || got[0].to != address {
				t.Errorf("requesting a reset for %s: mails %v, want one", address, got)
			}
			e.must(e.Register(ctx, from, strings.ToUpper(address), ""))
			if got := e.deliverMails(); len(got) != 1 || !strings.EqualFold(got[0].to, address) {
				t.Errorf("registering %s: mails %v, want one", address, got)
			}
		}
	})
}

func TestMail_MailboxOwnerLearnsAccountState(t *testing.T) {
	onSQLite(t, func(e *env) {
		ctx := e.Context()
		e.newMember(email)
		for _, step := range []struct {
			do   func() error
			want registrar.MailKind
		}{
			{func() error { return e.Register(ctx, home, email, "") }, registrar.MailAlreadyRegistered},
			{func() error { return e.RequestPasswordReset(ctx, home, email, "") }, registrar.MailPasswordReset},
			{func() error { return e.RequestPasswordReset(ctx, home, "nobody@example.org", "en") }, registrar.MailNoAccount},
			{func() error {
				return e.Register(ctx, home, "new@example.org", "en")
			}, registrar.MailConfirm},
			{func() error { return e.RequestPasswordReset(ctx, home, "new@example.org", "") }, registrar.MailConfirm},
		} {
			e.must(step.do())
			e.deliverOneMail(step.want)
		}
	})
}

func TestRegister_OnlyMailboxOwnerSetsPassword(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		e.must(e.Register(ctx, attacker, email, ""))
		first := e.deliverOneMail(registrar.MailConfirm).link
		e.must(e.Register(ctx, home, email, ""))
		second := e.deliverOneMail(registrar.MailConfirm).link
		in, err := e.Confirm(ctx, home, second, password, "")
		e.must(err)
		_, err = e.Confirm(ctx, attacker, first, otherPassword, "")
		e.wantError(err, registrar.KindNotFound, account.LinkInvalid)
		sessions, err := e.Sessions(ctx, actorOf(in))
		e.must(err)
		if len(sessions) != 1 {
			t.Errorf("%d sessions are open after the confirmation", len(sessions))
		}
	})
}

func TestSweep_DeletesUnconfirmedAccountsAfterAWeek(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		e.newMember("keep@example.org")
		e.must(e.Register(ctx, home, email, "")) // its mail can't be delivered
		e.advanceClock(6 * 24 * time.Hour)
		e.must(e.Sweep(ctx))
		found, err := e.FindByEmail(ctx, operator, email)
		if err != nil {
			t.Errorf("deleted too early: %v", err)
		}
		// Nothing may be stored in it.
		e.wantError(e.SetPassword(ctx, operator, found.ID, password), registrar.KindNotFound, registrar.NoSuchCustomer)
		e.wantError(e.SetRegistrantFor(ctx, operator, found.ID, account.Registrant{}), registrar.KindNotFound, registrar.NoSuchCustomer)
		e.advanceClock(25 * time.Hour)
		e.must(e.Sweep(ctx))
		_, err = e.FindByEmail(ctx, operator, email)
		e.wantError(err, registrar.KindNotFound, registrar.NoSuchCustomer)
		if entries, err := e.db.ListAuditEvents(ctx, found.ID, "", 10); err != nil || len(entries) != 0 {
			t.Errorf("its audit log still exists: %v (%v)", entries, err)
		}
		if waiting := e.deliverMails(); len(waiting) != 0 {
			t.Errorf("its mail is still queued: %v", waiting)
		}
		if _, err := e.FindByEmail(ctx, operator, "keep@example.org"); err != nil {
			t.Error(err)
		}
	})
}

func TestSweep_DeletesAuditEventsWithoutAccountAfterAMonth(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		in := e.newMember(email)
		e.must(e.RequestPasswordReset(ctx, attacker, "nobody@example.org", ""))
		kept := func(customer string) int {
			e.must(e.Sweep(ctx))
			entries, err := e.db.ListAuditEvents(ctx, customer, "", 10)
			e.must(err)
			return len(entries)
		}
		own := kept(in.Visitor.Customer.ID)
		e.advanceClock(29 * 24 * time.Hour)
		if got := kept(""); got != 1 {
			t.Errorf("%d entries after four weeks, want 1", got)
		}
		e.advanceClock(2 * 24 * time.Hour)
		if got := kept(""); got != 0 {
			t.Errorf("%d entries after a month, want none", got)
		}
		if got := kept(in.Visitor.Customer.ID); got != own || own == 0 {
			t.Errorf("the customer's own audit has %d entries, want %d", got, own)
		}
	})
}

func TestDatabaseDump_HoldsNoSecretInClear(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		in := e.newMember(email)
		secrets := map[string]string{"password": password, "session": in.Secret, "device": in.Device}
		phone, recovery := e.enableSecondFactor(in)
		secrets["authenticator app"], secrets["recovery code"] = phone.secret, recovery[3]
		secrets["recovery code without hyphens"] = strings.ReplaceAll(recovery[3], "-", "")
		secrets["pending session"] = e.signIn(home, in.Device).Secret
		challenge, _, err := e.BeginPasskeySignIn(ctx, home, origin)
		e.must(err)
		secrets["ceremony"] = challenge
		e.must(e.RequestPasswordReset(ctx, home, email, ""))
		secrets["link"] = e.deliverOneMail(registrar.MailPasswordReset).link
		e.must(e.RequestPasswordReset(ctx, anonymousActor("192.0.2.8"), "bob@example.org", "")) // leaves a queued mail
		e.advanceClock(time.Minute)
		opened, err := e.EnterCode(ctx, home, secrets["pending session"], phone.code(e))
		e.must(err)
		secrets["session after the code"] = opened.Secret

		stolen := dump.Database(t, e.dsn)
		if !strings.Contains(stolen, email) || !strings.Contains(stolen, "$argon2id$") {
			t.Fatal("the dump is empty")
		}
		for name, secret := range secrets {
			if secret == "" {
				t.Errorf("the %s is empty, so it was not checked", name)
			}
			if strings.Contains(strings.ToLower(stolen), strings.ToLower(secret)) {
				t.Errorf("the database contains the %s", name)
			}
		}
	})
}

func TestAudit_FailedSignInsRecordedOncePerTenMinutes(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		in := e.newMember(email)
		count := func() (failed int) {
			e.must(e.Sweep(e.Context()))
			entries, err := e.ListAuditEvents(e.Context(), actorOf(in), "", 100)
			e.must(err)
			for _, entry := range entries {
				if entry.Action == account.ActionSignInFailed {
					failed++
					if entry.Actor.Address != attacker.Address || entry.Actor.Customer != "" {
						t.Errorf("the audit log names %+v", entry.Actor)
					}
				}
			}
			return failed
		}
		for range 5 {
			e.wantError(e.signInWithWrongPassword(attacker, ""), registrar.KindUnauthenticated, account.BadCredentials)
		}
		if got := count(); got != 1 {
			t.Errorf("five failures are recorded %d times", got)
		}
		e.advanceClock(10*time.Minute + time.Second)
		e.wantError(e.signInWithWrongPassword(attacker, ""), registrar.KindUnauthenticated, account.BadCredentials)
		if got := count(); got != 2 {
			t.Errorf("recorded %d times, want 2", got)
		}
	})
}

func TestSetRegistrant_StoresNormalizedData(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		actor := actorOf(e.newMember(email))
		if _, ok, err := e.Registrant(e.Context(), actor); ok || err != nil {
			t.Errorf("got a registrant before one was set: %v, %v", ok, err)
		}
		given := account.Registrant{
			Kind: account.Company, Name: " Ada  Lovelace ", Organisation: "Deich & Söhne GmbH", Street: "Am Sandtor 1",
			PostalCode: "D-20457", City: "Hamburg", Country: "de", Phone: "040 / 123 456-78", VATID: "de 136 695 976",
		}
		e.must(e.SetRegistrant(e.Context(), actor, given))
		given.City = "Altona"
		e.must(e.SetRegistrant(e.Context(), actor, given))
		got, ok, err := e.Registrant(e.Context(), actor)
		e.must(err)
		want := account.Registrant{
			Kind: account.Company, Name: "Ada Lovelace", Organisation: "Deich & Söhne GmbH", Street: "Am Sandtor 1",
			PostalCode: "20457", City: "Altona", Country: "DE", Phone: "+49.4012345678", VATID: "DE136695976", UpdatedAt: e.clock(),
		}
		if !ok || got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		e.must(e.SetLanguage(e.Context(), actor, "en"))
		e.wantError(e.SetLanguage(e.Context(), actor, "fr"), registrar.KindInvalid, account.LanguageUnknown)
	})
}
