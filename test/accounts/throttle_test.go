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
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
)

func TestAThrottledAccountIsNotLockedForItsOwner(t *testing.T) {
	eachEngine(t, func(w *world) {
		in, device := w.member(email), newAuthenticator(t)
		w.addPasskey(in, device)
		// A botnet uses up what the account may have from unknown browsers.
		var err error
		for i := range 60 {
			err = w.guess(somebody(fmt.Sprintf("198.51.100.%d", i)), "")
		}
		w.refused(err, registrar.KindRateLimited, customer.TooManyAttempts)
		_, err = w.SignIn(w.Context(), somebody("192.0.2.99"), customer.Credentials{Email: email, Password: password})
		w.refused(err, registrar.KindRateLimited, customer.TooManyAttempts)

		w.signIn(home, in.Device) // the owner's browser
		_, err = w.passkeySignIn(device)
		w.must(err)
		w.mails()
		w.must(w.AskReset(w.Context(), home, email, ""))
		w.must(w.Reset(w.Context(), home, w.mail(registrar.LetterReset).link, other))
	})
}

func TestWrongPasswordsAreBoundedPerAddressAccountAndDevice(t *testing.T) {
	onSQLite(t, func(w *world) {
		in := w.member(email)
		count := func(try func() error) (wrong int) {
			for range 200 {
				switch err := try(); registrar.CodeOf(err) {
				case customer.BadCredentials:
					wrong++
				case customer.TooManyAttempts:
					return wrong
				default:
					t.Fatal(err)
				}
			}
			return wrong
		}
		if got := count(func() error { return w.guess(attacker, "") }); got != 10 {
			t.Errorf("one address had %d guesses at one account, want 10", got)
		}
		i := 0
		if got := count(func() error {
			i++
			_, err := w.SignIn(w.Context(), attacker, customer.Credentials{Email: fmt.Sprintf("nobody%d@example.org", i), Password: other})
			return err
		}); got != 20 {
			t.Errorf("one address had %d more guesses at other accounts, want 20", got)
		}
		if got := count(func() error { return w.guess(attacker, in.Device) }); got != 10 {
			t.Errorf("a stolen device cookie was good for %d guesses, want 10", got)
		}
		// Neighbours in a /64 are one.
		j := 0
		if got := count(func() error { j++; return w.guess(somebody(fmt.Sprintf("2001:db8::%x", j)), "") }); got != 10 {
			t.Errorf("one network had %d guesses, want 10", got)
		}
		// A device cookie of another account is none.
		bob := w.member("bob@example.org")
		k := 0
		if got := count(func() error { k++; return w.guess(somebody(fmt.Sprintf("2001:db8:%x::1", k)), bob.Device) }); got != 30 {
			t.Errorf("strangers had %d guesses left of the account's 50, want 30", got)
		}
		w.pass(time.Hour + time.Second)
		w.refused(w.guess(attacker, ""), registrar.KindUnauthenticated, customer.BadCredentials)
	})
}

func TestTheOwnerCanChangeThePasswordOfAnAccountUnderAttack(t *testing.T) {
	onSQLite(t, func(w *world) {
		in := w.member(email)
		var err error
		for i := range 60 {
			err = w.guess(somebody(fmt.Sprintf("198.51.100.%d", i)), "")
		}
		w.refused(err, registrar.KindRateLimited, customer.TooManyAttempts)
		w.must(w.ChangePassword(w.Context(), actorOf(in), password, other))

		// Whoever has taken the session can't try passwords without end.
		for range 10 {
			w.refused(w.ChangePassword(w.Context(), actorOf(in), "wrong "+other, password), registrar.KindInvalid, customer.BadCredentials)
		}
		w.refused(w.ChangePassword(w.Context(), actorOf(in), other, password), registrar.KindRateLimited, customer.TooManyAttempts)
	})
}

func TestRegistrationsByStrangersDoNotUseUpTheOwnersReset(t *testing.T) {
	onSQLite(t, func(w *world) {
		w.member(email)
		for i := range 6 {
			w.must(w.Register(w.Context(), somebody(fmt.Sprintf("198.51.100.%d", i)), customer.Registration{Email: email}))
		}
		w.mails()
		w.must(w.AskReset(w.Context(), home, email, ""))
		w.must(w.Reset(w.Context(), home, w.mail(registrar.LetterReset).link, other))
	})
}

func TestRightPasswordsAreNotCounted(t *testing.T) {
	onSQLite(t, func(w *world) {
		w.member(email)
		for range 60 {
			w.signIn(home, "")
		}
	})
}

// blocked computes no key before it is released, and then leaves it to the caller.
type blocked struct{ begun, release chan struct{} }

func (b blocked) Derive(context.Context, customer.Derivation) ([]byte, error) {
	b.begun <- struct{}{}
	<-b.release
	return nil, errors.New("blocked")
}

func TestSignIn_KnownDeviceIsServedWhileStrangersFillTheQueue(t *testing.T) {
	onSQLite(t, func(w *world) {
		known := w.member(email).Device
		b := blocked{make(chan struct{}, 10), make(chan struct{})}
		w.restart(func(cfg *customer.Config) { cfg.Hashes, cfg.Waiting, cfg.Deriver = 1, 1, b })
		var all sync.WaitGroup
		all.Go(func() { _ = w.guess(attacker, "") })
		<-b.begun // the strangers' queue is full
		w.refused(w.guess(somebody("2001:db8:1::1"), ""), registrar.KindRateLimited, customer.Busy)
		w.refused(w.guess(somebody("2001:db8:2::1"), "dotkontor_device_forged"), registrar.KindRateLimited, customer.Busy)
		all.Go(func() {
			if _, err := w.SignIn(w.Context(), attacker, customer.Credentials{Email: email, Password: password, Device: known}); err != nil {
				t.Errorf("a known device in the attacker's network: %v", err)
			}
		})
		close(b.release)
		all.Wait()
	})
}

func TestGuessesInParallelKeepTheBudget(t *testing.T) {
	onSQLite(t, func(w *world) {
		// Hashes that take long enough for all guesses to be waiting.
		w.restart(func(cfg *customer.Config) { cfg.Cost, cfg.Hashes = customer.Cost{Memory: 16 << 10, Passes: 2}, 2 })
		w.member(email)
		var wrong atomic.Int32
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				err := w.guess(attacker, "")
				for registrar.CodeOf(err) == customer.Busy { // its network has its share of the queue
					time.Sleep(time.Millisecond)
					err = w.guess(attacker, "")
				}
				if registrar.CodeOf(err) == customer.BadCredentials {
					wrong.Add(1)
				}
			})
		}
		all.Wait()
		if got := wrong.Load(); got < 10 || got > 11 {
			t.Errorf("a hundred guesses at once: %d were looked at, want 10 or one more", got)
		}
	})
}

func TestAStormOfSignInsIsBoundedInMemoryAndAllAreAnswered(t *testing.T) {
	if testing.Short() {
		t.Skip("takes real hashes")
	}
	// Not parallel: it measures the memory of the process.
	test := func(w *world) {
		w.member(email)
		w.restart(func(cfg *customer.Config) { cfg.Cost, cfg.Hashes, cfg.Waiting = customer.Cost{Passes: 1}, 2, 100 })
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		var answered atomic.Int32
		var all sync.WaitGroup
		for range 300 {
			all.Go(func() {
				_, err := w.SignIn(ctx, home, customer.Credentials{Email: email, Password: password})
				switch {
				case err == nil, registrar.CodeOf(err) == customer.Busy, ctx.Err() != nil:
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
	t.Run("storm", func(t *testing.T) { w := newWorldHere(t); test(w) })
}

// The time of a sign-in is that of its hash, and the hash is as large as its
// memory, which can be measured on a busy machine too.
func TestASignInCostsTheSameForUnknownAddresses(t *testing.T) {
	// Not parallel: it measures what the process allocates.
	w := newWorldHere(t)
	ctx := w.Context()
	w.member(email)
	w.must(w.Register(ctx, home, customer.Registration{Email: "key@example.org"}))
	_, err := w.Confirm(ctx, home, w.mail(registrar.LetterConfirm).link, customer.Confirmation{})
	w.must(err)
	w.must(w.Register(ctx, home, customer.Registration{Email: "late@example.org"}))
	const memory = 8 << 10 // KiB
	w.restart(func(cfg *customer.Config) { cfg.Cost = customer.Cost{Memory: memory, Passes: 1} })
	w.must(w.SetPassword(ctx, operator, w.idOf(email), password)) // at this cost
	for _, address := range []string{email, "key@example.org", "late@example.org", "nobody@example.org"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := w.SignIn(ctx, attacker, customer.Credentials{Email: address, Password: other})
		runtime.ReadMemStats(&after)
		w.refused(err, registrar.KindUnauthenticated, customer.BadCredentials)
		hashes := float64(after.TotalAlloc-before.TotalAlloc) / (memory << 10)
		if hashes < 1 || hashes > 1.5 {
			t.Errorf("%s: %.2f hashes were computed, want one", address, hashes)
		}
	}
}

func (w *world) idOf(address string) string {
	w.Helper()
	found, err := w.Find(w.Context(), operator, address)
	w.must(err)
	return found.ID
}

func TestLettersToAnAddressAreBoundedAndTheAnswerIsTheSame(t *testing.T) {
	onSQLite(t, func(w *world) {
		w.member(email)
		for i := range 6 {
			w.must(w.AskReset(w.Context(), somebody(fmt.Sprintf("198.51.100.%d", i)), email, ""))
			w.must(w.Register(w.Context(), somebody(fmt.Sprintf("198.51.100.%d", i)), customer.Registration{Email: email}))
		}
		if got := len(w.mails()); got != 5 { // the first of three was the confirmation; resets have three of their own
			t.Errorf("%d more letters went to one address within the hour, want 5", got)
		}
		// Neither can a customer fill a stranger's mailbox.
		bob := w.member("bob@example.org")
		for range 3 {
			w.must(w.ChangeEmail(w.Context(), actorOf(bob), "stranger@example.org"))
		}
		w.refused(w.ChangeEmail(w.Context(), actorOf(bob), "stranger@example.org"), registrar.KindRateLimited, customer.TooManyAttempts)
		w.mails()
		for i := range 40 {
			w.must(w.Register(w.Context(), attacker, customer.Registration{Email: fmt.Sprintf("victim%d@example.org", i)}))
		}
		if got := len(w.mails()); got != 20 {
			t.Errorf("one address had %d letters sent, want 20", got)
		}
	})
}

func TestAPasswordIsHashedAnewWhenTheCostChanges(t *testing.T) {
	eachEngine(t, func(w *world) {
		w.member(email)
		hash := func() string {
			account, _, err := w.db.ReadCustomers().AccountByEmail(w.Context(), email)
			w.must(err)
			return account.PasswordHash
		}
		old := hash()
		w.signIn(home, "")
		if hash() != old {
			t.Error("a password was hashed anew for nothing")
		}
		w.restart(func(cfg *customer.Config) { cfg.Cost = customer.Cost{Memory: 128, Passes: 2} })
		w.refused(w.guess(home, ""), registrar.KindUnauthenticated, customer.BadCredentials)
		if hash() != old {
			t.Error("a wrong password changed the hash")
		}
		w.signIn(home, "")
		if hash() == old {
			t.Error("the hash is still the cheap one")
		}
		w.signIn(home, "")
	})
}

func TestPasskeyCeremoniesAreBoundedPerAddressAndMembersHaveTheirOwn(t *testing.T) {
	eachEngine(t, func(w *world) {
		in, device := w.member(email), newAuthenticator(t)
		w.addPasskey(in, device)
		begin := func(actor registrar.Actor) error {
			_, _, err := w.BeginPasskeySignIn(w.Context(), actor, origin)
			return err
		}
		allowed := customer.DefaultWindows().Passkeys.Count
		for i := range allowed { // one network of IPv6 is one address
			w.must(begin(somebody(fmt.Sprintf("2001:db8::%x", i+1))))
		}
		w.refused(begin(somebody("2001:db8::ffff")), registrar.KindRateLimited, customer.TooManyAttempts)
		w.must(begin(somebody("2001:db8:0:1::1")))
		_, err := w.passkeySignIn(device) // from elsewhere
		w.must(err)

		// A member behind the same address is not kept from it, but bounded too.
		member := actorOf(in)
		member.Address = somebody("2001:db8::1").Address
		for range allowed - 1 { // one was for adding the passkey
			w.must(begin(member))
		}
		w.refused(begin(member), registrar.KindRateLimited, customer.TooManyAttempts)
		_, _, err = w.BeginAddPasskey(w.Context(), member, origin)
		w.refused(err, registrar.KindRateLimited, customer.TooManyAttempts)

		w.pass(10*time.Minute + time.Second)
		w.must(begin(somebody("2001:db8::1")))
		w.must(begin(member))
	})
}
