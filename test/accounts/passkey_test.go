package accounts

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
)

func TestAPersonRegistersAndSignsInByPasskeyAlone(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		w.must(w.Register(ctx, home, customer.Registration{Email: email}))
		in, err := w.Confirm(ctx, home, w.mail(registrar.LetterConfirm).link, customer.Confirmation{Agent: browser})
		w.must(err)
		if in.Visitor.Customer.HasPassword || !w.alive(in.Secret) {
			t.Fatalf("confirming without a password: %+v", in.Visitor)
		}
		device := newAuthenticator(t)
		w.addPasskey(in, device)
		if m := w.mail(registrar.LetterPasskey); m.fact["change"] != "added" || m.fact["name"] != "Laptop" {
			t.Errorf("the letter says %v", m.fact)
		}
		w.must(w.SignOut(ctx, home, in.Secret))

		again, err := w.passkeySignIn(device)
		w.must(err)
		if again.Visitor.Customer.Email != email || again.NeedsCode || !w.alive(again.Secret) {
			t.Errorf("got %+v", again)
		}
		passkeys, err := w.Passkeys(ctx, actorOf(again))
		w.must(err)
		if len(passkeys) != 1 || !passkeys[0].LastUsedAt.Equal(w.clock()) {
			t.Errorf("got %+v", passkeys)
		}
		w.refused(w.RemovePasskey(ctx, actorOf(again), passkeys[0].ID), registrar.KindConflict, customer.LastWayIn)
		_, err = w.SignIn(ctx, home, customer.Credentials{Email: email})
		w.refused(err, registrar.KindUnauthenticated, customer.BadCredentials)

		w.must(w.ChangePassword(ctx, actorOf(again), "", password))
		w.must(w.RemovePasskey(ctx, actorOf(again), passkeys[0].ID))
		_, err = w.passkeySignIn(device)
		w.refused(err, registrar.KindUnauthenticated, customer.PasskeyRefused)
	})
}

func TestAPasskeyIsBothFactorsAndRenewsASession(t *testing.T) {
	onSQLite(t, func(w *world) {
		in := w.member(email)
		device := newAuthenticator(t)
		w.addPasskey(in, device)
		w.secondFactor(in)
		opened, err := w.passkeySignIn(device)
		w.must(err)
		if opened.NeedsCode {
			t.Error("a passkey wants a code")
		}
		w.pass(time.Hour)
		ceremony, options, err := w.BeginPasskeySignIn(w.Context(), home, origin)
		w.must(err)
		again, err := w.FinishPasskeySignInAgain(w.Context(), home, origin, opened.Secret, ceremony, device.get(options))
		w.must(err)
		if w.alive(opened.Secret) || actorOf(again).RequireRecentSignIn(w.clock()) != nil {
			t.Error("the session was not renewed")
		}
		// Another person's passkey proves nothing about this session.
		bob, stranger := w.member("bob@example.org"), newAuthenticator(t)
		w.addPasskey(bob, stranger)
		ceremony, options, err = w.BeginPasskeySignIn(w.Context(), home, origin)
		w.must(err)
		_, err = w.FinishPasskeySignInAgain(w.Context(), home, origin, again.Secret, ceremony, stranger.get(options))
		w.refused(err, registrar.KindUnauthenticated, customer.PasskeyRefused)
	})
}

func TestAPasskeyCeremonyIsAnsweredOnceAndInTime(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		in, device := w.member(email), newAuthenticator(t)
		w.addPasskey(in, device)
		ceremony, options, err := w.BeginPasskeySignIn(ctx, home, origin)
		w.must(err)
		answer := device.get(options)
		_, err = w.FinishPasskeySignIn(ctx, home, origin, ceremony, answer, "")
		w.must(err)
		_, err = w.FinishPasskeySignIn(ctx, home, origin, ceremony, answer, "")
		w.refused(err, registrar.KindUnauthenticated, customer.PasskeyRefused)

		ceremony, options, err = w.BeginPasskeySignIn(ctx, home, origin)
		w.must(err)
		w.pass(5*time.Minute + time.Second)
		_, err = w.FinishPasskeySignIn(ctx, home, origin, ceremony, device.get(options), "")
		w.refused(err, registrar.KindUnauthenticated, customer.PasskeyRefused)

		first, _, err := w.BeginPasskeySignIn(ctx, home, origin)
		w.must(err)
		_, options, err = w.BeginPasskeySignIn(ctx, home, origin)
		w.must(err)
		_, err = w.FinishPasskeySignIn(ctx, home, origin, first, device.get(options), "") // the answer to another question
		w.refused(err, registrar.KindUnauthenticated, customer.PasskeyRefused)
	})
}

func TestAPasskeyProvesNothingFromAnotherPageOrWithoutTheLock(t *testing.T) {
	onSQLite(t, func(w *world) {
		in, device := w.member(email), newAuthenticator(t)
		w.addPasskey(in, device)
		_, _, err := w.BeginPasskeySignIn(w.Context(), home, "https://evil.example")
		w.refused(err, registrar.KindInvalid, customer.OriginUnknown)

		device.origin = "https://kontor.example.evil.example"
		_, err = w.passkeySignIn(device)
		w.refused(err, registrar.KindUnauthenticated, customer.PasskeyRefused)
		device.origin, device.unverified = "", true
		_, err = w.passkeySignIn(device)
		w.refused(err, registrar.KindUnauthenticated, customer.PasskeyRefused)
		device.unverified = false
		forged := newAuthenticator(t) // knows all that is public
		forged.id, forged.handle = device.id, device.handle
		_, err = w.passkeySignIn(forged)
		w.refused(err, registrar.KindUnauthenticated, customer.PasskeyRefused)
		_, err = w.passkeySignIn(device)
		w.must(err)
		w.must(w.Disable(w.Context(), operator, in.Visitor.Customer.ID))
		_, err = w.passkeySignIn(device)
		w.refused(err, registrar.KindForbidden, customer.AccountDisabled)
	})
}

func TestACounterThatGoesBackwardsIsRefusedAndTold(t *testing.T) {
	eachEngine(t, func(w *world) {
		in, device := w.member(email), newAuthenticator(t)
		device.counter = 10
		w.addPasskey(in, device)
		device.counter = 12
		_, err := w.passkeySignIn(device)
		w.must(err)
		device.counter = 11 // a copy of the device
		_, err = w.passkeySignIn(device)
		w.refused(err, registrar.KindUnauthenticated, customer.PasskeyRefused)
		if !w.told(in, customer.ActionPasskeyCloned) {
			t.Error("the audit does not tell of the copy")
		}
	})
}

func TestTwoAccountsCanNotShareAPasskey(t *testing.T) {
	eachEngine(t, func(w *world) {
		ada, bob, device := w.member(email), w.member("bob@example.org"), newAuthenticator(t)
		w.addPasskey(ada, device)
		ceremony, options, err := w.BeginAddPasskey(w.Context(), actorOf(bob), origin)
		w.must(err)
		// Nor does a ceremony of one account serve another one.
		w.refused(w.FinishAddPasskey(w.Context(), actorOf(ada), origin, ceremony, "x", device.create(options)),
			registrar.KindInvalid, customer.PasskeyRefused)
		ceremony, options, err = w.BeginAddPasskey(w.Context(), actorOf(bob), origin)
		w.must(err)
		w.refused(w.FinishAddPasskey(w.Context(), actorOf(bob), origin, ceremony, "x", device.create(options)),
			registrar.KindConflict, customer.PasskeyTaken)
	})
}
