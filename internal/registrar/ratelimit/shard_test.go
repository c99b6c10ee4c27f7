package ratelimit

import (
	"testing"
	"time"
)

func TestSweep_RemovesExactlyStaleKeys(t *testing.T) {
	t.Parallel()
	limiter, clock := withClock(t, contractWindows()...)
	for n := range 1000 {
		limiter.Allow(keyNumber(n))
	}
	clock.advance(time.Hour)
	for n := 1000; n < 1500; n++ {
		limiter.Allow(keyNumber(n))
	}
	limiter.Allow(keyNumber(0))
	clock.set(6 * time.Hour)
	if got := limiter.Sweep(); got != 0 || limiter.Len() != 1500 {
		t.Fatalf("at the edge of the window: %d removed, %d left", got, limiter.Len())
	}
	clock.advance(tickLength)
	if got := limiter.Sweep(); got != 999 || limiter.Len() != 501 {
		t.Fatalf("after the window: %d removed, %d left; want 999 and 501", got, limiter.Len())
	}
	clock.advance(time.Hour)
	if got := limiter.Sweep(); got != 501 || limiter.Len() != 0 {
		t.Fatalf("an hour later: %d removed, %d left; want 501 and 0", got, limiter.Len())
	}
}

func TestSweep_ChangesNoDecision(t *testing.T) {
	t.Parallel()
	swept, sweptClock := withClock(t, contractWindows()...)
	plain, plainClock := withClock(t, contractWindows()...)
	for i := range 3000 {
		if got, want := swept.Allow(keyNumber(i%2)), plain.Allow(keyNumber(i%2)); got != want {
			t.Fatalf("call %d: %+v with sweeps, %+v without", i, got, want)
		}
		delay := time.Duration(i*i%97) * time.Second
		if i%500 == 499 {
			delay = 5 * time.Hour
		}
		sweptClock.advance(delay)
		plainClock.advance(delay)
		swept.Sweep()
	}
}

func TestSweep_ShrinksMostlyEmptyLogs(t *testing.T) {
	t.Parallel()
	limiter, clock := withClock(t, Window{Limit: 300, Per: time.Hour})
	key := keyNumber(1)
	capacity := func() int {
		shard := limiter.shardOf(key)
		older := shard.logs.hits(shard.keys[key]).older
		if older == nil {
			return 0
		}
		return len(older.ticks)
	}
	spend(t, limiter, key, 290)
	clock.advance(30 * time.Minute)
	spend(t, limiter, key, 10)
	if limiter.Sweep(); capacity() != 299 {
		t.Fatalf("capacity %d after 300 hits, want 299", capacity())
	}
	clock.advance(40 * time.Minute)
	if limiter.Sweep(); capacity() != 18 {
		t.Fatalf("capacity %d with 10 hits left, want 18", capacity())
	}
	if got := limiter.Peek(key).Remaining; got != 290 {
		t.Fatalf("%d left, want 290", got)
	}
	clock.advance(10 * time.Minute)
	spend(t, limiter, key, 100)
	if got := limiter.Peek(key).Remaining; got != 190 {
		t.Fatalf("%d left, want 190", got)
	}
}

func TestSweep_RebuildsMapAfterManyDeletions(t *testing.T) {
	t.Parallel()
	c := &clock{}
	limiter := newLimiter(t, Config{Windows: contractWindows(), MaxKeys: 1000, Now: c.now})
	for n := range 1000 {
		limiter.Allow(keyNumber(n))
	}
	c.advance(6 * time.Hour)
	spend(t, limiter, keyNumber(7), 2)
	c.advance(tickLength)
	limiter.Sweep()
	if got := limiter.shards[0].deleted; got != 0 || limiter.Len() != 1 {
		t.Errorf("map with %d keys still has %d deleted slots", limiter.Len(), got)
	}
	if got := limiter.Peek(keyNumber(7)).Remaining; got != 28 {
		t.Errorf("remaining key has %d left, want 28", got)
	}
}

func TestLimiter_KeyCountIsBounded(t *testing.T) {
	t.Parallel()
	for _, bound := range []int{1, 2, 100, 1023, 1024, 5000, 200_000} {
		limiter := newLimiter(t, Config{Windows: contractWindows(), MaxKeys: bound, Now: (&clock{}).now})
		for n := range bound * 2 {
			if !limiter.Allow(keyNumber(n)).Allowed {
				t.Fatalf("bound %d: new key %d refused", bound, n)
			}
		}
		// Shards fill unevenly, but after twice as many keys all are full.
		if got, least := limiter.Len(), bound-len(limiter.shards); got > bound || got < least {
			t.Errorf("bound %d: %d keys, want from %d", bound, got, least)
		}
	}
}

func TestEvict_KeepsBusyKeys(t *testing.T) {
	t.Parallel()
	const busy = 10
	limiter := newLimiter(t, Config{Windows: contractWindows(), MaxKeys: 1000, Now: (&clock{}).now})
	for n := range busy {
		spend(t, limiter, keyNumber(n), 30)
	}
	for n := range 100_000 {
		limiter.Allow(keyNumber(busy + n))
	}
	for n := range busy {
		if limiter.Peek(keyNumber(n)).Allowed {
			t.Errorf("busy key %d evicted", n)
		}
	}
}

func TestEvict_RemovesStaleKeysFirst(t *testing.T) {
	t.Parallel()
	c := &clock{}
	limiter := newLimiter(t, Config{Windows: contractWindows(), MaxKeys: 1000, Now: c.now})
	for n := range 500 {
		limiter.Allow(keyNumber(n))
	}
	c.advance(6*time.Hour + tickLength)
	for n := 500; n < 1500; n++ {
		limiter.Allow(keyNumber(n))
	}
	for n := 500; n < 1500; n++ {
		if limiter.Peek(keyNumber(n)).Remaining != 29 {
			t.Fatalf("key %d evicted despite 500 stale ones", n)
		}
	}
}

func TestEvict_PrefersStaleOverQuietKeyBetweenSweeps(t *testing.T) {
	t.Parallel()
	c := &clock{}
	limiter := newLimiter(t, Config{Windows: contractWindows(), MaxKeys: 3, Now: c.now})
	const stale, quiet, newer, newest = 1, 2, 3, 4
	spend(t, limiter, keyNumber(stale), 20)
	c.advance(6*time.Hour - time.Minute)
	limiter.Allow(keyNumber(0))
	c.advance(time.Second)
	limiter.Allow(keyNumber(quiet))
	// The shard is full: the sweep frees nothing and key 0 is evicted.
	limiter.Allow(keyNumber(newer))
	c.advance(2 * time.Minute)
	limiter.Allow(keyNumber(newest))
	for _, n := range []int{quiet, newer, newest} {
		if _, found := limiter.shards[0].keys[keyNumber(n)]; !found {
			t.Errorf("key %d evicted", n)
		}
	}
}

// Without a minimum interval between sweeps, each new key would walk over all others.
func TestSweep_FullShardIsNotSweptForEachNewKey(t *testing.T) {
	t.Parallel()
	c := &clock{}
	limiter := newLimiter(t, Config{Windows: contractWindows(), MaxKeys: 100, Now: c.now})
	for n := range 101 {
		limiter.Allow(keyNumber(n))
	}
	next := limiter.shards[0].nextSweep
	if next <= limiter.moment().tick() {
		t.Fatal("a full shard was swept and allows the next sweep at once")
	}
	c.advance(time.Minute)
	limiter.Allow(keyNumber(101))
	if limiter.shards[0].nextSweep != next {
		t.Error("a full shard was swept again a minute later")
	}
	c.advance(6 * time.Hour / sweepsPerWindow)
	limiter.Allow(keyNumber(102))
	if limiter.shards[0].nextSweep == next {
		t.Error("a full shard was not swept again in time")
	}
}
