package jobs

import (
	"context"
	"sync"
	"time"
)

// Waiters bounds how many callers wait for something at one moment. Its fields are
// set before use.
type Waiters struct {
	// Max bounds all of them, MostEach those with the same key: one caller can't
	// take every place.
	Max, MaxPerKey int

	mu     sync.Mutex
	total  int
	perKey map[string]int
}

// Acquire takes a place, which leave gives back. It is false if there is none, and
// then leave is nil.
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

// Poll calls done until it is true or fails, with pauses that double from first to
// longest. It holds nothing in between. It is false when ctx, gone or closing ends
// first; a nil channel never does.
func Poll(ctx context.Context, disconnected, closing <-chan struct{}, first, maximum time.Duration, done func() (bool, error)) (bool, error) {
	for attempt := 1; ; attempt++ {
		timer := time.NewTimer(Backoff(attempt, first, maximum))
		select {
		case <-timer.C:
		case <-ctx.Done():
		case <-disconnected:
		case <-closing:
		}
		if timer.Stop() { // one of the others ended it
			return false, nil
		}
		if ok, err := done(); ok || err != nil {
			return ok, err
		}
	}
}
