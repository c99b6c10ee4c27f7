package jobs

import (
	"context"
	"sync"
	"time"
)

// Waiters bounds the number of concurrent waiters. Its fields are set before use.
type Waiters struct {
	// Max bounds all waiters, MaxPerKey those with the same key, so that one caller can't
	// take every slot.
	Max, MaxPerKey int

	mu     sync.Mutex
	total  int
	perKey map[string]int
}

// Acquire takes a slot, which release returns. It returns false and a nil release if there
// is none.
func (w *Waiters) Acquire(key string) (release func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.total >= w.Max || w.perKey[key] >= w.MaxPerKey {
		return nil, false
	}
	if w.perKey == nil {
		w.perKey = make(map[string]int)
	}
	w.total++
	w.perKey[key]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.total--
		if w.perKey[key]--; w.perKey[key] == 0 {
			delete(w.perKey, key)
		}
	}, true
}

// Poll calls done until it returns true or an error, with delays that double from first to
// maximum. It returns false if ctx, disconnected or closing ends first; a nil channel never
// does.
func Poll(ctx context.Context, disconnected, closing <-chan struct{}, first, maximum time.Duration, done func() (bool, error)) (bool, error) {
	for attempt := 1; ; attempt++ {
		timer := time.NewTimer(Backoff(attempt, first, maximum))
		select {
		case <-timer.C:
		case <-ctx.Done():
		case <-disconnected:
		case <-closing:
		}
		if timer.Stop() { // one of the others fired
			return false, nil
		}
		if ok, err := done(); ok || err != nil {
			return ok, err
		}
	}
}
