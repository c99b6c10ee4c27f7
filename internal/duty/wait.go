package duty

import (
	"context"
	"sync"
	"time"
)

// Waiters bounds how many callers wait for something at one moment. Its fields are
// set before use.
type Waiters struct {
	// Most bounds all of them, MostEach those with the same key: one caller can't
	// take every place.
	Most, MostEach int

	mu   sync.Mutex
	all  int
	each map[string]int
}

// Enter takes a place, which leave gives back. It is false if there is none, and
// then leave is nil.
func (w *Waiters) Enter(key string) (leave func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all >= w.Most || w.each[key] >= w.MostEach {
		return nil, false
	}
	if w.each == nil {
		w.each = make(map[string]int)
	}
	w.all++
	w.each[key]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all--
		if w.each[key]--; w.each[key] == 0 {
			delete(w.each, key)
		}
	}, true
}

// Poll calls done until it is true or fails, with pauses that double from first to
// longest. It holds nothing in between. It is false when ctx, gone or closing ends
// first; a nil channel never does.
func Poll(ctx context.Context, gone, closing <-chan struct{}, first, longest time.Duration, done func() (bool, error)) (bool, error) {
	for attempt := 1; ; attempt++ {
		timer := time.NewTimer(Pause(attempt, first, longest))
		select {
		case <-timer.C:
		case <-ctx.Done():
		case <-gone:
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
