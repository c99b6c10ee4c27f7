package customer

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// mostHashes at a time take 128 MiB. The garbage collector lets as much lie
	// as is in use before it collects, so the process may grow by 256 MiB.
	mostHashes = 2
	// longestWait for a place ends every wait, also without a deadline.
	longestWait = 20 * time.Second
	busyFor     = 5 * time.Second
)

// hasher bounds how many passwords are hashed at a time, because each takes much
// memory and a core, and how many wait for it.
type hasher struct {
	places  chan struct{}
	waiting atomic.Int64
	most    int64
	cost    Cost
}

func newHasher(places, waiting int, cost Cost) *hasher {
	if places <= 0 {
		places = min(mostHashes, max(1, runtime.GOMAXPROCS(0)/2))
	}
	return &hasher{places: make(chan struct{}, places), most: int64(waiting), cost: cost.withDefaults()}
}

// run calls work in one of the places.
func (h *hasher) run(ctx context.Context, work func() error) error {
	busy := &registrar.Error{Kind: registrar.KindRateLimited, Code: Busy, RetryAfter: busyFor}
	defer h.waiting.Add(-1)
	if h.waiting.Add(1) > h.most {
		return busy
	}
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
	return work()
}

// hash makes the stored form of a new password.
func (h *hasher) hash(ctx context.Context, password string) (hash string, err error) {
	err = h.run(ctx, func() error {
		hash = hashPassword(password, h.cost)
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
func (h *hasher) verify(ctx context.Context, guard guard, stored, password string) (verified, error) {
	if wait := guard.wait(); wait > 0 {
		return verified{}, tooMany(wait)
	}
	if len(password) > maxPasswordBytes {
		guard.failed()
		return verified{}, nil
	}
	var result verified
	err := h.run(ctx, func() error {
		if wait := guard.wait(); wait > 0 {
			return tooMany(wait)
		}
		ok, outdated, err := matches(stored, password, h.cost)
		if err != nil {
			return err
		}
		result.ok = ok
		switch {
		case !ok:
			guard.failed()
		case outdated:
			result.rehashed = hashPassword(password, h.cost)
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

func (g guard) failed() {
	for _, b := range g {
		b.limiter.Count(b.key)
	}
}
