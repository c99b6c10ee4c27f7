package account

import (
	"cmp"
	"container/list"
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// maxHashes concurrent hashes use 128 MiB. The garbage collector tolerates as much
	// garbage as live memory, so the process may grow by 256 MiB.
	maxHashes = 2
	// maxWait bounds the wait for a slot, also for contexts without a deadline. Together with
	// deriveTimeout and a hash in this process it stays below the 15 s of a page, so that
	// even a sign-in that waited longest, and then for a stalled process, is completed.
	maxWait = 8 * time.Second
	// minRetryAfter and maxRetryAfter bound the RetryAfter of a refusal.
	minRetryAfter = 5 * time.Second
	maxRetryAfter = time.Minute
	// maxPerNetwork, maxPerSite and maxPerAccount limit the running and queued hashes
	// from one network, from one IPv6 /48, and for one account. Correct passwords are
	// not counted elsewhere, so without these limits the owner of one account could
	// fill the queue, and the owner of a /48 could do so from 65,536 networks.
	maxPerNetwork = 4
	maxPerSite    = 2 * maxPerNetwork
	maxPerAccount = 2
	// maxKnownStreak limits how many requests of the known queue are served before one
	// of the other, so that new customers are served while known devices are busy.
	maxKnownStreak = 3
)

// queue identifies one of the hasher's two queues.
type queue int

const (
	// unknownQueue is for unauthenticated requests. An attacker with many networks can fill it.
	unknownQueue queue = iota
	// knownQueue is for browsers that have signed in to the account before, sessions and reset
	// links. It is served first, so a full unknownQueue delays it by one hash in four.
	knownQueue
	queueCount
)

// requester is the origin of a hash request. The zero value, used for operators, is unlimited.
type requester struct {
	network, site string
	account       string // the account that the requester is known to; empty if none
}

// requesterOf returns the requester of an actor. account is empty unless a device, a
// session or a link associates the actor with it.
func requesterOf(actor registrar.Actor, account string) requester {
	return requester{network: registrar.Network(actor.Address), site: registrar.Site(actor.Address), account: account}
}

func (r requester) queue() queue {
	if r.account == "" {
		return unknownQueue
	}
	return knownQueue
}

// keyLimit limits the requests in a queue that share a key.
type keyLimit struct {
	key string
	max int
}

// limits returns the limits that apply to the requester. The queues count separately:
// unknown clients in a customer's network don't use up the customer's slots.
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

// hasher limits concurrent and queued password hashes, because each uses much memory and a core.
type hasher struct {
	slots           int
	maxQueued       int          // per queue, including running requests
	averageDuration atomic.Int64 // moving average of a hash, in nanoseconds; one that stalls must not refuse everyone
	cost            Cost
	deriver         Deriver // computes the keys unless it is nil or fails

	mu   sync.Mutex
	free int // free slots; positive only while the queues are empty
	// queues hold a chan struct{} per waiting request; it is closed when the request gets a slot.
	queues      [queueCount]list.List
	queued      [queueCount]int // counts waiting and running requests
	perKey      map[string]int  // counts them by the key of a limit; entries at zero are deleted
	knownStreak int             // counts the known requests served since the last unknown one
}

func newHasher(cfg Config) *hasher {
	places := cmp.Or(max(cfg.Hashes, 0), DefaultHashes())
	return &hasher{
		slots: places, free: places, maxQueued: cfg.MaxWaiting, deriver: cfg.Deriver, perKey: make(map[string]int),
		cost: Cost{Memory: cmp.Or(cfg.Cost.Memory, defaultMemory), Passes: cmp.Or(cfg.Cost.Passes, defaultPasses)},
	}
}

// DefaultHashes is half of the cores, at least one and at most two.
func DefaultHashes() int { return min(maxHashes, max(1, runtime.GOMAXPROCS(0)/2)) }

// expectedWait estimates the wait of one more request. The caller holds h.mu.
func (h *hasher) expectedWait(in queue) time.Duration {
	working := h.slots - h.free
	known, unknown := h.queues[knownQueue].Len(), h.queues[unknownQueue].Len()
	ahead := working + known + unknown
	if in == knownQueue {
		ahead = working + known + min(unknown, known/maxKnownStreak+1)
	}
	return time.Duration(int64(ahead/h.slots) * h.averageDuration.Load())
}

// acquire takes a slot or a position in the queue. ready is closed once the caller may
// proceed; waiting is nil if that is immediately. It returns false, taking nothing, if
// the queue is full, the wait would be too long or a limit is reached.
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

// release undoes acquire. A slot passes to the next request in the queue.
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
	default: // still waiting
		h.queues[in].Remove(waiting)
	}
}

// wakeNext passes a slot to the next request. The caller holds h.mu.
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
	close(h.queues[from].Remove(next).(chan struct{})) //nolint:errcheck // acquire pushes nothing else
}

// run calls work in a slot. A request that can't be served in time is refused at once.
func (h *hasher) run(ctx context.Context, r requester, work func() error) error {
	ready, waiting, wait, ok := h.acquire(r)
	if !ok && r.account != "" {
		// The account's slots are taken: fall back to the unknown queue.
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
	if ctx.Err() != nil { // the client is gone
		return busy
	}
	defer func(began time.Time) { h.recordDuration(time.Since(began)) }(time.Now())
	return work()
}

func (h *hasher) recordDuration(took time.Duration) {
	average := cmp.Or(h.averageDuration.Load(), int64(took))
	h.averageDuration.Store(average + (int64(took)-average)/8) // a concurrent update may be lost
}

// hash returns the stored form of a new password.
func (h *hasher) hash(ctx context.Context, r requester, password string) (hash string, err error) {
	err = h.run(ctx, r, func() error {
		hash = h.hashPassword(ctx, password)
		return nil
	})
	return hash, err
}

// verify compares a password with a stored hash; an empty hash never matches and costs the same.
// rehashed replaces the stored hash if its cost is outdated. budgets count wrong passwords and are
// checked before and after the wait for a slot.
func (h *hasher) verify(ctx context.Context, r requester, budgets budgetSet, stored, password string) (ok bool, rehashed string, err error) {
	if wait := budgets.wait(); wait > 0 {
		return false, "", tooMany(wait)
	}
	if len(password) > maxPasswordBytes {
		budgets.count()
		return false, "", nil
	}
	err = h.run(ctx, r, func() (err error) {
		if wait := budgets.wait(); wait > 0 {
			return tooMany(wait)
		}
		var outdated bool
		ok, outdated, err = h.matches(ctx, stored, password)
		switch {
		case err != nil:
			return err
		case !ok:
			budgets.count()
		case outdated:
			rehashed = h.hashPassword(ctx, password)
		}
		return nil
	})
	return ok, rehashed, err
}

// Derivation holds all parameters of one argon2id computation.
type Derivation struct {
	Password, Salt []byte
	Cost           Cost
	Lanes          uint8
	Size           uint32 // the key length in bytes
}

// Key computes the key, using the memory of its Cost and one core.
func (d Derivation) Key() []byte {
	return argon2.IDKey(d.Password, d.Salt, d.Cost.Passes, d.Cost.Memory, d.Lanes, d.Size)
}

// Deriver computes keys outside this process. It may fail: the key is then computed
// locally, so no sign-in depends on it.
type Deriver interface {
	Derive(ctx context.Context, d Derivation) ([]byte, error)
}

const (
	deriveTimeout = 4 * time.Second // on a busy machine a low-priority process may get no CPU time
	// gcThreshold is the memory cost in KiB from which the garbage collector runs right after a
	// hash. The few milliseconds are small next to a hash of more than a hundred.
	gcThreshold = 16 * 1024
)

// derive computes a key remotely, or locally if that fails. It ignores the cancellation
// of ctx: an aborted hash has cost as much as a complete one.
func (h *hasher) derive(ctx context.Context, d Derivation) []byte {
	if h.deriver != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deriveTimeout)
		defer cancel()
		// A key of the wrong size would look like a wrong password.
		if key, err := h.deriver.Derive(ctx, d); err == nil && len(key) == int(d.Size) {
			return key
		}
	}
	if d.Cost.Memory >= gcThreshold {
		// A hash leaves its memory behind as garbage. By default several would accumulate before a
		// collection, and a burst of sign-ins could exhaust the memory.
		defer runtime.GC()
	}
	return d.Key()
}
