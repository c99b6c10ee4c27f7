package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

const (
	wantedDecisions   = 2_000_000
	wantedMillionMB   = 200
	wantedFullLog     = 1536
	wantedLeftOverMB  = 1
	fullLogs          = 10_000 // enough to measure the size of one
	million           = 1_000_000
	decisionsAtATime  = 256
	perMinute, per6h  = 30, 300
	minutesForFullLog = per6h / perMinute
	tick              = time.Millisecond
)

// The contract's windows.
func windows() []ratelimit.Window {
	return []ratelimit.Window{{Limit: perMinute, Per: time.Minute}, {Limit: per6h, Per: 6 * time.Hour}}
}

// benchLimiter measures the limiter alone, in this process.
func benchLimiter(ctx context.Context, b bench) ([]measurement, error) {
	b.progress("measuring the limiter")
	var lines []measurement
	for _, crowd := range []struct {
		what string
		size uint32
	}{
		{"limiter, decisions over a million addresses", million},
		{"limiter, decisions over 10,000 addresses", 10_000},
	} {
		rate, accepted, err := decisions(ctx, b, crowd.size)
		if err != nil {
			return nil, err
		}
		lines = append(lines, newMeasurement(crowd.what, rate, perSecond, atLeast(wantedDecisions),
			fmt.Sprintf("all cores; %.0f %% of them accepted", 100*accepted)))
	}
	memory, err := limiterMemory()
	return append(lines, memory...), err
}

// decisions returns the decisions per second of all cores, and the share of accepted
// requests.
func decisions(ctx context.Context, b bench, crowd uint32) (rate, accepted float64, err error) {
	limiter, err := ratelimit.New(ratelimit.Config{Windows: windows()})
	if err != nil {
		return 0, 0, err
	}
	for n := range crowd {
		limiter.Allow(addressKey(n))
	}
	runtime.GC() // earlier garbage must not be collected during the rounds
	var rates, shares []float64
	for range b.rounds {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		rate, share := decideOnAllCores(limiter, crowd, b.duration/2)
		rates, shares = append(rates, rate), append(shares, share)
	}
	return median(rates), median(shares), nil
}

func decideOnAllCores(limiter *ratelimit.Limiter, crowd uint32, duration time.Duration) (rate, accepted float64) {
	var (
		all          sync.WaitGroup
		done, passed atomic.Int64
		over         atomic.Bool
	)
	began := time.Now()
	timer := time.AfterFunc(duration, func() { over.Store(true) })
	defer timer.Stop()
	cores := runtime.GOMAXPROCS(0)
	for core := range cores {
		all.Go(func() {
			// Large odd steps defeat the processor's caches.
			const step = 7_368_787
			n := uint64(core) * uint64(crowd) / uint64(cores)
			for !over.Load() {
				let := int64(0)
				for range decisionsAtATime {
					n = (n + step) % uint64(crowd)
					if limiter.Allow(addressKey(uint32(n))).Allowed {
						let++
					}
				}
				done.Add(decisionsAtATime)
				passed.Add(let)
			}
		})
	}
	all.Wait()
	made := float64(done.Load())
	return made / time.Since(began).Seconds(), float64(passed.Load()) / made
}

// addressKey is the budget of the n-th IPv4 address.
func addressKey(n uint32) ratelimit.Key {
	var bytes [4]byte
	binary.BigEndian.PutUint32(bytes[:], n)
	return ratelimit.AddressKey(netip.AddrFrom4(bytes))
}

// limiterMemory fills limiters that have their own clock, so that six hours pass at
// once.
func limiterMemory() ([]measurement, error) {
	clock := &clock{at: time.Unix(0, 0)}
	before := heap()
	limiter, err := ratelimit.New(ratelimit.Config{Windows: windows(), Now: clock.now})
	if err != nil {
		return nil, err
	}
	for n := range uint32(million) {
		limiter.Allow(addressKey(n))
	}
	crowd := heap() - before
	clock.at = clock.at.Add(6*time.Hour + tick)
	limiter.Sweep()
	remembered := limiter.Len()
	leftOver := heap() - before
	runtime.KeepAlive(limiter)

	full, err := fullLogBytes(clock)
	if err != nil {
		return nil, err
	}
	const mb = 1e6
	return []measurement{
		newMeasurement("limiter, memory of a million addresses", float64(crowd)/mb, megabytes, atMost(wantedMillionMB), "one request each"),
		newMeasurement("limiter, memory of an address with 300 requests", float64(full), bytesEach, atMost(wantedFullLog), "mean of 10,000"),
		newMeasurement("limiter, addresses known after 6 h", float64(remembered), count, atMost(0), "of a million, after a sweep"),
		newMeasurement("limiter, memory kept after 6 h", float64(leftOver)/mb, megabytes, atMost(wantedLeftOverMB), "of the million's"),
	}, nil
}

// fullLogBytes returns the memory of an address that has used its whole budget.
func fullLogBytes(clock *clock) (int64, error) {
	before := heap()
	limiter, err := ratelimit.New(ratelimit.Config{Windows: windows(), Now: clock.now})
	if err != nil {
		return 0, err
	}
	for range minutesForFullLog {
		for n := range uint32(fullLogs) {
			for range perMinute {
				limiter.Allow(addressKey(n))
			}
		}
		clock.at = clock.at.Add(time.Minute + tick)
	}
	used := heap() - before
	runtime.KeepAlive(limiter)
	return used / fullLogs, nil
}

// clock is a clock that only moves when set.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// heap returns the heap in use. The second collection frees what the first one only
// finalised.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
