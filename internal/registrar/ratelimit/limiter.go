package ratelimit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"time"
)

const (
	maxLimit = 100_000
	maxPer   = 11 * time.Hour // keeps a window's ticks within 32 bits

	defaultMaxKeys = 2_000_000
	maxShards      = 128 // many times the number of cores that contend
	// minShardKeys keeps shards large enough to fill evenly. With small ones the fullest
	// would evict while others are half empty.
	minShardKeys = 1024

	sweepInterval = time.Minute

	// endOfTime is where a runaway clock stops, so that adding a window to it can't overflow.
	endOfTime = 100 * 365 * 24 * time.Hour
)

// Window allows Limit requests in any span of the length Per.
type Window struct {
	Limit int           // from 1 to 100,000
	Per   time.Duration // more than 0 and at most 11 hours, in steps of 10 µs
}

// Ticks returns the length in ticks of 10 µs. Rounding up makes a window longer, never shorter.
func (w Window) Ticks() int64 { return int64((w.Per + tickLength - 1) / tickLength) }

// Decision is the outcome of a call and the state of its key right after it.
type Decision struct {
	Allowed    bool
	RetryAfter time.Duration // the time until all windows accept a request, zero if Allowed
	// Window is the index of the tightest window: the one with the fewest requests left,
	// and among equals the one that frees up last.
	Window    int
	Remaining int // the number of requests left in the tightest window
	// Reset is the time until the tightest window's oldest request leaves it; zero if unused.
	Reset time.Duration
}

// RetryAfterSeconds is RetryAfter for the Retry-After header: whole seconds, rounded up so that a
// client that complies is not refused again. It is at least 1 when refused and 0 when allowed.
func (d Decision) RetryAfterSeconds() int {
	if d.Allowed {
		return 0
	}
	return max(1, int((d.RetryAfter+time.Second-1)/time.Second))
}

// Config configures a Limiter.
type Config struct {
	// Windows must all accept a request. There must be at least one.
	Windows []Window
	// MaxKeys bounds the remembered keys; 0 means 2,000,000. At the bound, quiet keys are
	// evicted for new ones. It is split evenly over the shards, so eviction may start a few
	// percent earlier.
	MaxKeys int
	Now     func() time.Time // the clock; nil means time.Now, or the shared server's clock
	// Shared, unless it is nil, counts the requests of all nodes together. Name tells the
	// limiters of a service apart and must be the same on every node.
	Shared *Shared
	Name   string
}

// Limiter counts requests per key. It is safe for concurrent use.
type Limiter struct {
	windows  []Window
	rules    rules
	now      func() time.Time // nil means the real clock
	start    time.Time
	seed     maphash.Seed
	shards   []shard
	perShard int

	// Of a limiter that counts with other nodes, the shards have what this process accepted.
	shared *Shared
	log    Log
}

// New returns an empty Limiter, or an error if cfg is invalid.
func New(cfg Config) (*Limiter, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	maxKeys := cmp.Or(cfg.MaxKeys, defaultMaxKeys)
	start := time.Now()
	if cfg.Now != nil {
		start = cfg.Now()
	}
	shards := make([]shard, min(maxShards, max(1, maxKeys/minShardKeys)))
	limiter := &Limiter{
		windows: slices.Clone(cfg.Windows), rules: newRules(cfg.Windows), now: cfg.Now, start: start,
		seed: maphash.MakeSeed(), shards: shards, perShard: maxKeys / len(shards),
	}
	if cfg.Shared == nil {
		return limiter, nil
	}
	return limiter, cfg.Shared.add(limiter, cfg.Name)
}

func (cfg Config) validate() error {
	if len(cfg.Windows) == 0 {
		return errors.New("ratelimit: at least one window is required")
	}
	for i, window := range cfg.Windows {
		if window.Limit < 1 || window.Limit > maxLimit {
			return fmt.Errorf("ratelimit: window %d: limit %d is not between 1 and %d", i, window.Limit, maxLimit)
		}
		if window.Per <= 0 || window.Per > maxPer {
			return fmt.Errorf("ratelimit: window %d: length %v is not between 0 and %v", i, window.Per, maxPer)
		}
	}
	if cfg.MaxKeys < 0 {
		return fmt.Errorf("ratelimit: MaxKeys %d is negative", cfg.MaxKeys)
	}
	return nil
}

// Allow counts one request of key if all windows accept it. If one refuses, none counts it.
func (l *Limiter) Allow(key Key) Decision { return l.AllowN(key, 1) }

// AllowN counts n requests of key if all windows accept all of them, or none. n is at least 1
// and at most the smallest limit.
func (l *Limiter) AllowN(key Key, n int) Decision {
	if l.shared != nil {
		return l.shared.decide(l, key, n, true)
	}
	return l.shardOf(key).allow(key, n, l.moment(), l.rules, l.perShard)
}

// AllowText is Allow for the key of a text. It returns the wait, 0 if the request was counted.
func (l *Limiter) AllowText(text string) time.Duration { return l.Allow(TextKey(text)).RetryAfter }

// Peek returns what Allow would decide now, without counting.
func (l *Limiter) Peek(key Key) Decision {
	if l.shared != nil {
		return l.shared.decide(l, key, 1, false)
	}
	return l.shardOf(key).peek(key, l.moment(), l.rules)
}

// Windows returns the windows in the order of Decision.Window.
func (l *Limiter) Windows() []Window { return slices.Clone(l.windows) }

// Len returns the number of remembered keys.
func (l *Limiter) Len() int {
	total := 0
	for i := range l.shards {
		total += l.shards[i].len()
	}
	return total
}

// Sweep removes the keys without hits in any window and returns their number.
func (l *Limiter) Sweep() (forgotten int) {
	for i := range l.shards {
		forgotten += l.shards[i].sweep(l.moment(), l.rules)
	}
	return forgotten
}

// Run sweeps every minute until ctx ends.
func (l *Limiter) Run(ctx context.Context) {
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			l.Sweep()
		}
	}
}

// shardOf distributes keys by a hash with a secret seed, so that no client can choose
// addresses that all fall into one shard.
func (l *Limiter) shardOf(key Key) *shard {
	return &l.shards[maphash.Comparable(l.seed, key)%uint64(len(l.shards))]
}

func (l *Limiter) moment() moment {
	var elapsed time.Duration
	if l.now == nil {
		elapsed = time.Since(l.start) // half the cost of time.Now, which also reads the wall clock
	} else {
		elapsed = l.now().Sub(l.start)
	}
	return moment(min(max(elapsed, 0), endOfTime) + tickLength)
}
