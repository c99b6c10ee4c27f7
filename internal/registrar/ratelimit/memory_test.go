package ratelimit

import (
	"runtime"
	"testing"
	"time"
)

// heapInUse returns the heap size after garbage collection. The second run
// collects what the first one finalised.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// These tests don't run in parallel, to exclude other tests' garbage.
func skipUnlessMeasurable(t *testing.T) {
	t.Helper()
	if testing.Short() || raceEnabled {
		t.Skip("memory is measured in full runs without the race detector")
	}
}

func TestMemory_MillionKeysFitIn120MBAndAreFreed(t *testing.T) {
	skipUnlessMeasurable(t)
	before := heapInUse()
	limiter, clock := withClock(t, contractWindows()...)
	for n := range 1_000_000 {
		limiter.Allow(keyNumber(n))
	}
	used := heapInUse() - before
	t.Logf("%d bytes for each of a million keys with one hit", used/1_000_000)
	if used > 120_000_000 {
		t.Errorf("%d bytes for a million keys, want at most 120 MB", used)
	}
	clock.advance(6*time.Hour + tickLength)
	if got := limiter.Sweep(); got != 1_000_000 {
		t.Errorf("%d keys removed, want a million", got)
	}
	left := heapInUse() - before
	t.Logf("%d bytes after all were forgotten", left)
	if left > 1_000_000 {
		t.Errorf("%d bytes left after removing all keys, want at most 1 MB", left)
	}
	runtime.KeepAlive(limiter)
}

func TestMemory_FullLogFitsIn1536Bytes(t *testing.T) {
	skipUnlessMeasurable(t)
	const keys = 10_000
	before := heapInUse()
	limiter, clock := withClock(t, contractWindows()...)
	for range 10 {
		for n := range keys {
			spend(t, limiter, keyNumber(n), 30)
		}
		clock.advance(time.Minute + tickLength)
	}
	used := (heapInUse() - before) / keys
	t.Logf("%d bytes for a key with 300 hits", used)
	if used > 1536 {
		t.Errorf("%d bytes for a key with 300 hits, want at most 1536", used)
	}
	runtime.KeepAlive(limiter)
}

// Go's maps grow when keys come and go at constant length, so both ways of
// removal must prevent that.
func TestMemory_StableUnderKeyChurn(t *testing.T) {
	skipUnlessMeasurable(t)
	const keys, turns = 50_000, 40
	tests := []struct {
		name  string
		bound int
		// pause is the time between two calls, chosen so that six hours see as many calls as keys.
		pause time.Duration
	}{
		{"a flood at the bound", keys, 0},
		{"a steady flow below the bound", 4 * keys, 6 * time.Hour / keys},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := heapInUse()
			clock := &clock{}
			limiter := newLimiter(t, Config{Windows: contractWindows(), MaxKeys: test.bound, Now: clock.now})
			for n := range turns * keys {
				limiter.Allow(keyNumber(n))
				clock.advance(test.pause)
				if n%(keys/50) == 0 {
					limiter.Sweep()
				}
			}
			used := (heapInUse() - before) / keys
			t.Logf("%d bytes a key after %d times as many keys", used, turns)
			if used > 120 {
				t.Errorf("%d bytes per key, want at most 120", used)
			}
			runtime.KeepAlive(limiter)
		})
	}
}
