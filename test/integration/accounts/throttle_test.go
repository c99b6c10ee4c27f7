package accounts

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/test/testkit/passkey"
)

func TestThrottle_OwnerIsNotLockedOut(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		in, device := e.newMember(email), passkey.NewDevice(t, origin)
		e.addPasskey(in, device)
		// A botnet exhausts the account's budget for unknown browsers.
		var err error
		for i := range 60 {
			err = e.signInWithWrongPassword(anonymousActor(fmt.Sprintf("198.51.100.%d", i)), "")
		}
		e.wantError(err, registrar.KindRateLimited, account.TooManyAttempts)
		_, err = e.SignIn(e.Context(), anonymousActor("192.0.2.99"), account.Credentials{Email: email, Password: password})
		e.wantError(err, registrar.KindRateLimited, account.TooManyAttempts)

		e.signIn(home, in.Device) // the owner's browser
		_, err = e.passkeySignIn(device)
		e.must(err)
		e.deliverMails()
		e.must(e.RequestPasswordReset(e.Context(), home, email, ""))
		e.must(e.ResetPassword(e.Context(), home, e.deliverOneMail(registrar.MailPasswordReset).link, otherPassword))
	})
}

func TestThrottle_WrongPasswordsLimitedPerAddressAccountAndDevice(t *testing.T) {
	onSQLite(t, func(e *env) {
		in := e.newMember(email)
		count := func(try func() error) (wrong int) {
			for range 200 {
				switch err := try(); registrar.CodeOf(err) {
				case account.BadCredentials:
					wrong++
				case account.TooManyAttempts:
					return wrong
				default:
					t.Fatal(err)
				}
			}
			return wrong
		}
		if got := count(func() error { return e.signInWithWrongPassword(attacker, "") }); got != 10 {
			t.Errorf("one address had %d guesses at one account, want 10", got)
		}
		i := 0
		if got := count(func() error {
			i++
			_, err := e.SignIn(e.Context(), attacker, account.Credentials{Email: fmt.Sprintf("nobody%d@example.org", i), Password: otherPassword})
			return err
		}); got != 20 {
			t.Errorf("one address had %d more guesses at other accounts, want 20", got)
		}
		if got := count(func() error { return e.signInWithWrongPassword(attacker, in.Device) }); got != 10 {
			t.Errorf("a stolen device cookie allowed %d guesses, want 10", got)
		}
		// Addresses of one /64 share a budget.
		j := 0
		if got := count(func() error {
			j++
			return e.signInWithWrongPassword(anonymousActor(fmt.Sprintf("2001:db8::%x", j)), "")
		}); got != 10 {
			t.Errorf("one network had %d guesses, want 10", got)
		}
		// A device cookie of another account does not count.
		bob := e.newMember("bob@example.org")
		k := 0
		if got := count(func() error {
			k++
			return e.signInWithWrongPassword(anonymousActor(fmt.Sprintf("2001:db8:%x::1", k)), bob.Device)
		}); got != 30 {
			t.Errorf("unknown browsers had %d guesses left of the account's 50, want 30", got)
		}
		e.advanceClock(time.Hour + time.Second)
		e.wantError(e.signInWithWrongPassword(attacker, ""), registrar.KindUnauthenticated, account.BadCredentials)
	})
}

func TestChangePassword_WorksWhileAccountIsThrottled(t *testing.T) {
	onSQLite(t, func(e *env) {
		in := e.newMember(email)
		var err error
		for i := range 60 {
			err = e.signInWithWrongPassword(anonymousActor(fmt.Sprintf("198.51.100.%d", i)), "")
		}
		e.wantError(err, registrar.KindRateLimited, account.TooManyAttempts)
		e.must(e.ChangePassword(e.Context(), actorOf(in), password, otherPassword))

		// A hijacked session can't be used to guess the password.
		for range 10 {
			e.wantError(e.ChangePassword(e.Context(), actorOf(in), "wrong "+otherPassword, password), registrar.KindInvalid, account.BadCredentials)
		}
		e.wantError(e.ChangePassword(e.Context(), actorOf(in), otherPassword, password), registrar.KindRateLimited, account.TooManyAttempts)
	})
}

func TestAskReset_RegistrationsByOthersDoNotConsumeItsLimit(t *testing.T) {
	onSQLite(t, func(e *env) {
		e.newMember(email)
		for i := range 6 {
			e.must(e.Register(e.Context(), anonymousActor(fmt.Sprintf("198.51.100.%d", i)), email, ""))
		}
		e.deliverMails()
		e.must(e.RequestPasswordReset(e.Context(), home, email, ""))
		e.must(e.ResetPassword(e.Context(), home, e.deliverOneMail(registrar.MailPasswordReset).link, otherPassword))
	})
}

func TestThrottle_CorrectPasswordsAreNotCounted(t *testing.T) {
	onSQLite(t, func(e *env) {
		e.newMember(email)
		for range 60 {
			e.signIn(home, "")
		}
	})
}

// blockedDeriver blocks until released, and then fails, so that the caller computes the key.
type blockedDeriver struct{ started, release chan struct{} }

func (b blockedDeriver) Derive(context.Context, account.Derivation) ([]byte, error) {
	b.started <- struct{}{}
	<-b.release
	return nil, errors.New("blocked")
}

func TestSignIn_KnownDeviceIsServedWhileQueueIsFull(t *testing.T) {
	onSQLite(t, func(e *env) {
		known := e.newMember(email).Device
		b := blockedDeriver{make(chan struct{}, 10), make(chan struct{})}
		e.reconfigure(func(cfg *account.Config) { cfg.Hashes, cfg.MaxWaiting, cfg.Deriver = 1, 1, b })
		var all sync.WaitGroup
		all.Go(func() { _ = e.signInWithWrongPassword(attacker, "") })
		<-b.started // the unknown queue is full
		e.wantError(e.signInWithWrongPassword(anonymousActor("2001:db8:1::1"), ""), registrar.KindRateLimited, account.Busy)
		e.wantError(e.signInWithWrongPassword(anonymousActor("2001:db8:2::1"), "dotkontor_device_forged"), registrar.KindRateLimited, account.Busy)
		all.Go(func() {
			if _, err := e.SignIn(e.Context(), attacker, account.Credentials{Email: email, Password: password, Device: known}); err != nil {
				t.Errorf("a known device in the attacker's network: %v", err)
			}
		})
		close(b.release)
		all.Wait()
	})
}

func TestThrottle_ConcurrentGuessesKeepTheLimit(t *testing.T) {
	onSQLite(t, func(e *env) {
		// Hashes that take long enough for all guesses to be waiting.
		e.reconfigure(func(cfg *account.Config) { cfg.Cost, cfg.Hashes = account.Cost{Memory: 16 << 10, Passes: 2}, 2 })
		e.newMember(email)
		var wrong atomic.Int32
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				err := e.signInWithWrongPassword(attacker, "")
				for registrar.CodeOf(err) == account.Busy { // its network has reached its limit
					time.Sleep(time.Millisecond)
					err = e.signInWithWrongPassword(attacker, "")
				}
				if registrar.CodeOf(err) == account.BadCredentials {
					wrong.Add(1)
				}
			})
		}
		all.Wait()
		if got := wrong.Load(); got < 10 || got > 11 {
			t.Errorf("a hundred guesses at once: %d were checked, want 10 or one more", got)
		}
	})
}

func TestSignIn_BurstKeepsMemoryBoundedAndAnswersAll(t *testing.T) {
	if testing.Short() {
		t.Skip("takes real hashes")
	}
	// Not parallel: it measures the memory of the process.
	test := func(t *testing.T, e *env) {
		e.newMember(email)
		e.reconfigure(func(cfg *account.Config) { cfg.Cost, cfg.Hashes, cfg.MaxWaiting = account.Cost{Passes: 1}, 2, 100 })
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		var answered atomic.Int32
		var all sync.WaitGroup
		for range 300 {
			all.Go(func() {
				_, err := e.SignIn(ctx, home, account.Credentials{Email: email, Password: password})
				switch {
				case err == nil, registrar.CodeOf(err) == account.Busy, ctx.Err() != nil:
					answered.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		var most uint64
		done := make(chan struct{})
		go func() { all.Wait(); close(done) }()
		for waiting := true; waiting; {
			select {
			case <-done:
				waiting = false
			case <-time.After(5 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapInuse)
			}
		}
		if answered.Load() != 300 {
			t.Errorf("%d of 300 were answered", answered.Load())
		}
		if most > 300<<20 {
			t.Errorf("the heap grew to %d MiB", most>>20)
		}
	}
	t.Run("storm", func(t *testing.T) { test(t, newSQLiteEnv(t)) })
}

// The duration of a sign-in is that of its hash. The memory of the hash is measured
// instead, which works on a busy machine too.
func TestSignIn_UnknownAddressCostsOneHashToo(t *testing.T) {
	// Not parallel: it measures what the process allocates.
	e := newSQLiteEnv(t)
	ctx := e.Context()
	e.newMember(email)
	e.must(e.Register(ctx, home, "key@example.org", ""))
	_, err := e.Confirm(ctx, home, e.deliverOneMail(registrar.MailConfirm).link, "", "")
	e.must(err)
	e.must(e.Register(ctx, home, "late@example.org", ""))
	const memory = 8 << 10 // KiB
	e.reconfigure(func(cfg *account.Config) { cfg.Cost = account.Cost{Memory: memory, Passes: 1} })
	e.must(e.SetPassword(ctx, operator, e.customerID(email), password)) // at this cost
	for _, address := range []string{email, "key@example.org", "late@example.org", "nobody@example.org"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := e.SignIn(ctx, attacker, account.Credentials{Email: address, Password: otherPassword})
		runtime.ReadMemStats(&after)
		e.wantError(err, registrar.KindUnauthenticated, account.BadCredentials)
		hashes := float64(after.TotalAlloc-before.TotalAlloc) / (memory << 10)
		if hashes < 1 || hashes > 1.5 {
			t.Errorf("%s: %.2f hashes were computed, want one", address, hashes)
		}
	}
}

func (e *env) customerID(address string) string {
	e.Helper()
	found, err := e.FindByEmail(e.Context(), operator, address)
	e.must(err)
	return found.ID
}

func TestMail_LimitedPerAddressWithoutChangingTheAnswer(t *testing.T) {
	onSQLite(t, func(e *env) {
		e.newMember(email)
		for i := range 6 {
			e.must(e.RequestPasswordReset(e.Context(), anonymousActor(fmt.Sprintf("198.51.100.%d", i)), email, ""))
			e.must(e.Register(e.Context(), anonymousActor(fmt.Sprintf("198.51.100.%d", i)), email, ""))
		}
		if got := len(e.deliverMails()); got != 5 { // the first of three was the confirmation; resets have three of their own
			t.Errorf("%d more mails went to one address within the hour, want 5", got)
		}
		// A customer can't flood another person's mailbox either.
		bob := e.newMember("bob@example.org")
		for range 3 {
			e.must(e.RequestEmailChange(e.Context(), actorOf(bob), "stranger@example.org"))
		}
		e.wantError(e.RequestEmailChange(e.Context(), actorOf(bob), "stranger@example.org"), registrar.KindRateLimited, account.TooManyAttempts)
		e.deliverMails()
		for i := range 40 {
			e.must(e.Register(e.Context(), attacker, fmt.Sprintf("victim%d@example.org", i), ""))
		}
		if got := len(e.deliverMails()); got != 20 {
			t.Errorf("one address caused %d mails, want 20", got)
		}
	})
}

func TestSignIn_RehashesPasswordWhenCostChanges(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		e.newMember(email)
		hash := func() string {
			account, _, err := e.db.ReadCustomers().AccountByEmail(e.Context(), email)
			e.must(err)
			return account.PasswordHash
		}
		old := hash()
		e.signIn(home, "")
		if hash() != old {
			t.Error("a password was rehashed at the same cost")
		}
		e.reconfigure(func(cfg *account.Config) { cfg.Cost = account.Cost{Memory: 128, Passes: 2} })
		e.wantError(e.signInWithWrongPassword(home, ""), registrar.KindUnauthenticated, account.BadCredentials)
		if hash() != old {
			t.Error("a wrong password changed the hash")
		}
		e.signIn(home, "")
		if hash() == old {
			t.Error("the password was not rehashed")
		}
		e.signIn(home, "")
	})
}

func TestPasskeyChallenges_LimitedPerAddressAndPerMember(t *testing.T) {
	eachEngine(t, func(t *testing.T, e *env) {
		in, device := e.newMember(email), passkey.NewDevice(t, origin)
		e.addPasskey(in, device)
		begin := func(actor registrar.Actor) error {
			_, _, err := e.BeginPasskeySignIn(e.Context(), actor, origin)
			return err
		}
		allowed := account.DefaultWindows().Passkeys.Limit
		for i := range allowed { // an IPv6 network counts as one address
			e.must(begin(anonymousActor(fmt.Sprintf("2001:db8::%x", i+1))))
		}
		e.wantError(begin(anonymousActor("2001:db8::ffff")), registrar.KindRateLimited, account.TooManyAttempts)
		e.must(begin(anonymousActor("2001:db8:0:1::1")))
		_, err := e.passkeySignIn(device) // from another address
		e.must(err)

		// A signed-in customer behind the same address has a separate budget.
		member := actorOf(in)
		member.Address = anonymousActor("2001:db8::1").Address
		for range allowed - 1 { // one was for adding the passkey
			e.must(begin(member))
		}
		e.wantError(begin(member), registrar.KindRateLimited, account.TooManyAttempts)
		_, _, err = e.BeginAddPasskey(e.Context(), member, origin)
		e.wantError(err, registrar.KindRateLimited, account.TooManyAttempts)

		e.advanceClock(10*time.Minute + time.Second)
		e.must(begin(anonymousActor("2001:db8::1")))
		e.must(begin(member))
	})
}
