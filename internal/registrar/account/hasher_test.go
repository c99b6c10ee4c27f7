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
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

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
		t.Errorf("an account without a password accepts one: %v", err)
	}
	if again := h.hashPassword(t.Context(), "schöner Tag"); again == hash {
		t.Error("two hashes of a password are the same")
	}
}

// deriver is a Deriver that may fail.
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
		leave() // a canceled context does not abort a hash
		if ok, _, err := h.matches(gone, hash, "schöner Tag"); !ok || err != nil {
			t.Errorf("%s: the right password: %v, %v", what, ok, err)
		}
		if ok, _, err := h.matches(t.Context(), hash, "schoner Tag"); ok || err != nil {
			t.Errorf("%s: a wrong password: %v, %v", what, ok, err)
		}
		if calls != 3 {
			t.Errorf("%s: called %d times", what, calls)
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
		wrong, err := ratelimit.New(ratelimit.Config{Windows: []ratelimit.Window{{Limit: 10, Per: time.Hour}}})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = h.verify(deadline, requester{}, budgetSet{{wrong, "x"}}, "", "x")
		if registrar.CodeOf(err) != Busy || registrar.KindOf(err) != registrar.KindRateLimited || time.Since(begin) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
		_, _, err = h.verify(t.Context(), requester{}, nil, "", "x") // without a deadline
		if registrar.CodeOf(err) != Busy || time.Since(begin) != time.Second+maxWait {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
		if wrong.Len() != 0 {
			t.Error("a password that was not checked was counted as wrong")
		}
		// The queue is bounded: one runs, two wait, the fourth is refused at once.
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
		if _, _, err := h.verify(t.Context(), requester{}, nil, "", "x"); err != nil {
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
			t.Errorf("%d networks are counted after all requests ended", len(h.perKey))
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
		t.Errorf("default of %d concurrent hashes, want at most 2", got)
	}
}

// startBlockedHashes starts a hash for each requester that blocks until release, and returns how
// many were admitted.
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
			t.Errorf("%d of one /48 were admitted, want %d", got, maxPerSite)
		}
		if got := startBlockedHashes(t, h, []requester{requesterAt("2001:db8:2::1", ""), requesterAt("192.0.2.7", ""), requesterAt("::ffff:192.0.2.7", "")}, release); got != 3 {
			t.Errorf("%d of three others were admitted", got)
		}
		close(release)
		synctest.Wait()
		if len(h.perKey) != 0 || h.free != 1 || h.queued != [queueCount]int{} {
			t.Errorf("left over: %d keys, %d free slots, %v queued", len(h.perKey), h.free, h.queued)
		}
	})
}

// An attacker with many networks fills the unknown queue; known devices are still served.
func TestHasher_KnownDeviceServedWhileUnknownQueueIsFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const took = time.Second
		h := newHasher(Config{Hashes: 1, MaxWaiting: 1000, Cost: cheapCost})
		h.averageDuration.Store(int64(took))
		work := func() error { time.Sleep(took); return nil }
		served := func(r requester) (time.Duration, error) {
			begin := time.Now()
			err := h.run(t.Context(), r, work)
			return time.Since(begin), err
		}
		for i := range 1000 { // each from another /48
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

// Many known devices of one account can't fill the known queue.
func TestHasher_OneAccountCannotFillKnownQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHasher(Config{Hashes: 1, MaxWaiting: 100, Cost: cheapCost})
		release := make(chan struct{})
		var devices []requester
		for i := range 50 {
			devices = append(devices, requesterAt(fmt.Sprintf("2001:db8:%x::1", i), "cus_1"))
		}
		startBlockedHashes(t, h, devices, release) // the others fall back to the unknown queue
		if got := h.queued[knownQueue]; got != maxPerAccount {
			t.Errorf("%d of one account are in the known queue, want %d", got, maxPerAccount)
		}
		if got := startBlockedHashes(t, h, []requester{requesterAt("2001:db8:1::1", "cus_2"), requesterAt("2001:db8:1::1", "")}, release); got != 2 {
			t.Errorf("%d of two others were admitted", got)
		}
		close(release)
		synctest.Wait()
	})
}

// A slot handed to a request that is being canceled passes to the next.
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
		t.Errorf("left over: %d free slots, %d keys, %v queued", h.free, len(h.perKey), h.queued)
	}
}
