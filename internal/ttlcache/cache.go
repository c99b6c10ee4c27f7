// Package recent reuses the answers of outside systems for a short time.
//
// Page views repeat: people reload, streams look again, and whoever wants to do harm
// reloads harder. Answers makes each distinct question at most one call per period,
// lets equal questions in flight share one call, and remembers failures as well, so
// that a system in trouble is not called more often than a healthy one.
//
// It promises a bound on everything it holds: at most max answers are kept, the
// oldest are dropped first, and a call ends with its caller's deadline. It is meant
// for what is shown. Code whose answer moves money calls the outside system itself
// and hands the answer in with Put, so that pages show it from then on.
package ttlcache

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// maxCallDuration bounds a call whose caller has no deadline.
const maxCallDuration = 30 * time.Second

// Cache remembers what was answered to which question. It is safe for concurrent
// use.
type Cache[K comparable, V any] struct {
	cfg Config

	mu sync.Mutex
	// entries has the *entry of each key; written orders them, the oldest first.
	entries  map[K]*list.Element
	byAge    *list.List
	inFlight map[K]*call[V]
}

// Config bounds an Answers.
type Config struct {
	// TTL is how long an answer, or a failure, stands for the next one. 0 reuses
	// nothing, but equal questions in flight still share one call.
	TTL time.Duration
	// StaleTTL is how long an answer is returned beside an error as the last one known;
	// 0 means Fresh.
	StaleTTL time.Duration
	// MaxEntries bounds how many answers are kept.
	MaxEntries int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Result is what was answered, and when. At is zero if nothing is known.
type Result[V any] struct {
	Value     V
	FetchedAt time.Time
}

// Found reports whether there is an answer.
func (a Result[V]) Found() bool { return !a.FetchedAt.IsZero() }

type entry[K comparable, V any] struct {
	key      K
	last     Result[V]
	err      error
	failedAt time.Time
}

// call is a call under way.
type call[V any] struct {
	done   chan struct{}
	result Result[V]
	err    error
	// fetched is false if the call was not admitted: others then try for themselves.
	fetched bool
}

// New makes an Answers that remembers nothing yet.
func New[K comparable, V any](cfg Config) *Cache[K, V] {
	cfg.MaxEntries = max(1, cfg.MaxEntries)
	cfg.StaleTTL = max(cfg.StaleTTL, cfg.TTL)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Cache[K, V]{
		cfg: cfg, entries: make(map[K]*list.Element), byAge: list.New(), inFlight: make(map[K]*call[V]),
	}
}

// Get returns a fresh answer, waits for the call that is under way, or calls ask.
// admit is called first; its error is returned and not remembered, nil admits every
// call. Beside an error, the answer is the last one known. ask outlives a caller that
// leaves early, but not its deadline: the others wait for the same answer.
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

// fetch makes the call and tells whoever waits for it, also if ask panics.
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

// Set remembers an answer that was asked for without Ask.
func (a *Cache[K, V]) Set(key K, value V) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.store(key, Result[V]{Value: value, FetchedAt: a.cfg.Now()}, nil)
}

// Len is how many answers are kept.
func (a *Cache[K, V]) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.entries)
}

// lookup is the last answer, and whether it or the last failure is fresh. The caller
// holds the lock.
func (a *Cache[K, V]) lookup(key K) (cached Result[V], err error, fresh bool) { //nolint:revive // err belongs to what is known
	element, found := a.entries[key]
	if !found {
		return cached, nil, false
	}
	item, ok := element.Value.(*entry[K, V])
	if !ok { // only entries are put there
		return cached, nil, false
	}
	now := a.cfg.Now()
	if isWithin(now, item.last.FetchedAt, a.cfg.StaleTTL) {
		cached = item.last
	}
	switch {
	case item.err != nil:
		return cached, item.err, isWithin(now, item.failedAt, a.cfg.TTL)
	default:
		return cached, nil, isWithin(now, item.last.FetchedAt, a.cfg.TTL)
	}
}

// isWithin reports whether at is less than span ago. A time in the future comes from a
// clock that was set back, and proves nothing.
func isWithin(now, at time.Time, duration time.Duration) bool {
	age := now.Sub(at)
	return !at.IsZero() && age >= 0 && age < duration
}

// store stores an outcome as the newest. The caller holds the lock.
func (a *Cache[K, V]) store(key K, answer Result[V], err error) {
	item := &entry[K, V]{key: key, last: answer, err: err}
	if err != nil {
		item.failedAt = a.cfg.Now()
	}
	if element, found := a.entries[key]; found {
		a.byAge.Remove(element)
	}
	a.entries[key] = a.byAge.PushBack(item)
	for len(a.entries) > a.cfg.MaxEntries {
		oldest, ok := a.byAge.Remove(a.byAge.Front()).(*entry[K, V])
		if !ok { // only entries are put there
			return
		}
		delete(a.entries, oldest.key)
	}
}
