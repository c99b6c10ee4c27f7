package accounts

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
)

// app is an authenticator app.
type app struct{ secret string }

func (a app) code(w *world) string {
	w.Helper()
	code, err := totp.GenerateCode(a.secret, w.clock())
	w.must(err)
	return code
}

// secondFactor switches it on, and lets the step pass that this used up.
func (w *world) secondFactor(in customer.SignedIn) (app, []string) {
	w.Helper()
	secret, uri, err := w.BeginSecondFactor(w.Context(), actorOf(in))
	w.must(err)
	if !strings.HasPrefix(uri, "otpauth://totp/dotkontor:") || !strings.Contains(uri, secret) {
		w.Errorf("the address is %q", uri)
	}
	again, _, err := w.BeginSecondFactor(w.Context(), actorOf(in))
	w.must(err)
	if again != secret {
		w.Error("a page that is loaded again shows another secret")
	}
	phone := app{secret}
	_, err = w.FinishSecondFactor(w.Context(), actorOf(in), "000000")
	if registrar.CodeOf(err) != customer.CodeWrong {
		w.Errorf("a wrong first code: %v", err)
	}
	recovery, err := w.FinishSecondFactor(w.Context(), actorOf(in), phone.code(w))
	w.must(err)
	w.pass(time.Minute)
	return phone, recovery
}

func TestTOTPStepIsSingleUse(t *testing.T) {
	eachEngine(t, func(w *world) {
		in := w.member(email)
		phone, _ := w.secondFactor(in)
		code := phone.code(w)
		// The same code in twelve browsers at once.
		pending := make([]string, 4)
		for i := range pending {
			pending[i] = w.signIn(home, in.Device).Secret
		}
		var opened atomic.Int32
		var all sync.WaitGroup
		for _, secret := range pending {
			all.Go(func() {
				if _, err := w.EnterCode(w.Context(), home, secret, code); err == nil {
					opened.Add(1)
				}
			})
		}
		all.Wait()
		if opened.Load() != 1 {
			t.Fatalf("one code opened %d sessions", opened.Load())
		}
		w.pass(30 * time.Second)
		before := phone.code(w)
		w.pass(30 * time.Second)
		_, err := w.EnterCode(w.Context(), home, w.signIn(home, in.Device).Secret, phone.code(w))
		w.must(err)
		_, err = w.EnterCode(w.Context(), home, w.signIn(home, in.Device).Secret, before) // an older step
		w.refused(err, registrar.KindUnauthenticated, customer.CodeWrong)
	})
}

func TestTheCodeOpensANewSessionAndThePendingOneIsGoodForNothingElse(t *testing.T) {
	eachEngine(t, func(w *world) {
		in := w.member(email)
		phone, _ := w.secondFactor(in)
		pending := w.signIn(home, in.Device)
		if !pending.NeedsCode || w.alive(pending.Secret) || pending.Device != "" {
			t.Fatalf("a password alone opened %+v", pending)
		}
		_, err := w.SignInAgain(w.Context(), home, pending.Secret, customer.Proof{Password: password})
		w.refused(err, registrar.KindUnauthenticated, customer.SignInFirst)
		opened, err := w.EnterCode(w.Context(), home, pending.Secret, phone.code(w))
		w.must(err)
		if opened.Secret == pending.Secret || !w.alive(opened.Secret) {
			t.Error("the code did not open a new session")
		}
		_, err = w.EnterCode(w.Context(), home, pending.Secret, phone.code(w))
		w.refused(err, registrar.KindUnauthenticated, customer.SignInFirst)
		// Signing in again wants both as well.
		w.pass(time.Minute)
		_, err = w.SignInAgain(w.Context(), home, opened.Secret, customer.Proof{Password: password})
		w.refused(err, registrar.KindUnauthenticated, customer.CodeWrong)
		_, err = w.SignInAgain(w.Context(), home, opened.Secret, customer.Proof{Password: password, Code: phone.code(w)})
		w.must(err)

		late := w.signIn(home, in.Device)
		w.pass(10*time.Minute + time.Second)
		_, err = w.EnterCode(w.Context(), home, late.Secret, phone.code(w))
		w.refused(err, registrar.KindUnauthenticated, customer.SignInFirst)
	})
}

func TestFiveWrongCodesEndThePendingSession(t *testing.T) {
	eachEngine(t, func(w *world) {
		in := w.member(email)
		phone, _ := w.secondFactor(in)
		pending := w.signIn(home, in.Device)
		for range 5 {
			_, err := w.EnterCode(w.Context(), home, pending.Secret, "000000")
			w.refused(err, registrar.KindUnauthenticated, customer.CodeWrong)
		}
		_, err := w.EnterCode(w.Context(), home, pending.Secret, phone.code(w))
		w.refused(err, registrar.KindUnauthenticated, customer.SignInFirst)
		if !w.told(in, customer.ActionSignInFailed) {
			t.Error("the audit does not tell of wrong codes")
		}
	})
}

func TestCodesPerAccountAreBoundedButNotForAKnownDevice(t *testing.T) {
	onSQLite(t, func(w *world) {
		in := w.member(email)
		phone, _ := w.secondFactor(in)
		var err error
		for range 3 { // somebody who knows the password
			pending := w.signIn(attacker, "")
			for range 4 {
				_, err = w.EnterCode(w.Context(), attacker, pending.Secret, "000000")
			}
		}
		w.refused(err, registrar.KindRateLimited, customer.TooManyAttempts)
		_, err = w.EnterCode(w.Context(), home, w.signIn(home, in.Device).Secret, phone.code(w))
		w.must(err)
	})
}

func TestTwoNewListsOfRecoveryCodesAtOnceLeaveOne(t *testing.T) {
	eachEngine(t, func(w *world) {
		in := w.member(email)
		w.secondFactor(in)
		for range 8 {
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					if _, err := w.NewRecoveryCodes(w.Context(), actorOf(in)); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if left, err := w.RecoveryCodesLeft(w.Context(), actorOf(in)); err != nil || left != 10 {
				t.Fatalf("%d codes are good (%v), want one list of 10", left, err)
			}
		}
	})
}

func TestWrongCodesAtSigningInAgainAreToldAndBounded(t *testing.T) {
	onSQLite(t, func(w *world) {
		in := w.member(email)
		w.secondFactor(in)
		_, err := w.SignInAgain(w.Context(), home, in.Secret, customer.Proof{Password: password, Code: "000000"})
		w.refused(err, registrar.KindUnauthenticated, customer.CodeWrong)
		if !w.told(in, customer.ActionSignInFailed) {
			t.Error("the audit does not tell of it")
		}
		for range 9 {
			_, err = w.SignInAgain(w.Context(), home, in.Secret, customer.Proof{Password: password, Code: "000000"})
			w.refused(err, registrar.KindUnauthenticated, customer.CodeWrong)
		}
		_, err = w.SignInAgain(w.Context(), home, in.Secret, customer.Proof{Password: password, Code: "000000"})
		w.refused(err, registrar.KindRateLimited, customer.TooManyAttempts)
	})
}

func TestPatienceDoesNotBuyCodesForWhoeverKnowsThePassword(t *testing.T) {
	onSQLite(t, func(w *world) {
		in := w.member(email)
		phone, _ := w.secondFactor(in)
		tried := 0
		for range 39 { // nearly ten hours
			pending := w.signIn(attacker, "")
			for range 5 {
				if _, err := w.EnterCode(w.Context(), attacker, pending.Secret, "000000"); registrar.CodeOf(err) == customer.CodeWrong {
					tried++
				}
			}
			w.pass(15 * time.Minute)
		}
		if tried != 25 {
			t.Errorf("%d codes were tried in ten hours, want 25", tried)
		}
		_, err := w.EnterCode(w.Context(), home, w.signIn(home, in.Device).Secret, phone.code(w))
		w.must(err)
	})
}

func TestWhoKnowsThePasswordAloneEndsNoSession(t *testing.T) {
	eachEngine(t, func(w *world) {
		in := w.member(email)
		w.secondFactor(in)
		for range 101 {
			w.signIn(attacker, "")
		}
		if !w.alive(in.Secret) {
			t.Error("sessions that wait for a code have ended an open one")
		}
	})
}

func TestRecoveryCodesAreSingleUseAndReplaced(t *testing.T) {
	eachEngine(t, func(w *world) {
		ctx := w.Context()
		in := w.member(email)
		_, recovery := w.secondFactor(in)
		w.mails()
		if len(recovery) != 10 {
			t.Fatalf("got %d recovery codes", len(recovery))
		}
		typed := " " + strings.ToUpper(strings.ReplaceAll(recovery[0], "-", " "))
		opened, err := w.EnterCode(ctx, home, w.signIn(home, in.Device).Secret, typed)
		w.must(err)
		if m := w.mail(registrar.LetterSecondFactor); m.fact["change"] != "used" {
			t.Errorf("the letter says %v", m.fact)
		}
		_, err = w.EnterCode(ctx, home, w.signIn(home, in.Device).Secret, recovery[0])
		w.refused(err, registrar.KindUnauthenticated, customer.CodeWrong)
		if left, err := w.RecoveryCodesLeft(ctx, actorOf(opened)); err != nil || left != 9 {
			t.Errorf("%d codes are left (%v)", left, err)
		}
		renewed, err := w.NewRecoveryCodes(ctx, actorOf(opened))
		w.must(err)
		_, err = w.EnterCode(ctx, home, w.signIn(home, in.Device).Secret, recovery[1])
		w.refused(err, registrar.KindUnauthenticated, customer.CodeWrong)
		_, err = w.EnterCode(ctx, home, w.signIn(home, in.Device).Secret, renewed[9])
		w.must(err)
	})
}

func TestChangesOfTheSecondFactorEndOtherSessions(t *testing.T) {
	eachEngine(t, func(w *world) {
		in := w.member(email)
		elsewhere := w.signIn(home, in.Device)
		phone, _ := w.secondFactor(in)
		if w.alive(elsewhere.Secret) || !w.alive(in.Secret) {
			t.Error("switching it on ends all sessions but one")
		}
		elsewhere, err := w.EnterCode(w.Context(), home, w.signIn(home, in.Device).Secret, phone.code(w))
		w.must(err)
		w.must(w.DropSecondFactor(w.Context(), actorOf(in)))
		if w.alive(elsewhere.Secret) || !w.alive(in.Secret) {
			t.Error("switching it off ends all sessions but one")
		}
		if w.signIn(home, in.Device).NeedsCode {
			t.Error("a code is asked for that nobody has")
		}
		w.refused(w.DropSecondFactor(w.Context(), actorOf(in)), registrar.KindConflict, customer.SecondFactorOff)
	})
}

func TestASecondFactorIsSealedForItsAccountAndKey(t *testing.T) {
	onSQLite(t, func(w *world) {
		in := w.member(email)
		phone, _ := w.secondFactor(in)
		pending := w.signIn(home, in.Device)
		w.restart(func(cfg *customer.Config) { cfg.Seal = sealWith(9) })
		_, err := w.EnterCode(w.Context(), home, pending.Secret, phone.code(w))
		if registrar.KindOf(err) != registrar.KindInternal {
			t.Errorf("another key: got %v, want a fault of ours and no way in", err)
		}
	})
}
