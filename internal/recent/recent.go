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
package recent

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// longestCall bounds a call whose caller has no deadline.
const longestCall = 30 * time.Second

// Answers remembers what was answered to which question. It is safe for concurrent
// use.
type Answers[K comparable, V any] struct {
	cfg Config

	mu sync.Mutex
	// kept has the *entry of each key; written orders them, the oldest first.
	kept    map[K]*list.Element
	written *list.List
	flights map[K]*flight[V]
}

// Config bounds an Answers.
type Config struct {
	// Fresh is how long an answer, or a failure, stands for the next one. 0 reuses
	// nothing, but equal questions in flight still share one call.
	Fresh time.Duration
	// Keep is how long an answer is returned beside an error as the last one known;
	// 0 means Fresh.
	Keep time.Duration
	// Max bounds how many answers are kept.
	Max int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Answer is what was answered, and when. At is zero if nothing is known.
type Answer[V any] struct {
	Value V
	At    time.Time
}

// Known reports whether there is an answer.
func (a Answer[V]) Known() bool { return !a.At.IsZero() }

type entry[K comparable, V any] struct {
	key      K
	last     Answer[V]
	err      error
	failedAt time.Time
}

// flight is a call under way.
type flight[V any] struct {
	done   chan struct{}
	answer Answer[V]
	err    error
	// called is false if the call was not admitted: others then try for themselves.
	called bool
}

// New makes an Answers that remembers nothing yet.
func New[K comparable, V any](cfg Config) *Answers[K, V] {
	cfg.Max = max(1, cfg.Max)
	cfg.Keep = max(cfg.Keep, cfg.Fresh)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Answers[K, V]{
		cfg: cfg, kept: make(map[K]*list.Element), written: list.New(), flights: make(map[K]*flight[V]),
	}
}

// Ask returns a fresh answer, waits for the call that is under way, or calls ask.
// admit is called first; its error is returned and not remembered, nil admits every
// call. Beside an error, the answer is the last one known. ask outlives a caller that
// leaves early, but not its deadline: the others wait for the same answer.
func (a *Answers[K, V]) Ask(
	ctx context.Context, key K, admit func() error, ask func(ctx context.Context) (V, error),
) (Answer[V], error) {
	for {
		if err := ctx.Err(); err != nil {
			return Answer[V]{}, err
		}
		a.mu.Lock()
		known, err, fresh := a.lookUp(key)
		if fresh {
			a.mu.Unlock()
			return known, err
		}
		if under := a.flights[key]; under != nil {
			a.mu.Unlock()
			select {
			case <-under.done:
				if under.called {
					return under.answer, under.err
				}
				continue
			case <-ctx.Done():
				return known, ctx.Err()
			}
		}
		own := &flight[V]{done: make(chan struct{}), answer: known}
		a.flights[key] = own
		a.mu.Unlock()
		a.fly(ctx, key, own, admit, ask)
		return own.answer, own.err
	}
}

// fly makes the call and tells whoever waits for it, also if ask panics.
func (a *Answers[K, V]) fly(ctx context.Context, key K, own *flight[V], admit func() error, ask func(ctx context.Context) (V, error)) {
	defer func() {
		a.mu.Lock()
		delete(a.flights, key)
		a.mu.Unlock()
		close(own.done)
	}()
	if admit != nil {
		if own.err = admit(); own.err != nil {
			return
		}
	}
	deadline, bounded := ctx.Deadline()
	if !bounded {
		deadline = time.Now().Add(longestCall)
	}
	call, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	value, err := ask(call)
	own.called, own.err = true, err
	if err == nil {
		own.answer = Answer[V]{Value: value, At: a.cfg.Now()}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.write(key, own.answer, err)
}

// Put remembers an answer that was asked for without Ask.
func (a *Answers[K, V]) Put(key K, value V) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.write(key, Answer[V]{Value: value, At: a.cfg.Now()}, nil)
}

// Len is how many answers are kept.
func (a *Answers[K, V]) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.kept)
}

// lookUp is the last answer, and whether it or the last failure is fresh. The caller
// holds the lock.
func (a *Answers[K, V]) lookUp(key K) (known Answer[V], err error, fresh bool) { //nolint:revive // err belongs to what is known
	place, found := a.kept[key]
	if !found {
		return known, nil, false
	}
	one, ok := place.Value.(*entry[K, V])
	if !ok { // only entries are put there
		return known, nil, false
	}
	now := a.cfg.Now()
	if within(now, one.last.At, a.cfg.Keep) {
		known = one.last
	}
	switch {
	case one.err != nil:
		return known, one.err, within(now, one.failedAt, a.cfg.Fresh)
	default:
		return known, nil, within(now, one.last.At, a.cfg.Fresh)
	}
}

// within reports whether at is less than span ago. A time in the future comes from a
// clock that was set back, and proves nothing.
func within(now, at time.Time, span time.Duration) bool {
	age := now.Sub(at)
	return !at.IsZero() && age >= 0 && age < span
}

// write stores an outcome as the newest. The caller holds the lock.
func (a *Answers[K, V]) write(key K, answer Answer[V], err error) {
	one := &entry[K, V]{key: key, last: answer, err: err}
	if err != nil {
		one.failedAt = a.cfg.Now()
	}
	if place, found := a.kept[key]; found {
		a.written.Remove(place)
	}
	a.kept[key] = a.written.PushBack(one)
	for len(a.kept) > a.cfg.Max {
		oldest, ok := a.written.Remove(a.written.Front()).(*entry[K, V])
		if !ok { // only entries are put there
			return
		}
		delete(a.kept, oldest.key)
	}
}
