package accounts

import (
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/test/testkit/passkey"
)

func TestSignIn_ChangesSessionID(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		first := e.newMember(email)
		second := e.signIn(home, first.Device)
		again, err := e.SignInAgain(e.Context(), home, second.Secret, account.ReauthCredentials{Password: password, Device: first.Device})
		e.must(err)
		seen := map[string]bool{}
		for _, in := range []account.SignInResult{first, second, again} {
			if seen[in.Secret] || seen[in.Visitor.Session.ID] {
				t.Error("a session id or secret was used twice")
			}
			seen[in.Secret], seen[in.Visitor.Session.ID] = true, true
		}
		if e.sessionValid(second.Secret) {
			t.Error("the session before signing in again is still valid")
		}
		if !e.sessionValid(again.Secret) || !e.sessionValid(first.Secret) {
			t.Error("an unrelated session ended")
		}
	})
}

func TestSessions_EndAtSignOutPasswordChangeAndDisable(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		first := e.newMember(email)
		second, third := e.signIn(home, first.Device), e.signIn(home, first.Device)

		e.must(e.SignOut(e.Context(), home, second.Secret))
		if e.sessionValid(second.Secret) || !e.sessionValid(third.Secret) {
			t.Error("sign-out must end its own session only")
		}
		e.must(e.ChangePassword(e.Context(), actorOf(first), password, otherPassword))
		if e.sessionValid(third.Secret) || !e.sessionValid(first.Secret) {
			t.Error("a password change must end all other sessions")
		}
		e.must(e.ChangePassword(e.Context(), actorOf(first), otherPassword, password))

		fourth := e.signIn(home, first.Device)
		e.must(e.EndSession(e.Context(), actorOf(first), fourth.Visitor.Session.ID))
		if e.sessionValid(fourth.Secret) {
			t.Error("a session that was ended is still valid")
		}
		fifth := e.signIn(home, first.Device)
		e.must(e.SignOutEverywhere(e.Context(), actorOf(first)))
		if e.sessionValid(fifth.Secret) || e.sessionValid(first.Secret) {
			t.Error("a session survived signing out everywhere")
		}

		sixth := e.signIn(home, first.Device)
		e.must(e.Disable(e.Context(), operator, sixth.Visitor.Customer.ID))
		if e.sessionValid(sixth.Secret) {
			t.Error("the session of a disabled account is still valid")
		}
		_, err := e.SignIn(e.Context(), home, account.Credentials{Email: email, Password: password})
		e.wantError(err, registrar.KindForbidden, account.AccountDisabled)
		e.wantError(e.signInWithWrongPassword(home, ""), registrar.KindUnauthenticated, account.BadCredentials)
		e.must(e.Enable(e.Context(), operator, sixth.Visitor.Customer.ID))
		if e.sessionValid(sixth.Secret) {
			t.Error("an ended session became valid again")
		}
		if !e.sessionValid(e.signIn(home, "").Secret) {
			t.Error("an account that was enabled again can't be used")
		}
		for _, action := range []registrar.Action{
			account.ActionSignedIn, account.ActionSignedOut, account.ActionPasswordChanged, account.ActionSessionEnded,
			account.ActionSignedOutEverywhere, account.ActionDisabled, account.ActionEnabled,
		} {
			if !e.hasAuditEvent(sixth, action) {
				t.Errorf("the audit log has no %s", action)
			}
		}
	})
}

func TestChangePassword_ConcurrentSignInsWithOldPasswordEnd(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ada := e.newMember(email)
		e.reconfigure(func(cfg *account.Config) { cfg.Hashes = 4 })
		current, next := password, otherPassword
		for range 8 {
			opened := make([]account.SignInResult, 3) // with the change, the maximum per address
			var all sync.WaitGroup
			for i := range opened {
				all.Go(func() {
					// It may be refused, but it must not survive.
					opened[i], _ = e.SignIn(e.Context(), home, account.Credentials{Email: email, Password: current, Device: ada.Device})
				})
			}
			all.Go(func() {
				if err := e.ChangePassword(e.Context(), actorOf(ada), current, next); err != nil {
					t.Error(err)
				}
			})
			all.Wait()
			for _, in := range opened {
				if in.Secret != "" && e.sessionValid(in.Secret) {
					t.Fatal("a session of the old password is valid after the change")
				}
			}
			current, next = next, current
			e.advanceClock(time.Minute)
			var err error
			ada, err = e.SignIn(e.Context(), home, account.Credentials{Email: email, Password: current})
			e.must(err)
		}
	})
}

func TestReset_EndsSessionsAndKeepsSecondFactor(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		in := e.newMember(email)
		e.enableSecondFactor(in)
		e.deliverMails()
		e.must(e.RequestPasswordReset(e.Context(), home, email, "de"))
		e.must(e.ResetPassword(e.Context(), home, e.deliverOneMail(registrar.MailPasswordReset).link, otherPassword))
		if e.sessionValid(in.Secret) {
			t.Error("a session survived the reset")
		}
		if m := e.deliverOneMail(registrar.MailPasswordChanged); m.facts["change"] != "changed" {
			t.Errorf("the mail is about %v", m.facts)
		}
		_, err := e.SignIn(e.Context(), home, account.Credentials{Email: email, Password: password})
		e.wantError(err, registrar.KindUnauthenticated, account.BadCredentials)
		again, err := e.SignIn(e.Context(), home, account.Credentials{Email: email, Password: otherPassword})
		e.must(err)
		if !again.NeedsCode || e.sessionValid(again.Secret) {
			t.Error("a mailbox alone opened an account that has a second factor")
		}
	})
}

func TestSessions_ExpireWhenIdleAndAtMaximumAge(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		in := e.newMember(email)
		idle := e.signIn(home, in.Device)
		for range 8 { // used every ten days
			e.advanceClock(10 * 24 * time.Hour)
			if !e.sessionValid(in.Secret) {
				t.Fatal("a session in use ended before its absolute timeout")
			}
		}
		if e.sessionValid(idle.Secret) {
			t.Error("a session unused for weeks is still valid")
		}
		e.advanceClock(10*24*time.Hour + time.Second)
		if e.sessionValid(in.Secret) {
			t.Error("a session outlived 90 days")
		}
		e.must(e.Sweep(e.Context()))
		list, err := e.Sessions(e.Context(), actorOf(e.signIn(home, "")))
		e.must(err)
		if len(list) != 1 {
			t.Errorf("got %d sessions, want the new one", len(list))
		}
	})
}

func TestSensitiveChanges_NeedRecentSignIn(t *testing.T) {
	onSQLite(t, func(e *env) {
		in := e.newMember(email)
		e.advanceClock(registrar.RecentSignIn + time.Second)
		actor, ctx := actorOf(in), e.Context()
		second := func(_ any, err error) error { return err }
		third := func(_, _ any, err error) error { return err }
		for name, try := range map[string]func(registrar.Actor) error{
			"password":        func(a registrar.Actor) error { return e.ChangePassword(ctx, a, password, otherPassword) },
			"e-mail":          func(a registrar.Actor) error { return e.RequestEmailChange(ctx, a, "new@example.org") },
			"begin factor":    func(a registrar.Actor) error { return third(e.BeginSecondFactor(ctx, a)) },
			"finish factor":   func(a registrar.Actor) error { return second(e.FinishSecondFactor(ctx, a, "123456")) },
			"drop factor":     func(a registrar.Actor) error { return e.DisableSecondFactor(ctx, a) },
			"recovery codes":  func(a registrar.Actor) error { return second(e.ReplaceRecoveryCodes(ctx, a)) },
			"begin passkey":   func(a registrar.Actor) error { return third(e.BeginAddPasskey(ctx, a, origin)) },
			"finish passkey":  func(a registrar.Actor) error { return e.FinishAddPasskey(ctx, a, origin, "", "x", nil) },
			"removed passkey": func(a registrar.Actor) error { return e.RemovePasskey(ctx, a, "pk_1") },
		} {
			err := try(actor)
			if registrar.KindOf(err) != registrar.KindUnauthenticated || registrar.CodeOf(err) != registrar.SignInAgain {
				t.Errorf("%s after ten minutes: got %v, want SignInAgain", name, err)
			}
			token := registrar.Actor{Kind: registrar.ActorToken, Customer: actor.Customer, SignedInAt: e.clock()}
			if registrar.KindOf(try(token)) != registrar.KindForbidden {
				t.Errorf("%s: a token may do it", name)
			}
		}
		again, err := e.SignInAgain(ctx, home, in.Secret, account.ReauthCredentials{Password: password})
		e.must(err)
		e.must(e.ChangePassword(ctx, actorOf(again), password, otherPassword))
	})
}

func TestForeignObjects_AreNotFound(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ada, bob := e.newMember(email), e.newMember("bob@example.org")
		device := passkey.NewDevice(t, origin)
		e.addPasskey(ada, device)
		passkeys, err := e.Passkeys(e.Context(), actorOf(ada))
		e.must(err)
		e.wantError(e.EndSession(e.Context(), actorOf(bob), ada.Visitor.Session.ID), registrar.KindNotFound, account.NoSuchObject)
		e.wantError(e.RemovePasskey(e.Context(), actorOf(bob), passkeys[0].ID), registrar.KindNotFound, account.NoSuchObject)
		for _, nonsense := range []string{"", "x", "ses_\x00", "ses_\xff"} { // PostgreSQL rejects such text
			e.wantError(e.EndSession(e.Context(), actorOf(bob), nonsense), registrar.KindNotFound, account.NoSuchObject)
			e.wantError(e.RemovePasskey(e.Context(), actorOf(bob), nonsense), registrar.KindNotFound, account.NoSuchObject)
			if _, err := e.ListAuditEvents(e.Context(), actorOf(bob), nonsense, 10); err != nil {
				t.Errorf("a page of the audit before %q: %v", nonsense, err)
			}
		}
		if list, err := e.Passkeys(e.Context(), actorOf(bob)); err != nil || len(list) != 0 {
			t.Errorf("bob sees %v (%v)", list, err)
		}
		entries, err := e.ListAuditEvents(e.Context(), actorOf(bob), "", 100)
		e.must(err)
		for _, entry := range entries {
			if entry.Customer != bob.Visitor.Customer.ID {
				t.Error("bob reads another account's audit log")
			}
		}
		if !e.sessionValid(ada.Secret) {
			t.Error("bob ended ada's session")
		}
		for name, err := range map[string]error{
			"Disable":     e.Disable(e.Context(), actorOf(bob), ada.Visitor.Customer.ID),
			"Enable":      e.Enable(e.Context(), actorOf(bob), ada.Visitor.Customer.ID),
			"SetPassword": e.SetPassword(e.Context(), actorOf(bob), ada.Visitor.Customer.ID, otherPassword),
		} {
			if registrar.KindOf(err) != registrar.KindForbidden {
				t.Errorf("%s by a customer: got %v", name, err)
			}
		}
	})
}
