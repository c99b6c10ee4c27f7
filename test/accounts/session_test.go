package accounts

import (
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
)

func TestSessionIDChangesAtSignIn(t *testing.T) {
	eachEngine(t, func(w *world) {
		first := w.member(email)
		second := w.signIn(home, first.Device)
		again, err := w.SignInAgain(w.Context(), home, second.Secret, customer.Proof{Password: password, Device: first.Device})
		w.must(err)
		seen := map[string]bool{}
		for _, in := range []customer.SignedIn{first, second, again} {
			if seen[in.Secret] || seen[in.Visitor.Session.ID] {
				t.Error("a session id or secret was used twice")
			}
			seen[in.Secret], seen[in.Visitor.Session.ID] = true, true
		}
		if w.alive(second.Secret) {
			t.Error("the session before signing in again is still good")
		}
		if !w.alive(again.Secret) || !w.alive(first.Secret) {
			t.Error("a session ended that should not have")
		}
	})
}

func TestSignOutPasswordChangeAndDisableKillSessions(t *testing.T) {
	eachEngine(t, func(w *world) {
		first := w.member(email)
		second, third := w.signIn(home, first.Device), w.signIn(home, first.Device)

		w.must(w.SignOut(w.Context(), home, second.Secret))
		if w.alive(second.Secret) || !w.alive(third.Secret) {
			t.Error("sign-out ends its own session and no other")
		}
		w.must(w.ChangePassword(w.Context(), actorOf(first), password, other))
		if w.alive(third.Secret) || !w.alive(first.Secret) {
			t.Error("a change of the password ends all sessions but the one that changed it")
		}
		w.must(w.ChangePassword(w.Context(), actorOf(first), other, password))

		fourth := w.signIn(home, first.Device)
		w.must(w.EndSession(w.Context(), actorOf(first), fourth.Visitor.Session.ID))
		if w.alive(fourth.Secret) {
			t.Error("a session that was ended is still good")
		}
		fifth := w.signIn(home, first.Device)
		w.must(w.SignOutEverywhere(w.Context(), actorOf(first)))
		if w.alive(fifth.Secret) || w.alive(first.Secret) {
			t.Error("signing out everywhere leaves no session")
		}

		sixth := w.signIn(home, first.Device)
		w.must(w.Disable(w.Context(), operator, sixth.Visitor.Customer.ID))
		if w.alive(sixth.Secret) {
			t.Error("the session of a disabled account is still good")
		}
		_, err := w.SignIn(w.Context(), home, customer.Credentials{Email: email, Password: password})
		w.refused(err, registrar.KindForbidden, customer.AccountDisabled)
		w.refused(w.guess(home, ""), registrar.KindUnauthenticated, customer.BadCredentials)
		w.must(w.Enable(w.Context(), operator, sixth.Visitor.Customer.ID))
		if w.alive(sixth.Secret) {
			t.Error("a session came back from the dead")
		}
		if !w.alive(w.signIn(home, "").Secret) {
			t.Error("an account that was enabled again can't be used")
		}
		for _, action := range []registrar.Action{
			customer.ActionSignedIn, customer.ActionSignedOut, customer.ActionPasswordChanged, customer.ActionSessionEnded,
			customer.ActionSignedOutEverywhere, customer.ActionDisabled, customer.ActionEnabled,
		} {
			if !w.told(sixth, action) {
				t.Errorf("the audit does not tell %s", action)
			}
		}
	})
}

func TestNoSessionOutlivesAPasswordChangeInARace(t *testing.T) {
	eachEngine(t, func(w *world) {
		ada := w.member(email)
		w.restart(func(cfg *customer.Config) { cfg.Hashes = 4 })
		current, next := password, other
		for range 8 {
			opened := make([]customer.SignedIn, 4)
			var all sync.WaitGroup
			for i := range opened {
				all.Go(func() {
					// It may be refused, but it must not survive.
					opened[i], _ = w.SignIn(w.Context(), home, customer.Credentials{Email: email, Password: current, Device: ada.Device})
				})
			}
			all.Go(func() {
				if err := w.ChangePassword(w.Context(), actorOf(ada), current, next); err != nil {
					t.Error(err)
				}
			})
			all.Wait()
			for _, in := range opened {
				if in.Secret != "" && w.alive(in.Secret) {
					t.Fatal("a session of the old password is good after the change")
				}
			}
			current, next = next, current
			w.pass(time.Minute)
			var err error
			ada, err = w.SignIn(w.Context(), home, customer.Credentials{Email: email, Password: current})
			w.must(err)
		}
	})
}

func TestResetEndsEverySessionAndKeepsTheSecondFactor(t *testing.T) {
	eachEngine(t, func(w *world) {
		in := w.member(email)
		w.secondFactor(in)
		w.mails()
		w.must(w.AskReset(w.Context(), home, email, "de"))
		w.must(w.Reset(w.Context(), home, w.mail(registrar.LetterReset).link, other))
		if w.alive(in.Secret) {
			t.Error("a session survived the reset")
		}
		w.mail(registrar.LetterPasswordChanged)
		_, err := w.SignIn(w.Context(), home, customer.Credentials{Email: email, Password: password})
		w.refused(err, registrar.KindUnauthenticated, customer.BadCredentials)
		again, err := w.SignIn(w.Context(), home, customer.Credentials{Email: email, Password: other})
		w.must(err)
		if !again.NeedsCode || w.alive(again.Secret) {
			t.Error("a mailbox alone opened an account that has a second factor")
		}
	})
}

func TestSessionsEndWhenIdleAndAfterTheirWholeLife(t *testing.T) {
	eachEngine(t, func(w *world) {
		in := w.member(email)
		idle := w.signIn(home, in.Device)
		for range 8 { // used every ten days
			w.pass(10 * 24 * time.Hour)
			if !w.alive(in.Secret) {
				t.Fatal("a session in use ended before its life was over")
			}
		}
		if w.alive(idle.Secret) {
			t.Error("a session that nobody used for weeks is still good")
		}
		w.pass(10*24*time.Hour + time.Second)
		if w.alive(in.Secret) {
			t.Error("a session outlived 90 days")
		}
		w.must(w.Sweep(w.Context()))
		list, err := w.Sessions(w.Context(), actorOf(w.signIn(home, "")))
		w.must(err)
		if len(list) != 1 {
			t.Errorf("got %d sessions, want the new one", len(list))
		}
	})
}

func TestWhatMattersWantsARecentSignIn(t *testing.T) {
	onSQLite(t, func(w *world) {
		in := w.member(email)
		w.pass(registrar.RecentSignIn + time.Second)
		actor, ctx := actorOf(in), w.Context()
		second := func(_ any, err error) error { return err }
		third := func(_, _ any, err error) error { return err }
		for name, try := range map[string]func(registrar.Actor) error{
			"password":        func(a registrar.Actor) error { return w.ChangePassword(ctx, a, password, other) },
			"e-mail":          func(a registrar.Actor) error { return w.ChangeEmail(ctx, a, "new@example.org") },
			"begin factor":    func(a registrar.Actor) error { return third(w.BeginSecondFactor(ctx, a)) },
			"finish factor":   func(a registrar.Actor) error { return second(w.FinishSecondFactor(ctx, a, "123456")) },
			"drop factor":     func(a registrar.Actor) error { return w.DropSecondFactor(ctx, a) },
			"recovery codes":  func(a registrar.Actor) error { return second(w.NewRecoveryCodes(ctx, a)) },
			"begin passkey":   func(a registrar.Actor) error { return third(w.BeginAddPasskey(ctx, a, origin)) },
			"finish passkey":  func(a registrar.Actor) error { return w.FinishAddPasskey(ctx, a, origin, "", "x", nil) },
			"removed passkey": func(a registrar.Actor) error { return w.RemovePasskey(ctx, a, "pk_1") },
		} {
			err := try(actor)
			if registrar.KindOf(err) != registrar.KindUnauthenticated || registrar.CodeOf(err) != registrar.SignInAgain {
				t.Errorf("%s after ten minutes: got %v, want that one signs in again", name, err)
			}
			token := registrar.Actor{Kind: registrar.ActorToken, Customer: actor.Customer, SignedInAt: w.clock()}
			if registrar.KindOf(try(token)) != registrar.KindForbidden {
				t.Errorf("%s: a token may do it", name)
			}
		}
		again, err := w.SignInAgain(ctx, home, in.Secret, customer.Proof{Password: password})
		w.must(err)
		w.must(w.ChangePassword(ctx, actorOf(again), password, other))
	})
}

func TestForeignObjectsAreNotFound(t *testing.T) {
	eachEngine(t, func(w *world) {
		ada, bob := w.member(email), w.member("bob@example.org")
		device := newAuthenticator(t)
		w.addPasskey(ada, device)
		passkeys, err := w.Passkeys(w.Context(), actorOf(ada))
		w.must(err)
		w.refused(w.EndSession(w.Context(), actorOf(bob), ada.Visitor.Session.ID), registrar.KindNotFound, customer.NoSuchObject)
		w.refused(w.RemovePasskey(w.Context(), actorOf(bob), passkeys[0].ID), registrar.KindNotFound, customer.NoSuchObject)
		for _, nonsense := range []string{"", "x", "ses_\x00", "ses_\xff"} { // PostgreSQL knows no such texts
			w.refused(w.EndSession(w.Context(), actorOf(bob), nonsense), registrar.KindNotFound, customer.NoSuchObject)
			w.refused(w.RemovePasskey(w.Context(), actorOf(bob), nonsense), registrar.KindNotFound, customer.NoSuchObject)
			if _, err := w.Deeds(w.Context(), actorOf(bob), nonsense, 10); err != nil {
				t.Errorf("a page of the audit before %q: %v", nonsense, err)
			}
		}
		if list, err := w.Passkeys(w.Context(), actorOf(bob)); err != nil || len(list) != 0 {
			t.Errorf("bob sees %v (%v)", list, err)
		}
		entries, err := w.Deeds(w.Context(), actorOf(bob), "", 100)
		w.must(err)
		for _, entry := range entries {
			if entry.Customer != bob.Visitor.Customer.ID {
				t.Error("bob reads what was done to another account")
			}
		}
		if !w.alive(ada.Secret) {
			t.Error("bob ended ada's session")
		}
		for name, err := range map[string]error{
			"Disable":     w.Disable(w.Context(), actorOf(bob), ada.Visitor.Customer.ID),
			"Enable":      w.Enable(w.Context(), actorOf(bob), ada.Visitor.Customer.ID),
			"SetPassword": w.SetPassword(w.Context(), actorOf(bob), ada.Visitor.Customer.ID, other),
		} {
			if registrar.KindOf(err) != registrar.KindForbidden {
				t.Errorf("%s by a customer: got %v", name, err)
			}
		}
	})
}
