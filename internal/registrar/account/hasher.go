package account

import (
	"container/list"
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// maxHashes at a time take 128 MiB. The garbage collector lets as much lie
	// as is in use before it collects, so the process may grow by 256 MiB.
	maxHashes = 2
	// maxWait for a place ends every wait, also without a deadline. It is well
	// below the 20 s after which a server cuts an answer off, so that whoever
	// waited in vain is told so.
	maxWait = 12 * time.Second
	// minRetryAfter and longestBusy bound when somebody is told to come back.
	minRetryAfter = 5 * time.Second
	maxRetryAfter = time.Minute
	// mostOfNetwork, mostOfSite and mostOfAccount bound how many of the working and
	// waiting come from one network, from one IPv6 /48, and for one account. Right
	// passwords are not counted, so whoever has an account could otherwise fill the
	// queue alone, and whoever has a /48 could from 65,536 networks.
	maxPerNetwork = 4
	maxPerSite    = 2 * maxPerNetwork
	maxPerAccount = 2
	// maxKnownStreak bounds how many of the known queue are served before one of the
	// other, so that new customers are served too while known devices are busy.
	maxKnownStreak = 3
)

// queue is one of the hasher's two queues.
type queue int

const (
	// unknownQueue is for whoever has proved nothing yet. An attacker with very many
	// networks can fill it.
	unknownQueue queue = iota
	// knownQueue is for browsers that have signed in to the account before, sessions
	// and reset links. It is served first, so a full unknownQueue delays it by one hash
	// in four.
	knownQueue
	queueCount
)

// requester is who wants a hash. The zero value, an operator's, has no bound.
type requester struct {
	network, site string
	// account is the account to which the requester has proved a tie; empty: none.
	account string
}

// requesterOf is the requester of an actor; account is empty unless a device, a
// session or a link ties the actor to it.
func requesterOf(actor registrar.Actor, account string) requester {
	return requester{network: registrar.Network(actor.Address), site: registrar.Site(actor.Address), account: account}
}

func (r requester) queue() queue {
	if r.account == "" {
		return unknownQueue
	}
	return knownQueue
}

// keyLimit is a bound on how many are in the queue under one key.
type keyLimit struct {
	key string
	max int
}

// limits are the bounds for the requester. The queues count apart: strangers who share
// a network with a customer take none of the customer's places.
func (r requester) limits() []keyLimit {
	prefix := ""
	if r.account != "" {
		prefix = "known "
	}
	var shares []keyLimit
	for _, s := range []keyLimit{{r.network, maxPerNetwork}, {r.site, maxPerSite}, {r.account, maxPerAccount}} {
		if s.key != "" {
			shares = append(shares, keyLimit{prefix + s.key, s.max})
		}
	}
	return shares
}

// hasher bounds how many passwords are hashed at a time, because each takes much
// memory and a core, and how many wait for it.
type hasher struct {
	slots        int
	maxQueued    int          // in each queue, with those who are being served
	lastDuration atomic.Int64 // what the last hash took, in nanoseconds
	cost         Cost
	// deriver computes the keys, unless it is nil or fails.
	deriver Deriver

	mu   sync.Mutex
	free int // places; more than none only while nobody waits
	// queues hold a chan struct{} for each that waits; it is closed when a place is
	// handed over.
	queues [queueCount]list.List
	// queued counts those who wait or are being served.
	queued [queueCount]int
	// perKey counts them by the key of a share; who leaves last is forgotten.
	perKey map[string]int
	// knownStreak counts those of the known queue that were served since one of the other.
	knownStreak int
}

func newHasher(cfg Config) *hasher {
	places := cfg.Hashes
	if places <= 0 {
		places = DefaultHashes()
	}
	return &hasher{
		slots: places, free: places, maxQueued: cfg.MaxWaiting, cost: cfg.Cost.withDefaults(),
		deriver: cfg.Deriver, perKey: make(map[string]int),
	}
}

// DefaultHashes is how many passwords are hashed at a time where nothing else is
// said: half of the cores, at least one and at most two.
func DefaultHashes() int { return min(maxHashes, max(1, runtime.GOMAXPROCS(0)/2)) }

// expectedWait is how long one more in a queue waits, as both are now. h.mu is held.
func (h *hasher) expectedWait(in queue) time.Duration {
	working := h.slots - h.free
	known, unknown := h.queues[knownQueue].Len(), h.queues[unknownQueue].Len()
	ahead := working + known + unknown
	if in == knownQueue {
		ahead = working + known + min(unknown, known/maxKnownStreak+1)
	}
	return time.Duration(int64(ahead/h.slots) * h.lastDuration.Load())
}

// acquire takes a place, or a place in the queue. ready is closed once the caller may
// work; waiting is nil if that is at once. It is false, and nothing is taken, if the
// queue is full, the wait would be too long or a share is used up.
func (h *hasher) acquire(r requester) (ready chan struct{}, waiting *list.Element, wait time.Duration, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	in := r.queue()
	wait = h.expectedWait(in)
	if h.queued[in] >= h.maxQueued || wait > maxWait {
		return nil, nil, wait, false
	}
	shares := r.limits()
	for _, s := range shares {
		if h.perKey[s.key] >= s.max {
			return nil, nil, wait, false
		}
	}
	for _, s := range shares {
		h.perKey[s.key]++
	}
	h.queued[in]++
	ready = make(chan struct{})
	if h.free > 0 {
		h.free--
		close(ready)
		return ready, nil, wait, true
	}
	return ready, h.queues[in].PushBack(ready), wait, true
}

// release gives back what enter took. It hands a place that the caller had to the next
// in line.
func (h *hasher) release(r requester, ready chan struct{}, waiting *list.Element) {
	h.mu.Lock()
	defer h.mu.Unlock()
	in := r.queue()
	h.queued[in]--
	for _, s := range r.limits() {
		if h.perKey[s.key]--; h.perKey[s.key] == 0 {
			delete(h.perKey, s.key)
		}
	}
	select {
	case <-ready:
		h.wakeNext()
	default: // it never had a place
		h.queues[in].Remove(waiting)
	}
}

// wakeNext gives a place to the next in line: the known queue first, but for one in
// four. h.mu is held.
func (h *hasher) wakeNext() {
	from := knownQueue
	if h.queues[knownQueue].Len() == 0 || h.knownStreak >= maxKnownStreak && h.queues[unknownQueue].Len() > 0 {
		from = unknownQueue
	}
	next := h.queues[from].Front()
	if next == nil {
		h.free++
		return
	}
	h.knownStreak++
	if from == unknownQueue {
		h.knownStreak = 0
	}
	close(h.queues[from].Remove(next).(chan struct{})) //nolint:forcetypeassert // enter pushes nothing else
}

// run calls work in one of the places. Whoever can't be served in time is told so
// at once, instead of holding a connection open for nothing.
func (h *hasher) run(ctx context.Context, r requester, work func() error) error {
	ready, waiting, wait, ok := h.acquire(r)
	if !ok && r.account != "" {
		// Its own places are taken: it waits like everybody else.
		r.account = ""
		ready, waiting, wait, ok = h.acquire(r)
	}
	busy := &registrar.Error{
		Kind: registrar.KindRateLimited, Code: Busy, RetryAfter: min(max(wait.Round(time.Second), minRetryAfter), maxRetryAfter),
	}
	if !ok {
		return busy
	}
	defer h.release(r, ready, waiting)
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	select {
	case <-ready:
	case <-ctx.Done():
		return busy
	}
	if ctx.Err() != nil { // who has gone away needs no hash
		return busy
	}
	defer func(began time.Time) { h.lastDuration.Store(int64(time.Since(began))) }(time.Now())
	return work()
}

// hash makes the stored form of a new password.
func (h *hasher) hash(ctx context.Context, r requester, password string) (hash string, err error) {
	err = h.run(ctx, r, func() error {
		hash = h.hashPassword(ctx, password)
		return nil
	})
	return hash, err
}

// verifyResult is the outcome of a right or wrong password.
type verifyResult struct {
	ok bool
	// rehashed replaces the stored hash, if it was made at another cost.
	rehashed string
}

// verify compares a password with a stored hash; an empty one never matches and
// costs the same. guard counts wrong passwords and is asked before and after the
// wait for a place.
func (h *hasher) verify(ctx context.Context, r requester, budgets budgetSet, stored, password string) (verifyResult, error) {
	if wait := budgets.wait(); wait > 0 {
		return verifyResult{}, tooMany(wait)
	}
	if len(password) > maxPasswordBytes {
		budgets.countFailure()
		return verifyResult{}, nil
	}
	var result verifyResult
	err := h.run(ctx, r, func() error {
		if wait := budgets.wait(); wait > 0 {
			return tooMany(wait)
		}
		ok, outdated, err := h.matches(ctx, stored, password)
		if err != nil {
			return err
		}
		result.ok = ok
		switch {
		case !ok:
			budgets.countFailure()
		case outdated:
			result.rehashed = h.hashPassword(ctx, password)
		}
		return nil
	})
	return result, err
}

// budgetSet is the budgets that one sign-in has to fit into.
type budgetSet []budget

type budget struct {
	limiter Limiter
	key     string
}

func (g budgetSet) wait() time.Duration {
	var longest time.Duration
	for _, b := range g {
		longest = max(longest, b.limiter.Peek(b.key))
	}
	return longest
}

// consume takes a place in every budget, or in none and returns the wait.
func (g budgetSet) consume() time.Duration {
	longest := g.wait()
	if longest > 0 {
		return longest
	}
	for _, b := range g {
		longest = max(longest, b.limiter.Count(b.key))
	}
	return longest
}

func (g budgetSet) countFailure() {
	for _, b := range g {
		b.limiter.Count(b.key)
	}
}
