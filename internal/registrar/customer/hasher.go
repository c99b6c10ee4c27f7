package customer

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// mostHashes at a time take 128 MiB. The garbage collector lets as much lie
	// as is in use before it collects, so the process may grow by 256 MiB.
	mostHashes = 2
	// longestWait for a place ends every wait, also without a deadline. It is well
	// below the 20 s after which a server cuts an answer off, so that whoever
	// waited in vain is told so.
	longestWait = 12 * time.Second
	// busyFor and longestBusy bound when somebody is told to come back.
	busyFor     = 5 * time.Second
	longestBusy = time.Minute
	// mostOfOne is how many of the working and waiting may come from one network:
	// right passwords are not counted, so whoever has an account could otherwise
	// fill the queue alone and keep everybody else waiting.
	mostOfOne = 4
)

// hasher bounds how many passwords are hashed at a time, because each takes much
// memory and a core, and how many wait for it.
type hasher struct {
	places  chan struct{}
	waiting atomic.Int64 // with those who are being served
	most    int64
	took    atomic.Int64 // what the last hash took, in nanoseconds
	cost    Cost
	// elsewhere computes the keys, unless it is nil or fails.
	elsewhere Deriver

	mu sync.Mutex
	// from is how many are here from each network; who leaves last is forgotten.
	from map[string]int
}

func newHasher(cfg Config) *hasher {
	places := cfg.Hashes
	if places <= 0 {
		places = DefaultHashes()
	}
	return &hasher{
		places: make(chan struct{}, places), most: int64(cfg.Waiting), cost: cfg.Cost.withDefaults(),
		elsewhere: cfg.Deriver, from: make(map[string]int),
	}
}

// DefaultHashes is how many passwords are hashed at a time where nothing else is
// said: half of the cores, at least one and at most two.
func DefaultHashes() int { return min(mostHashes, max(1, runtime.GOMAXPROCS(0)/2)) }

// enter lets one more of a network in, unless it has its share already. Operators
// have no network and no bound.
func (h *hasher) enter(network string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if network != "" && h.from[network] >= mostOfOne {
		return false
	}
	h.from[network]++
	return true
}

func (h *hasher) leave(network string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.from[network]--; h.from[network] == 0 {
		delete(h.from, network)
	}
}

// expected is how long somebody at this place in the queue waits.
func (h *hasher) expected(place int64) time.Duration {
	return time.Duration((place - 1) / int64(cap(h.places)) * h.took.Load())
}

// run calls work in one of the places. Whoever can't be served in time is told so
// at once, instead of waiting in vain with a connection open.
func (h *hasher) run(ctx context.Context, network string, work func() error) error {
	place := h.waiting.Add(1)
	defer h.waiting.Add(-1)
	wait := h.expected(place)
	busy := &registrar.Error{
		Kind: registrar.KindRateLimited, Code: Busy, RetryAfter: min(max(wait.Round(time.Second), busyFor), longestBusy),
	}
	if place > h.most || wait > longestWait {
		return busy
	}
	if !h.enter(network) {
		return busy
	}
	defer h.leave(network)
	ctx, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	select {
	case h.places <- struct{}{}:
	case <-ctx.Done():
		return busy
	}
	defer func() { <-h.places }()
	if ctx.Err() != nil { // who has gone away needs no hash
		return busy
	}
	defer func(began time.Time) { h.took.Store(int64(time.Since(began))) }(time.Now())
	return work()
}

// hash makes the stored form of a new password.
func (h *hasher) hash(ctx context.Context, network, password string) (hash string, err error) {
	err = h.run(ctx, network, func() error {
		hash = h.hashPassword(ctx, password)
		return nil
	})
	return hash, err
}

// verified is the outcome of a right or wrong password.
type verified struct {
	ok bool
	// rehashed replaces the stored hash, if it was made at another cost.
	rehashed string
}

// verify compares a password with a stored hash; an empty one never matches and
// costs the same. guard counts wrong passwords and is asked before and after the
// wait for a place.
func (h *hasher) verify(ctx context.Context, network string, guard guard, stored, password string) (verified, error) {
	if wait := guard.wait(); wait > 0 {
		return verified{}, tooMany(wait)
	}
	if len(password) > maxPasswordBytes {
		guard.failed()
		return verified{}, nil
	}
	var result verified
	err := h.run(ctx, network, func() error {
		if wait := guard.wait(); wait > 0 {
			return tooMany(wait)
		}
		ok, outdated, err := h.matches(ctx, stored, password)
		if err != nil {
			return err
		}
		result.ok = ok
		switch {
		case !ok:
			guard.failed()
		case outdated:
			result.rehashed = h.hashPassword(ctx, password)
		}
		return nil
	})
	return result, err
}

// guard is the budgets that one sign-in has to fit into.
type guard []budget

type budget struct {
	limiter Limiter
	key     string
}

func (g guard) wait() time.Duration {
	var longest time.Duration
	for _, b := range g {
		longest = max(longest, b.limiter.Peek(b.key))
	}
	return longest
}

// take takes a place in every budget, or in none and returns the wait.
func (g guard) take() time.Duration {
	longest := g.wait()
	if longest > 0 {
		return longest
	}
	for _, b := range g {
		longest = max(longest, b.limiter.Count(b.key))
	}
	return longest
}

func (g guard) failed() {
	for _, b := range g {
		b.limiter.Count(b.key)
	}
}
