package quota

import (
	"runtime"
	"testing"
	"time"
)

// heap is what is in use after garbage has been collected. The second run
// collects what the first one only finalised.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// These tests don't run in parallel with others, whose garbage they would see.
func skipWithoutMeaning(t *testing.T) {
	t.Helper()
	if testing.Short() || raceEnabled {
		t.Skip("memory is measured in full runs without the race detector")
	}
}

func TestMemoryOfAMillionAddressesIsAtMost120MBAndIsGivenBack(t *testing.T) {
	skipWithoutMeaning(t)
	before := heap()
	limiter, clock := withClock(t, contract()...)
	for n := range 1_000_000 {
		limiter.Allow(numbered(n))
	}
	used := heap() - before
	t.Logf("%d bytes for each of a million keys with one hit", used/1_000_000)
	if used > 120_000_000 {
		t.Errorf("%d bytes for a million keys, want at most 120 MB", used)
	}
	clock.advance(6*time.Hour + tickLength)
	if got := limiter.Sweep(); got != 1_000_000 {
		t.Errorf("%d keys forgotten, want a million", got)
	}
	left := heap() - before
	t.Logf("%d bytes after all were forgotten", left)
	if left > 1_000_000 {
		t.Errorf("%d bytes are left after all keys were forgotten, want at most 1 MB", left)
	}
	runtime.KeepAlive(limiter)
}

func TestMemoryOfAFullLogIsAtMost1536Bytes(t *testing.T) {
	skipWithoutMeaning(t)
	const keys = 10_000
	before := heap()
	limiter, clock := withClock(t, contract()...)
	for range 10 {
		for n := range keys {
			spend(t, limiter, numbered(n), 30)
		}
		clock.advance(time.Minute + tickLength)
	}
	used := (heap() - before) / keys
	t.Logf("%d bytes for a key with 300 hits", used)
	if used > 1536 {
		t.Errorf("%d bytes for a key with 300 hits, want at most 1536", used)
	}
	runtime.KeepAlive(limiter)
}

// Go's maps grow when keys come and go at a constant length, so both ways of
// forgetting must be seen not to let them.
func TestMemoryDoesNotGrowWithKeysThatComeAndGo(t *testing.T) {
	skipWithoutMeaning(t)
	const keys, turns = 50_000, 40
	tests := []struct {
		name  string
		bound int
		// pause is between two calls. In six hours there are as many as keys.
		pause time.Duration
	}{
		{"a flood at the bound", keys, 0},
		{"a steady flow below the bound", 4 * keys, 6 * time.Hour / keys},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := heap()
			clock := &clock{}
			limiter := newLimiter(t, Config{Windows: contract(), MaxKeys: test.bound, Now: clock.now})
			for n := range turns * keys {
				limiter.Allow(numbered(n))
				clock.advance(test.pause)
				if n%(keys/50) == 0 {
					limiter.Sweep()
				}
			}
			used := (heap() - before) / keys
			t.Logf("%d bytes a key after %d times as many keys", used, turns)
			if used > 120 {
				t.Errorf("%d bytes a key, want at most 120", used)
			}
			runtime.KeepAlive(limiter)
		})
	}
}
