package accounts

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
)

// interrupted is a store in which something happens between what a service has
// looked at and what it then changes.
type interrupted struct {
	customer.Store
	changes atomic.Int32
	at      int32 // the number of the change before which it happens
	event   func()
}

func (s *interrupted) ChangeCustomers(ctx context.Context, change func(customer.Tx) error) error {
	if s.changes.Add(1) == s.at {
		s.event()
	}
	return s.Store.ChangeCustomers(ctx, change)
}

// meanwhile returns a service before whose nth change the event happens.
func (w *world) meanwhile(nth int32, event func()) *customer.Service {
	w.Helper()
	cfg := w.cfg
	cfg.Store = &interrupted{Store: w.db, at: nth, event: event}
	service, err := customer.New(cfg)
	w.must(err)
	return service
}

func TestWhatHappensBetweenTheProofAndTheSessionCounts(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		in, device := w.member(email), newAuthenticator(t)
		w.addPasskey(in, device)
		passkeys, err := w.Passkeys(ctx, actorOf(in))
		w.must(err)
		right := customer.Credentials{Email: email, Password: password, Device: in.Device}

		// Of the two changes of a sign-in by passkey, the second opens the session.
		ceremony, options, err := w.BeginPasskeySignIn(ctx, home, origin)
		w.must(err)
		_, err = w.meanwhile(2, func() { w.must(w.RemovePasskey(ctx, actorOf(in), passkeys[0].ID)) }).
			FinishPasskeySignIn(ctx, home, origin, ceremony, device.get(options), browser)
		w.refused(err, registrar.KindUnauthenticated, customer.PasskeyRefused)

		_, err = w.meanwhile(1, func() { w.must(w.ChangePassword(ctx, actorOf(in), password, other)) }).SignIn(ctx, home, right)
		w.refused(err, registrar.KindUnauthenticated, customer.BadCredentials)
		err = w.meanwhile(1, func() { w.must(w.ChangePassword(ctx, actorOf(in), other, password)) }).
			ChangePassword(ctx, actorOf(in), other, "Drei Möwen auf dem Dach")
		w.refused(err, registrar.KindInvalid, customer.BadCredentials)

		_, err = w.meanwhile(1, func() { w.must(w.Disable(ctx, operator, in.Visitor.Customer.ID)) }).SignIn(ctx, home, right)
		w.refused(err, registrar.KindForbidden, customer.AccountDisabled)
		w.must(w.Enable(ctx, operator, in.Visitor.Customer.ID))

		in = w.signIn(home, in.Device)
		opened, err := w.meanwhile(1, func() { w.secondFactor(in) }).SignIn(ctx, home, right)
		w.must(err)
		if !opened.NeedsCode || w.alive(opened.Secret) {
			t.Error("a password alone opened a session, though the second factor was on by then")
		}
		if sessions, err := w.Sessions(ctx, actorOf(in)); err != nil || len(sessions) != 1 {
			t.Errorf("%d sessions are open (%v), want the one", len(sessions), err)
		}
	})
}

func TestAnAccountHasAtMostTwentyPasskeys(t *testing.T) {
	onSQLite(t, func(w *world) {
		in := w.member(email)
		for range 19 {
			w.addPasskey(in, newAuthenticator(t))
		}
		ceremony, options, err := w.BeginAddPasskey(w.Context(), actorOf(in), origin)
		w.must(err)
		w.addPasskey(in, newAuthenticator(t)) // the twentieth, while another one was asked for
		w.refused(w.FinishAddPasskey(w.Context(), actorOf(in), origin, ceremony, "x", newAuthenticator(t).create(options)),
			registrar.KindConflict, customer.PasskeysTooMany)
		_, _, err = w.BeginAddPasskey(w.Context(), actorOf(in), origin)
		w.refused(err, registrar.KindConflict, customer.PasskeysTooMany)
	})
}

func TestAPasskeyIsAddedByTheSessionThatAskedForIt(t *testing.T) {
	onSQLite(t, func(w *world) {
		first := w.member(email)
		second := w.signIn(home, first.Device)
		ceremony, options, err := w.BeginAddPasskey(w.Context(), actorOf(first), origin)
		w.must(err)
		w.refused(w.FinishAddPasskey(w.Context(), actorOf(second), origin, ceremony, "x", newAuthenticator(t).create(options)),
			registrar.KindInvalid, customer.PasskeyRefused)
	})
}

func TestAResetForgetsKnownDevicesAndAnOperatorsPasswordEndsSessions(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		in := w.member(email)
		w.must(w.AskReset(ctx, home, email, ""))
		w.must(w.Reset(ctx, home, w.mail(registrar.LetterReset).link, other))
		if _, known, err := w.db.ReadCustomers().DeviceOwner(ctx, deviceHash(t, in.Device), w.clock()); known || err != nil {
			t.Errorf("a device of the old password is known: %v (%v)", known, err)
		}
		opened, err := w.SignIn(ctx, home, customer.Credentials{Email: email, Password: other})
		w.must(err)
		if _, known, err := w.db.ReadCustomers().DeviceOwner(ctx, deviceHash(t, opened.Device), w.clock()); !known || err != nil {
			t.Errorf("the new device is not known (%v)", err)
		}
		w.must(w.SetPassword(ctx, operator, opened.Visitor.Customer.ID, password))
		if w.alive(opened.Secret) {
			t.Error("a session survived")
		}
	})
}

func deviceHash(t *testing.T, cookie string) registrar.SecretHash {
	t.Helper()
	hash, ok := registrar.HashSecret(registrar.DeviceSecret, cookie)
	if !ok {
		t.Fatal("there is no device cookie")
	}
	return hash
}

func TestAChangeOfAddressIsVoidOnceAnotherIsAskedForOrTheAccountIsClosed(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		in := w.member(email)
		ask := func(address string) {
			t.Helper()
			w.must(w.ChangeEmail(ctx, actorOf(in), address))
		}
		ask("one@example.org")
		first := w.mail(registrar.LetterChangeEmail).link
		ask("two@example.org")
		w.refused(w.ConfirmEmail(ctx, actorOf(in), first), registrar.KindNotFound, customer.LinkInvalid)
		second := w.mail(registrar.LetterChangeEmail).link
		w.must(w.Disable(ctx, operator, in.Visitor.Customer.ID))
		w.refused(w.ConfirmEmail(ctx, actorOf(in), second), registrar.KindUnauthenticated, customer.SignInFirst)
	})
}
