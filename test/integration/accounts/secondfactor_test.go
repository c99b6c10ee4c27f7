package accounts

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

// authenticatorApp generates codes like an authenticator app.
type authenticatorApp struct{ secret string }

func (a authenticatorApp) code(e *env) string {
	e.Helper()
	code, err := totp.GenerateCode(a.secret, e.clock())
	e.must(err)
	return code
}

// enableSecondFactor enables the second factor and advances past the time step it used.
func (e *env) enableSecondFactor(in account.SignInResult) (authenticatorApp, []string) {
	e.Helper()
	secret, uri, err := e.BeginSecondFactor(e.Context(), actorOf(in))
	e.must(err)
	if !strings.HasPrefix(uri, "otpauth://totp/dotkontor:") || !strings.Contains(uri, secret) {
		e.Errorf("the address is %q", uri)
	}
	again, _, err := e.BeginSecondFactor(e.Context(), actorOf(in))
	e.must(err)
	if again != secret {
		e.Error("reloading the page shows another secret")
	}
	phone := authenticatorApp{secret}
	_, err = e.FinishSecondFactor(e.Context(), actorOf(in), "000000")
	if registrar.CodeOf(err) != account.CodeWrong {
		e.Errorf("a wrong first code: %v", err)
	}
	recovery, err := e.FinishSecondFactor(e.Context(), actorOf(in), phone.code(e))
	e.must(err)
	e.advanceClock(time.Minute)
	return phone, recovery
}

func TestTOTP_StepWorksOnce(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		in := e.newMember(email)
		phone, _ := e.enableSecondFactor(in)
		code := phone.code(e)
		// The same code in twelve browsers at once.
		pending := make([]string, 4)
		for i := range pending {
			pending[i] = e.signIn(home, in.Device).Secret
		}
		var opened atomic.Int32
		var all sync.WaitGroup
		for _, secret := range pending {
			all.Go(func() {
				if _, err := e.EnterCode(e.Context(), home, secret, code); err == nil {
					opened.Add(1)
				}
			})
		}
		all.Wait()
		if opened.Load() != 1 {
			t.Fatalf("one code opened %d sessions", opened.Load())
		}
		e.advanceClock(30 * time.Second)
		before := phone.code(e)
		e.advanceClock(30 * time.Second)
		_, err := e.EnterCode(e.Context(), home, e.signIn(home, in.Device).Secret, phone.code(e))
		e.must(err)
		_, err = e.EnterCode(e.Context(), home, e.signIn(home, in.Device).Secret, before) // an older step
		e.wantError(err, registrar.KindUnauthenticated, account.CodeWrong)
	})
}

func TestEnterCode_OpensNewSessionPendingOneAllowsNothing(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		in := e.newMember(email)
		phone, _ := e.enableSecondFactor(in)
		pending := e.signIn(home, in.Device)
		if !pending.NeedsCode || e.sessionValid(pending.Secret) || pending.Device != "" {
			t.Fatalf("a password alone opened %+v", pending)
		}
		_, err := e.SignInAgain(e.Context(), home, pending.Secret, account.ReauthCredentials{Password: password})
		e.wantError(err, registrar.KindUnauthenticated, registrar.SignInFirst)
		opened, err := e.EnterCode(e.Context(), home, pending.Secret, phone.code(e))
		e.must(err)
		if opened.Secret == pending.Secret || !e.sessionValid(opened.Secret) {
			t.Error("the code did not open a new session")
		}
		_, err = e.EnterCode(e.Context(), home, pending.Secret, phone.code(e))
		e.wantError(err, registrar.KindUnauthenticated, registrar.SignInFirst)
		// Reauthentication requires both as well.
		e.advanceClock(time.Minute)
		_, err = e.SignInAgain(e.Context(), home, opened.Secret, account.ReauthCredentials{Password: password})
		e.wantError(err, registrar.KindUnauthenticated, account.CodeWrong)
		_, err = e.SignInAgain(e.Context(), home, opened.Secret, account.ReauthCredentials{Password: password, Code: phone.code(e)})
		e.must(err)

		late := e.signIn(home, in.Device)
		e.advanceClock(10*time.Minute + time.Second)
		_, err = e.EnterCode(e.Context(), home, late.Secret, phone.code(e))
		e.wantError(err, registrar.KindUnauthenticated, registrar.SignInFirst)
	})
}

func TestEnterCode_FifthWrongCodeEndsPendingSession(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		in := e.newMember(email)
		phone, _ := e.enableSecondFactor(in)
		pending := e.signIn(home, in.Device)
		for range 5 {
			_, err := e.EnterCode(e.Context(), home, pending.Secret, "000000")
			e.wantError(err, registrar.KindUnauthenticated, account.CodeWrong)
		}
		_, err := e.EnterCode(e.Context(), home, pending.Secret, phone.code(e))
		e.wantError(err, registrar.KindUnauthenticated, registrar.SignInFirst)
		if !e.hasAuditEvent(in, account.ActionSignInFailed) {
			t.Error("the audit log does not record wrong codes")
		}
	})
}

func TestEnterCode_AccountLimitExemptsKnownDevice(t *testing.T) {
	onSQLite(t, func(e *env) {
		in := e.newMember(email)
		phone, _ := e.enableSecondFactor(in)
		var err error
		for range 3 { // an attacker who knows the password
			pending := e.signIn(attacker, "")
			for range 4 {
				_, err = e.EnterCode(e.Context(), attacker, pending.Secret, "000000")
			}
		}
		e.wantError(err, registrar.KindRateLimited, account.TooManyAttempts)
		_, err = e.EnterCode(e.Context(), home, e.signIn(home, in.Device).Secret, phone.code(e))
		e.must(err)
	})
}

func TestNewRecoveryCodes_ConcurrentCallsLeaveOneList(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		in := e.newMember(email)
		e.enableSecondFactor(in)
		for range 8 {
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					if _, err := e.ReplaceRecoveryCodes(e.Context(), actorOf(in)); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if left, err := e.RecoveryCodesLeft(e.Context(), actorOf(in)); err != nil || left != 10 {
				t.Fatalf("%d codes are valid (%v), want one list of 10", left, err)
			}
		}
	})
}

func TestSignInAgain_WrongCodesAreAuditedAndLimited(t *testing.T) {
	onSQLite(t, func(e *env) {
		in := e.newMember(email)
		e.enableSecondFactor(in)
		_, err := e.SignInAgain(e.Context(), home, in.Secret, account.ReauthCredentials{Password: password, Code: "000000"})
		e.wantError(err, registrar.KindUnauthenticated, account.CodeWrong)
		if !e.hasAuditEvent(in, account.ActionSignInFailed) {
			t.Error("the audit log does not record it")
		}
		for range 9 {
			_, err = e.SignInAgain(e.Context(), home, in.Secret, account.ReauthCredentials{Password: password, Code: "000000"})
			e.wantError(err, registrar.KindUnauthenticated, account.CodeWrong)
		}
		_, err = e.SignInAgain(e.Context(), home, in.Secret, account.ReauthCredentials{Password: password, Code: "000000"})
		e.wantError(err, registrar.KindRateLimited, account.TooManyAttempts)
	})
}

func TestEnterCode_StolenPasswordAllowsFewGuessesOverHours(t *testing.T) {
	onSQLite(t, func(e *env) {
		in := e.newMember(email)
		phone, _ := e.enableSecondFactor(in)
		tried := 0
		for range 39 { // nearly ten hours
			pending := e.signIn(attacker, "")
			for range 5 {
				if _, err := e.EnterCode(e.Context(), attacker, pending.Secret, "000000"); registrar.CodeOf(err) == account.CodeWrong {
					tried++
				}
			}
			e.advanceClock(15 * time.Minute)
		}
		if tried != 25 {
			t.Errorf("%d codes were tried in ten hours, want 25", tried)
		}
		_, err := e.EnterCode(e.Context(), home, e.signIn(home, in.Device).Secret, phone.code(e))
		e.must(err)
	})
}

func TestPendingSessions_DoNotEvictOpenSession(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		in := e.newMember(email)
		e.enableSecondFactor(in)
		for range 101 {
			e.signIn(attacker, "")
		}
		if !e.sessionValid(in.Secret) {
			t.Error("pending sessions displaced an open one")
		}
	})
}

func TestRecoveryCodes_WorkOnceAndAreReplaced(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		ctx := e.Context()
		in := e.newMember(email)
		_, recovery := e.enableSecondFactor(in)
		e.deliverMails()
		if len(recovery) != 10 {
			t.Fatalf("got %d recovery codes", len(recovery))
		}
		typed := " " + strings.ToUpper(strings.ReplaceAll(recovery[0], "-", " "))
		opened, err := e.EnterCode(ctx, home, e.signIn(home, in.Device).Secret, typed)
		e.must(err)
		if m := e.deliverOneMail(registrar.MailSecondFactor); m.facts["change"] != "used" || m.facts["left"] != "9" {
			t.Errorf("the mail has %v", m.facts)
		}
		_, err = e.EnterCode(ctx, home, e.signIn(home, in.Device).Secret, recovery[0])
		e.wantError(err, registrar.KindUnauthenticated, account.CodeWrong)
		if left, err := e.RecoveryCodesLeft(ctx, actorOf(opened)); err != nil || left != 9 {
			t.Errorf("%d codes are left (%v)", left, err)
		}
		renewed, err := e.ReplaceRecoveryCodes(ctx, actorOf(opened))
		e.must(err)
		_, err = e.EnterCode(ctx, home, e.signIn(home, in.Device).Secret, recovery[1])
		e.wantError(err, registrar.KindUnauthenticated, account.CodeWrong)
		_, err = e.EnterCode(ctx, home, e.signIn(home, in.Device).Secret, renewed[9])
		e.must(err)
	})
}

func TestSecondFactor_ChangeEndsOtherSessions(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		in := e.newMember(email)
		elsewhere := e.signIn(home, in.Device)
		phone, _ := e.enableSecondFactor(in)
		if e.sessionValid(elsewhere.Secret) || !e.sessionValid(in.Secret) {
			t.Error("enabling it must end all other sessions")
		}
		elsewhere, err := e.EnterCode(e.Context(), home, e.signIn(home, in.Device).Secret, phone.code(e))
		e.must(err)
		e.must(e.DisableSecondFactor(e.Context(), actorOf(in)))
		if e.sessionValid(elsewhere.Secret) || !e.sessionValid(in.Secret) {
			t.Error("disabling it must end all other sessions")
		}
		if e.signIn(home, in.Device).NeedsCode {
			t.Error("a code is required without a second factor")
		}
		e.wantError(e.DisableSecondFactor(e.Context(), actorOf(in)), registrar.KindConflict, account.SecondFactorOff)
	})
}

func TestSecondFactor_OtherKeyCannotOpenIt(t *testing.T) {
	onSQLite(t, func(e *env) {
		in := e.newMember(email)
		phone, _ := e.enableSecondFactor(in)
		pending := e.signIn(home, in.Device)
		e.reconfigure(func(cfg *account.Config) { cfg.Seal = sealWith(9) })
		_, err := e.EnterCode(e.Context(), home, pending.Secret, phone.code(e))
		if registrar.KindOf(err) != registrar.KindInternal {
			t.Errorf("another seal key: got %v, want an internal error and no session", err)
		}
	})
}
