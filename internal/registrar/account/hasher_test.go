package account

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestParseEmail_AcceptsDeliverableAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typed, address, key string }{
		{"ada@example.org", "ada@example.org", "ada@example.org"},
		{" Ada.B+x@Example.ORG ", "Ada.B+x@example.org", "ada.b+x@example.org"},
		{"ada@bücher.example", "ada@xn--bcher-kva.example", "ada@xn--bcher-kva.example"},
		{"o'neil@a-b.example", "o'neil@a-b.example", "o'neil@a-b.example"},
		{"", "", ""},
		{"ada", "", ""},
		{"@example.org", "", ""},
		{"ada@", "", ""},
		{"ada@localhost", "", ""},
		{"ada@192.0.2.1", "", ""},
		{"ada@[192.0.2.1]", "", ""},
		{"a@b@example.org", "", ""},
		{"Ada <ada@example.org>", "", ""},
		{`"a b"@example.org`, "", ""},
		{".ada@example.org", "", ""},
		{"a..b@example.org", "", ""},
		{"ada@exa mple.org", "", ""},
		{"ada\r\nBcc: x@example.org", "", ""},
		{"ada@example.org\nx", "", ""},
		{"ädä@example.org", "", ""},
		{strings.Repeat("a", 65) + "@example.org", "", ""},
		{"a@" + strings.Repeat("b.", 126) + "org", "", ""},
	} {
		address, key, err := parseEmail(c.typed)
		if address != c.address || key != c.key || (err == nil) != (c.address != "") {
			t.Errorf("%q: got %q, %q, %v", c.typed, address, key, err)
		}
	}
}

func TestCheckPassword_RejectsWeakPasswords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		password string
		want     registrar.Code
	}{
		{"Vier Pferde am Deich", ""},
		{"correct horse battery", ""},
		{"ünïcödé ßécret", ""},
		{"neunzeich", PasswordShort},
		{"", PasswordShort},
		{strings.Repeat("abcdefg ", 16), ""},
		{strings.Repeat("abcdefg ", 16) + "x", PasswordLong},
		{strings.Repeat("x", 5000), PasswordLong},
		{"ada@example.org", PasswordIsEmail},
		{"ADA@Example.org", PasswordIsEmail},
		{"ada1234567890", PasswordIsEmail},
		{"1234567890", PasswordCommon},
		{"aaaaaaaaaaaaa", PasswordCommon},
		{"abababababab", PasswordCommon},
		{"qwertzuiop", PasswordCommon},
		{"Passwort123!", PasswordCommon},
		{"P4ssw0rd2026", PasswordCommon},
		{"password password", ""}, // two words, though not good ones
		{"passwortpasswort", PasswordCommon},
		{"with\x00nul and more", PasswordUnusable},
		{"not utf-8 \xff\xfe here", PasswordUnusable},
	} {
		if got := registrar.CodeOf(checkPassword(c.password, "ada@example.org")); got != c.want {
			t.Errorf("%q: got %q, want %q", c.password, got, c.want)
		}
	}
}

var cheapCost = Cost{Memory: 64, Passes: 1}

func TestHasher_PasswordMatchesInEveryUnicodeForm(t *testing.T) {
	t.Parallel()
	h := newHasher(Config{Cost: cheapCost})
	hash := h.hashPassword(t.Context(), "schöner Tag")
	if ok, outdated, err := h.matches(t.Context(), hash, "scho\u0308ner Tag"); !ok || outdated || err != nil {
		t.Errorf("the same password, typed on another machine: %v, %v, %v", ok, outdated, err)
	}
	if ok, _, _ := h.matches(t.Context(), hash, "schoner Tag"); ok {
		t.Error("another password matches")
	}
	if ok, _, err := h.matches(t.Context(), "", ""); ok || err != nil {
		t.Errorf("an account without a password can be opened: %v", err)
	}
	if again := h.hashPassword(t.Context(), "schöner Tag"); again == hash {
		t.Error("two hashes of a password are the same")
	}
}

// deriver computes elsewhere, or fails to.
type deriver func(Derivation) ([]byte, error)

func (d deriver) Derive(ctx context.Context, derivation Derivation) ([]byte, error) {
	if _, ends := ctx.Deadline(); !ends {
		return nil, errors.New("a wait without an end")
	}
	return d(derivation)
}

func TestHasher_FallsBackWhenDeriverFails(t *testing.T) {
	t.Parallel()
	reference := newHasher(Config{Cost: cheapCost})
	for what, elsewhere := range map[string]deriver{
		"elsewhere":          func(d Derivation) ([]byte, error) { return d.Key(), nil },
		"elsewhere it fails": func(Derivation) ([]byte, error) { return nil, errors.New("no") },
		"half a key comes":   func(d Derivation) ([]byte, error) { return d.Key()[:16], nil },
		"no key comes":       func(Derivation) ([]byte, error) { return nil, nil },
	} {
		calls := 0
		h := newHasher(Config{Cost: cheapCost, Deriver: deriver(func(d Derivation) ([]byte, error) {
			calls++
			return elsewhere(d)
		})})
		hash := h.hashPassword(t.Context(), "schöner Tag")
		if ok, outdated, err := reference.matches(t.Context(), hash, "schöner Tag"); !ok || outdated || err != nil {
			t.Errorf("%s: %v, %v, %v", what, ok, outdated, err)
		}
		gone, leave := context.WithCancel(t.Context())
		leave() // who has gone away changes nothing about a hash
		if ok, _, err := h.matches(gone, hash, "schöner Tag"); !ok || err != nil {
			t.Errorf("%s: the right password: %v, %v", what, ok, err)
		}
		if ok, _, err := h.matches(t.Context(), hash, "schoner Tag"); ok || err != nil {
			t.Errorf("%s: a wrong password: %v, %v", what, ok, err)
		}
		if calls != 3 {
			t.Errorf("%s: asked %d times", what, calls)
		}
	}
}

func TestHasher_DefaultCostIs64MiBThreePassesOneLane(t *testing.T) {
	t.Parallel()
	hash := newHasher(Config{}).hashPassword(t.Context(), "Vier Pferde am Deich")
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=65536,t=3,p=1$") {
		t.Errorf("got %q", hash)
	}
}

func TestParsePHC_RejectsExcessiveCost(t *testing.T) {
	t.Parallel()
	h := newHasher(Config{Cost: cheapCost})
	const rest = "$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	if _, err := parsePHC("$argon2id$v=19$m=65536,t=3,p=1" + rest); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"$argon2id$v=19$m=4294967295,t=3,p=1" + rest, "$argon2id$v=19$m=65536,t=4000000,p=1" + rest,
		"$argon2id$v=19$m=65536,t=3,p=255" + rest, "$argon2id$v=19$m=65536,t=0,p=1" + rest, "$argon2i$v=19$m=65536,t=3,p=1" + rest,
		"$argon2id$v=16$m=65536,t=3,p=1" + rest, "$2a$10$abcdefghijklmnopqrstuv", "x", "$argon2id$v=19$m=65536,t=3,p=1$$",
	} {
		if _, err := parsePHC(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
		if ok, _, err := h.matches(t.Context(), text, "x"); ok || err == nil {
			t.Errorf("%q opened an account", text)
		}
	}
}

// countingLimiter is a Limiter that never refuses.
type countingLimiter struct{ failures int }

func (c *countingLimiter) Peek(string) time.Duration  { return 0 }
func (c *countingLimiter) Count(string) time.Duration { c.failures++; return 0 }

func TestHasher_LongWaitReturnsBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHasher(Config{Hashes: 1, MaxWaiting: 3, Cost: cheapCost})
		release := make(chan struct{})
		go func() { _ = h.run(t.Context(), requester{}, func() error { <-release; return nil }) }()
		synctest.Wait()

		deadline, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		var wrong countingLimiter
		_, err := h.verify(deadline, requester{}, budgetSet{{&wrong, "x"}}, "", "x")
		if registrar.CodeOf(err) != Busy || registrar.KindOf(err) != registrar.KindRateLimited || time.Since(begin) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
		_, err = h.verify(t.Context(), requester{}, nil, "", "x") // without a deadline
		if registrar.CodeOf(err) != Busy || time.Since(begin) != time.Second+maxWait {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
		if wrong.failures != 0 {
			t.Error("a password that nobody looked at was counted as wrong")
		}
		// The queue is bounded: one works, two wait, the fourth is sent away at once.
		begin = time.Now()
		for range 2 {
			go func() { _ = h.run(t.Context(), requester{}, func() error { return nil }) }()
		}
		synctest.Wait()
		if err := h.run(t.Context(), requester{}, func() error { return nil }); registrar.CodeOf(err) != Busy || time.Since(begin) != 0 {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
		close(release)
		synctest.Wait()
		if _, err := h.verify(t.Context(), requester{}, nil, "", "x"); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

func TestHasher_OneNetworkCannotFillQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHasher(Config{Hashes: 1, MaxWaiting: 100, Cost: cheapCost})
		release := make(chan struct{})
		for range maxPerNetwork {
			go func() {
				_ = h.run(t.Context(), requester{network: "192.0.2.7"}, func() error { <-release; return nil })
			}()
		}
		synctest.Wait()
		if err := h.run(t.Context(), requester{network: "192.0.2.7"}, func() error { return nil }); registrar.CodeOf(err) != Busy {
			t.Errorf("one more of the same network: %v", err)
		}
		done := make(chan error, 1)
		go func() { done <- h.run(t.Context(), requester{network: "192.0.2.8"}, func() error { return nil }) }()
		synctest.Wait()
		close(release)
		if err := <-done; err != nil {
			t.Errorf("one of another network: %v", err)
		}
		synctest.Wait()
		if len(h.perKey) != 0 {
			t.Errorf("%d networks are remembered after all have left", len(h.perKey))
		}
	})
}

func TestHasher_ConcurrencyIsBounded(t *testing.T) {
	t.Parallel()
	for places, want := range map[int]int{1: 1, 2: 2, 4: 4} {
		if got := newHasher(Config{Hashes: places, MaxWaiting: 1, Cost: cheapCost}).slots; got != want {
			t.Errorf("%d places: got %d", places, got)
		}
	}
	if got := newHasher(Config{MaxWaiting: 1, Cost: cheapCost}).slots; got < 1 || got > 2 {
		t.Errorf("by default %d hashes at a time; two take 128 MiB, and as much garbage", got)
	}
}

// startBlockedHashes starts a hash for each requester that does not end before release, and
// returns how many were let in.
func startBlockedHashes(t *testing.T, h *hasher, requesters []requester, release chan struct{}) int {
	t.Helper()
	var refused atomic.Int32
	for _, r := range requesters {
		go func() {
			if h.run(t.Context(), r, func() error { <-release; return nil }) != nil {
				refused.Add(1)
			}
		}()
		synctest.Wait()
	}
	return len(requesters) - int(refused.Load())
}

// requesterAt is a requester at an address.
func requesterAt(address, account string) requester {
	return requesterOf(registrar.Actor{Address: netip.MustParseAddr(address)}, account)
}

func TestHasher_OneIPv6SiteCannotFillQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHasher(Config{Hashes: 1, MaxWaiting: 1000, Cost: cheapCost})
		release := make(chan struct{})
		var networks []requester
		for i := range 100 { // 100 networks of one /48
			networks = append(networks, requesterAt(fmt.Sprintf("2001:db8:1:%x::1", i), ""))
		}
		if got := startBlockedHashes(t, h, networks, release); got != maxPerSite {
			t.Errorf("%d of one /48 were let in, want %d", got, maxPerSite)
		}
		if got := startBlockedHashes(t, h, []requester{requesterAt("2001:db8:2::1", ""), requesterAt("192.0.2.7", ""), requesterAt("::ffff:192.0.2.7", "")}, release); got != 3 {
			t.Errorf("%d of three others were let in", got)
		}
		close(release)
		synctest.Wait()
		if len(h.perKey) != 0 || h.free != 1 || h.queued != [queueCount]int{} {
			t.Errorf("left behind: %d shares, %d free, %v inside", len(h.perKey), h.free, h.queued)
		}
	})
}

// An attacker with very many networks fills the queue; known devices are served.
func TestHasher_KnownDeviceServedWhileUnknownQueueIsFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const took = time.Second
		h := newHasher(Config{Hashes: 1, MaxWaiting: 1000, Cost: cheapCost})
		h.lastDuration.Store(int64(took))
		work := func() error { time.Sleep(took); return nil }
		served := func(r requester) (time.Duration, error) {
			begin := time.Now()
			err := h.run(t.Context(), r, work)
			return time.Since(begin), err
		}
		for i := range 1000 { // each of a /48 of its own
			go func() { _, _ = served(requesterAt(fmt.Sprintf("2001:db8:%x::1", i), "")) }()
		}
		synctest.Wait()
		if _, err := served(requesterAt("2001:db8:ffff::1", "")); registrar.CodeOf(err) != Busy {
			t.Fatalf("the queue is not full: %v", err)
		}
		// From the attacker's own network, too.
		for _, address := range []string{"192.0.2.7", "2001:db8:1::1"} {
			if waited, err := served(requesterAt(address, "cus_1")); err != nil || waited > 3*took {
				t.Errorf("a known device at %s was served after %v: %v", address, waited, err)
			}
		}
	})
}

func TestHasher_KnownQueueYieldsEveryFourthSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHasher(Config{Hashes: 1, MaxWaiting: 100, Cost: cheapCost})
		release := make(chan struct{})
		startBlockedHashes(t, h, []requester{requesterAt("192.0.2.1", "")}, release)
		var mu sync.Mutex
		var order []queue
		for i := range 8 {
			for _, r := range []requester{requesterAt(fmt.Sprintf("192.0.2.%d", 10+i), ""), requesterAt(fmt.Sprintf("192.0.2.%d", 10+i), fmt.Sprintf("cus_%d", i))} {
				go func() {
					_ = h.run(t.Context(), r, func() error {
						mu.Lock()
						defer mu.Unlock()
						order = append(order, r.queue())
						return nil
					})
				}()
				synctest.Wait()
			}
		}
		close(release)
		synctest.Wait()
		const k, u = knownQueue, unknownQueue
		if want := []queue{k, k, k, u, k, k, k, u, k, k, u, u, u, u, u, u}; !slices.Equal(order, want) {
			t.Errorf("served in the order %v, want %v", order, want)
		}
	})
}

// Whoever has many known devices of one account can't fill the queue of the others.
func TestHasher_OneAccountCannotFillKnownQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHasher(Config{Hashes: 1, MaxWaiting: 100, Cost: cheapCost})
		release := make(chan struct{})
		var devices []requester
		for i := range 50 {
			devices = append(devices, requesterAt(fmt.Sprintf("2001:db8:%x::1", i), "cus_1"))
		}
		startBlockedHashes(t, h, devices, release) // the others wait where strangers wait
		if got := h.queued[knownQueue]; got != maxPerAccount {
			t.Errorf("%d of one account are in the known queue, want %d", got, maxPerAccount)
		}
		if got := startBlockedHashes(t, h, []requester{requesterAt("2001:db8:1::1", "cus_2"), requesterAt("2001:db8:1::1", "")}, release); got != 2 {
			t.Errorf("%d of two others were let in", got)
		}
		close(release)
		synctest.Wait()
	})
}

// A place that is handed to someone who is just leaving goes on to the next.
func TestHasher_SlotOfCancelledWaiterIsReused(t *testing.T) {
	t.Parallel()
	h := newHasher(Config{Hashes: 2, MaxWaiting: 1000, Cost: cheapCost})
	var all sync.WaitGroup
	for i := range 500 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			r := requester{}
			if i%2 == 0 {
				r.account = fmt.Sprintf("cus_%d", i)
			}
			_ = h.run(ctx, r, func() error { return nil })
		})
	}
	all.Wait()
	if h.free != 2 || len(h.perKey) != 0 || h.queued != [queueCount]int{} || h.queues[0].Len()+h.queues[1].Len() != 0 {
		t.Errorf("left behind: %d free, %d shares, %v inside", h.free, len(h.perKey), h.queued)
	}
}

func TestPasskeyOrigins_DerivedFromBaseURL(t *testing.T) {
	t.Parallel()
	for base, want := range map[string][]string{
		"https://kontor.example":      {"https://kontor.example"},
		"https://Kontor.example:443/": {"https://kontor.example"},
		"https://kontor.example:8443": {"https://kontor.example:8443"},
		"http://127.0.0.1:8080":       {"http://localhost:8080"},
		"http://[::1]:8080":           {"http://localhost:8080"},
		"http://localhost:8080":       {"http://localhost:8080"},
		"http://kontor.example":       nil,
		"https://192.0.2.1":           nil,
		"":                            nil,
	} {
		got := PasskeyOrigins(base)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", base, got, want)
		}
		if _, err := newRelyingParties(got, "dotkontor"); err != nil {
			t.Errorf("%s: %v", base, err)
		}
	}
}

func TestNetwork_IPv6CountsBySlash64(t *testing.T) {
	t.Parallel()
	a, b := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::ffff:2%eth0")
	if registrar.Network(a) != registrar.Network(b) || registrar.Network(a) == registrar.Network(netip.MustParseAddr("2001:db8:0:1::1")) {
		t.Error("addresses count by their /64")
	}
	if registrar.Network(netip.MustParseAddr("::ffff:192.0.2.1")) != registrar.Network(netip.MustParseAddr("192.0.2.1")) {
		t.Error("an IPv4 address written as IPv6 has a budget of its own")
	}
}

func TestSealTOTP_BoundToAccount(t *testing.T) {
	t.Parallel()
	seal, err := registrar.NewSeal([32]byte{7})
	if err != nil {
		t.Fatal(err)
	}
	s := &Service{seal: seal}
	sealed := s.sealTOTP("cus_ada", "JBSWY3DPEHPK3PXP")
	if secret, err := s.openTOTP("cus_ada", sealed); err != nil || secret != "JBSWY3DPEHPK3PXP" {
		t.Errorf("got %q, %v", secret, err)
	}
	if _, err := s.openTOTP("cus_bob", sealed); err == nil {
		t.Error("a secret was copied to another account")
	}
	for _, broken := range []string{"", "!", sealed[:10], sealed[:len(sealed)-2] + "AA"} {
		if _, err := s.openTOTP("cus_ada", broken); err == nil {
			t.Errorf("%q was opened", broken)
		}
	}
}
