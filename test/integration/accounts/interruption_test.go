package accounts

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/test/testkit/passkey"
)

// interruptedStore runs an event between the reads of a service and its change.
type interruptedStore struct {
	account.Store
	changes   atomic.Int32
	at        int32 // the number of the change before which it happens
	interrupt func()
}

func (s *interruptedStore) UpdateCustomers(ctx context.Context, change func(account.Tx) error) error {
	if s.changes.Add(1) == s.at {
		s.interrupt()
	}
	return s.Store.UpdateCustomers(ctx, change)
}

// interruptBefore returns a service that runs the event before its nth change.
func (e *env) interruptBefore(nth int32, event func()) *account.Service {
	e.Helper()
	cfg := e.cfg
	cfg.Store = &interruptedStore{Store: e.db, at: nth, interrupt: event}
	service, err := account.New(cfg)
	e.must(err)
	return service
}

func TestSignIn_AccountChangeDuringVerificationIsHonored(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		in, device := e.newMember(email), passkey.NewDevice(t, origin)
		e.addPasskey(in, device)
		passkeys, err := e.Passkeys(ctx, actorOf(in))
		e.must(err)
		right := account.Credentials{Email: email, Password: password, Device: in.Device}

		// Of the two changes of a sign-in by passkey, the second opens the session.
		challenge, options, err := e.BeginPasskeySignIn(ctx, home, origin)
		e.must(err)
		_, err = e.interruptBefore(2, func() { e.must(e.RemovePasskey(ctx, actorOf(in), passkeys[0].ID)) }).
			FinishPasskeySignIn(ctx, home, origin, challenge, device.Get(options), userAgent)
		e.wantError(err, registrar.KindUnauthenticated, account.PasskeyRefused)

		_, err = e.interruptBefore(1, func() { e.must(e.ChangePassword(ctx, actorOf(in), password, otherPassword)) }).SignIn(ctx, home, right)
		e.wantError(err, registrar.KindUnauthenticated, account.BadCredentials)
		err = e.interruptBefore(1, func() { e.must(e.ChangePassword(ctx, actorOf(in), otherPassword, password)) }).
			ChangePassword(ctx, actorOf(in), otherPassword, "Drei Möwen auf dem Dach")
		e.wantError(err, registrar.KindInvalid, account.BadCredentials)

		_, err = e.interruptBefore(1, func() { e.must(e.Disable(ctx, operator, in.Visitor.Customer.ID)) }).SignIn(ctx, home, right)
		e.wantError(err, registrar.KindForbidden, account.AccountDisabled)
		e.must(e.Enable(ctx, operator, in.Visitor.Customer.ID))

		in = e.signIn(home, in.Device)
		opened, err := e.interruptBefore(1, func() { e.enableSecondFactor(in) }).SignIn(ctx, home, right)
		e.must(err)
		if !opened.NeedsCode || e.sessionValid(opened.Secret) {
			t.Error("a password alone opened a session after the second factor was enabled")
		}
		if sessions, err := e.Sessions(ctx, actorOf(in)); err != nil || len(sessions) != 1 {
			t.Errorf("%d sessions are open (%v), want the one", len(sessions), err)
		}
	})
}

func TestAddPasskey_TwentyFirstIsRefused(t *testing.T) {
	onSQLite(t, func(e *env) {
		in := e.newMember(email)
		for range 19 {
			e.addPasskey(in, passkey.NewDevice(t, origin))
		}
		challenge, options, err := e.BeginAddPasskey(e.Context(), actorOf(in), origin)
		e.must(err)
		e.addPasskey(in, passkey.NewDevice(t, origin)) // the twentieth, while another one is pending
		e.wantError(e.FinishAddPasskey(e.Context(), actorOf(in), origin, challenge, "x", passkey.NewDevice(t, origin).Create(options)),
			registrar.KindConflict, account.PasskeysTooMany)
		_, _, err = e.BeginAddPasskey(e.Context(), actorOf(in), origin)
		e.wantError(err, registrar.KindConflict, account.PasskeysTooMany)
	})
}

func TestFinishAddPasskey_OtherSessionIsRefused(t *testing.T) {
	onSQLite(t, func(e *env) {
		first := e.newMember(email)
		second := e.signIn(home, first.Device)
		challenge, options, err := e.BeginAddPasskey(e.Context(), actorOf(first), origin)
		e.must(err)
		e.wantError(e.FinishAddPasskey(e.Context(), actorOf(second), origin, challenge, "x", passkey.NewDevice(t, origin).Create(options)),
			registrar.KindInvalid, account.PasskeyRefused)
	})
}

func TestReset_ForgetsKnownDevicesAndOperatorPasswordEndsSessions(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		in := e.newMember(email)
		e.must(e.RequestPasswordReset(ctx, home, email, ""))
		e.must(e.ResetPassword(ctx, home, e.deliverOneMail(registrar.MailPasswordReset).link, otherPassword))
		if _, known, err := e.db.ReadCustomers().DeviceOwner(ctx, deviceHash(t, in.Device), e.clock()); known || err != nil {
			t.Errorf("a device of the old password is known: %v (%v)", known, err)
		}
		opened, err := e.SignIn(ctx, home, account.Credentials{Email: email, Password: otherPassword})
		e.must(err)
		if _, known, err := e.db.ReadCustomers().DeviceOwner(ctx, deviceHash(t, opened.Device), e.clock()); !known || err != nil {
			t.Errorf("the new device is not known (%v)", err)
		}
		e.must(e.SetPassword(ctx, operator, opened.Visitor.Customer.ID, password))
		if e.sessionValid(opened.Secret) {
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

func TestChangeEmail_NewerRequestOrDisabledAccountVoidsLink(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		in := e.newMember(email)
		ask := func(address string) {
			t.Helper()
			e.must(e.RequestEmailChange(ctx, actorOf(in), address))
		}
		ask("one@example.org")
		first := e.deliverOneMail(registrar.MailChangeEmail).link
		ask("two@example.org")
		e.wantError(e.ConfirmEmailChange(ctx, actorOf(in), first), registrar.KindNotFound, account.LinkInvalid)
		second := e.deliverOneMail(registrar.MailChangeEmail).link
		e.must(e.Disable(ctx, operator, in.Visitor.Customer.ID))
		e.wantError(e.ConfirmEmailChange(ctx, actorOf(in), second), registrar.KindUnauthenticated, registrar.SignInFirst)
	})
}
