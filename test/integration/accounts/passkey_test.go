package accounts

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/test/testkit/passkey"
)

func TestPasskey_RegistersAndSignsInWithoutPassword(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		e.must(e.Register(ctx, home, email, ""))
		in, err := e.Confirm(ctx, home, e.deliverOneMail(registrar.MailConfirm).link, "", userAgent)
		e.must(err)
		if in.Visitor.Customer.HasPassword || !e.sessionValid(in.Secret) {
			t.Fatalf("confirming without a password: %+v", in.Visitor)
		}
		device := passkey.NewDevice(t, origin)
		e.addPasskey(in, device)
		if m := e.deliverOneMail(registrar.MailPasskey); m.facts["change"] != "added" || m.facts["name"] != "Laptop" {
			t.Errorf("the mail has %v", m.facts)
		}
		e.must(e.SignOut(ctx, home, in.Secret))

		again, err := e.passkeySignIn(device)
		e.must(err)
		if again.Visitor.Customer.Email != email || again.NeedsCode || !e.sessionValid(again.Secret) {
			t.Errorf("got %+v", again)
		}
		passkeys, err := e.Passkeys(ctx, actorOf(again))
		e.must(err)
		if len(passkeys) != 1 || !passkeys[0].LastUsedAt.Equal(e.clock()) {
			t.Errorf("got %+v", passkeys)
		}
		e.wantError(e.RemovePasskey(ctx, actorOf(again), passkeys[0].ID), registrar.KindConflict, account.LastWayIn)
		_, err = e.SignIn(ctx, home, account.Credentials{Email: email})
		e.wantError(err, registrar.KindUnauthenticated, account.BadCredentials)

		e.deliverMails()
		e.must(e.ChangePassword(ctx, actorOf(again), "", password))
		if m := e.deliverOneMail(registrar.MailPasswordChanged); m.facts["change"] != "set" {
			t.Errorf("the mail about the first password is about %v", m.facts)
		}
		if !e.hasAuditEvent(again, account.ActionPasswordChosen) || e.hasAuditEvent(again, account.ActionPasswordChanged) {
			t.Error("the first password is audited as a changed one")
		}
		e.must(e.RemovePasskey(ctx, actorOf(again), passkeys[0].ID))
		_, err = e.passkeySignIn(device)
		e.wantError(err, registrar.KindUnauthenticated, account.PasskeyRefused)
	})
}

func TestPasskey_CountsAsBothFactorsAndRenewsSession(t *testing.T) {
	onSQLite(t, func(e *env) {
		in := e.newMember(email)
		device := passkey.NewDevice(t, origin)
		e.addPasskey(in, device)
		e.enableSecondFactor(in)
		opened, err := e.passkeySignIn(device)
		e.must(err)
		if opened.NeedsCode {
			t.Error("a passkey sign-in requires a code")
		}
		e.advanceClock(time.Hour)
		challenge, options, err := e.BeginPasskeySignIn(e.Context(), home, origin)
		e.must(err)
		again, err := e.FinishPasskeySignInAgain(e.Context(), home, origin, opened.Secret, challenge, device.Get(options))
		e.must(err)
		if e.sessionValid(opened.Secret) || actorOf(again).RequireRecentSignIn(e.clock()) != nil {
			t.Error("the session was not renewed")
		}
		// Another person's passkey does not reauthenticate this session.
		bob, stranger := e.newMember("bob@example.org"), passkey.NewDevice(t, origin)
		e.addPasskey(bob, stranger)
		challenge, options, err = e.BeginPasskeySignIn(e.Context(), home, origin)
		e.must(err)
		_, err = e.FinishPasskeySignInAgain(e.Context(), home, origin, again.Secret, challenge, stranger.Get(options))
		e.wantError(err, registrar.KindUnauthenticated, account.PasskeyRefused)
	})
}

func TestPasskeyChallenge_WorksOnceAndExpires(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		in, device := e.newMember(email), passkey.NewDevice(t, origin)
		e.addPasskey(in, device)
		challenge, options, err := e.BeginPasskeySignIn(ctx, home, origin)
		e.must(err)
		answer := device.Get(options)
		_, err = e.FinishPasskeySignIn(ctx, home, origin, challenge, answer, "")
		e.must(err)
		_, err = e.FinishPasskeySignIn(ctx, home, origin, challenge, answer, "")
		e.wantError(err, registrar.KindUnauthenticated, account.PasskeyRefused)

		challenge, options, err = e.BeginPasskeySignIn(ctx, home, origin)
		e.must(err)
		e.advanceClock(5*time.Minute + time.Second)
		_, err = e.FinishPasskeySignIn(ctx, home, origin, challenge, device.Get(options), "")
		e.wantError(err, registrar.KindUnauthenticated, account.PasskeyRefused)

		first, _, err := e.BeginPasskeySignIn(ctx, home, origin)
		e.must(err)
		_, options, err = e.BeginPasskeySignIn(ctx, home, origin)
		e.must(err)
		_, err = e.FinishPasskeySignIn(ctx, home, origin, first, device.Get(options), "") // the response to another challenge
		e.wantError(err, registrar.KindUnauthenticated, account.PasskeyRefused)
	})
}

func TestPasskeySignIn_NeedsOriginAndUserVerification(t *testing.T) {
	onSQLite(t, func(e *env) {
		in, device := e.newMember(email), passkey.NewDevice(t, origin)
		e.addPasskey(in, device)
		_, _, err := e.BeginPasskeySignIn(e.Context(), home, "https://evil.example")
		e.wantError(err, registrar.KindInvalid, account.OriginUnknown)

		device.Origin = "https://kontor.example.evil.example"
		_, err = e.passkeySignIn(device)
		e.wantError(err, registrar.KindUnauthenticated, account.PasskeyRefused)
		device.Origin, device.Unverified = origin, true
		_, err = e.passkeySignIn(device)
		e.wantError(err, registrar.KindUnauthenticated, account.PasskeyRefused)
		device.Unverified = false
		forged := passkey.NewDevice(t, origin) // knows everything public
		forged.ID, forged.Handle = device.ID, device.Handle
		_, err = e.passkeySignIn(forged)
		e.wantError(err, registrar.KindUnauthenticated, account.PasskeyRefused)
		_, err = e.passkeySignIn(device)
		e.must(err)
		e.must(e.Disable(e.Context(), operator, in.Visitor.Customer.ID))
		_, err = e.passkeySignIn(device)
		e.wantError(err, registrar.KindForbidden, account.AccountDisabled)
	})
}

func TestPasskeySignIn_DecreasingCounterIsRefusedAndAudited(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		in, device := e.newMember(email), passkey.NewDevice(t, origin)
		device.Counter = 10
		e.addPasskey(in, device)
		device.Counter = 12
		_, err := e.passkeySignIn(device)
		e.must(err)
		device.Counter = 11 // a cloned device
		_, err = e.passkeySignIn(device)
		e.wantError(err, registrar.KindUnauthenticated, account.PasskeyRefused)
		if !e.hasAuditEvent(in, account.ActionPasskeyCloned) {
			t.Error("the audit log does not record the clone")
		}
	})
}

func TestAddPasskey_PasskeyOfAnotherAccountIsRefused(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ada, bob, device := e.newMember(email), e.newMember("bob@example.org"), passkey.NewDevice(t, origin)
		e.addPasskey(ada, device)
		challenge, options, err := e.BeginAddPasskey(e.Context(), actorOf(bob), origin)
		e.must(err)
		// A challenge of one account is not valid for another one.
		e.wantError(e.FinishAddPasskey(e.Context(), actorOf(ada), origin, challenge, "x", device.Create(options)),
			registrar.KindInvalid, account.PasskeyRefused)
		challenge, options, err = e.BeginAddPasskey(e.Context(), actorOf(bob), origin)
		e.must(err)
		e.wantError(e.FinishAddPasskey(e.Context(), actorOf(bob), origin, challenge, "x", device.Create(options)),
			registrar.KindConflict, account.PasskeyTaken)
	})
}
