// Package ttlcache caches responses of external systems for a short time.
//
// Page views repeat: visitors reload, streams poll, and attackers reload harder. Cache
// makes at most one call per key and period, lets concurrent requests for a key share one
// call, and caches failures as well, so that a failing system is not called more often
// than a healthy one.
//
// Everything is bounded: at most MaxEntries results are stored, the oldest are evicted
// first, and a call ends with its caller's deadline. The cache is meant for display. Code
// that moves money calls the external system itself and stores the response with Set, so
// that pages show it from then on.
package ttlcache

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// maxCallDuration bounds a call whose caller has no deadline.
const maxCallDuration = 30 * time.Second

// Cache caches results by key. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	cfg Config

	mu      sync.Mutex
	entries map[K]*entry[V]
	// byAge has the keys of entries, the oldest first.
	byAge    *list.List
	inFlight map[K]*call[V]
}

// Config configures a Cache.
type Config struct {
	// TTL is how long a result or failure is reused. 0 reuses nothing, but concurrent
	// requests still share one call.
	TTL time.Duration
	// StaleTTL is how long a result is returned together with an error as the last known
	// one; 0 means TTL.
	StaleTTL time.Duration
	// MaxEntries bounds the stored results.
	MaxEntries int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Result is a value and its time. FetchedAt is zero if nothing is known.
type Result[V any] struct {
	Value     V
	FetchedAt time.Time
}

// Found reports whether there is a value.
func (a Result[V]) Found() bool { return !a.FetchedAt.IsZero() }

type entry[V any] struct {
	place    *list.Element // in byAge
	last     Result[V]
	err      error
	failedAt time.Time
}

// call is a call in flight.
type call[V any] struct {
	done   chan struct{}
	result Result[V]
	err    error
	// fetched is false if the call was not admitted: waiting callers then try themselves.
	fetched bool
}

// New returns an empty Cache.
func New[K comparable, V any](cfg Config) *Cache[K, V] {
	cfg.MaxEntries = max(1, cfg.MaxEntries)
	cfg.StaleTTL = max(cfg.StaleTTL, cfg.TTL)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Cache[K, V]{
		cfg: cfg, entries: make(map[K]*entry[V]), byAge: list.New(), inFlight: make(map[K]*call[V]),
	}
}

// Get returns a fresh result, waits for the call in flight, or calls fetch. admit is called
// first; its error is returned and not cached, nil admits every call. Together with an
// error Get returns the last known result. fetch continues if its caller leaves early,
// since others may be waiting, but not past the caller's deadline.
func (a *Cache[K, V]) Get(
	ctx context.Context, key K, admit func() error, fetch func(ctx context.Context) (V, error),
) (Result[V], error) {
	for {
		if err := ctx.Err(); err != nil {
			return Result[V]{}, err
		}
		a.mu.Lock()
		cached, err, fresh := a.lookup(key)
		if fresh {
			a.mu.Unlock()
			return cached, err
		}
		if pending := a.inFlight[key]; pending != nil {
			a.mu.Unlock()
			select {
			case <-pending.done:
				if pending.fetched {
					return pending.result, pending.err
				}
				continue
			case <-ctx.Done():
				return cached, ctx.Err()
			}
		}
		current := &call[V]{done: make(chan struct{}), result: cached}
		a.inFlight[key] = current
		a.mu.Unlock()
		a.fetch(ctx, key, current, admit, fetch)
		return current.result, current.err
	}
}

// fetch makes the call and wakes the waiting callers, also if fetch panics.
func (a *Cache[K, V]) fetch(ctx context.Context, key K, current *call[V], admit func() error, fetch func(ctx context.Context) (V, error)) {
	defer func() {
		a.mu.Lock()
		delete(a.inFlight, key)
		a.mu.Unlock()
		close(current.done)
	}()
	if admit != nil {
		if current.err = admit(); current.err != nil {
			return
		}
	}
	deadline, bounded := ctx.Deadline()
	if !bounded {
		deadline = time.Now().Add(maxCallDuration)
	}
	callCtx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	value, err := fetch(callCtx)
	current.fetched, current.err = true, err
	if err == nil {
		current.result = Result[V]{Value: value, FetchedAt: a.cfg.Now()}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.store(key, current.result, err)
}

// Set stores a value that was fetched without Get.
func (a *Cache[K, V]) Set(key K, value V) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.store(key, Result[V]{Value: value, FetchedAt: a.cfg.Now()}, nil)
}

// Cached returns a fresh result; false if there is none. It makes no call.
func (a *Cache[K, V]) Cached(key K) (value V, found bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	cached, err, fresh := a.lookup(key)
	return cached.Value, fresh && err == nil
}

// lookup returns the last result, and whether it or the last failure is fresh. The caller
// holds the lock.
func (a *Cache[K, V]) lookup(key K) (cached Result[V], err error, fresh bool) { //nolint:revive // err belongs to what is known
	item, found := a.entries[key]
	if !found {
		return cached, nil, false
	}
	now := a.cfg.Now()
	if isWithin(now, item.last.FetchedAt, a.cfg.StaleTTL) {
		cached = item.last
	}
	if item.err != nil {
		return cached, item.err, isWithin(now, item.failedAt, a.cfg.TTL)
	}
	return cached, nil, isWithin(now, item.last.FetchedAt, a.cfg.TTL)
}

// isWithin reports whether at is less than duration ago. A time in the future comes from a
// clock that was set back and does not count.
func isWithin(now, at time.Time, duration time.Duration) bool {
	age := now.Sub(at)
	return !at.IsZero() && age >= 0 && age < duration
}

// store stores a result as the newest entry. The caller holds the lock.
func (a *Cache[K, V]) store(key K, answer Result[V], err error) {
	item := &entry[V]{last: answer, err: err}
	if err != nil {
		item.failedAt = a.cfg.Now()
	}
	if former, found := a.entries[key]; found {
		a.byAge.Remove(former.place)
	}
	item.place = a.byAge.PushBack(key)
	a.entries[key] = item
	for len(a.entries) > a.cfg.MaxEntries {
		oldest, _ := a.byAge.Remove(a.byAge.Front()).(K) // only keys are stored
		delete(a.entries, oldest)
	}
}
