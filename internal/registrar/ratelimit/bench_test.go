package ratelimit

import (
	"math/rand/v2"
	"testing"
)

// benchmarkAllow measures decisions over the given number of keys on the real
// clock, from as many goroutines as there are cores.
func benchmarkAllow(b *testing.B, keys int) {
	limiter := newLimiter(b, Config{Windows: contractWindows()})
	for n := range keys {
		limiter.Allow(keyNumber(n))
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		n := rand.IntN(keys)
		for pb.Next() {
			// A large odd step visits keys in an order that defeats the
			// processor's cache.
			n = (n + 7_368_787) % keys
			limiter.Allow(keyNumber(n))
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
}

func BenchmarkLimiterOneKey(b *testing.B)      { benchmarkAllow(b, 1) }
func BenchmarkLimiterFewKeys(b *testing.B)     { benchmarkAllow(b, 10) }
func BenchmarkLimiterManyKeys(b *testing.B)    { benchmarkAllow(b, 10_000) }
func BenchmarkLimiterMillionKeys(b *testing.B) { benchmarkAllow(b, 1_000_000) }

// BenchmarkLimiterFlood is the worst case: each call has a new key and evicts
// another one.
func BenchmarkLimiterFlood(b *testing.B) {
	limiter := newLimiter(b, Config{Windows: contractWindows(), MaxKeys: 200_000})
	for n := range 250_000 {
		limiter.Allow(keyNumber(n))
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		n := rand.IntN(1 << 30)
		for pb.Next() {
			n++
			limiter.Allow(keyNumber(n))
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
}

func BenchmarkLimiterSweepMillionKeys(b *testing.B) {
	limiter := newLimiter(b, Config{Windows: contractWindows()})
	for n := range 1_000_000 {
		limiter.Allow(keyNumber(n))
	}
	for b.Loop() {
		limiter.Sweep()
	}
}
